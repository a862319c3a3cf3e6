//! What the watch says when asked: about a source, and about when there will be something to choose. Changes nothing.

use dunlin_core::{SourceIdx, Time};

use super::source::Place;
use super::{Explanation, Hold, HostIdx, Reason, Watch};

impl Watch {
    /// When [`Watch::choose`] may next have something to choose, if nothing comes in before.
    pub fn next_due(&self, now: Time) -> Option<Time> {
        let mut purse = self.purse;
        purse.fill(now);
        // Less than one look's worth buys nothing but cheap looks, and those are rare.
        let affordable_at = purse.affordable_at(1.0, now)?;
        let can_be_now = self.counts.ready > 0 || self.has_awake();
        let awakes = self.asleep.first();
        let wakes = self.wakes.first().map(|&(at, _)| at);
        let plans = self.planning.as_ref().map(|planning| planning.due(now));
        let steps = self.intervals.as_ref().and_then(|intervals| intervals.next_due(now));
        let first = [can_be_now.then_some(now), awakes, wakes, plans, steps].into_iter().flatten().min()?;
        Some(first.max(affordable_at).max(now))
    }

    /// Whether a host could be asked at once, and the budget has a look left for it or for another: then it makes sense to
    /// choose before the next chronon, one look for one that has ended.
    pub fn is_open(&self, host: HostIdx, now: Time) -> bool {
        let is_free = self.hosts.get(host.0).is_some_and(|host| host.holds(1.0, now).next().is_none());
        let mut purse = self.purse;
        purse.fill(now);
        is_free && purse.affords(1.0) && (self.counts.ready > 0 || self.has_awake())
    }

    /// What is known of a source, what a look is worth now, and when and why one will be taken: at the present price,
    /// and if nothing comes in between.
    pub fn explain(&self, source: SourceIdx, now: Time) -> Option<Explanation> {
        let watched = self.sources.get(source.0)?;
        let host = self.hosts.get(watched.terms.host.0)?;
        let cost = watched.cost();
        let price = self.asked_price().max(host.price);
        let mut holds = Vec::new();
        if matches!(watched.place, Place::UnderWay(_)) {
            holds.push(Hold::UnderWay);
        }
        let rested = watched.last_look.map(|at| at.plus(watched.terms.shortest_gap));
        if let Some(until) = rested.filter(|until| *until > now && !watched.is_wanted) {
            holds.push(Hold::ShortestGap { until });
        }
        if let Some(until) = watched.not_before.filter(|until| *until > now) {
            holds.push(Hold::NotBefore { until });
        }
        holds.extend(host.holds(cost, now));
        let mut purse = self.purse;
        purse.fill(now);
        if !purse.affords(cost) {
            holds.push(Hold::Budget { until: purse.affordable_at(cost, now) });
        }

        let start = watched.earliest().map_or(now, |earliest| earliest.max(now));
        let (at, reason) = if watched.is_wanted {
            (start, Reason::Wanted)
        } else if let Some(overdue_at) = watched.overdue_at().map(|at| at.max(start)) {
            let crossing = watched.crossing(&self.measure, start, price * cost, overdue_at);
            let (at, reason) = match &self.planning {
                // One that the plan has no look for may be in the next.
                Some(planning) => (crossing.or(Some(planning.next_plan(start))), Reason::Planned),
                None => (crossing, Reason::Worth),
            };
            at.filter(|at| *at < overdue_at).map_or((overdue_at, Reason::Overdue), |at| (at, reason))
        } else {
            (start, Reason::New)
        };
        let next_look = holds.iter().try_fold(at, |at, hold| match *hold {
            Hold::UnderWay => None,
            Hold::HostBusy => Some(at),
            Hold::ShortestGap { until } | Hold::NotBefore { until } | Hold::HostHeld { until } => {
                Some(at.max(until))
            }
            Hold::HostBudget { until } | Hold::Budget { until } => until.map(|until| at.max(until)),
        });
        Some(Explanation { value: watched.worth(&self.measure, now), price, next_look, reason, holds })
    }
}
