//! What the test suites of other projects say a feed means; they are no part of this repository. Read by
//! `reference`, which says how many expectations must hold.

use std::collections::BTreeMap;

use dunlin_extract::document::IdOrigin;
use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Document, Input};
use serde_json::Value;

use crate::reading::extractor;

/// Bodies by their path in an archive.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// How many of the expectations in `rows` hold of the documents in `files`, and those that do not.
pub(crate) fn failures(rows: &[Value], files: &Files) -> Vec<String> {
    let reader = extractor(&Recipe::Feed);
    let failed = rows.iter().filter_map(|row| {
        let body = &files[row["file"].as_str().unwrap()];
        let input = Input {
            body,
            content_type: row["content_type"].as_str(),
            url: row["url"].as_str(),
            last_charset: None,
        };
        let document = reader.extract(&input);
        let found = found(row, &document);
        (!holds(row, &found)).then(|| format!("{row}\n  found {found}"))
    });
    failed.collect()
}

/// What the document says in the field that `row` is about.
fn found(row: &Value, document: &Document) -> Value {
    let item = row["index"].as_u64().map(|index| document.items.get(usize::try_from(index).unwrap()));
    let micros = |time: Option<dunlin_core::Time>| time.map_or(Value::Null, |time| time.micros().into());
    match (row["field"].as_str().unwrap(), item) {
        ("n_entries", _) => document.items.len().into(),
        ("format", _) => document.format.to_string().into(),
        ("feed_title", _) => document.title.clone().unwrap_or_default().into(),
        ("feed_date", _) => micros(document.updated),
        (_, None | Some(None)) => Value::from("no such item"),
        ("title", Some(Some(item))) => item.title.clone().into(),
        ("text", Some(Some(item))) => item.text.clone().into(),
        ("link", Some(Some(item))) => item.link.clone().into(),
        ("id", Some(Some(item))) if item.id.origin == IdOrigin::Guid => item.id.value.clone().into(),
        ("id", Some(Some(item))) => item.id.to_string().into(),
        ("date", Some(Some(item))) => micros(item.published),
        (field, _) => panic!("{field}"),
    }
}

fn holds(row: &Value, found: &Value) -> bool {
    let bare = |value: &Value| -> String { value.as_str().unwrap_or_default().split_whitespace().collect() };
    let (expected, plain) = (&row["expected"], &row["plain"]);
    match row["field"].as_str().unwrap() {
        "title" | "feed_title" | "text" => {
            bare(found) == bare(expected) || (!plain.is_null() && bare(found) == bare(plain))
        }
        "link" => {
            let link = |value: &Value| value.as_str().map(|link| link.trim_end_matches('/').to_owned());
            link(found) == link(expected)
        }
        "date" | "feed_date" => seconds(found) == seconds(expected),
        "n_entries" => found.as_u64() <= expected.as_u64(),
        "format" => found.as_str().is_some_and(|format| format.contains("feed")),
        _ => found == expected,
    }
}

fn seconds(micros: &Value) -> Option<i64> {
    micros.as_i64().map(|micros| micros.div_euclid(1_000_000))
}

/// The rows of `dates` whose date, in an item of its format, is not the instant that it means.
pub(crate) fn misread_dates(rows: &[Value]) -> Vec<String> {
    let reader = extractor(&Recipe::Feed);
    let failed = rows.iter().filter_map(|row| {
        let date = row["date"].as_str().unwrap();
        let body = if row["in"] == "rss" {
            format!("<rss version='2.0'><channel><item><guid>1</guid><pubDate>{date}</pubDate></item></channel></rss>")
        } else {
            format!("<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><updated>{date}</updated></entry></feed>")
        };
        let document = reader.extract(&Input { body: body.as_bytes(), content_type: None, url: None, last_charset: None });
        let found = document.items[0].published.map(dunlin_core::Time::seconds);
        let also = row["also"].as_array().into_iter().flatten();
        let mut meant = std::iter::once(&row["expected"]).chain(also).map(seconds);
        (!meant.any(|meant| meant == found)).then(|| format!("{row}\n  found {found:?}"))
    });
    failed.collect()
}
