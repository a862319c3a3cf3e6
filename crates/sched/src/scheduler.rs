//! Which resources to probe now, in wall-clock time: many resources, each with demands on it, hosts with limits of their own, a
//! budget per second, and forecasts learned from the evidence of earlier probes. The live service and the lab run this same
//! value.
//!
//! What a probe is worth to the demands on a resource is a curve, and at some time it reaches the price of a probe. Those times
//! are in review queues, and the price adapts to the budget, so a chronon costs no more than what happens in it: a resource is
//! evaluated when its review is due, when it is chosen, and when an input concerns it.
//!
//! Everything that can change a decision comes in as an [`Input`] or as an argument of [`Scheduler::choose`], so a
//! recorded run can be fed to a new `Scheduler` and gives the same choices. It never fetches and has no clock.
//!
//! Invariants: no more is chosen than the budget grants (a rate with a burst of one chronon's worth, at least
//! one probe, and one more where that is not a whole number); a resource with a probe in flight is not chosen again until
//! an input says how that probe ended; no resource of a host is chosen while the host is held, has as many probes in flight
//! as it allows, or is out of its own budget.

mod bucket;
mod choice;
mod choose;
mod demand;
mod epoch_planner;
mod explain;
mod host;
mod input;
mod interval_demands;
pub mod journal;
pub(crate) mod population;
mod price;
mod queues;
mod resource;
mod review_queue;
mod slab;
mod transitions;

pub use choice::{CeiEvent, Choice, Explanation, Hold, Reason, SchedulerStats};
pub use input::{CeiId, HostIdx, HostTerms, Input, Interval, Pace, Shown, ShownTo, SourceTerms, Strategy};

use std::collections::BTreeSet;
use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};

use crate::forecast::Forecast;
use crate::model::{Model, ProbeEvidence};
use crate::policy::marginal::SideWorth;
use bucket::TokenBucket;
use demand::{ChangeDemand, Demand as _, DemandOutcome, Valuation};
use epoch_planner::EpochPlanner;
use host::Host;
use interval_demands::IntervalDemands;
use population::PopulationPrior;
use price::ProbePrice;
use queues::Queues;
use resource::{Resource, ResourceState};
use review_queue::ReviewQueue;
use slab::Slab;
use transitions::StateCounts;

/// How a scheduler decides. Fixed when it starts.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// The step of time: [`Scheduler::choose`] is called once in each.
    pub chronon: Duration,
    /// What a probe is worth.
    pub strategy: Strategy,
    /// Probes per second, over all sources.
    pub budget: Pace,
    /// The price to begin with, for instance that of the run before ([`SchedulerStats::price`]). `None`: find one.
    pub initial_price: Option<f64>,
}

/// A clock that is set back by no more than this is waited for; by more, it is believed.
const STANDSTILL: Duration = Duration::from_secs(10);

/// Whether a clock that has shown `latest` and shows `now` was set back, so that `now` is believed. Small corrections happen
/// all the time; these are waited out.
pub fn is_set_back(latest: Time, now: Time, chronon: Duration) -> bool {
    latest.since(now) > STANDSTILL.max(chronon)
}

/// A time to wait for, on a clock that was set back from `latest` to `now`: as far off as it was, and not at all if it was over.
pub fn moved_back(at: Time, latest: Time, now: Time) -> Time {
    if at > now { now.plus(at.since(latest)) } else { at }
}

/// All resources, and when to probe which.
#[derive(Debug, Clone)]
pub struct Scheduler {
    settings: Settings,
    valuation: Valuation,
    resources: Slab<Resource>,
    hosts: Slab<Host>,
    /// Resources that cannot be probed before a time of their own.
    dormant: ReviewQueue,
    /// Resources that could be, by the time at which they are reviewed.
    eligible: ReviewQueue,
    /// Resources that wait for the budget.
    queues: Queues,
    /// Hosts with waiting resources that are free at a known time.
    wakes: BTreeSet<(Time, HostIdx)>,
    counts: StateCounts,
    bucket: TokenBucket,
    price: ProbePrice,
    /// Makes plans, if the strategy needs them.
    epoch_planner: Option<EpochPlanner>,
    /// Needs that span sources, once there has been one.
    intervals: Option<Box<IntervalDemands>>,
    /// The share of the worth of a probe for changes that is lost if it is not made, as learned from those that were.
    lost_share: f64,
    latest: Option<Time>,
    /// Since when what waits counts for the price.
    priced_at: Option<Time>,
    refreshed_at: Option<Time>,
}

impl Scheduler {
    /// Has no sources yet.
    pub fn new(mut settings: Settings) -> Self {
        settings.chronon = settings.chronon.max(Duration::from_micros(1));
        let epoch_planner = EpochPlanner::new(settings.strategy, settings.chronon, settings.initial_price);
        Self {
            resources: Slab::new(),
            hosts: Slab::new(),
            dormant: ReviewQueue::new(settings.chronon),
            eligible: ReviewQueue::new(settings.chronon),
            queues: Queues::default(),
            wakes: BTreeSet::new(),
            counts: StateCounts::default(),
            bucket: TokenBucket::new(settings.budget, settings.chronon),
            price: if epoch_planner.is_some() {
                ProbePrice::none()
            } else {
                ProbePrice::new(settings.initial_price)
            },
            epoch_planner,
            intervals: None,
            lost_share: 1.0,
            latest: None,
            priced_at: None,
            refreshed_at: None,
            valuation: Valuation {
                strategy: settings.strategy,
                chronon: settings.chronon,
                population: PopulationPrior::default(),
            },
            settings,
        }
    }

    /// Takes in something that may change what is chosen from now on. Inputs about unknown resources are ignored.
    pub fn apply(&mut self, now: Time, input: Input) {
        let now = self.arrive_at(now);
        match input {
            Input::Budget(budget) => {
                self.bucket.fill(now);
                self.bucket.set_pace(budget, self.settings.chronon);
                self.settings.budget = budget;
                self.intervals.iter_mut().for_each(|intervals| intervals.set_pace(budget));
                self.epoch_planner.iter_mut().for_each(EpochPlanner::budget_changed);
            }
            Input::Granted { units } => self.bucket.set_saved(units, now),
            Input::Host { host, terms } => {
                let chronon = self.settings.chronon;
                if let Some(known) = self.host_entry(host) {
                    known.set_terms(terms, chronon, now);
                    self.advance_host(host, now);
                }
            }
            Input::SourceAdded { resource, source, terms, model, last_probe, not_before } => {
                let last_probe = last_probe.map(|at| at.min(now));
                let demand = ChangeDemand::new(source, &terms, model, last_probe, not_before);
                self.add_demand(now, resource, &terms, demand);
            }
            Input::SourceRemoved { resource, source } => self.remove_demand(now, resource, source),
            Input::Probed { resource, shown } => self.probed(now, resource, &shown),
            Input::ProbeFailed { resource, not_before } => self.probe_failed(now, resource, not_before),
            Input::ProbeReturned { resource } => self.returned(now, resource, None),
            Input::ProbePostponed { resource, not_before } => self.returned(now, resource, Some(not_before)),
            Input::HostHeld { host, until } => {
                if let Some(known) = self.hosts.get_mut(host.0) {
                    known.held_until = Some(until);
                    self.advance_host(host, now);
                }
            }
            Input::ProbeRequested { resource: index } => {
                if let Some(resource) = self.resources.get_mut(index.0) {
                    resource.is_requested = true;
                    self.reevaluate(index, now);
                }
            }
            Input::CeiArrived { cei, intervals, captured, need, weight } => {
                self.price_intervals(now, &intervals);
                self.intervals_entry(now).arrive(now, cei, intervals, &captured, need, weight);
            }
            Input::CeiExtended { cei, intervals, need } => {
                self.price_intervals(now, &intervals);
                self.intervals_entry(now).extend(now, cei, intervals, need);
            }
            Input::CeiWithdrawn { cei } => self.intervals_entry(now).withdraw(cei),
            Input::ProbeBegan { resource } => self.probe_began(now, resource),
        }
    }

    fn intervals_entry(&mut self, now: Time) -> &mut IntervalDemands {
        let (chronon, budget) = (self.settings.chronon, self.settings.budget);
        self.intervals.get_or_insert_with(|| Box::new(IntervalDemands::new(chronon, budget, now)))
    }

    /// Tells the plan what probes for these intervals cost.
    fn price_intervals(&mut self, now: Time, intervals: &[Interval]) {
        for interval in intervals {
            let Some(resource) = self.resources.get(interval.resource.0) else { continue };
            let cost = resource.cost();
            let side = self.side_worth(resource, now);
            let intervals = self.intervals_entry(now);
            intervals.set_cost(interval.resource, cost);
            intervals.set_side_worth(interval.resource, side);
        }
    }

    /// What a probe for an interval would also be worth for the changes of the same resource. While one is in flight, nothing; and
    /// one that has never been seen gets a probe of its own.
    fn side_worth(&self, resource: &Resource, now: Time) -> SideWorth {
        let is_in_flight = matches!(resource.state, ResourceState::InFlight(_));
        let Some(last) = resource.last_probe().filter(|_| !is_in_flight) else { return SideWorth::default() };
        let worth = resource.worth(&self.valuation, now);
        if worth >= f64::MAX {
            return SideWorth::default();
        }
        let worth = worth * self.lost_share;
        let chronons = now.since(last).div_duration_f64(self.settings.chronon).max(1.0);
        SideWorth { worth, loss: worth / chronons }
    }

    /// What became of needs since this was last asked, in order.
    pub fn take_cei_events(&mut self) -> Vec<CeiEvent> {
        self.intervals.as_mut().map_or_else(Vec::new, |intervals| intervals.take_events())
    }

    /// The intervals of needs that the probe in flight of a resource captures if it succeeds, each with the source to which it
    /// has to show something: for a caller that stores both together.
    pub fn begun_intervals(&self, resource: ResourceIdx) -> Vec<(SourceIdx, CeiId, u32)> {
        self.intervals.as_ref().map_or_else(Vec::new, |intervals| intervals.begun(resource).collect())
    }

    fn add_demand(&mut self, now: Time, index: ResourceIdx, terms: &SourceTerms, demand: ChangeDemand) {
        self.remove_demand(now, index, demand.source);
        if let Some(resource) = self.resources.get_mut(index.0) {
            resource.demands.add(demand);
            resource.plan_number = 0;
        } else {
            let resource = Resource::new(terms, demand);
            let state = resource.state;
            if self.host_entry(terms.host).is_none() || self.resources.insert(index.0, resource).is_none() {
                return;
            }
            self.counts.moved(None, Some(state));
        }
        self.reevaluate(index, now);
        self.plan_if_missing(index, now);
    }

    fn remove_demand(&mut self, now: Time, index: ResourceIdx, source: SourceIdx) {
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        if resource.demands.of(source).is_none() {
            return;
        }
        if resource.demands.remove(source) {
            return self.reevaluate(index, now);
        }
        self.end_probe(index, now, |_| false);
        let Some(gone) = self.resources.remove(index.0) else { return };
        self.counts.moved(Some(gone.state), None);
        self.advance_host(gone.host, now);
    }

    fn probed(&mut self, now: Time, index: ResourceIdx, shown: &Shown) {
        let probe = self.end_probe(index, now, |source| shown.is_shown_to(source));
        let since = probe.map_or(now, |probe| probe.since);
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        resource.last_gap = resource.last_probe().map(|last| now.since(last).into()).unwrap_or_default();
        for demand in resource.demands.iter_mut() {
            let outcome = match shown.to(demand.source) {
                Some(ShownTo::Evidence(evidence)) => DemandOutcome::Observed(evidence),
                Some(ShownTo::Unreadable { not_before }) => DemandOutcome::Failed { not_before },
                None => continue,
            };
            demand.probe_ended(&mut self.valuation, since, now, outcome);
        }
        resource.planned_until(now);
        self.reevaluate(index, now);
        self.plan_if_missing(index, now);
    }

    /// The intervals that a probe captures are those that it begins within, which were others when it was chosen.
    fn probe_began(&mut self, now: Time, index: ResourceIdx) {
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        let ResourceState::InFlight(probe) = &mut resource.state else { return };
        probe.since = now;
        self.intervals.iter_mut().for_each(|intervals| intervals.begin_again(index, now));
    }

    fn probe_failed(&mut self, now: Time, index: ResourceIdx, not_before: Time) {
        let Some(probe) = self.end_probe(index, now, |_| false) else { return };
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        for demand in resource.demands.iter_mut() {
            let outcome = DemandOutcome::Failed { not_before };
            demand.probe_ended(&mut self.valuation, probe.since, now, outcome);
        }
        self.reevaluate(index, now);
    }

    fn returned(&mut self, now: Time, index: ResourceIdx, not_before: Option<Time>) {
        let Some(probe) = self.end_probe(index, now, |_| false) else { return };
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        resource.is_requested |= probe.was_requested;
        for demand in resource.demands.iter_mut() {
            demand.not_before = demand.not_before.max(not_before);
        }
        let (cost, host) = (resource.cost(), resource.host);
        self.bucket.refund(cost, probe.chosen_at, now);
        self.hosts.get_mut(host.0).into_iter().for_each(|host| host.refund(cost, probe.chosen_at, now));
        self.reevaluate(index, now);
        self.advance_host(host, now);
    }

    /// The time that counts: it does not go back. A clock that is a little behind is waited for; one that was set
    /// back further is believed, and times that were noted under the wrong clock are corrected, resource by resource.
    fn arrive_at(&mut self, now: Time) -> Time {
        match self.latest {
            Some(latest) if now < latest => {
                if !is_set_back(latest, now, self.settings.chronon) {
                    return latest;
                }
                self.latest = Some(now);
                self.clock_set_back(latest, now);
            }
            _ => self.latest = Some(now),
        }
        now
    }

    /// Probes that seem to lie ahead have just been taken; times to come are as far off as they were.
    fn clock_set_back(&mut self, latest: Time, now: Time) {
        self.bucket.restart(now);
        self.intervals.iter_mut().for_each(|intervals| intervals.begin_anew(now));
        self.forget_plans();
        (self.refreshed_at, self.priced_at) = (None, Some(now));
        self.dormant.clear();
        self.eligible.clear();
        self.queues.clear();
        self.wakes.clear();
        let hosts: Vec<u32> = self.hosts.indices().collect();
        for host in hosts {
            self.hosts.get_mut(host).into_iter().for_each(|host| host.clock_set_back(latest, now));
        }
        let resources: Vec<u32> = self.resources.indices().collect();
        for index in resources.into_iter().map(ResourceIdx) {
            let Some(resource) = self.resources.get_mut(index.0) else { continue };
            resource.demands.iter_mut().for_each(|demand| demand.clock_set_back(latest, now));
            resource.set_planned(Vec::new());
            resource.plan_number = 0;
            if let ResourceState::InFlight(probe) = &mut resource.state {
                (probe.chosen_at, probe.since) = (probe.chosen_at.min(now), probe.since.min(now));
                continue;
            }
            // The queue it was in is empty now.
            self.set_state(index, ResourceState::UNPLACED);
            self.reevaluate(index, now);
        }
    }

    fn demand(&self, resource: ResourceIdx, source: SourceIdx) -> Option<&ChangeDemand> {
        self.resources.get(resource.0)?.demands.of(source)
    }

    /// Whether a probe of a resource was requested and has not been chosen yet.
    pub fn is_requested(&self, resource: ResourceIdx) -> bool {
        self.resources.get(resource.0).is_some_and(|resource| resource.is_requested)
    }

    /// How a source is watched.
    pub fn terms(&self, resource: ResourceIdx, source: SourceIdx) -> Option<SourceTerms> {
        let (host, cost) = self.resources.get(resource.0).map(|resource| (resource.host, resource.cost()))?;
        let demand = self.demand(resource, source)?;
        Some(SourceTerms {
            host,
            value: demand.value,
            cost,
            shortest_gap: demand.shortest_gap.get(),
            longest_gap: demand.longest_gap.get(),
            wants_changes: demand.wants_changes,
        })
    }

    /// The forecast of a source that the scheduler itself uses, with the prior of the population.
    pub fn forecast(&self, resource: ResourceIdx, source: SourceIdx) -> Option<Forecast<'_>> {
        self.demand(resource, source).map(|demand| demand.forecast(&self.valuation))
    }

    /// What will be known of a source after a probe.
    pub fn model_after(
        &self,
        resource: ResourceIdx,
        source: SourceIdx,
        probe: &ProbeEvidence,
    ) -> Option<Model> {
        let mut model = self.demand(resource, source)?.model.clone();
        model.observe_among(probe, self.valuation.population.prior(model.prior()));
        Some(model)
    }

    /// What is known of how a source changes.
    pub fn model(&self, resource: ResourceIdx, source: SourceIdx) -> Option<&Model> {
        self.demand(resource, source).map(|demand| &demand.model)
    }
}
