//! Choosing: reviews that are due, then one source after the other as long as the budget lasts, and the price at the
//! end. Work is bounded by what is due, what is chosen, and constants.

use dunlin_core::{SourceIdx, Time};

use super::source::{Class, Flight, Outlook, Place, is_worth};
use super::{Choice, Reason, Watch};
use crate::policy::marginal::SideWorth;

/// Ready sources are evaluated anew every so many chronons: while they wait, their worth changes.
const REFRESH: u32 = 16;
/// More sources may wait than a chronon needs, by this many and by this factor, before the price is set anew.
const FEW: usize = 16;
const CHRONONS_WORTH: usize = 4;
const TOO_MANY: usize = 4;
/// Of so many that are nearest to their review, the best is pulled forward.
const NEAREST: usize = 16;
/// Sources of busy hosts that are passed over in one chronon while looking for one to pull forward.
const PASSED_OVER: usize = 256;

/// How far one probe moves what is known of the share of its worth that waiting loses.
const LEARN_SHARE: f64 = 0.02;

/// Why a source that was tried is not chosen.
enum Tried {
    Chosen,
    /// It went elsewhere; there may be another.
    Moved,
    /// It is the next, but the budget must grow first.
    TooDear,
}

impl Watch {
    /// Appends at most `room` sources to look at now, best first. Called in order of time: once per chronon, and as often
    /// in between as [`Watch::is_open`] says that a host could be asked again.
    ///
    /// The first in line is waited for if the budget does not suffice for it yet: if cheaper ones went ahead, a dear
    /// source would never be looked at.
    pub fn choose(&mut self, now: Time, room: usize, chosen: &mut Vec<Choice>) {
        let before = self.latest;
        let now = self.arrive_at(now);
        let passed = before.map_or(0.0, |at| now.since(at).as_secs_f64());
        self.purse.fill(now);
        self.plan_ahead(now);
        self.review_due(now);
        self.refresh(now);
        let most = chosen.len().saturating_add(room);
        let mut passed_over = 0;
        self.plan_intervals(now);
        while chosen.len() < most {
            if let Some(pick) = self.next_interval(now) {
                self.take(pick, Reason::Interval, now, chosen);
                continue;
            }
            let tried = match self.queues.pop(&self.sources, now) {
                Some((source, class)) => {
                    let is_out_of_turn = class == Class::New && !self.queues.is_turn_of_new();
                    let tried = self.try_next(source, class, now, chosen);
                    if is_out_of_turn && matches!(tried, Tried::Chosen) && passed_over < PASSED_OVER {
                        self.give_known_a_chance(now, &mut passed_over);
                    }
                    tried
                }
                None if self.take_spare_interval(now, chosen) => Tried::Chosen,
                None if self.purse.affords(0.0) && passed_over < PASSED_OVER => {
                    match self.pull_forward(now, &mut passed_over, chosen) {
                        Some(tried) => tried,
                        None => break,
                    }
                }
                None => break,
            };
            if matches!(tried, Tried::TooDear) {
                break;
            }
        }
        // However often it is asked in a chronon, the price moves as far as if it were asked once.
        let chronons = passed / self.settings.chronon.as_secs_f64();
        let granted = (passed * self.purse.per_second()).min(chronons);
        self.price.crowded(self.queues.n_worth(), self.queues.best_worth(), &self.purse, granted);
    }

    /// Whether nothing of its own keeps a source from being probed now, and nothing of its host.
    fn is_free(&mut self, source: SourceIdx, now: Time) -> bool {
        let Some(watched) = self.sources.get(source.0) else { return false };
        let is_held =
            matches!(watched.place, Place::UnderWay(_)) || watched.earliest().is_some_and(|at| at > now);
        let (cost, host) = (watched.cost(), watched.terms.host);
        !is_held && self.hosts.get_mut(host.0).is_some_and(|host| host.hold(cost, now).is_none())
    }

    /// Plans what is due of needs, if that has not been done for this chronon.
    fn plan_intervals(&mut self, now: Time) {
        let Some(mut intervals) = self.intervals.take_if(|intervals| !intervals.is_idle()) else { return };
        let (units, price) = (self.purse.saved().max(0.0), self.price.get() * self.lost_share);
        intervals.go_to(now, units, price, |source| self.is_free(source, now));
        self.intervals = Some(intervals);
    }

    /// The source that is next to be probed for an interval. What is due goes before changes: it is lost if it waits too long,
    /// and it is due only if it is worth more than the changes that wait for it.
    fn next_interval(&mut self, now: Time) -> Option<SourceIdx> {
        loop {
            let pick = self.intervals.as_ref()?.first_due()?;
            if !self.is_free(pick.source, now) {
                self.intervals.as_mut()?.drop_first_due();
                continue;
            }
            let cost = self.sources.get(pick.source.0)?.cost();
            if !self.purse.affords(cost) {
                return None;
            }
            self.intervals.as_mut()?.drop_first_due();
            return Some(pick.source);
        }
    }

    /// Probes for the best interval that the plan has no place for, if there is one. Whether it did.
    fn take_spare_interval(&mut self, now: Time, chosen: &mut Vec<Choice>) -> bool {
        let Some(mut intervals) = self.intervals.take_if(|intervals| !intervals.is_idle()) else {
            return false;
        };
        let spare = intervals.best_spare(|source| self.is_free(source, now));
        self.intervals = Some(intervals);
        let Some((source, _)) = spare else { return false };
        let is_affordable =
            self.sources.get(source.0).is_some_and(|watched| self.purse.affords(watched.cost()));
        if is_affordable {
            self.take(source, Reason::Interval, now, chosen);
        }
        is_affordable
    }

    fn review_due(&mut self, now: Time) {
        while let Some((_, source)) = {
            let sources = &self.sources;
            self.asleep.take(Some(now), |source, at| {
                sources.get(source.0).is_some_and(|watched| watched.place == Place::Asleep(at))
            })
        } {
            self.settle(source, now);
        }
        while let Some((_, source)) = self.take_awake(Some(now)) {
            self.settle(source, now);
        }
        while let Some(&(at, host)) = self.wakes.first().filter(|(at, _)| *at <= now) {
            self.wakes.remove(&(at, host));
            if let Some(known) = self.hosts.get_mut(host.0) {
                known.wakes_at = None;
            }
            self.turn(host, now);
        }
    }

    fn take_awake(&mut self, latest: Option<Time>) -> Option<(Time, SourceIdx)> {
        let sources = &self.sources;
        self.awake.take(latest, |source, at| {
            sources.get(source.0).is_some_and(|watched| watched.place == Place::Awake(at))
        })
    }

    fn is_time_to_refresh(&mut self, now: Time) -> bool {
        let is_time = self.refreshed_at.is_none_or(|at| now.since(at) >= self.settings.chronon * REFRESH);
        if is_time {
            self.refreshed_at = Some(now);
        }
        is_time
    }

    /// Evaluates those anew that wait because they are worth it, from time to time; and if there are far too many of
    /// them, sets the price so that only the best are left. Each time, most of those are sent away that came since the
    /// last time, so it costs each of them once.
    fn refresh(&mut self, now: Time) {
        let enough = FEW + CHRONONS_WORTH * self.purse.whole_burst();
        let n_worth = self.queues.n_worth();
        if n_worth == 0 || (!self.is_time_to_refresh(now) && n_worth <= TOO_MANY * enough) {
            return;
        }
        let price = self.price.get();
        let mut ranked: Vec<(f64, SourceIdx)> = Vec::with_capacity(n_worth);
        for source in self.queues.take_worth() {
            let Some(watched) = self.sources.get(source.0) else { continue };
            if watched.place != Place::Ready(Class::Worth) {
                continue;
            }
            let per_cost = watched.per_cost(&self.measure, now);
            let is_overdue = watched.overdue_at().is_some_and(|at| at <= now);
            if is_overdue || !is_worth(per_cost, price) {
                self.settle(source, now);
            } else {
                ranked.push((per_cost, source));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let away = if ranked.len() > TOO_MANY * enough { ranked.split_off(enough) } else { Vec::new() };
        // No price, or one that lets a crowd wait, puts nobody off; that of the least in the crowd does not either.
        let least = ranked.last().map_or(0.0, |last| last.0);
        if price == 0.0 || !away.is_empty() || ranked.len() > enough {
            self.price.lift(least);
        }
        for (per_cost, source) in ranked {
            self.queues.push(source, Class::Worth, per_cost, now);
        }
        // A hair more than the price, so that the equals of the last do not come straight back. Planned looks have no
        // price; the least of those that stay takes its place.
        let above = if self.planning.is_some() { least } else { self.price.get() } * (1.0 + 1e-6);
        for (_, source) in away {
            self.settle_at(source, now, above);
        }
    }

    fn try_next(&mut self, source: SourceIdx, class: Class, now: Time, chosen: &mut Vec<Choice>) -> Tried {
        let Some(watched) = self.sources.get(source.0) else { return Tried::Moved };
        let (cost, host) = (watched.cost(), watched.terms.host);
        let outlook = watched.outlook(&self.measure, now, self.price.get());
        let is_as_queued = matches!(
            (class, outlook),
            (Class::Wanted, Outlook::Wanted)
                | (Class::Overdue, Outlook::Overdue(_))
                | (Class::New, Outlook::New)
                | (Class::Worth, Outlook::Worth(_))
        );
        if !is_as_queued {
            self.set_place(source, Place::NOWHERE);
            self.settle(source, now);
            self.turn(host, now);
            return Tried::Moved;
        }
        if self.hosts.get_mut(host.0).is_none_or(|host| host.hold(cost, now).is_some()) {
            self.wait_at_host(source, class, now);
            return Tried::Moved;
        }
        if !self.purse.affords(cost) {
            match (class, outlook) {
                (Class::Wanted | Class::New, _) => self.queues.push_front(source, class),
                (_, Outlook::Overdue(due)) => self.queues.push(source, class, 0.0, due),
                (_, Outlook::Worth(per_cost)) => self.queues.push(source, class, per_cost, now),
                _ => {}
            }
            return Tried::TooDear;
        }
        self.queues.took(class);
        let reason = match class {
            Class::Wanted => Reason::Wanted,
            Class::Overdue => Reason::Overdue,
            Class::New => Reason::New,
            Class::Worth if self.planning.is_some() => Reason::Planned,
            Class::Worth => Reason::Worth,
        };
        self.take(source, reason, now, chosen);
        Tried::Chosen
    }

    /// Takes the sources out that are nearest to their review and whose hosts are free; best first, each with what it is
    /// worth per unit of cost and when it is reviewed.
    fn take_nearest(&mut self, now: Time, passed_over: &mut usize) -> Vec<(f64, Time, SourceIdx)> {
        let mut nearest: Vec<(f64, Time, SourceIdx)> = Vec::with_capacity(NEAREST);
        while nearest.len() < NEAREST && *passed_over < PASSED_OVER {
            let Some((review, source)) = self.take_awake(None) else { break };
            let Some(watched) = self.sources.get(source.0) else { continue };
            let (cost, host) = (watched.cost(), watched.terms.host);
            let per_cost = watched.per_cost(&self.measure, now);
            if self.hosts.get_mut(host.0).is_none_or(|host| host.hold(cost, now).is_some()) {
                *passed_over += 1;
                self.wait_at_host(source, Class::Worth, now);
            } else {
                nearest.push((per_cost, review, source));
            }
        }
        nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        nearest
    }

    /// Nobody waits and the budget is there: of the sources nearest to their review, the best goes now. `None` when
    /// there are none.
    fn pull_forward(
        &mut self,
        now: Time,
        passed_over: &mut usize,
        chosen: &mut Vec<Choice>,
    ) -> Option<Tried> {
        let mut nearest = self.take_nearest(now, passed_over).into_iter();
        let (per_cost, best_review, best) = nearest.next()?;
        for (_, review, source) in nearest {
            self.wake(source, review);
        }
        if !self.purse.affords(self.sources.get(best.0)?.cost()) {
            self.wake(best, best_review);
            return Some(Tried::TooDear);
        }
        self.take(best, Reason::Spare, now, chosen);
        self.price.spare(per_cost, &self.purse);
        Some(Tried::Chosen)
    }

    /// It was the turn of a known source, and none was ready, so a new one went: the price may be too high. As when a
    /// look is pulled forward, but the nearest only get another chance to be worth it.
    fn give_known_a_chance(&mut self, now: Time, passed_over: &mut usize) {
        let nearest = self.take_nearest(now, passed_over);
        if let Some(&(per_cost, ..)) = nearest.first() {
            self.price.spare(per_cost, &self.purse);
        }
        for (per_cost, review, source) in nearest {
            if is_worth(per_cost, self.price.get()) {
                self.settle(source, now);
            } else {
                self.wake(source, review);
            }
        }
    }

    fn take(&mut self, source: SourceIdx, reason: Reason, now: Time, chosen: &mut Vec<Choice>) {
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        let value = watched.worth(&self.measure, now);
        if self.intervals.is_some()
            && let Some(share) = watched.lost_by_waiting(&self.measure, now)
        {
            self.lost_share += LEARN_SHARE * (share - self.lost_share);
        }
        let value = value + self.intervals.as_ref().map_or(0.0, |intervals| intervals.worth(source));
        let (cost, host) = (watched.cost(), watched.terms.host);
        watched.is_wanted = false;
        let flight = Flight { since: now, was_wanted: reason == Reason::Wanted, is_refundable: true };
        self.set_place(source, Place::UnderWay(flight));
        if let Some(intervals) = &mut self.intervals {
            intervals.launch(source, now);
            intervals.set_side_worth(source, SideWorth::default());
        }
        self.purse.take(cost);
        if let Some(host) = self.hosts.get_mut(host.0) {
            host.begin(cost);
        }
        chosen.push(Choice { source, reason, value, price: self.asked_price() });
        self.turn(host, now);
    }
}
