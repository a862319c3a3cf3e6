//! The probes of a chronon: which jobs run, where the others go, and what is left over for the spares.

use std::cmp::Reverse;

use dunlin_core::{Allowance, SourceIdx};

use super::Planner;
use super::number::{Number, ROUNDING};
use super::run_order::{Candidate, run_order};
use super::slots::Slots;
use super::spares::Spares;
use super::worth::LOOK;

impl<S: Slots, L: Spares> Planner<S, L> {
    /// Runs the jobs whose postponement would lose most, moves on those that were planned for now and passed
    /// over, and gives what is left to the spares.
    pub(super) fn run(&mut self, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        let now = self.now;
        for job in self.choose_jobs(allowance.clone()) {
            self.timetable.unplace(job);
            let source = self.timetable.jobs.get(job).source;
            if !self.probe(source, allowance, chosen) {
                self.dissolve(job);
            }
        }
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
        let least = self.costs.least();
        self.price.note_idle(((allowance.left() + ROUNDING) / least).floor().max(0.0) * least);
        self.run_spares(allowance, chosen);
    }

    /// The jobs to run. What was planned together fits together; where costs differ it goes first, because
    /// others might leave a rest that is no use to anybody.
    fn choose_jobs(&mut self, mut allowance: Allowance) -> Vec<u32> {
        let candidates = self.candidates();
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
        running
    }

    /// The jobs that can run now. Not running one risks its loss to newcomers with earlier deadlines; but
    /// meanwhile others may join it and share its price.
    fn candidates(&mut self) -> Vec<Candidate> {
        let (now, price) = (self.now, self.price.get());
        let runnable = self.timetable.slots.runnable(&self.timetable.jobs, now);
        let jobs = &self.timetable.jobs;
        let chronons_left = |job: u32| jobs.get(job).finish - now;
        let risk =
            self.risk.learn(self.timetable.supply.grant(now), runnable.iter().map(|&job| chronons_left(job)));
        let outlooks: Vec<_> = runnable.iter().map(|&job| self.outlook(job)).collect();
        self.company.note_waiting(outlooks.iter().copied());
        let candidate = |(job, outlook)| {
            let record = jobs.get(job);
            let gain = record.density() - price;
            let chance = self.company.chance(outlook, chronons_left(job));
            let loss = risk * gain - (1.0 - risk) * price * chance;
            Candidate { deadline: record.finish, job, cost: record.cost, gain, loss }
        };
        runnable.into_iter().zip(outlooks).map(candidate).collect()
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
            let has_begun = |&ei: &u32| self.books.eis[ei as usize].start <= self.now;
            let open = self.books.open_on(source).take(LOOK).filter(has_begun);
            let value = open.map(|ei| self.bid(ei)).sum::<f64>();
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
