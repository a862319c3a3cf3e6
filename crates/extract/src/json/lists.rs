//! What could be chosen of a JSON document: its lists, and the nearest path when one finds nothing. Suggestions only.

use serde_json::Value;

use super::CheckedPath;
use crate::first_look::{CandidatePart, FirstLook, LONGEST_SAMPLE, MOST_PARTS, sample, shortened_paths};
use crate::work::Work;

/// Lists are looked for so many names deep.
const DEEPEST: usize = 3;

/// Looks at a document; `path` is one that finds nothing in it.
pub(crate) fn first_look(text: &str, path: Option<&str>, most: usize, work: &Work) -> FirstLook {
    let Ok(document) = serde_json::from_str::<Value>(text) else { return FirstLook::default() };
    let counted = |path: &str| {
        let found = CheckedPath::new(path).ok()?.select(&document, most, work);
        let first = found.first()?;
        (!work.is_used_up()).then(|| part(path.to_owned(), found.len(), first.value))
    };
    let nearest = path.and_then(|path| shortened_paths(path).iter().find_map(|path| counted(path)));
    let mut parts = Vec::new();
    find_lists(&document, "$", DEEPEST, work, &mut parts);
    FirstLook { parts, nearest, ..FirstLook::default() }
}

/// Lists that stand under names which need no quotes, those on top first within each object.
fn find_lists(value: &Value, path: &str, depth: usize, work: &Work, parts: &mut Vec<CandidatePart>) {
    match value {
        Value::Array(list) => {
            if let Some(first) = list.first()
                && parts.len() < MOST_PARTS
            {
                parts.push(part(format!("{path}[*]"), list.len(), first));
            }
        }
        Value::Object(fields) if depth > 0 => {
            for (name, inner) in fields.iter().filter(|(name, _)| is_plain(name)) {
                if parts.len() == MOST_PARTS || !work.take(1) {
                    return;
                }
                find_lists(inner, &format!("{path}.{name}"), depth - 1, work, parts);
            }
        }
        _ => {}
    }
}

fn is_plain(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn part(choice: String, n_matches: usize, first: &Value) -> CandidatePart {
    CandidatePart { choice, n_matches, sample: sample(&beginning(first)) }
}

/// The beginning of a value as JSON, without writing all of a large one.
fn beginning(value: &Value) -> String {
    const MOST_FIELDS: usize = 8;
    match value {
        Value::String(text) => crate::text::cut(text, 2 * LONGEST_SAMPLE).to_owned(),
        Value::Object(fields) => {
            let names: Vec<String> = fields
                .iter()
                .take(MOST_FIELDS)
                .map(|(name, inner)| format!("{}: {}", crate::text::cut(name, 40), short(inner)))
                .collect();
            names.join(", ")
        }
        other => short(other),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => crate::text::cut(text, 40).to_owned(),
        Value::Array(list) => format!("[{} values]", list.len()),
        Value::Object(fields) => format!("{{{} fields}}", fields.len()),
        other => other.to_string(),
    }
}
