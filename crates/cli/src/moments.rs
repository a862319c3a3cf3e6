//! Times as people read them: how long ago, in how long. What programs read is [`dunlin_engine::clock`]'s business.

use std::time::Duration;

use dunlin_core::Time;

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
    fn relative_times_are_for_people() {
        let now = Time::from_seconds(1_000_000);
        let shown = |seconds: i64| relative(Time::from_seconds(1_000_000 + seconds), now);
        assert_eq!([shown(0), shown(-5), shown(-600)], ["now", "5 s ago", "10 min ago"]);
        assert_eq!([shown(7_200), shown(-900_000)], ["in 2 h", "10 d ago"]);
    }

    #[test]
    fn the_time_of_day_is_one_on_either_side_of_1970() {
        let shown = [-1, 0, 3_661, 86_400 * 9 - 1].map(|seconds| time_of_day(Time::from_seconds(seconds)));
        assert_eq!(shown, ["23:59:59", "00:00:00", "01:01:01", "23:59:59"]);
    }
}
