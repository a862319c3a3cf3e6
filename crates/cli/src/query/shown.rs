//! Results of queries for people: a line for the result, and one for each item below it.

use dunlin_engine::clock;
use dunlin_query::{Body, parse};
use serde_json::Value;

use crate::backend::records::ResultRecord;
use crate::moments;
use crate::terminal::{Paint, Tone, one_line};

/// The most items of a part that are shown.
const MOST_ITEMS: usize = 5;

/// The names of the parts in the order of the query.
pub(crate) fn order_of(text: &str) -> Vec<String> {
    let query = parse(text).ok().and_then(|queries| queries.into_iter().next());
    match query.map(|query| query.body) {
        Some(Body::Select(block)) => block.selects.into_iter().map(|select| select.name).collect(),
        _ => Vec::new(),
    }
}

/// Whether a query watches for words, and has no instances.
pub(super) fn watches_for_words(text: &str) -> bool {
    parse(text).is_ok_and(|queries| queries.iter().all(|query| matches!(query.body, Body::Watch(_))))
}

/// A result as lines, below the name of its query.
pub(crate) fn result_lines(name: &str, result: &ResultRecord, order: &[String], paint: Paint) -> Vec<String> {
    let captured = clock::parse_rfc3339(&result.captured_at)
        .map_or_else(|| result.captured_at.clone(), moments::time_of_day);
    let heading = paint.paint(Tone::Strong, &one_line(name, 60));
    let number = paint.paint(Tone::Faint, &format!("result {}", result.cursor));
    let mark = paint.paint(Tone::Good, "=");
    let mut lines = vec![format!("{} {mark} {heading}  {number}", paint.paint(Tone::Faint, &captured))];
    let mut parts: Vec<_> = result.parts.iter().collect();
    parts.sort_by_key(|(name, _)| order.iter().position(|other| other == *name).unwrap_or(usize::MAX));
    let widest = parts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, part) in parts {
        let label = |name: &str| paint.paint(Tone::Strong, &format!("{name:<widest$}"));
        if part.items.is_empty() {
            lines.push(format!("  {}  {}", label(name), paint.paint(Tone::Faint, "nothing new")));
        }
        let is_old = |item: &&Value| item["new"] == false;
        let (new, old) = (part.items.iter().filter(|item| !is_old(item)), part.items.iter().filter(is_old));
        for (position, item) in new.chain(old).take(MOST_ITEMS).enumerate() {
            let line = item_line(item);
            let line =
                if is_old(&item) { paint.paint(Tone::Faint, &format!("{line}  (as before)")) } else { line };
            lines.push(format!("  {}  {line}", label(if position == 0 { name } else { "" })));
        }
        if part.items.len() > MOST_ITEMS {
            let more = format!("and {} more", part.items.len() - MOST_ITEMS);
            lines.push(format!("  {}  {}", label(""), paint.paint(Tone::Faint, &more)));
        }
    }
    for sighting in &result.also_at {
        let seen = clock::parse_rfc3339(&sighting.seen_at).map_or_else(String::new, moments::time_of_day);
        let place = one_line(sighting.url.as_deref().unwrap_or("a source that is gone"), 100);
        lines.push(paint.paint(Tone::Faint, &format!("  also at {place}, {seen}")));
    }
    lines
}

fn item_line(item: &Value) -> String {
    let field = |name: &str| item[name].as_str().filter(|text| !text.is_empty());
    let words = field("value").or_else(|| field("title")).or_else(|| field("text")).unwrap_or("");
    let link = field("link").map(|link| format!("  {}", one_line(link, 100))).unwrap_or_default();
    format!("{}{link}", one_line(words, 120))
}
