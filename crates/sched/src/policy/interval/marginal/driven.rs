//! The plan as a part of the scheduler, which decides itself when a probe begins and reports its outcome later.

use std::cmp::Reverse;

use dunlin_core::{Allowance, Budget, Costs, SourceIdx};

use super::super::cei_ledger::EiState;
use super::backlog::Backlog;
use super::ordered_f64::{OrderedF64, ROUNDING};
use super::slots::Slots;
use super::worth::MAX_CONSIDERED;
use super::{Pick, Planner, PlannerEvent, Reference, SideWorth};

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// Goes to the chronon `now`, if it is not there yet. `units` is what is saved up to be spent, and `floor` what a unit of
    /// budget is worth to others.
    pub(crate) fn go_to(&mut self, now: u32, units: f64, floor: f64) {
        self.floor = self.unit.map_or(0.0, |unit| floor / unit);
        if now > self.now {
            self.price.learn(self.timetable.budget.mean());
            self.begin(now);
            self.timetable.budget.meet(now, units);
        }
    }

    /// Plans what has to be planned with so much to spend.
    pub(crate) fn plan_with(&mut self, units: f64) {
        self.plan((units + ROUNDING).floor());
    }

    /// The sources that the coming plan and choice compare: where an interval is open that has to be planned, and where a job
    /// could run. Each once.
    pub(crate) fn sources_in_question(&self, units: f64) -> Vec<SourceIdx> {
        let has_begun =
            |ei: &u32| self.ledger.is_open(*ei) && self.ledger.eis[*ei as usize].start <= self.now;
        let unplanned = self.ledger.unplanned().flat_map(|cei| self.ledger.members(cei)).filter(has_begun);
        let to_plan = unplanned.map(|ei| self.ledger.eis[ei as usize].source);
        let jobs = &self.timetable.jobs;
        let runnable = self.timetable.slots.runnable(jobs, self.now, self.n_compared(units));
        let mut sources: Vec<SourceIdx> =
            to_plan.chain(runnable.into_iter().map(|job| jobs.get(job).source)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// The jobs to run now, taken out of the plan; one that does not run must be put back.
    pub(crate) fn take_picks(
        &mut self,
        allowance: Allowance,
        is_free: impl FnMut(SourceIdx) -> bool,
    ) -> Vec<Pick> {
        let picks = self.picks(allowance, is_free);
        for pick in &picks {
            self.timetable.unplace(pick.job);
            self.ledger.sources[pick.source.index()].chosen_at = self.now;
        }
        picks
    }

    /// A job that was to run has not: it gets a place from `step` on, or is given up.
    pub(crate) fn put_back(&mut self, pick: Pick, step: u32) {
        let job = self.timetable.jobs.get(pick.job);
        let is_it = job.source == pick.source && job.at.is_none() && !job.eis.is_empty();
        if is_it && (job.finish < step || !self.place_or_evict(pick.job, step)) {
            self.dissolve(pick.job);
        }
    }

    /// For which chronon the plan has the next probe of a source.
    pub(crate) fn planned_for(&self, source: SourceIdx) -> Option<u32> {
        let jobs = self.ledger.sources.get(source.index()).map_or(&[][..], |record| &record.jobs);
        jobs.iter().filter_map(|job| self.timetable.jobs.get(*job).at).min()
    }

    /// What the chronon had no use for; called once in a chronon.
    pub(crate) fn note_idle(&mut self, left: f64) {
        self.price.note_idle(self.idle_part(left));
    }

    /// What a probe of `source` is worth now besides the intervals that it captures.
    pub(crate) fn set_side_worth(&mut self, source: SourceIdx, side: SideWorth) {
        if self.side_worth.len() <= source.index() {
            self.side_worth.resize(source.index() + 1, SideWorth::default());
        }
        let unit = self.unit.unwrap_or(1.0);
        self.side_worth[source.index()] = SideWorth { worth: side.worth / unit, loss: side.loss / unit };
    }

    /// Other costs from now on.
    pub(crate) fn set_costs(&mut self, costs: Costs) {
        (self.has_uniform_costs, self.costs) = (costs.is_uniform(), costs);
    }

    /// What the chronon has no use for, in whole probes.
    fn idle_part(&self, left: f64) -> f64 {
        let least = self.costs.least();
        ((left + ROUNDING) / least).floor().max(0.0) * least
    }

    /// Another budget from now on.
    pub(crate) fn set_budget(&mut self, budget: &Budget) {
        self.most_at_once = budget.most_in_one_chronon(u32::MAX).max(1.0);
        self.timetable.set_budget(budget, self.now);
    }

    /// A need is no longer wanted.
    pub(crate) fn withdraw(&mut self, record: u32, id: u64) {
        let is_it = self.ledger.ceis.get(record as usize).is_some_and(|cei| cei.is_live && cei.id == id);
        if is_it {
            self.retire(record);
            self.tidy();
        }
    }

    /// An interval that has just been admitted is one that a probe in flight began within.
    pub(crate) fn join_probe(&mut self, record: u32, line: u32) -> Option<Reference> {
        let ei = self.ledger.members(record).nth(line as usize)?;
        self.ledger.close(ei, EiState::Probing);
        Some(self.ledger.reference(ei))
    }

    /// The number of the need that an interval is part of, and its position there, if it still waits for a probe in flight.
    pub(crate) fn name_of(&self, reference: Reference) -> Option<(u64, u32)> {
        let is_it = self.ledger.is_still_probing(reference);
        let ei = reference.record;
        is_it.then(|| (self.ledger.cei_of(ei).id, self.ledger.eis[ei as usize].line))
    }

    /// What became of needs since this was last asked.
    pub(crate) fn take_events(&mut self) -> Vec<PlannerEvent> {
        std::mem::take(&mut self.events)
    }

    /// The most valuable source of those that the plan has no place for, and what a probe of it is worth per unit of cost.
    /// Sources that are not free are passed over, at most a few.
    pub(crate) fn best_in_backlog(
        &mut self,
        mut is_free: impl FnMut(SourceIdx) -> bool,
    ) -> Option<(SourceIdx, f64)> {
        let mut passed_over = Vec::new();
        let mut best = None;
        while passed_over.len() < MAX_CONSIDERED {
            let Some((OrderedF64(old), Reverse(reference))) = self.backlog.pop() else { break };
            let source = self.ledger.eis[reference.record as usize].source;
            if !self.ledger.is_still_left_out(reference) {
                continue;
            }
            let density = self.worth_now(source) / self.costs.of(source);
            let entry = (OrderedF64(density), Reverse(reference));
            if density <= ROUNDING {
                continue;
            }
            if density < old - ROUNDING {
                self.backlog.push(entry);
            } else if is_free(source) {
                best = Some((source, density));
                self.backlog.push(entry);
                break;
            } else {
                passed_over.push(entry);
            }
        }
        passed_over.into_iter().for_each(|entry| self.backlog.push(entry));
        best.map(|(source, density)| (source, density * self.unit.unwrap_or(1.0)))
    }

    /// What a probe of `source` would add now, in units of the first weight.
    pub(super) fn worth_now(&self, source: SourceIdx) -> f64 {
        let has_begun = |&ei: &u32| self.ledger.eis[ei as usize].start <= self.now;
        let open = self.ledger.open_on(source).take(MAX_CONSIDERED).filter(has_begun);
        open.map(|ei| self.bid(ei)).sum()
    }

    /// What a probe of `source` would add now.
    pub(crate) fn worth(&self, source: SourceIdx) -> f64 {
        self.worth_now(source) * self.unit.unwrap_or(1.0)
    }
}
