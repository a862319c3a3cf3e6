//! What searches in the plan ask of a chronon: how full it is, and which of its jobs could go furthest and
//! which is worth least. Answered here from heaps, whose entries are recognised as out of date by comparing
//! them with the job. Nothing is decided here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use super::super::chronon_queue::ChrononQueue;
use super::jobs::{Job, Jobs};
use super::ordered_f64::OrderedF64;
use super::planned_budget::{HORIZON, ring};
use super::runnable::RunnableJobs;

/// The jobs of one chronon in short. Between equal jobs the one with the larger number is named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotSummary {
    pub(crate) n_jobs: u32,
    /// Sum of their costs.
    pub(crate) used: f64,
    /// The latest finish of a job, and whose it is.
    pub(crate) latest: (u32, u32),
    /// The earliest start of a job, and whose it is.
    pub(crate) earliest: (u32, u32),
    /// The least value per cost of a job, and whose it is.
    pub(crate) least: (f64, u32),
}

impl SlotSummary {
    pub(crate) const EMPTY: Self =
        Self { n_jobs: 0, used: 0.0, latest: (0, 0), earliest: (u32::MAX, 0), least: (f64::INFINITY, 0) };
}

/// A store of jobs by chronon. It gets every change and returns summaries.
pub(crate) trait Slots: Clone + Debug {
    /// A store without jobs.
    fn new() -> Self;
    /// `now` begins; the chronons before it hold no jobs any more.
    fn advance(&mut self, jobs: &Jobs, now: u32);
    /// `job` has been given a place.
    fn entered(&mut self, jobs: &Jobs, job: u32);
    /// `job` has lost its place at `at`.
    fn left(&mut self, jobs: &Jobs, job: u32, at: u32);
    /// The value of `job` has changed.
    fn revalued(&mut self, jobs: &Jobs, job: u32);
    /// The window of `job` has changed, and perhaps its value.
    fn changed(&mut self, jobs: &Jobs, job: u32);
    /// The jobs at `at`, which is not before now and within reach.
    fn summary(&self, jobs: &Jobs, at: u32) -> SlotSummary;
    /// The jobs with a place whose window has begun, by number; if there are more than `most`, the half of that with the
    /// earliest deadlines and the half with the largest values per cost. The lower number goes first among equals.
    fn runnable(&self, jobs: &Jobs, now: u32, most: usize) -> Vec<u32>;
    /// How many of them end in which chronon, in order; those from `furthest` on are counted there.
    fn n_runnable_by_finish(&self, jobs: &Jobs, now: u32, furthest: u32) -> Vec<(u32, u32)>;
}

/// The store that policies use.
#[derive(Debug, Clone)]
pub(crate) struct HeapSlots {
    heaps: Vec<Heaps>,
    summaries: Vec<SlotSummary>,
    /// Jobs by the start of their window, and those whose window has begun.
    starting: ChrononQueue<u32>,
    runnable: RunnableJobs,
    /// The start under which each job was last filed, by number.
    filed: Vec<u32>,
    now: u32,
}

#[derive(Debug, Clone, Default)]
struct Heaps {
    finishes: BinaryHeap<(u32, u32)>,
    starts: BinaryHeap<(Reverse<u32>, u32)>,
    densities: BinaryHeap<(Reverse<OrderedF64>, u32)>,
}

impl HeapSlots {
    fn summarise(&mut self, jobs: &Jobs, at: u32) {
        let (heaps, summary) = (&mut self.heaps[ring(at)], &mut self.summaries[ring(at)]);
        let most = 4 * summary.n_jobs as usize + 16;
        let holds = |job: u32, suits: &dyn Fn(&Job) -> bool| {
            let job = jobs.get(job);
            job.at == Some(at) && suits(job)
        };
        clean(&mut heaps.finishes, most, |&(finish, job)| holds(job, &|job| job.finish == finish));
        clean(&mut heaps.starts, most, |&(start, job)| holds(job, &|job| job.start == start.0));
        clean(&mut heaps.densities, most, |&(density, job)| {
            holds(job, &|job| OrderedF64(job.density()) == density.0)
        });
        let none = SlotSummary::EMPTY;
        summary.latest = heaps.finishes.peek().copied().unwrap_or(none.latest);
        summary.earliest = heaps.starts.peek().map_or(none.earliest, |entry| (entry.0.0, entry.1));
        summary.least = heaps.densities.peek().map_or(none.least, |entry| (entry.0.0.0, entry.1));
    }

    fn list(&mut self, jobs: &Jobs, number: u32, at: u32) {
        let (job, heaps) = (jobs.get(number), &mut self.heaps[ring(at)]);
        heaps.finishes.push((job.finish, number));
        heaps.starts.push((Reverse(job.start), number));
        heaps.densities.push((Reverse(OrderedF64(job.density())), number));
        self.summarise(jobs, at);
    }

    /// Has the job noticed when it can run. A number may be filed more than once, or have passed to another
    /// job since: what counts is the job when its day comes.
    fn await_start(&mut self, jobs: &Jobs, job: u32) {
        self.runnable.update(job, jobs.get(job), self.now);
        let start = jobs.get(job).start;
        if start <= self.now {
            return;
        }
        if self.filed.len() <= job as usize {
            self.filed.resize(job as usize + 1, 0);
        }
        if std::mem::replace(&mut self.filed[job as usize], start) != start {
            self.starting.push(start, job);
        }
    }
}

/// Removes entries that do not count from the top; all of them, and repeated ones, when there are too many.
fn clean<Entry: Ord>(heap: &mut BinaryHeap<Entry>, most: usize, counts: impl Fn(&Entry) -> bool) {
    while heap.peek().is_some_and(|entry| !counts(entry)) {
        heap.pop();
    }
    if heap.len() > most {
        let mut entries = std::mem::take(heap).into_vec();
        entries.retain(counts);
        entries.sort_unstable();
        entries.dedup();
        *heap = entries.into();
    }
}

impl Slots for HeapSlots {
    fn new() -> Self {
        Self {
            heaps: vec![Heaps::default(); HORIZON as usize],
            summaries: vec![SlotSummary::EMPTY; HORIZON as usize],
            starting: ChrononQueue::default(),
            runnable: RunnableJobs::default(),
            filed: Vec::new(),
            now: 0,
        }
    }

    fn advance(&mut self, jobs: &Jobs, now: u32) {
        for past in self.now.max(now.saturating_sub(HORIZON))..now {
            self.heaps[ring(past)] = Heaps::default();
        }
        self.now = now;
        while let Some((_, starting)) = self.starting.take_due(now) {
            for job in starting {
                self.runnable.update(job, jobs.get(job), now);
            }
        }
    }

    fn entered(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            let summary = &mut self.summaries[ring(at)];
            summary.n_jobs += 1;
            summary.used += jobs.get(job).cost;
            self.list(jobs, job, at);
            self.await_start(jobs, job);
        }
    }

    fn left(&mut self, jobs: &Jobs, job: u32, at: u32) {
        let summary = &mut self.summaries[ring(at)];
        summary.n_jobs -= 1;
        summary.used = if summary.n_jobs == 0 { 0.0 } else { summary.used - jobs.get(job).cost };
        self.summarise(jobs, at);
        self.runnable.update(job, jobs.get(job), self.now);
    }

    fn revalued(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            self.heaps[ring(at)].densities.push((Reverse(OrderedF64(jobs.get(job).density())), job));
            self.summarise(jobs, at);
            self.runnable.update(job, jobs.get(job), self.now);
        }
    }

    fn changed(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            self.list(jobs, job, at);
            self.await_start(jobs, job);
        }
    }

    fn summary(&self, _: &Jobs, at: u32) -> SlotSummary {
        self.summaries[ring(at)]
    }

    fn runnable(&self, _: &Jobs, _: u32, most: usize) -> Vec<u32> {
        self.runnable.first(most)
    }

    fn n_runnable_by_finish(&self, _: &Jobs, _: u32, furthest: u32) -> Vec<(u32, u32)> {
        self.runnable.n_by_finish(furthest)
    }
}
