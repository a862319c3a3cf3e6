//! The timetable: which chronon each job is planned for, within the budget of the chronons. It finds a
//! place for one job more by shifting others inside their windows. It never drops a job.

use dunlin_core::Budget;

use super::jobs::Jobs;
use super::ordered_f64::ROUNDING;
use super::planned_budget::{HORIZON, PlannedBudget, ring};
use super::slots::{SlotSummary, Slots};

#[derive(Debug, Clone)]
pub(crate) struct Timetable<S> {
    pub(crate) jobs: Jobs,
    pub(crate) slots: S,
    pub(crate) budget: PlannedBudget,
    /// During a search: the chronon whose job would move to this one, by chronon in a ring.
    origins: Vec<Option<u32>>,
}

/// Chronons first to last.
pub(crate) type ChrononSpan = (u32, u32);

impl<S: Slots> Timetable<S> {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            jobs: Jobs::default(),
            slots: S::new(),
            budget: PlannedBudget::new(budget),
            origins: vec![None; HORIZON as usize],
        }
    }

    /// Makes `now` the present chronon. Nothing may be planned for an earlier one any more.
    pub(crate) fn advance(&mut self, now: u32) {
        self.budget.advance(now);
        self.slots.advance(&self.jobs, now);
    }

    /// Another budget from `now` on. Jobs keep their places: what no longer fits moves on when its chronon comes.
    pub(crate) fn set_budget(&mut self, budget: &Budget, now: u32) {
        self.budget.set_budget(budget, now);
    }

    pub(crate) fn summary(&self, at: u32) -> SlotSummary {
        self.slots.summary(&self.jobs, at)
    }

    /// Whether `at` has room for another job of this cost.
    pub(crate) fn has_room(&self, at: u32, cost: f64) -> bool {
        self.summary(at).used + cost <= self.budget.capacity(at) + ROUNDING
    }

    /// Takes a job's place away.
    pub(crate) fn unplace(&mut self, job: u32) {
        if let Some(at) = self.jobs.get_mut(job).at.take() {
            self.slots.left(&self.jobs, job, at);
        }
    }

    /// Gives a job a place at `at`, whether there is room or not.
    pub(crate) fn put(&mut self, job: u32, at: u32) {
        self.unplace(job);
        self.jobs.get_mut(job).at = Some(at);
        self.slots.entered(&self.jobs, job);
    }

    /// Finds a place for `job` at `from` or later, shifting others if need be.
    ///
    /// The chronons that shifting can reach form a span, because a job's window is one and contains its
    /// place; the span grows by the job that reaches furthest. On failure returns that span: it is full,
    /// and none of its jobs can leave it.
    pub(crate) fn place(&mut self, job: u32, from: u32) -> Result<(), ChrononSpan> {
        let (end, record) = (self.budget.end(), self.jobs.get(job));
        let (mut first, mut last) = (record.start.max(from), record.finish.min(end));
        // How far the jobs of the span reach, and from where.
        let (mut right, mut left) = ((0, 0), (u32::MAX, 0));
        let (mut fresh, mut origin, mut cost) = ((first, last), None, record.cost);
        loop {
            for at in fresh.0..=fresh.1 {
                self.origins[ring(at)] = origin;
                let summary = self.summary(at);
                if summary.used + cost <= self.budget.capacity(at) + ROUNDING && self.chain_fits(job, at) {
                    self.shift(job, at);
                    return Ok(());
                }
                if summary.n_jobs > 0 {
                    if summary.latest.0 > right.0 {
                        right = (summary.latest.0, at);
                    }
                    if summary.earliest.0 < left.0 {
                        left = (summary.earliest.0, at);
                    }
                }
            }
            let (rightmost, leftmost) = (right.0.min(end), left.0.max(from));
            if rightmost > last {
                (fresh, origin, last) = ((last + 1, rightmost), Some(right.1), rightmost);
                cost = self.jobs.get(self.summary(right.1).latest.1).cost;
            } else if leftmost < first {
                (fresh, origin, first) = ((leftmost, first - 1), Some(left.1), leftmost);
                cost = self.jobs.get(self.summary(left.1).earliest.1).cost;
            } else {
                return Err((first, last));
            }
        }
    }

    /// The job that would move from `origin` to `to`: the one that reaches furthest that way.
    fn mover(&self, origin: u32, to: u32) -> u32 {
        let summary = self.summary(origin);
        if to > origin { summary.latest.1 } else { summary.earliest.1 }
    }

    /// There is room at `to`. Whether each job of the chain that leads there fits where the next one left,
    /// and `job` where the first one did. Always so when all cost the same.
    fn chain_fits(&self, job: u32, mut to: u32) -> bool {
        while let Some(origin) = self.origins[ring(to)] {
            let leaving = self.jobs.get(self.mover(origin, to)).cost;
            let entering = match self.origins[ring(origin)] {
                Some(before) => self.mover(before, origin),
                None => job,
            };
            if !self.has_room(origin, self.jobs.get(entering).cost - leaving) {
                return false;
            }
            to = origin;
        }
        true
    }

    /// Moves one job along each link of the chain that leads to `to`, then puts `job` at its beginning.
    fn shift(&mut self, job: u32, mut to: u32) {
        while let Some(origin) = self.origins[ring(to)] {
            self.put(self.mover(origin, to), to);
            to = origin;
        }
        self.put(job, to);
    }
}
