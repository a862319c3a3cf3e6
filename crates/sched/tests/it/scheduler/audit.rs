//! An auditor that keeps its own books from the inputs alone, and judges every choice by them.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::scheduler::{Choice, HostIdx, HostTerms, Input, Pace, Reason, ShownTo, SourceTerms};

#[derive(Debug, Clone)]
struct Audited {
    host: HostIdx,
    cost: f64,
    sources: BTreeMap<SourceIdx, AuditedSource>,
    in_flight: bool,
    /// When the request of the probe in flight went out, if that was later than it was chosen.
    began: Option<Time>,
    is_requested: bool,
    /// The probe that is in flight was asked for.
    was_requested: bool,
}

#[derive(Debug, Clone)]
struct AuditedSource {
    terms: SourceTerms,
    last_probe: Option<Time>,
    not_before: Option<Time>,
}

impl AuditedSource {
    fn is_put_off(&self, now: Time) -> bool {
        self.not_before.is_some_and(|at| at > now)
    }

    fn is_rested(&self, now: Time) -> bool {
        self.last_probe.is_none_or(|at| at.plus(self.terms.shortest_gap) <= now)
    }

    fn is_overdue(&self, now: Time) -> bool {
        let longest = self.terms.longest_gap.max(self.terms.shortest_gap);
        self.last_probe.is_some_and(|last| last.plus(longest) <= now)
    }
}

#[derive(Debug, Clone)]
struct AuditedHost {
    terms: HostTerms,
    held_until: Option<Time>,
    in_flight: u32,
    bucket: Vec<Event>,
}

/// Something that happened to a budget, in the order in which it did.
#[derive(Debug, Clone, Copy)]
enum Event {
    Pace(Time, Option<Pace>),
    Spent { at: Time, cost: f64, resource: ResourceIdx },
}

impl Event {
    fn is_spent_on(&self, given: ResourceIdx) -> bool {
        matches!(self, Self::Spent { resource, .. } if *resource == given)
    }

    const fn at(&self) -> Time {
        let (Self::Pace(at, _) | Self::Spent { at, .. }) = self;
        *at
    }
}

#[derive(Debug)]
pub(super) struct Audit {
    resources: BTreeMap<ResourceIdx, Audited>,
    hosts: BTreeMap<HostIdx, AuditedHost>,
    bucket: Vec<Event>,
}

impl Audit {
    pub(super) fn new(begin: Time, budget: Pace) -> Self {
        let (resources, hosts) = (BTreeMap::new(), BTreeMap::new());
        Self { resources, hosts, bucket: vec![Event::Pace(begin, Some(budget))] }
    }

    pub(super) fn in_flight(&self) -> Vec<ResourceIdx> {
        self.resources.iter().filter(|(_, audited)| audited.in_flight).map(|(&index, _)| index).collect()
    }

    pub(super) fn record_input(&mut self, now: Time, input: &Input) {
        match *input {
            Input::Budget(pace) => self.bucket.push(Event::Pace(now, Some(pace))),
            Input::Host { host, terms } => {
                let fresh = AuditedHost { terms, held_until: None, in_flight: 0, bucket: Vec::new() };
                let known = self.hosts.entry(host).or_insert(fresh);
                known.terms = terms;
                known.bucket.push(Event::Pace(now, terms.budget));
            }
            Input::SourceAdded { resource, source, terms, last_probe, not_before, .. } => {
                self.remove(resource, source);
                let fresh = Audited {
                    host: terms.host,
                    cost: terms.cost,
                    sources: BTreeMap::new(),
                    in_flight: false,
                    began: None,
                    is_requested: false,
                    was_requested: false,
                };
                let audited = self.resources.entry(resource).or_insert(fresh);
                audited.sources.insert(source, AuditedSource { terms, last_probe, not_before });
            }
            Input::SourceRemoved { resource, source } => self.remove(resource, source),
            Input::Probed { resource, ref shown } => {
                let since = self.began_at(resource);
                self.end_probe(resource);
                let Some(audited) = self.resources.get_mut(&resource) else { return };
                for (source, audited) in &mut audited.sources {
                    match shown.to(*source) {
                        Some(ShownTo::Evidence(_)) => {
                            (audited.last_probe, audited.not_before) = (Some(now), None);
                        }
                        Some(ShownTo::Unreadable { not_before }) => {
                            let rested = since.unwrap_or(now).plus(audited.terms.shortest_gap);
                            audited.not_before = Some(not_before.max(rested));
                        }
                        None => {}
                    }
                }
            }
            Input::ProbeFailed { resource, not_before } => {
                let since = self.began_at(resource);
                if self.end_probe(resource) {
                    for source in self.resources.get_mut(&resource).unwrap().sources.values_mut() {
                        let rested = since.unwrap().plus(source.terms.shortest_gap);
                        source.not_before = Some(not_before.max(rested));
                    }
                }
            }
            Input::ProbeReturned { resource } | Input::ProbePostponed { resource, .. } => {
                if self.end_probe(resource) {
                    let audited = self.resources.get_mut(&resource).unwrap();
                    if let Input::ProbePostponed { not_before, .. } = *input {
                        for source in audited.sources.values_mut() {
                            source.not_before = source.not_before.max(Some(not_before));
                        }
                    }
                    audited.is_requested |= audited.was_requested;
                    // As if it had never been chosen: what was not asked of anybody counts nowhere.
                    let chosen = self.bucket.iter().rposition(|event| event.is_spent_on(resource)).unwrap();
                    let at = self.bucket.remove(chosen).at();
                    for host in self.hosts.values_mut() {
                        host.bucket.retain(|event| event.at() != at || !event.is_spent_on(resource));
                    }
                }
            }
            Input::HostHeld { host, until } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.held_until = Some(until);
                }
            }
            Input::ProbeRequested { resource } => {
                if let Some(audited) = self.resources.get_mut(&resource) {
                    audited.is_requested = true;
                }
            }
            Input::ProbeBegan { resource } => {
                if let Some(audited) = self.resources.get_mut(&resource) {
                    audited.began = Some(now).filter(|_| audited.in_flight);
                }
            }
            // Needs bend no rule.
            Input::Granted { .. }
            | Input::CeiArrived { .. }
            | Input::CeiExtended { .. }
            | Input::CeiWithdrawn { .. } => {}
        }
    }

    fn began_at(&self, resource: ResourceIdx) -> Option<Time> {
        let began = self.resources.get(&resource).and_then(|audited| audited.began);
        began.or_else(|| self.chosen_at(resource))
    }

    fn chosen_at(&self, resource: ResourceIdx) -> Option<Time> {
        self.bucket.iter().rfind(|event| event.is_spent_on(resource)).map(Event::at)
    }

    fn remove(&mut self, resource: ResourceIdx, source: SourceIdx) {
        let Some(audited) = self.resources.get_mut(&resource) else { return };
        if audited.sources.remove(&source).is_some() && audited.sources.is_empty() {
            self.end_probe(resource);
            self.resources.remove(&resource);
        }
    }

    fn end_probe(&mut self, resource: ResourceIdx) -> bool {
        let Some(audited) = self.resources.get_mut(&resource) else { return false };
        let was_in_flight = std::mem::take(&mut audited.in_flight);
        audited.began = None;
        if was_in_flight {
            self.hosts.get_mut(&audited.host).unwrap().in_flight -= 1;
        }
        was_in_flight
    }

    /// The sources of a resource, for a probe that shows something to some of them only.
    pub(super) fn sources(&self, resource: ResourceIdx) -> Vec<SourceIdx> {
        self.resources
            .get(&resource)
            .map_or_else(Vec::new, |audited| audited.sources.keys().copied().collect())
    }

    /// What may be probed by the terms of its sources and its host's, but for budgets.
    fn may(&self, resource: ResourceIdx, now: Time) -> Result<(), String> {
        let audited = self.resources.get(&resource).ok_or("not watched")?;
        let host = self.hosts.get(&audited.host).ok_or("its host is unknown")?;
        let serves = |source: &AuditedSource| {
            !source.is_put_off(now) && (audited.is_requested || source.is_rested(now))
        };
        let problems = [
            (audited.in_flight, "is under way"),
            (!audited.sources.values().any(serves), "was put off, or was probed too recently"),
            (host.held_until.is_some_and(|until| until > now), "its host is held"),
            (host.in_flight >= host.terms.at_one_time.max(1), "its host is busy"),
        ];
        problems.iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, problem)| Err((*problem).to_owned()))
    }

    pub(super) fn chose(&mut self, now: Time, chosen: &[Choice]) -> Result<(), String> {
        for choice in chosen {
            let resource = choice.resource;
            self.may(resource, now).map_err(|problem| format!("{resource:?} {problem} at {now:?}"))?;
            let audited = self.resources.get_mut(&resource).unwrap();
            let mut sources = audited.sources.values().filter(|source| !source.is_put_off(now));
            let is_known = || audited.sources.values().any(|source| source.last_probe.is_some());
            let is_right = match choice.reason {
                Reason::Requested => audited.is_requested,
                Reason::New => sources.any(|source| source.last_probe.is_none()),
                Reason::Overdue => sources.any(|source| source.is_overdue(now)),
                Reason::Worth => choice.value >= choice.price * audited.cost * 0.999_999,
                Reason::Spare => is_known(),
                Reason::Planned => is_known() && choice.value > 0.0,
                Reason::Interval => choice.value > 0.0,
            };
            if !is_right {
                return Err(format!("{choice:?} has the wrong reason at {now:?}"));
            }
            audited.was_requested = choice.reason == Reason::Requested;
            (audited.in_flight, audited.is_requested) = (true, false);
            let spent = Event::Spent { at: now, cost: audited.cost, resource };
            self.bucket.push(spent);
            let host = self.hosts.get_mut(&audited.host).unwrap();
            host.in_flight += 1;
            host.bucket.push(spent);
        }
        Ok(())
    }

    /// Whether all that was spent was there to be spent.
    pub(super) fn budgets(&self, chronon: Duration) -> Result<(), String> {
        left(&self.bucket, chronon, None)?;
        for (host, audited) in &self.hosts {
            if audited.terms.budget.is_some() {
                left(&audited.bucket, chronon, None).map_err(|problem| format!("{host:?}: {problem}"))?;
            }
        }
        Ok(())
    }

    /// Whether a source could still be probed although the budget has a whole probe left. For worlds in which every
    /// probe costs 1 and none was returned.
    pub(super) fn is_idle(&self, now: Time, chronon: Duration) -> Result<(), String> {
        if left(&self.bucket, chronon, Some(now))? < 1.0 + 1e-6 {
            return Ok(());
        }
        for (&resource, audited) in &self.resources {
            let host = &self.hosts[&audited.host];
            let has_budget =
                host.terms.budget.is_none() || left(&host.bucket, chronon, Some(now))? > 1.0 + 1e-6;
            if has_budget && self.may(resource, now).is_ok() {
                return Err(format!("{resource:?} could be probed at {now:?}, and the budget is there"));
            }
        }
        Ok(())
    }
}

/// A bucket that starts full, filled at the paces and drained by what was spent: what is in it at `now`.
fn left(events: &[Event], chronon: Duration, now: Option<Time>) -> Result<f64, String> {
    let per_second = |pace: Option<Pace>| pace.map_or(0.0, |pace| pace.per_second);
    let burst = |pace| {
        let worth: f64 = per_second(pace) * chronon.as_secs_f64();
        if worth.fract() == 0.0 { worth.max(1.0) } else { worth + 1.0 }
    };
    let Event::Pace(mut filled_at, mut pace) = events[0] else { return Err("no pace to begin with".into()) };
    let mut level = burst(pace);
    let fill = |level: f64, pace, from, to: Time| {
        (level + per_second(pace) * to.since(from).as_secs_f64()).min(burst(pace))
    };
    for event in events {
        (level, filled_at) = (fill(level, pace, filled_at, event.at()), event.at());
        match *event {
            Event::Pace(_, another) => (pace, level) = (another, level.min(burst(another))),
            Event::Spent { at, cost, .. } => {
                if level + 1e-6 < cost.min(burst(pace)) {
                    return Err(format!("{cost} was spent at {at:?}, but only {level} was there"));
                }
                level -= cost;
            }
        }
    }
    Ok(now.map_or(level, |now| fill(level, pace, filled_at, now)))
}
