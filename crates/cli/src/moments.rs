//! Times as people and programs read them: UTC after RFC 3339 for programs, how long ago for people.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dunlin_core::Time;
use jiff::Timestamp;

/// What time it is.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// `2026-11-15T12:00:00Z`, with as many decimals as there are.
pub(crate) fn rfc3339(time: Time) -> String {
    Timestamp::from_microsecond(time.micros()).unwrap_or(Timestamp::MAX).to_string()
}

/// The way back.
pub(crate) fn parse(text: &str) -> Option<Time> {
    text.parse::<Timestamp>().ok().map(|timestamp| Time::from_micros(timestamp.as_microsecond()))
}

/// `3 min ago`, `in 2 h`, `now`.
pub(crate) fn relative(time: Time, now: Time) -> String {
    if time > now {
        let wait = time.since(now);
        return if wait < Duration::from_secs(1) { "now".to_owned() } else { format!("in {}", span(wait)) };
    }
    let age = now.since(time);
    if age < Duration::from_secs(1) { "now".to_owned() } else { format!("{} ago", span(age)) }
}

/// `14:03:07`, UTC.
pub(crate) fn time_of_day(time: Time) -> String {
    let seconds = time.seconds().rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// A length of time in its largest unit.
pub(crate) fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_and_read_back() {
        let time = Time::from_micros(1_794_744_000_250_000);
        assert_eq!(rfc3339(time), "2026-11-15T12:00:00.25Z");
        assert_eq!(parse(&rfc3339(time)), Some(time));
        assert_eq!(rfc3339(Time::from_seconds(0)), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn relative_times_are_for_people() {
        let now = Time::from_seconds(1_000_000);
        let told = |seconds: i64| relative(Time::from_seconds(1_000_000 + seconds), now);
        assert_eq!([told(0), told(-5), told(-600)], ["now", "5 s ago", "10 min ago"]);
        assert_eq!([told(7_200), told(-900_000)], ["in 2 h", "10 d ago"]);
    }
}
