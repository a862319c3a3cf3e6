//! One resource: what is probed, with its state and all who want something of it. It is worth the sum of its demands, and its
//! next review is the earliest that matters to one of them. Decides without its host and without other resources.

use std::time::Duration;

use dunlin_core::Time;

use super::demand::{ChangeDemand, ChangeDemands, Demand as _, Gap, Valuation};
use super::{HostIdx, SourceTerms, Strategy};

/// A resource that is worth less than this share of the price is reviewed there, and not only at the price, so that a
/// price that has fallen a little makes no resource late.
const REVIEW_AT: f64 = 0.8;
/// A resource is reviewed at the latest when its time since the last probe has grown by one in this many.
const LATEST_REVIEW: u32 = 2;
/// But after a probe, up to as much of its last gap, only when it has grown by so many times as much, and by this many
/// chronons: most gaps are about as long as the last, so little can have changed so soon.
const SOON_AFTER: u32 = 4;
const FIRST_REVIEW: u32 = 16;
/// And at the earliest when the time since the last probe has grown by one in this many: a price that rises all the time
/// would be met too often.
const EARLIEST_REVIEW: u32 = 64;
/// Chronons that a resource counts as old from the start; reviews of what was just probed would be idle.
const YOUNG: u32 = 8;
/// What rounding may take from a value that has just reached the price.
const NEARLY: f64 = 1.0 - 1e-9;

/// What one fetch serves.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) host: HostIdx,
    cost: f64,
    pub(super) demands: ChangeDemands,
    /// Between the last probe and the one before; zero when that is not known.
    pub(super) last_gap: Gap,
    pub(super) state: ResourceState,
    /// A probe was requested, and none has been chosen since.
    pub(super) is_requested: bool,
    /// The plan that it was last part of; 0 for none.
    pub(super) plan_number: u32,
    /// When the plan probes it, latest first; none that is not later than the last probe.
    planned: Option<Box<[Time]>>,
    /// How many of these are to come: the first ones.
    n_planned: u32,
}

/// The state of a resource. Entries in queues that contradict it do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ResourceState {
    /// Not to be probed before a review at this time.
    Dormant(Time),
    /// Could be probed, if there was nothing better; reviewed at this time.
    Eligible(Time),
    /// Waits for the budget.
    Ready(QueueClass),
    /// Waits for its host.
    WaitingForHost(QueueClass),
    /// Being probed.
    InFlight(ProbeInFlight),
}

/// A probe that was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProbeInFlight {
    /// When it was chosen, and paid for.
    pub(super) chosen_at: Time,
    /// When its request went out.
    pub(super) since: Time,
    /// It was requested.
    pub(super) was_requested: bool,
}

impl ResourceState {
    /// For a resource that is about to get another state.
    pub(super) const UNPLACED: Self = Self::Dormant(Time::from_micros(i64::MIN));
}

/// In which queue a resource waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueClass {
    Requested,
    Overdue,
    New,
    Worth,
}

/// What a review decides about a resource that has no probe in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ReviewOutcome {
    Dormant(Time),
    Eligible(Time),
    Requested,
    /// Since when.
    Overdue(Time),
    New,
    /// By this much per unit of cost.
    Worth(f64),
}

impl Resource {
    /// An invalid cost counts as 1.
    pub(super) fn new(terms: &SourceTerms, demand: ChangeDemand) -> Self {
        let is_cost = terms.cost.is_finite() && terms.cost > 0.0;
        Self {
            host: terms.host,
            cost: if is_cost { terms.cost } else { 1.0 },
            demands: ChangeDemands::one(demand),
            last_gap: Gap::default(),
            state: ResourceState::UNPLACED,
            is_requested: false,
            plan_number: 0,
            planned: None,
            n_planned: 0,
        }
    }

    pub(super) const fn cost(&self) -> f64 {
        self.cost
    }

    /// When it was last probed, for any of its demands.
    pub(super) fn last_probe(&self) -> Option<Time> {
        self.demands.iter().filter_map(|demand| demand.last_probe).max()
    }

    /// What a probe is worth at `now` to all change demands; what has never been seen is worth more than anything else.
    /// A probe for the others brings nothing to a demand that has to wait after a failure of its own.
    pub(super) fn worth(&self, valuation: &Valuation, now: Time) -> f64 {
        if self.demands.is_one() {
            return self.demands.first().worth(valuation, now);
        }
        let served = self.demands.iter().filter(|demand| demand.not_before.is_none_or(|at| at <= now));
        served.map(|demand| demand.worth(valuation, now)).sum::<f64>().min(f64::MAX)
    }

    /// The share of what a probe is worth now that is lost without it. The rest is only postponed: the next probe
    /// finds it too. If `w` is the worth at age `t`, one probe more per unit of time adds `w - t·w'`.
    pub(super) fn lost_by_waiting(&self, valuation: &Valuation, now: Time) -> Option<f64> {
        const A_LITTLE: u32 = 16;
        let age = self.last_probe().map(|last| now.since(last))?;
        let (worth, later) = (self.worth(valuation, now), self.worth(valuation, now.plus(age / A_LITTLE)));
        let is_known = worth > 0.0 && worth < f64::MAX && age > Duration::ZERO;
        is_known.then(|| (1.0 - f64::from(A_LITTLE) * (later - worth) / worth).clamp(0.0, 1.0))
    }

    pub(super) fn per_cost(&self, valuation: &Valuation, now: Time) -> f64 {
        self.worth(valuation, now) / self.cost()
    }

    /// When a probe may first be worth this much, or is planned, up to `horizon`. Never too late: with several demands, one of
    /// them has to reach its share of it first.
    pub(super) fn worth_reaches(
        &self,
        valuation: &Valuation,
        now: Time,
        worth: f64,
        horizon: Time,
    ) -> Option<Time> {
        if matches!(valuation.strategy, Strategy::Cam { .. }) {
            return self.planned().last().map(|at| (*at).max(now)).filter(|at| *at <= horizon);
        }
        let share = if self.demands.is_one() { worth } else { worth / self.demands.iter().count() as f64 };
        self.demands.iter().filter_map(|demand| demand.worth_reaches(valuation, now, share, horizon)).min()
    }

    /// The earliest time at which one of its demands allows a probe.
    pub(super) fn earliest(&self) -> Option<Time> {
        // `None` is less than any time: a demand that waits for nothing.
        self.demands.iter().map(|demand| demand.earliest(self.is_requested)).min().flatten()
    }

    /// The shortest of the longest gaps of its demands.
    pub(super) fn longest_gap(&self) -> Duration {
        self.demands.iter().map(|demand| demand.longest_gap).min().unwrap_or_default().get()
    }

    /// When the first of its demands is overdue; `None` if one has never been served.
    pub(super) fn overdue_at(&self) -> Option<Time> {
        self.demands.iter().map(ChangeDemand::overdue_at).min().flatten()
    }

    /// Decides what it waits for, at this price per unit of cost.
    pub(super) fn review(&self, valuation: &Valuation, now: Time, price: f64) -> ReviewOutcome {
        if let Some(earliest) = self.earliest().filter(|at| *at > now) {
            return ReviewOutcome::Dormant(earliest);
        }
        if self.is_requested {
            return ReviewOutcome::Requested;
        }
        // A demand that may not be served yet, after a failure of its own, is no reason for a probe.
        let may_be_served = |demand: &&ChangeDemand| demand.earliest(false).is_none_or(|at| at <= now);
        let served = || self.demands.iter().filter(may_be_served).filter(|demand| demand.wants_changes);
        let Some(overdue_at) = served().map(ChangeDemand::overdue_at).min() else {
            let next = self.demands.iter().filter(|demand| demand.wants_changes);
            let next = next.filter_map(|demand| demand.earliest(false)).min();
            return ReviewOutcome::Dormant(next.unwrap_or(Time::from_micros(i64::MAX)));
        };
        let Some((overdue_at, last)) = overdue_at.zip(served().filter_map(|demand| demand.last_probe).min())
        else {
            return ReviewOutcome::New;
        };
        if overdue_at <= now {
            return ReviewOutcome::Overdue(overdue_at);
        }
        if matches!(valuation.strategy, Strategy::Cam { .. }) {
            return self.review_planned(valuation, now, price, overdue_at);
        }
        let per_cost = self.per_cost(valuation, now);
        if is_worth(per_cost, price) {
            return ReviewOutcome::Worth(per_cost);
        }
        let age = now.since(last).max(valuation.chronon * YOUNG);
        let target = if per_cost < REVIEW_AT * price { REVIEW_AT * price } else { price };
        let soon_after = now.since(last) * SOON_AFTER + valuation.chronon * FIRST_REVIEW;
        let latest = (age / LATEST_REVIEW).max(soon_after.min(self.last_gap.get() / LATEST_REVIEW));
        let latest = now.plus(latest).min(overdue_at);
        let crossing = self.worth_reaches(valuation, now, target * self.cost(), latest).unwrap_or(latest);
        let earliest = now.plus(valuation.chronon.max(age / EARLIEST_REVIEW));
        let not_served = self.demands.iter().filter(|demand| !may_be_served(demand));
        let next_served = not_served.filter_map(|demand| demand.earliest(false)).min().unwrap_or(overdue_at);
        ReviewOutcome::Eligible(crossing.max(earliest).min(overdue_at).min(next_served))
    }

    /// A probe that is due by the plan waits; unless others that wait are worth more than this, then it is left out.
    fn review_planned(
        &self,
        valuation: &Valuation,
        now: Time,
        price: f64,
        overdue_at: Time,
    ) -> ReviewOutcome {
        if self.planned().last().is_some_and(|at| *at <= now) {
            let per_cost = self.per_cost(valuation, now);
            if is_worth(per_cost, price) {
                return ReviewOutcome::Worth(per_cost);
            }
        }
        let next = self.planned().iter().rev().find(|at| **at > now);
        ReviewOutcome::Dormant(next.map_or(overdue_at, |at| overdue_at.min(*at)))
    }

    /// When the plan probes it, latest first.
    fn planned(&self) -> &[Time] {
        self.planned.as_deref().map_or(&[], |planned| &planned[..self.n_planned as usize])
    }

    /// Replaces its part of the plan, whose times are latest first.
    pub(super) fn set_planned(&mut self, planned: Vec<Time>) {
        self.n_planned = planned.len() as u32;
        self.planned = (!planned.is_empty()).then(|| planned.into());
    }

    /// A probe at this time serves all that were planned up to it.
    pub(super) fn planned_until(&mut self, now: Time) {
        self.n_planned = self.planned().partition_point(|at| *at > now) as u32;
        self.planned.take_if(|_| self.n_planned == 0);
    }
}

/// Whether something is worth this price. What is worth nothing never is.
pub(super) fn is_worth(per_cost: f64, price: f64) -> bool {
    per_cost > 0.0 && per_cost >= price * NEARLY
}
