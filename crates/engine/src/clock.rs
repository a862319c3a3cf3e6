//! The wall clock, and times as texts: RFC 3339 in UTC. The one place of the service that asks what time it is; the test bed has a clock of
//! its own.

use dunlin_core::Time;
use jiff::Timestamp;

/// What time it is.
pub fn now() -> Time {
    Time::from(std::time::SystemTime::now())
}

/// A time as text, with as many decimals as there are. One outside the years that RFC 3339 can write becomes the nearest
/// that it can.
pub fn rfc3339(time: Time) -> String {
    let timestamp = Timestamp::from_microsecond(time.micros());
    timestamp.unwrap_or(if time.micros() < 0 { Timestamp::UNIX_EPOCH } else { Timestamp::MAX }).to_string()
}

/// The time that a text names.
pub fn parse_rfc3339(text: &str) -> Option<Time> {
    text.parse::<Timestamp>().ok().map(|timestamp| Time::from_micros(timestamp.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_with_what_they_have_of_a_second() {
        assert_eq!(rfc3339(Time::from_seconds(1_700_000_000)), "2023-11-14T22:13:20Z");
        assert_eq!(rfc3339(Time::from_micros(1_700_000_000_250_000)), "2023-11-14T22:13:20.25Z");
        assert_eq!(rfc3339(Time::from_micros(i64::MIN)), "1970-01-01T00:00:00Z");
        assert!(rfc3339(Time::from_micros(i64::MAX)).starts_with("9999-12-30"));
    }

    #[test]
    fn a_written_time_reads_back() {
        let time = Time::from_micros(1_794_744_000_250_000);
        assert_eq!(parse_rfc3339(&rfc3339(time)), Some(time));
        assert_eq!(parse_rfc3339("yesterday"), None);
    }
}
