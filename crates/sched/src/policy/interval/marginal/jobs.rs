//! Jobs, the parts of the plan: a job is one intended probe of a source for some of its open intervals.
//! Where a job stands among others is the timetable's business.

use dunlin_core::SourceIdx;

/// One intended probe.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) source: SourceIdx,
    /// The chronons that all its intervals have in common.
    pub(crate) start: u32,
    pub(crate) finish: u32,
    /// The chronon it is planned for.
    pub(crate) at: Option<u32>,
    /// Sum of the bids of its intervals; an estimate as long as it covers none.
    pub(crate) value: f64,
    pub(crate) cost: f64,
    pub(crate) eis: Vec<u32>,
}

impl Job {
    /// Value per unit of cost, by which jobs are compared. Finite, however little a probe costs.
    pub(crate) fn density(&self) -> f64 {
        (self.value / self.cost).min(f64::MAX)
    }
}

/// All jobs by number. Numbers are reused, the last one freed first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jobs {
    records: Vec<Job>,
    free: Vec<u32>,
}

impl Jobs {
    pub(crate) fn get(&self, job: u32) -> &Job {
        &self.records[job as usize]
    }

    pub(crate) fn get_mut(&mut self, job: u32) -> &mut Job {
        &mut self.records[job as usize]
    }

    pub(crate) fn add(&mut self, mut new: Job) -> u32 {
        let Some(job) = self.free.pop() else {
            self.records.push(new);
            return self.records.len() as u32 - 1;
        };
        let record = self.get_mut(job);
        new.eis = std::mem::take(&mut record.eis);
        *record = new;
        job
    }

    /// Frees a job that has no place and covers nothing.
    pub(crate) fn free(&mut self, job: u32) {
        self.free.push(job);
    }

    /// How many numbers are or were in use.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Every job with a place, by number.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (u32, &Job, u32)> {
        (0..).zip(&self.records).filter_map(|(number, job)| job.at.map(|at| (number, job, at)))
    }
}
