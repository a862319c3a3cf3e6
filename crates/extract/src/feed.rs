//! Feeds: RSS and Atom of every version, and JSON feeds, as items. The readers are below; the order is here.

use dunlin_core::Time;

use crate::document::{Diagnostic, Format};
use crate::html::PageReader;
use crate::identity::RawItem;

mod dates;
mod draft;
mod entities;
mod field;
mod json;
mod markup;
mod part;
mod scope;
mod tokens;
mod vocabulary;
mod xml;

pub(crate) use json::is_feed as is_json_feed;

/// What was read of a feed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) title: Option<String>,
    pub(crate) updated: Option<Time>,
    pub(crate) items: Vec<RawItem>,
    pub(crate) is_complete: bool,
}

/// Reads a feed, broken or not. The text is decoded by now, so what it says of its encoding does not matter.
pub(crate) fn read(
    text: &str,
    format: Format,
    reader: &PageReader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Found {
    if format == Format::JsonFeed {
        return json::read(text, reader, diagnostics);
    }
    // Some servers print something before it.
    let start = text.find('<').unwrap_or(0);
    let read = xml::read(&text[start..], reader, diagnostics);
    let xml::Read { title, dates, items, mut is_complete, mut problem } = read;
    if items.is_empty() && mentions_items(text) {
        // An empty feed is a feed without news; this one is not empty.
        is_complete = false;
        problem = problem.or(Some("none of its items could be read"));
    }
    if let Some(problem) = problem {
        let reason = problem.to_owned();
        diagnostics.push(Diagnostic::Broken { format, reason, n_items: items.len() });
    }
    Found { title, updated: dates.of_feed(), items, is_complete }
}

/// Whether a text whose root is no feed's is a feed nevertheless: it has items, and what else only feeds have.
pub(crate) fn looks_like_feed(text: &str) -> bool {
    // What a feed holds may be pages; what a page holds is no feed.
    let begins = ["<item", "<entry", "<channel", ":item", ":entry"];
    let first = begins.iter().filter_map(|tag| text.find(tag)).min();
    let is_page = first.is_none_or(|first| has_tag(&text[..first], "html"));
    !is_page
        && mentions_items(text)
        && (has_tag(text, "channel") || has_feed_root(text) || ends_like_feed(text))
}

/// Whether a text ends as a feed does.
pub(crate) fn ends_like_feed(text: &str) -> bool {
    let text = text.trim_end();
    ["rss>", "feed>", "RDF>"].iter().any(|end| {
        text.strip_suffix(end).is_some_and(|before| before.ends_with("</") || before.ends_with(':'))
    })
}

fn has_feed_root(text: &str) -> bool {
    let head = crate::text::cut(text, 4000);
    ["rss", "feed", "RDF"].iter().any(|name| has_tag(head, name))
}

fn mentions_items(text: &str) -> bool {
    has_tag(text, "item") || has_tag(text, "entry")
}

/// Whether there is a start tag of this name, with a prefix or without.
fn has_tag(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_whole = !text[at + name.len()..].starts_with(|c: char| c.is_alphanumeric());
        let before = &text[..at];
        let before = before.strip_suffix(':').map_or(before, |before| {
            before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        });
        is_whole && before.ends_with('<')
    })
}
