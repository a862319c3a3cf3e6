//! A plan under construction: which CEIs are in it, and which probes serve them.
//!
//! A *job* is a probe of a source. It serves spans that have blocks in common, may move among those, and
//! stands in one of them. Every span served belongs to exactly one job, so that jobs can be moved one by one
//! without losing anything.
//!
//! Invariant: the jobs in a block never cost more than it can spend, a job stands inside every span that it
//! serves, and a CEI is in the plan only while enough of its spans are served. Every change is recorded
//! and can be undone.

use super::capacity::BlockBudget;
use super::grid::{Grid, Pair};

/// No job.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    pub(super) source: u32,
    pub(super) block: u32,
    /// The spans it serves.
    users: Vec<u32>,
    /// The blocks that all of them have in common.
    pub(super) first: u32,
    pub(super) last: u32,
}

/// A change, as needed to undo it.
#[derive(Debug, Clone, Copy)]
enum Change {
    Joined { span: u32 },
    Left { span: u32, job: u32 },
    Created { job: u32 },
    Removed { job: u32, source: u32, block: u32 },
    Moved { job: u32, from: u32 },
    Admitted { cei: u32 },
    Dropped { cei: u32 },
}

/// The plan.
#[derive(Debug, Clone)]
pub(super) struct DraftPlan<'a> {
    pub(super) grid: &'a Grid,
    pub(super) block_budget: BlockBudget<'a>,
    jobs: Vec<Job>,
    unused: Vec<u32>,
    in_block: Vec<Vec<u32>>,
    /// Blocks and jobs of each source, by block.
    of_source: Vec<Vec<(u32, u32)>>,
    job_of: Vec<u32>,
    cei_of: Vec<u32>,
    is_in: Vec<bool>,
    value: f64,
    changes: Vec<Change>,
}

impl<'a> DraftPlan<'a> {
    pub(super) fn new(grid: &'a Grid) -> Self {
        let mut cei_of = vec![0; grid.spans.len()];
        for (i, cei) in grid.ceis.iter().enumerate() {
            cei_of[cei.spans.clone()].fill(u32::try_from(i).unwrap_or(u32::MAX));
        }
        Self {
            grid,
            block_budget: grid.block_budget(),
            jobs: Vec::new(),
            unused: Vec::new(),
            in_block: vec![Vec::new(); grid.n_blocks()],
            of_source: vec![Vec::new(); grid.n_sources],
            job_of: vec![NONE; grid.spans.len()],
            cei_of,
            is_in: vec![false; grid.ceis.len()],
            value: 0.0,
            changes: Vec::new(),
        }
    }

    /// Weight of what is in the plan.
    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn contains(&self, cei: u32) -> bool {
        self.is_in[cei as usize]
    }

    pub(super) fn job(&self, job: u32) -> &Job {
        &self.jobs[job as usize]
    }

    pub(super) fn jobs_in(&self, block: u32) -> &[u32] {
        &self.in_block[block as usize]
    }

    /// The source's jobs that stand within the blocks, by block.
    pub(super) fn jobs_of(&self, source: u32, first: u32, last: u32) -> &[(u32, u32)] {
        let own = &self.of_source[source as usize];
        let from = own.partition_point(|&(block, _)| block < first);
        let to = from + own[from..].partition_point(|&(block, _)| block <= last);
        &own[from..to]
    }

    pub(super) fn is_served(&self, span: u32) -> bool {
        self.job_of[span as usize] != NONE
    }

    /// The CEIs that a job serves, each once.
    pub(super) fn wants_of(&self, job: u32) -> Vec<u32> {
        let users = &self.jobs[job as usize].users;
        let mut ceis: Vec<u32> = users.iter().map(|&span| self.cei_of[span as usize]).collect();
        ceis.sort_unstable();
        ceis.dedup();
        ceis
    }

    /// What is probed.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let blocks = self.in_block.iter().flatten();
        blocks.map(|&job| Pair { block: self.job(job).block, source: self.job(job).source }).collect()
    }

    /// How many changes have been made and not taken back.
    pub(super) fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Blocks that jobs have left for good since `mark`.
    pub(super) fn vacated(&self, mark: usize) -> Vec<u32> {
        let vacated = self.changes[mark..].iter().filter_map(|change| match change {
            Change::Removed { block, .. } => Some(*block),
            _ => None,
        });
        vacated.collect()
    }

    /// Makes the changes so far final.
    pub(super) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    pub(super) fn create(&mut self, source: u32, block: u32) -> u32 {
        let job = self.place(source, block);
        self.changes.push(Change::Created { job });
        job
    }

    pub(super) fn move_to(&mut self, job: u32, block: u32) {
        let from = self.jobs[job as usize].block;
        self.take_out(job);
        self.put_in(job, block);
        self.changes.push(Change::Moved { job, from });
    }

    pub(super) fn join(&mut self, job: u32, span: u32) {
        self.attach(job, span);
        self.changes.push(Change::Joined { span });
    }

    /// Hands everything one job serves to another in whose place it could stand, and removes it.
    pub(super) fn merge(&mut self, job: u32, into: u32) {
        for span in self.jobs[job as usize].users.clone() {
            self.leave(span);
            self.join(into, span);
        }
        self.remove_if_idle(job);
    }

    pub(super) fn admit(&mut self, cei: u32) {
        self.is_in[cei as usize] = true;
        self.value += self.grid.ceis[cei as usize].weight;
        self.changes.push(Change::Admitted { cei });
    }

    /// Takes a CEI out of the plan, and the jobs that served only it.
    pub(super) fn drop_want(&mut self, cei: u32) {
        for span in self.grid.ceis[cei as usize].spans.clone() {
            let job = self.job_of[span];
            if job != NONE {
                self.leave(u32::try_from(span).unwrap_or(NONE));
                self.remove_if_idle(job);
            }
        }
        self.is_in[cei as usize] = false;
        self.value -= self.grid.ceis[cei as usize].weight;
        self.changes.push(Change::Dropped { cei });
    }

    fn leave(&mut self, span: u32) {
        let job = self.job_of[span as usize];
        self.detach(span);
        self.changes.push(Change::Left { span, job });
    }

    fn remove_if_idle(&mut self, job: u32) {
        let Job { source, block, ref users, .. } = self.jobs[job as usize];
        if users.is_empty() {
            self.discard(job);
            self.changes.push(Change::Removed { job, source, block });
        }
    }

    /// Takes back everything since `mark`.
    pub(super) fn undo(&mut self, mark: usize) {
        while self.changes.len() > mark {
            let Some(change) = self.changes.pop() else { return };
            match change {
                Change::Joined { span } => self.detach(span),
                Change::Left { span, job } => self.attach(job, span),
                Change::Created { job } => self.discard(job),
                Change::Removed { job, source, block } => {
                    let again = self.place(source, block);
                    debug_assert_eq!(again, job, "jobs come back in the order in which they went");
                }
                Change::Moved { job, from } => {
                    self.take_out(job);
                    self.put_in(job, from);
                }
                Change::Admitted { cei } => {
                    self.is_in[cei as usize] = false;
                    self.value -= self.grid.ceis[cei as usize].weight;
                }
                Change::Dropped { cei } => {
                    self.is_in[cei as usize] = true;
                    self.value += self.grid.ceis[cei as usize].weight;
                }
            }
        }
    }

    /// Panics unless the invariant holds.
    #[cfg(test)]
    pub(super) fn check(&self) {
        for (i, cei) in self.grid.ceis.iter().enumerate() {
            let jobs =
                cei.spans.clone().map(|span| (span, self.job_of[span])).filter(|(_, job)| *job != NONE);
            let served: Vec<_> = jobs.collect();
            assert_eq!(served.len() as u32, if self.is_in[i] { cei.need } else { 0 });
            for (span, job) in served {
                let (covered, job) = (self.grid.spans[span], self.job(job));
                assert!(job.source == covered.source && covered.covers(job.block));
                assert!(
                    job.first <= job.block && job.block <= job.last && job.users.contains(&(span as u32))
                );
            }
        }
        let mut pairs = self.pairs();
        let n_pairs = pairs.len();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), n_pairs, "no source twice in a block");
        assert_eq!(self.grid.block_budget().afford(&pairs, |source| self.grid.cost(source)).len(), n_pairs);
    }

    fn place(&mut self, source: u32, block: u32) -> u32 {
        let job = self.unused.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            u32::try_from(self.jobs.len() - 1).unwrap_or(NONE)
        });
        let own = &mut self.jobs[job as usize];
        (own.source, own.first, own.last) = (source, 0, u32::MAX);
        self.put_in(job, block);
        job
    }

    fn discard(&mut self, job: u32) {
        self.take_out(job);
        self.unused.push(job);
    }

    fn put_in(&mut self, job: u32, block: u32) {
        let source = self.jobs[job as usize].source;
        self.jobs[job as usize].block = block;
        self.in_block[block as usize].push(job);
        let own = &mut self.of_source[source as usize];
        let at = own.partition_point(|&(other, _)| other < block);
        own.insert(at, (block, job));
        self.block_budget.spend(block, self.grid.cost(source));
    }

    fn take_out(&mut self, job: u32) {
        let Job { source, block, .. } = self.jobs[job as usize];
        self.in_block[block as usize].retain(|&other| other != job);
        self.of_source[source as usize].retain(|&(_, other)| other != job);
        self.block_budget.refund(block, self.grid.cost(source));
    }

    fn attach(&mut self, job: u32, span: u32) {
        let covered = self.grid.spans[span as usize];
        self.job_of[span as usize] = job;
        let job = &mut self.jobs[job as usize];
        job.users.push(span);
        (job.first, job.last) = (job.first.max(covered.first), job.last.min(covered.last));
    }

    fn detach(&mut self, span: u32) {
        let job = std::mem::replace(&mut self.job_of[span as usize], NONE);
        let job = &mut self.jobs[job as usize];
        job.users.retain(|&other| other != span);
        (job.first, job.last) = (0, u32::MAX);
        for &user in &job.users {
            let covered = self.grid.spans[user as usize];
            (job.first, job.last) = (job.first.max(covered.first), job.last.min(covered.last));
        }
    }
}
