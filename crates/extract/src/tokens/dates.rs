//! Times and dates as people write them: how long one is, and what it says. Only forms that can hardly be anything else.

use super::lexicon::{month, time_word};
use super::{Kind, Token};

/// The bytes of a date in figures at the beginning of a text: year, month and day or the other way round.
pub(super) fn numeric_date(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (first, separator, second, third, end) = three_numbers(bytes)?;
    let is_followed_by_more = bytes.get(end).is_some_and(u8::is_ascii_digit)
        || bytes.get(end).is_some_and(|next| *next == separator)
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
    let is_day = |number: Figure| number.n_digits <= 2 && (1..=31).contains(&number.value);
    let is_month = |number: Figure| number.n_digits <= 2 && (1..=12).contains(&number.value);
    let is_year = |number: Figure| number.n_digits == 4 && (1900..2200).contains(&number.value);
    let year_first = is_year(first) && is_month(second) && is_day(third);
    let year_last = (is_year(third) || third.n_digits == 2 && separator != b'-')
        && is_day(first)
        && is_day(second)
        && (is_month(first) || is_month(second));
    ((year_first || year_last) && !is_followed_by_more).then_some(end)
}

/// A number in a date or time.
#[derive(Debug, Clone, Copy)]
struct Figure {
    value: u32,
    n_digits: usize,
}

fn figure(bytes: &[u8], at: usize) -> Option<(Figure, usize)> {
    let n_digits = bytes[at.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=4).contains(&n_digits) {
        return None;
    }
    let digits = bytes[at..at + n_digits].iter();
    let value = digits.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    Some((Figure { value, n_digits }, at + n_digits))
}

/// Three numbers with the same separator twice, and where they end.
fn three_numbers(bytes: &[u8]) -> Option<(Figure, u8, Figure, Figure, usize)> {
    let (first, at) = figure(bytes, 0)?;
    let separator = *bytes.get(at).filter(|byte| matches!(byte, b'-' | b'.' | b'/'))?;
    let (second, at) = figure(bytes, at + 1)?;
    let again = bytes.get(at).filter(|byte| **byte == separator);
    let (third, end) = figure(bytes, at + usize::from(again.is_some()))?;
    again.is_some().then_some((first, separator, second, third, end))
}

/// The bytes of a time of the day: `14:07`, `2:07:59 pm`, `14h07`, `14.07 Uhr`, `0403 UTC`, `7 a.m.`
pub(super) fn time_of_day(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (hour, at) = figure(bytes, 0)?;
    let minute =
        |at: usize| figure(bytes, at).filter(|(minute, _)| minute.n_digits == 2 && minute.value < 60);
    let is_hour = hour.n_digits <= 2 && hour.value < 24;
    let colon = bytes.get(at) == Some(&b':');
    if is_hour && (colon || matches!(bytes.get(at), Some(b'h' | b'.'))) {
        if let Some((_, mut end)) = minute(at + 1) {
            let suffix = half_of_day(&rest[end..]);
            if colon && bytes.get(end) == Some(&b':') {
                end = minute(end + 1).map_or(end, |(_, end)| end);
                if bytes.get(end) == Some(&b'.') {
                    end = figure(bytes, end + 1).map_or(end, |(_, end)| end);
                }
            }
            let suffix = half_of_day(&rest[end..]).or(suffix);
            let is_time = colon || bytes[at] == b'h' || suffix.is_some();
            if is_time && !bytes.get(end).is_some_and(u8::is_ascii_digit) {
                return Some(end + suffix.unwrap_or(0));
            }
        }
        return None;
    }
    let is_compact = hour.n_digits == 4 && hour.value / 100 < 24 && hour.value % 100 < 60;
    let suffix = half_of_day(&rest[at..]);
    if is_compact {
        let zone = suffix.filter(|length| rest[at..at + length].trim().len() == 3)?;
        return Some(at + zone);
    }
    // `7 a.m.`, but not `7 Uhr`-less numbers.
    (is_hour && suffix.is_some()).then(|| at + suffix.unwrap_or(0))
}

/// The bytes of a length of time that is written like a time of the day and is longer than one: `131:21:51`.
pub(super) fn long_clock(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (hours, at) = figure(bytes, 0)?;
    let two = |at: usize| {
        let (figure, end) = figure(bytes, at + 1).filter(|_| bytes.get(at) == Some(&b':'))?;
        (figure.n_digits == 2 && figure.value < 60).then_some(end)
    };
    let end = two(two(at)?)?;
    let goes_on = bytes.get(end).is_some_and(|next| next.is_ascii_digit() || *next == b':');
    (hours.value > 23 && !goes_on).then_some(end)
}

/// What follows a time and belongs to it: ` pm`, ` Uhr`, ` UTC`.
fn half_of_day(rest: &str) -> Option<usize> {
    let word = rest.strip_prefix(' ').unwrap_or(rest);
    let space = rest.len() - word.len();
    let length = time_word(word)?;
    Some(space + length)
}

/// A date with the name of its month, or with the signs of Chinese and Japanese, at the beginning of these tokens; or a time
/// with such signs. How many tokens it has.
pub(super) fn month_date(tokens: &[Token<'_>]) -> Option<(Kind, usize)> {
    let value = |index: usize| number_of(tokens.get(index)?);
    let is_word = |index: usize, word: &str| tokens.get(index).is_some_and(|token| token.text == word);
    let first = tokens.first()?;
    if first.kind == Kind::Number {
        let number = value(0)?;
        let unit = |index: usize, number: u32| match tokens.get(index)?.text {
            "年" | "년" if number > 1900 => Some('y'),
            "月" | "월" if number <= 12 => Some('m'),
            "日" | "일" if number <= 31 => Some('d'),
            // `3時間` is a length of time.
            "時" | "时" | "点" | "시"
                if number < 25 && !is_word(index + 1, "間") && !is_word(index + 1, "间") =>
            {
                Some('h')
            }
            "分" | "분" if number < 60 => Some('n'),
            _ => None,
        };
        if let Some(first_unit) = unit(1, number) {
            let mut n_tokens = 2;
            let mut before = first_unit;
            while let Some(next) = value(n_tokens).and_then(|number| unit(n_tokens + 1, number)) {
                let follows = matches!((before, next), ('y', 'm') | ('m', 'd') | ('h', 'n'));
                if !follows {
                    break;
                }
                (before, n_tokens) = (next, n_tokens + 2);
            }
            return match first_unit {
                'h' => Some((Kind::Time, n_tokens)),
                'y' | 'm' if n_tokens > 2 => Some((Kind::Date, n_tokens)),
                _ => None,
            };
        }
        if !(1..=31).contains(&number) {
            return None;
        }
        // `14. 3. 2026`: with blanks behind the points.
        let is_month = |number: u32| (1..=12).contains(&number);
        if is_word(1, ".")
            && is_word(3, ".")
            && value(2).is_some_and(is_month)
            && value(4).is_some_and(is_year)
        {
            return Some((Kind::Date, 5));
        }
        // `14. März`, `1er mai`, `14 de marzo`, `14th of March`.
        let mut at = 1;
        let is_filler = |at: usize| {
            let fillers = [".", "er", "th", "st", "nd", "rd", "de", "of", "-", "º"];
            tokens.get(at).is_some_and(|token| fillers.contains(&token.text))
        };
        while at < 4 && is_filler(at) {
            at += 1;
        }
        month(tokens.get(at)?.text).filter(|_| tokens[at].kind == Kind::Word)?;
        at += 1;
        let year_at = if is_word(at, "de") || is_word(at, ",") || is_word(at, ".") || is_word(at, "-") {
            at + 1
        } else {
            at
        };
        return Some((Kind::Date, if value(year_at).is_some_and(is_year) { year_at + 1 } else { at }));
    }
    if first.kind != Kind::Word {
        return None;
    }
    let mut at = if is_word(1, ".") { 2 } else { 1 };
    // Most words have no figure behind them, and are not looked up.
    value(at)?;
    month(first.text)?;
    // `May 5 people` is no date; a month is written with a capital.
    let has_capital = first.text.starts_with(char::is_uppercase);
    let day = value(at).filter(|day| has_capital && (1..=31).contains(day) && tokens[at].text.len() <= 2)?;
    at += usize::from(day > 0);
    at += usize::from(tokens.get(at).is_some_and(|token| ["th", "st", "nd", "rd"].contains(&token.text)));
    let year_at = if is_word(at, ",") { at + 1 } else { at };
    Some((Kind::Date, if value(year_at).is_some_and(is_year) { year_at + 1 } else { at }))
}

const fn is_year(number: u32) -> bool {
    1900 < number && number < 2200
}

fn number_of(token: &Token<'_>) -> Option<u32> {
    (token.kind == Kind::Number && token.text.len() <= 4).then(|| token.text.parse().ok())?
}

/// The days that a date may mean, as (year, month, day); the year is missing in some, and day and month may be swapped.
pub(crate) fn days_of(date: &str) -> Vec<(Option<i32>, u32, u32)> {
    let numbers: Vec<u32> = date
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    let by_name = date.split(|c: char| !c.is_alphabetic()).find_map(month);
    let year = |number: u32| i32::try_from(if number < 100 { 2000 + number } else { number }).ok();
    match (by_name, &numbers[..]) {
        (Some(month), [day]) => vec![(None, month, *day)],
        (Some(month), [day, y, ..]) => vec![(year(*y), month, *day)],
        (None, [y, month, day]) if *y > 1900 => vec![(year(*y), *month, *day)],
        (None, [a, b, y]) => vec![(year(*y), *b, *a), (year(*y), *a, *b)],
        (None, [month, day]) => vec![(None, *month, *day)],
        _ => Vec::new(),
    }
}

/// The seconds since midnight of a time of the day, and the seconds that it leaves open: 60 where it says no seconds.
pub(crate) fn clock_seconds(text: &str) -> Option<(i64, i64)> {
    let numbers: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let (hour, minute, second) = match numbers[..] {
        [compact] if compact >= 100 => (compact / 100, compact % 100, None),
        [hour] => (hour, 0, None),
        [hour, minute] => (hour, minute, None),
        [hour, minute, second, ..] => (hour, minute, Some(second)),
        [] => return None,
    };
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    let hour = match () {
        () if letters.starts_with("pm") && hour < 12 => hour + 12,
        () if letters.starts_with("am") && hour == 12 => 0,
        () => hour,
    };
    let is_time = hour < 25 && minute < 60 && second.unwrap_or(0) < 61;
    is_time
        .then_some((hour * 3_600 + minute * 60 + second.unwrap_or(0), if second.is_some() { 1 } else { 60 }))
}
