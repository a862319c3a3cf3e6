//! Choosing: reviews that are due, then one resource after the other as long as the budget lasts, and the price at the
//! end. Work is bounded by what is due, what is chosen, and constants.

use dunlin_core::{ResourceIdx, Time};

use super::interval_demands::IntervalDemands;
use super::resource::{ProbeInFlight, QueueClass, ResourceState, ReviewOutcome, is_worth};
use super::{Choice, Reason, Scheduler};
use crate::policy::marginal::SideWorth;

/// Ready resources are evaluated again every so many chronons: while they wait, their worth changes.
const REFRESH: u32 = 16;
/// More resources may wait than a chronon needs, by this many and by this factor, before the price is set again.
const FEW: usize = 16;
const CHRONONS_WORTH: usize = 4;
const TOO_MANY: usize = 4;
/// Of so many that are nearest to their review, the best is pulled forward.
const NEAREST: usize = 16;
/// Resources of busy hosts that are passed over in one chronon while looking for one to pull forward.
const PASSED_OVER: usize = 256;

/// How far one probe moves what is known of the share of its worth that waiting loses.
const LEARN_SHARE: f64 = 0.02;

/// Why a resource that was tried is not chosen.
enum Tried {
    Chosen,
    /// It went elsewhere; there may be another.
    Moved,
    /// It is the next, but the budget must grow first.
    TooExpensive,
}

impl Scheduler {
    /// Appends at most `room` resources to probe now, best first. Called in order of time: once per chronon, and as often
    /// in between as [`Scheduler::is_open`] says that a host could be asked again.
    ///
    /// The first in line is waited for if the budget does not suffice for it yet: if cheaper ones went ahead, an expensive
    /// resource would never be probed.
    pub fn choose(&mut self, now: Time, room: usize, chosen: &mut Vec<Choice>) {
        let now = self.arrive_at(now);
        let passed = self.priced_at.replace(now).map_or(0.0, |at| now.since(at).as_secs_f64());
        self.bucket.fill(now);
        self.plan_ahead(now);
        self.review_due(now);
        self.refresh(now);
        let most = chosen.len().saturating_add(room);
        let mut passed_over = 0;
        self.plan_intervals(now, room);
        while chosen.len() < most {
            if let Some(tried) = self.try_before_intervals(now, chosen) {
                if matches!(tried, Tried::TooExpensive) {
                    break;
                }
                continue;
            }
            if let Some(pick) = self.next_interval(now) {
                self.queues.took_interval();
                self.take(pick, Reason::Interval, now, chosen);
                continue;
            }
            let tried = match self.queues.pop(&self.resources, now) {
                Some((index, class)) => {
                    let is_out_of_turn = class == QueueClass::New && !self.queues.is_turn_of_new();
                    let tried = self.try_next(index, class, now, chosen);
                    if is_out_of_turn && matches!(tried, Tried::Chosen) && passed_over < PASSED_OVER {
                        self.give_known_a_chance(now, &mut passed_over);
                    }
                    tried
                }
                None if self.take_backlog_interval(now, chosen) => Tried::Chosen,
                None if self.bucket.affords(0.0) && passed_over < PASSED_OVER => {
                    match self.pull_forward(now, &mut passed_over, chosen) {
                        Some(tried) => tried,
                        None => break,
                    }
                }
                None => break,
            };
            if matches!(tried, Tried::TooExpensive) {
                break;
            }
        }
        // However often it is asked in a chronon, the price moves as far as if it were asked once.
        let chronons = passed / self.settings.chronon.as_secs_f64();
        let granted = (passed * self.bucket.per_second()).min(chronons);
        self.price.crowded(self.queues.n_worth(), self.queues.best_worth(), &self.bucket, granted);
    }

    /// Whether a resource can be probed now by its own terms and those of its host.
    fn is_free(&mut self, index: ResourceIdx, now: Time) -> bool {
        let Some(resource) = self.resources.get(index.0) else { return false };
        let is_held = matches!(resource.state, ResourceState::InFlight(_))
            || resource.earliest().is_some_and(|at| at > now);
        let (cost, host) = (resource.cost(), resource.host);
        !is_held && self.hosts.get_mut(host.0).is_some_and(|host| host.hold(cost, now).is_none())
    }

    /// Plans what is due of needs, if that has not been done for this chronon.
    fn plan_intervals(&mut self, now: Time, room: usize) {
        let Some(mut intervals) = self.intervals.take_if(|intervals| !intervals.is_idle()) else { return };
        let (units, price) = (self.bucket.saved().max(0.0), self.price.get() * self.lost_share);
        let in_question = intervals.go_to(now, units, price);
        // What a probe brings to changes grows while it is put off, so it is looked at again where it makes a difference.
        for &index in in_question.iter().flatten() {
            let side = self.resources.get(index.0).map(|resource| self.side_worth(resource, now));
            intervals.set_side_worth(index, side.unwrap_or_default());
        }
        intervals.plan(units, room, in_question.is_some(), |index| self.is_free(index, now));
        self.intervals = Some(intervals);
    }

    /// While intervals are due: tries what was requested, and what is overdue or new if it has its turn. `None` if there is no
    /// such resource.
    fn try_before_intervals(&mut self, now: Time, chosen: &mut Vec<Choice>) -> Option<Tried> {
        self.intervals.as_ref().filter(|intervals| intervals.has_due())?;
        let (index, class) = self.queues.pop_before_intervals(&self.resources, now)?;
        let cost = self.resources.get(index.0)?.cost();
        let tried = self.try_next(index, class, now, chosen);
        if matches!(tried, Tried::Chosen) {
            // It was not idle, although no interval has had it.
            self.intervals.iter_mut().for_each(|intervals| intervals.note_used(cost));
        }
        Some(tried)
    }

    /// The resource that is next to be probed for an interval. What is due goes before what is worth the price: it is lost if it
    /// waits too long, and it is due only if it is worth more than the changes that wait for it. What its host keeps back waits for
    /// that, and others have its turn.
    fn next_interval(&mut self, now: Time) -> Option<ResourceIdx> {
        let mut intervals = self.intervals.take()?;
        let next = self.next_free_interval(&mut intervals, now);
        self.intervals = Some(intervals);
        next
    }

    fn next_free_interval(&mut self, intervals: &mut IntervalDemands, now: Time) -> Option<ResourceIdx> {
        loop {
            let Some(index) = intervals.first_due() else {
                let units = self.bucket.saved();
                if intervals.choose_instead(units, |index| self.is_free(index, now)) {
                    continue;
                }
                return None;
            };
            if !self.is_free(index, now) {
                intervals.hold_first_due();
                continue;
            }
            let cost = self.resources.get(index.0)?.cost();
            if !self.bucket.affords(cost) {
                return None;
            }
            intervals.take_first_due();
            return Some(index);
        }
    }

    /// Probes for the best interval that the plan has no place for, if there is one. Whether it did.
    fn take_backlog_interval(&mut self, now: Time, chosen: &mut Vec<Choice>) -> bool {
        let Some(mut intervals) = self.intervals.take_if(|intervals| !intervals.is_idle()) else {
            return false;
        };
        let best = intervals.best_in_backlog(|index| self.is_free(index, now));
        self.intervals = Some(intervals);
        let Some((index, _)) = best else { return false };
        let is_affordable =
            self.resources.get(index.0).is_some_and(|resource| self.bucket.affords(resource.cost()));
        if is_affordable {
            self.take(index, Reason::Interval, now, chosen);
        }
        is_affordable
    }

    fn review_due(&mut self, now: Time) {
        while let Some((_, index)) = {
            let resources = &self.resources;
            self.dormant.take(Some(now), |index, at| {
                resources.get(index.0).is_some_and(|resource| resource.state == ResourceState::Dormant(at))
            })
        } {
            self.reevaluate(index, now);
        }
        while let Some((_, index)) = self.take_eligible(Some(now)) {
            self.reevaluate(index, now);
        }
        while let Some(&(at, host)) = self.wakes.first().filter(|(at, _)| *at <= now) {
            self.wakes.remove(&(at, host));
            if let Some(known) = self.hosts.get_mut(host.0) {
                known.wakes_at = None;
            }
            self.advance_host(host, now);
        }
    }

    fn take_eligible(&mut self, latest: Option<Time>) -> Option<(Time, ResourceIdx)> {
        let resources = &self.resources;
        self.eligible.take(latest, |index, at| {
            resources.get(index.0).is_some_and(|resource| resource.state == ResourceState::Eligible(at))
        })
    }

    fn is_time_to_refresh(&mut self, now: Time) -> bool {
        let is_time = self.refreshed_at.is_none_or(|at| now.since(at) >= self.settings.chronon * REFRESH);
        if is_time {
            self.refreshed_at = Some(now);
        }
        is_time
    }

    /// Evaluates those again that wait because they are worth it, from time to time; and if there are far too many of
    /// them, sets the price so that only the best are left. Each time, most of those are sent away that came since the
    /// last time, so it costs each of them once.
    fn refresh(&mut self, now: Time) {
        let enough = FEW + CHRONONS_WORTH * self.bucket.whole_burst();
        let n_worth = self.queues.n_worth();
        if n_worth == 0 || (!self.is_time_to_refresh(now) && n_worth <= TOO_MANY * enough) {
            return;
        }
        let price = self.price.get();
        let mut ranked: Vec<(f64, ResourceIdx)> = Vec::with_capacity(n_worth);
        for index in self.queues.take_worth() {
            let Some(resource) = self.resources.get(index.0) else { continue };
            if resource.state != ResourceState::Ready(QueueClass::Worth) {
                continue;
            }
            let per_cost = resource.per_cost(&self.valuation, now);
            let is_overdue = resource.overdue_at().is_some_and(|at| at <= now);
            if is_overdue || !is_worth(per_cost, price) {
                self.reevaluate(index, now);
            } else {
                ranked.push((per_cost, index));
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let away = if ranked.len() > TOO_MANY * enough { ranked.split_off(enough) } else { Vec::new() };
        // A price of 0, or one at which too many wait, keeps no resource away; the price of the least of those that stay does not either.
        let least = ranked.last().map_or(0.0, |last| last.0);
        if price == 0.0 || !away.is_empty() || ranked.len() > enough {
            self.price.lift(least);
        }
        for (per_cost, index) in ranked {
            self.queues.push(index, QueueClass::Worth, per_cost, now);
        }
        // Slightly more than the price, so that resources of equal value do not come straight back. Planned probes have no
        // price; the least of those that stay takes its place.
        let above = if self.epoch_planner.is_some() { least } else { self.price.get() } * (1.0 + 1e-6);
        for (_, index) in away {
            self.reevaluate_at(index, now, above);
        }
    }

    fn try_next(
        &mut self,
        index: ResourceIdx,
        class: QueueClass,
        now: Time,
        chosen: &mut Vec<Choice>,
    ) -> Tried {
        let Some(resource) = self.resources.get(index.0) else { return Tried::Moved };
        let (cost, host) = (resource.cost(), resource.host);
        let review = resource.review(&self.valuation, now, self.price.get());
        let is_as_queued = matches!(
            (class, review),
            (QueueClass::Requested, ReviewOutcome::Requested)
                | (QueueClass::Overdue, ReviewOutcome::Overdue(_))
                | (QueueClass::New, ReviewOutcome::New)
                | (QueueClass::Worth, ReviewOutcome::Worth(_))
        );
        if !is_as_queued {
            self.set_state(index, ResourceState::UNPLACED);
            self.reevaluate(index, now);
            self.advance_host(host, now);
            return Tried::Moved;
        }
        if self.hosts.get_mut(host.0).is_none_or(|host| host.hold(cost, now).is_some()) {
            self.wait_at_host(index, class, now);
            return Tried::Moved;
        }
        if !self.bucket.affords(cost) {
            match (class, review) {
                (QueueClass::Requested | QueueClass::New, _) => self.queues.push_front(index, class),
                (_, ReviewOutcome::Overdue(due)) => self.queues.push(index, class, 0.0, due),
                (_, ReviewOutcome::Worth(per_cost)) => self.queues.push(index, class, per_cost, now),
                _ => {}
            }
            return Tried::TooExpensive;
        }
        self.queues.took(class);
        let reason = match class {
            QueueClass::Requested => Reason::Requested,
            QueueClass::Overdue => Reason::Overdue,
            QueueClass::New => Reason::New,
            QueueClass::Worth if self.epoch_planner.is_some() => Reason::Planned,
            QueueClass::Worth => Reason::Worth,
        };
        self.take(index, reason, now, chosen);
        Tried::Chosen
    }

    /// Takes the resources out that are nearest to their review and whose hosts are free; best first, each with what it is
    /// worth per unit of cost and when it is reviewed.
    fn take_nearest(&mut self, now: Time, passed_over: &mut usize) -> Vec<(f64, Time, ResourceIdx)> {
        let mut nearest: Vec<(f64, Time, ResourceIdx)> = Vec::with_capacity(NEAREST);
        while nearest.len() < NEAREST && *passed_over < PASSED_OVER {
            let Some((review, index)) = self.take_eligible(None) else { break };
            let Some(resource) = self.resources.get(index.0) else { continue };
            let (cost, host) = (resource.cost(), resource.host);
            let per_cost = resource.per_cost(&self.valuation, now);
            if self.hosts.get_mut(host.0).is_none_or(|host| host.hold(cost, now).is_some()) {
                *passed_over += 1;
                self.wait_at_host(index, QueueClass::Worth, now);
            } else {
                nearest.push((per_cost, review, index));
            }
        }
        nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        nearest
    }

    /// Nobody waits and the budget is there: of the resources nearest to their review, the best goes now. `None` when
    /// there are none.
    fn pull_forward(
        &mut self,
        now: Time,
        passed_over: &mut usize,
        chosen: &mut Vec<Choice>,
    ) -> Option<Tried> {
        let mut nearest = self.take_nearest(now, passed_over).into_iter();
        let (per_cost, best_review, best) = nearest.next()?;
        for (_, review, index) in nearest {
            self.set_eligible(index, review);
        }
        if !self.bucket.affords(self.resources.get(best.0)?.cost()) {
            self.set_eligible(best, best_review);
            return Some(Tried::TooExpensive);
        }
        self.take(best, Reason::Spare, now, chosen);
        self.price.spare(per_cost, &self.bucket);
        Some(Tried::Chosen)
    }

    /// It was the turn of a known resource, and none was ready, so a new one went: the price may be too high. As when a
    /// probe is pulled forward, but the nearest only get another chance to be worth it.
    fn give_known_a_chance(&mut self, now: Time, passed_over: &mut usize) {
        let nearest = self.take_nearest(now, passed_over);
        if let Some(&(per_cost, ..)) = nearest.first() {
            self.price.spare(per_cost, &self.bucket);
        }
        for (per_cost, review, index) in nearest {
            if is_worth(per_cost, self.price.get()) {
                self.reevaluate(index, now);
            } else {
                self.set_eligible(index, review);
            }
        }
    }

    fn take(&mut self, index: ResourceIdx, reason: Reason, now: Time, chosen: &mut Vec<Choice>) {
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        let value = resource.worth(&self.valuation, now);
        if self.intervals.is_some()
            && let Some(share) = resource.lost_by_waiting(&self.valuation, now)
        {
            self.lost_share += LEARN_SHARE * (share - self.lost_share);
        }
        let value = value + self.intervals.as_ref().map_or(0.0, |intervals| intervals.worth(index));
        let (cost, host) = (resource.cost(), resource.host);
        resource.is_requested = false;
        let probe = ProbeInFlight { chosen_at: now, since: now, was_requested: reason == Reason::Requested };
        self.set_state(index, ResourceState::InFlight(probe));
        if let Some(intervals) = &mut self.intervals {
            intervals.begin_probe(index, now);
            intervals.set_side_worth(index, SideWorth::default());
        }
        self.bucket.take(cost);
        if let Some(host) = self.hosts.get_mut(host.0) {
            host.begin(cost);
        }
        chosen.push(Choice { resource: index, reason, value, price: self.asked_price() });
        self.advance_host(host, now);
    }
}
