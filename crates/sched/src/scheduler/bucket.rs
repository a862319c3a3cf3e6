//! A budget as it fills: so much per second, up to a burst of one chronon's worth (at least one probe), and one probe
//! more where that is not a whole number: what 0.9 per chronon leave over must fit beside the next 0.9, or every
//! second grant would be lost. For all resources together and for one host.
//!
//! Invariant: in any stretch of time, no more is taken than the pace grants in it and one burst; a probe that costs
//! more than a burst waits until the bucket is full and leaves a debt.

use std::time::Duration;

use dunlin_core::Time;

use super::Pace;

/// Rounding must not make a probe wait for another chronon.
const NEARLY: f64 = 1e-9;
/// Paces beyond this are no limit at all.
const MOST_PER_SECOND: f64 = 1e9;

#[derive(Debug, Clone, Copy)]
pub(super) struct TokenBucket {
    per_second: f64,
    burst: f64,
    saved: f64,
    filled_at: Option<Time>,
    /// When it last got another pace.
    paced_at: Option<Time>,
}

impl TokenBucket {
    /// A full one.
    pub(super) fn new(pace: Pace, chronon: Duration) -> Self {
        let mut bucket = Self { per_second: 0.0, burst: 1.0, saved: 0.0, filled_at: None, paced_at: None };
        bucket.set_pace(pace, chronon);
        bucket.saved = bucket.burst;
        bucket
    }

    /// Another pace from the last time it was filled on.
    pub(super) fn set_pace(&mut self, pace: Pace, chronon: Duration) {
        let per_second = pace.per_second;
        self.per_second = if per_second > 0.0 { per_second.min(MOST_PER_SECOND) } else { 0.0 };
        let worth = self.per_second * chronon.as_secs_f64();
        self.burst = if worth.fract() == 0.0 { worth.max(1.0) } else { worth + 1.0 };
        self.saved = self.saved.min(self.burst);
        self.paced_at = self.filled_at;
    }

    pub(super) fn fill(&mut self, now: Time) {
        let passed = self.filled_at.map_or(Duration::ZERO, |at| now.since(at)).as_secs_f64();
        self.filled_at = Some(now);
        // What was granted on top of a burst stays there.
        self.saved = self.saved.max((self.saved + passed * self.per_second).min(self.burst));
    }

    /// So much is saved up at `now`, and no more, whatever the pace.
    pub(super) const fn set_saved(&mut self, units: f64, now: Time) {
        (self.saved, self.filled_at) = (if units > 0.0 { units } else { 0.0 }, Some(now));
    }

    /// After the clock was set back: nothing is granted for time that passes twice.
    pub(super) fn restart(&mut self, now: Time) {
        (self.filled_at, self.paced_at) = (Some(now), Some(now));
    }

    pub(super) fn affords(&self, cost: f64) -> bool {
        self.saved + NEARLY >= cost.min(self.burst)
    }

    pub(super) const fn take(&mut self, cost: f64) {
        self.saved -= cost;
    }

    /// Takes a probe back that was paid for at `taken_at`, less what has been granted since: had it never been paid for,
    /// the bucket might have been too full to hold that.
    pub(super) fn refund(&mut self, cost: f64, taken_at: Time, now: Time) {
        self.fill(now);
        if self.paced_at.is_none_or(|paced| paced < taken_at) {
            let granted = now.since(taken_at).as_secs_f64() * self.per_second;
            self.saved = (self.saved + (cost - granted).max(0.0)).min(self.burst);
        }
    }

    /// When this much can be paid, if ever.
    pub(super) fn affordable_at(&self, cost: f64, now: Time) -> Option<Time> {
        let missing = cost.min(self.burst) - self.saved;
        if missing <= NEARLY {
            return Some(now);
        }
        let micros = ((missing - NEARLY) / self.per_second * 1e6).ceil();
        let after = (micros < 1e18).then(|| Duration::from_secs_f64(micros / 1e6))?;
        Some(self.filled_at.unwrap_or(now).plus(after).max(now))
    }

    /// What can be spent now.
    pub(super) const fn saved(&self) -> f64 {
        self.saved
    }

    pub(super) const fn per_second(&self) -> f64 {
        self.per_second
    }

    pub(super) const fn burst(&self) -> f64 {
        self.burst
    }

    /// The burst in whole probes, up to a number that still makes sense as a count.
    #[expect(clippy::cast_sign_loss, reason = "a burst is at least 1")]
    pub(super) fn whole_burst(&self) -> usize {
        self.burst.min(1e6) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(per_second: f64) -> TokenBucket {
        let mut bucket = TokenBucket::new(Pace { per_second }, Duration::from_secs(1));
        bucket.fill(Time::from_seconds(0));
        bucket
    }

    #[test]
    fn all_that_is_granted_can_be_spent_and_no_more() {
        for pace in [0.01, 0.4, 0.5, 0.99, 1.0, 1.01, 1.5, 2.75, 40.0] {
            let mut bucket = bucket(pace);
            let mut probes = 0;
            for second in 1..=1_000 {
                bucket.fill(Time::from_seconds(second));
                while bucket.affords(1.0) {
                    bucket.take(1.0);
                    probes += 1;
                }
            }
            let granted = 1_000.0 * pace;
            assert!((granted - 1.0..=granted + pace + 1.0).contains(&f64::from(probes)), "{pace}: {probes}");
        }
    }

    #[test]
    fn what_is_granted_at_once_can_be_spent_at_once() {
        let mut bucket = bucket(1.0);
        bucket.set_saved(3.0, Time::from_seconds(1));
        for left in [2.0, 1.0, 0.0] {
            bucket.fill(Time::from_seconds(1));
            assert!(bucket.affords(1.0));
            bucket.take(1.0);
            assert_eq!(bucket.saved(), left);
        }
        assert!(!bucket.affords(1.0));
        bucket.set_saved(0.0, Time::from_seconds(2));
        bucket.fill(Time::from_seconds(2));
        assert!(!bucket.affords(1.0), "nothing is granted, whatever the pace is");
    }

    #[test]
    fn what_costs_more_than_a_burst_leaves_a_debt() {
        let mut bucket = bucket(0.5);
        bucket.fill(Time::from_seconds(1));
        assert!(bucket.affords(3.0));
        bucket.take(3.0);
        bucket.fill(Time::from_seconds(5));
        assert!(!bucket.affords(1.0));
        let later = bucket.affordable_at(1.0, Time::from_seconds(5));
        assert_eq!(later, Some(Time::from_seconds(6)));
    }

    #[test]
    fn what_comes_back_late_or_after_another_pace_is_not_given_back() {
        let (start, later) = (Time::from_seconds(0), Time::from_seconds(2));
        let mut given = bucket(0.25);
        given.take(1.0);
        given.refund(1.0, start, start);
        assert!(given.affords(1.0));

        // Half a probe was granted meanwhile, and all was spent; had nothing been taken, there would have been no room for it.
        let mut late = bucket(0.25);
        late.take(1.0);
        late.fill(later);
        late.take(0.75);
        late.refund(1.0, start, later);
        assert!(late.affords(0.5) && !late.affords(0.51));

        // Under the new pace the bucket holds less, so the probe might have been lost with it.
        let mut changed = TokenBucket::new(Pace { per_second: 5.0 }, Duration::from_secs(1));
        changed.fill(start);
        changed.take(1.0);
        changed.set_pace(Pace { per_second: 0.25 }, Duration::from_secs(1));
        changed.take(1.0);
        changed.refund(1.0, start, start);
        assert!(!changed.affords(1.0));
    }
}
