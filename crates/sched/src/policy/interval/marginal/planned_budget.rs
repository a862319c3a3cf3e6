//! How much the coming chronons have to spend, as far ahead as anything is planned. It is for
//! planning only; the allowance of a chronon says what may really be spent in it.
//!
//! A fractional budget grants whole probes now and then: chronon t gets ⌊S(t)⌋ − ⌊S(t−1)⌋, where S sums the
//! grants since the first chronon that was asked for.

use dunlin_core::{Budget, Chronon};

use super::ordered_f64::ROUNDING;

/// Chronons that are planned ahead, the present one included. Bounds the memory of the plan and the work of
/// a search in it; needs that end later are planned within it.
pub(crate) const HORIZON: u32 = 1024;

/// No plan fills a chronon that has this much to spend; larger grants would only overflow sums.
const PLENTY: f64 = 1e12;

/// Sums of fractions over all chronons of the plan differ by no more than this from what they should be.
const NEARLY: f64 = 1e-6;

/// For so many probes the plan may expect them at other times than they come. With one, plans break at every probe that was not
/// planned, and of intervals of one chronon a third less is captured.
const PATIENCE: f64 = 8.0;

#[derive(Debug, Clone)]
pub(crate) struct PlannedBudget {
    budget: Budget,
    /// The chronons now to `end` have capacities; none has before the first call of `advance`.
    end: Option<u32>,
    /// Whole units by chronon, in a ring.
    capacity: Vec<f64>,
    /// Whole units from the first chronon up to and including each one, in a ring.
    total: Vec<f64>,
    /// The part of a unit granted by the end of the last chronon but not yet made available.
    fraction: f64,
    /// What the chronons up to now granted, and how many they were.
    granted: f64,
    n_seen: u32,
    /// What was granted since what is saved up is another fraction than planned.
    apart: f64,
}

impl PlannedBudget {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            end: None,
            capacity: vec![0.0; HORIZON as usize],
            total: vec![0.0; HORIZON as usize],
            fraction: 0.0,
            granted: 0.0,
            n_seen: 0,
            apart: 0.0,
        }
    }

    /// Another budget from `now` on.
    pub(crate) fn set_budget(&mut self, budget: &Budget, now: u32) {
        let (granted, n_seen) = (self.mean(), self.n_seen.min(1));
        *self = Self { granted, n_seen, ..Self::new(budget) };
        if now > 0 {
            self.plan_ahead(now);
        }
    }

    /// So much is saved up at `now`, the present chronon. Grants that are no whole number become whole probes at the times that follow
    /// from that, if it stays so: to plan for other times breaks what was planned, and where so much is saved that grants are cut, a
    /// probe can wait for the time that it was planned for.
    pub(crate) fn meet(&mut self, now: u32, units: f64) {
        let grant = self.grant(now);
        let whole = (units + ROUNDING).floor();
        let fraction = (units - whole).max(0.0);
        let expected = self.fraction_after(now);
        let apart = (fraction - expected).abs();
        let is_full = units + NEARLY >= 1.0 + grant;
        if is_full || grant.fract() == 0.0 || apart.min(1.0 - apart) < NEARLY {
            self.apart = 0.0;
            return;
        }
        self.apart += grant.fract();
        if self.n_seen > 1 && self.apart < PATIENCE {
            return;
        }
        self.apart = 0.0;
        self.end = None;
        self.fraction = units - grant;
        self.plan_ahead(now);
    }

    /// The part of a unit that is left over at the end of `now`.
    fn fraction_after(&self, now: u32) -> f64 {
        let ahead = f64::from(self.end().saturating_sub(now)) * self.grant(now);
        (self.fraction - ahead).rem_euclid(1.0)
    }

    /// Makes `now` the present chronon.
    pub(crate) fn advance(&mut self, now: u32) {
        self.granted += self.grant(now);
        self.n_seen = self.n_seen.saturating_add(1);
        self.plan_ahead(now);
    }

    fn plan_ahead(&mut self, now: u32) {
        let end = now.saturating_add(HORIZON - 1);
        let first = self.end.map_or(now, |end| end.saturating_add(1).max(now));
        if self.end.is_some_and(|known| known >= end) {
            return;
        }
        let mut total = self.end.map_or(0.0, |end| self.total[ring(end)]);
        for chronon in first..=end {
            let available = self.fraction + self.grant(chronon);
            let whole = (available + ROUNDING).floor();
            self.fraction = (available - whole).max(0.0);
            total += whole;
            self.capacity[ring(chronon)] = whole;
            self.total[ring(chronon)] = total;
        }
        self.end = Some(end);
    }

    /// The last chronon that is planned.
    pub(crate) fn end(&self) -> u32 {
        self.end.unwrap_or(0)
    }

    /// Whole units to spend at `chronon`, which lies between now and the end.
    pub(crate) fn capacity(&self, chronon: u32) -> f64 {
        self.capacity[ring(chronon)]
    }

    /// Whole units after `now` up to and including `chronon`.
    pub(crate) fn between(&self, now: u32, chronon: u32) -> f64 {
        let end = self.end();
        let beyond = self.mean() * f64::from(chronon.saturating_sub(end));
        self.total[ring(chronon.min(end))] - self.total[ring(now)] + beyond
    }

    /// What `now` grants.
    pub(crate) fn grant(&self, now: u32) -> f64 {
        Chronon::new(now).map_or(0.0, |now| self.budget.at(now).min(PLENTY))
    }

    /// The mean grant of the chronons up to now.
    pub(crate) fn mean(&self) -> f64 {
        self.granted / f64::from(self.n_seen.max(1))
    }
}

/// Where a chronon of the plan is in an array of [`HORIZON`] elements.
pub(crate) const fn ring(chronon: u32) -> usize {
    (chronon % HORIZON) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_become_whole_probes_now_and_then() {
        let mut budget = PlannedBudget::new(&Budget::constant(0.4).unwrap());
        budget.advance(1);
        let capacities: Vec<_> = (1..=10).map(|chronon| budget.capacity(chronon)).collect();
        assert_eq!(capacities, [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!((budget.between(1, 10), budget.between(5, 10)), (4.0, 2.0));
        // Beyond the 1,024 chronons of the plan the mean grant counts.
        assert_eq!((budget.end(), budget.between(1, 1_024)), (1_024, 409.0));
        assert!((budget.between(1, 1_034) - 413.0).abs() < 1e-9, "{}", budget.between(1, 1_034));
    }

    #[test]
    fn what_is_saved_up_says_when_the_next_whole_probe_comes() {
        let mut budget = PlannedBudget::new(&Budget::constant(0.4).unwrap());
        budget.advance(1);
        let capacities = |budget: &PlannedBudget| -> Vec<f64> {
            (1..=8).map(|chronon| budget.capacity(chronon)).collect()
        };
        let planned = [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        // As planned, or more than can be saved up.
        for units in [0.4, 0.4 - 1e-9, 1.4, 3.0] {
            budget.meet(1, units);
            assert_eq!(capacities(&budget), planned);
        }
        budget.meet(1, 0.9);
        assert_eq!(capacities(&budget), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        // Later, what differs for less than eight probes' worth is waited for, and so much that grants are cut ends that.
        let replans_at = |full_at: u32| {
            let (mut disturbed, mut planned) = (budget.clone(), budget.clone());
            (2..40).find(|&now| {
                disturbed.advance(now);
                planned.advance(now);
                let other = (0.4 * f64::from(now) + 0.1).fract();
                disturbed.meet(now, if now == full_at { 2.0 } else { other });
                (now..now + 5).any(|at| disturbed.capacity(at) != planned.capacity(at))
            })
        };
        assert_eq!((replans_at(0), replans_at(8)), (Some(21), Some(28)));
        // Whole grants leave nothing over.
        let mut whole = PlannedBudget::new(&Budget::constant(2.0).unwrap());
        whole.advance(1);
        whole.meet(1, 0.7);
        assert_eq!(whole.capacity(1), 2.0);
    }

    #[test]
    fn the_ring_follows_the_clock_to_the_last_chronon() {
        let mut budget = PlannedBudget::new(&Budget::constant(2.0).unwrap());
        budget.advance(7);
        budget.advance(u32::MAX - 1);
        assert_eq!((budget.end(), budget.capacity(u32::MAX), budget.mean()), (u32::MAX, 2.0, 2.0));
        assert_eq!(budget.between(u32::MAX - 1, u32::MAX), 2.0);
    }

    #[test]
    fn nothing_is_granted_after_the_last_grant() {
        let mut budget = PlannedBudget::new(&Budget::per_chronon(vec![1.0, f64::MAX]).unwrap());
        budget.advance(1);
        assert_eq!((budget.capacity(1), budget.capacity(2), budget.capacity(3)), (1.0, PLENTY, 0.0));
        assert_eq!(budget.mean(), 1.0);
    }
}
