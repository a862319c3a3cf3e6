//! An auditor that keeps its own books from the inputs alone, and judges every choice by them.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::watch::{Choice, HostIdx, HostTerms, Input, Pace, Reason, Terms};

#[derive(Debug, Clone)]
struct Audited {
    terms: Terms,
    last_look: Option<Time>,
    not_before: Option<Time>,
    under_way: bool,
    is_wanted: bool,
    /// The look that is under way was asked for.
    was_wanted: bool,
}

#[derive(Debug, Clone)]
struct AuditedHost {
    terms: HostTerms,
    held_until: Option<Time>,
    under_way: u32,
    purse: Vec<Event>,
}

/// Something that happened to a budget, in the order in which it did.
#[derive(Debug, Clone, Copy)]
enum Event {
    Pace(Time, Option<Pace>),
    Spent { at: Time, cost: f64, source: SourceIdx },
}

impl Event {
    fn is_spent_on(&self, given: SourceIdx) -> bool {
        matches!(self, Self::Spent { source, .. } if *source == given)
    }

    const fn at(&self) -> Time {
        let (Self::Pace(at, _) | Self::Spent { at, .. }) = self;
        *at
    }
}

#[derive(Debug)]
pub(super) struct Audit {
    sources: BTreeMap<SourceIdx, Audited>,
    hosts: BTreeMap<HostIdx, AuditedHost>,
    purse: Vec<Event>,
}

impl Audit {
    pub(super) fn new(begin: Time, budget: Pace) -> Self {
        let (sources, hosts) = (BTreeMap::new(), BTreeMap::new());
        Self { sources, hosts, purse: vec![Event::Pace(begin, Some(budget))] }
    }

    pub(super) fn under_way(&self) -> Vec<SourceIdx> {
        self.sources.iter().filter(|(_, audited)| audited.under_way).map(|(&source, _)| source).collect()
    }

    pub(super) fn told(&mut self, now: Time, input: &Input) {
        match *input {
            Input::Budget(pace) => self.purse.push(Event::Pace(now, Some(pace))),
            Input::Host { host, terms } => {
                let fresh = AuditedHost { terms, held_until: None, under_way: 0, purse: Vec::new() };
                let known = self.hosts.entry(host).or_insert(fresh);
                known.terms = terms;
                known.purse.push(Event::Pace(now, terms.budget));
            }
            Input::Joined { source, terms, last_look, not_before, .. } => {
                self.land(source);
                let [under_way, is_wanted, was_wanted] = [false; 3];
                let audited = Audited { terms, last_look, not_before, under_way, is_wanted, was_wanted };
                self.sources.insert(source, audited);
            }
            Input::Left { source } => {
                self.land(source);
                self.sources.remove(&source);
            }
            Input::Changed { source, terms } => {
                let Some(audited) = self.sources.get_mut(&source) else { return };
                if audited.under_way {
                    self.hosts.get_mut(&audited.terms.host).unwrap().under_way -= 1;
                    self.hosts.get_mut(&terms.host).unwrap().under_way += 1;
                }
                audited.terms = terms;
            }
            Input::Looked { source, .. } => {
                self.land(source);
                let Some(audited) = self.sources.get_mut(&source) else { return };
                (audited.last_look, audited.not_before) = (Some(now), None);
            }
            Input::Failed { source, not_before } => {
                if self.land(source) {
                    let audited = self.sources.get_mut(&source).unwrap();
                    let chosen = self.purse.iter().rfind(|event| event.is_spent_on(source)).unwrap().at();
                    audited.not_before = Some(not_before.max(chosen.plus(audited.terms.shortest_gap)));
                }
            }
            Input::Returned { source } | Input::PutOff { source, .. } => {
                if self.land(source) {
                    let audited = self.sources.get_mut(&source).unwrap();
                    if let Input::PutOff { not_before, .. } = *input {
                        audited.not_before = audited.not_before.max(Some(not_before));
                    }
                    audited.is_wanted |= audited.was_wanted;
                    // As if it had never been chosen: what was not asked of anybody counts nowhere.
                    let chosen = self.purse.iter().rposition(|event| event.is_spent_on(source)).unwrap();
                    let at = self.purse.remove(chosen).at();
                    for host in self.hosts.values_mut() {
                        host.purse.retain(|event| event.at() != at || !event.is_spent_on(source));
                    }
                }
            }
            Input::Held { host, until } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.held_until = Some(until);
                }
            }
            Input::Wanted { source } => {
                if let Some(audited) = self.sources.get_mut(&source) {
                    audited.is_wanted = true;
                }
            }
            // Needs bend no rule.
            Input::CeiArrived { .. } | Input::CeiExtended { .. } | Input::CeiWithdrawn { .. } => {}
        }
    }

    fn land(&mut self, source: SourceIdx) -> bool {
        let Some(audited) = self.sources.get_mut(&source) else { return false };
        let was_under_way = std::mem::take(&mut audited.under_way);
        if was_under_way {
            self.hosts.get_mut(&audited.terms.host).unwrap().under_way -= 1;
        }
        was_under_way
    }

    /// What may be looked at by its own terms and its host's, but for budgets.
    fn may(&self, source: SourceIdx, now: Time) -> Result<(), String> {
        let audited = self.sources.get(&source).ok_or("not watched")?;
        let host = self.hosts.get(&audited.terms.host).ok_or("its host is unknown")?;
        let rested = audited.last_look.map(|at| at.plus(audited.terms.shortest_gap));
        let problems = [
            (audited.under_way, "is under way"),
            (audited.not_before.is_some_and(|at| at > now), "was put off"),
            (!audited.is_wanted && rested.is_some_and(|at| at > now), "was looked at too recently"),
            (host.held_until.is_some_and(|until| until > now), "its host is held"),
            (host.under_way >= host.terms.at_one_time.max(1), "its host is busy"),
        ];
        problems.iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, problem)| Err((*problem).to_owned()))
    }

    pub(super) fn chose(&mut self, now: Time, chosen: &[Choice]) -> Result<(), String> {
        for choice in chosen {
            let source = choice.source;
            self.may(source, now).map_err(|problem| format!("{source:?} {problem} at {now:?}"))?;
            let audited = self.sources.get_mut(&source).unwrap();
            let is_overdue = audited.last_look.is_some_and(|last| {
                last.plus(audited.terms.longest_gap.max(audited.terms.shortest_gap)) <= now
            });
            let is_right = match choice.reason {
                Reason::Wanted => audited.is_wanted,
                Reason::New => audited.last_look.is_none(),
                Reason::Overdue => is_overdue,
                Reason::Worth => choice.value >= choice.price * audited.terms.cost * 0.999_999,
                Reason::Spare => audited.last_look.is_some(),
                Reason::Planned => audited.last_look.is_some() && choice.value > 0.0,
                Reason::Interval => choice.value > 0.0,
            };
            if !is_right {
                return Err(format!("{choice:?} has the wrong reason at {now:?}"));
            }
            audited.was_wanted = choice.reason == Reason::Wanted;
            (audited.under_way, audited.is_wanted) = (true, false);
            let spent = Event::Spent { at: now, cost: audited.terms.cost, source };
            self.purse.push(spent);
            let host = self.hosts.get_mut(&audited.terms.host).unwrap();
            host.under_way += 1;
            host.purse.push(spent);
        }
        Ok(())
    }

    /// Whether all that was spent was there to be spent.
    pub(super) fn budgets(&self, chronon: Duration) -> Result<(), String> {
        left(&self.purse, chronon, None)?;
        for (host, audited) in &self.hosts {
            if audited.terms.budget.is_some() {
                left(&audited.purse, chronon, None).map_err(|problem| format!("{host:?}: {problem}"))?;
            }
        }
        Ok(())
    }

    /// Whether a source could still be looked at although the budget has a whole look left. For worlds in which every
    /// look costs 1 and none was returned.
    pub(super) fn is_idle(&self, now: Time, chronon: Duration) -> Result<(), String> {
        if left(&self.purse, chronon, Some(now))? < 1.0 + 1e-6 {
            return Ok(());
        }
        for (&source, audited) in &self.sources {
            let host = &self.hosts[&audited.terms.host];
            let has_budget =
                host.terms.budget.is_none() || left(&host.purse, chronon, Some(now))? > 1.0 + 1e-6;
            if has_budget && self.may(source, now).is_ok() {
                return Err(format!("{source:?} could be looked at at {now:?}, and the budget is there"));
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
