//! The probes of a chronon: which jobs run, where the others go, and what is left over for the spares.

use std::cmp::Reverse;

use dunlin_core::{Allowance, SourceIdx};

use super::Planner;
use super::number::{Number, ROUNDING};
use super::run_order::{Candidate, run_order};
use super::slots::Slots;
use super::spares::Spares;

/// A job to run now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    pub(crate) job: u32,
    pub(crate) source: SourceIdx,
}

impl<S: Slots, L: Spares> Planner<S, L> {
    /// Runs the jobs whose postponement would lose most, moves on those that were planned for now and passed
    /// over, and gives what is left to the spares.
    pub(super) fn run(&mut self, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        for Pick { job, source } in self.picks(allowance.clone(), |_| true) {
            self.timetable.unplace(job);
            if !self.probe(source, allowance, chosen) {
                self.dissolve(job);
            }
        }
        self.postpone();
        self.note_idle(allowance.left());
        self.run_spares(allowance, chosen);
    }

    /// Moves on the jobs that were planned for now and have not run.
    pub(crate) fn postpone(&mut self) {
        let now = self.now;
        while self.timetable.summary(now).n_jobs > 0 {
            let (_, job) = self.timetable.summary(now).latest;
            self.timetable.unplace(job);
            let source = self.timetable.jobs.get(job).source;
            let is_probed = self.books.sources[source.index()].chosen_at == now;
            let stays = is_probed || now.checked_add(1).is_some_and(|next| self.place_or_evict(job, next));
            if !stays {
                self.dissolve(job);
            }
        }
        self.tidy();
    }

    /// The jobs to run, of those whose source is free. What was planned together fits together; where costs differ it goes first, because
    /// others might leave a rest that is no use to anybody.
    pub(crate) fn picks(
        &mut self,
        mut allowance: Allowance,
        is_free: impl FnMut(SourceIdx) -> bool,
    ) -> Vec<Pick> {
        let candidates = self.candidates(is_free);
        let (now, jobs, supply) = (self.now, &self.timetable.jobs, &self.timetable.supply);
        let goes_first =
            |candidate: &Candidate| !self.has_uniform_costs && jobs.get(candidate.job).at == Some(now);
        let (first, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(goes_first);
        let mut choose = |candidates| {
            run_order(candidates, &mut allowance, self.costs.least(), |deadline| {
                supply.between(now, deadline)
            })
        };
        let mut running = choose(first);
        running.append(&mut choose(others));
        running.into_iter().map(|job| Pick { job, source: jobs.get(job).source }).collect()
    }

    /// The jobs that can run now, if their source is free. Not running one risks its loss to newcomers with earlier deadlines; but
    /// meanwhile others may join it and share its price.
    fn candidates(&mut self, mut is_free: impl FnMut(SourceIdx) -> bool) -> Vec<Candidate> {
        let (now, price) = (self.now, self.price());
        let runnable = self.timetable.slots.runnable(&self.timetable.jobs, now);
        let jobs = &self.timetable.jobs;
        let chronons_left = |job: u32| jobs.get(job).finish - now;
        let outlooks: Vec<_> = runnable.iter().map(|&job| self.outlook(job)).collect();
        if !std::mem::replace(&mut self.has_learned, true) {
            let left = runnable.iter().map(|&job| chronons_left(job));
            self.risk_of_waiting = self.risk.learn(self.timetable.supply.grant(now), left);
            self.company.note_waiting(outlooks.iter().copied());
        }
        let risk = self.risk_of_waiting;
        let candidate = |(job, outlook)| {
            let record = jobs.get(job);
            let gain = record.density() - price;
            let chance = self.company.chance(outlook, chronons_left(job));
            let side_loss = self.side_worth(record.source).loss / record.cost;
            let loss = side_loss + risk * gain - (1.0 - risk) * price * chance;
            Candidate { deadline: record.finish, job, cost: record.cost, gain, loss }
        };
        let waiting = runnable.into_iter().zip(outlooks);
        waiting.filter(|&(job, _)| is_free(jobs.get(job).source)).map(candidate).collect()
    }

    fn run_spares(&mut self, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        let mut too_dear = Vec::new();
        while allowance.fits(self.costs.least()) {
            let Some((Number(old), Reverse(reference))) = self.spares.pop() else { break };
            let source = self.books.eis[reference.record as usize].source;
            if !self.books.is_still_left_out(reference)
                || self.books.sources[source.index()].chosen_at == self.now
            {
                continue;
            }
            let value = self.worth_now(source);
            let density = value / self.costs.of(source);
            if value <= ROUNDING {
                continue;
            }
            if density < old - ROUNDING {
                self.spares.push((Number(density), Reverse(reference)));
            } else if !self.probe(source, allowance, chosen) {
                too_dear.push((Number(density), Reverse(reference)));
            }
        }
        too_dear.into_iter().for_each(|spare| self.spares.push(spare));
    }

    /// Chooses a source unless it is chosen already. Whether there was enough left for it.
    fn probe(&mut self, source: SourceIdx, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) -> bool {
        let chosen_at = &mut self.books.sources[source.index()].chosen_at;
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
