//! Sources that could be looked at now and wait for the budget, in the order in which they get it.
//!
//! Who was asked for comes first, then who is overdue. New sources and known ones that are worth it take turns, so that
//! a hundred thousand new ones take at most half of the budget as long as others are ready. When the budget does not
//! even suffice for the longest gaps (the first in line is late by its whole gap once more), those that are worth it
//! take turns with the overdue too: else learning would be for nothing.
//!
//! Entries are not removed when their source moves elsewhere; they are passed over when they come up.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use dunlin_core::{SourceIdx, Time};

use super::slab::Slab;
use super::source::{Class, Place, Watched};

#[derive(Debug, Clone, Default)]
pub(super) struct Queues {
    wanted: VecDeque<SourceIdx>,
    overdue: BinaryHeap<Reverse<(Time, SourceIdx)>>,
    new: VecDeque<SourceIdx>,
    worth: BinaryHeap<Ranked>,
    is_turn_of_new: bool,
    is_turn_of_worth: bool,
}

/// A source by what it is worth per unit of cost; of equals, the lower index is greater.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    per_cost: f64,
    source: SourceIdx,
}

impl Queues {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn push(&mut self, source: SourceIdx, class: Class, per_cost: f64, due: Time) {
        match class {
            Class::Wanted => self.wanted.push_back(source),
            Class::Overdue => self.overdue.push(Reverse((due, source))),
            Class::New => self.new.push_back(source),
            Class::Worth => self.worth.push(Ranked { per_cost, source }),
        }
    }

    /// Back to where it was taken from, or to the place that it had before it waited for its host.
    pub(super) fn push_front(&mut self, source: SourceIdx, class: Class) {
        match class {
            Class::Wanted => self.wanted.push_front(source),
            _ => self.new.push_front(source),
        }
    }

    /// The next in line, taken out.
    pub(super) fn pop(&mut self, sources: &Slab<Watched>, now: Time) -> Option<(SourceIdx, Class)> {
        self.drop_moved(sources);
        if let Some(source) = self.wanted.pop_front() {
            return Some((source, Class::Wanted));
        }
        let is_known_ready = !self.overdue.is_empty() || !self.worth.is_empty();
        if !self.new.is_empty() && (self.is_turn_of_new || !is_known_ready) {
            return Some((self.new.pop_front()?, Class::New));
        }
        let has_turn = self.is_turn_of_worth && !self.worth.is_empty() && self.is_hopeless(sources, now);
        if self.overdue.is_empty() || has_turn {
            return Some((self.worth.pop()?.source, Class::Worth));
        }
        Some((self.overdue.pop()?.0.1, Class::Overdue))
    }

    /// Whether a new source goes before a known one.
    pub(super) const fn is_turn_of_new(&self) -> bool {
        self.is_turn_of_new
    }

    /// A source of this class was chosen, so others have their turn.
    pub(super) const fn took(&mut self, class: Class) {
        match class {
            Class::Wanted => {}
            Class::New => self.is_turn_of_new = false,
            Class::Overdue => (self.is_turn_of_new, self.is_turn_of_worth) = (true, true),
            Class::Worth => (self.is_turn_of_new, self.is_turn_of_worth) = (true, false),
        }
    }

    /// Whether even the first of the overdue is late by its longest gap once more.
    fn is_hopeless(&self, sources: &Slab<Watched>, now: Time) -> bool {
        let Some(&Reverse((due, source))) = self.overdue.peek() else { return false };
        sources.get(source.0).is_some_and(|watched| now.since(due) > watched.terms.longest_gap)
    }

    fn drop_moved(&mut self, sources: &Slab<Watched>) {
        let has_moved = |source: SourceIdx, class| {
            sources.get(source.0).is_none_or(|watched| watched.place != Place::Ready(class))
        };
        while self.wanted.front().is_some_and(|&source| has_moved(source, Class::Wanted)) {
            self.wanted.pop_front();
        }
        while self.new.front().is_some_and(|&source| has_moved(source, Class::New)) {
            self.new.pop_front();
        }
        while self.overdue.peek().is_some_and(|&Reverse((_, source))| has_moved(source, Class::Overdue)) {
            self.overdue.pop();
        }
        while self.worth.peek().is_some_and(|ranked| has_moved(ranked.source, Class::Worth)) {
            self.worth.pop();
        }
    }

    /// How many wait because they are worth it, with a few who have moved.
    pub(super) fn n_worth(&self) -> usize {
        self.worth.len()
    }

    /// What the best of these is worth per unit of cost; 0 if there is none.
    pub(super) fn best_worth(&self) -> f64 {
        self.worth.peek().map_or(0.0, |ranked| ranked.per_cost)
    }

    /// Takes out all that wait because they are worth it, in no order of use.
    pub(super) fn take_worth(&mut self) -> Vec<SourceIdx> {
        let mut all: Vec<SourceIdx> = self.worth.drain().map(|ranked| ranked.source).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.per_cost.total_cmp(&other.per_cost).then(other.source.cmp(&self.source))
    }
}
