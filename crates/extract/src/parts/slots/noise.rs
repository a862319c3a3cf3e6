//! Of the differences between two lines, those that are no news by themselves: the clock's, counters', names of machines, greetings; and
//! which look like codes. Decides by the two lines and the clock alone.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::parts::clock::Elapsed;
use crate::parts::values::{About, Recognised};
use crate::tokens::{Kind, Token, is_greeting, names_a_machine};

/// For each difference, the noise that it is, and whether only words say so.
pub(super) fn noises(
    old: &[Token<'_>],
    new: &[Token<'_>],
    differences: &[(Range<usize>, Range<usize>)],
    about: About,
    elapsed: Option<Elapsed>,
) -> Vec<(Option<Recognised>, bool)> {
    let one = |range: &Range<usize>| (range.len() == 1).then_some(range.start);
    let names_today = LazyCell::new(|| elapsed.is_some_and(|elapsed| elapsed.names_today(new)));
    let is_clocks = |(was, is): &&(Range<usize>, Range<usize>)| match (one(was), one(is), elapsed) {
        (Some(was), Some(is), Some(elapsed)) => elapsed.explains(&old[was], new, is, || *names_today),
        _ => false,
    };
    let by_clock: BTreeSet<usize> = differences.iter().filter(is_clocks).map(|(_, is)| is.start).collect();
    let (greeting_before, greeting) = (greets(old), greets(new));
    let noise = |(was, is): &(Range<usize>, Range<usize>)| {
        if greeting_before >= was.end && greeting >= is.end && !was.is_empty() {
            return (Some(Recognised::Pleasantry), false);
        }
        if is_machine_name(old, was) && is_machine_name(new, is) {
            return (Some(Recognised::Code), true);
        }
        // The day of the week or the month beside a day that is the clock's, in any language.
        let is_word = |tokens: &[Token<'_>]| {
            let n_words = tokens.iter().filter(|token| token.kind == Kind::Word).count();
            n_words <= 1 && tokens.len() <= 2 && tokens.iter().all(|token| !token.is_value())
        };
        if is_word(&old[was.clone()])
            && is_word(&new[is.clone()])
            && neighbours(new, is).into_iter().flatten().any(|at| by_clock.contains(&at))
        {
            return (Some(Recognised::Clock), false);
        }
        let (Some(was), Some(is)) = (one(was), one(is)) else { return (None, false) };
        if by_clock.contains(&is) {
            let what = if new[is].kind == Kind::Span { Recognised::RelativeTime } else { Recognised::Clock };
            return (Some(what), false);
        }
        let noise = (old[was].kind == new[is].kind).then(|| about.noise(new, is)).flatten();
        (noise, matches!(noise, Some(Recognised::Counter | Recognised::Code)))
    };
    differences.iter().map(noise).collect()
}

/// What stands before and after these tokens, but for a mark or two.
fn neighbours(tokens: &[Token<'_>], range: &Range<usize>) -> [Option<usize>; 2] {
    const MOST_MARKS: usize = 3;
    let is_other = |at: &usize| !matches!(tokens[*at].text, "," | "." | "-" | "–" | "،");
    let before = (0..range.start).rev().take(MOST_MARKS).find(is_other);
    let after = (range.end..tokens.len()).take(MOST_MARKS).find(is_other);
    [before, after]
}

/// How many tokens of a line are a greeting at its beginning that is set apart from the rest.
fn greets(tokens: &[Token<'_>]) -> usize {
    const LONGEST: usize = 3;
    let words: Vec<&str> = tokens
        .iter()
        .take(LONGEST)
        .take_while(|token| token.kind == Kind::Word)
        .map(|token| token.text)
        .collect();
    let is_set_apart = tokens.get(words.len()).is_none_or(|next| next.kind == Kind::Mark);
    if is_set_apart && is_greeting(&words.join(" ")) { words.len() } else { 0 }
}

/// Words after the one for a machine among which its name is.
const NAME_WITHIN: usize = 5;

/// Whether these tokens are the name of a machine: letters and figures such as `FRA-2`, behind a word for machines.
fn is_machine_name(tokens: &[Token<'_>], range: &Range<usize>) -> bool {
    let name = &tokens[range.clone()];
    if name.is_empty() || !name.iter().all(is_of_a_code) {
        return false;
    }
    let from = range.start.saturating_sub(NAME_WITHIN);
    let before = &tokens[from..range.start];
    // A figure alone is the number of a machine only right behind the word: `node 4`, but `server: 4 players`.
    let has_letters = name.iter().any(|token| matches!(token.kind, Kind::Word | Kind::Code));
    let nearest = before.iter().rev().find(|token| !matches!(token.text, "-" | "#"));
    if has_letters {
        before.iter().any(|token| names_a_machine(token.text))
    } else {
        nearest.is_some_and(|token| names_a_machine(token.text))
    }
}

/// Letters and figures such as `FRA-2` is made of.
fn is_of_a_code(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Word => token.text.len() <= 12 && token.text.bytes().all(|byte| byte.is_ascii_uppercase()),
        Kind::Number | Kind::Code => true,
        _ => token.text == "-",
    }
}

/// Whether this is a code, or a part of one: letters and figures without a blank between them.
pub(super) fn is_code_like(line: &str, tokens: &[Token<'_>], range: &Range<usize>) -> bool {
    const SHORTEST: usize = 6;
    const LONGEST: usize = 64;
    let inner = &tokens[range.clone()];
    let (Some(first), Some(last)) = (inner.first(), inner.last()) else { return false };
    let has_letters = inner.iter().any(|token| token.kind != Kind::Number && token.kind != Kind::Mark);
    if has_letters && inner.iter().all(is_of_a_code) {
        return true;
    }
    let is_inside = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/');
    let n_before = line[..first.at].chars().rev().take(LONGEST).take_while(is_inside).count();
    let n_after = line[last.end()..].chars().take(LONGEST).take_while(is_inside).count();
    let word = &line[first.at - n_before..last.end() + n_after];
    word.len() >= SHORTEST
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/'))
}

/// Whether this is one long word, or a code.
pub(super) fn is_long_word(tokens: &[Token<'_>]) -> bool {
    const SHORTEST: usize = 8;
    let length: usize = tokens.iter().map(|token| token.text.len()).sum();
    let is_one = tokens.windows(2).all(|pair| pair[0].end() == pair[1].at);
    length >= SHORTEST && is_one && tokens.iter().all(|token| token.text.is_ascii())
}
