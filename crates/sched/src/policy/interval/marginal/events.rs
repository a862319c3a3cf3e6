//! What happens to needs: intervals begin and end, probes read or fail, CEIs are captured or lost.

use dunlin_core::SourceIdx;

use super::super::cei_ledger::{EiState, NONE, Reference};
use super::backlog::Backlog;
use super::jobs::Job;
use super::slots::Slots;
use super::{Planner, PlannerEvent};

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// Ends the chronon before: what was probed and not read is left out again, and the price learns.
    pub(super) fn settle(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        for source in std::mem::take(&mut self.chosen) {
            for job in self.ledger.sources[source.index()].jobs.clone() {
                if self.timetable.jobs.get(job).at.is_none() {
                    self.dissolve(job);
                }
            }
            let has_begun = |&ei: &u32| self.ledger.eis[ei as usize].start <= self.now;
            let open: Vec<u32> = self.ledger.open_on(source).filter(has_begun).collect();
            open.into_iter().for_each(|ei| self.ledger.enqueue(self.ledger.eis[ei as usize].cei));
        }
        self.tidy();
        self.price.learn(self.timetable.budget.mean());
    }

    /// Begins a chronon: what ended before it, what begins, what has its last chance.
    pub(super) fn begin(&mut self, now: u32) {
        if now > self.now.saturating_add(1) {
            let past = |&(_, _, at): &(u32, &Job, u32)| at < now;
            let late: Vec<u32> = self.timetable.jobs.placed().filter(past).map(|(job, ..)| job).collect();
            for job in late {
                for &ei in &self.timetable.jobs.get(job).eis {
                    self.ledger.enqueue(self.ledger.eis[ei as usize].cei);
                }
                self.dissolve(job);
            }
        }
        (self.now, self.has_learned) = (now, false);
        self.timetable.advance(now);
        let ended = std::mem::take(&mut self.ending);
        ended.into_iter().for_each(|ei| self.give_up(ei));
        while let Some((finish, tokens)) = self.ledger.finishing.take_due(now) {
            if finish < now {
                tokens.into_iter().for_each(|ei| self.give_up(ei));
            } else {
                self.ending = tokens;
            }
        }
        for cei in self.ledger.take_starting(now) {
            self.ledger.enqueue(cei);
        }
        for position in 0..self.ending.len() {
            let reference = self.ending[position];
            if self.ledger.is_still_left_out(reference) {
                self.ledger.enqueue(self.ledger.eis[reference.record as usize].cei);
            }
        }
        self.tidy();
    }

    /// A probe has read `source`: every interval that has begun there is captured.
    pub(super) fn capture(&mut self, source: SourceIdx) {
        let begun = self.begin_probe(source);
        self.succeed(&begun);
    }

    /// A probe of `source` begins: its jobs have run, and every interval that has begun there waits for the outcome.
    pub(crate) fn begin_probe(&mut self, source: SourceIdx) -> Vec<Reference> {
        let Some(record) = self.ledger.sources.get(source.index()) else { return Vec::new() };
        for job in record.jobs.clone() {
            let own = self.timetable.jobs.get_mut(job);
            if own.start <= self.now {
                for ei in std::mem::take(&mut own.eis) {
                    self.ledger.eis[ei as usize].job = NONE;
                }
                self.dissolve(job);
            }
        }
        let mut begun = Vec::new();
        for ei in self.ledger.take_begun(source, self.now) {
            self.ledger.eis[ei as usize].state = EiState::Probing;
            begun.push(self.ledger.reference(ei));
        }
        begun
    }

    /// The probe that these intervals waited for has succeeded, whether or not they have ended meanwhile.
    pub(crate) fn succeed(&mut self, begun: &[Reference]) {
        for &reference in begun {
            if !self.ledger.is_still_probing(reference) {
                continue;
            }
            let ei = reference.record;
            self.ledger.close(ei, EiState::Captured);
            self.uncover(ei);
            let idx = self.ledger.eis[ei as usize].cei;
            let line = self.ledger.eis[ei as usize].line;
            let is_complete = self.ledger.count_capture(idx);
            let cei = &self.ledger.ceis[idx as usize];
            self.events.push(PlannerEvent::Interval { cei: cei.id, line });
            if is_complete {
                self.events.push(PlannerEvent::Captured { cei: cei.id });
                self.price.note_captured(cei.weight, f64::from(cei.outlay));
                self.retire(idx);
            } else {
                self.refresh_others(ei);
                self.ledger.enqueue(idx);
            }
        }
    }

    /// The probe that these intervals waited for has failed: those that have not ended are open again.
    pub(crate) fn fail(&mut self, begun: &[Reference]) {
        for &reference in begun {
            if !self.ledger.is_still_probing(reference) {
                continue;
            }
            let ei = reference.record;
            if self.ledger.eis[ei as usize].finish >= self.now {
                self.ledger.eis[ei as usize].state = EiState::Open;
                self.ledger.list(ei);
                self.ledger.enqueue(self.ledger.eis[ei as usize].cei);
            } else {
                self.end(ei);
            }
        }
        self.tidy();
    }

    /// An interval has ended; its CEI may be lost with it.
    fn give_up(&mut self, reference: Reference) {
        if self.ledger.is_still_open(reference) {
            self.end(reference.record);
        }
    }

    fn end(&mut self, ei: u32) {
        self.ledger.close(ei, EiState::Gone);
        self.uncover(ei);
        let idx = self.ledger.eis[ei as usize].cei;
        let cei = &self.ledger.ceis[idx as usize];
        if self.ledger.count_possible(idx) < cei.left as usize {
            self.events.push(PlannerEvent::Lost { cei: cei.id });
            self.price.note_lost(cei.weight, f64::from(cei.outlay));
            self.retire(idx);
        }
    }

    /// A CEI is captured, lost or withdrawn.
    pub(super) fn retire(&mut self, cei: u32) {
        self.ledger.retire(cei);
        for ei in self.ledger.members(cei) {
            self.uncover(ei);
        }
    }
}
