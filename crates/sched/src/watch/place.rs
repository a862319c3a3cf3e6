//! Moving a source from one place to another: into a calendar, a queue, to its host and back. Decides nothing about
//! who is chosen.
//!
//! Invariant: a source stands in one place, and whatever it waits for will bring it back: a calendar its time, a
//! queue its turn, a host the moment at which it is free.

use std::cmp::Reverse;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use super::host::{BEST_WAITING, Host, MOST_WAITING};
use super::planning::Planning;
use super::source::{Class, Flight, Outlook, Place, Watched};
use super::{Figures, Hold, HostIdx, Watch};

/// How many sources stand where.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) ready: usize,
    at_host: usize,
    under_way: usize,
    asleep: usize,
    awake: usize,
}

impl Counts {
    pub(super) fn moved(&mut self, from: Option<Place>, to: Option<Place>) {
        if let Some(place) = from {
            *self.of(place) -= 1;
        }
        if let Some(place) = to {
            *self.of(place) += 1;
        }
    }

    const fn of(&mut self, place: Place) -> &mut usize {
        match place {
            Place::Asleep(_) => &mut self.asleep,
            Place::Awake(_) => &mut self.awake,
            Place::Ready(_) => &mut self.ready,
            Place::AtHost(_) => &mut self.at_host,
            Place::UnderWay(_) => &mut self.under_way,
        }
    }
}

impl Watch {
    /// How the watch is doing.
    pub fn figures(&self) -> Figures {
        Figures {
            price: self.asked_price(),
            sources: self.sources.len(),
            ready: self.counts.ready,
            waiting_on_hosts: self.counts.at_host,
            under_way: self.counts.under_way,
        }
    }

    /// What a look has to be worth per unit of cost: now, or when the plan was made.
    pub(super) fn asked_price(&self) -> f64 {
        self.planning.as_ref().map_or(self.price.get(), Planning::price)
    }

    pub(super) const fn has_awake(&self) -> bool {
        self.counts.awake > 0
    }

    pub(super) fn host_entry(&mut self, host: HostIdx) -> Option<&mut Host> {
        if self.hosts.get(host.0).is_none() {
            return self.hosts.insert(host.0, Host::unknown());
        }
        self.hosts.get_mut(host.0)
    }

    pub(super) fn set_place(&mut self, source: SourceIdx, place: Place) {
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        self.counts.moved(Some(watched.place), Some(place));
        watched.place = place;
    }

    /// Takes a source that is under way back; `None` if it is not.
    pub(super) fn land(&mut self, source: SourceIdx, now: Time, is_success: bool) -> Option<Flight> {
        let watched = self.sources.get(source.0)?;
        let Place::UnderWay(flight) = watched.place else { return None };
        self.intervals.iter_mut().for_each(|intervals| intervals.land(source, is_success));
        let watched = self.sources.get(source.0)?;
        let host = watched.terms.host;
        self.set_place(source, Place::NOWHERE);
        self.hosts.get_mut(host.0)?.end();
        self.turn(host, now);
        Some(flight)
    }

    /// Evaluates a source that is not under way, and puts it where it belongs.
    pub(super) fn settle(&mut self, source: SourceIdx, now: Time) {
        self.settle_at(source, now, self.price.get());
    }

    /// The same at another price.
    pub(super) fn settle_at(&mut self, source: SourceIdx, now: Time, price: f64) {
        let Some(watched) = self.sources.get(source.0) else { return };
        if matches!(watched.place, Place::UnderWay(_)) {
            return;
        }
        let (before, host) = (watched.place, watched.terms.host);
        let own_price = self.hosts.get(host.0).map_or(0.0, |host| host.price);
        let outlook = watched.outlook(&self.measure, now, price.max(own_price));
        match outlook {
            Outlook::Asleep(until) => self.sleep(source, until),
            // The host's price keeps it back; pulling it forward would be in vain.
            Outlook::Awake(until) if own_price > price => self.sleep(source, until),
            Outlook::Awake(until) => self.wake(source, until),
            Outlook::Wanted => self.enqueue(source, Class::Wanted, 0.0, now),
            Outlook::Overdue(due) => self.enqueue(source, Class::Overdue, 0.0, due),
            Outlook::New => self.enqueue(source, Class::New, 0.0, now),
            Outlook::Worth(per_cost) => self.enqueue(source, Class::Worth, per_cost, now),
        }
        // It may have stood for its host; then another takes its place.
        let stands =
            self.sources.get(source.0).is_some_and(|watched| matches!(watched.place, Place::Ready(_)));
        if matches!(before, Place::Ready(_)) && !stands {
            self.turn(host, now);
        }
    }

    fn sleep(&mut self, source: SourceIdx, at: Time) {
        self.set_place(source, Place::Asleep(at));
        let sources = &self.sources;
        self.asleep.note(at, source, self.counts.asleep, |source, at| {
            sources.get(source.0).is_some_and(|watched| watched.place == Place::Asleep(at))
        });
    }

    pub(super) fn wake(&mut self, source: SourceIdx, at: Time) {
        self.set_place(source, Place::Awake(at));
        let sources = &self.sources;
        self.awake.note(at, source, self.counts.awake, |source, at| {
            sources.get(source.0).is_some_and(|watched| watched.place == Place::Awake(at))
        });
    }

    fn enqueue(&mut self, source: SourceIdx, class: Class, per_cost: f64, due: Time) {
        let is_there = self.sources.get(source.0).is_some_and(|watched| watched.place == Place::Ready(class));
        // Who waits already keeps the place; only what it is worth is news.
        if is_there && class != Class::Worth {
            return;
        }
        self.set_place(source, Place::Ready(class));
        self.queues.push(source, class, per_cost, due);
    }

    /// Puts a source that could be chosen, but for its host, with those that wait for the host.
    pub(super) fn wait_at_host(&mut self, source: SourceIdx, class: Class, now: Time) {
        let Some(watched) = self.sources.get(source.0) else { return };
        let (host, due) = (watched.terms.host, watched.overdue_at().unwrap_or(now));
        self.set_place(source, Place::AtHost(class));
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = at.waiting();
        match class {
            Class::Wanted => waiting.wanted.push_back(source),
            Class::Overdue => waiting.overdue.push(Reverse((due, source))),
            Class::New => waiting.new.push_back(source),
            Class::Worth => {
                waiting.worth.push(source);
                if waiting.worth.len() > MOST_WAITING {
                    self.keep_best(host, now);
                }
            }
        }
        self.turn(host, now);
    }

    /// Sends away all but the best of those who wait for a host, until they are worth as much as these.
    fn keep_best(&mut self, host: HostIdx, now: Time) {
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = std::mem::take(&mut at.waiting().worth);
        let mut ranked: Vec<(f64, SourceIdx)> = Vec::with_capacity(waiting.len());
        for source in waiting {
            let Some(watched) = self.sources.get(source.0) else { continue };
            if watched.place == Place::AtHost(Class::Worth) && watched.terms.host == host {
                ranked.push((watched.per_cost(&self.measure, now), source));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.dedup();
        let away = ranked.split_off(BEST_WAITING.min(ranked.len()));
        let least = ranked.last().map_or(0.0, |last| last.0);
        if let Some(at) = self.hosts.get_mut(host.0) {
            at.waiting().worth = ranked.into_iter().map(|(_, source)| source).collect();
            // A hair more than the least, so that its equals do not come straight back.
            at.price = least * (1.0 + 1e-6);
        }
        for (_, source) in away {
            self.settle(source, now);
            // The host is why it was sent away, and that must not be undone by pulling it forward.
            if let Some(Place::Awake(at)) = self.sources.get(source.0).map(|watched| watched.place) {
                self.sleep(source, at);
            }
        }
    }

    /// Gives the next of those who wait for a host its turn, if the host is free; else sees to it that the host is
    /// asked again when it will be.
    pub(super) fn turn(&mut self, host: HostIdx, now: Time) {
        loop {
            let Some(at) = self.hosts.get_mut(host.0) else { return };
            if !at.has_waiting() {
                return;
            }
            let Some((source, class)) = self.first_waiting(host, now) else { return };
            let Some(cost) = self.sources.get(source.0).map(Watched::cost) else { return };
            let Some(at) = self.hosts.get_mut(host.0) else { return };
            let hold = at.hold(cost, now);
            if let Some(Hold::HostHeld { until } | Hold::HostBudget { until: Some(until) }) = hold {
                let until = until.max(now.plus(Duration::from_micros(1)));
                if let Some(before) = at.wakes_at.replace(until) {
                    self.wakes.remove(&(before, host));
                }
                self.wakes.insert((until, host));
            }
            if hold.is_some() {
                return;
            }
            self.release(host, source, class);
            let price = self.price.get();
            let Some(watched) = self.sources.get(source.0) else { continue };
            match watched.outlook(&self.measure, now, price) {
                // It is not worth the price (any more): the next one may be.
                Outlook::Awake(_) | Outlook::Asleep(_) => self.settle(source, now),
                Outlook::Worth(per_cost) => return self.enqueue(source, Class::Worth, per_cost, now),
                Outlook::Overdue(due) => return self.enqueue(source, Class::Overdue, 0.0, due),
                Outlook::Wanted | Outlook::New => {
                    self.set_place(source, Place::Ready(class));
                    return self.queues.push_front(source, class);
                }
            }
        }
    }

    /// Who of those that wait for a host goes first. Entries that no longer count are dropped on the way.
    fn first_waiting(&mut self, host: HostIdx, now: Time) -> Option<(SourceIdx, Class)> {
        let (sources, measure) = (&self.sources, &self.measure);
        let at = self.hosts.get_mut(host.0)?;
        let counts = |source: SourceIdx, class| {
            let watched = sources.get(source.0).filter(|watched| watched.place == Place::AtHost(class));
            watched.is_some_and(|watched| watched.terms.host == host)
        };
        let found = loop {
            let waiting = at.waiting();
            let Some(class) = waiting.next_class() else { break None };
            let source = match class {
                Class::Wanted => waiting.wanted.front().copied(),
                Class::Overdue => waiting.overdue.peek().map(|&Reverse((_, source))| source),
                Class::New => waiting.new.front().copied(),
                Class::Worth => {
                    waiting.worth.retain(|&source| counts(source, class));
                    let rank = |source: &SourceIdx| {
                        let watched = sources.get(source.0)?;
                        let is_overdue = watched.overdue_at().is_some_and(|at| at <= now);
                        Some(if is_overdue { f64::MAX } else { watched.per_cost(measure, now) })
                    };
                    let ranked = waiting.worth.iter().map(|source| (rank(source).unwrap_or(0.0), *source));
                    ranked.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, source)| source)
                }
            };
            let Some(source) = source else { continue };
            if counts(source, class) {
                break Some((source, class));
            }
            at.waiting().remove(source, class);
        };
        at.forget_empty();
        found
    }

    fn release(&mut self, host: HostIdx, source: SourceIdx, class: Class) {
        let Some(at) = self.hosts.get_mut(host.0) else { return };
        let waiting = at.waiting();
        waiting.remove(source, class);
        waiting.is_turn_of_new = class != Class::New;
        if waiting.worth.len() < BEST_WAITING / 4 {
            // Few are left, so those who were sent away may come sooner.
            at.price = if at.price > self.price.get() { at.price / 2.0 } else { 0.0 };
        }
        at.forget_empty();
    }
}
