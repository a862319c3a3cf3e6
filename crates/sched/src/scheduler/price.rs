//! The price of a probe: what it has to be worth, per unit of cost, to be taken. Adapts so that as many resources reach
//! it as the budget can serve.
//!
//! Resources that reach the price wait to be chosen, best first. If more wait than a chronon needs, the price rises; for
//! every probe that had to be pulled forward because no resource waited, it falls. A resource learns of a new price only at
//! its next review, so a change costs nothing. It does no harm for long either:
//!
//! - Risen: a resource that comes at the old price is found not to be worth the new one, and put off.
//! - Fallen: a resource that would be worth the new price waits for a review that was set for the old one. Reviews come
//!   at four fifths of the price, and anyway before the time since the last probe has grown by half; within the first
//!   half of its last gap, before it has grown fivefold. So a resource is late by at most a few times the gap that it should
//!   have, and meanwhile probes are pulled forward, nearest to their review first: no budget is lost, but it may be
//!   spent in a worse order for some time, longer the further the price fell.
//!
//! Invariant: finite, and never negative.

use super::bucket::TokenBucket;

/// By how much the logarithm of the price moves for one probe too many or too few, relative to the budget of a chronon.
const STEP: f64 = 0.05;
/// The most it moves in one chronon.
const MOST: f64 = 0.25;

#[derive(Debug, Clone, Copy)]
pub(super) struct ProbePrice {
    price: f64,
    is_fixed: bool,
}

impl ProbePrice {
    /// Where nothing is known, everything is worth it.
    pub(super) fn new(initial: Option<f64>) -> Self {
        let price = initial.filter(|price| price.is_finite() && *price >= 0.0).unwrap_or(0.0);
        Self { price, is_fixed: false }
    }

    /// For probes that are planned: whatever is due is taken.
    pub(super) const fn none() -> Self {
        Self { price: 0.0, is_fixed: true }
    }

    pub(super) const fn get(self) -> f64 {
        self.price
    }

    /// At least this much.
    pub(super) const fn lift(&mut self, least: f64) {
        if least.is_finite() && !self.is_fixed {
            self.price = self.price.max(least);
        }
    }

    /// More were waiting than needed, the best of them worth this much per unit of cost: no reason to ask for more.
    pub(super) fn crowded(&mut self, n_waiting: usize, best: f64, bucket: &TokenBucket, granted: f64) {
        let surplus = n_waiting as f64 - standing(bucket);
        if surplus > 0.0 && !self.is_fixed {
            // With less than a probe per chronon it takes many chronons until one more or less has shown.
            let step = STEP * surplus / bucket.burst() * granted.min(1.0);
            self.price = self.price.max((self.price * step.min(MOST).exp()).min(best));
        }
    }

    /// A probe was pulled forward that is worth only this much per unit of cost.
    pub(super) fn spare(&mut self, per_cost: f64, bucket: &TokenBucket) {
        let lower = self.price * (-STEP / bucket.burst()).exp();
        self.price = lower.max(self.price.min(per_cost));
    }
}

/// How many may wait without being too many.
fn standing(bucket: &TokenBucket) -> f64 {
    0.5 * bucket.burst()
}
