//! What somebody wants of the changes of a resource. The scheduler asks it three things: what a probe is worth to it now, when
//! that will next matter at a given price, and what the outcome of a probe means for it.
//!
//! Here are the questions, and the demand that is asked them: a source. The other kind of demand, intervals to be captured, is
//! planned for all resources together, since what one is worth depends on others; so it does not answer one by one, but for a
//! resource: see [`interval_demands`](super::interval_demands).

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use super::population::PopulationPrior;
use super::{SourceTerms, Strategy, moved_back};
use crate::forecast::Forecast;
use crate::model::{Evidence, Model, ProbeEvidence};
use crate::value::ValueModel;
use crate::value::curve::Curve;

/// What the value of a probe depends on, besides the demand itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Valuation {
    pub(super) strategy: Strategy,
    pub(super) chronon: Duration,
    pub(super) population: PopulationPrior,
}

/// The outcome of a probe of the resource, as far as it concerns one demand.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DemandOutcome {
    /// It was served, and this was shown.
    Observed(Evidence),
    /// It was not served; not to be tried again before this time.
    Failed { not_before: Time },
}

/// What the scheduler asks of a demand for changes.
pub(super) trait Demand {
    /// What a probe is worth to it at `now`; more than anything else while it has never been served.
    fn worth(&self, valuation: &Valuation, now: Time) -> f64;

    /// When a probe will first be worth this much to it, up to `horizon`.
    fn worth_reaches(&self, valuation: &Valuation, now: Time, worth: f64, horizon: Time) -> Option<Time>;

    /// A probe that began at `since` has ended like this.
    fn probe_ended(&mut self, valuation: &mut Valuation, since: Time, now: Time, outcome: DemandOutcome);
}

/// A duration in eight bytes, since every source has some of them; the longest are cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gap {
    micros: u64,
}

impl Gap {
    pub(super) const fn get(self) -> Duration {
        Duration::from_micros(self.micros)
    }
}

impl From<Duration> for Gap {
    fn from(duration: Duration) -> Self {
        Self { micros: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX) }
    }
}

/// The demand for the changes of a source: what is expected of it since it was last served, valued by its terms.
#[derive(Debug, Clone)]
pub(super) struct ChangeDemand {
    pub(super) source: SourceIdx,
    pub(super) wants_changes: bool,
    pub(super) value: ValueModel,
    pub(super) shortest_gap: Gap,
    pub(super) longest_gap: Gap,
    pub(super) model: Model,
    /// When it was last served.
    pub(super) last_probe: Option<Time>,
    pub(super) not_before: Option<Time>,
}

impl ChangeDemand {
    pub(super) fn new(
        source: SourceIdx,
        terms: &SourceTerms,
        model: Model,
        last_probe: Option<Time>,
        not_before: Option<Time>,
    ) -> Self {
        let SourceTerms { value, wants_changes, .. } = *terms;
        let (shortest_gap, longest_gap) = (terms.shortest_gap.into(), terms.longest_gap.into());
        Self { source, wants_changes, value, shortest_gap, longest_gap, model, last_probe, not_before }
    }

    fn curve<'s>(&'s self, valuation: &Valuation, last: Time) -> Curve<'s, Forecast<'s>> {
        Curve::new(&self.value, self.forecast(valuation), last, valuation.chronon)
    }

    /// Its forecast, with the prior of the population.
    pub(super) fn forecast(&self, valuation: &Valuation) -> Forecast<'_> {
        valuation.population.forecast(&self.model)
    }

    /// The earliest time at which its own terms allow a probe; a request does not wait for the shortest gap.
    pub(super) fn earliest(&self, is_requested: bool) -> Option<Time> {
        let rested = self.last_probe.filter(|_| !is_requested).map(|at| at.plus(self.shortest_gap.get()));
        rested.max(self.not_before)
    }

    pub(super) fn overdue_at(&self) -> Option<Time> {
        self.last_probe.map(|at| at.plus(self.longest_gap.get()))
    }

    /// Times that seem to lie ahead because the clock was set back from `latest` to `now`.
    pub(super) fn clock_set_back(&mut self, latest: Time, now: Time) {
        self.last_probe = self.last_probe.map(|at| at.min(now));
        self.not_before = self.not_before.map(|at| moved_back(at, latest, now));
    }
}

impl Demand for ChangeDemand {
    fn worth(&self, valuation: &Valuation, now: Time) -> f64 {
        if !self.wants_changes {
            return 0.0;
        }
        let Some(last) = self.last_probe else { return f64::MAX };
        let worth = match valuation.strategy {
            Strategy::RoundRobin => now.since(last).as_secs_f64(),
            Strategy::Learned => self.curve(valuation, last).at(now),
            Strategy::Cam { .. } => self.value.weight * self.forecast(valuation).probability(last, now),
        };
        if worth.is_finite() { worth } else { 0.0 }
    }

    fn worth_reaches(&self, valuation: &Valuation, now: Time, worth: f64, horizon: Time) -> Option<Time> {
        let last = self.last_probe?;
        match valuation.strategy {
            Strategy::RoundRobin => {
                let after = Duration::try_from_secs_f64(worth).unwrap_or(Duration::MAX);
                Some(last.plus(after).max(now)).filter(|at| *at <= horizon)
            }
            Strategy::Learned => self.curve(valuation, last).crossing(now, worth, horizon),
            // What it is worth was weighed when the plan was made.
            Strategy::Cam { .. } => None,
        }
    }

    fn probe_ended(&mut self, valuation: &mut Valuation, since: Time, now: Time, outcome: DemandOutcome) {
        match outcome {
            DemandOutcome::Observed(evidence) => {
                let probe = ProbeEvidence { since: self.last_probe, at: now, evidence };
                if self.wants_changes {
                    valuation.population.observe(&self.model, &probe);
                    self.model.observe_among(&probe, valuation.population.prior(self.model.prior()));
                }
                (self.last_probe, self.not_before) = (Some(now), None);
            }
            // A failed probe was a request to the host too.
            DemandOutcome::Failed { not_before } => {
                self.not_before = Some(not_before.max(since.plus(self.shortest_gap.get())));
            }
        }
    }
}

/// The change demands of one resource, at least one. Most resources have no more, so the first needs no allocation.
#[derive(Debug, Clone)]
pub(super) struct ChangeDemands {
    first: ChangeDemand,
    #[expect(clippy::box_collection, reason = "a vector takes two words more in every resource")]
    others: Option<Box<Vec<ChangeDemand>>>,
}

impl ChangeDemands {
    pub(super) const fn one(demand: ChangeDemand) -> Self {
        Self { first: demand, others: None }
    }

    pub(super) fn add(&mut self, demand: ChangeDemand) {
        self.others.get_or_insert_default().push(demand);
    }

    /// Removes the demand of a source; whether one is left.
    pub(super) fn remove(&mut self, source: SourceIdx) -> bool {
        if self.first.source == source {
            let Some(next) = self.others.as_mut().and_then(|others| others.pop()) else { return false };
            self.first = next;
        } else if let Some(others) = &mut self.others {
            others.retain(|demand| demand.source != source);
        }
        self.others.take_if(|others| others.is_empty());
        true
    }

    pub(super) const fn is_one(&self) -> bool {
        self.others.is_none()
    }

    pub(super) const fn first(&self) -> &ChangeDemand {
        &self.first
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ChangeDemand> {
        std::iter::once(&self.first).chain(self.others.iter().flat_map(|others| others.iter()))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ChangeDemand> {
        std::iter::once(&mut self.first).chain(self.others.iter_mut().flat_map(|others| others.iter_mut()))
    }

    pub(super) fn of(&self, source: SourceIdx) -> Option<&ChangeDemand> {
        self.iter().find(|demand| demand.source == source)
    }
}
