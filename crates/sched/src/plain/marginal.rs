//! The marginal policy over stores that remember nothing: every question about the plan is answered by
//! scanning all jobs, and the best backlog entry is found by scanning the whole backlog. Prices, bids and the order of
//! decisions are shared with the fast policy; its heaps and calendars of jobs are not.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::{Allowance, Budget, Chronon, Costs, Observation, SourceIdx};

use crate::policy::marginal::{Backlog, BacklogEntry, Jobs, Planner, SlotSummary, Slots};
use crate::policy::{Arrival, Policy};

/// The marginal policy, without heaps.
#[derive(Debug, Clone)]
pub struct PlainMarginal(Planner<PlainSlots, PlainBacklog>);

impl PlainMarginal {
    /// A policy that plans with this budget and these costs.
    pub fn new(budget: &Budget, costs: Costs) -> Self {
        Self(Planner::new(budget, costs))
    }
}

impl Policy for PlainMarginal {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        self.0.arrive(now, arrival);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.0.choose(now, allowance, chosen);
    }

    fn observe(&mut self, observation: Observation) {
        self.0.observe(observation);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct PlainSlots;

impl Slots for PlainSlots {
    fn new() -> Self {
        Self
    }

    fn advance(&mut self, _: &Jobs, _: u32) {}

    fn entered(&mut self, _: &Jobs, _: u32) {}

    fn left(&mut self, _: &Jobs, _: u32, _: u32) {}

    fn revalued(&mut self, _: &Jobs, _: u32) {}

    fn changed(&mut self, _: &Jobs, _: u32) {}

    fn summary(&self, jobs: &Jobs, at: u32) -> SlotSummary {
        let mut summary = SlotSummary::EMPTY;
        // By number, so that among equals the last one stays.
        for (number, job, _) in jobs.placed().filter(|&(.., own)| own == at) {
            summary.n_jobs += 1;
            summary.used += job.cost;
            if job.finish >= summary.latest.0 {
                summary.latest = (job.finish, number);
            }
            if job.start <= summary.earliest.0 {
                summary.earliest = (job.start, number);
            }
            if job.density().total_cmp(&summary.least.0).is_le() {
                summary.least = (job.density(), number);
            }
        }
        summary
    }

    fn runnable(&self, jobs: &Jobs, now: u32, most: usize) -> Vec<u32> {
        let runnable = || jobs.placed().filter(|(_, job, _)| job.start <= now);
        let mut numbers: Vec<u32> = runnable().map(|(number, ..)| number).collect();
        if numbers.len() > most {
            let mut by_finish: Vec<_> = runnable().map(|(number, job, _)| (job.finish, number)).collect();
            by_finish.sort_unstable();
            let mut by_value: Vec<_> = runnable().map(|(number, job, _)| (job.density(), number)).collect();
            by_value.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let urgent = by_finish.into_iter().take(most / 2).map(|entry| entry.1);
            let is_first: BTreeSet<u32> =
                urgent.chain(by_value.into_iter().take(most / 2).map(|entry| entry.1)).collect();
            numbers.retain(|number| is_first.contains(number));
        }
        numbers
    }

    fn n_runnable_by_finish(&self, jobs: &Jobs, now: u32, furthest: u32) -> Vec<(u32, u32)> {
        let mut counts = BTreeMap::new();
        for (_, job, _) in jobs.placed().filter(|(_, job, _)| job.start <= now) {
            *counts.entry(job.finish.min(furthest)).or_default() += 1;
        }
        counts.into_iter().collect()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct PlainBacklog(Vec<BacklogEntry>);

impl Backlog for PlainBacklog {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn push(&mut self, entry: BacklogEntry) {
        self.0.push(entry);
    }

    fn pop(&mut self) -> Option<BacklogEntry> {
        let best = (0..self.0.len()).max_by_key(|&position| self.0[position])?;
        Some(self.0.swap_remove(best))
    }

    fn retain(&mut self, keep: impl Fn(&BacklogEntry) -> bool) {
        self.0.retain(keep);
    }
}
