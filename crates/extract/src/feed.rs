//! RSS, Atom and JSON feeds: what feed-rs read, as items. A feed it refuses is repaired and read again.

use dunlin_core::Time;
use feed_rs::model::{Entry, Feed, FeedType};

use crate::document::{Diagnostic, Format};
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::{one_line, tidy_lines};

mod repair;

/// What was read of a feed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) title: Option<String>,
    pub(crate) updated: Option<Time>,
    pub(crate) items: Vec<RawItem>,
    pub(crate) is_complete: bool,
}

/// Reads a feed, broken or not.
pub(crate) fn read(
    text: &str,
    format: Format,
    reader: &PageReader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Found {
    let text = without_declaration(text);
    let reason = match parse(text, reader.url) {
        Ok(feed) => return found(feed, reader, diagnostics),
        Err(reason) => reason,
    };
    let mut found = Found::default();
    if format == Format::Feed {
        let repaired = repair::repair(text, reader.limits.max_items + 1);
        if let Ok(feed) = parse(&repaired.rss, reader.url) {
            found = self::found(feed, reader, diagnostics);
        }
        found.is_complete = repaired.is_complete;
    }
    diagnostics.push(Diagnostic::Broken { format, reason, n_items: found.items.len() });
    found
}

/// The text is decoded by now, so a declaration of its encoding would mislead the next reader; and some servers
/// print something before it.
fn without_declaration(text: &str) -> &str {
    let start = text.find('<').filter(|_| !text.trim_start().starts_with('{')).unwrap_or(0);
    let text = &text[start..];
    match text.find("?>") {
        Some(end) if text.starts_with("<?xml ") => &text[end + 2..],
        _ => text,
    }
}

fn parse(text: &str, url: Option<&str>) -> Result<Feed, String> {
    let parser = feed_rs::parser::Builder::new()
        // Without this, entries that have no id get a random one.
        .id_generator(|_, _, _| String::new())
        .sanitize_content(false)
        .base_uri(url)
        .build();
    parser.parse(text.as_bytes()).map_err(|error| one_line(&error.to_string()))
}

fn found(feed: Feed, reader: &PageReader<'_>, diagnostics: &mut Vec<Diagnostic>) -> Found {
    // Atom says which texts are HTML; in RSS any text may be, and mostly is.
    let says_what_is_html = matches!(feed.feed_type, FeedType::Atom | FeedType::JSON);
    let mut problems = Vec::new();
    let mut plain = |text: &str, mime: &str| {
        let is_html = if says_what_is_html { mime.contains("html") } else { text.contains(['<', '&']) };
        if is_html { reader.fragment(text, &mut problems) } else { tidy_lines(text) }
    };
    let title = feed.title.map(|title| one_line(&plain(&title.content, title.content_type.as_str())));
    let max_items = reader.limits.max_items;
    let items = feed.entries.into_iter().take(max_items + 1);
    let items = items.map(|entry| raw_item(entry, reader, &mut plain)).collect();
    // One deep entry is worth a message, a thousand are not worth a thousand.
    diagnostics.extend(problems.into_iter().next());
    let updated = feed.updated.or(feed.published).map(|time| Time::from_micros(time.timestamp_micros()));
    Found { title: title.filter(|title| !title.is_empty()), updated, items, is_complete: true }
}

fn raw_item(entry: Entry, reader: &PageReader<'_>, plain: &mut impl FnMut(&str, &str) -> String) -> RawItem {
    let rel = |wanted: &str| {
        entry
            .links
            .iter()
            .find(|link| link.rel.as_deref().is_none_or(|rel| rel == wanted))
            .map(|link| &link.href)
    };
    let link = rel("alternate").or(entry.links.first().map(|link| &link.href));
    let content = entry.content.as_ref();
    let body = content.and_then(|content| Some((content.body.as_deref()?, content.content_type.as_str())));
    let summary = entry.summary.as_ref().map(|text| (text.content.as_str(), text.content_type.as_str()));
    let text = body.or(summary).map(|(text, mime)| plain(text, mime));
    let title = entry.title.as_ref().map(|title| plain(&title.content, title.content_type.as_str()));
    let published = entry.published.or(entry.updated);
    RawItem {
        link: link.and_then(|href| reader.absolute(href)),
        guid: Some(entry.id).filter(|id| !id.is_empty()),
        place: None,
        title: one_line(&title.unwrap_or_default()),
        text: text.unwrap_or_default(),
        published: published.map(|time| Time::from_micros(time.timestamp_micros())),
    }
}
