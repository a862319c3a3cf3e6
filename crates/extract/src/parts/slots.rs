//! Where in a line two contents differ: figures and runs of words, each with a place of its own, so that a figure that moves all the
//! time does not hide the word beside it. What is worth reporting is decided elsewhere.

mod noise;

use std::cmp::Ordering;
use std::ops::Range;

use super::Line;
use super::clock::Elapsed;
use super::values::{About, Recognised, is_money, is_version, plain, print_of};
use crate::diff::same;
use crate::hashing::mixed;
use crate::outline::LineContext;
use crate::tokens::{Kind, Token, value_of};
use crate::work::Work;
use noise::{is_code_like, is_long_word, noises};

/// A figure, or a run of words, in which two lines differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Fingerprints of its line and of where it is in that line; those of before where other words lead in the line now.
    pub(crate) line: u32,
    pub(crate) line_before: u32,
    pub(crate) at: u32,
    /// The figures at this place of the rows of a list, for figures.
    pub(crate) column: Option<u32>,
    pub(crate) shape: Shape,
    /// Money or a version.
    pub(crate) is_precious: bool,
    pub(crate) direction: Ordering,
    /// Whether a figure is nearly what it was.
    pub(crate) is_slight: bool,
    /// What it is, where that is no news.
    pub(crate) noise: Option<Recognised>,
    /// Whether only the words around it say so, and not the clock.
    pub(crate) is_by_words: bool,
    /// Where it begins and ends in the new line.
    pub(crate) span: (usize, usize),
    /// Fingerprints of what it says on both sides.
    pub(crate) says: (u32, u32),
}

/// What a difference is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A figure, a date, a time.
    Figure,
    /// On both sides a code, or a part of one: `FRA-2`.
    Code,
    /// On both sides one long word, which may be a code as well.
    LongWord,
    /// Other words.
    Words,
    /// A text of several words that took the place of another.
    Passage,
    /// An entry of a list without a word in common.
    Entry,
}

impl Shape {
    /// Whether the line says something else altogether.
    pub(crate) const fn is_replaced(self) -> bool {
        matches!(self, Self::Passage | Self::Entry)
    }
}

/// A line with more differences is another line.
const MOST_SLOTS: usize = 64;

/// Fewer words and figures are a state rather than a text.
const SHORTEST_TEXT: usize = 3;

/// In what two lines differ; nothing if only in formatting.
pub(super) fn slots(before: &Line<'_>, now: &Line<'_>, elapsed: Option<Elapsed>, work: &Work) -> Vec<Slot> {
    let (old, new) = (before.tokens(), now.tokens());
    let mut differences = differences(old, new, work);
    let about = About::of(new).in_context(now.context.is_heading);
    let (lead_before, lead) = (lead(old), lead(new));
    let n_common = lead_before.iter().zip(&lead).take_while(|(a, b)| a == b).count();
    let label = |words: &[&str]| words.iter().fold(0, |label, word| mixed(label, word));
    let line_of = |line: &Line<'_>, label: u32| {
        if label == 0 {
            mixed(line.context.path, &line.ordinal.to_string())
        } else {
            mixed(line.context.path, &label.to_string())
        }
    };
    let is_word = |token: &&Token<'_>| token.kind == Kind::Word;
    let n_words = new.iter().filter(is_word).count();
    let is_text =
        n_words + new.iter().filter(|token| token.is_value()).count() >= SHORTEST_TEXT && n_words > 1;
    let n_other: usize =
        differences.iter().map(|(_, is)| new[is.clone()].iter().filter(is_word).count()).sum();
    // An entry of a list with no word in common is another entry, however short.
    let is_other_entry = now.context.starts_entry && n_words > 0 && n_other == n_words;
    let is_replaced = is_text && n_other * 2 >= n_words || is_other_entry;
    let mut noise = noises(old, new, &differences, about, elapsed);
    let is_told_as_one = is_replaced || differences.len() > MOST_SLOTS;
    if is_told_as_one && noise.iter().any(|(noise, _)| noise.is_none()) {
        // Another text altogether: that figures stand at the same places says nothing.
        (differences, noise) = (vec![(0..old.len(), 0..new.len())], vec![(None, false)]);
    }
    // For each token, the values before it.
    let mut n_values = vec![0_usize];
    n_values.extend(new.iter().scan(0, |n, token| {
        *n += usize::from(token.is_value());
        Some(*n)
    }));
    let n_all = n_values.last().copied().unwrap_or_default();
    let columns = Columns::of(now);
    let described = differences.iter().zip(noise).map(|((was, is), (noise, is_by_words))| {
        let is_value = |tokens: &[Token<'_>]| {
            tokens.iter().any(Token::is_value)
                && tokens.iter().all(|token| token.is_value() || token.kind == Kind::Mark)
        };
        let is_value = is_value(&old[was.clone()]) && is_value(&new[is.clone()]);
        let is_code = |tokens: &[Token<'_>]| tokens.iter().any(|token| token.kind == Kind::Code);
        let is_value = is_value && !is_code(&old[was.clone()]) && !is_code(&new[is.clone()]);
        let (line_before, line) = if is_value {
            (line_of(before, label(&lead_before)), line_of(now, label(&lead)))
        } else {
            // Words and codes are known by the words before them that are still there.
            let words_of = |line: &Line<'_>| match label(&lead[..n_common]) {
                0 => line_of(line, 0),
                label => mixed(line_of(line, label), &line.section.to_string()),
            };
            (words_of(before), words_of(now))
        };
        let at = if is_value { n_values[is.start].to_string() } else { "words".to_owned() };
        let is_money_there = |index: usize| {
            new[index].kind == Kind::Number && (is_money(new, index) || is_version(new, index))
        };
        let start = new.get(is.start).map_or(now.text.len(), |token| token.at);
        let movement = match (&old[was.clone()], &new[is.clone()]) {
            ([old], [new]) => movement(old, new),
            _ => (Ordering::Equal, false),
        };
        Slot {
            line,
            line_before,
            at: mixed(0, &at),
            column: columns
                .as_ref()
                .filter(|_| is_value)
                .map(|columns| columns.at(n_all - n_values[is.start])),
            shape: match () {
                () if is_replaced && is_text => Shape::Passage,
                () if is_replaced => Shape::Entry,
                () if is_code_like(before.text, old, was) && is_code_like(now.text, new, is) => Shape::Code,
                () if is_value => Shape::Figure,
                () if is_long_word(&old[was.clone()]) && is_long_word(&new[is.clone()]) => Shape::LongWord,
                () => Shape::Words,
            },
            is_precious: !is_replaced && is.clone().any(is_money_there),
            direction: movement.0,
            is_slight: movement.1,
            noise,
            is_by_words,
            says: (says(before.text, &old[was.clone()]), says(now.text, &new[is.clone()])),
            span: (start, is.end.checked_sub(1).map_or(start, |last| new[last].end().max(start))),
        }
    });
    described.collect()
}

/// A fingerprint of a piece of a line.
fn says(line: &str, tokens: &[Token<'_>]) -> u32 {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return 0 };
    mixed(0, &line[first.at..last.end()])
}

/// The ranges of tokens that are different on both sides. Figures of one kind stand for each other.
fn differences(old: &[Token<'_>], new: &[Token<'_>], work: &Work) -> Vec<(Range<usize>, Range<usize>)> {
    let shapes = |tokens: &[Token<'_>]| -> Vec<u64> {
        let shape = |token: &Token<'_>| {
            if token.is_value() { token.kind as u64 } else { print_of(plain(token.text)).max(16) }
        };
        tokens.iter().map(shape).collect()
    };
    let (was, is) = (shapes(old), shapes(new));
    let pairs = if was == is {
        (0..old.len()).map(|at| (at, at)).collect()
    } else {
        same(&was, &is, work).unwrap_or_default()
    };
    let (mut found, mut at_old, mut at_new) = (Vec::new(), 0, 0);
    for (next_old, next_new) in pairs.into_iter().chain([(old.len(), new.len())]) {
        if (at_old, at_new) != (next_old, next_new) {
            found.push((at_old..next_old, at_new..next_new));
        }
        if next_old < old.len() && plain(old[next_old].text) != plain(new[next_new].text) {
            found.push((next_old..next_old + 1, next_new..next_new + 1));
        }
        (at_old, at_new) = (next_old + 1, next_new + 1);
    }
    // `FRA-2` is one name.
    found.into_iter().fold(Vec::new(), |mut joined: Vec<(Range<usize>, Range<usize>)>, (was, is)| {
        let is_joined = |tokens: &[Token<'_>], before: &Range<usize>, next: &Range<usize>| {
            let between =
                tokens.get(before.end).filter(|mark| next.start == before.end + 1 && mark.text == "-");
            between.is_some_and(|mark| {
                before.end > 0
                    && tokens[before.end - 1].end() == mark.at
                    && tokens[next.start].at == mark.end()
            })
        };
        match joined.last_mut() {
            Some(last)
                if !was.is_empty()
                    && !is.is_empty()
                    && is_joined(old, &last.0, &was)
                    && is_joined(new, &last.1, &is) =>
            {
                (last.0.end, last.1.end) = (was.end, is.end);
            }
            _ => joined.push((was, is)),
        }
        joined
    })
}

/// The words with which a line begins.
fn lead<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    const WITHIN: usize = 4;
    const MOST_WORDS: usize = 2;
    let words = tokens.iter().take(WITHIN).filter(|token| token.kind == Kind::Word).take(MOST_WORDS);
    words.map(|word| word.text).collect()
}

/// Whether a figure rose or fell, and whether it is nearly the same.
fn movement(old: &Token<'_>, new: &Token<'_>) -> (Ordering, bool) {
    const SLIGHT: f64 = 0.02;
    let value = |token: &Token<'_>| match token.kind {
        Kind::Number => value_of(token.text),
        Kind::Span => {
            value_of(token.text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').next()?)
        }
        _ => None,
    };
    let (Some((old, _)), Some((new, _))) = (value(old), value(new)) else { return (Ordering::Equal, false) };
    (new.partial_cmp(&old).unwrap_or(Ordering::Equal), (new - old).abs() <= SLIGHT * old.abs())
}

/// The pieces of a line that lists things: `Most read: one, two, three` has three.
pub(crate) fn pieces(line: &str) -> Vec<&str> {
    const FEWEST: usize = 2;
    const MOST: usize = 40;
    let list = line.split_once(": ").map_or(line, |(_, list)| list);
    for separator in [", ", " · ", " | ", "、", " • "] {
        let pieces: Vec<&str> =
            list.split(separator).take(MOST + 1).map(|piece| piece.trim_end_matches('.').trim()).collect();
        if (FEWEST..=MOST).contains(&pieces.len()) && pieces.iter().all(|piece| !piece.is_empty()) {
            return pieces;
        }
    }
    Vec::new()
}

/// The columns of a list that a line is a row of: an entry, a row of a table, a field of an element in JSON.
#[derive(Debug)]
enum Columns {
    /// By their number from the end.
    Numbered { path: u32 },
    /// By the name of the field.
    Named(u32),
}

impl Columns {
    fn of(line: &Line<'_>) -> Option<Self> {
        // `list[element].field: value`.
        let field =
            line.text.split_once(": ").and_then(|(path, _)| path.split_once("].")).map(|(_, field)| field);
        if let Some(field) = field {
            return Some(Self::Named(mixed(line.context.container, field)));
        }
        let LineContext { starts_entry, is_in_entry, path, .. } = line.context;
        (starts_entry || is_in_entry).then_some(Self::Numbered { path })
    }

    /// A fingerprint of the one that is so many figures from the end.
    fn at(&self, from_the_end: usize) -> u32 {
        match self {
            Self::Numbered { path } => mixed(*path, &format!("column {from_the_end}")),
            Self::Named(field) => *field,
        }
    }
}

/// The columns that a line has figures in.
pub(crate) fn columns_of(line: &Line<'_>) -> Vec<u32> {
    let Some(columns) = Columns::of(line) else { return Vec::new() };
    let n_values = line.tokens().iter().filter(|token| token.is_value()).count();
    (1..=n_values).map(|from_the_end| columns.at(from_the_end)).collect()
}
