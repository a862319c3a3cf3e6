//! When stored data is too old to be kept. A clock that is suddenly far ahead is not believed at once: by it, everything
//! stored would be too old. Reads no clock.
//!
//! Invariant: however far ahead a clock is, and however often the service is started with it, things go at most
//! [`BELIEVED`] too early, until the service has run for [`PROVEN`] with that clock.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_store::{Pruned, Store};

use crate::{Error, Keep};

/// A clock that is this far ahead of what was expected is believed: a service may have been off for that long.
pub const BELIEVED: Duration = Duration::from_hours(7 * 24);
/// A clock that is further ahead is believed after the service has run with it for this long.
pub const PROVEN: Duration = Duration::from_hours(24);

/// The setting that has the time up to which the clock is believed, in microseconds.
const SETTING: &str = "clock_believed";

/// What is known of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ages {
    /// A time that was believed, and how long this run had lasted then.
    believed: Option<(Time, Duration)>,
    /// How long this run had lasted when the clock was first not believed.
    doubted: Option<Duration>,
}

/// The time from which ages are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BelievedTime {
    /// The time.
    pub now: Time,
    /// By how much the clock is ahead of it, if it is not believed.
    pub doubt: Option<Duration>,
}

impl Ages {
    /// What a run begins with: the last time that was believed, or that of the newest thing that is stored.
    pub fn read(store: &dyn Store) -> Result<Self, Error> {
        let stored = store.setting(SETTING)?.and_then(|micros| micros.parse().ok()).map(Time::from_micros);
        let believed = match stored {
            Some(believed) => Some(believed),
            None => store.newest_time()?,
        };
        Ok(Self { believed: believed.map(|time| (time, Duration::ZERO)), doubted: None })
    }

    /// The time to compute ages from when the clock says `now` and this run has lasted for `run_for`.
    pub fn believed_time(&mut self, now: Time, run_for: Duration) -> BelievedTime {
        let expected = self.believed.map(|(time, then)| time.plus(run_for.saturating_sub(then)));
        if let Some(expected) = expected.filter(|expected| now > expected.plus(BELIEVED)) {
            let since = *self.doubted.get_or_insert(run_for);
            if run_for.saturating_sub(since) < PROVEN {
                return BelievedTime { now: expected, doubt: Some(now.since(expected)) };
            }
        }
        self.doubted = None;
        // A clock that is behind proves nothing about later times.
        self.believed = Some((self.believed.map_or(now, |(time, _)| time.max(now)), run_for));
        BelievedTime { now, doubt: None }
    }

    /// Removes what is too old for `keep`, and stores how far the clock is believed.
    pub fn prune(
        &mut self,
        store: &dyn Store,
        keep: Keep,
        now: Time,
        run_for: Duration,
    ) -> Result<(Pruned, BelievedTime), Error> {
        let estimate = self.believed_time(now, run_for);
        let pruned = store.prune(keep.at(estimate.now))?;
        let believed = self.believed.map_or(estimate.now, |(time, _)| time.max(estimate.now));
        store.set_setting(SETTING, Some(believed.micros().to_string()))?;
        Ok((pruned, estimate))
    }
}

#[cfg(test)]
mod tests {
    use dunlin_store::{NewDecision, SqliteStore};

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const TEN_YEARS: Duration = Duration::from_hours(10 * 365 * 24);

    fn began() -> Time {
        Time::from_seconds(1_700_000_000)
    }

    fn with_a_decision_at(at: Time) -> (tempfile::TempDir, SqliteStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        let decision = NewDecision { at, source: None, reason: "".into(), figures: Vec::new() };
        store.append_decisions(&[decision]).unwrap();
        (directory, store)
    }

    fn n_pruned(ages: &mut Ages, store: &SqliteStore, now: Time, run_for: Duration) -> u64 {
        ages.prune(store, Keep::default(), now, run_for).unwrap().0.decisions
    }

    #[test]
    fn a_clock_ten_years_ahead_removes_nothing_however_often_it_is_started_with() {
        let (_directory, store) = with_a_decision_at(began());
        for start in 0..30 {
            let mut ages = Ages::read(&store).unwrap();
            let ahead = began().plus(TEN_YEARS + HOUR * start);
            assert_eq!(n_pruned(&mut ages, &store, ahead, Duration::ZERO), 0);
            let (_, believed) = ages.prune(&store, Keep::default(), ahead.plus(HOUR), HOUR).unwrap();
            assert!(believed.doubt.unwrap() > Duration::from_hours(9 * 365 * 24), "{believed:?}");
            // What is written in between has the time of that clock.
            let at = ahead.plus(HOUR);
            let late = NewDecision { at, source: None, reason: "".into(), figures: Vec::new() };
            store.append_decisions(&[late]).unwrap();
        }
        let mut ages = Ages::read(&store).unwrap();
        let right = began().plus(HOUR * 31);
        assert_eq!(ages.believed_time(right, Duration::ZERO), BelievedTime { now: right, doubt: None });
    }

    #[test]
    fn a_service_that_was_off_for_long_removes_what_is_old_after_a_day() {
        let (_directory, store) = with_a_decision_at(began());
        let mut ages = Ages::read(&store).unwrap();
        let back = began().plus(TEN_YEARS);
        assert_eq!(n_pruned(&mut ages, &store, back, Duration::ZERO), 0);
        assert_eq!(n_pruned(&mut ages, &store, back.plus(HOUR * 23), HOUR * 23), 0);
        assert_eq!(n_pruned(&mut ages, &store, back.plus(PROVEN), PROVEN), 1);
        let mut again = Ages::read(&store).unwrap();
        assert_eq!(again.believed_time(back.plus(PROVEN), Duration::ZERO).doubt, None);
    }

    #[test]
    fn a_service_that_runs_on_or_was_off_for_some_days_is_believed_at_once() {
        let (_directory, store) = with_a_decision_at(began());
        let mut ages = Ages::read(&store).unwrap();
        let mut now = began().plus(BELIEVED);
        for hours in 0..24 * 40 {
            assert_eq!(ages.believed_time(now, HOUR * hours), BelievedTime { now, doubt: None });
            now = now.plus(HOUR);
        }
        assert_eq!(n_pruned(&mut ages, &store, now, HOUR * 24 * 40), 1);
        // A clock that is behind for a while, as one without a battery at its start, changes nothing about that.
        let mut ages = Ages::read(&store).unwrap();
        assert_eq!(ages.believed_time(Time::from_seconds(0), Duration::ZERO).doubt, None);
        assert_eq!(ages.believed_time(now.plus(HOUR), HOUR).doubt, None);
    }

    #[test]
    fn a_second_jump_is_doubted_as_long_as_the_first() {
        let mut ages = Ages { believed: Some((began(), Duration::ZERO)), doubted: None };
        let ahead = |hours: u32| began().plus(TEN_YEARS + HOUR * hours);
        assert!(ages.believed_time(ahead(1), HOUR).doubt.is_some());
        // The clock was set right, and jumps again a month later.
        assert_eq!(ages.believed_time(began().plus(HOUR * 2), HOUR * 2).doubt, None);
        assert_eq!(ages.believed_time(began().plus(HOUR * 100), HOUR * 100).doubt, None);
        assert!(ages.believed_time(ahead(101), HOUR * 101).doubt.is_some());
        assert!(ages.believed_time(ahead(120), HOUR * 120).doubt.is_some(), "not a day yet");
        assert_eq!(ages.believed_time(ahead(125), HOUR * 125).doubt, None);
    }

    #[test]
    fn a_clock_that_is_behind_does_not_take_back_what_was_believed() {
        let (_directory, store) = with_a_decision_at(began());
        let mut ages = Ages::read(&store).unwrap();
        assert_eq!(n_pruned(&mut ages, &store, began().plus(HOUR), Duration::ZERO), 0);
        assert_eq!(n_pruned(&mut ages, &store, Time::from_seconds(0), HOUR), 0);
        let mut again = Ages::read(&store).unwrap();
        let next = began().plus(BELIEVED);
        assert_eq!(again.believed_time(next, Duration::ZERO), BelievedTime { now: next, doubt: None });
    }
}
