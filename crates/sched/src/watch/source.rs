//! One source as the watch holds it: its terms, what is known of it, and where it stands; and what is to become of
//! it by itself, without its host and without the others.

use std::time::Duration;

use dunlin_core::Time;

use super::crowd::Crowd;
use super::{Strategy, Terms};
use crate::forecast::Forecast;
use crate::model::Model;
use crate::value::curve::Curve;

/// A source that is worth less than this share of the price is reviewed there, and not only at the price, so that a
/// price that has fallen a little makes nobody late.
const REVIEW_AT: f64 = 0.8;
/// A source is reviewed at the latest when its time since the last look has grown by one in this many.
const LATEST_REVIEW: u32 = 2;
/// But after a look, up to as much of its last gap, only when it has grown by so many times as much, and by this many
/// chronons: most gaps are about as long as the last, so little is to be seen so soon.
const SOON_AFTER: u32 = 4;
const FIRST_REVIEW: u32 = 16;
/// And at the earliest when the time since the last look has grown by one in this many: a price that rises all the time
/// would be met too often.
const EARLIEST_REVIEW: u32 = 64;
/// Chronons that a source counts as old from the start; reviews of what was just looked at would be idle.
const YOUNG: u32 = 8;
/// What rounding may take from a worth that has just reached the price.
const NEARLY: f64 = 1.0 - 1e-9;

/// By what every source is valued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) strategy: Strategy,
    pub(super) chronon: Duration,
    pub(super) crowd: Crowd,
}

#[derive(Debug, Clone)]
pub(super) struct Watched {
    pub(super) terms: Terms,
    pub(super) model: Model,
    pub(super) last_look: Option<Time>,
    /// Between the last look and the one before; zero when that is not known.
    pub(super) last_gap: Duration,
    pub(super) not_before: Option<Time>,
    pub(super) place: Place,
    /// Someone asked, and no look has been chosen since.
    pub(super) is_wanted: bool,
    /// When the plan has looks at it, latest first; none that is not later than the last look.
    pub(super) planned: Vec<Time>,
    /// The plan that it was last part of; 0 for none.
    pub(super) plan_number: u32,
}

/// Where a source stands. Entries in queues that say otherwise do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// Not to be looked at before a review at this time.
    Asleep(Time),
    /// Could be looked at, if there was nothing better; reviewed at this time.
    Awake(Time),
    /// Waits for the budget.
    Ready(Class),
    /// Waits for its host.
    AtHost(Class),
    /// Being looked at.
    UnderWay(Flight),
}

/// A look that was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flight {
    pub(super) since: Time,
    /// Someone had asked for it.
    pub(super) was_wanted: bool,
    /// It was paid for as the terms have it now.
    pub(super) is_refundable: bool,
}

impl Place {
    /// For a source that is about to be put somewhere.
    pub(super) const NOWHERE: Self = Self::Asleep(Time::from_micros(i64::MIN));
}

/// In which queue a source waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Wanted,
    Overdue,
    New,
    Worth,
}

/// What is to become of a source that is not under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outlook {
    Asleep(Time),
    Awake(Time),
    Wanted,
    /// Since when.
    Overdue(Time),
    New,
    /// By this much per unit of cost.
    Worth(f64),
}

impl Watched {
    /// A cost that makes no sense is taken to be 1.
    pub(super) fn cost(&self) -> f64 {
        let cost = self.terms.cost;
        if cost.is_finite() && cost > 0.0 { cost } else { 1.0 }
    }

    /// What a look is worth at `now`; what has never been seen is beyond measure.
    pub(super) fn worth(&self, measure: &Measure, now: Time) -> f64 {
        if !self.terms.wants_changes {
            return 0.0;
        }
        let Some(last) = self.last_look else { return f64::MAX };
        let worth = match measure.strategy {
            Strategy::RoundRobin => now.since(last).as_secs_f64(),
            Strategy::Learned => self.curve(measure, last).at(now),
            Strategy::Cam { .. } => self.terms.value.weight * self.forecast(measure).probability(last, now),
        };
        if worth.is_finite() { worth } else { 0.0 }
    }

    /// The share of what a probe is worth now that is lost for good without it. The rest is only put off: the next probe
    /// finds it too. If `w` is the worth at age `t`, one probe more per unit of time adds `w - t·w'`.
    pub(super) fn lost_by_waiting(&self, measure: &Measure, now: Time) -> Option<f64> {
        const A_LITTLE: u32 = 16;
        let age = self.last_look.map(|last| now.since(last))?;
        let (worth, later) = (self.worth(measure, now), self.worth(measure, now.plus(age / A_LITTLE)));
        let is_known = self.terms.wants_changes && worth > 0.0 && age > Duration::ZERO;
        is_known.then(|| (1.0 - f64::from(A_LITTLE) * (later - worth) / worth).clamp(0.0, 1.0))
    }

    pub(super) fn per_cost(&self, measure: &Measure, now: Time) -> f64 {
        self.worth(measure, now) / self.cost()
    }

    fn curve<'s>(&'s self, measure: &Measure, last: Time) -> Curve<'s, Forecast<'s>> {
        Curve::new(&self.terms.value, self.forecast(measure), last, measure.chronon)
    }

    /// What is to be expected of it, beside the others.
    pub(super) fn forecast(&self, measure: &Measure) -> Forecast<'_> {
        measure.crowd.forecast(&self.model)
    }

    /// When a look will first be worth this much, or is planned, up to `horizon`.
    pub(super) fn crossing(&self, measure: &Measure, now: Time, worth: f64, horizon: Time) -> Option<Time> {
        let last = self.last_look?;
        match measure.strategy {
            Strategy::RoundRobin => {
                let after = Duration::try_from_secs_f64(worth).unwrap_or(Duration::MAX);
                Some(last.plus(after).max(now)).filter(|at| *at <= horizon)
            }
            Strategy::Learned => self.curve(measure, last).crossing(now, worth, horizon),
            // What it is worth was weighed when the plan was made.
            Strategy::Cam { .. } => self.planned.last().map(|at| (*at).max(now)).filter(|at| *at <= horizon),
        }
    }

    /// The earliest time at which the source's own terms allow a look.
    pub(super) fn earliest(&self) -> Option<Time> {
        let rested = self.last_look.filter(|_| !self.is_wanted).map(|at| at.plus(self.terms.shortest_gap));
        rested.max(self.not_before)
    }

    pub(super) fn overdue_at(&self) -> Option<Time> {
        self.last_look.map(|at| at.plus(self.terms.longest_gap))
    }

    /// What is to become of it at this price per unit of cost.
    pub(super) fn outlook(&self, measure: &Measure, now: Time, price: f64) -> Outlook {
        if let Some(earliest) = self.earliest().filter(|at| *at > now) {
            return Outlook::Asleep(earliest);
        }
        if self.is_wanted {
            return Outlook::Wanted;
        }
        if !self.terms.wants_changes {
            return Outlook::Asleep(Time::from_micros(i64::MAX));
        }
        let (Some(last), Some(overdue_at)) = (self.last_look, self.overdue_at()) else { return Outlook::New };
        if overdue_at <= now {
            return Outlook::Overdue(overdue_at);
        }
        if matches!(measure.strategy, Strategy::Cam { .. }) {
            return self.planned_outlook(measure, now, price, overdue_at);
        }
        let per_cost = self.per_cost(measure, now);
        if is_worth(per_cost, price) {
            return Outlook::Worth(per_cost);
        }
        let age = now.since(last).max(measure.chronon * YOUNG);
        let target = if per_cost < REVIEW_AT * price { REVIEW_AT * price } else { price };
        let soon_after = now.since(last) * SOON_AFTER + measure.chronon * FIRST_REVIEW;
        let latest = (age / LATEST_REVIEW).max(soon_after.min(self.last_gap / LATEST_REVIEW));
        let latest = now.plus(latest).min(overdue_at);
        let crossing = self.crossing(measure, now, target * self.cost(), latest).unwrap_or(latest);
        let earliest = now.plus(measure.chronon.max(age / EARLIEST_REVIEW));
        Outlook::Awake(crossing.max(earliest).min(overdue_at))
    }

    /// A look that is due by the plan waits; unless others that wait are worth more than this, then it is left out.
    fn planned_outlook(&self, measure: &Measure, now: Time, price: f64, overdue_at: Time) -> Outlook {
        if self.planned.last().is_some_and(|at| *at <= now) {
            let per_cost = self.per_cost(measure, now);
            if is_worth(per_cost, price) {
                return Outlook::Worth(per_cost);
            }
        }
        let next = self.planned.iter().rev().find(|at| **at > now);
        Outlook::Asleep(next.map_or(overdue_at, |at| overdue_at.min(*at)))
    }

    /// A look at this time serves all that were planned up to it.
    pub(super) fn planned_until(&mut self, now: Time) {
        while self.planned.pop_if(|at| *at <= now).is_some() {}
    }
}

/// Whether something pays at this price. Nothing never does.
pub(super) fn is_worth(per_cost: f64, price: f64) -> bool {
    per_cost > 0.0 && per_cost >= price * NEARLY
}
