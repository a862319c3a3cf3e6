//! What a line says apart from its figures, and which different figures are the work of a clock, a counter or a server.

use std::cell::LazyCell;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use dunlin_core::Time;

use crate::tokens::{
    Kind, Token, counts_something, days_of, is_ideographic, is_pleasantry, names_a_machine,
    says_when_it_was_made, tokens,
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

/// What a line is recognised by if what is recognised as noise does not count.
pub(super) fn key_of(line: &str) -> u64 {
    let tokens = tokens(line);
    let about = About::of(&tokens);
    let mut hasher = DefaultHasher::new();
    for (index, token) in tokens.iter().enumerate() {
        match about.noise(&tokens, index) {
            Some(kind) => kind.hash(&mut hasher),
            None => plain(token.text).hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// What a line says apart from all figures. Stored as part of places, so it is made from the words alone.
pub(super) fn template_of(line: &str) -> u64 {
    let mut template: u64 = 0xcbf2_9ce4_8422_2325;
    for token in tokens(line) {
        let text = if token.is_value() { "\u{0}" } else { plain(token.text) };
        for byte in text.bytes().chain([1]) {
            template = (template ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    template
}

/// Quotes, dashes and blanks of all kinds as one.
fn plain(text: &str) -> &str {
    match text {
        "‘" | "’" | "“" | "”" | "„" | "«" | "»" | "\"" | "`" => "'",
        "–" | "—" | "−" | "‐" | "‑" => "-",
        "…" => "...",
        other => other,
    }
}

/// What the words of a line say about its figures.
#[derive(Debug, Clone, Copy)]
struct About {
    is_sentence: bool,
    /// It says when the page was made.
    is_made_line: bool,
    is_copyright: bool,
}

/// A line with more words is a sentence: the figures in it are what it says.
const MOST_WORDS: usize = 10;

impl About {
    fn of(tokens: &[Token<'_>]) -> Self {
        let words = || tokens.iter().filter(|token| token.kind == Kind::Word);
        let is_short = n_words(tokens) <= MOST_WORDS;
        let ends_like_one = tokens.last().is_some_and(|token| matches!(token.text, "." | "!" | "?" | "。"));
        Self {
            is_sentence: !is_short && ends_like_one || n_words(tokens) > 4 * MOST_WORDS,
            is_made_line: is_short && words().any(|word| says_when_it_was_made(word.text)),
            is_copyright: tokens
                .iter()
                .any(|token| matches!(token.text, "©") || token.text.eq_ignore_ascii_case("copyright")),
        }
    }

    /// The kind of noise that a token is, judging by its line alone.
    fn noise(self, tokens: &[Token<'_>], index: usize) -> Option<Recognised> {
        let token = tokens[index];
        match token.kind {
            Kind::Relative => Some(Recognised::RelativeTime),
            Kind::Code => Some(Recognised::Code),
            Kind::Time | Kind::Date if self.is_made_line => Some(Recognised::Clock),
            Kind::Number if self.is_copyright && is_year(token.text) => Some(Recognised::Clock),
            Kind::Number if !self.is_sentence && is_counter(tokens, index) => Some(Recognised::Counter),
            _ => None,
        }
    }
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
    if is_money(tokens, index) || !is_whole(tokens[index].text) {
        return false;
    }
    let after = tokens[index + 1..].iter().take(NEAR).take_while(|token| token.kind != Kind::Number);
    let before = tokens[..index].iter().rev().take(2);
    after.chain(before).any(|token| token.kind == Kind::Word && counts_something(token.text))
}

/// Whether a figure is a whole number, with or without thousands marks.
fn is_whole(text: &str) -> bool {
    let mut groups = text.split(|c: char| !c.is_ascii_digit());
    groups.next().is_some() && groups.all(|group| group.len() == 3)
}

/// Whether a figure is an amount of money.
fn is_money(tokens: &[Token<'_>], index: usize) -> bool {
    let is_sign = |token: Option<&Token<'_>>| token.is_some_and(|token| is_money_sign(token.text));
    is_sign(tokens.get(index + 1)) || is_sign(index.checked_sub(1).and_then(|before| tokens.get(before)))
}

/// Whether this is the sign or the name of a currency.
pub(crate) fn is_money_sign(text: &str) -> bool {
    const SIGNS: [&str; 17] =
        ["$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "円", "元", "CHF", "USD", "EUR", "GBP", "Fr"];
    SIGNS.contains(&text)
}

/// Says of each figure of a line the kind of noise that it is, judging by its line alone.
pub(crate) fn recognised_alone(tokens: &[Token<'_>]) -> impl Fn(usize) -> Option<Recognised> {
    let about = About::of(tokens);
    move |index| about.noise(tokens, index)
}

/// Whether a line says what is measured at the moment.
pub(crate) fn is_measured(line: &str) -> bool {
    const UNITS: [&str; 33] = [
        "%", "°", "‰", "ms", "s", "min", "km", "mph", "kn", "kt", "hPa", "mbar", "mb", "inHg", "mm", "dB",
        "Mbit", "Mbps", "Kbps", "Gbps", "MB", "rpm", "ppm", "ppb", "µg", "kW", "MW", "GW", "W", "V", "Hz",
        "kWh", "lx",
    ];
    let tokens = tokens(line);
    tokens.windows(2).any(|pair| pair[0].kind == Kind::Number && UNITS.contains(&pair[1].text))
}

/// Whether two short lines count something: a large whole number that is a little larger or smaller than it was.
pub(crate) fn counts(old: &str, new: &str) -> bool {
    const FEW_WORDS: usize = 4;
    let figure = |tokens: &[Token<'_>]| -> Option<u64> {
        let mut figures = tokens.iter().filter(|token| token.is_value());
        let only = figures.next().filter(|token| token.kind == Kind::Number && is_whole(token.text))?;
        let digits: String = only.text.chars().filter(char::is_ascii_digit).collect();
        figures.next().is_none().then(|| digits.parse().ok())?
    };
    let (old, new) = (tokens(old), tokens(new));
    let (Some(before), Some(now)) = (figure(&old), figure(&new)) else { return false };
    n_words(&new) <= FEW_WORDS && before >= 100 && before.abs_diff(now) * 10 <= before
}

/// Whether the first figure that is different rose or fell.
pub(crate) fn direction(old: &str, new: &str) -> Ordering {
    let number = |text: &str| -> Option<f64> {
        // One separator may be the decimal one; which it is does not matter for what rises, as long as both are read alike.
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let (old, new) = (tokens(old), tokens(new));
    let pair = old
        .iter()
        .zip(&new)
        .find(|(old, new)| old.kind == Kind::Number && new.kind == Kind::Number && old.text != new.text);
    let both = pair.and_then(|(old, new)| Some((number(old.text)?, number(new.text)?)));
    both.and_then(|(old, new)| new.partial_cmp(&old)).unwrap_or(Ordering::Equal)
}

/// What a whole line is, where it is no news that it is there.
pub(crate) fn recognised_line(line: &str) -> Option<Recognised> {
    is_pleasantry(line).then_some(Recognised::Pleasantry)
}

/// Whether a line says a price or a version: figures that people watch pages for, however often they change.
pub(crate) fn is_precious(line: &str) -> bool {
    let tokens = tokens(line);
    let is_version = |token: &Token<'_>| token.kind == Kind::Number && token.text.matches('.').count() > 1;
    let is_such = |(index, token): (usize, &Token<'_>)| {
        token.kind == Kind::Number && (is_money(&tokens, index) || is_version(token))
    };
    tokens.iter().enumerate().any(is_such)
}

/// What two lines differ in if it is all noise.
pub(super) fn recognised(old: &str, new: &str, moment: Moment) -> Option<Recognised> {
    if is_damaged(old, new) {
        return Some(Recognised::Formatting);
    }
    if is_pleasantry(old) && is_pleasantry(new) {
        return Some(Recognised::Pleasantry);
    }
    let (old, new) = (tokens(old), tokens(new));
    let names_its_machine = |tokens: &[Token<'_>]| {
        About::of(tokens).is_made_line && tokens.iter().any(|token| names_a_machine(token.text))
    };
    if names_its_machine(&old) && names_its_machine(&new) {
        return Some(Recognised::Code);
    }
    if old.len() != new.len() {
        return None;
    }
    let about = About::of(&new);
    // Of all its dates, and asked for each of its times: there may be thousands of both.
    let names_the_day = LazyCell::new(|| {
        let is_the_day = |now| new.iter().any(|token| token.kind == Kind::Date && is_day_of(token.text, now));
        moment.now.is_some_and(|now| is_the_day(seconds(now)))
    });
    let mut found = Some(Recognised::Formatting);
    for (index, (before, now)) in old.iter().zip(&new).enumerate() {
        if plain(before.text) == plain(now.text) {
            continue;
        }
        if before.kind != now.kind {
            return None;
        }
        let noise = about
            .noise(&new, index)
            .or_else(|| explained_by_clock(before, now, || *names_the_day, moment))?;
        found = found.max(Some(noise));
    }
    found
}

/// A day that is today's (in some zone) after one that was the day of the old content; a time beside such a day; a number of
/// seconds since 1970 that is about now.
fn explained_by_clock(
    old: &Token<'_>,
    new: &Token<'_>,
    names_the_day: impl Fn() -> bool,
    moment: Moment,
) -> Option<Recognised> {
    let (now, before) = (seconds(moment.now?), seconds(moment.before.or(moment.now)?));
    let is_explained = match new.kind {
        Kind::Date => is_day_of(new.text, now) && is_day_of(old.text, before),
        Kind::Time => names_the_day(),
        Kind::Number if new.text.len() == 10 => {
            let is_about =
                |text: &str, time: i64| text.parse().is_ok_and(|at: i64| (time - at).abs() < 2 * DAY);
            is_about(new.text, now) && is_about(old.text, before)
        }
        _ => false,
    };
    is_explained.then_some(Recognised::Clock)
}

fn seconds(time: Time) -> i64 {
    time.micros().div_euclid(1_000_000)
}

const DAY: i64 = 86_400;

/// Whether a date is the day of a time in seconds, in some zone.
fn is_day_of(date: &str, time: i64) -> bool {
    let today = time.div_euclid(DAY);
    let this_year = year_of(today);
    days_of(date).into_iter().any(|(year, month, day)| {
        (today - days_since_epoch(year.unwrap_or(this_year), month, day)).abs() <= 1
    })
}

/// Days since 1970 of a day in the Gregorian calendar.
fn days_since_epoch(year: i32, month: u32, day: u32) -> i64 {
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year of a day since 1970, but for a day or two around its beginning.
fn year_of(days: i64) -> i32 {
    i32::try_from(1970 + days * 400 / 146_097).unwrap_or(1970)
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
