//! The day in a date: which number is the year, which the month. Not the time of day.

use jiff::civil::Date;

use super::words::{Piece, is_day, is_filler, month};
use super::zone::{self, Zone};

/// The day, and a zone where one stands among its parts.
pub(super) fn find(pieces: &[Piece]) -> Option<(Date, Option<Zone>)> {
    let mut parts = Parts::default();
    let mut at = 0;
    while at < pieces.len() {
        match &pieces[at] {
            Piece::Number(digits) => parts.numbers.push(digits),
            Piece::Word(word) => at += parts.word(word, pieces, at)?,
            Piece::Sign(sign @ ('-' | '/' | '.')) => parts.sign(*sign),
            Piece::Sign(',' | '\'' | ';') | Piece::Gap => {}
            Piece::Sign(_) => return None,
        }
        at += 1;
    }
    let date = match parts.months().as_slice() {
        [] => parts.of_numbers(),
        [month] => with_month(&parts.numbers, *month),
        _ => return None,
    };
    Some((date?, parts.zone))
}

#[derive(Debug, Default)]
struct Parts<'p> {
    numbers: Vec<&'p str>,
    /// Words that name a month, and whether they may name a day of the week too: `mar.` may be either at the beginning.
    months: Vec<(i8, bool)>,
    zone: Option<Zone>,
    /// The sign between the first two numbers, or the one before them.
    sign: Option<char>,
    begins_with_sign: bool,
}

impl<'p> Parts<'p> {
    /// Takes a word; how many pieces behind it belong to it. `None` for a word that has no place in a date.
    fn word(&mut self, word: &'p str, pieces: &[Piece], at: usize) -> Option<usize> {
        if let Some(month) = month(word) {
            let may_be_day = at == 0 && is_day(word);
            self.months.push((month, may_be_day));
        } else if let Ok(Some((zone, n_pieces))) = zone::at_start(&pieces[at..]) {
            self.zone = Some(zone);
            return Some(n_pieces - 1);
        } else if !is_day(word) && !is_filler(word) && !stands_before_comma(pieces, at) {
            return None;
        }
        Some(0)
    }

    fn sign(&mut self, sign: char) {
        self.begins_with_sign |= self.numbers.is_empty() && self.months.is_empty() && sign == '-';
        if self.numbers.len() == 1 {
            self.sign = self.sign.or(Some(sign));
        }
    }

    /// The months by name; a word that may be a day counts only where there is no other.
    fn months(&self) -> Vec<i8> {
        let sure = self.months.iter().filter(|(_, may_be_day)| !may_be_day);
        let sure: Vec<i8> = sure.map(|(month, _)| *month).collect();
        if sure.is_empty() { self.months.iter().map(|(month, _)| *month).collect() } else { sure }
    }

    fn of_numbers(&self) -> Option<Date> {
        match (self.numbers.as_slice(), self.begins_with_sign) {
            ([compact], is_short) => of_digits(compact, is_short),
            ([year, month], true) if year.len() == 2 => day(full_year(year)?, month, "1"),
            ([year, month], false) if year.len() == 4 => day(year.parse().ok()?, month, "1"),
            ([first, second, third], false) => match (first.len(), third.len(), self.sign) {
                (4, ..) => day(first.parse().ok()?, second, third),
                // ISO 8601 with a short year.
                (2, 2, Some('-')) => day(full_year(first)?, second, third),
                // America begins with the month, where the numbers allow for it.
                (_, _, Some('/')) => {
                    let year = full_year(third)?;
                    day(year, first, second).or_else(|| day(year, second, first))
                }
                _ => {
                    let year = full_year(third)?;
                    day(year, second, first).or_else(|| day(year, first, second))
                }
            },
            _ => None,
        }
    }
}

/// The first word before a comma is a day of the week in some language.
fn stands_before_comma(pieces: &[Piece], at: usize) -> bool {
    let next = pieces[at + 1..].iter().find(|piece| **piece != Piece::Sign('.'));
    at == 0 && next == Some(&Piece::Sign(','))
}

fn with_month(numbers: &[&str], month: i8) -> Option<Date> {
    let is_year = |digits: &str| digits.len() > 2 || digits.parse::<i8>().is_ok_and(|number| number > 31);
    let (year, day) = match numbers {
        [year] if is_year(year) => (year, "1"),
        [year, day] if is_year(year) => (year, *day),
        [day, year] => (year, *day),
        _ => return None,
    };
    if day.len() > 2 {
        return None;
    }
    Date::new(full_year(year)?, month, day.parse().ok()?).ok()
}

/// Dates without anything between their digits.
fn of_digits(digits: &str, is_short: bool) -> Option<Date> {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or("1");
    match (digits.len(), is_short) {
        (4, true) => day(full_year(part(0, 2))?, part(2, 4), "1"),
        (4, false) => day(digits.parse().ok()?, "1", "1"),
        (6, false) => day(full_year(part(0, 2))?, part(2, 4), part(4, 6)),
        (8, false) => day(part(0, 4).parse().ok()?, part(4, 6), part(6, 8)),
        // The day of the year. Without the zero it could be a year far off.
        (5, false) if digits.starts_with('0') => {
            let day_of_year: i16 = part(2, 5).parse().ok()?;
            let first = day(full_year(part(0, 2))?, "1", "1")?;
            first.with().day_of_year(day_of_year).build().ok()
        }
        _ => None,
    }
}

/// The year that is meant by two digits, or by all of them.
fn full_year(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    match digits.len() {
        1 | 2 if year < 70 => Some(2000 + year),
        1 | 2 => Some(1900 + year),
        4 => Some(year),
        _ => None,
    }
}

fn day(year: i16, month: &str, day: &str) -> Option<Date> {
    if day.len() > 2 {
        return None;
    }
    Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()
}
