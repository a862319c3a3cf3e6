//! The wall clock, and instants as clients read them: RFC 3339 in UTC.

use dunlin_core::Time;

/// What time it is.
pub(crate) fn now() -> Time {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(0).plus(since_1970)
}

/// An instant as text. One outside the years that RFC 3339 can write becomes the nearest that it can.
pub(crate) fn written(time: Time) -> String {
    let first = jiff::Timestamp::UNIX_EPOCH;
    let timestamp = jiff::Timestamp::from_microsecond(time.micros());
    timestamp.unwrap_or(if time.micros() < 0 { first } else { jiff::Timestamp::MAX }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc_with_what_they_have_of_a_second() {
        assert_eq!(written(Time::from_seconds(1_700_000_000)), "2023-11-14T22:13:20Z");
        assert_eq!(written(Time::from_micros(1_700_000_000_250_000)), "2023-11-14T22:13:20.25Z");
        assert_eq!(written(Time::from_micros(i64::MIN)), "1970-01-01T00:00:00Z");
        assert!(written(Time::from_micros(i64::MAX)).starts_with("9999-12-30"));
    }
}
