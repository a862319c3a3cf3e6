//! A change in one line that a person understands without the page: which thing, what it was, what it is. Whole words, whole
//! figures with their units. Decides nothing about what is reported.

use std::ops::Range;

use crate::detect::Change;
use crate::diff::same;
use crate::document::Item;
use crate::flicker::Changed;
use crate::parts::recognised_alone;
use crate::tokens::{Kind, Token, is_currency, tokens};
use crate::work::Work;

/// The most characters of a summary.
pub const LONGEST_SUMMARY: usize = 280;
/// The most characters of what a line is about.
const LONGEST_NAME: usize = 60;
/// The most characters of a passage that came or went, so that something is left for what else did.
const LONGEST_LINE: usize = 200;
/// The most characters of what was there and of what is there.
const LONGEST_SIDE: usize = 90;
/// Characters of a line that is said as a whole, and bytes of what stands before a difference.
const SHORT: usize = 64;
/// Differences of one line that are told.
const MOST_DIFFERENCES: usize = 4;
/// Parts that are put into words, of which a summary has room for a few; and what they say is compared with each other.
const MOST_WORDED: usize = 64;
/// Bytes that are searched in one step.
const BYTES_PER_STEP: u64 = 16;
/// Signs of scripts without spaces that are taken for one word with a difference, on either side of it.
const MOST_SIGNS: usize = 64;
/// Words that are shown before a difference, and after it.
const WORDS_BEFORE: usize = 4;
const WORDS_AFTER: usize = 3;

/// A change in one line of at most [`LONGEST_SUMMARY`] characters. Beyond the work, what was and what is are said as a whole.
///
/// ```
/// use dunlin_extract::{Extractor, Flicker, Input, Limits, Work, summary::summary};
/// use dunlin_extract::recipe::{NoiseRules, Recipe};
///
/// let extractor = Extractor::new(&Recipe::Auto, &NoiseRules::default(), Limits::default())?;
/// let read = |price: &str| {
///     let body = format!("<html><body><h1>Teapot</h1><p>Price: {price} incl. VAT</p></body></html>");
///     extractor.extract(&Input { body: body.as_bytes(), ..Input::default() }).items
/// };
/// let (old, new) = (read("€ 19.99"), read("€ 17.49"));
/// let (_, verdict) = Flicker::default().observe(&old, &new);
/// let said = summary(&verdict.reported[0], &Work::default());
/// assert_eq!(said, "Teapot: Price: € 19.99 → € 17.49 incl. VAT");
/// # Ok::<(), dunlin_extract::Error>(())
/// ```
pub fn summary(changed: &Changed<'_>, work: &Work) -> String {
    shortened(&line_of(changed, work), LONGEST_SUMMARY)
}

/// Several changes of one item in one line, in the order in which they are given. The first are worded, as many as there is room
/// for; the rest is counted.
pub fn summary_of_all(all: &[&Changed<'_>], work: &Work) -> String {
    let (worded, rest) = all.split_at(all.len().min(MOST_WORDED));
    let mut lines: Vec<(&str, String)> = Vec::new();
    for changed in worded {
        // A heading often says what the title says.
        let is_said = worded.iter().any(|other| {
            !std::ptr::eq(*other, *changed)
                && other.new.len() < changed.new.len()
                && !other.new.is_empty()
                && changed.heading.is_empty()
                && work.take(1 + changed.new.len() as u64 / BYTES_PER_STEP)
                && changed.new.contains(&*other.new)
        });
        let line = (changed.heading, what_of(changed, work));
        if !is_said && !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut said = String::new();
    let (mut last_heading, mut n_told) = ("", lines.len());
    for (index, (heading, what)) in lines.iter().enumerate() {
        // What is below the same heading is not told where twice.
        let line = if *heading == last_heading { what.clone() } else { below(heading, what) };
        last_heading = heading;
        if index > 0 && said.chars().count() + line.chars().count() + SEPARATOR.len() > LONGEST_SUMMARY {
            n_told = index;
            break;
        }
        if index > 0 {
            said.push_str(SEPARATOR);
        }
        said.push_str(&line);
    }
    let n_left = lines.len() - n_told + rest.len();
    if n_left > 0 && !said.is_empty() {
        let rest = format!("{SEPARATOR}{n_left} more");
        said.push_str(&rest);
    }
    if said.is_empty() {
        said = all.first().map(|changed| line_of(changed, work)).unwrap_or_default();
    }
    shortened(&said, LONGEST_SUMMARY)
}

/// What stands between several changes.
const SEPARATOR: &str = " · ";

fn line_of(changed: &Changed<'_>, work: &Work) -> String {
    below(changed.heading, &what_of(changed, work))
}

/// What happened, without the heading that it is below.
fn what_of(changed: &Changed<'_>, work: &Work) -> String {
    let labelled = |what: String| match changed.label {
        "" => what,
        label => format!("{} {what}", shortened(label, LONGEST_NAME)),
    };
    match (&changed.change, changed.kind) {
        (Change::Added(item) | Change::Removed(item), _) => name_of(item),
        (_, "added") => labelled(format!("+ {}", shortened(&changed.new, LONGEST_LINE))),
        (_, "removed") => labelled(format!("− {}", shortened(&changed.old, LONGEST_LINE))),
        _ => labelled(edit(&changed.old, &changed.new, &changed.quiet, work)),
    }
}

/// The title of an item, or its first line.
fn name_of(item: &Item) -> String {
    let first_line = || item.text.lines().next().unwrap_or_default();
    let name = if item.title.is_empty() { first_line() } else { &item.title };
    if name.is_empty() { item.id.to_string() } else { name.to_owned() }
}

fn below(heading: &str, what: &str) -> String {
    let name = shortened(heading, LONGEST_NAME);
    if name.is_empty() { what.to_owned() } else { format!("{}: {what}", name.trim_end_matches(':')) }
}

/// What is different between two lines, with the words around it.
fn edit(old: &str, new: &str, quiet: &[(usize, usize)], work: &Work) -> String {
    let whole = || format!("{} → {}", shortened(old, LONGEST_SIDE), shortened(new, LONGEST_SIDE));
    if !work.take((old.len() + new.len()) as u64) {
        return whole();
    }
    let (before, now) = (tokens(old), tokens(new));
    let differences = differences(&before, &now, quiet, work);
    let n_different: usize = differences.iter().map(|(old, new)| old.len() + new.len()).sum();
    let is_mostly_different = n_different * 10 > (before.len() + now.len()) * 7;
    let is_figure = |(was, is): &(Range<usize>, Range<usize>)| {
        let has_figure = |tokens: &[Token<'_>]| tokens.iter().any(Token::is_value);
        has_figure(&before[was.clone()]) && has_figure(&now[is.clone()])
    };
    // Several figures with words between them are hard to tell apart: `4, 2nd floor → 7, 1st floor`.
    let are_several = |(was, is): &(Range<usize>, Range<usize>)| {
        let n_values = now[is.clone()].iter().filter(|token| token.is_value()).count();
        n_values > 1 && slice(new, &now, is.clone()).contains(' ') && was.len() == is.len()
    };
    let are_plain = differences.iter().all(is_figure)
        && !(differences.iter().any(are_several)
            && differences.iter().all(|(_, is)| of_a_number_in_groups(&now, is).is_none()));
    let is_short = old.chars().count().max(new.chars().count()) <= SHORT && !are_plain;
    if is_short && let Some(label) = common_label(old, new) {
        return format!("{label} {} → {}", old[label.len()..].trim_start(), new[label.len()..].trim_start());
    }
    if differences.is_empty() || is_mostly_different || is_short || differences.len() > MOST_DIFFERENCES {
        return whole();
    }
    let mut said = String::new();
    let mut said_to = 0;
    for (index, (was, is)) in differences.iter().enumerate() {
        let is_near = is.start > 0 && index == 0 && now[is.start - 1].end() <= SHORT;
        let from = if is_near { 0 } else { is.start.saturating_sub(WORDS_BEFORE).max(said_to) };
        let next = differences.get(index + 1).map_or(now.len(), |(_, next)| next.start);
        let to = (is.end + WORDS_AFTER).min(next).max(is.end);
        if from > said_to || index == 0 && from > 0 {
            said.push_str(if index == 0 { "…" } else { " … " });
        }
        let before_it = slice(new, &now, from..is.start);
        let goes_on =
            from == said_to && from > 0 && now.get(from).is_some_and(|token| now[from - 1].end() == token.at);
        if goes_on && !before_it.is_empty() {
            said.push_str(before_it);
        } else {
            push(&mut said, before_it);
        }
        let (was, is_now) = (slice(old, &before, was.clone()), slice(new, &now, is.clone()));
        let part = match (was, is_now) {
            ("", new) => format!("[+ {}]", shortened(new, LONGEST_SIDE)),
            (old, "") => format!("[− {}]", shortened(old, LONGEST_SIDE)),
            (old, new) => format!("{} → {}", shortened(old, LONGEST_SIDE), shortened(new, LONGEST_SIDE)),
        };
        push(&mut said, &part);
        let after_it = slice(new, &now, is.end..to);
        let is_joined = after_it.is_empty()
            || now.get(is.end).is_some_and(|token| is.end > 0 && now[is.end - 1].end() == token.at);
        if is_joined {
            said.push_str(after_it);
        } else {
            push(&mut said, after_it);
        }
        said_to = to;
    }
    if said_to < now.len() {
        said.push('…');
    }
    said
}

/// What both lines begin with, up to a colon: `Status:`.
fn common_label<'t>(old: &'t str, new: &str) -> Option<&'t str> {
    let common = old.char_indices().zip(new.chars()).take_while(|((_, a), b)| a == b);
    let end = common.filter(|((_, c), _)| *c == ':').map(|((at, _), _)| at + 1).last()?;
    Some(&old[..end]).filter(|label| old.len() > label.len() && new.len() > label.len())
}

fn push(said: &mut String, part: &str) {
    if !part.is_empty() {
        if !said.is_empty() && !said.ends_with([' ', '…']) {
            said.push(' ');
        }
        said.push_str(part);
    }
}

fn slice<'t>(line: &'t str, tokens: &[Token<'_>], range: Range<usize>) -> &'t str {
    match (tokens.get(range.start), range.end.checked_sub(1).and_then(|last| tokens.get(last))) {
        (Some(first), Some(last)) if range.start < range.end => &line[first.at..last.end()],
        _ => "",
    }
}

/// Which tokens are different, as ranges of both lines; figures with their units, and differences with next to nothing between
/// them as one. What only a clock or a counter changed, or changes all the time, is left out if there is anything else.
fn differences(
    old: &[Token<'_>],
    new: &[Token<'_>],
    quiet: &[(usize, usize)],
    work: &Work,
) -> Vec<(Range<usize>, Range<usize>)> {
    let texts = |tokens: &[Token<'_>]| tokens.iter().map(|token| token.text.to_owned()).collect::<Vec<_>>();
    let Some(equal) = same(&texts(old), &texts(new), work) else { return Vec::new() };
    let mut raw: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for (next_old, next_new) in equal.into_iter().chain([(old.len(), new.len())]) {
        if next_old > at_old || next_new > at_new {
            raw.push((at_old..next_old, at_new..next_new));
        }
        (at_old, at_new) = (next_old + 1, next_new + 1);
    }
    let is_quiet = |is: &Range<usize>| {
        let within =
            |token: &Token<'_>| quiet.iter().any(|(start, end)| *start <= token.at && token.end() <= *end);
        !is.is_empty() && new[is.clone()].iter().all(within)
    };
    let recognised = recognised_alone(new);
    let matters = |(_, is): &(Range<usize>, Range<usize>)| {
        !is_quiet(is) && (is.len() != 1 || recognised(is.start).is_none())
    };
    if raw.iter().any(matters) {
        raw.retain(matters);
    }
    let mut found: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let mut raw = raw.into_iter().peekable();
    while let Some((was, is)) = raw.next() {
        let room_before = is.start - found.last().map_or(0, |(_, last)| last.end).min(is.start);
        let room_after = raw.peek().map_or(new.len(), |(_, next)| next.start) - is.end;
        let (of_old, of_new) = (around(old, &was), around(new, &is));
        // The same tokens stand around both.
        let before = of_old.0.max(of_new.0).min(room_before).min(was.start);
        let after = of_old.1.max(of_new.1).min(room_after).min(old.len() - was.end);
        let (was, is) = (was.start - before..was.end + after, is.start - before..is.end + after);
        match found.last_mut() {
            Some((last_old, last_new)) if was.start <= last_old.end + 1 && is.start <= last_new.end + 1 => {
                (last_old.end, last_new.end) = (was.end, is.end);
            }
            _ => found.push((was, is)),
        }
    }
    found
}

/// How many tokens before and after a difference belong to it: the rest of its word, `0-0` or `B12`; the currency and the unit of a
/// figure; the word that a single word may be said of; signs of scripts without spaces that make a word with it.
fn around(tokens: &[Token<'_>], range: &Range<usize>) -> (usize, usize) {
    let is_sign = |token: &Token<'_>| token.text.starts_with(is_ideograph);
    let (before_it, after_it) = (&tokens[..range.start], &tokens[range.end..]);
    if tokens[range.clone()].iter().any(is_sign) {
        let before = before_it.iter().rev().take(MOST_SIGNS).take_while(|token| is_sign(token)).count();
        let after = after_it.iter().take(MOST_SIGNS).take_while(|token| is_sign(token)).count();
        return (before, after);
    }
    let is_one = |kind: Kind| range.len() == 1 && tokens[range.start].kind == kind;
    if is_one(Kind::Word) {
        let is_word_after = after_it
            .first()
            .is_some_and(|next| next.kind == Kind::Word && next.at == tokens[range.start].end() + 1);
        return (0, usize::from(is_word_after));
    }
    if !tokens[range.clone()].iter().any(|token| token.kind == Kind::Number) {
        return (0, 0);
    }
    if let Some(around) = of_a_number_in_groups(tokens, range) {
        return around;
    }
    let (mut before, mut after) = of_one_word(tokens, range);
    if range.len() == 1 && before_it.len() > before {
        before += usize::from(is_currency(before_it[before_it.len() - 1 - before].text));
    }
    let is_unit = |token: &Token<'_>| {
        is_currency(token.text)
            || matches!(token.text, "%" | "°" | "‰")
            || token.kind == Kind::Word
                && (1..=4).contains(&token.text.chars().count())
                && !NO_UNITS.contains(&token.text)
    };
    if range.len() == 1 && before == 0 && after_it.get(after).is_some_and(is_unit) {
        let is_degree = after_it[after].text == "°";
        // `8小时`: two signs are one unit.
        let n_signs = after_it[after..].iter().take(2).take_while(|token| is_sign(token)).count();
        after += 1.max(n_signs);
        after += usize::from(is_degree && after_it.get(after).is_some_and(|unit| unit.text.len() == 1));
    }
    (before, after)
}

/// How many tokens before and after these are groups of the same long number: a telephone's, an account's.
fn of_a_number_in_groups(tokens: &[Token<'_>], range: &Range<usize>) -> Option<(usize, usize)> {
    const MOST_GROUPS: usize = 8;
    const FEWEST_GROUPS: usize = 3;
    const FEWEST_DIGITS: usize = 9;
    let is_group = |token: &Token<'_>| {
        // `210 555` may be one figure with a mark for thousands.
        let mut groups = token.text.split(' ');
        token.kind == Kind::Number
            && groups.all(|group| {
                (2..=5).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
            })
    };
    if range.is_empty() || !tokens.get(range.clone())?.iter().all(is_group) {
        return None;
    }
    let is_next =
        |pair: &[Token<'_>]| pair[0].end() + 1 == pair[1].at && is_group(&pair[0]) && is_group(&pair[1]);
    let before =
        (1..=range.start).rev().take(MOST_GROUPS).take_while(|at| is_next(&tokens[at - 1..=*at])).count();
    let after =
        (range.end..tokens.len()).take(MOST_GROUPS).take_while(|at| is_next(&tokens[at - 1..=*at])).count();
    let whole = &tokens[range.start - before..range.end + after];
    let n_digits = || whole.iter().flat_map(|token| token.text.bytes()).filter(u8::is_ascii_digit).count();
    let n_groups: usize = whole.iter().map(|token| token.text.split(' ').count()).sum();
    (n_groups >= FEWEST_GROUPS && n_digits() >= FEWEST_DIGITS).then_some((before, after))
}

/// How many tokens before and after these are written in one with them, where that is figures, letters and dashes.
fn of_one_word(tokens: &[Token<'_>], range: &Range<usize>) -> (usize, usize) {
    const LONGEST: usize = 24;
    let is_part = |token: &Token<'_>| {
        token.is_value()
            || token.kind == Kind::Word && token.text.is_ascii()
            || matches!(token.text, "-" | "–" | "/" | ":" | "+" | "#")
    };
    let (mut start, mut end) = (range.start, range.end);
    while start > 0
        && range.start - start < LONGEST
        && start < tokens.len()
        && tokens[start - 1].end() == tokens[start].at
        && is_part(&tokens[start - 1])
    {
        start -= 1;
    }
    while end > 0
        && end - range.end < LONGEST
        && end < tokens.len()
        && tokens[end - 1].end() == tokens[end].at
        && is_part(&tokens[end])
    {
        end += 1;
    }
    // A mark at the end belongs to the sentence.
    while end > range.end && tokens[end - 1].kind == Kind::Mark {
        end -= 1;
    }
    while start < range.start && tokens[start].kind == Kind::Mark {
        start += 1;
    }
    // However long the difference is, no part of a word stands alone beside it.
    let n_more = if range.is_empty() || end <= start {
        LONGEST
    } else {
        tokens[range.start].at - tokens[start].at + tokens[end - 1].end() - tokens[range.end - 1].end()
    };
    let is_short =
        end > start && (tokens[end - 1].end() - tokens[start].at <= LONGEST || n_more < LONGEST / 2);
    if is_short { (range.start - start, end - range.end) } else { (0, 0) }
}

/// Short words that follow figures and are no units.
const NO_UNITS: [&str; 48] = [
    "a", "and", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "was", "were", "with",
    "are", "as", "am", "an", "auf", "aus", "bei", "bis", "das", "der", "die", "für", "im", "ist", "mit",
    "und", "von", "vor", "zu", "zum", "de", "des", "du", "en", "est", "et", "le", "les", "par", "pour",
    "sur", "y",
];

/// The signs of Chinese and Japanese that carry meaning, which stand beside each other in a word.
const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々')
}

/// The text in at most this many characters, cut between words if that leaves half of it.
fn shortened(text: &str, n_characters: usize) -> String {
    let mut line = String::new();
    // No more than will be kept: a line may be very long.
    for word in text.split_whitespace() {
        let space = if line.is_empty() { "" } else { " " };
        line.extend(space.chars().chain(word.chars()).take(n_characters + 2));
        if line.chars().nth(n_characters).is_some() {
            break;
        }
    }
    let Some((end, _)) = line.char_indices().nth(n_characters) else { return line };
    let last = line.char_indices().nth(n_characters.saturating_sub(1)).map_or(end, |(at, _)| at);
    let kept = &line[..last];
    let at_word = kept.rfind(' ').filter(|at| *at > last / 2).map_or(kept, |at| &kept[..at]);
    format!("{}…", at_word.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_says_what_was_and_what_is_in_whole_figures() {
        for (old, new, said) in [
            ("$1,299.00 incl. tax", "$1,249.50 incl. tax", "$1,299.00 → $1,249.50 incl. tax"),
            ("Display 14 inch", "Display 15 inch", "Display 14 inch → 15 inch"),
            ("In stock", "Only 3 left", "In stock → Only 3 left"),
            ("[Stadium].open: true", "[Stadium].open: false", "[Stadium].open: true → false"),
            (
                "Council rejects the plan",
                "Council rejects the budget",
                "Council rejects the plan → Council rejects the budget",
            ),
            (
                "$45,000 per year 22 hours ago",
                "$49,500 per year 23 hours ago",
                "$45,000 → $49,500 per year 23 hours ago",
            ),
            (
                "Paddle 278 bids 225 for the sextant, the bid number 2 on this lot.",
                "Paddle 137 bids 275 for the sextant, the bid number 3 on this lot.",
                "Paddle 278 bids 225 → 137 bids 275 for the sextant, the bid number 2 → 3 on this lot…",
            ),
            ("Flight LH1234, gate B12", "Flight LH1234, gate B14", "Flight LH1234, gate B12 → B14"),
            ("Air 12.9 °C, dry", "Air 16.7 °C, dry", "Air 12.9 °C → 16.7 °C, dry"),
            (
                "After the first half Home 0-0 Visitors",
                "After the first half Home 1-0 Visitors",
                "After the first half Home 0-0 → 1-0 Visitors",
            ),
            (
                "Ask us under 045-555-0132 at any time",
                "Ask us under 045-555-0177 at any time",
                "Ask us under 045-555-0132 → 045-555-0177 at any time",
            ),
            ("Call 210 555 0134", "Call 210 555 0199", "Call 210 555 0134 → 210 555 0199"),
            (
                "Pay to IBAN GB29 NWBK 6016 1331 9268 19 this week, please, and nowhere else",
                "Pay to IBAN GB94 BARC 1020 1530 0934 59 this week, please, and nowhere else",
                "Pay to IBAN GB29 NWBK 6016 1331 9268 19 → GB94 BARC 1020 1530 0934 59 this week,…",
            ),
            ("Room 4, 2nd floor", "Room 7, 1st floor", "Room 4, 2nd floor → Room 7, 1st floor"),
            ("1200 keer bekeken", "1213 keer bekeken", "1200 keer → 1213 keer bekeken"),
            ("うな重 ¥4,800", "うな重 ¥4,900", "うな重 ¥4,800 → ¥4,900"),
            ("Rain in the north", "Heavy rain in the north", "Rain in the north → Heavy rain in the north"),
        ] {
            assert_eq!(edit(old, new, &[], &Work::default()), said);
        }
        let long = |word: &str| {
            format!("It is a {word} notebook for long working days with a case that is milled from one block")
        };
        assert_eq!(
            edit(&long("quiet"), &long("silent"), &[], &Work::default()),
            "It is a quiet notebook → silent notebook for long working…"
        );
    }

    #[test]
    fn long_texts_are_cut_between_words_and_show_it() {
        assert_eq!(shortened("a short one", 60), "a short one");
        assert_eq!(
            shortened("News from all over the world | Main page", 33),
            "News from all over the world |…"
        );
        assert_eq!(shortened("Donaudampfschifffahrt", 5), "Dona…");
        assert_eq!(shortened("東京都千代田区", 4), "東京都…");
    }
}
