//! Patterns for what is to be left out of a text. A search is linear in the text, but a search for *all* matches need not be: after
//! each match, `\d\d:\d\d(?:.*ago)?` reads to the end of the line to see whether more belongs to it. So each search is paid for by
//! how far it can have read, and by how many places of the pattern it may have been at: `[01]*1[01]{800}` at eight hundred, for every
//! letter.

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
    /// For each unit of text that a search may have read.
    steps_per_unit: u64,
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

/// Bytes that an ordinary pattern scans in one step: a unit of text.
const BYTES_PER_UNIT: usize = 16;

/// As long as a search can be at no more places than these, it can be in so few combinations of them that each is worked out once.
const FEW_PLACES: u64 = 8;

/// Steps for one place beyond those and one unit of text, where each place is looked at for each letter.
const STEPS_PER_PLACE: u64 = 4;

/// Bytes that a pattern such as `(a{1000}){1000}` may take.
const MAX_SIZE: usize = 1 << 20;

impl CheckedPattern {
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let parse = |text: &str| {
            let hir = regex_syntax::ParserBuilder::new().multi_line(true).build().parse(text);
            hir.map_err(|error| error.to_string())
        };
        let hir = parse_part(Part::Pattern, text, parse)?;
        // What is written well can only be too large; and to compile each beginning of it would find no place where it is.
        let regex = RegexBuilder::new(text).multi_line(true).size_limit(MAX_SIZE).build();
        let too_large = |_| Error::TooLarge { part: Part::Pattern, text: text.to_owned(), limit: MAX_SIZE };
        let regex = regex.map_err(too_large)?;
        Ok(Self { regex, reach: reach_of(&hir), steps_per_unit: steps_per_unit(&hir) })
    }

    /// The steps for reading so many bytes.
    const fn price(&self, n_bytes: usize) -> u64 {
        1 + (n_bytes as u64).saturating_mul(self.steps_per_unit) / BYTES_PER_UNIT as u64
    }

    /// Whether a search to the end can be paid for. A search cannot be stopped, so one that takes long is not begun.
    fn is_affordable(&self, n_bytes: usize, work: &Work) -> bool {
        self.steps_per_unit == 1 || self.price(n_bytes) <= work.left() || work.take(u64::MAX)
    }

    /// The text without what matches; from where the work is used up, with it.
    pub(crate) fn removed_from<'t>(&self, text: &'t str, work: &Work) -> Cow<'t, str> {
        let mut kept = String::new();
        // Where the next search begins, and up to where the text is copied or left out.
        let (mut from, mut done) = (0, 0);
        let mut line_end = None;
        while !work.is_used_up() && self.is_affordable(text.len() - from, work) {
            let found = self.regex.find_at(text, from);
            let read_to = found.map_or(text.len(), |found| self.read_to(text, &found, &mut line_end));
            if !work.take(self.price(read_to - from)) {
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

fn steps_per_unit(hir: &Hir) -> u64 {
    // Where words begin and end in other scripts is not worked out beforehand.
    let few = if hir.properties().look_set().contains_word_unicode() { 0 } else { FEW_PLACES };
    (STEPS_PER_PLACE * n_places(hir, 1).saturating_sub(few)).max(1)
}

/// At how many places of a pattern a search may be at once. A text that stands by itself counts as `most_of_text`: it is left after
/// a letter unless it goes on; where it is repeated, every letter of it may be one of many beginnings.
fn n_places(hir: &Hir, most_of_text: u64) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(text) => most_of_text.min(text.0.len() as u64),
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            let n_times = repetition.max.unwrap_or(repetition.min).max(1);
            let is_repeated = repetition.max != Some(1);
            let most_of_text = if is_repeated { u64::MAX } else { most_of_text };
            u64::from(n_times).saturating_mul(n_places(&repetition.sub, most_of_text))
        }
        HirKind::Capture(capture) => n_places(&capture.sub, most_of_text),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(n_places(part, most_of_text)))
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

    #[test]
    fn the_places_a_search_may_be_at_follow_from_the_structure() {
        let places = |pattern: &str| n_places(&regex_syntax::parse(pattern).unwrap(), 1);
        for (pattern, n_places) in [
            (r"\d\d:\d\d( ago)?", 6),
            (r"(?i)[a-z]+ views", 1 + 1 + 5),
            ("views today", 1),
            ("(jan|feb) [0-9]{4}", 1 + 1 + 1 + 4),
            ("[01]*1[01]{800}x", 1 + 1 + 800 + 1),
            ("(ab){30}", 60),
            ("((a{9}){9}){9}", 729),
            ("a{2,}|(?:bc)*", 2 + 2),
        ] {
            assert_eq!(places(pattern), n_places, "{pattern}");
        }
        let steps = |pattern: &str| CheckedPattern::new(pattern).unwrap().steps_per_unit;
        assert_eq!([r"\d\d:\d\d", "[01]{8}", "[01]{9}", r"\b\d{3}"].map(steps), [1, 1, 4, 12]);
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
