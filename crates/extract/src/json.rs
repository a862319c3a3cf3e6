//! JSON: the values that a path selects, each as an item whose text has one line per value inside.

use jsonpath_rust::parser::model::JpQuery;
use jsonpath_rust::parser::parse_json_path;
use jsonpath_rust::query::js_path_process;
use serde_json::Value;

use crate::document::{Diagnostic, Format};
use crate::error::{Error, Part, parse_part};
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::{heading_of, one_line};

/// A path that was read and whose cost is bounded.
#[derive(Debug, Clone)]
pub(crate) struct CheckedPath(JpQuery);

impl CheckedPath {
    pub(crate) fn new(path: &str) -> Result<Self, Error> {
        let query = parse_part(Part::JsonPath, path, parse_json_path)?;
        // Two descents, or a query of the whole document for each value in it, cost the square of its size.
        let costly = second(path, "..").or_else(|| second(path, "$"));
        costly.map_or(Ok(Self(query)), |at| Err(Error::CostlyPath { path: path.to_owned(), at }))
    }
}

/// Where `sign` stands for the second time outside of quotes, in characters from 1.
fn second(path: &str, sign: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    let mut n_seen = 0;
    for (index, (at, c)) in path.char_indices().enumerate() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) => quote = quote.filter(|_| c != open),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if path[at..].starts_with(sign) => {
                n_seen += 1;
                if n_seen == 2 {
                    return Some(index + 1);
                }
            }
            None => {}
        }
    }
    None
}

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
    let Some(CheckedPath(query)) = path else {
        return whole(&document, reader);
    };
    let Ok(selected) = js_path_process(query, &document) else {
        return Vec::new();
    };
    let selected = selected.into_iter().take(reader.limits.max_items + 1);
    selected.map(|found| raw_item(found.val, Some(&found.path), reader)).collect()
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
    let first = |names: &[&str]| names.iter().find_map(|name| scalar(value.get(name)?));
    // The whole document stays itself whatever ids it carries.
    let is_whole = path == Some("$");
    let link = first(&["url", "link", "href", "html_url"]);
    let title = first(&["title", "name", "headline", "label"]).unwrap_or_default();
    RawItem {
        guid: first(&["id", "guid", "uuid", "_id", "key"]).filter(|_| !is_whole),
        // An index says nothing about what stands there: the next one may stand there tomorrow.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_whose_cost_has_no_bound_are_refused() {
        for path in ["$.a[*]", "$..price", "$['..$'].x", "$[?@.a == '$..']", "$[?@.price < 10]"] {
            assert!(CheckedPath::new(path).is_ok(), "{path}");
        }
        let at = |path: &str| match CheckedPath::new(path) {
            Err(Error::CostlyPath { at, .. } | Error::Unreadable { at, .. }) => at,
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(at("$..a..b"), 5);
        assert_eq!(at("$[?@.a == $.b]"), 11);
        assert_eq!(at("$.a["), 4);
    }
}
