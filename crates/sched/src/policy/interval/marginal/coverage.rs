//! Which job covers which intervals: joining, leaving and dissolving, with the values that follow from it.

use super::super::cei_ledger::{EiRecord, NONE};
use super::Planner;
use super::backlog::Backlog;
use super::ordered_f64::ROUNDING;
use super::slots::Slots;

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// Adds a left-out interval to a job with a place that suits both.
    pub(super) fn cover(&mut self, job: u32, ei: u32) {
        let bid = self.bid(ei) as f32;
        let (record, own) = (&mut self.ledger.eis[ei as usize], self.timetable.jobs.get_mut(job));
        (record.job, record.bid, record.position) = (job, bid, own.eis.len() as u32);
        // Until it covers something, a job's value is only an estimate.
        let others = if own.eis.is_empty() { 0.0 } else { own.value };
        own.eis.push(ei);
        (own.start, own.finish) = (own.start.max(record.start), own.finish.min(record.finish));
        own.value = others + f64::from(bid);
        self.timetable.slots.changed(&self.timetable.jobs, job);
        self.refresh_others(ei);
    }

    /// Takes an interval out of its job, if it has one; a job that covers nothing more is dissolved.
    pub(super) fn uncover(&mut self, ei: u32) {
        let record = &mut self.ledger.eis[ei as usize];
        let job = std::mem::replace(&mut record.job, NONE);
        if job == NONE {
            return;
        }
        let EiRecord { bid, position, start, finish, .. } = *record;
        let own = self.timetable.jobs.get_mut(job);
        own.eis.swap_remove(position as usize);
        if own.eis.is_empty() {
            self.dissolve(job);
            return;
        }
        if let Some(&moved) = own.eis.get(position as usize) {
            self.ledger.eis[moved as usize].position = position;
        }
        if start == own.start || finish == own.finish {
            let windows = own.eis.iter().map(|&other| &self.ledger.eis[other as usize]);
            (own.start, own.finish) = windows.fold((0, u32::MAX), |(start, finish), other| {
                (start.max(other.start), finish.min(other.finish))
            });
        }
        let value = own.value - f64::from(bid);
        own.value = value;
        if value <= ROUNDING {
            self.doubtful.push(job);
        }
        self.timetable.slots.changed(&self.timetable.jobs, job);
    }

    /// Drops a job from the plan; its intervals are left out from then on.
    pub(super) fn dissolve(&mut self, job: u32) {
        self.timetable.unplace(job);
        let own = self.timetable.jobs.get_mut(job);
        let (source, mut eis) = (own.source, std::mem::take(&mut own.eis));
        let listed = &mut self.ledger.sources[source.index()].jobs;
        if let Some(position) = listed.iter().position(|&other| other == job) {
            listed.swap_remove(position);
        }
        for &ei in &eis {
            self.ledger.eis[ei as usize].job = NONE;
        }
        for &ei in &eis {
            if self.ledger.cei_of(ei).is_live {
                self.refresh_others(ei);
            }
        }
        // Jobs come and go all the time: the next one with this number gets the list.
        eis.clear();
        self.timetable.jobs.get_mut(job).eis = eis;
        self.timetable.jobs.free(job);
    }

    /// Dissolves jobs whose intervals no longer bid anything.
    pub(super) fn tidy(&mut self) {
        while let Some(job) = self.doubtful.pop() {
            let own = self.timetable.jobs.get(job);
            if own.at.is_some() && !own.eis.is_empty() && self.revalue(job) <= ROUNDING {
                self.dissolve(job);
            }
        }
    }
}
