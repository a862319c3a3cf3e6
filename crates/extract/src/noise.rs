//! Patterns for what is to be left out of a text. A search is linear in the text, but a search for *all* matches need not be: after
//! each match, `\d\d:\d\d(?:.*ago)?` reads to the end of the line to see whether more belongs to it. So each search is paid for by
//! how far it can have read.

use std::borrow::Cow;

use regex::{Match, Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::error::{Error, Part, parse_part};
use crate::work::Work;

/// A pattern that was read.
#[derive(Debug, Clone)]
pub(crate) struct CheckedPattern {
    regex: Regex,
    reach: Reach,
}

/// How far beyond its beginning a match may be extended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// So many bytes.
    Bytes(usize),
    /// To the end of its line.
    Line,
    /// To the end of the text.
    Text,
}

/// Bytes that are scanned in one step.
const BYTES_PER_STEP: usize = 16;

impl CheckedPattern {
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        parse_part(Part::Pattern, text, |text| {
            // This bounds what a pattern such as `(a{1000}){1000}` compiles to.
            let regex = RegexBuilder::new(text).multi_line(true).size_limit(1 << 20).build();
            let regex = regex.map_err(|error| error.to_string())?;
            let hir = regex_syntax::ParserBuilder::new().multi_line(true).build().parse(text);
            let reach = reach_of(&hir.map_err(|error| error.to_string())?);
            Ok::<Self, String>(Self { regex, reach })
        })
    }

    /// The text without what matches; from where the work is used up, with it.
    pub(crate) fn removed_from<'t>(&self, text: &'t str, work: &Work) -> Cow<'t, str> {
        let mut kept = String::new();
        // Where the next search begins, and up to where the text is copied or left out.
        let (mut from, mut done) = (0, 0);
        let mut line_end = None;
        while !work.is_used_up() {
            let found = self.regex.find_at(text, from);
            let read_to = found.map_or(text.len(), |found| self.read_to(text, &found, &mut line_end));
            if !work.take(1 + ((read_to - from) / BYTES_PER_STEP) as u64) {
                break;
            }
            let Some(found) = found else { break };
            kept.push_str(&text[done..found.start()]);
            done = found.end();
            // An empty match is skipped: the next search begins behind the next letter.
            from = match text[done..].chars().next() {
                Some(next) if found.is_empty() => done + next.len_utf8(),
                None if found.is_empty() => break,
                _ => done,
            };
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        kept.push_str(&text[done..]);
        Cow::Owned(kept)
    }

    /// Where the search that found this may have read to.
    fn read_to(&self, text: &str, found: &Match<'_>, line_end: &mut Option<usize>) -> usize {
        match self.reach {
            Reach::Bytes(most) => (found.start() + most).max(found.end()).min(text.len()),
            Reach::Line => {
                // The end of a long line is searched once, not for each match on it.
                let known = line_end.filter(|end| *end >= found.end());
                let end = known.unwrap_or_else(|| {
                    let rest = &text[found.end()..];
                    found.end() + rest.find('\n').unwrap_or(rest.len())
                });
                *line_end = Some(end);
                end
            }
            Reach::Text => text.len(),
        }
    }
}

fn reach_of(hir: &Hir) -> Reach {
    match hir.properties().maximum_len() {
        Some(most) => Reach::Bytes(most),
        None if crosses_lines(hir) => Reach::Text,
        None => Reach::Line,
    }
}

/// Whether a match may have an end of a line in it.
fn crosses_lines(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| range.start() <= '\n' && '\n' <= range.end())
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().any(|range| range.start() <= b'\n' && b'\n' <= range.end())
        }
        HirKind::Repetition(repetition) => crosses_lines(&repetition.sub),
        HirKind::Capture(capture) => crosses_lines(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(crosses_lines),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reach(pattern: &str) -> Reach {
        CheckedPattern::new(pattern).unwrap().reach
    }

    #[test]
    fn how_far_a_pattern_reads_follows_from_its_structure() {
        assert_eq!(reach(r"\d\d:\d\d( ago)?"), Reach::Bytes(16 + 1 + 4));
        assert_eq!(reach("(?i)a{2,3}|bc"), Reach::Bytes(3));
        assert_eq!(reach(r"\d\d:\d\d(?:.*ago)?"), Reach::Line);
        assert_eq!(reach("[a-z]+ views$"), Reach::Line);
        for pattern in [r"\s+x", "(?s)a.*b", "[^<]*", r"(a|\n)+", "\n+", r"\D+"] {
            assert_eq!(reach(pattern), Reach::Text, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn with_work_enough_it_removes_what_the_library_would(
            text in "[ab1 \nä]{0,40}",
            pattern in prop::sample::select(vec![
                "a", "a*", "", "b?", "^a", "b$", r"\s+", "(?:1.*a)?b", r"\ba", "a|ab|ä", "[^b]+", "\n", "^$",
            ]),
        ) {
            let checked = CheckedPattern::new(pattern).unwrap();
            let expected = checked.regex.replace_all(&text, "");
            prop_assert_eq!(checked.removed_from(&text, &Work::default()), expected);
        }
    }

    /// The steps that removing a pattern takes.
    fn steps(pattern: &str, text: &str) -> u64 {
        let work = Work::new(u64::MAX);
        let _ = CheckedPattern::new(pattern).unwrap().removed_from(text, &work);
        u64::MAX - work.left()
    }

    #[test]
    fn a_pattern_pays_for_what_it_may_have_read() {
        let (line, lines) = ("12:34 ".repeat(1_000), "12:34\n".repeat(1_000));
        let n_searches = 1_001;
        assert!(steps(r"\d\d:\d\d", &line) < 3 * n_searches, "bounded in length: linear");
        assert!(steps(r"\d\d:\d\d(?:.*ago)?", &lines) < 3 * n_searches, "bounded by the line: linear");
        assert!(
            steps(r"\d\d:\d\d(?:.*ago)?", &line) > 100 * n_searches,
            "the rest of the line, a thousand times"
        );
        assert!(steps(r"(?s)\d\d:\d\d(?:.*ago)?", &lines) > 100 * n_searches, "the rest of the text");
    }

    #[test]
    fn when_the_work_is_used_up_the_rest_stays() {
        let (pattern, work) = (CheckedPattern::new(r"\d+(?:.*ago)?").unwrap(), Work::new(30));
        let text = format!("1 2 {}", "x 3 ".repeat(40));
        let left = pattern.removed_from(&text, &work);
        assert!(work.is_used_up() && !left.starts_with('1') && left.ends_with("x 3 "), "{left}");
        assert_eq!(pattern.removed_from("1", &work), "1");
    }
}
