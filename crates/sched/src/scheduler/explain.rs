//! What the scheduler says when asked: about a resource, and about when there will be something to choose. Changes nothing.

use dunlin_core::{ResourceIdx, Time};

use super::resource::{Resource, ResourceState};
use super::{Explanation, Hold, HostIdx, Reason, Scheduler};

impl Scheduler {
    /// When [`Scheduler::choose`] may next have something to choose, if nothing comes in before.
    pub fn next_due(&self, now: Time) -> Option<Time> {
        let mut bucket = self.bucket;
        bucket.fill(now);
        // Less than one probe's worth buys nothing but cheap probes, and those are rare.
        let affordable_at = bucket.affordable_at(1.0, now)?;
        let can_be_now = self.counts.ready > 0 || self.has_eligible();
        let awakes = self.dormant.first();
        let wakes = self.wakes.first().map(|&(at, _)| at);
        let plans = self.epoch_planner.as_ref().map(|epoch_planner| epoch_planner.due(now));
        let steps = self.intervals.as_ref().and_then(|intervals| intervals.next_due(now));
        let first = [can_be_now.then_some(now), awakes, wakes, plans, steps].into_iter().flatten().min()?;
        Some(first.max(affordable_at).max(now))
    }

    /// Whether a host could be asked at once, and the budget has a probe left for it or for another: then it makes sense to
    /// choose before the next chronon, one probe for one that has ended.
    pub fn is_open(&self, host: HostIdx, now: Time) -> bool {
        let is_free = self.hosts.get(host.0).is_some_and(|host| host.holds(1.0, now).next().is_none());
        let mut bucket = self.bucket;
        bucket.fill(now);
        let has_due = self.intervals.as_ref().is_some_and(|intervals| intervals.has_due());
        is_free && bucket.affords(1.0) && (has_due || self.counts.ready > 0 || self.has_eligible())
    }

    /// Until when a host is not to be asked, if it was ever held.
    pub fn held_until(&self, host: HostIdx) -> Option<Time> {
        self.hosts.get(host.0)?.held_until
    }

    /// What is known of a resource, what a probe is worth now to all its demands, and when and why one will be taken: at the
    /// present price, by the present plan, and if nothing comes in between.
    pub fn explain(&self, index: ResourceIdx, now: Time) -> Option<Explanation> {
        let resource = self.resources.get(index.0)?;
        let host = self.hosts.get(resource.host.0)?;
        let cost = resource.cost();
        let price = self.asked_price().max(host.price);
        let mut holds = Vec::new();
        if matches!(resource.state, ResourceState::InFlight(_)) {
            holds.push(Hold::InFlight);
        }
        if let Some(first) =
            resource.demands.iter().min_by_key(|demand| demand.earliest(resource.is_requested))
        {
            let rested = first.last_probe.map(|at| at.plus(first.shortest_gap.get()));
            if let Some(until) = rested.filter(|until| *until > now && !resource.is_requested) {
                holds.push(Hold::ShortestGap { until });
            }
            if let Some(until) = first.not_before.filter(|until| *until > now) {
                holds.push(Hold::NotBefore { until });
            }
        }
        holds.extend(host.holds(cost, now));
        let mut bucket = self.bucket;
        bucket.fill(now);
        if !bucket.affords(cost) {
            holds.push(Hold::Budget { until: bucket.affordable_at(cost, now) });
        }

        let start = resource.earliest().map_or(now, |earliest| earliest.max(now));
        let intervals = self.intervals.as_ref();
        let planned = intervals.and_then(|intervals| intervals.next_planned(index, now));
        let planned = planned.filter(|_| !resource.is_requested).map(|at| (at.max(start), Reason::Interval));
        let for_changes = self.next_for_changes(resource, start, price);
        // An interval goes before what is only worth the price.
        let first = planned.into_iter().chain(for_changes).min_by_key(|(at, _)| *at);
        let next_probe = first.and_then(|(at, _)| {
            holds.iter().try_fold(at, |at, hold| match *hold {
                Hold::InFlight => None,
                Hold::HostBusy => Some(at),
                Hold::ShortestGap { until } | Hold::NotBefore { until } | Hold::HostHeld { until } => {
                    Some(at.max(until))
                }
                Hold::HostBudget { until } | Hold::Budget { until } => until.map(|until| at.max(until)),
            })
        });
        let for_intervals = intervals.map_or(0.0, |intervals| intervals.worth(index));
        let value = resource.worth(&self.valuation, now) + for_intervals;
        // What is probed for nothing else is probed for intervals, when there are any.
        let reason = first.map_or(Reason::Interval, |(_, reason)| reason);
        Some(Explanation { value, price, next_probe, reason, holds })
    }

    /// When and why a resource is probed from `start` on, if no interval has it probed before; `None` if nobody wants its changes.
    fn next_for_changes(&self, resource: &Resource, start: Time, price: f64) -> Option<(Time, Reason)> {
        if resource.is_requested {
            return Some((start, Reason::Requested));
        }
        if !resource.demands.iter().any(|demand| demand.wants_changes) {
            return None;
        }
        let Some(overdue_at) = resource.overdue_at().map(|at| at.max(start)) else {
            return Some((start, Reason::New));
        };
        let crossing = resource.worth_reaches(&self.valuation, start, price * resource.cost(), overdue_at);
        let (at, reason) = match &self.epoch_planner {
            // One that the plan has no probe for may be in the next.
            Some(epoch_planner) => (crossing.or(Some(epoch_planner.next_plan(start))), Reason::Planned),
            None => (crossing, Reason::Worth),
        };
        Some(at.filter(|at| *at < overdue_at).map_or((overdue_at, Reason::Overdue), |at| (at, reason)))
    }
}
