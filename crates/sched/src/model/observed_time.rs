//! How long each hour of the week and each minute of the hour has been observed. Observation is without gaps (every probe
//! covers the time since the one before), so it follows from when it began and how far it has come, and no table of it
//! has to be kept.

use dunlin_core::Time;

use super::calendar::{HOUR, HOURS, MINUTE, MINUTES, WEEK, WeekTime, each_hour, each_minute, seconds};
use super::rate;

/// What is left of a week's counts after so many weeks.
pub(super) fn kept_weeks(weeks: i64) -> f64 {
    rate::kept_after(weeks as f64 * seconds(WEEK))
}

/// How long each hour of the week has been observed, faded as the counts are. Observation is without gaps, so this
/// follows from its two ends.
pub(super) fn observed_hours(begin: Time, end: Time) -> [f64; HOURS] {
    let (first, last) = (WeekTime::of(begin), WeekTime::of(end));
    let weeks = last.week.saturating_sub(first.week);
    if weeks <= 0 {
        return within(first.micros, last.micros);
    }
    let between = kept_weeks(1) * (1.0 - kept_weeks(weeks - 1)) / (1.0 - kept_weeks(1)) * seconds(HOUR);
    let oldest = kept_weeks(weeks);
    let (before, after) = (within(first.micros, WEEK), within(0, last.micros));
    std::array::from_fn(|hour| before[hour] * oldest + between + after[hour])
}

/// How long each minute of the hour has been observed; fading would not distinguish them.
pub(super) fn observed_minutes(begin: Time, end: Time) -> [f64; MINUTES] {
    let (from, to) = (WeekTime::of(begin).micros % HOUR, WeekTime::of(end).micros % HOUR);
    let micros = end.micros().saturating_sub(begin.micros());
    let whole = (micros - (HOUR - from) - to).max(0) / HOUR;
    let mut exposed = [seconds(MINUTE) * whole as f64; MINUTES];
    let mut add = |minute: usize, micros: i64| exposed[minute] += seconds(micros);
    if micros < HOUR - from {
        each_minute(from, from + micros, &mut add);
    } else {
        each_minute(from, HOUR, &mut add);
        each_minute(0, to, &mut add);
    }
    exposed
}

/// Seconds of each hour between two times in one week.
fn within(from: i64, to: i64) -> [f64; HOURS] {
    let mut table = [0.0; HOURS];
    each_hour(from, (to - from).max(0), |hour, begin, end| table[hour] += seconds(end - begin));
    table
}
