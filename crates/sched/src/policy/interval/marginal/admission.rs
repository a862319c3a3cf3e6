//! How a left-out interval gets into the plan: into a job that is there, or with a new one, for which others
//! are shifted or a less valuable one has to go.

use std::cmp::Reverse;

use super::super::cei_ledger::EiRecord;
use super::Planner;
use super::backlog::Backlog;
use super::jobs::Job;
use super::learn::NextStart;
use super::ordered_f64::{OrderedF64, ROUNDING};
use super::slots::Slots;
use super::worth::MAX_CONSIDERED;

/// Jobs that are considered as candidates for eviction before a newcomer gives up.
const ATTEMPTS: usize = 8;

/// A left-out interval that could share a new job.
struct Sharer {
    ei: u32,
    start: u32,
    finish: u32,
    bid: f64,
}

impl Sharer {
    fn covers(&self, at: u32) -> bool {
        self.start <= at && at <= self.finish
    }
}

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// Tries to get the left-out interval `ei` into the plan.
    pub(super) fn consider(&mut self, ei: u32) {
        let bid = self.bid(ei);
        if bid <= 0.0 || self.ledger.eis[ei as usize].start > self.timetable.budget.end() {
            return;
        }
        if self.join(ei) {
            return;
        }
        let (value, sharers) = self.gather(ei, bid);
        let EiRecord { source, start, finish, cei, .. } = self.ledger.eis[ei as usize];
        let cost = self.costs.of(source);
        if value > self.price() * cost - self.side_worth(source).worth {
            let (start, finish) = sharers.iter().fold((start, finish), |(start, finish), sharer| {
                (start.max(sharer.start), finish.min(sharer.finish))
            });
            let job = Job { source, start, finish, at: None, value, cost, eis: Vec::new() };
            let job = self.timetable.jobs.add(job);
            if self.place_or_evict(job, self.now) {
                self.ledger.sources[source.index()].jobs.push(job);
                self.cover(job, ei);
                for sharer in sharers {
                    if self.ledger.is_left_out(sharer.ei) {
                        self.cover(job, sharer.ei);
                    }
                }
                if self.ledger.ceis[cei as usize].release == self.now {
                    self.risk.note_newcomer(finish - self.now, cost);
                }
                return;
            }
            self.timetable.jobs.free(job);
        }
        if start <= self.now && cost <= self.most_at_once {
            self.backlog.push((OrderedF64(value / cost), Reverse(self.ledger.reference(ei))));
        }
    }

    /// Joins a job of the source: one whose place suits, or else one that can be moved to suit.
    fn join(&mut self, ei: u32) -> bool {
        let EiRecord { source, start, finish, cei, .. } = self.ledger.eis[ei as usize];
        let from = start.max(self.now);
        let is_surprise = self.ledger.ceis[cei as usize].release == self.now && start == self.now;
        let n_jobs = self.ledger.sources[source.index()].jobs.len();
        for position in 0..n_jobs {
            let job = self.ledger.sources[source.index()].jobs[position];
            let own = self.timetable.jobs.get(job);
            if own.at.is_some_and(|at| from <= at && at <= finish) {
                self.note_join(is_surprise && own.start < self.now, job);
                self.cover(job, ei);
                return true;
            }
        }
        for position in 0..n_jobs {
            let job = self.ledger.sources[source.index()].jobs[position];
            let own = self.timetable.jobs.get_mut(job);
            let (old_start, old_finish, old_at) = (own.start, own.finish, own.at);
            if old_start.max(from) > old_finish.min(finish) {
                continue;
            }
            (own.start, own.finish) = (old_start.max(start), old_finish.min(finish));
            self.timetable.unplace(job);
            if self.timetable.place(job, self.now).is_ok() {
                self.note_join(is_surprise && old_start < self.now, job);
                self.cover(job, ei);
                return true;
            }
            let own = self.timetable.jobs.get_mut(job);
            (own.start, own.finish) = (old_start, old_finish);
            if let Some(at) = old_at {
                self.timetable.put(job, at);
            }
        }
        false
    }

    fn note_join(&mut self, counts: bool, job: u32) {
        if counts {
            self.joins.note_joined(self.next_start(job));
        }
    }

    /// Whether the next start on the source of `job` is known.
    pub(super) fn next_start(&self, job: u32) -> NextStart {
        match self.ledger.sources[self.timetable.jobs.get(job).source.index()].n_upcoming {
            0 => NextStart::Unknown,
            _ => NextStart::Announced,
        }
    }

    /// The left-out intervals that can share a new job with `ei` in the chronon with the largest sum of bids,
    /// and that sum.
    fn gather(&self, ei: u32, bid: f64) -> (f64, Vec<Sharer>) {
        let EiRecord { source, start, finish, .. } = self.ledger.eis[ei as usize];
        let (from, finish) = (start.max(self.now), finish.min(self.timetable.budget.end()));
        let mut sharers: Vec<Sharer> = Vec::new();
        for other in self.ledger.open_on(source).take(MAX_CONSIDERED) {
            let EiRecord { start, finish: until, .. } = self.ledger.eis[other as usize];
            if other != ei && self.ledger.is_left_out(other) && start <= finish && until >= from {
                let bid = self.bid(other);
                if bid > 0.0 {
                    sharers.push(Sharer { ei: other, start, finish: until, bid });
                }
            }
        }
        let (mut value, mut best) = (bid, finish);
        for at in sharers.iter().map(|sharer| sharer.start).filter(|&start| start > from).chain([from]) {
            let shared = sharers.iter().filter(|sharer| sharer.covers(at)).map(|sharer| sharer.bid);
            let sum = bid + shared.sum::<f64>();
            let is_earlier_tie = sum > value - ROUNDING && at < best && value > bid;
            if sum > value + ROUNDING || is_earlier_tie {
                (value, best) = (sum, at);
            }
        }
        sharers.retain(|sharer| sharer.covers(best));
        (value, sharers)
    }

    /// Finds a place for `job` at `from` or later, if necessary at the expense of the least valuable jobs in
    /// its way.
    pub(super) fn place_or_evict(&mut self, job: u32, from: u32) -> bool {
        let Err(mut span) = self.timetable.place(job, from) else { return true };
        let Job { start, finish, value, cost, .. } = *self.timetable.jobs.get(job);
        if !self.has_uniform_costs {
            // Room that another job leaves elsewhere may be useless here, so look for victims where this job can be placed itself.
            span = (start.max(from), finish.min(self.timetable.budget.end()));
        }
        let mut evicted = 0.0;
        for _ in 0..ATTEMPTS {
            let mut worst = (f64::INFINITY, None);
            for at in span.0..=span.1 {
                let (density, victim) = self.timetable.summary(at).least;
                if density < worst.0 && self.timetable.budget.capacity(at) + ROUNDING >= cost {
                    worst = (density, Some((victim, at)));
                }
            }
            let (density, Some((victim, at))) = worst else { return false };
            if density >= value / cost - ROUNDING {
                return false;
            }
            // Values are brought up to date when they matter; if this one was not, look again.
            let victims_value = self.revalue(victim);
            if self.timetable.jobs.get(victim).density() > density + ROUNDING {
                continue;
            }
            if evicted > 0.0 && evicted + victims_value >= value {
                return false;
            }
            self.dissolve(victim);
            evicted += victims_value;
            if self.timetable.place(job, from).is_ok() {
                return true;
            }
            span = (at, at);
        }
        false
    }
}
