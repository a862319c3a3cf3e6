//! The live watch without cleverness: every source is evaluated in every chronon, and the best that may be looked at
//! are. No price, no calendar, no queue of a host. It knows the same inputs, value, holds, gaps and budgets as
//! [`Watch`](crate::watch::Watch); it is what that is measured by, in value collected and in time.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use crate::model::{Look, Model};
use crate::value::curve::Curve;
use crate::watch::crowd::Crowd;
use crate::watch::{Choice, HostIdx, HostTerms, Input, Pace, Reason, Settings, Strategy, Terms};

#[derive(Debug, Clone)]
struct Watched {
    terms: Terms,
    model: Model,
    last_look: Option<Time>,
    not_before: Option<Time>,
    under_way_since: Option<Time>,
    is_wanted: bool,
}

#[derive(Debug, Clone)]
struct Host {
    terms: HostTerms,
    held_until: Option<Time>,
    under_way: u32,
    saved: f64,
}

/// All sources, and when to look at which.
#[derive(Debug, Clone)]
pub struct PlainWatch {
    settings: Settings,
    sources: BTreeMap<SourceIdx, Watched>,
    hosts: BTreeMap<HostIdx, Host>,
    crowd: Crowd,
    saved: f64,
    granted_at: Option<Time>,
    is_turn_of_new: bool,
}

impl PlainWatch {
    /// Watches nothing yet. The initial price is not used.
    pub fn new(settings: Settings) -> Self {
        let saved = burst(settings.budget, settings.chronon);
        let (sources, hosts) = (BTreeMap::new(), BTreeMap::new());
        Self {
            settings,
            sources,
            hosts,
            crowd: Crowd::default(),
            saved,
            granted_at: None,
            is_turn_of_new: false,
        }
    }

    /// As [`Watch::apply`](crate::watch::Watch::apply), with a clock that does not go back.
    pub fn apply(&mut self, now: Time, input: Input) {
        match input {
            // Needs that span sources are beyond it.
            Input::CeiArrived { .. } | Input::CeiExtended { .. } | Input::CeiWithdrawn { .. } => {}
            Input::Budget(budget) => {
                self.grant(now);
                self.settings.budget = budget;
            }
            Input::Host { host, terms } => {
                let saved = terms.budget.map_or(0.0, |pace| burst(pace, self.settings.chronon));
                let fresh = Host { terms, held_until: None, under_way: 0, saved };
                self.hosts.entry(host).or_insert(fresh).terms = terms;
            }
            Input::Joined { source, terms, model, last_look, not_before } => {
                self.land(source);
                let watched =
                    Watched { terms, model, last_look, not_before, under_way_since: None, is_wanted: false };
                self.sources.insert(source, watched);
            }
            Input::Left { source } => {
                self.land(source);
                self.sources.remove(&source);
            }
            Input::Changed { source, terms } => {
                if let Some(watched) = self.sources.get_mut(&source) {
                    watched.terms = terms;
                }
            }
            Input::Looked { source, seen } => {
                self.land(source);
                let Some(watched) = self.sources.get_mut(&source) else { return };
                let look = Look { since: watched.last_look, at: now, seen };
                self.crowd.looked(&watched.model, &look);
                watched.model.observe_among(&look, self.crowd.prior(watched.model.prior()));
                watched.last_look = Some(now);
                watched.not_before = None;
            }
            Input::Failed { source, not_before } => {
                let since = self.land(source);
                if let Some((watched, since)) = self.sources.get_mut(&source).zip(since) {
                    watched.not_before = Some(not_before.max(since.plus(watched.terms.shortest_gap)));
                }
            }
            Input::Returned { source } | Input::PutOff { source, .. } => {
                let since = self.land(source);
                if let Some((watched, _)) = self.sources.get_mut(&source).zip(since) {
                    if let Input::PutOff { not_before, .. } = input {
                        watched.not_before = watched.not_before.max(Some(not_before));
                    }
                    self.saved += watched.terms.cost;
                    if let Some(host) = self.hosts.get_mut(&watched.terms.host) {
                        host.saved += watched.terms.cost;
                    }
                }
            }
            Input::Held { host, until } => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.held_until = Some(until);
                }
            }
            Input::Wanted { source } => {
                if let Some(watched) = self.sources.get_mut(&source) {
                    watched.is_wanted = true;
                }
            }
        }
    }

    fn land(&mut self, source: SourceIdx) -> Option<Time> {
        let watched = self.sources.get_mut(&source)?;
        let since = watched.under_way_since.take()?;
        if let Some(host) = self.hosts.get_mut(&watched.terms.host) {
            host.under_way = host.under_way.saturating_sub(1);
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

    /// As [`Watch::choose`](crate::watch::Watch::choose).
    pub fn choose(&mut self, now: Time, room: usize, chosen: &mut Vec<Choice>) {
        self.grant(now);
        let mut candidates: Vec<(Reason, f64, SourceIdx)> = Vec::new();
        for (&source, watched) in &self.sources {
            let rested = watched.last_look.map(|at| at.plus(watched.terms.shortest_gap));
            let is_rested = watched.is_wanted || rested.is_none_or(|at| at <= now);
            if watched.under_way_since.is_some()
                || !is_rested
                || watched.not_before.is_some_and(|at| at > now)
            {
                continue;
            }
            let (reason, rank) = match watched.last_look {
                _ if watched.is_wanted => (Reason::Wanted, 0.0),
                None => (Reason::New, 0.0),
                Some(last) if last.plus(watched.terms.longest_gap) <= now => {
                    (Reason::Overdue, now.since(last.plus(watched.terms.longest_gap)).as_secs_f64())
                }
                Some(last) => (Reason::Worth, self.value(watched, last, now) / watched.terms.cost),
            };
            candidates.push((reason, rank, source));
        }
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
        let mut by_reason = [Reason::Wanted, Reason::Overdue, Reason::New, Reason::Worth].map(|reason| {
            let of_it = candidates.iter().filter(move |candidate| candidate.0 == reason);
            of_it.map(|&(_, rank, source)| (rank, source)).peekable()
        });
        let most = chosen.len().saturating_add(room);
        while chosen.len() < most {
            let [wanted, overdue, new, worth] = &mut by_reason;
            let is_known_ready = overdue.peek().is_some() || worth.peek().is_some();
            let (reason, next) = if wanted.peek().is_some() {
                (Reason::Wanted, wanted.next())
            } else if new.peek().is_some() && (self.is_turn_of_new || !is_known_ready) {
                (Reason::New, new.next())
            } else if overdue.peek().is_some() {
                (Reason::Overdue, overdue.next())
            } else {
                (Reason::Worth, worth.next())
            };
            let Some((rank, source)) = next else { break };
            let Some(watched) = self.sources.get_mut(&source) else { continue };
            let Some(host) = self.hosts.get_mut(&watched.terms.host) else { continue };
            let chronon = self.settings.chronon;
            let cost = watched.terms.cost;
            let is_held = host.held_until.is_some_and(|until| until > now);
            let affords = |saved: f64, pace| saved + 1e-9 >= cost.min(burst(pace, chronon));
            let is_poor = host.terms.budget.is_some_and(|pace| !affords(host.saved, pace));
            if is_held || is_poor || host.under_way >= host.terms.at_one_time.max(1) {
                continue;
            }
            if !affords(self.saved, self.settings.budget) {
                break;
            }
            host.under_way += 1;
            host.saved -= cost;
            self.saved -= cost;
            if reason != Reason::Wanted {
                self.is_turn_of_new = reason != Reason::New;
            }
            watched.is_wanted = false;
            watched.under_way_since = Some(now);
            chosen.push(Choice { source, reason, value: rank * cost, price: 0.0 });
        }
    }

    fn value(&self, watched: &Watched, last: Time, now: Time) -> f64 {
        match self.settings.strategy {
            Strategy::RoundRobin => now.since(last).as_secs_f64(),
            Strategy::Learned => {
                let forecast = self.crowd.forecast(&watched.model);
                Curve::new(&watched.terms.value, forecast, last, self.settings.chronon).at(now)
            }
            // The best at every moment, without a plan.
            Strategy::Cam { .. } => {
                watched.terms.value.weight * self.crowd.forecast(&watched.model).probability(last, now)
            }
        }
    }
}

fn burst(pace: Pace, chronon: Duration) -> f64 {
    let worth = pace.per_second * chronon.as_secs_f64();
    if worth.fract() == 0.0 { worth.max(1.0) } else { worth + 1.0 }
}
