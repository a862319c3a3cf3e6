//! Dates and times of the day as the language writes them, in UTC or at a fixed offset from it. Time zones with rules of
//! their own are not known here.

use std::fmt::Write as _;

use dunlin_core::Time;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

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
}
