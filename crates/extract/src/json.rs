//! JSON: the values that a path selects, each as an item whose text has one line per value inside.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::document::{Diagnostic, Format};
use crate::hashing::mixed;
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::outline::{LineContext, Outline};
use crate::text::{cut, heading_of, one_line};
use crate::tokens::{Kind, tokens};

mod filter;
mod lists;
mod operand;
mod path;

pub(crate) use lists::first_look;
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
    let mut lines = Lines { max_bytes: reader.limits.max_item_text, ..Lines::default() };
    lines.write(value, &mut String::new(), 0, 0);
    let Lines { text, outline, .. } = lines;
    // A value by itself is named by the end of its path: `$.price.value`.
    let last_name = path.filter(|_| !value.is_object() && !value.is_array()).and_then(last_name);
    // Values that contain each other are written once for each.
    reader.work.take(text.len() as u64);
    let first = |names: &[&str]| names.iter().find_map(|name| scalar(value.get(name)?));
    // The whole document is one item, regardless of the ids in it.
    let is_whole = path == Some("$");
    let link = first(&["url", "link", "href", "html_url"]);
    let title = first(&NAMES).or(last_name).unwrap_or_default();
    RawItem {
        guid: first(&IDS).filter(|_| !is_whole),
        // An index does not identify a value: another value may be there tomorrow.
        place: path.filter(|path| !path.ends_with(']') || path.ends_with("']")).map(str::to_owned),
        title: if title.is_empty() { heading_of(&text) } else { one_line(&title) },
        link: link.filter(|_| !is_whole).and_then(|href| reader.absolute(&href)),
        text,
        outline,
        ..RawItem::default()
    }
}

/// The last name of a path, in either way to write it.
fn last_name(path: &str) -> Option<String> {
    let is_outside = |c: char| matches!(c, '.' | '[' | ']' | '\'' | '"' | '$');
    let name = path.trim_end_matches(is_outside).rsplit(is_outside).next()?;
    (!name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit())).then(|| one_line(name))
}

/// Fields by which a value is known, best first.
const IDS: [&str; 5] = ["id", "guid", "uuid", "_id", "key"];
/// Fields by which people know it.
const NAMES: [&str; 4] = ["title", "name", "headline", "label"];

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The longest name of an element in the path of its fields.
const LONGEST_NAME: usize = 60;

/// What to call the elements of a list, where each has a name or an id of its own: an index belongs to another element as soon as
/// the list is in another order.
fn element_names(values: &[Value]) -> Option<Vec<String>> {
    let by = |field: &&str| -> Option<Vec<String>> {
        let name = |value: &Value| Some(cut(&one_line(&scalar(value.get(field)?)?), LONGEST_NAME).to_owned());
        let names: Vec<String> = values.iter().map(name).collect::<Option<_>>()?;
        let distinct: BTreeSet<&String> = names.iter().collect();
        (distinct.len() == names.len()).then_some(names)
    };
    let fields = || values.iter().find_map(Value::as_object).into_iter().flat_map(|fields| fields.keys());
    // Any other text that each has for itself may be its name, the shortest first; a date is none, and nor is a sentence.
    let is_name = |name: &String| {
        name.len() <= LONGEST_PLAIN_NAME
            && name.split_whitespace().count() <= 4
            && !tokens(name).iter().any(|token| matches!(token.kind, Kind::Date | Kind::Time | Kind::Code))
    };
    let others = || {
        let named = fields().filter_map(|field| Some((field, by(&field.as_str())?)));
        let named = named.filter(|(field, names)| {
            names.iter().all(is_name)
                && values.iter().all(|value| value.get(field).is_some_and(Value::is_string))
        });
        named
            .min_by_key(|(field, names)| (names.iter().map(String::len).sum::<usize>(), field.len()))
            .map(|(_, names)| names)
    };
    NAMES.iter().chain(&IDS).find_map(by).or_else(others)
}

/// Longer texts are no names.
const LONGEST_PLAIN_NAME: usize = 40;

/// The lines of a value: `name.inner[element]: value` for each plain value, names in order, so that two texts compare line by line.
#[derive(Debug, Default)]
struct Lines {
    text: String,
    outline: Outline,
    max_bytes: usize,
    /// Whether an element of a list has begun since the last line.
    starts_entry: bool,
}

impl Lines {
    /// `place` and `container` are fingerprints of the path and of the list that the value is in.
    fn write(&mut self, value: &Value, path: &mut String, place: u32, container: u32) {
        // Depth is bounded by the JSON parser; size is bounded here, since paths repeat in every line.
        if self.text.len() > self.max_bytes {
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
                    self.write(&fields[name], path, mixed(place, name), container);
                    path.truncate(length);
                }
            }
            Value::Array(values) if !values.is_empty() => {
                let names = element_names(values);
                let are_plain = !values.iter().any(|value| value.is_object() || value.is_array());
                for (index, value) in values.iter().enumerate() {
                    // Without a name of its own, an element is known by what it says: an index is another's in another order.
                    let name = names
                        .as_ref()
                        .filter(|_| !are_plain)
                        .map_or(String::new(), |names| names[index].clone());
                    path.push('[');
                    path.push_str(&name);
                    path.push(']');
                    self.starts_entry = true;
                    self.write(value, path, mixed(place, &name), mixed(place, "[]"));
                    path.truncate(length);
                }
            }
            plain => self.line(plain, path, place, container),
        }
    }

    fn line(&mut self, value: &Value, path: &str, place: u32, container: u32) {
        if !path.is_empty() {
            self.text.push_str(&one_line(path));
            self.text.push_str(": ");
        }
        match value {
            Value::String(string) => self.text.push_str(&one_line(string)),
            other => self.text.push_str(&other.to_string()),
        }
        self.text.push('\n');
        let starts_entry = std::mem::take(&mut self.starts_entry);
        let is_in_entry = container != 0;
        self.outline.push(LineContext {
            path: place,
            container,
            starts_entry,
            is_in_entry,
            ..LineContext::default()
        });
    }
}
