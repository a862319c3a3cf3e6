//! Which different figures are the clock's: they agree with the time at which both contents were read, whatever the words around
//! them and in whatever language. Knows no clock itself: the moments are given.

use dunlin_core::Time;

use super::values::{Moment, is_money};
use crate::tokens::{Kind, Token, clock_seconds, days_of, seconds_of};

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;
/// A page may be a little older than its answer, and its clock a little wrong.
const SLACK: i64 = 3 * MINUTE;
/// People give times in steps of this.
const ROUND: i64 = 5 * MINUTE;
/// An answer from a cache is hardly ever older.
const LONGEST_CACHED: i64 = 3 * 60 * MINUTE;
/// Zones differ by multiples of this.
const ZONE_STEP: i64 = 15 * MINUTE;

/// Seconds since 1970 of both contents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elapsed {
    before: i64,
    now: i64,
}

impl Elapsed {
    pub(super) fn of(moment: Moment) -> Option<Self> {
        let seconds = |time: Time| time.micros().div_euclid(1_000_000);
        let now = seconds(moment.now?);
        Some(Self { before: seconds(moment.before.or(moment.now)?).min(now), now })
    }

    /// Whether a line has the date of the later moment in it.
    pub(super) fn names_today(self, line: &[Token<'_>]) -> bool {
        line.iter().any(|token| token.kind == Kind::Date && is_day_of(token.text, self.now))
    }

    /// Whether two values at the same place are the clock's: `old` at the earlier moment, what `line` has at `index` at the later
    /// one. `names_today` says whether the line has today's date in it.
    pub(super) fn explains(
        self,
        old: &Token<'_>,
        line: &[Token<'_>],
        index: usize,
        names_today: impl Fn() -> bool,
    ) -> bool {
        let new = &line[index];
        match (old.kind, new.kind) {
            (Kind::Date, Kind::Date) => is_day_of(new.text, self.now) && is_day_of(old.text, self.before),
            (Kind::Time, Kind::Time) => {
                self.is_time(old.text, new.text) || names_today() && self.has_passed(old.text, new.text)
            }
            (Kind::Span, Kind::Span) => self.is_span(old.text, new.text),
            (Kind::Number, Kind::Number) if new.text.len() == 10 => self.is_stamp(old.text, new.text),
            (Kind::Number, Kind::Number) => {
                // `$ 12.05` is no time.
                !is_money(line, index)
                    && looks_like_time(old.text)
                    && looks_like_time(new.text)
                    && self.is_time(old.text, new.text)
                    || self.is_day_of_month(old.text, new.text, line, index)
            }
            _ => false,
        }
    }

    /// A time of the day that went on by the time that passed and is now's in some zone; or one that counts down.
    fn is_time(self, old: &str, new: &str) -> bool {
        let (Some((old, open)), Some((new, _))) = (clock_seconds(old), clock_seconds(new)) else {
            return false;
        };
        let passed = self.now - self.before;
        let slack = SLACK.max(open);
        let is_near = |difference: i64, step: i64| {
            let rest = difference.rem_euclid(step);
            rest.min(step - rest) <= slack
        };
        let is_now = is_near(new - self.now, ZONE_STEP) && is_near(new - old - passed, DAY);
        is_now || passed > slack && (new - old + passed).abs() <= slack
    }

    /// A time that is later today, or went on to today: beside today's date.
    fn has_passed(self, old: &str, new: &str) -> bool {
        let (Some((old, _)), Some((new, _))) = (clock_seconds(old), clock_seconds(new)) else { return false };
        let passed = self.now - self.before;
        let went_on = (new - old).rem_euclid(DAY);
        // What was there before may have come from a cache, and be older than its answer. What begins at eight is no clock.
        let rest = (new - self.now).rem_euclid(2 * ZONE_STEP);
        let is_now = rest.min(2 * ZONE_STEP - rest) <= SLACK && new % ROUND >= MINUTE;
        went_on <= passed + SLACK || is_now && went_on <= LONGEST_CACHED
    }

    /// A length of time that grew, or shrank, by the time that passed.
    fn is_span(self, old: &str, new: &str) -> bool {
        let (Some((old, old_unit)), Some((new, new_unit))) = (seconds_of(old), seconds_of(new)) else {
            return false;
        };
        let passed = self.now - self.before;
        // `2 hours` may be nearly three.
        let slack = SLACK.max(old_unit.max(new_unit));
        let difference = (new - old).abs();
        difference > 0 && (difference - passed).abs() <= slack && passed * 4 >= slack
    }

    /// Seconds since 1970.
    fn is_stamp(self, old: &str, new: &str) -> bool {
        let is_about = |text: &str, time: i64| text.parse().is_ok_and(|at: i64| (time - at).abs() < 2 * DAY);
        is_about(new, self.now) && is_about(old, self.before)
    }

    /// The day of the month, in a date with a month that is not known by name: beside it is this year.
    fn is_day_of_month(self, old: &str, new: &str, line: &[Token<'_>], index: usize) -> bool {
        const NEAR: usize = 3;
        // `15.11.`, with the month.
        let is_date = |text: &str, time: i64| {
            let fields =
                text.split_once('.').and_then(|(day, month)| Some((day.parse().ok()?, month.parse().ok()?)));
            fields.is_some_and(|(day, month): (u32, u32)| {
                (-1..=1).any(|off| {
                    let (_, this_month, today) = civil(time.div_euclid(DAY) + off);
                    (this_month, today) == (month, day)
                })
            })
        };
        if looks_like_time(new) && is_date(new, self.now) && is_date(old, self.before) {
            return true;
        }
        let is_day = |text: &str, time: i64| {
            text.len() <= 2
                && text
                    .parse()
                    .is_ok_and(|day: u32| (-1..=1).any(|off| civil(time.div_euclid(DAY) + off).2 == day))
        };
        let is_this_year = |token: &Token<'_>| {
            token.kind == Kind::Number && token.text.parse() == Ok(civil(self.now.div_euclid(DAY)).0)
        };
        is_day(new, self.now)
            && is_day(old, self.before)
            && line[index + 1..].iter().take(NEAR).any(is_this_year)
    }
}

/// `12.07`, which may be a time or an amount.
fn looks_like_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mark = bytes.iter().position(|byte| *byte == b'.');
    mark.is_some_and(|at| (1..=2).contains(&at) && bytes.len() == at + 3)
}

/// Whether a date is the day of a time in seconds, in some zone.
fn is_day_of(date: &str, time: i64) -> bool {
    let today = time.div_euclid(DAY);
    let this_year = civil(today).0;
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

/// The year, month and day of a day since 1970.
fn civil(days: i64) -> (i32, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (i32::try_from(year).unwrap_or(1970), u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_both_ways() {
        for days in [-1, 0, 58, 59, 60, 11_016, 20_454, 47_481] {
            let (year, month, day) = civil(days);
            assert_eq!(days_since_epoch(year, month, day), days, "{year}-{month}-{day}");
        }
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
