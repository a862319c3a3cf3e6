//! Resources that could be probed now and wait for the budget, in the order in which they get it.
//!
//! Requested resources come first, then overdue ones. New resources and known ones that are worth it take turns, so that
//! a hundred thousand new ones take at most half of the budget as long as others are ready. When the budget does not
//! even suffice for the longest gaps (the first in line is late by its whole gap once more), those that are worth it
//! take turns with the overdue too: else learning would be for nothing.
//!
//! Intervals of needs are not in these queues; the plan has them. While some are due, overdue and new resources take turns
//! with them, so that no number of needs keeps a source from being seen at all. Those that are worth the price wait: what the
//! plan has due is worth more.
//!
//! Entries are not removed when their resource moves elsewhere; they are passed over when they come up.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use dunlin_core::{ResourceIdx, Time};

use super::resource::{QueueClass, Resource, ResourceState};
use super::slab::Slab;

#[derive(Debug, Clone, Default)]
pub(super) struct Queues {
    requested: VecDeque<ResourceIdx>,
    overdue: BinaryHeap<Reverse<(Time, ResourceIdx)>>,
    new: VecDeque<ResourceIdx>,
    worth: BinaryHeap<RankedResource>,
    is_turn_of_new: bool,
    is_turn_of_worth: bool,
    /// An interval had its turn last, so one that is overdue or new goes before the next.
    is_turn_after_interval: bool,
}

/// A resource by what it is worth per unit of cost; of equals, the lower index is greater.
#[derive(Debug, Clone, Copy)]
struct RankedResource {
    per_cost: f64,
    index: ResourceIdx,
}

impl Queues {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn push(&mut self, index: ResourceIdx, class: QueueClass, per_cost: f64, due: Time) {
        match class {
            QueueClass::Requested => self.requested.push_back(index),
            QueueClass::Overdue => self.overdue.push(Reverse((due, index))),
            QueueClass::New => self.new.push_back(index),
            QueueClass::Worth => self.worth.push(RankedResource { per_cost, index }),
        }
    }

    /// Back to where it was taken from, or to the place that it had before it waited for its host.
    pub(super) fn push_front(&mut self, index: ResourceIdx, class: QueueClass) {
        match class {
            QueueClass::Requested => self.requested.push_front(index),
            _ => self.new.push_front(index),
        }
    }

    /// The next in line, taken out.
    pub(super) fn pop(&mut self, resources: &Slab<Resource>, now: Time) -> Option<(ResourceIdx, QueueClass)> {
        self.drop_moved(resources);
        if let Some(index) = self.requested.pop_front() {
            return Some((index, QueueClass::Requested));
        }
        let is_known_ready = !self.overdue.is_empty() || !self.worth.is_empty();
        if !self.new.is_empty() && (self.is_turn_of_new || !is_known_ready) {
            return Some((self.new.pop_front()?, QueueClass::New));
        }
        self.pop_known(resources, now)
    }

    /// The next in line that does not wait for the intervals that are due, taken out.
    pub(super) fn pop_before_intervals(
        &mut self,
        resources: &Slab<Resource>,
        now: Time,
    ) -> Option<(ResourceIdx, QueueClass)> {
        self.drop_moved(resources);
        if let Some(index) = self.requested.pop_front() {
            return Some((index, QueueClass::Requested));
        }
        if !self.is_turn_after_interval {
            return None;
        }
        if !self.new.is_empty() && (self.is_turn_of_new || self.overdue.is_empty()) {
            return Some((self.new.pop_front()?, QueueClass::New));
        }
        if self.overdue.is_empty() { None } else { self.pop_known(resources, now) }
    }

    /// The next of those that have been seen, taken out.
    fn pop_known(&mut self, resources: &Slab<Resource>, now: Time) -> Option<(ResourceIdx, QueueClass)> {
        let has_turn = self.is_turn_of_worth && !self.worth.is_empty() && self.is_hopeless(resources, now);
        if self.overdue.is_empty() || has_turn {
            return Some((self.worth.pop()?.index, QueueClass::Worth));
        }
        Some((self.overdue.pop()?.0.1, QueueClass::Overdue))
    }

    /// Whether a new resource goes before a known one.
    pub(super) const fn is_turn_of_new(&self) -> bool {
        self.is_turn_of_new
    }

    /// A resource of this class was chosen, so others have their turn.
    pub(super) const fn took(&mut self, class: QueueClass) {
        if !matches!(class, QueueClass::Requested) {
            self.is_turn_after_interval = false;
        }
        match class {
            QueueClass::Requested => {}
            QueueClass::New => self.is_turn_of_new = false,
            QueueClass::Overdue => (self.is_turn_of_new, self.is_turn_of_worth) = (true, true),
            QueueClass::Worth => (self.is_turn_of_new, self.is_turn_of_worth) = (true, false),
        }
    }

    /// A resource was chosen for intervals, so others have their turn.
    pub(super) const fn took_interval(&mut self) {
        self.is_turn_after_interval = true;
    }

    /// Whether even the first of the overdue is late by its longest gap once more.
    fn is_hopeless(&self, resources: &Slab<Resource>, now: Time) -> bool {
        let Some(&Reverse((due, index))) = self.overdue.peek() else { return false };
        resources.get(index.0).is_some_and(|resource| now.since(due) > resource.longest_gap())
    }

    fn drop_moved(&mut self, resources: &Slab<Resource>) {
        let has_moved = |index: ResourceIdx, class| {
            resources.get(index.0).is_none_or(|resource| resource.state != ResourceState::Ready(class))
        };
        while self.requested.front().is_some_and(|&index| has_moved(index, QueueClass::Requested)) {
            self.requested.pop_front();
        }
        while self.new.front().is_some_and(|&index| has_moved(index, QueueClass::New)) {
            self.new.pop_front();
        }
        while self.overdue.peek().is_some_and(|&Reverse((_, index))| has_moved(index, QueueClass::Overdue)) {
            self.overdue.pop();
        }
        while self.worth.peek().is_some_and(|ranked| has_moved(ranked.index, QueueClass::Worth)) {
            self.worth.pop();
        }
    }

    /// How many wait because they are worth it, with a few that have moved.
    pub(super) fn n_worth(&self) -> usize {
        self.worth.len()
    }

    /// What the best of these is worth per unit of cost; 0 if there is none.
    pub(super) fn best_worth(&self) -> f64 {
        self.worth.peek().map_or(0.0, |ranked| ranked.per_cost)
    }

    /// Takes out all that wait because they are worth it, in no order of use.
    pub(super) fn take_worth(&mut self) -> Vec<ResourceIdx> {
        let mut all: Vec<ResourceIdx> = self.worth.drain().map(|ranked| ranked.index).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl PartialEq for RankedResource {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedResource {}

impl PartialOrd for RankedResource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RankedResource {
    fn cmp(&self, other: &Self) -> Ordering {
        self.per_cost.total_cmp(&other.per_cost).then(other.index.cmp(&self.index))
    }
}
