//! How many probes were made recently, in buckets. Exact to a bucket, bounded in size.

use dunlin_core::Time;

use crate::ProbeCounts;

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

    /// Forgets what is too old at `step`. A clock that was set back starts again from zero.
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

    pub(super) fn used(&self, now: Time) -> ProbeCounts {
        let minute = now.seconds().div_euclid(60);
        ProbeCounts {
            minute: self.seconds.last(now.seconds(), 60),
            hour: self.minutes.last(minute, 60),
            day: self.minutes.last(minute, 1440),
        }
    }
}

/// The probes of one host.
#[derive(Debug, Clone, Default)]
pub(super) struct HostCounter {
    rings: Option<Box<(Ring<12>, Ring<24>)>>,
}

/// Seconds in the steps in which the probes of one host in the last hour are counted.
const FIVE_MINUTES: i64 = 300;

impl HostCounter {
    pub(super) fn count(&mut self, now: Time) {
        let (steps, hours) = &mut **self.rings.get_or_insert_default();
        steps.count(now.seconds().div_euclid(FIVE_MINUTES));
        hours.count(now.seconds().div_euclid(3600));
    }

    /// In the last hour, to five minutes, and in the last day, to an hour.
    pub(super) fn used(&self, now: Time) -> (u64, u64) {
        let Some((steps, hours)) = self.rings.as_deref() else { return (0, 0) };
        let (step, hour) = (now.seconds().div_euclid(FIVE_MINUTES), now.seconds().div_euclid(3600));
        (steps.last(step, 12), hours.last(hour, 24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hour_of_a_host_does_not_end_with_the_hour() {
        let mut used = HostCounter::default();
        for minute in 0..60 {
            used.count(Time::from_seconds(minute * 60));
        }
        assert_eq!(used.used(Time::from_seconds(3_599)), (60, 60));
        assert_eq!(used.used(Time::from_seconds(3_601)), (55, 60), "a new hour has begun");
        assert_eq!(used.used(Time::from_seconds(3_601 + 1_800)), (25, 60));
        assert_eq!(used.used(Time::from_seconds(30 * 3_600)), (0, 0));
    }

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
        assert_eq!(usage.used(Time::from_seconds(100)).day, 1, "a clock that was set back starts from zero");
        usage.count(Time::from_seconds(i64::MAX / 2_000_000));
        assert_eq!(usage.used(Time::from_seconds(i64::MAX / 2_000_000)).day, 1);
    }
}
