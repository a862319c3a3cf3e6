//! A host: what it allows, and the resources that wait for it. A resource whose host cannot be asked now waits here and is
//! not probed again until the host is free; then the best of them, and only that, goes back to the others.
//!
//! Invariant: resources that wait because they are worth it number at most [`MOST_WAITING`]. If more come, only the best
//! stay, and the host gets a price of its own, above which the others may come back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};

use super::bucket::TokenBucket;
use super::resource::QueueClass;
use super::{Hold, HostTerms, moved_back};

/// They are all evaluated again when the host is free, so there must not be many.
pub(super) const MOST_WAITING: usize = 128;
/// How many stay when there are too many.
pub(super) const BEST_WAITING: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct Host {
    /// Not known yet: resources came first. Then it cannot be asked.
    terms: Option<HostTerms>,
    pub(super) held_until: Option<Time>,
    in_flight: u32,
    bucket: Option<TokenBucket>,
    /// What a probe has to be worth per unit of cost to wait here, if that is more than the price for all.
    pub(super) price: f64,
    waiting: Option<Box<HostQueues>>,
    /// Under which time it is among the hosts to wake.
    pub(super) wakes_at: Option<Time>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct HostQueues {
    pub(super) requested: VecDeque<ResourceIdx>,
    pub(super) overdue: BinaryHeap<Reverse<(Time, ResourceIdx)>>,
    pub(super) new: VecDeque<ResourceIdx>,
    pub(super) worth: Vec<ResourceIdx>,
    /// Whether a new one goes before one that is worth it.
    pub(super) is_turn_of_new: bool,
}

impl Host {
    pub(super) const fn unknown() -> Self {
        Self {
            terms: None,
            held_until: None,
            in_flight: 0,
            bucket: None,
            price: 0.0,
            waiting: None,
            wakes_at: None,
        }
    }

    pub(super) fn set_terms(&mut self, terms: HostTerms, chronon: Duration, now: Time) {
        self.terms = Some(terms);
        self.bucket = terms.budget.map(|pace| {
            let mut bucket = self.bucket.unwrap_or_else(|| TokenBucket::new(pace, chronon));
            bucket.fill(now);
            bucket.set_pace(pace, chronon);
            bucket
        });
    }

    /// Probes per second that it allows, if there is such a limit.
    pub(super) fn pace(&self) -> Option<f64> {
        self.bucket.map(|bucket| bucket.per_second())
    }

    pub(super) fn begin(&mut self, cost: f64) {
        self.in_flight += 1;
        if let Some(bucket) = &mut self.bucket {
            bucket.take(cost);
        }
    }

    pub(super) const fn end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    pub(super) fn refund(&mut self, cost: f64, taken_at: Time, now: Time) {
        if let Some(bucket) = &mut self.bucket {
            bucket.refund(cost, taken_at, now);
        }
    }

    /// What keeps a probe of this cost from being taken now, if anything does.
    pub(super) fn hold(&mut self, cost: f64, now: Time) -> Option<Hold> {
        if let Some(bucket) = &mut self.bucket {
            bucket.fill(now);
        }
        self.holds(cost, now).next()
    }

    /// All that keeps a probe of this cost from being taken now; those that end at a known time come first.
    pub(super) fn holds(&self, cost: f64, now: Time) -> impl Iterator<Item = Hold> {
        let held = self.held_until.filter(|until| *until > now).map(|until| Hold::HostHeld { until });
        let poor = self.bucket.and_then(|mut bucket| {
            bucket.fill(now);
            let until = bucket.affordable_at(cost, now);
            (!bucket.affords(cost)).then_some(Hold::HostBudget { until })
        });
        let is_busy = self.terms.is_none_or(|terms| self.in_flight >= terms.at_one_time.max(1));
        held.into_iter().chain(poor).chain(is_busy.then_some(Hold::HostBusy))
    }

    pub(super) fn clock_set_back(&mut self, latest: Time, now: Time) {
        self.held_until = self.held_until.map(|until| moved_back(until, latest, now));
        if let Some(bucket) = &mut self.bucket {
            bucket.restart(now);
        }
        self.waiting = None;
        self.wakes_at = None;
    }

    pub(super) fn waiting(&mut self) -> &mut HostQueues {
        self.waiting.get_or_insert_default()
    }

    pub(super) fn has_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    pub(super) fn forget_empty(&mut self) {
        if self.waiting.as_ref().is_some_and(|waiting| waiting.is_empty()) {
            self.waiting = None;
        }
    }
}

impl HostQueues {
    fn is_empty(&self) -> bool {
        self.requested.is_empty() && self.overdue.is_empty() && self.new.is_empty() && self.worth.is_empty()
    }

    /// Takes out the first of its kind; one that is merely worth it may stand anywhere.
    pub(super) fn remove(&mut self, index: ResourceIdx, class: QueueClass) {
        match class {
            QueueClass::Requested => drop(self.requested.pop_front()),
            QueueClass::Overdue => drop(self.overdue.pop()),
            QueueClass::New => drop(self.new.pop_front()),
            QueueClass::Worth => self.worth.retain(|waiting| *waiting != index),
        }
    }

    /// Which kind goes next.
    pub(super) fn next_class(&self) -> Option<QueueClass> {
        let has_worth = !self.worth.is_empty();
        if !self.requested.is_empty() {
            Some(QueueClass::Requested)
        } else if !self.overdue.is_empty() {
            Some(QueueClass::Overdue)
        } else if !self.new.is_empty() && (self.is_turn_of_new || !has_worth) {
            Some(QueueClass::New)
        } else {
            has_worth.then_some(QueueClass::Worth)
        }
    }
}
