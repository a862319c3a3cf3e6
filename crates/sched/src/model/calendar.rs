//! Where an instant lies in the week and in the hour, in UTC. Nothing about months, holidays or time zones.
//!
//! Invariant: any instant that [`Time`] can hold has a week and an hour; arithmetic saturates and never wraps.

use dunlin_core::Time;

/// Hours in a week: the bins of the weekly rhythm.
pub(crate) const HOURS: usize = 168;
/// Minutes in an hour: the bins of the hourly rhythm.
pub(crate) const MINUTES: usize = 60;

/// Microseconds.
pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;
pub(crate) const WEEK: i64 = 7 * DAY;

/// An instant as a week and how far into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WeekTime {
    /// Weeks since the Monday before 1970 began.
    pub(crate) week: i64,
    /// Microseconds since that week's Monday, 0:00.
    pub(crate) micros: i64,
}

impl WeekTime {
    pub(crate) const fn of(time: Time) -> Self {
        // 1970 began on a Thursday.
        let micros = time.micros().saturating_add(3 * DAY);
        Self { week: micros.div_euclid(WEEK), micros: micros.rem_euclid(WEEK) }
    }

    /// Which hour of the week, 0 to 167.
    pub(crate) fn hour(self) -> usize {
        bin(self.micros, HOUR)
    }

    /// Which minute of the hour, 0 to 59.
    pub(crate) fn minute(self) -> usize {
        bin(self.micros % HOUR, MINUTE)
    }
}

/// In which bin of `length` microseconds a time of the week lies.
fn bin(micros: i64, length: i64) -> usize {
    usize::try_from(micros / length).unwrap_or(0)
}

/// The hours of the week that a stretch of at most a week touches: which, and from where to where in it.
pub(crate) fn each_hour(from: i64, micros: i64, mut visit: impl FnMut(usize, i64, i64)) {
    let (mut at, end) = (from, from + micros);
    while at < end {
        let begin = at - at % HOUR;
        let until = (begin + HOUR).min(end);
        visit(bin(at, HOUR) % HOURS, at - begin, until - begin);
        at = until;
    }
}

/// The minutes of an hour between two times in it: which, and how much of it.
pub(crate) fn each_minute(begin: i64, end: i64, mut visit: impl FnMut(usize, i64)) {
    let mut at = begin;
    while at < end {
        let until = (at - at % MINUTE + MINUTE).min(end);
        visit(bin(at, MINUTE), until - at);
        at = until;
    }
}

/// Seconds from one instant to another; 0 when it is not later.
pub(crate) fn seconds_between(from: Time, to: Time) -> f64 {
    to.since(from).as_secs_f64()
}

/// Seconds in so many microseconds.
pub(crate) fn seconds(micros: i64) -> f64 {
    micros as f64 / SECOND as f64
}

/// That many microseconds later, or as late as can be said.
pub(crate) const fn later(time: Time, micros: i64) -> Time {
    Time::from_micros(time.micros().saturating_add(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_mondays() {
        // 2024-01-01 was a Monday.
        let monday = Time::from_seconds(1_704_067_200);
        assert_eq!(WeekTime::of(monday).micros, 0);
        let week_time = WeekTime::of(later(monday, 2 * DAY + 9 * HOUR + 53 * MINUTE + 7));
        assert_eq!((week_time.hour(), week_time.minute()), (57, 53));
        assert_eq!(
            WeekTime::of(later(monday, -1)),
            WeekTime { week: WeekTime::of(monday).week - 1, micros: WEEK - 1 }
        );
    }

    #[test]
    fn every_instant_has_a_place() {
        for micros in [i64::MIN, -1, 0, i64::MAX] {
            let week_time = WeekTime::of(Time::from_micros(micros));
            assert!(week_time.hour() < HOURS && week_time.minute() < MINUTES);
        }
    }
}
