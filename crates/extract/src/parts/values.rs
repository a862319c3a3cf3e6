//! What a line says apart from its figures, and which different figures are the work of a clock, a counter or a server.

use std::cell::LazyCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use dunlin_core::Time;

use crate::tokens::{
    Kind, Token, begins_with_counted_sign, begins_with_made_sign, counts_something, is_currency,
    is_ideographic, is_pleasantry, names_an_edition, rates_something, says_when_it_was_made, value_of,
};

/// When two contents were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment {
    /// When the new one was; nothing is explained by the clock where that is not known.
    pub(crate) now: Option<Time>,
    /// When the old one was.
    pub(crate) before: Option<Time>,
}

/// What two lines differ in, where that is no news.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recognised {
    /// White space, quotes or dashes; characters that were damaged on the way.
    Formatting,
    /// The time of the day, or when the page was made.
    Clock,
    /// A time that is told from now.
    RelativeTime,
    /// Something that is counted while people visit.
    Counter,
    /// An identifier that was made for this answer.
    Code,
    /// Words for the visitor: a greeting, a saying of the day, a banner that asks for consent.
    Pleasantry,
}

/// A fingerprint for comparisons in this process; never stored.
pub(super) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A fingerprint of a text that may be stored (FNV-1a).
pub(super) fn print_of(text: &str) -> u64 {
    continued(FIRST_PRINT, text)
}

const FIRST_PRINT: u64 = 0xcbf2_9ce4_8422_2325;

fn continued(print: u64, text: &str) -> u64 {
    text.bytes()
        .chain([1])
        .fold(print, |print, byte| (print ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What a line is recognised by if what is recognised as noise does not count. Stored, so it is made from the words alone.
pub(crate) fn key_of(tokens: &[Token<'_>]) -> u64 {
    // Most lines have no figures, and need not be understood.
    let about = LazyCell::new(|| About::of(tokens));
    tokens.iter().enumerate().fold(FIRST_PRINT, |print, (index, token)| {
        let is_noise = token.is_value() && about.noise(tokens, index).is_some();
        continued(print, if is_noise { "\u{0}" } else { plain(token.text) })
    })
}

/// What a line says apart from all figures. Stored as part of places, so it is made from the words alone.
pub(super) fn template_of(tokens: &[Token<'_>]) -> u64 {
    tokens.iter().fold(FIRST_PRINT, |print, token| {
        continued(print, if token.is_value() { "\u{0}" } else { plain(token.text) })
    })
}

/// Quotes, dashes and blanks of all kinds as one.
pub(super) fn plain(text: &str) -> &str {
    match text {
        "‘" | "’" | "“" | "”" | "„" | "«" | "»" | "\"" | "`" => "'",
        "–" | "—" | "−" | "‐" | "‑" => "-",
        "…" => "...",
        other => other,
    }
}

/// What the words of a line say about its figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    /// It counts nothing: it is a heading, or very long.
    is_statement: bool,
    /// It says when the page was made.
    is_made_line: bool,
}

/// A line with more words is a sentence: the figures in it are what it says.
const MOST_WORDS: usize = 10;

impl About {
    pub(super) fn of(tokens: &[Token<'_>]) -> Self {
        let words = || tokens.iter().filter(|token| token.kind == Kind::Word);
        let n_words = n_words(tokens);
        let is_short = n_words <= MOST_WORDS;
        let is_made_sign = || (0..tokens.len()).any(|at| begins_with_made_sign(&joined(tokens, at)));
        Self {
            is_statement: n_words > 6 * MOST_WORDS,
            is_made_line: is_short
                && (words().any(|word| says_when_it_was_made(word.text)) || is_made_sign()),
        }
    }

    /// Likewise, for a line that may be a heading.
    pub(super) const fn in_context(mut self, is_heading: bool) -> Self {
        self.is_statement |= is_heading;
        self
    }

    /// The kind of noise that a token is, judging by its line alone.
    pub(super) fn noise(self, tokens: &[Token<'_>], index: usize) -> Option<Recognised> {
        let token = tokens[index];
        match token.kind {
            Kind::Relative => Some(Recognised::RelativeTime),
            Kind::Code => Some(Recognised::Code),
            Kind::Time | Kind::Date if self.is_made_line => Some(Recognised::Clock),
            Kind::Number if is_copyright_year(tokens, index) => Some(Recognised::Clock),
            Kind::Number
                if !self.is_statement && is_counter(tokens, index) && !is_in_sentence(tokens, index) =>
            {
                Some(Recognised::Counter)
            }
            _ => None,
        }
    }
}

/// Whether a figure is in a sentence of many words that has an end.
fn is_in_sentence(tokens: &[Token<'_>], index: usize) -> bool {
    // Far enough for many words, whatever is between them.
    const FARTHEST: usize = 8 * MOST_WORDS;
    let ends = |token: &Token<'_>| matches!(token.text, "." | "!" | "?" | "。");
    let from = index.saturating_sub(FARTHEST);
    let begin = tokens[from..index].iter().rposition(ends).map_or(from, |at| from + at + 1);
    let end = tokens[index..].iter().take(FARTHEST).position(ends).map(|at| index + at);
    end.is_some_and(|end| n_words(&tokens[begin..end]) > MOST_WORDS)
}

/// The signs of a script without spaces from here on, as a text: each is a token of its own.
fn joined(tokens: &[Token<'_>], at: usize) -> String {
    const LONGEST: usize = 7;
    if !tokens[at].text.starts_with(is_ideographic) {
        return String::new();
    }
    tokens[at..].iter().take(LONGEST).map(|token| token.text).collect()
}

/// Whether this is the year beside the sign of a copyright, or the end of a span of years there.
fn is_copyright_year(tokens: &[Token<'_>], index: usize) -> bool {
    const NEAREST: usize = 8;
    let is_sign = |token: &Token<'_>| token.text == "©" || token.text.eq_ignore_ascii_case("copyright");
    let is_beside =
        |token: &&Token<'_>| matches!(token.text, "-" | "–" | "(" | "c" | ")" | ",") || is_year(token.text);
    let mut before = tokens[..index].iter().rev().take(NEAREST);
    is_year(tokens[index].text) && before.find(|token| !is_beside(token)).is_some_and(is_sign)
}

/// The words of a line; in scripts without spaces, two characters are about one.
fn n_words(tokens: &[Token<'_>]) -> usize {
    let words = tokens.iter().filter(|token| token.kind == Kind::Word);
    let halves: usize = words.map(|token| if token.text.starts_with(is_ideographic) { 1 } else { 2 }).sum();
    halves / 2
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && (text.starts_with("19") || text.starts_with("20"))
}

/// Words on either side of a figure that may say what it counts.
const NEAR: usize = 3;

fn is_counter(tokens: &[Token<'_>], index: usize) -> bool {
    if is_money(tokens, index) {
        return false;
    }
    let is_whole = is_whole(tokens[index].text);
    let may_be_mean =
        || value_of(tokens[index].text).is_some_and(|(value, n_decimals)| value <= 10.0 && n_decimals < 3);
    if !is_whole && !may_be_mean() {
        return false;
    }
    let is_such = |at: usize| {
        let token = tokens[at];
        if !is_whole {
            return rates_something(token.text);
        }
        token.kind == Kind::Word
            && (counts_something(token.text) || begins_with_counted_sign(&joined(tokens, at)))
    };
    let is_figure = |at: &usize| tokens[*at].kind == Kind::Number;
    let after = (index + 1..tokens.len()).take(NEAR).take_while(|at| !is_figure(at));
    let before = (0..index).rev().take(NEAR).take_while(|at| !is_figure(at));
    after.chain(before).any(is_such)
}

/// Whether a figure is a whole number, with or without thousands marks, or a rounded one: `1.1K`.
fn is_whole(text: &str) -> bool {
    if text.ends_with(['K', 'k', 'M']) {
        return true;
    }
    let mut groups = text.split(|c: char| !c.is_ascii_digit());
    groups.next().is_some() && groups.all(|group| group.len() == 3)
}

/// Whether a figure is an amount of money.
pub(super) fn is_money(tokens: &[Token<'_>], index: usize) -> bool {
    let is_sign = |token: Option<&Token<'_>>| token.is_some_and(|token| is_currency(token.text));
    is_sign(tokens.get(index + 1)) || is_sign(index.checked_sub(1).and_then(|before| tokens.get(before)))
}

/// Says of each figure of a line the kind of noise that it is, judging by its line alone.
pub(crate) fn recognised_alone(tokens: &[Token<'_>]) -> impl Fn(usize) -> Option<Recognised> {
    let about = About::of(tokens);
    move |index| about.noise(tokens, index)
}

/// Whether a line says what is measured at the moment.
pub(crate) fn is_measured(tokens: &[Token<'_>]) -> bool {
    const UNITS: [&str; 33] = [
        "%", "°", "‰", "ms", "s", "min", "km", "mph", "kn", "kt", "hPa", "mbar", "mb", "inHg", "mm", "dB",
        "Mbit", "Mbps", "Kbps", "Gbps", "MB", "rpm", "ppm", "ppb", "µg", "kW", "MW", "GW", "W", "V", "Hz",
        "kWh", "lx",
    ];
    let is_short_time = |token: &Token<'_>| {
        token.kind == Kind::Span && (token.text.ends_with("min") || token.text.contains(['.', ',']))
    };
    tokens.windows(2).any(|pair| pair[0].kind == Kind::Number && UNITS.contains(&pair[1].text))
        || tokens.iter().any(is_short_time)
}

/// Whether two short lines count something: a large whole number that is a little larger or smaller than it was.
pub(crate) fn counts(old: &[Token<'_>], new: &[Token<'_>]) -> bool {
    const FEW_WORDS: usize = 4;
    let figure = |tokens: &[Token<'_>]| -> Option<u64> {
        let mut figures = tokens.iter().filter(|token| token.is_value());
        let only = figures.next().filter(|token| token.kind == Kind::Number && is_whole(token.text))?;
        let digits: String = only.text.chars().filter(char::is_ascii_digit).collect();
        figures.next().is_none().then(|| digits.parse().ok())?
    };
    let (Some(before), Some(now)) = (figure(old), figure(new)) else { return false };
    n_words(new) <= FEW_WORDS && before >= 100 && before.abs_diff(now) * 10 <= before
}

/// What a whole line is, where it is no news that it is there.
pub(crate) fn recognised_line(line: &str) -> Option<Recognised> {
    is_pleasantry(line).then_some(Recognised::Pleasantry)
}

/// Whether a line says a price or a version: figures that people watch pages for, however often they change.
pub(crate) fn is_precious(tokens: &[Token<'_>]) -> bool {
    let is_such = |(index, token): (usize, &Token<'_>)| {
        token.kind == Kind::Number && (is_money(tokens, index) || is_version(tokens, index))
    };
    tokens.iter().enumerate().any(is_such)
}

/// Whether a figure is the number of a version or an edition: `4.17.2`, `edition 12`.
pub(super) fn is_version(tokens: &[Token<'_>], index: usize) -> bool {
    let token = tokens[index];
    let is_dotted = token.text.matches('.').count() > 1 && value_of(token.text).is_none();
    let names_one = |at: usize| tokens.get(at).is_some_and(|token| names_an_edition(token.text));
    token.kind == Kind::Number
        && (is_dotted || index.checked_sub(1).is_some_and(names_one) || names_one(index + 1))
}

/// What two whole lines differ in, where that is no news whatever they say.
pub(super) fn recognised_lines(old: &str, new: &str) -> Option<Recognised> {
    if is_damaged(old, new) || is_set_differently(old, new) {
        return Some(Recognised::Formatting);
    }
    (is_pleasantry(old) && is_pleasantry(new)).then_some(Recognised::Pleasantry)
}

/// Whether the lines are the same but for blanks, none of them between two digits.
fn is_set_differently(old: &str, new: &str) -> bool {
    let letters = |line: &str| -> Vec<char> {
        let mut kept: Vec<char> = Vec::with_capacity(line.len());
        let mut is_after_blank = false;
        for c in line.chars() {
            if c.is_whitespace() {
                is_after_blank = true;
                continue;
            }
            // A blank between digits says something.
            if is_after_blank && c.is_numeric() && kept.last().is_some_and(|last| last.is_numeric()) {
                kept.push(' ');
            }
            is_after_blank = false;
            kept.push(c);
        }
        kept
    };
    letters(old) == letters(new)
}

/// Whether the lines are the same but for characters that were damaged on the way.
fn is_damaged(old: &str, new: &str) -> bool {
    const DAMAGED: char = '\u{fffd}';
    let fits = |whole: &str, damaged: &str| {
        let mut pieces = damaged.split(DAMAGED);
        let Some(mut rest) = whole.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            // A damaged character stands for a few.
            let found = (0..=3).find_map(|skipped| {
                let (at, _) = rest.char_indices().chain([(rest.len(), ' ')]).nth(skipped)?;
                let tail = rest[at..].strip_prefix(piece)?;
                (pieces.peek().is_some() || tail.is_empty()).then_some(tail)
            });
            let Some(tail) = found else { return false };
            rest = tail;
        }
        rest.is_empty()
    };
    (new.contains(DAMAGED) && fits(old, new)) || (old.contains(DAMAGED) && fits(new, old))
}
