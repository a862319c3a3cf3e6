//! A host: what it allows, and the sources that wait for it. A source whose host cannot be asked now waits here and is
//! not looked at again until the host is free; then the best of them, and only that, goes back to the others.
//!
//! Invariant: sources that wait because they are worth it number at most [`MOST_WAITING`]. If more come, only the best
//! stay, and the host gets a price of its own, above which the others may come back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use super::purse::Purse;
use super::source::Class;
use super::{Hold, HostTerms};

/// They are all evaluated anew when the host is free, so there must not be many.
pub(super) const MOST_WAITING: usize = 128;
/// How many stay when there are too many.
pub(super) const BEST_WAITING: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct Host {
    /// Not known yet: sources came first. Then it cannot be asked.
    terms: Option<HostTerms>,
    pub(super) held_until: Option<Time>,
    under_way: u32,
    purse: Option<Purse>,
    /// What a look has to be worth per unit of cost to wait here, if that is more than the price for all.
    pub(super) price: f64,
    waiting: Option<Box<Waiting>>,
    /// Under which time it is among the hosts to wake.
    pub(super) wakes_at: Option<Time>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub(super) wanted: VecDeque<SourceIdx>,
    pub(super) overdue: BinaryHeap<Reverse<(Time, SourceIdx)>>,
    pub(super) new: VecDeque<SourceIdx>,
    pub(super) worth: Vec<SourceIdx>,
    /// Whether a new one goes before one that is worth it.
    pub(super) is_turn_of_new: bool,
}

impl Host {
    pub(super) const fn unknown() -> Self {
        Self {
            terms: None,
            held_until: None,
            under_way: 0,
            purse: None,
            price: 0.0,
            waiting: None,
            wakes_at: None,
        }
    }

    pub(super) fn set_terms(&mut self, terms: HostTerms, chronon: Duration, now: Time) {
        self.terms = Some(terms);
        self.purse = terms.budget.map(|pace| {
            let mut purse = self.purse.unwrap_or_else(|| Purse::new(pace, chronon));
            purse.fill(now);
            purse.set_pace(pace, chronon);
            purse
        });
    }

    /// Probes per second that it allows, if there is such a limit.
    pub(super) fn pace(&self) -> Option<f64> {
        self.purse.map(|purse| purse.per_second())
    }

    pub(super) fn begin(&mut self, cost: f64) {
        self.under_way += 1;
        if let Some(purse) = &mut self.purse {
            purse.take(cost);
        }
    }

    pub(super) const fn end(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// A source that is under way turns out to be here.
    pub(super) const fn adopt(&mut self) {
        self.under_way += 1;
    }

    pub(super) fn give_back(&mut self, cost: f64, taken_at: Time, now: Time) {
        if let Some(purse) = &mut self.purse {
            purse.give_back(cost, taken_at, now);
        }
    }

    /// What keeps a look of this cost from being taken now, if anything does.
    pub(super) fn hold(&mut self, cost: f64, now: Time) -> Option<Hold> {
        if let Some(purse) = &mut self.purse {
            purse.fill(now);
        }
        self.holds(cost, now).next()
    }

    /// All that keeps a look of this cost from being taken now; those that end at a known time come first.
    pub(super) fn holds(&self, cost: f64, now: Time) -> impl Iterator<Item = Hold> {
        let held = self.held_until.filter(|until| *until > now).map(|until| Hold::HostHeld { until });
        let poor = self.purse.and_then(|mut purse| {
            purse.fill(now);
            let until = purse.affordable_at(cost, now);
            (!purse.affords(cost)).then_some(Hold::HostBudget { until })
        });
        let is_busy = self.terms.is_none_or(|terms| self.under_way >= terms.at_one_time.max(1));
        held.into_iter().chain(poor).chain(is_busy.then_some(Hold::HostBusy))
    }

    pub(super) fn clock_set_back(&mut self, latest: Time, now: Time) {
        if let Some(until) = &mut self.held_until
            && *until > latest
        {
            *until = now.plus(until.since(latest));
        }
        if let Some(purse) = &mut self.purse {
            purse.restart(now);
        }
        self.waiting = None;
        self.wakes_at = None;
    }

    pub(super) fn waiting(&mut self) -> &mut Waiting {
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

impl Waiting {
    fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.overdue.is_empty() && self.new.is_empty() && self.worth.is_empty()
    }

    /// Takes out the first of its kind; one that is merely worth it may stand anywhere.
    pub(super) fn remove(&mut self, source: SourceIdx, class: Class) {
        match class {
            Class::Wanted => drop(self.wanted.pop_front()),
            Class::Overdue => drop(self.overdue.pop()),
            Class::New => drop(self.new.pop_front()),
            Class::Worth => self.worth.retain(|waiting| *waiting != source),
        }
    }

    /// Which kind goes next.
    pub(super) fn next_class(&self) -> Option<Class> {
        let has_worth = !self.worth.is_empty();
        if !self.wanted.is_empty() {
            Some(Class::Wanted)
        } else if !self.overdue.is_empty() {
            Some(Class::Overdue)
        } else if !self.new.is_empty() && (self.is_turn_of_new || !has_worth) {
            Some(Class::New)
        } else {
            has_worth.then_some(Class::Worth)
        }
    }
}
