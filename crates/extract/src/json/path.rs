//! A JSON path (RFC 9535) at work on a document, with every value that it visits counted. Reading the path's text is the
//! library's; walking is ours, because the library collects every value of every step before the next step, which a path such as
//! `$[*,*][*,*]…` doubles at each.
//!
//! The walk goes down first: what one value leads to comes before its neighbour, which is the order that the standard asks for.
//! So nothing is collected, and a walk that has found enough stops.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::ControlFlow::{self, Break, Continue};

use jsonpath_rust::parser::model::{JpQuery, Segment, Selector};
use jsonpath_rust::parser::parse_json_path;
use regex::Regex;
use serde_json::Value;

use super::filter::{Extent, refuse_what_is_not_standard};
use crate::error::{Error, Part, parse_part};
use crate::work::Work;

/// A path that was read.
#[derive(Debug, Clone)]
pub(crate) struct CheckedPath(JpQuery);

/// A step from a value to one inside it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inside<'v> {
    Name(&'v str),
    Index(usize),
}

/// A value that a path selects, and the way to it.
pub(super) struct Selected<'v> {
    pub(super) value: &'v Value,
    /// As the standard writes it: `$['a'][0]`.
    pub(super) path: String,
}

impl CheckedPath {
    pub(crate) fn new(path: &str) -> Result<Self, Error> {
        parse_part(Part::JsonPath, path, |path| {
            let query = parse_json_path(path).map_err(|error| error.to_string())?;
            refuse_what_is_not_standard(&query.segments)?;
            Ok::<Self, String>(Self(query))
        })
    }

    /// The values it selects, up to a limit, in order; those found until the work is used up.
    pub(super) fn select<'v>(&self, document: &'v Value, at_most: usize, work: &Work) -> Vec<Selected<'v>> {
        let mut found = Vec::new();
        let walk = Walk { root: document, work, last_pattern: RefCell::default() };
        let _ = walk.walk(&self.0.segments, document, &mut Vec::new(), &mut |value, way| {
            if found.len() == at_most {
                return Break(());
            }
            found.push(Selected { value, path: written(way) });
            Continue(())
        });
        found
    }
}

/// What is called with each value selected, and the way to it; it may end the walk.
pub(super) type Visit<'f, 'v> = &'f mut dyn FnMut(&'v Value, &[Inside<'v>]) -> ControlFlow<()>;

/// A walk through a document.
pub(super) struct Walk<'v, 'w> {
    pub(super) root: &'v Value,
    pub(super) work: &'w Work,
    /// The pattern that was compiled last, if it could be: most paths have one, for all values.
    pub(super) last_pattern: RefCell<Option<(String, Extent, Option<Regex>)>>,
}

impl<'v> Walk<'v, '_> {
    /// Visits what `segments` select from `value` on.
    pub(super) fn walk(
        &self,
        segments: &[Segment],
        value: &'v Value,
        way: &mut Vec<Inside<'v>>,
        visit: Visit<'_, 'v>,
    ) -> ControlFlow<()> {
        if !self.work.take(1) {
            return Break(());
        }
        let Some((segment, rest)) = segments.split_first() else {
            return visit(value, way);
        };
        match segment {
            Segment::Descendant(segment) => {
                self.select(segment, rest, value, way, visit)?;
                each_child(value, way, &mut |child, way| self.walk(segments, child, way, visit))
            }
            segment => self.select(segment, rest, value, way, visit),
        }
    }

    /// Goes on with `rest` from what one segment selects of the children of `value`.
    fn select(
        &self,
        segment: &Segment,
        rest: &[Segment],
        value: &'v Value,
        way: &mut Vec<Inside<'v>>,
        visit: Visit<'_, 'v>,
    ) -> ControlFlow<()> {
        let selectors = match segment {
            Segment::Selector(selector) => std::slice::from_ref(selector),
            Segment::Selectors(selectors) => selectors,
            // The grammar has no descent of a descent.
            Segment::Descendant(inner) => return self.select(inner, rest, value, way, visit),
        };
        for selector in selectors {
            let mut go_on = |child: &'v Value, way: &mut Vec<Inside<'v>>| self.walk(rest, child, way, visit);
            match (selector, value) {
                (Selector::Name(name), Value::Object(fields)) => {
                    if let Some((name, child)) = fields.get_key_value(name) {
                        within(way, Inside::Name(name), |way| go_on(child, way))?;
                    }
                }
                (Selector::Index(index), Value::Array(values)) => {
                    if let Some(at) = place_of(*index, values.len()) {
                        within(way, Inside::Index(at), |way| go_on(&values[at], way))?;
                    }
                }
                (Selector::Slice(start, end, step), Value::Array(values)) => {
                    for at in slice((*start, *end, *step), values.len()) {
                        within(way, Inside::Index(at), |way| go_on(&values[at], way))?;
                    }
                }
                (Selector::Wildcard, _) => each_child(value, way, &mut go_on)?,
                (Selector::Filter(filter), _) => each_child(value, way, &mut |child, way| {
                    if self.passes(filter, child)? { go_on(child, way) } else { Continue(()) }
                })?,
                _ => {}
            }
        }
        Continue(())
    }
}

fn each_child<'v>(
    value: &'v Value,
    way: &mut Vec<Inside<'v>>,
    go_on: &mut dyn FnMut(&'v Value, &mut Vec<Inside<'v>>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    match value {
        Value::Array(values) => {
            for (at, child) in values.iter().enumerate() {
                within(way, Inside::Index(at), |way| go_on(child, way))?;
            }
        }
        Value::Object(fields) => {
            for (name, child) in fields {
                within(way, Inside::Name(name), |way| go_on(child, way))?;
            }
        }
        _ => {}
    }
    Continue(())
}

fn within<'v, T>(
    way: &mut Vec<Inside<'v>>,
    step: Inside<'v>,
    there: impl FnOnce(&mut Vec<Inside<'v>>) -> T,
) -> T {
    way.push(step);
    let result = there(way);
    way.pop();
    result
}

/// The position that an index means, counted from the end if it is negative.
pub(super) fn place_of(index: i64, length: usize) -> Option<usize> {
    let from_end = usize::try_from(index.unsigned_abs()).ok();
    let at = if index < 0 { length.checked_sub(from_end?)? } else { from_end? };
    (at < length).then_some(at)
}

/// The positions that a slice means (RFC 9535, section 2.3.4).
fn slice((start, end, step): (Option<i64>, Option<i64>, Option<i64>), length: usize) -> Vec<usize> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let normal = |index: i64| if index >= 0 { index } else { length.saturating_add(index) };
    let step = step.unwrap_or(1);
    let mut places = Vec::new();
    let (start, end) = if step >= 0 {
        (normal(start.unwrap_or(0)).clamp(0, length), normal(end.unwrap_or(length)).clamp(0, length))
    } else {
        let start = start.map_or(length - 1, normal).clamp(-1, length - 1);
        (start, end.map_or(-1, normal).clamp(-1, length - 1))
    };
    let mut at = start;
    while (step > 0 && at < end) || (step < 0 && at > end) {
        places.extend(usize::try_from(at));
        at = at.saturating_add(step);
    }
    places
}

/// The normalized path of the standard (RFC 9535, section 2.7): one text for one node.
fn written(way: &[Inside<'_>]) -> String {
    let mut path = "$".to_owned();
    for step in way {
        match step {
            Inside::Index(at) => {
                let _ = write!(path, "[{at}]");
            }
            Inside::Name(name) => {
                path.push_str("['");
                for letter in name.chars() {
                    // Writing to a string cannot fail.
                    let _ = match letter {
                        '\'' | '\\' => write!(path, "\\{letter}"),
                        '\u{8}' => write!(path, "\\b"),
                        '\u{c}' => write!(path, "\\f"),
                        '\n' => write!(path, "\\n"),
                        '\r' => write!(path, "\\r"),
                        '\t' => write!(path, "\\t"),
                        '\0'..='\u{1f}' => write!(path, "\\u{:04x}", u32::from(letter)),
                        letter => write!(path, "{letter}"),
                    };
                }
                path.push_str("']");
            }
        }
    }
    path
}
