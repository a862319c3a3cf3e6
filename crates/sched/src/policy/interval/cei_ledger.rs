//! The records of every live CEI: its intervals, what is still open on each source, and when each begins and
//! ends. All policies for needs keep their records here. It ranks nothing, and knows nothing of prices and plans, except which
//! job of a plan covers an interval and what the interval bids there.
//!
//! Records live in flat arenas and are reused. A number of a record that is kept for
//! later is kept with the serial number of its CEI, which shows whether the record has passed to another. Chronons are plain
//! numbers here and in the plan, which does arithmetic on them.

use std::collections::BTreeMap;
use std::ops::Range;

use dunlin_core::{Cei, ExecutionInterval, SourceIdx};

use super::chronon_queue::ChrononQueue;
use super::marginal::OrderedF64;

/// No interval, or no job.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EiState {
    /// It can still be captured, now or once it begins.
    Open,
    /// A probe that began within it is in flight.
    Probing,
    Captured,
    Gone,
}

#[derive(Debug, Clone)]
pub(crate) struct EiRecord {
    pub(crate) source: SourceIdx,
    pub(crate) start: u32,
    pub(crate) finish: u32,
    pub(crate) cei: u32,
    /// Its position among the intervals of its CEI, as its owner listed them.
    pub(crate) line: u32,
    /// The job that covers it or `NONE`, its position among the intervals of that job, and its part of the
    /// job's value.
    pub(crate) job: u32,
    pub(crate) position: u32,
    pub(crate) bid: f32,
    pub(crate) state: EiState,
    /// Whether it is in the list of its source, and its neighbours there.
    is_listed: bool,
    next: u32,
    previous: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct CeiRecord {
    first: u32,
    len: u32,
    /// Intervals still needed.
    pub(crate) left: u32,
    pub(crate) n_captured: u32,
    pub(crate) profile_rank: u32,
    pub(crate) weight: f64,
    /// What its probes cost when it became known, counting shared ones in part.
    pub(crate) outlay: f32,
    /// The chronon in which it was first planned.
    pub(crate) release: u32,
    serial: u32,
    /// The number that its owner knows it by.
    pub(crate) id: u64,
    pub(crate) is_live: bool,
    is_queued: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct SourceRecord {
    /// The list of open intervals, in the order in which they became known.
    first: u32,
    last: u32,
    /// Jobs of the plan on this source.
    pub(crate) jobs: Vec<u32>,
    /// Announced starts still to come.
    pub(crate) n_upcoming: u32,
    /// The chronon in which it was last chosen, 0 before that.
    pub(crate) chosen_at: u32,
}

const UNKNOWN: SourceRecord =
    SourceRecord { first: NONE, last: NONE, jobs: Vec::new(), n_upcoming: 0, chosen_at: 0 };

/// A record that may have passed to another since. In order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    serial: u32,
    pub(crate) record: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CeiLedger {
    pub(crate) eis: Vec<EiRecord>,
    pub(crate) ceis: Vec<CeiRecord>,
    pub(crate) sources: Vec<SourceRecord>,
    /// Intervals by finish; those to come by start, with their source.
    pub(crate) finishing: ChrononQueue<Reference>,
    pub(crate) starting: ChrononQueue<(Reference, SourceIdx)>,
    /// CEIs to be planned or planned again.
    unplanned: Vec<Reference>,
    free_ceis: Vec<u32>,
    /// Free runs of interval records, by length.
    free_runs: BTreeMap<u32, Vec<u32>>,
    n_live: usize,
    n_live_eis: usize,
    last_serial: u32,
}

/// Fewer left-over tokens than this are not worth a sweep.
const FEW: usize = 1_024;

impl CeiLedger {
    /// Takes in a CEI that becomes known at `now`, unless too much of it is over already. Its `intervals` come with their lines, in
    /// the order in which they shall be kept.
    pub(crate) fn admit(
        &mut self,
        now: u32,
        id: u64,
        cei: &Cei<'_>,
        weight: f64,
        intervals: impl Iterator<Item = (u32, ExecutionInterval)> + Clone,
    ) -> Option<u32> {
        let n_open = intervals.clone().filter(|(_, interval)| interval.finish().get() >= now).count();
        if n_open < cei.need as usize {
            return None;
        }
        let len = cei.intervals.len() as u32;
        let first = self.free_runs.get_mut(&len).and_then(Vec::pop).unwrap_or(self.eis.len() as u32);
        let idx = self.free_ceis.pop().unwrap_or(self.ceis.len() as u32);
        self.last_serial = self.last_serial.wrapping_add(1);
        let record = CeiRecord {
            first,
            len,
            left: cei.need,
            n_captured: 0,
            profile_rank: cei.profile_rank,
            weight,
            outlay: 0.0,
            release: now,
            serial: self.last_serial,
            id,
            is_live: true,
            is_queued: false,
        };
        set_or_push(&mut self.ceis, idx, record);
        self.n_live += 1;
        self.n_live_eis += len as usize;
        for (at, (line, interval)) in (first..).zip(intervals) {
            let record = EiRecord {
                source: interval.source(),
                start: interval.start().get(),
                finish: interval.finish().get(),
                cei: idx,
                line,
                job: NONE,
                position: 0,
                bid: 0.0,
                state: EiState::Gone,
                is_listed: false,
                next: NONE,
                previous: NONE,
            };
            set_or_push(&mut self.eis, at, record);
            self.open(now, at);
        }
        self.sweep();
        Some(idx)
    }

    fn open(&mut self, now: u32, at: u32) {
        let reference = self.reference(at);
        let EiRecord { source, start, finish, .. } = self.eis[at as usize];
        if finish < now {
            return;
        }
        if self.sources.len() <= source.index() {
            self.sources.resize(source.index() + 1, UNKNOWN);
        }
        self.eis[at as usize].state = EiState::Open;
        self.list(at);
        self.finishing.push(finish, reference);
        if start > now {
            self.sources[source.index()].n_upcoming += 1;
            self.starting.push(start, (reference, source));
        }
    }

    /// How many CEIs are neither captured nor lost.
    pub(crate) const fn n_live(&self) -> usize {
        self.n_live
    }

    /// The records of the intervals of a CEI.
    pub(crate) fn members_of(&self, cei: u32) -> &[EiRecord] {
        let CeiRecord { first, len, .. } = self.ceis[cei as usize];
        &self.eis[first as usize..(first + len) as usize]
    }

    /// The intervals of a CEI.
    pub(crate) fn members(&self, cei: u32) -> Range<u32> {
        let CeiRecord { first, len, .. } = self.ceis[cei as usize];
        first..first + len
    }

    pub(crate) fn cei_of(&self, ei: u32) -> &CeiRecord {
        &self.ceis[self.eis[ei as usize].cei as usize]
    }

    pub(crate) fn is_open(&self, ei: u32) -> bool {
        self.eis[ei as usize].state == EiState::Open
    }

    /// Whether it is open and no job covers it.
    pub(crate) fn is_left_out(&self, ei: u32) -> bool {
        self.is_open(ei) && self.eis[ei as usize].job == NONE
    }

    /// Whether it is captured if the probe in flight succeeds.
    pub(crate) fn is_probing(&self, ei: u32) -> bool {
        self.eis[ei as usize].state == EiState::Probing
    }

    /// How many intervals of a CEI can still be captured.
    pub(crate) fn count_possible(&self, cei: u32) -> usize {
        self.members(cei).filter(|&ei| self.is_open(ei) || self.is_probing(ei)).count()
    }

    /// The open intervals on a source, in the order in which they became known.
    pub(crate) fn open_on(&self, source: SourceIdx) -> impl Iterator<Item = u32> + '_ {
        let first = self.sources.get(source.index()).map_or(NONE, |source| source.first);
        std::iter::successors(some(first), |&at| some(self.eis[at as usize].next))
    }

    pub(crate) fn reference(&self, ei: u32) -> Reference {
        Reference { serial: self.cei_of(ei).serial, record: ei }
    }

    /// Whether the interval that `reference` was made for is still open.
    pub(crate) fn is_still_open(&self, reference: Reference) -> bool {
        self.is_open(reference.record) && self.cei_of(reference.record).serial == reference.serial
    }

    /// Whether the interval that `reference` was made for still waits for the probe in flight.
    pub(crate) fn is_still_probing(&self, reference: Reference) -> bool {
        self.is_probing(reference.record) && self.cei_of(reference.record).serial == reference.serial
    }

    /// Whether the interval that `reference` was made for is still open and no job covers it.
    pub(crate) fn is_still_left_out(&self, reference: Reference) -> bool {
        self.is_still_open(reference) && self.eis[reference.record as usize].job == NONE
    }

    /// Ends an open interval.
    pub(crate) fn close(&mut self, ei: u32, state: EiState) {
        self.eis[ei as usize].state = state;
        if self.eis[ei as usize].is_listed {
            self.unlist(ei);
        }
    }

    /// Takes those open intervals off the list of a source that have begun by `now`, in the order in which they became known.
    pub(crate) fn take_begun(&mut self, source: SourceIdx, now: u32) -> Vec<u32> {
        let begun = self.open_on(source).filter(|&ei| self.eis[ei as usize].start <= now).collect();
        for &ei in &begun {
            self.unlist(ei);
        }
        begun
    }

    /// One more interval of a CEI is captured. Whether that was the last that it needed.
    pub(crate) fn count_capture(&mut self, cei: u32) -> bool {
        let record = &mut self.ceis[cei as usize];
        record.left -= 1;
        record.n_captured += 1;
        record.left == 0
    }

    /// The CEIs with open intervals that begin by `now` and had not begun when this was last asked.
    pub(crate) fn take_starting(&mut self, now: u32) -> Vec<u32> {
        let mut ceis = Vec::new();
        while let Some((_, tokens)) = self.starting.take_due(now) {
            for (reference, source) in tokens {
                self.sources[source.index()].n_upcoming -= 1;
                if self.is_still_open(reference) {
                    ceis.push(self.eis[reference.record as usize].cei);
                }
            }
        }
        ceis
    }

    /// Appends an open interval to the list of its source.
    pub(crate) fn list(&mut self, ei: u32) {
        let source = &mut self.sources[self.eis[ei as usize].source.index()];
        let last = std::mem::replace(&mut source.last, ei);
        match last {
            NONE => source.first = ei,
            _ => self.eis[last as usize].next = ei,
        }
        let record = &mut self.eis[ei as usize];
        (record.is_listed, record.next, record.previous) = (true, NONE, last);
    }

    fn unlist(&mut self, ei: u32) {
        let EiRecord { source, next, previous, .. } = self.eis[ei as usize];
        let source = &mut self.sources[source.index()];
        match previous {
            NONE => source.first = next,
            _ => self.eis[previous as usize].next = next,
        }
        match next {
            NONE => source.last = previous,
            _ => self.eis[next as usize].previous = previous,
        }
        self.eis[ei as usize].is_listed = false;
    }

    /// Has a CEI planned (again) in the coming round.
    pub(crate) fn enqueue(&mut self, cei: u32) {
        let record = &mut self.ceis[cei as usize];
        if record.is_live && !std::mem::replace(&mut record.is_queued, true) {
            self.unplanned.push(Reference { serial: record.serial, record: cei });
        }
    }

    /// Takes out the live CEIs to be planned: fewest missing intervals per weight first, then the older.
    pub(crate) fn take_unplanned(&mut self) -> Vec<u32> {
        let mut unplanned = std::mem::take(&mut self.unplanned);
        unplanned.retain(|entry| {
            let cei = &self.ceis[entry.record as usize];
            cei.is_live && cei.serial == entry.serial
        });
        unplanned.sort_by_cached_key(|entry| {
            let cei = &self.ceis[entry.record as usize];
            (OrderedF64(f64::from(cei.left) / cei.weight), *entry)
        });
        let taken: Vec<u32> = unplanned.iter().map(|entry| entry.record).collect();
        unplanned.clear();
        self.unplanned = unplanned;
        taken
    }

    /// The live CEIs to be planned, in no order of use.
    pub(crate) fn unplanned(&self) -> impl Iterator<Item = u32> + '_ {
        let is_live = |entry: &&Reference| {
            let cei = &self.ceis[entry.record as usize];
            cei.is_live && cei.serial == entry.serial
        };
        self.unplanned.iter().filter(is_live).map(|entry| entry.record)
    }

    /// A CEI is being planned: from now on it may be enqueued again.
    pub(crate) fn mark_planned(&mut self, cei: u32) {
        self.ceis[cei as usize].is_queued = false;
    }

    /// A CEI is captured, lost or withdrawn: ends its intervals and gives back its records, which stay as they are until the next
    /// CEI is admitted.
    pub(crate) fn retire(&mut self, cei: u32) {
        for ei in self.members(cei) {
            if self.is_open(ei) || self.is_probing(ei) {
                self.close(ei, EiState::Gone);
            }
        }
        let CeiRecord { first, len, .. } = self.ceis[cei as usize];
        self.ceis[cei as usize].is_live = false;
        self.n_live -= 1;
        self.free_ceis.push(cei);
        self.free_runs.entry(len).or_default().push(first);
        self.n_live_eis -= len as usize;
    }

    /// Tokens of ended intervals are cleared out once they outnumber the others.
    fn sweep(&mut self) {
        if self.finishing.len() > 2 * self.n_live_eis + FEW {
            let mut finishing = std::mem::take(&mut self.finishing);
            finishing.retain(|&token| self.is_still_open(token));
            self.finishing = finishing;
        }
        if self.starting.len() > 2 * self.n_live_eis + FEW {
            let mut starting = std::mem::take(&mut self.starting);
            starting.retain(|&(token, source)| {
                let stays = self.is_still_open(token);
                self.sources[source.index()].n_upcoming -= u32::from(!stays);
                stays
            });
            self.starting = starting;
        }
    }
}

fn some(at: u32) -> Option<u32> {
    (at != NONE).then_some(at)
}

fn set_or_push<T>(records: &mut Vec<T>, at: u32, record: T) {
    match records.get_mut(at as usize) {
        Some(old) => *old = record,
        None => records.push(record),
    }
}
