//! JSON: the values that a path selects, each as an item whose text has one line per value inside.

use serde_json::Value;

use crate::document::{Diagnostic, Format};
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::{heading_of, one_line};

mod filter;
mod operand;
mod path;

pub(crate) use path::CheckedPath;

/// The values that `path` selects, or the whole document's without one.
pub(crate) fn read(
    text: &str,
    path: Option<&CheckedPath>,
    reader: &PageReader<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<RawItem> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            let reason = error.to_string();
            diagnostics.push(Diagnostic::Broken { format: Format::Json, reason, n_items: 0 });
            return Vec::new();
        }
    };
    match path {
        None => whole(&document, reader),
        Some(path) => {
            let selected = path.select(&document, reader.limits.max_items + 1, reader.work);
            let items =
                selected.iter().map(|selected| raw_item(selected.value, Some(&selected.path), reader));
            items.take_while(|_| !reader.work.is_used_up()).collect()
        }
    }
}

/// Without a path: the elements of a list of objects, else the document as one item.
fn whole(document: &Value, reader: &PageReader<'_>) -> Vec<RawItem> {
    match document {
        Value::Array(values) if values.iter().all(Value::is_object) => {
            let values = values.iter().take(reader.limits.max_items + 1);
            values.map(|value| raw_item(value, None, reader)).collect()
        }
        _ => vec![raw_item(document, Some("$"), reader)],
    }
}

fn raw_item(value: &Value, path: Option<&str>, reader: &PageReader<'_>) -> RawItem {
    let mut text = String::new();
    write_lines(value, &mut String::new(), &mut text, reader.limits.max_item_text);
    // Values that contain each other are written once for each.
    reader.work.take(text.len() as u64);
    let first = |names: &[&str]| names.iter().find_map(|name| scalar(value.get(name)?));
    // The whole document is one item, regardless of the ids in it.
    let is_whole = path == Some("$");
    let link = first(&["url", "link", "href", "html_url"]);
    let title = first(&["title", "name", "headline", "label"]).unwrap_or_default();
    RawItem {
        guid: first(&["id", "guid", "uuid", "_id", "key"]).filter(|_| !is_whole),
        // An index does not identify a value: another value may be there tomorrow.
        place: path.filter(|path| !path.ends_with(']') || path.ends_with("']")).map(str::to_owned),
        title: if title.is_empty() { heading_of(&text) } else { one_line(&title) },
        link: link.filter(|_| !is_whole).and_then(|href| reader.absolute(&href)),
        text,
        published: None,
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `name.inner[0]: value`, a line for each plain value, names in order, so that two texts compare line by line.
fn write_lines(value: &Value, path: &mut String, text: &mut String, max_bytes: usize) {
    // Depth is bounded by the JSON parser; size is bounded here, since paths repeat in every line.
    if text.len() > max_bytes {
        return;
    }
    let length = path.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            for name in names {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                write_lines(&fields[name], path, text, max_bytes);
                path.truncate(length);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for (index, value) in values.iter().enumerate() {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
                write_lines(value, path, text, max_bytes);
                path.truncate(length);
            }
        }
        plain => {
            if !path.is_empty() {
                text.push_str(&one_line(path));
                text.push_str(": ");
            }
            match plain {
                Value::String(string) => text.push_str(&one_line(string)),
                other => text.push_str(&other.to_string()),
            }
            text.push('\n');
        }
    }
}
