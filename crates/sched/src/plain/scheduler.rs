//! The live scheduler in its simplest form: every resource is evaluated in every chronon, and the best that may be probed
//! are. No price, no review queue, no queue of a host. It knows the same inputs, value, holds, gaps and budgets as
//! [`Scheduler`](crate::scheduler::Scheduler); it is what that is measured by, in value collected and in time. A resource has one
//! source here, the last that was added.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};

use crate::model::{Model, ProbeEvidence};
use crate::scheduler::population::PopulationPrior;
use crate::scheduler::{
    Choice, HostIdx, HostTerms, Input, Pace, Reason, Settings, ShownTo, SourceTerms, Strategy,
};
use crate::value::curve::Curve;

#[derive(Debug, Clone)]
struct Resource {
    source: SourceIdx,
    terms: SourceTerms,
    model: Model,
    last_probe: Option<Time>,
    not_before: Option<Time>,
    in_flight_since: Option<Time>,
    is_requested: bool,
}

#[derive(Debug, Clone)]
struct Host {
    terms: HostTerms,
    held_until: Option<Time>,
    in_flight: u32,
    saved: f64,
}

/// All resources, and when to probe which.
#[derive(Debug, Clone)]
pub struct PlainScheduler {
    settings: Settings,
    resources: BTreeMap<ResourceIdx, Resource>,
    hosts: BTreeMap<HostIdx, Host>,
    population: PopulationPrior,
    saved: f64,
    granted_at: Option<Time>,
    is_turn_of_new: bool,
}

impl PlainScheduler {
    /// Watches nothing yet. The initial price is not used.
    pub fn new(settings: Settings) -> Self {
        let saved = burst(settings.budget, settings.chronon);
        let (resources, hosts) = (BTreeMap::new(), BTreeMap::new());
        Self {
            settings,
            resources,
            hosts,
            population: PopulationPrior::default(),
            saved,
            granted_at: None,
            is_turn_of_new: false,
        }
    }

    /// As [`Scheduler::apply`](crate::scheduler::Scheduler::apply), with a clock that does not go back.
    pub fn apply(&mut self, now: Time, input: Input) {
        match input {
            // It does not know needs that span sources.
            Input::CeiArrived { .. } | Input::CeiExtended { .. } | Input::CeiWithdrawn { .. } => {}
            Input::Budget(budget) => {
                self.grant(now);
                self.settings.budget = budget;
            }
            Input::Granted { units } => (self.saved, self.granted_at) = (units.max(0.0), Some(now)),
            Input::Host { host, terms } => {
                let saved = terms.budget.map_or(0.0, |pace| burst(pace, self.settings.chronon));
                let fresh = Host { terms, held_until: None, in_flight: 0, saved };
                self.hosts.entry(host).or_insert(fresh).terms = terms;
            }
            Input::SourceAdded { resource: index, source, terms, model, last_probe, not_before } => {
                self.end_probe(index);
                let resource = Resource {
                    source,
                    terms,
                    model,
                    last_probe,
                    not_before,
                    in_flight_since: None,
                    is_requested: false,
                };
                self.resources.insert(index, resource);
            }
            Input::SourceRemoved { resource: index, .. } => {
                self.end_probe(index);
                self.resources.remove(&index);
            }
            Input::Probed { resource: index, shown } => {
                self.end_probe(index);
                let Some(resource) = self.resources.get_mut(&index) else { return };
                let Some(ShownTo::Evidence(evidence)) = shown.to(resource.source) else { return };
                let probe = ProbeEvidence { since: resource.last_probe, at: now, evidence };
                self.population.observe(&resource.model, &probe);
                resource.model.observe_among(&probe, self.population.prior(resource.model.prior()));
                resource.last_probe = Some(now);
                resource.not_before = None;
            }
            Input::ProbeFailed { resource: index, not_before } => {
                let since = self.end_probe(index);
                if let Some((resource, since)) = self.resources.get_mut(&index).zip(since) {
                    resource.not_before = Some(not_before.max(since.plus(resource.terms.shortest_gap)));
                }
            }
            Input::ProbeReturned { resource: index } | Input::ProbePostponed { resource: index, .. } => {
                let since = self.end_probe(index);
                if let Some((resource, _)) = self.resources.get_mut(&index).zip(since) {
                    if let Input::ProbePostponed { not_before, .. } = input {
                        resource.not_before = resource.not_before.max(Some(not_before));
                    }
                    self.saved += resource.terms.cost;
                    if let Some(host) = self.hosts.get_mut(&resource.terms.host) {
                        host.saved += resource.terms.cost;
                    }
                }
            }
            Input::HostHeld { host, until } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.held_until = Some(until);
                }
            }
            Input::ProbeRequested { resource: index } => {
                if let Some(resource) = self.resources.get_mut(&index) {
                    resource.is_requested = true;
                }
            }
            Input::ProbeBegan { resource: index } => {
                let resource = self.resources.get_mut(&index);
                resource
                    .into_iter()
                    .for_each(|resource| resource.in_flight_since = resource.in_flight_since.and(Some(now)));
            }
        }
    }

    fn end_probe(&mut self, index: ResourceIdx) -> Option<Time> {
        let resource = self.resources.get_mut(&index)?;
        let since = resource.in_flight_since.take()?;
        if let Some(host) = self.hosts.get_mut(&resource.terms.host) {
            host.in_flight = host.in_flight.saturating_sub(1);
        }
        Some(since)
    }

    fn grant(&mut self, now: Time) {
        let Settings { budget, chronon, .. } = self.settings;
        let passed = self.granted_at.map_or(Duration::ZERO, |at| now.since(at)).as_secs_f64();
        self.saved = (self.saved + passed * budget.per_second).min(burst(budget, chronon));
        for host in self.hosts.values_mut() {
            if let Some(pace) = host.terms.budget {
                host.saved = (host.saved + passed * pace.per_second).min(burst(pace, chronon));
            }
        }
        self.granted_at = Some(now);
    }

    /// As [`Scheduler::choose`](crate::scheduler::Scheduler::choose).
    pub fn choose(&mut self, now: Time, room: usize, chosen: &mut Vec<Choice>) {
        self.grant(now);
        let mut candidates: Vec<(Reason, f64, ResourceIdx)> = Vec::new();
        for (&index, resource) in &self.resources {
            let rested = resource.last_probe.map(|at| at.plus(resource.terms.shortest_gap));
            let is_rested = resource.is_requested || rested.is_none_or(|at| at <= now);
            if resource.in_flight_since.is_some()
                || !is_rested
                || resource.not_before.is_some_and(|at| at > now)
            {
                continue;
            }
            let (reason, rank) = match resource.last_probe {
                _ if resource.is_requested => (Reason::Requested, 0.0),
                None => (Reason::New, 0.0),
                Some(last) if last.plus(resource.terms.longest_gap) <= now => {
                    (Reason::Overdue, now.since(last.plus(resource.terms.longest_gap)).as_secs_f64())
                }
                Some(last) => (Reason::Worth, self.value(resource, last, now) / resource.terms.cost),
            };
            candidates.push((reason, rank, index));
        }
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        let mut by_reason = [Reason::Requested, Reason::Overdue, Reason::New, Reason::Worth].map(|reason| {
            let of_it = candidates.iter().filter(move |candidate| candidate.0 == reason);
            of_it.map(|&(_, rank, index)| (rank, index)).peekable()
        });
        let most = chosen.len().saturating_add(room);
        while chosen.len() < most {
            let [requested, overdue, new, worth] = &mut by_reason;
            let is_known_ready = overdue.peek().is_some() || worth.peek().is_some();
            let (reason, next) = if requested.peek().is_some() {
                (Reason::Requested, requested.next())
            } else if new.peek().is_some() && (self.is_turn_of_new || !is_known_ready) {
                (Reason::New, new.next())
            } else if overdue.peek().is_some() {
                (Reason::Overdue, overdue.next())
            } else {
                (Reason::Worth, worth.next())
            };
            let Some((rank, index)) = next else { break };
            let Some(resource) = self.resources.get_mut(&index) else { continue };
            let Some(host) = self.hosts.get_mut(&resource.terms.host) else { continue };
            let chronon = self.settings.chronon;
            let cost = resource.terms.cost;
            let is_held = host.held_until.is_some_and(|until| until > now);
            let affords = |saved: f64, pace| saved + 1e-9 >= cost.min(burst(pace, chronon));
            let is_poor = host.terms.budget.is_some_and(|pace| !affords(host.saved, pace));
            if is_held || is_poor || host.in_flight >= host.terms.at_one_time.max(1) {
                continue;
            }
            if !affords(self.saved, self.settings.budget) {
                break;
            }
            host.in_flight += 1;
            host.saved -= cost;
            self.saved -= cost;
            if reason != Reason::Requested {
                self.is_turn_of_new = reason != Reason::New;
            }
            resource.is_requested = false;
            resource.in_flight_since = Some(now);
            chosen.push(Choice { resource: index, reason, value: rank * cost, price: 0.0 });
        }
    }

    fn value(&self, resource: &Resource, last: Time, now: Time) -> f64 {
        match self.settings.strategy {
            Strategy::RoundRobin => now.since(last).as_secs_f64(),
            Strategy::Learned => {
                let forecast = self.population.forecast(&resource.model);
                Curve::new(&resource.terms.value, forecast, last, self.settings.chronon).at(now)
            }
            // The best at every moment, without a plan.
            Strategy::Cam { .. } => {
                resource.terms.value.weight * self.population.forecast(&resource.model).probability(last, now)
            }
        }
    }
}

fn burst(pace: Pace, chronon: Duration) -> f64 {
    let worth = pace.per_second * chronon.as_secs_f64();
    if worth.fract() == 0.0 { worth.max(1.0) } else { worth + 1.0 }
}
