//! Which sources to look at now, in wall-clock time: many sources, hosts that want to be left alone, a budget per
//! second, and forecasts learned from what the looks show. The live service and the lab run this same value.
//!
//! A source's worth since its last look is a curve; it has a next time at which it reaches the price of a look. Those
//! times are kept in a calendar, and the price adapts to the budget, so a chronon costs no more than what happens in
//! it: a source is evaluated when its time has come, when it is chosen, and when something is told about it.
//!
//! Everything that can sway a decision comes in as an [`Input`] or as an argument of [`Watch::choose`], so a
//! recorded run can be fed to a new `Watch` and gives the same choices. It never fetches and has no clock.
//!
//! Invariants: no more is chosen than the budget grants (a rate with a burst of one chronon's worth, at least
//! one look, and one more where that is no whole number); a source that is under way is not chosen again until it is told how that went; no source of a host is
//! chosen while the host is held, is at its number of looks at one time, or is out of its own budget.

mod calendar;
mod choose;
pub(crate) mod crowd;
mod explain;
mod host;
mod input;
mod intervals;
pub mod journal;
mod place;
mod planning;
mod price;
mod purse;
mod queues;
mod reason;
mod slab;
mod source;

pub use input::{CeiId, HostIdx, HostTerms, Input, Interval, Pace, Strategy, Terms};
pub use reason::{CeiEvent, Choice, Explanation, Figures, Hold, Reason};

use std::collections::BTreeSet;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use crate::forecast::Forecast;
use crate::model::{Look, Model, Seen};
use crate::policy::marginal::SideWorth;
use calendar::Calendar;
use crowd::Crowd;
use host::Host;
use intervals::Intervals;
use place::Counts;
use planning::Planning;
use price::Price;
use purse::Purse;
use queues::Queues;
use slab::Slab;
use source::{Measure, Place, Watched};

/// How a watch decides, for good.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// The step of time: [`Watch::choose`] is called once in each.
    pub chronon: Duration,
    /// What a look is worth.
    pub strategy: Strategy,
    /// Looks per second, over all sources.
    pub budget: Pace,
    /// The price to begin with, for instance that of the run before ([`Figures::price`]). `None`: find one.
    pub initial_price: Option<f64>,
}

/// A clock that is set back by no more than this is waited for; by more, it is believed.
const STANDSTILL: Duration = Duration::from_secs(10);

/// All sources, and when to look at which.
#[derive(Debug, Clone)]
pub struct Watch {
    settings: Settings,
    measure: Measure,
    sources: Slab<Watched>,
    hosts: Slab<Host>,
    /// Sources that cannot be looked at before a time of their own.
    asleep: Calendar,
    /// Sources that could be, by the time at which they are reviewed.
    awake: Calendar,
    /// Sources that wait for the budget.
    queues: Queues,
    /// Hosts with waiting sources that are free at a known time.
    wakes: BTreeSet<(Time, HostIdx)>,
    counts: Counts,
    purse: Purse,
    price: Price,
    /// The plan, if there is to be one.
    planning: Option<Planning>,
    /// Needs that span sources, once there has been one.
    intervals: Option<Box<Intervals>>,
    /// The share of the worth of a probe for changes that is lost if it is not made, as learned from those that were.
    lost_share: f64,
    latest: Option<Time>,
    refreshed_at: Option<Time>,
}

impl Watch {
    /// Watches nothing yet.
    pub fn new(mut settings: Settings) -> Self {
        settings.chronon = settings.chronon.max(Duration::from_micros(1));
        let planning = Planning::new(settings.strategy, settings.chronon, settings.initial_price);
        Self {
            sources: Slab::new(),
            hosts: Slab::new(),
            asleep: Calendar::new(settings.chronon),
            awake: Calendar::new(settings.chronon),
            queues: Queues::default(),
            wakes: BTreeSet::new(),
            counts: Counts::default(),
            purse: Purse::new(settings.budget, settings.chronon),
            price: if planning.is_some() { Price::none() } else { Price::new(settings.initial_price) },
            planning,
            intervals: None,
            lost_share: 1.0,
            latest: None,
            refreshed_at: None,
            measure: Measure {
                strategy: settings.strategy,
                chronon: settings.chronon,
                crowd: Crowd::default(),
            },
            settings,
        }
    }

    /// Takes in something that may sway what is chosen from now on. Inputs about unknown sources are ignored.
    pub fn apply(&mut self, now: Time, input: Input) {
        let now = self.arrive_at(now);
        match input {
            Input::Budget(budget) => {
                self.purse.fill(now);
                self.purse.set_pace(budget, self.settings.chronon);
                self.settings.budget = budget;
                self.intervals.iter_mut().for_each(|intervals| intervals.set_pace(budget));
                self.planning.iter_mut().for_each(Planning::budget_changed);
            }
            Input::Host { host, terms } => {
                let chronon = self.settings.chronon;
                if let Some(known) = self.host_entry(host) {
                    known.set_terms(terms, chronon, now);
                    self.turn(host, now);
                }
            }
            Input::Joined { source, terms, model, last_look, not_before } => {
                self.leave(source, now);
                let last_look = last_look.map(|at| at.min(now));
                let place = Place::NOWHERE;
                let (planned, plan_number) = (Vec::new(), 0);
                let watched = Watched {
                    terms,
                    model,
                    last_look,
                    last_gap: Duration::ZERO,
                    not_before,
                    place,
                    is_wanted: false,
                    planned,
                    plan_number,
                };
                if self.host_entry(terms.host).is_some() && self.sources.insert(source.0, watched).is_some() {
                    self.counts.moved(None, Some(place));
                    self.settle(source, now);
                    self.plan_stranger(source, now);
                }
            }
            Input::Left { source } => self.leave(source, now),
            Input::Changed { source, terms } => self.changed(now, source, terms),
            Input::Looked { source, seen } => self.looked(now, source, seen),
            Input::Failed { source, not_before } => {
                if let Some(since) = self.land(source, now, false).map(|flight| flight.since)
                    && let Some(watched) = self.sources.get_mut(source.0)
                {
                    // What failed has been asked for all the same.
                    watched.not_before = Some(not_before.max(since.plus(watched.terms.shortest_gap)));
                    self.settle(source, now);
                }
            }
            Input::Returned { source } => self.returned(now, source, None),
            Input::PutOff { source, not_before } => self.returned(now, source, Some(not_before)),
            Input::Held { host, until } => {
                if let Some(known) = self.hosts.get_mut(host.0) {
                    known.held_until = Some(until);
                    self.turn(host, now);
                }
            }
            Input::Wanted { source } => {
                if let Some(watched) = self.sources.get_mut(source.0) {
                    watched.is_wanted = true;
                    self.settle(source, now);
                }
            }
            Input::CeiArrived { cei, intervals, need, weight } => {
                self.price_intervals(now, &intervals);
                self.intervals_entry(now).arrive(now, cei, intervals, need, weight);
            }
            Input::CeiExtended { cei, intervals, need } => {
                self.price_intervals(now, &intervals);
                self.intervals_entry(now).extend(now, cei, intervals, need);
            }
            Input::CeiWithdrawn { cei } => self.intervals_entry(now).withdraw(cei),
        }
    }

    fn intervals_entry(&mut self, now: Time) -> &mut Intervals {
        let (chronon, budget) = (self.settings.chronon, self.settings.budget);
        self.intervals.get_or_insert_with(|| Box::new(Intervals::new(chronon, budget, now)))
    }

    /// Tells the plan what probes for these intervals cost.
    fn price_intervals(&mut self, now: Time, intervals: &[Interval]) {
        for interval in intervals {
            let Some(watched) = self.sources.get(interval.source.0) else { continue };
            let cost = watched.cost();
            let side = self.side_worth(watched, now);
            let intervals = self.intervals_entry(now);
            intervals.set_cost(interval.source, cost);
            intervals.set_side_worth(interval.source, side);
        }
    }

    /// What a probe for an interval would bring those who wait for changes of the same source.
    fn side_worth(&self, watched: &Watched, now: Time) -> SideWorth {
        let Some(last) = watched.last_look else { return SideWorth::default() };
        let worth = watched.worth(&self.measure, now) * self.lost_share;
        let chronons = now.since(last).div_duration_f64(self.settings.chronon).max(1.0);
        SideWorth { worth, loss: worth / chronons }
    }

    /// What became of needs since this was last asked, in order.
    pub fn take_cei_events(&mut self) -> Vec<CeiEvent> {
        self.intervals.as_mut().map_or_else(Vec::new, |intervals| intervals.take_events())
    }

    fn leave(&mut self, source: SourceIdx, now: Time) {
        self.land(source, now, false);
        let Some(gone) = self.sources.remove(source.0) else { return };
        self.counts.moved(Some(gone.place), None);
        self.turn(gone.terms.host, now);
    }

    fn changed(&mut self, now: Time, source: SourceIdx, terms: Terms) {
        if self.host_entry(terms.host).is_none() {
            return;
        }
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        let (before, cost) = (watched.terms.host, watched.cost());
        watched.terms = terms;
        watched.plan_number = 0;
        let is_same = before == terms.host && cost == watched.cost();
        if let Place::UnderWay(flight) = &mut watched.place {
            flight.is_refundable &= is_same;
            if before != terms.host {
                self.hosts.get_mut(before.0).into_iter().for_each(Host::end);
                self.hosts.get_mut(terms.host.0).into_iter().for_each(Host::adopt);
                self.turn(before, now);
            }
            return;
        }
        self.settle(source, now);
        self.plan_stranger(source, now);
        self.turn(before, now);
    }

    fn looked(&mut self, now: Time, source: SourceIdx, seen: Seen) {
        self.land(source, now, true);
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        let look = Look { since: watched.last_look, at: now, seen };
        if watched.terms.wants_changes {
            self.measure.crowd.looked(&watched.model, &look);
            watched.model.observe_among(&look, self.measure.crowd.prior(watched.model.prior()));
        }
        watched.last_gap = look.since.map_or(Duration::ZERO, |since| now.since(since));
        watched.last_look = Some(now);
        watched.not_before = None;
        watched.planned_until(now);
        self.settle(source, now);
        self.plan_stranger(source, now);
    }

    fn returned(&mut self, now: Time, source: SourceIdx, not_before: Option<Time>) {
        let Some(flight) = self.land(source, now, false) else { return };
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        watched.is_wanted |= flight.was_wanted;
        watched.not_before = watched.not_before.max(not_before);
        let (cost, host) = (watched.cost(), watched.terms.host);
        if flight.is_refundable {
            self.purse.give_back(cost, flight.since, now);
            self.hosts.get_mut(host.0).into_iter().for_each(|host| host.give_back(cost, flight.since, now));
        }
        self.settle(source, now);
        self.turn(host, now);
    }

    /// The time that counts: it does not go back. A clock that is a little behind is waited for; one that was set back
    /// for good is believed, and what was noted under the wrong time is set right, source by source.
    fn arrive_at(&mut self, now: Time) -> Time {
        match self.latest {
            Some(latest) if now < latest => {
                if latest.since(now) <= STANDSTILL.max(self.settings.chronon) {
                    return latest;
                }
                self.latest = Some(now);
                self.clock_set_back(latest, now);
            }
            _ => self.latest = Some(now),
        }
        now
    }

    /// Looks that seem to lie ahead have just been taken; times to come are as far off as they were.
    fn clock_set_back(&mut self, latest: Time, now: Time) {
        self.purse.restart(now);
        self.intervals.iter_mut().for_each(|intervals| intervals.begin_anew(now));
        self.forget_plans();
        self.refreshed_at = None;
        self.asleep.clear();
        self.awake.clear();
        self.queues.clear();
        self.wakes.clear();
        let hosts: Vec<u32> = self.hosts.indices().collect();
        for host in hosts {
            self.hosts.get_mut(host).into_iter().for_each(|host| host.clock_set_back(latest, now));
        }
        let sources: Vec<u32> = self.sources.indices().collect();
        for source in sources {
            let Some(watched) = self.sources.get_mut(source) else { continue };
            watched.last_look = watched.last_look.map(|at| at.min(now));
            (watched.planned, watched.plan_number) = (Vec::new(), 0);
            if let Some(at) = &mut watched.not_before
                && *at > latest
            {
                *at = now.plus(at.since(latest));
            }
            if let Place::UnderWay(flight) = &mut watched.place {
                flight.since = flight.since.min(now);
                continue;
            }
            // The queue it stood in is empty now.
            self.set_place(SourceIdx(source), Place::NOWHERE);
            self.settle(SourceIdx(source), now);
        }
    }

    /// What is to be expected of a source, beside the others: what the watch itself goes by.
    pub fn forecast(&self, source: SourceIdx) -> Option<Forecast<'_>> {
        self.sources.get(source.0).map(|watched| watched.forecast(&self.measure))
    }

    /// What will be known of a source after a look.
    pub fn model_after(&self, source: SourceIdx, look: &Look) -> Option<Model> {
        let mut model = self.sources.get(source.0)?.model.clone();
        model.observe_among(look, self.measure.crowd.prior(model.prior()));
        Some(model)
    }

    /// What is known of how a source changes.
    pub fn model(&self, source: SourceIdx) -> Option<&Model> {
        self.sources.get(source.0).map(|watched| &watched.model)
    }
}
