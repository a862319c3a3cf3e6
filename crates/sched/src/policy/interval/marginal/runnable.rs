//! The jobs that could run now, by deadline and by value, kept up to date with every change of the plan: a chronon asks for
//! the first of each, and not for all. Decides nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::jobs::Job;
use super::ordered_f64::OrderedF64;

/// Jobs with a place whose window has begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunnableJobs {
    by_finish: BTreeSet<(u32, u32)>,
    by_density: BTreeSet<(Reverse<OrderedF64>, u32)>,
    n_by_finish: BTreeMap<u32, u32>,
    /// Under which finish and value each job is listed, by number.
    listed: Vec<Option<(u32, OrderedF64)>>,
}

impl RunnableJobs {
    /// Something about a job is different; `number` may have passed to another one since it was last seen.
    pub(crate) fn update(&mut self, number: u32, job: &Job, now: u32) {
        let is_runnable = job.at.is_some() && job.start <= now;
        let key = is_runnable.then(|| (job.finish, OrderedF64(job.density())));
        if self.listed.len() <= number as usize {
            self.listed.resize(number as usize + 1, None);
        }
        let old = std::mem::replace(&mut self.listed[number as usize], key);
        if old == key {
            return;
        }
        if let Some((finish, density)) = old {
            self.by_finish.remove(&(finish, number));
            self.by_density.remove(&(Reverse(density), number));
            if let Some(n_jobs) = self.n_by_finish.get_mut(&finish) {
                *n_jobs -= 1;
                if *n_jobs == 0 {
                    self.n_by_finish.remove(&finish);
                }
            }
        }
        if let Some((finish, density)) = key {
            self.by_finish.insert((finish, number));
            self.by_density.insert((Reverse(density), number));
            *self.n_by_finish.entry(finish).or_default() += 1;
        }
    }

    /// All jobs, by number; if there are more than `most`, the half of that with the earliest deadlines and the half with the
    /// largest values.
    pub(crate) fn first(&self, most: usize) -> Vec<u32> {
        let each = if self.by_finish.len() <= most { most } else { most / 2 };
        let mut jobs: Vec<u32> = self.by_finish.iter().take(each).map(|entry| entry.1).collect();
        if self.by_finish.len() > most {
            jobs.extend(self.by_density.iter().take(each).map(|entry| entry.1));
        }
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// How many jobs end in which chronon, in order; those from `furthest` on are counted there.
    pub(crate) fn n_by_finish(&self, furthest: u32) -> Vec<(u32, u32)> {
        let mut near: Vec<(u32, u32)> =
            self.n_by_finish.range(..furthest).map(|(finish, n_jobs)| (*finish, *n_jobs)).collect();
        let n_far = self.by_finish.len() as u32 - near.iter().map(|entry| entry.1).sum::<u32>();
        if n_far > 0 {
            near.push((furthest, n_far));
        }
        near
    }
}
