//! The probes of a chronon: which jobs run, where the others go, and what is left over for the backlog.

use std::cmp::Reverse;

use dunlin_core::{Allowance, SourceIdx};

use super::Planner;
use super::backlog::Backlog;
use super::learn::FURTHEST;
use super::ordered_f64::{OrderedF64, ROUNDING};
use super::run_order::{Candidate, run_order};
use super::slots::Slots;

/// Of more runnable jobs than this, and so many for each probe, only the most urgent and the most valuable are compared: a
/// chronon's work must not grow with what is planned for the next thousand.
pub(super) const MOST_CANDIDATES: usize = 1_024;
const CANDIDATES_PER_PROBE: usize = 8;

/// A job to run now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    pub(crate) job: u32,
    pub(crate) source: SourceIdx,
}

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// Runs the jobs whose postponement would lose most, moves on those that were planned for now and passed
    /// over, and gives what is left to the backlog.
    pub(super) fn run(&mut self, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        for Pick { job, source } in self.picks(allowance.clone(), |_| true) {
            self.timetable.unplace(job);
            if !self.probe(source, allowance, chosen) {
                self.dissolve(job);
            }
        }
        self.postpone();
        self.note_idle(allowance.left());
        self.run_backlog(allowance, chosen);
    }

    /// Moves on the jobs that were planned for now and have not run.
    pub(crate) fn postpone(&mut self) {
        let now = self.now;
        while self.timetable.summary(now).n_jobs > 0 {
            let (_, job) = self.timetable.summary(now).latest;
            self.timetable.unplace(job);
            let source = self.timetable.jobs.get(job).source;
            let is_probed = self.ledger.sources[source.index()].chosen_at == now;
            let stays = is_probed || now.checked_add(1).is_some_and(|next| self.place_or_evict(job, next));
            if !stays {
                self.dissolve(job);
            }
        }
        self.tidy();
    }

    /// The jobs to run, of those whose source is free. What was planned together fits together; where costs differ it goes first, because
    /// others might leave a rest that is of no use.
    pub(crate) fn picks(
        &mut self,
        mut allowance: Allowance,
        is_free: impl FnMut(SourceIdx) -> bool,
    ) -> Vec<Pick> {
        let candidates = self.candidates(&allowance, is_free);
        let (now, jobs, budget) = (self.now, &self.timetable.jobs, &self.timetable.budget);
        let goes_first =
            |candidate: &Candidate| !self.has_uniform_costs && jobs.get(candidate.job).at == Some(now);
        let (first, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(goes_first);
        let mut choose = |candidates| {
            run_order(candidates, &mut allowance, self.costs.least(), |deadline| {
                budget.between(now, deadline)
            })
        };
        let mut running = choose(first);
        running.append(&mut choose(others));
        running.into_iter().map(|job| Pick { job, source: jobs.get(job).source }).collect()
    }

    /// The jobs that can run now, if their source is free; of very many, the most urgent and the most valuable. Not running one
    /// risks its loss to newcomers with earlier deadlines; but meanwhile others may join it and share its price.
    fn candidates(
        &mut self,
        allowance: &Allowance,
        mut is_free: impl FnMut(SourceIdx) -> bool,
    ) -> Vec<Candidate> {
        let (now, price) = (self.now, self.price());
        let (jobs, slots) = (&self.timetable.jobs, &self.timetable.slots);
        let runnable = slots.runnable(jobs, now, self.n_compared(allowance.left()));
        let chronons_left = |job: u32| jobs.get(job).finish - now;
        let next_starts: Vec<_> = runnable.iter().map(|&job| self.next_start(job)).collect();
        if !std::mem::replace(&mut self.has_learned, true) {
            let by_finish = slots.n_runnable_by_finish(jobs, now, now.saturating_add(FURTHEST as u32));
            let n_waiting: u32 = by_finish.iter().map(|entry| entry.1).sum();
            let left = by_finish.into_iter().map(|(finish, n_jobs)| (finish - now, n_jobs));
            self.risk_of_waiting = self.risk.learn(self.timetable.budget.grant(now), left);
            let each = f64::from(n_waiting) / runnable.len().max(1) as f64;
            self.joins.note_waiting(next_starts.iter().copied(), each);
        }
        let risk = self.risk_of_waiting;
        let candidate = |(job, next_start)| {
            let record = jobs.get(job);
            let gain = record.density() - price;
            let chance = self.joins.chance(next_start, chronons_left(job));
            let side_loss = self.side_worth(record.source).loss / record.cost;
            let loss = side_loss + risk * gain - (1.0 - risk) * price * chance;
            Candidate { deadline: record.finish, job, cost: record.cost, gain, loss }
        };
        let waiting = runnable.into_iter().zip(next_starts);
        waiting.filter(|&(job, _)| is_free(jobs.get(job).source)).map(candidate).collect()
    }

    /// How many runnable jobs are compared at most where there is so much to spend.
    #[expect(clippy::cast_sign_loss, reason = "it is never negative")]
    pub(super) fn n_compared(&self, units: f64) -> usize {
        let n_probes = (units / self.costs.least()).max(0.0) as usize;
        self.most_candidates.saturating_add(n_probes.saturating_mul(CANDIDATES_PER_PROBE))
    }

    fn run_backlog(&mut self, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        let mut too_expensive = Vec::new();
        while allowance.fits(self.costs.least()) {
            let Some((OrderedF64(old), Reverse(reference))) = self.backlog.pop() else { break };
            let source = self.ledger.eis[reference.record as usize].source;
            if !self.ledger.is_still_left_out(reference)
                || self.ledger.sources[source.index()].chosen_at == self.now
            {
                continue;
            }
            let value = self.worth_now(source);
            let density = value / self.costs.of(source);
            if value <= ROUNDING {
                continue;
            }
            if density < old - ROUNDING {
                self.backlog.push((OrderedF64(density), Reverse(reference)));
            } else if !self.probe(source, allowance, chosen) {
                too_expensive.push((OrderedF64(density), Reverse(reference)));
            }
        }
        too_expensive.into_iter().for_each(|entry| self.backlog.push(entry));
    }

    /// Chooses a source unless it is chosen already. Whether there was enough left for it.
    fn probe(&mut self, source: SourceIdx, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) -> bool {
        let chosen_at = &mut self.ledger.sources[source.index()].chosen_at;
        if *chosen_at == self.now {
            return true;
        }
        let fits = allowance.spend(self.costs.of(source));
        if fits {
            *chosen_at = self.now;
            chosen.push(source);
            self.chosen.push(source);
        }
        fits
    }
}
