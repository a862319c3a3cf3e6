//! JSON Feed of every version. Each item is read by itself: one that is broken, or has a field of the wrong kind, spoils
//! no other, and reads the same whatever became of the feed around it.

use serde_json::{Map, Value};

use super::draft::Authors;
use super::{Found, dates};
use crate::document::{Diagnostic, Format};
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::{one_line, tidy_lines};

/// Whether a text is a JSON feed. It says so in its version; where that is damaged, what only a feed has says it.
pub(crate) fn is_feed(text: &str) -> bool {
    let says_version = text.contains(ADDRESS);
    let has_items = text.contains("\"items\"");
    if !says_version && !has_items {
        return false;
    }
    let is_address = |value: &Value| value.as_str().is_some_and(|version| version.contains(ADDRESS));
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(feed) if feed.values().any(is_address) => true,
        Ok(feed) => {
            let version = feed.get("version").and_then(Value::as_str);
            let items = feed.get("items").and_then(Value::as_array);
            version.is_some_and(|version| version.starts_with("http"))
                && items.is_some_and(|items| !items.is_empty() && items.iter().all(looks_like_item))
        }
        // Two of the three.
        Err(_) => {
            let has_contents = CONTENTS.iter().any(|name| text.contains(name));
            (says_version && (has_items || has_contents)) || (has_items && has_contents)
        }
    }
}

/// What nobody else calls it.
const CONTENTS: [&str; 2] = ["\"content_html\"", "\"content_text\""];

const ADDRESS: &str = "://jsonfeed.org/version/";

pub(super) fn read(text: &str, reader: &PageReader<'_>, diagnostics: &mut Vec<Diagnostic>) -> Found {
    let mut problems = Vec::new();
    let max_items = reader.limits.max_items + 1;
    let (feed, values, reason) = match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(mut feed) => match feed.remove("items") {
            Some(Value::Array(items)) => (feed, items, None),
            // The name of the list may be damaged.
            _ => (feed.clone(), other_list(feed), Some("it has no list of items".to_owned())),
        },
        Err(error) => {
            let (head, items) = text.split_once("\"items\"").unwrap_or((text, text));
            (fields_of(head), pieces(items, max_items, reader), Some(error.to_string()))
        }
    };
    let n_values = values.len();
    let items = values.iter().take(max_items).filter_map(Value::as_object);
    let of_feed = authors(&feed);
    let items: Vec<RawItem> = items
        .map(|item| {
            let raw = raw_item(item, reader, &mut problems);
            RawItem { author: raw.author.or_else(|| of_feed.clone()), ..raw }
        })
        .collect();
    diagnostics.extend(problems.into_iter().next());
    let odd = (items.len() < n_values.min(max_items)).then(|| "some of its items are none".to_owned());
    let is_complete = reason.is_none();
    if let Some(reason) = reason.or(odd) {
        diagnostics.push(Diagnostic::Broken { format: Format::JsonFeed, reason, n_items: items.len() });
    }
    let title = string(&feed, "title").map(|title| one_line(&title)).filter(|title| !title.is_empty());
    Found { title, updated: None, items, is_complete }
}

fn raw_item(item: &Map<String, Value>, reader: &PageReader<'_>, problems: &mut Vec<Diagnostic>) -> RawItem {
    let html = |name: &str, problems: &mut Vec<Diagnostic>| {
        string(item, name).map(|html| reader.fragment(&html, problems)).filter(|text| !text.is_empty())
    };
    let plain = |name: &str| string(item, name).map(|text| tidy_lines(&text)).filter(|text| !text.is_empty());
    let text = html("content_html", problems).or_else(|| plain("content_text")).or_else(|| plain("summary"));
    let link = ["url", "external_url"].iter().find_map(|name| reader.absolute(&string(item, name)?));
    let date = |name| string(item, name).and_then(|date| dates::parse(&date));
    RawItem {
        guid: string(item, "id"),
        title: string(item, "title").map(|title| one_line(&title)).unwrap_or_default(),
        link,
        text: text.unwrap_or_default(),
        author: authors(item),
        published: date("date_published").or_else(|| date("date_modified")),
        ..RawItem::default()
    }
}

/// Who wrote an item or the feed: version 1.1 has a list, and version 1 has one.
fn authors(object: &Map<String, Value>) -> Option<String> {
    let several = object.get("authors").and_then(Value::as_array).into_iter().flatten();
    let mut authors = Authors::default();
    for author in several.chain(object.get("author")) {
        let name = author.as_object().and_then(|author| string(author, "name"));
        authors.offer(0, &name.or_else(|| author.as_str().map(str::to_owned)).unwrap_or_default());
    }
    authors.joined()
}

/// A field that is a text, or a number where a text should be.
fn string(object: &Map<String, Value>, name: &str) -> Option<String> {
    match object.get(name)? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The first list of what look like items.
fn other_list(feed: Map<String, Value>) -> Vec<Value> {
    let lists = feed.into_iter().filter_map(|(_, value)| match value {
        Value::Array(values) => Some(values),
        _ => None,
    });
    lists.into_iter().find(|values| values.iter().any(looks_like_item)).unwrap_or_default()
}

/// The plain fields at the beginning of a broken feed, before its items.
fn fields_of(head: &str) -> Map<String, Value> {
    let end = head.rfind(',').unwrap_or(head.len());
    serde_json::from_str(&format!("{}}}", &head[..end])).unwrap_or_default()
}

/// The items of a list that is broken somewhere: every object that is whole and looks like an item.
fn pieces(text: &str, max_items: usize, reader: &PageReader<'_>) -> Vec<Value> {
    const BYTES_PER_STEP: usize = 16;
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        at = start + 1;
        // What belongs to a name, such as an author, is no item.
        if text[..start].trim_end().ends_with(':') || items.len() >= max_items {
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) if looks_like_item(&value) => {
                at = start + values.byte_offset();
                items.push(value);
            }
            Some(Ok(_)) => {}
            // It may have been read to the end of the text.
            _ if !reader.work.take(((text.len() - start) / BYTES_PER_STEP) as u64) => break,
            _ => {}
        }
    }
    items
}

fn looks_like_item(value: &Value) -> bool {
    ["id", "content_html", "content_text", "date_published"].iter().any(|name| value.get(name).is_some())
}
