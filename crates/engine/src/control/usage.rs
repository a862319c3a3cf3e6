//! How many probes were made of late, in buckets. Exact to a bucket, bounded in size.

use dunlin_core::Time;

use crate::Used;

/// A ring of counters, one per step of time.
#[derive(Debug, Clone)]
struct Ring<const N: usize> {
    counts: [u32; N],
    /// The step that the newest counter belongs to.
    newest: i64,
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Self { counts: [0; N], newest: i64::MIN }
    }
}

impl<const N: usize> Ring<N> {
    const STEPS: i64 = N.cast_signed() as i64;

    fn slot(step: i64) -> usize {
        step.rem_euclid(Self::STEPS).unsigned_abs() as usize
    }

    fn count(&mut self, step: i64) {
        self.advance(step);
        self.counts[Self::slot(step)] += 1;
    }

    /// Forgets what is too old at `step`. A clock that was set back begins anew.
    fn advance(&mut self, step: i64) {
        if step < self.newest || step.saturating_sub(self.newest) >= Self::STEPS {
            self.counts = [0; N];
        } else {
            for passed in self.newest + 1..=step {
                self.counts[Self::slot(passed)] = 0;
            }
        }
        self.newest = step;
    }

    /// The sum of the last `n` steps up to `step`.
    fn last(&self, step: i64, n: i64) -> u64 {
        let oldest = (step - n + 1).max(self.newest.saturating_sub(Self::STEPS - 1));
        (oldest..=step.min(self.newest)).map(|step| u64::from(self.counts[Self::slot(step)])).sum()
    }
}

/// All probes.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    seconds: Ring<60>,
    minutes: Box<Ring<1440>>,
}

impl Usage {
    pub(super) fn count(&mut self, now: Time) {
        self.seconds.count(now.seconds());
        self.minutes.count(now.seconds().div_euclid(60));
    }

    pub(super) fn used(&self, now: Time) -> Used {
        let minute = now.seconds().div_euclid(60);
        Used {
            minute: self.seconds.last(now.seconds(), 60),
            hour: self.minutes.last(minute, 60),
            day: self.minutes.last(minute, 1440),
        }
    }
}

/// The probes of one host.
#[derive(Debug, Clone, Default)]
pub(super) struct HourlyUse {
    hours: Option<Box<Ring<24>>>,
}

impl HourlyUse {
    pub(super) fn count(&mut self, now: Time) {
        self.hours.get_or_insert_default().count(now.seconds().div_euclid(3600));
    }

    /// In the current hour and the one before, and in the last day.
    pub(super) fn used(&self, now: Time) -> (u64, u64) {
        let hour = now.seconds().div_euclid(3600);
        self.hours.as_ref().map_or((0, 0), |hours| (hours.last(hour, 1), hours.last(hour, 24)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_no_longer_counts() {
        let mut usage = Usage::default();
        for second in 0..7200 {
            usage.count(Time::from_seconds(second));
        }
        let used = usage.used(Time::from_seconds(7199));
        assert_eq!((used.minute, used.hour, used.day), (60, 3600, 7200));
        let later = usage.used(Time::from_seconds(7199 + 1800));
        assert_eq!((later.minute, later.hour, later.day), (0, 1800, 7200));
        usage.count(Time::from_seconds(100));
        assert_eq!(usage.used(Time::from_seconds(100)).day, 1, "a clock that was set back begins anew");
        usage.count(Time::from_seconds(i64::MAX / 2_000_000));
        assert_eq!(usage.used(Time::from_seconds(i64::MAX / 2_000_000)).day, 1);
    }
}
