//! Moving a resource from one state to another: into a review queue, a ready queue, the queues of its host and back. Does not
//! decide which resource is chosen.
//!
//! Invariant: a resource has one state, and what it waits for brings it back: in a review queue its time, in a ready queue its
//! turn, in the queues of a host the moment at which the host is free.

use std::cmp::Reverse;
use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};

use super::epoch_planner::EpochPlanner;
use super::host::{BEST_WAITING, Host, MOST_WAITING};
use super::resource::{ProbeInFlight, QueueClass, Resource, ResourceState, ReviewOutcome};
use super::{Hold, HostIdx, Scheduler, SchedulerStats};

/// How many resources are in which state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StateCounts {
    pub(super) ready: usize,
    waiting_for_host: usize,
    in_flight: usize,
    dormant: usize,
    eligible: usize,
}

impl StateCounts {
    pub(super) fn moved(&mut self, from: Option<ResourceState>, to: Option<ResourceState>) {
        if let Some(state) = from {
            *self.of(state) -= 1;
        }
        if let Some(state) = to {
            *self.of(state) += 1;
        }
    }

    const fn of(&mut self, state: ResourceState) -> &mut usize {
        match state {
            ResourceState::Dormant(_) => &mut self.dormant,
            ResourceState::Eligible(_) => &mut self.eligible,
            ResourceState::Ready(_) => &mut self.ready,
            ResourceState::WaitingForHost(_) => &mut self.waiting_for_host,
            ResourceState::InFlight(_) => &mut self.in_flight,
        }
    }
}

impl Scheduler {
    /// How the scheduler is doing.
    pub fn stats(&self) -> SchedulerStats {
        SchedulerStats {
            price: self.asked_price(),
            resources: self.resources.len(),
            ready: self.counts.ready,
            waiting_on_hosts: self.counts.waiting_for_host,
            in_flight: self.counts.in_flight,
        }
    }

    /// What a probe has to be worth per unit of cost: now, or when the plan was made.
    pub(super) fn asked_price(&self) -> f64 {
        self.epoch_planner.as_ref().map_or(self.price.get(), EpochPlanner::price)
    }

    pub(super) const fn has_eligible(&self) -> bool {
        self.counts.eligible > 0
    }

    pub(super) fn host_entry(&mut self, host: HostIdx) -> Option<&mut Host> {
        if self.hosts.get(host.0).is_none() {
            return self.hosts.insert(host.0, Host::unknown());
        }
        self.hosts.get_mut(host.0)
    }

    pub(super) fn set_state(&mut self, index: ResourceIdx, state: ResourceState) {
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        self.counts.moved(Some(resource.state), Some(state));
        resource.state = state;
    }

    /// Ends the probe of a resource that is in flight; `None` if there is none.
    pub(super) fn end_probe(
        &mut self,
        index: ResourceIdx,
        now: Time,
        is_shown_to: impl Fn(SourceIdx) -> bool,
    ) -> Option<ProbeInFlight> {
        let resource = self.resources.get(index.0)?;
        let ResourceState::InFlight(probe) = resource.state else { return None };
        self.intervals.iter_mut().for_each(|intervals| intervals.end_probe(index, &is_shown_to));
        let resource = self.resources.get(index.0)?;
        let host = resource.host;
        self.set_state(index, ResourceState::UNPLACED);
        self.hosts.get_mut(host.0)?.end();
        self.advance_host(host, now);
        Some(probe)
    }

    /// Reviews a resource that has no probe in flight, and moves it to the state that follows.
    pub(super) fn reevaluate(&mut self, index: ResourceIdx, now: Time) {
        self.reevaluate_at(index, now, self.price.get());
    }

    /// The same at another price.
    pub(super) fn reevaluate_at(&mut self, index: ResourceIdx, now: Time, price: f64) {
        let Some(resource) = self.resources.get(index.0) else { return };
        if matches!(resource.state, ResourceState::InFlight(_)) {
            return;
        }
        let (before, host) = (resource.state, resource.host);
        let own_price = self.hosts.get(host.0).map_or(0.0, |host| host.price);
        let review = resource.review(&self.valuation, now, price.max(own_price));
        match review {
            ReviewOutcome::Dormant(until) => self.set_dormant(index, until),
            // The host's price keeps it back; pulling it forward would be useless.
            ReviewOutcome::Eligible(until) if own_price > price => self.set_dormant(index, until),
            ReviewOutcome::Eligible(until) => self.set_eligible(index, until),
            ReviewOutcome::Requested => self.enqueue(index, QueueClass::Requested, 0.0, now),
            ReviewOutcome::Overdue(due) => self.enqueue(index, QueueClass::Overdue, 0.0, due),
            ReviewOutcome::New => self.enqueue(index, QueueClass::New, 0.0, now),
            ReviewOutcome::Worth(per_cost) => self.enqueue(index, QueueClass::Worth, per_cost, now),
        }
        // It may have been the first of its host in the ready queue; then the next follows.
        let stands = self
            .resources
            .get(index.0)
            .is_some_and(|resource| matches!(resource.state, ResourceState::Ready(_)));
        if matches!(before, ResourceState::Ready(_)) && !stands {
            self.advance_host(host, now);
        }
    }

    fn set_dormant(&mut self, index: ResourceIdx, at: Time) {
        self.set_state(index, ResourceState::Dormant(at));
        let resources = &self.resources;
        self.dormant.note(at, index, self.counts.dormant, |index, at| {
            resources.get(index.0).is_some_and(|resource| resource.state == ResourceState::Dormant(at))
        });
    }

    pub(super) fn set_eligible(&mut self, index: ResourceIdx, at: Time) {
        self.set_state(index, ResourceState::Eligible(at));
        let resources = &self.resources;
        self.eligible.note(at, index, self.counts.eligible, |index, at| {
            resources.get(index.0).is_some_and(|resource| resource.state == ResourceState::Eligible(at))
        });
    }

    fn enqueue(&mut self, index: ResourceIdx, class: QueueClass, per_cost: f64, due: Time) {
        let is_there =
            self.resources.get(index.0).is_some_and(|resource| resource.state == ResourceState::Ready(class));
        // A resource that already waits keeps its position; only a new value counts.
        if is_there && class != QueueClass::Worth {
            return;
        }
        self.set_state(index, ResourceState::Ready(class));
        self.queues.push(index, class, per_cost, due);
    }

    /// Puts a resource that only its host keeps from being chosen into the queues of the host.
    pub(super) fn wait_at_host(&mut self, index: ResourceIdx, class: QueueClass, now: Time) {
        let Some(resource) = self.resources.get(index.0) else { return };
        let (host, due) = (resource.host, resource.overdue_at().unwrap_or(now));
        self.set_state(index, ResourceState::WaitingForHost(class));
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = at.waiting();
        match class {
            QueueClass::Requested => waiting.requested.push_back(index),
            QueueClass::Overdue => waiting.overdue.push(Reverse((due, index))),
            QueueClass::New => waiting.new.push_back(index),
            QueueClass::Worth => {
                waiting.worth.push(index);
                if waiting.worth.len() > MOST_WAITING {
                    self.keep_best(host, now);
                }
            }
        }
        self.advance_host(host, now);
    }

    /// Removes all but the best of those that wait for a host, until they are worth as much as these.
    fn keep_best(&mut self, host: HostIdx, now: Time) {
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = std::mem::take(&mut at.waiting().worth);
        let mut ranked: Vec<(f64, ResourceIdx)> = Vec::with_capacity(waiting.len());
        for index in waiting {
            let Some(resource) = self.resources.get(index.0) else { continue };
            if resource.state == ResourceState::WaitingForHost(QueueClass::Worth) && resource.host == host {
                ranked.push((resource.per_cost(&self.valuation, now), index));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.dedup();
        let away = ranked.split_off(BEST_WAITING.min(ranked.len()));
        let least = ranked.last().map_or(0.0, |last| last.0);
        if let Some(at) = self.hosts.get_mut(host.0) {
            at.waiting().worth = ranked.into_iter().map(|(_, index)| index).collect();
            // Slightly more than the least, so that resources of equal value do not come straight back.
            at.price = least * (1.0 + 1e-6);
        }
        for (_, index) in away {
            self.reevaluate(index, now);
            // It was removed because of the host; pulling it forward must not undo that.
            if let Some(ResourceState::Eligible(at)) =
                self.resources.get(index.0).map(|resource| resource.state)
            {
                self.set_dormant(index, at);
            }
        }
    }

    /// Moves the next resource that waits for a host to the ready queue, if the host is free; otherwise sets the time at which
    /// the host is tried again.
    pub(super) fn advance_host(&mut self, host: HostIdx, now: Time) {
        loop {
            let Some(at) = self.hosts.get_mut(host.0) else { return };
            if !at.has_waiting() {
                return;
            }
            let Some((index, class)) = self.first_waiting(host, now) else { return };
            let Some(cost) = self.resources.get(index.0).map(Resource::cost) else { return };
            let Some(at) = self.hosts.get_mut(host.0) else { return };
            let hold = at.hold(cost, now);
            if let Some(Hold::HostHeld { until } | Hold::HostBudget { until: Some(until) }) = hold {
                let until = until.max(now.plus(Duration::from_micros(1)));
                if let Some(before) = at.wakes_at.replace(until) {
                    self.wakes.remove(&(before, host));
                }
                self.wakes.insert((until, host));
            }
            if hold.is_some() {
                return;
            }
            self.release(host, index, class);
            let price = self.price.get();
            let Some(resource) = self.resources.get(index.0) else { continue };
            match resource.review(&self.valuation, now, price) {
                // It is not worth the price (any more): the next one may be.
                ReviewOutcome::Eligible(_) | ReviewOutcome::Dormant(_) => self.reevaluate(index, now),
                ReviewOutcome::Worth(per_cost) => {
                    return self.enqueue(index, QueueClass::Worth, per_cost, now);
                }
                ReviewOutcome::Overdue(due) => return self.enqueue(index, QueueClass::Overdue, 0.0, due),
                ReviewOutcome::Requested => return self.put_first(index, QueueClass::Requested),
                ReviewOutcome::New => return self.put_first(index, QueueClass::New),
            }
        }
    }

    fn put_first(&mut self, index: ResourceIdx, class: QueueClass) {
        self.set_state(index, ResourceState::Ready(class));
        self.queues.push_front(index, class);
    }

    /// Which of the resources that wait for a host goes first. Entries that no longer count are dropped on the way.
    fn first_waiting(&mut self, host: HostIdx, now: Time) -> Option<(ResourceIdx, QueueClass)> {
        let (resources, valuation) = (&self.resources, &self.valuation);
        let at = self.hosts.get_mut(host.0)?;
        let counts = |index: ResourceIdx, class| {
            let resource = resources
                .get(index.0)
                .filter(|resource| resource.state == ResourceState::WaitingForHost(class));
            resource.is_some_and(|resource| resource.host == host)
        };
        let found = loop {
            let waiting = at.waiting();
            let Some(class) = waiting.next_class() else { break None };
            let index = match class {
                QueueClass::Requested => waiting.requested.front().copied(),
                QueueClass::Overdue => waiting.overdue.peek().map(|&Reverse((_, index))| index),
                QueueClass::New => waiting.new.front().copied(),
                QueueClass::Worth => {
                    waiting.worth.retain(|&index| counts(index, class));
                    let rank = |index: &ResourceIdx| {
                        let resource = resources.get(index.0)?;
                        let is_overdue = resource.overdue_at().is_some_and(|at| at <= now);
                        Some(if is_overdue { f64::MAX } else { resource.per_cost(valuation, now) })
                    };
                    let ranked = waiting.worth.iter().map(|index| (rank(index).unwrap_or(0.0), *index));
                    ranked.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, index)| index)
                }
            };
            let Some(index) = index else { continue };
            if counts(index, class) {
                break Some((index, class));
            }
            at.waiting().remove(index, class);
        };
        at.forget_empty();
        found
    }

    fn release(&mut self, host: HostIdx, index: ResourceIdx, class: QueueClass) {
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = at.waiting();
        waiting.remove(index, class);
        waiting.is_turn_of_new = class != QueueClass::New;
        if waiting.worth.len() < BEST_WAITING / 4 {
            // Few are left, so those that were removed may come sooner.
            at.price = if at.price > self.price.get() { at.price / 2.0 } else { 0.0 };
        }
        at.forget_empty();
    }
}
