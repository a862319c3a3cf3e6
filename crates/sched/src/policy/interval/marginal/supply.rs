//! How much the coming chronons have to spend, as far ahead as anything is planned. It is an outlook for the
//! plan; what may really be spent in a chronon is said by its allowance.
//!
//! A fractional budget grants whole probes now and then: chronon t gets ⌊S(t)⌋ − ⌊S(t−1)⌋, where S sums the
//! grants since the first chronon that was asked for.

use dunlin_core::{Budget, Chronon};

use super::number::ROUNDING;

/// Chronons that are planned ahead, the present one included. Bounds the memory of the plan and the work of
/// a search in it; needs that end later are planned within it.
pub(crate) const REACH: u32 = 1024;

/// No plan fills a chronon that has this much to spend; larger grants would only overflow sums.
const PLENTY: f64 = 1e12;

#[derive(Debug, Clone)]
pub(crate) struct Supply {
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
}

impl Supply {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            end: None,
            capacity: vec![0.0; REACH as usize],
            total: vec![0.0; REACH as usize],
            fraction: 0.0,
            granted: 0.0,
            n_seen: 0,
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

    /// Makes `now` the present chronon.
    pub(crate) fn advance(&mut self, now: u32) {
        self.granted += self.grant(now);
        self.n_seen = self.n_seen.saturating_add(1);
        self.plan_ahead(now);
    }

    fn plan_ahead(&mut self, now: u32) {
        let end = now.saturating_add(REACH - 1);
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

/// Where a chronon of the plan is kept in an array of [`REACH`] elements.
pub(crate) const fn ring(chronon: u32) -> usize {
    (chronon % REACH) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_become_whole_probes_now_and_then() {
        let mut supply = Supply::new(&Budget::constant(0.4).unwrap());
        supply.advance(1);
        let capacities: Vec<_> = (1..=10).map(|chronon| supply.capacity(chronon)).collect();
        assert_eq!(capacities, [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!((supply.between(1, 10), supply.between(5, 10)), (4.0, 2.0));
        // Beyond the 1,024 chronons of the plan the mean grant counts.
        assert_eq!((supply.end(), supply.between(1, 1_024)), (1_024, 409.0));
        assert!((supply.between(1, 1_034) - 413.0).abs() < 1e-9, "{}", supply.between(1, 1_034));
    }

    #[test]
    fn the_ring_follows_the_clock_to_the_last_chronon() {
        let mut supply = Supply::new(&Budget::constant(2.0).unwrap());
        supply.advance(7);
        supply.advance(u32::MAX - 1);
        assert_eq!((supply.end(), supply.capacity(u32::MAX), supply.mean()), (u32::MAX, 2.0, 2.0));
        assert_eq!(supply.between(u32::MAX - 1, u32::MAX), 2.0);
    }

    #[test]
    fn nothing_is_granted_after_the_last_grant() {
        let mut supply = Supply::new(&Budget::per_chronon(vec![1.0, f64::MAX]).unwrap());
        supply.advance(1);
        assert_eq!((supply.capacity(1), supply.capacity(2), supply.capacity(3)), (1.0, PLENTY, 0.0));
        assert_eq!(supply.mean(), 1.0);
    }
}
