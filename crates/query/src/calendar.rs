//! Dates and times of the day as the language writes them, in UTC or at a fixed offset from it. Time zones with rules of
//! their own are not known here.

use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::Time;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::tree::TimesOfDay;

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 1440 * MINUTE;

/// `2027-01-31`, perhaps with `T18:00` or `T18:00:30`, perhaps with `Z` behind that.
pub(crate) fn instant(text: &str) -> Option<Time> {
    let civil = text.strip_suffix('Z').filter(|text| text.contains('T')).unwrap_or(text);
    let is_plain = |byte: u8| byte.is_ascii_digit() || b"-:T".contains(&byte);
    if !matches!(civil.len(), 10 | 16 | 19) || !civil.bytes().all(is_plain) {
        return None;
    }
    let date_time: DateTime = civil.parse().ok()?;
    let instant = date_time.to_zoned(TimeZone::UTC).ok()?.timestamp();
    (instant >= Timestamp::UNIX_EPOCH).then(|| Time::from_micros(instant.as_microsecond()))
}

/// An instant of whole seconds as [`instant`] reads it; what lies outside the calendar, as its end.
pub(crate) fn written(time: Time) -> String {
    let instant = Timestamp::from_second(time.seconds()).unwrap_or(Timestamp::MAX);
    let civil = TimeZone::UTC.to_datetime(instant);
    let mut text = civil.date().to_string();
    // Writing to a string cannot fail.
    let _ = match (civil.hour(), civil.minute(), civil.second()) {
        (0, 0, 0) => Ok(()),
        (hour, minute, 0) => write!(text, "T{hour:02}:{minute:02}Z"),
        (hour, minute, second) => write!(text, "T{hour:02}:{minute:02}:{second:02}Z"),
    };
    text
}

/// `09:30` or `9:30` as minutes since midnight.
pub(crate) fn minute_of_the_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number = |digits: &str, below: u16| {
        let number: u16 = digits.parse().ok()?;
        (digits.bytes().all(|byte| byte.is_ascii_digit()) && number < below).then_some(number)
    };
    ((1..=2).contains(&hour.len()) && minute.len() == 2)
        .then(|| Some(number(hour, 24)? * 60 + number(minute, 60)?))
        .flatten()
}

/// `+02:00` as minutes ahead of UTC.
pub(crate) fn offset(text: &str) -> Option<i16> {
    if text == "Z" || text.eq_ignore_ascii_case("UTC") {
        return Some(0);
    }
    let minutes = i16::try_from(minute_of_the_day(text.get(1..)?)?).ok()?;
    let minutes = match text.as_bytes()[0] {
        b'+' => minutes,
        b'-' => -minutes,
        _ => return None,
    };
    (-14 * 60..=14 * 60).contains(&minutes).then_some(minutes)
}

/// The first multiple of a period since 1970 after an instant.
pub(crate) fn next_multiple(after: Time, period: Duration) -> Option<Time> {
    let period = i64::try_from(period.as_micros()).ok().filter(|period| *period > 0)?;
    after.micros().div_euclid(period).checked_add(1)?.checked_mul(period).map(Time::from_micros)
}

/// The first of the times of the day after an instant.
pub(crate) fn next_time_of_day(after: Time, times: &TimesOfDay) -> Option<Time> {
    let ahead = i64::from(times.offset) * MINUTE;
    let local = after.micros().checked_add(ahead)?;
    let midnight = local.div_euclid(DAY) * DAY;
    let of_day = |midnight: i64, minute: u16| midnight.checked_add(i64::from(minute) * MINUTE);
    let today =
        times.minutes.iter().filter_map(|minute| of_day(midnight, *minute)).find(|time| *time > local);
    let next = today.or_else(|| of_day(midnight.checked_add(DAY)?, *times.minutes.first()?))?;
    next.checked_sub(ahead).map(Time::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written_alike() {
        for text in ["1970-01-01", "2027-01-31T18:00Z", "2028-02-29T00:00:01Z", "9999-12-30"] {
            assert_eq!(instant(text).map(written).as_deref(), Some(text));
        }
        for text in [
            "2027-02-29",
            "1969-12-31",
            "2027-1-1",
            "2027-01-01T24:00Z",
            "2027-01-01Z",
            "x",
            "2027-01-01+00:00",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn times_and_offsets_have_two_digits_of_minutes() {
        assert_eq!(
            ["09:30", "9:30", "24:00", "1:2", "+1:00"].map(minute_of_the_day),
            [Some(570), Some(570), None, None, None]
        );
        assert_eq!(
            ["+02:00", "-03:30", "+15:00", "02:00", ""].map(offset),
            [Some(120), Some(-210), None, None, None]
        );
    }

    #[test]
    fn the_next_time_of_day_may_be_tomorrow_and_counts_in_its_own_offset() {
        let times = TimesOfDay { minutes: vec![30, 540], offset: 120 };
        let after = |text| next_time_of_day(instant(text).unwrap(), &times).map(written);
        // 09:00 there is 07:00 UTC; 00:30 there is 22:30 UTC the day before.
        assert_eq!(after("2027-01-01T06:59:59Z").as_deref(), Some("2027-01-01T07:00Z"));
        assert_eq!(after("2027-01-01T07:00Z").as_deref(), Some("2027-01-01T22:30Z"));
        assert_eq!(after("2027-01-01T22:30Z").as_deref(), Some("2027-01-02T07:00Z"));
    }

    #[test]
    fn a_period_counts_from_1970_on_either_side() {
        let next = |micros, seconds| {
            next_multiple(Time::from_micros(micros), Duration::from_secs(seconds)).map(Time::micros)
        };
        assert_eq!([next(0, 1), next(-1, 1), next(999_999, 1)], [Some(1_000_000), Some(0), Some(1_000_000)]);
        assert_eq!(next(i64::MAX, 1), None);
    }
}
