//! The gate in front of every HTML parser: a linear scan that separates pages a parser can take from pages built to
//! keep it busy, and says what the others cost. Not a parser, and never one's substitute: it only has to be pessimistic.
//!
//! HTML parsers do work for each element that grows with the elements still open, so deep nesting costs the square
//! of the page's size; unclosed formatting elements are opened again in every paragraph; and each attribute is
//! compared with those before it, those of every further `<html>` or `<body>` with all of the first. The scan follows the rules for closing elements where they are simple, and
//! takes an element for open where they are not.

use crate::document::Diagnostic;
use crate::limits::Limits;

mod names;
mod open;

use names::{Kind, Name};
use open::OpenElements;

/// Text that has passed the gate. Only [`check`] makes one, so no parser can be reached around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gated<'t> {
    text: &'t str,
    n_elements: usize,
    depth: usize,
    n_parser_steps: u64,
}

impl<'t> Gated<'t> {
    pub(crate) fn text(self) -> &'t str {
        self.text
    }

    /// Steps of parsing it.
    pub(crate) fn n_parser_steps(self) -> u64 {
        self.n_parser_steps
    }

    /// Steps of work that goes through the page several times, and from every element up to the top.
    pub(crate) fn n_steps_up(self) -> u64 {
        const TIMES_THROUGH: usize = 20;
        self.n_elements.saturating_mul(TIMES_THROUGH + self.depth) as u64
    }
}

/// Attributes of one element beyond which it is an attack.
const MAX_ATTRIBUTES: usize = 500;
/// Open elements that a parser passes in one step.
const LEVELS_PER_STEP: usize = 4;

/// What the scan found, and what it did to find it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Levels a parser would have open, at most, as far as the scan went.
    pub(crate) max_depth: usize,
    /// Elements a parser would build, at most.
    pub(crate) n_elements: usize,
    /// Steps a parser would take, about: each tag may have it look through all that is open.
    pub(crate) n_parser_steps: u64,
    /// Steps taken, to show that they grow with the size alone.
    pub(crate) n_steps: usize,
    pub(crate) problem: Option<Diagnostic>,
}

/// Lets a page through, or says why not.
pub(crate) fn check<'t>(text: &'t str, limits: &Limits) -> Result<Gated<'t>, Diagnostic> {
    let Scan { n_elements, max_depth: depth, n_parser_steps, problem, .. } = scan(text, limits);
    problem.map_or(Ok(Gated { text, n_elements, depth, n_parser_steps }), Err)
}

/// Reads tags from the front to the back, once.
pub(crate) fn scan(text: &str, limits: &Limits) -> Scan {
    let mut open = OpenElements::default();
    let mut scan = Scan::default();
    let mut n_attributes_of_page = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = text[at..].find('<') {
        let start = at + offset;
        scan.n_parser_steps += (1 + open.depth() / LEVELS_PER_STEP) as u64;
        at = match bytes.get(start + 1) {
            Some(b'!') => after_comment(text, start),
            Some(b'/') if bytes.get(start + 2).is_some_and(u8::is_ascii_alphabetic) => {
                let tag = Tag::read(text, start + 2);
                // After an end tag, text too opens the formatting elements again.
                scan.n_elements += open.n_formatting();
                open.close(Name::of(tag.name));
                tag.end
            }
            Some(b'/' | b'?') => after(text, start, ">"),
            Some(byte) if byte.is_ascii_alphabetic() => {
                let tag = Tag::read(text, start + 1);
                scan.n_elements += 1 + open.n_formatting();
                let name = Name::of(tag.name);
                open.open(name, tag.closes_itself);
                scan.max_depth = scan.max_depth.max(open.depth());
                // Of these there is one of each, and it gets the attributes of all.
                let is_of_page = ["html", "body"].iter().any(|own| tag.name.eq_ignore_ascii_case(own));
                n_attributes_of_page += if is_of_page { tag.n_attributes } else { 0 };
                let n_attributes = tag.n_attributes.max(n_attributes_of_page);
                let too_many = scan.n_elements > limits.max_elements || n_attributes > MAX_ATTRIBUTES;
                if open.depth() > limits.max_depth {
                    scan.problem = Some(Diagnostic::TooDeep { limit: limits.max_depth, at: start });
                } else if too_many {
                    scan.problem =
                        Some(Diagnostic::TooManyElements { limit: limits.max_elements, at: start });
                }
                if scan.problem.is_some() {
                    break;
                }
                if name.kind == Kind::Raw && !open.hides_raw_text() {
                    open.close(name);
                    after_raw_text(text, tag.end, tag.name)
                } else {
                    tag.end
                }
            }
            _ => start + 1,
        };
    }
    scan.n_steps = open.n_steps + at;
    scan
}

/// A start or end tag from its name on.
struct Tag<'t> {
    name: &'t str,
    n_attributes: usize,
    /// Ends in `/>`, which means something in SVG and `MathML` only.
    closes_itself: bool,
    /// The byte after its `>`.
    end: usize,
}

impl<'t> Tag<'t> {
    fn read(text: &'t str, name_start: usize) -> Self {
        let bytes = text.as_bytes();
        let is_name = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/');
        let name_len = bytes[name_start..].iter().take_while(|byte| is_name(byte)).count();
        let mut at = name_start + name_len;
        let name = &text[name_start..at];
        let (mut n_attributes, mut in_word, mut after_equals) = (0, false, false);
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'>' => break,
                b'"' | b'\'' if after_equals => {
                    at = bytes[at..]
                        .iter()
                        .position(|other| other == byte)
                        .map_or(bytes.len(), |n| at + n + 1);
                    (in_word, after_equals) = (false, false);
                }
                b'=' if in_word => after_equals = true,
                b'/' => in_word = after_equals && in_word,
                byte if byte.is_ascii_whitespace() => in_word = in_word && after_equals,
                _ => {
                    n_attributes += usize::from(!in_word);
                    in_word = true;
                    // An unquoted value ends at white space, like a word.
                    after_equals = false;
                }
            }
        }
        let closes_itself = text[..at].ends_with("/>");
        Self { name, n_attributes, closes_itself, end: at }
    }
}

fn after(text: &str, from: usize, end: &str) -> usize {
    text[from..].find(end).map_or(text.len(), |offset| from + offset + end.len())
}

/// After a comment or anything else that begins with `<!`.
fn after_comment(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    if !rest.starts_with("<!--") || rest.starts_with("<!-->") || rest.starts_with("<!--->") {
        return after(text, start, ">");
    }
    let plain = rest[4..].find("-->").map(|offset| start + 4 + offset + 3);
    // Searched only as far as the other ending: else a page full of comments would be searched again and again.
    let until = plain.unwrap_or(text.len());
    text[start + 4..until].find("--!>").map_or(until, |offset| start + 4 + offset + 4)
}

/// The start of the end tag of a raw text element.
fn after_raw_text(text: &str, from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some(offset) = text[at..].find("</") {
        at += offset + 2;
        if text.get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return at - 2;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
