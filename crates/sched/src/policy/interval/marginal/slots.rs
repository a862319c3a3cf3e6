//! What searches in the plan ask of a chronon: how full it is, and which of its jobs could go furthest and
//! which is worth least. Answered here from heaps, whose entries are recognised as out of date by comparing
//! them with the job. Nothing is decided here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use super::calendar::Calendar;
use super::jobs::{Job, Jobs};
use super::number::Number;
use super::supply::{REACH, ring};

/// The jobs of one chronon in short. Between equal jobs the one with the larger number is named.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
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

impl Summary {
    pub(crate) const EMPTY: Self =
        Self { n_jobs: 0, used: 0.0, latest: (0, 0), earliest: (u32::MAX, 0), least: (f64::INFINITY, 0) };
}

/// A store of jobs by chronon. It is told of every change and asked for summaries.
pub(crate) trait Slots: Clone + Debug {
    /// A store without jobs.
    fn new() -> Self;
    /// `now` begins; the chronons before it hold no jobs any more.
    fn advance(&mut self, now: u32);
    /// `job` has been given a place.
    fn entered(&mut self, jobs: &Jobs, job: u32);
    /// A job of this cost has lost its place at `at`.
    fn left(&mut self, jobs: &Jobs, at: u32, cost: f64);
    /// The value of `job` has changed.
    fn revalued(&mut self, jobs: &Jobs, job: u32);
    /// The window of `job` has changed, and perhaps its value.
    fn changed(&mut self, jobs: &Jobs, job: u32);
    /// The jobs at `at`, which is not before now and within reach.
    fn summary(&self, jobs: &Jobs, at: u32) -> Summary;
    /// Every job with a place whose window has begun, by number.
    fn runnable(&mut self, jobs: &Jobs, now: u32) -> Vec<u32>;
}

/// The store that policies use.
#[derive(Debug, Clone)]
pub(crate) struct HeapSlots {
    heaps: Vec<Heaps>,
    summaries: Vec<Summary>,
    /// Jobs by the start of their window, and those whose window has begun.
    starting: Calendar<u32>,
    runnable: Vec<u32>,
    /// The start under which each job was last filed, by number.
    filed: Vec<u32>,
    now: u32,
}

#[derive(Debug, Clone, Default)]
struct Heaps {
    finishes: BinaryHeap<(u32, u32)>,
    starts: BinaryHeap<(Reverse<u32>, u32)>,
    densities: BinaryHeap<(Reverse<Number>, u32)>,
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
            holds(job, &|job| Number(job.density()) == density.0)
        });
        let none = Summary::EMPTY;
        summary.latest = heaps.finishes.peek().copied().unwrap_or(none.latest);
        summary.earliest = heaps.starts.peek().map_or(none.earliest, |entry| (entry.0.0, entry.1));
        summary.least = heaps.densities.peek().map_or(none.least, |entry| (entry.0.0.0, entry.1));
    }

    fn list(&mut self, jobs: &Jobs, number: u32, at: u32) {
        let (job, heaps) = (jobs.get(number), &mut self.heaps[ring(at)]);
        heaps.finishes.push((job.finish, number));
        heaps.starts.push((Reverse(job.start), number));
        heaps.densities.push((Reverse(Number(job.density())), number));
        self.summarise(jobs, at);
    }

    /// Has the job noticed when it can run. A number may be filed more than once, or have passed to another
    /// job since: what counts is the job when its day comes.
    fn await_start(&mut self, jobs: &Jobs, job: u32) {
        let start = jobs.get(job).start;
        if start <= self.now {
            self.runnable.push(job);
            return;
        }
        if self.filed.len() <= job as usize {
            self.filed.resize(job as usize + 1, 0);
        }
        if std::mem::replace(&mut self.filed[job as usize], start) != start {
            self.starting.file(start, job);
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
            heaps: vec![Heaps::default(); REACH as usize],
            summaries: vec![Summary::EMPTY; REACH as usize],
            starting: Calendar::default(),
            runnable: Vec::new(),
            filed: Vec::new(),
            now: 0,
        }
    }

    fn advance(&mut self, now: u32) {
        for past in self.now.max(now.saturating_sub(REACH))..now {
            self.heaps[ring(past)] = Heaps::default();
        }
        self.now = now;
        while let Some((_, mut jobs)) = self.starting.take_due(now) {
            self.runnable.append(&mut jobs);
        }
    }

    fn entered(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            let summary = &mut self.summaries[ring(at)];
            summary.n_jobs += 1;
            summary.used += jobs.get(job).cost;
            self.list(jobs, job, at);
        }
    }

    fn left(&mut self, jobs: &Jobs, at: u32, cost: f64) {
        let summary = &mut self.summaries[ring(at)];
        summary.n_jobs -= 1;
        summary.used = if summary.n_jobs == 0 { 0.0 } else { summary.used - cost };
        self.summarise(jobs, at);
    }

    fn revalued(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            self.heaps[ring(at)].densities.push((Reverse(Number(jobs.get(job).density())), job));
            self.summarise(jobs, at);
        }
    }

    fn changed(&mut self, jobs: &Jobs, job: u32) {
        if let Some(at) = jobs.get(job).at {
            self.list(jobs, job, at);
            self.await_start(jobs, job);
        }
    }

    fn summary(&self, _: &Jobs, at: u32) -> Summary {
        self.summaries[ring(at)]
    }

    #[expect(clippy::stable_sort_primitive, reason = "faster where a few newcomers follow a list in order")]
    fn runnable(&mut self, jobs: &Jobs, now: u32) -> Vec<u32> {
        self.runnable.sort();
        self.runnable.dedup();
        self.runnable.retain(|&job| jobs.get(job).at.is_some() && jobs.get(job).start <= now);
        self.runnable.clone()
    }
}
