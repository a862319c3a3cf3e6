//! The marginal policy over stores that remember nothing: every question about the plan is answered by
//! looking at all jobs, and the best spare is found by looking at all spares. Prices, bids and the order of
//! decisions are shared with the fast policy; its heaps and calendars of jobs are not.

use dunlin_core::{Allowance, Budget, Chronon, Costs, Observation, SourceIdx};

use crate::policy::marginal::{Jobs, Planner, Slots, Spare, Spares, Summary};
use crate::policy::{Arrival, Policy};

/// The marginal policy, without heaps.
#[derive(Debug, Clone)]
pub struct PlainMarginal(Planner<AllJobs, AllSpares>);

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
struct AllJobs;

impl Slots for AllJobs {
    fn new() -> Self {
        Self
    }

    fn advance(&mut self, _: u32) {}

    fn entered(&mut self, _: &Jobs, _: u32) {}

    fn left(&mut self, _: &Jobs, _: u32, _: f64) {}

    fn revalued(&mut self, _: &Jobs, _: u32) {}

    fn changed(&mut self, _: &Jobs, _: u32) {}

    fn summary(&self, jobs: &Jobs, at: u32) -> Summary {
        let mut summary = Summary::EMPTY;
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

    fn runnable(&mut self, jobs: &Jobs, now: u32) -> Vec<u32> {
        jobs.placed().filter(|(_, job, _)| job.start <= now).map(|(number, ..)| number).collect()
    }
}

#[derive(Debug, Clone, Default)]
struct AllSpares(Vec<Spare>);

impl Spares for AllSpares {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn push(&mut self, spare: Spare) {
        self.0.push(spare);
    }

    fn pop(&mut self) -> Option<Spare> {
        let best = (0..self.0.len()).max_by_key(|&position| self.0[position])?;
        Some(self.0.swap_remove(best))
    }

    fn retain(&mut self, keep: impl Fn(&Spare) -> bool) {
        self.0.retain(keep);
    }
}
