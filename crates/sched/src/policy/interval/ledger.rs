//! The books on every live CEI: which of its intervals wait, are open, captured or lost. It applies the
//! rules that all interval policies share (a CEI that can no longer be captured is dropped, a probe
//! captures every open interval on its source) and says which CEIs were touched. It ranks nothing.
//!
//! Records live in two flat arenas and are reused, so memory follows the number of live CEIs, and every
//! step costs time in proportion to the CEIs it touches.

use std::collections::BTreeMap;

use dunlin_core::{Cei, CeiIdx, Chronon, SourceIdx};

use super::agenda::Agenda;

/// A live CEI's place in the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

#[derive(Debug, Clone)]
pub(crate) struct CeiRecord {
    pub(crate) idx: CeiIdx,
    first: u32,
    len: u32,
    pub(crate) need: u32,
    pub(crate) captured: u32,
    lost: u32,
    pub(crate) profile_rank: u32,
    live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Open,
    Captured,
    Lost,
}

#[derive(Debug, Clone)]
pub(crate) struct EiRecord {
    pub(crate) source: SourceIdx,
    pub(crate) start: Chronon,
    pub(crate) finish: Chronon,
    /// Its place among its CEI's lines.
    pub(crate) line: u32,
    slot: Slot,
    pub(crate) state: State,
    /// Neighbours in the list of open intervals on the same source.
    next: u32,
    previous: u32,
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    ceis: Vec<CeiRecord>,
    free_slots: Vec<Slot>,
    eis: Vec<EiRecord>,
    /// Free runs of interval records, by length.
    free_runs: BTreeMap<u32, Vec<u32>>,
    /// First open interval on each source.
    open: Vec<u32>,
    agenda: Agenda<(Slot, CeiIdx)>,
    n_live: usize,
}

impl Ledger {
    pub(crate) fn n_live(&self) -> usize {
        self.n_live
    }

    pub(crate) fn is_live(&self, slot: Slot) -> bool {
        self.ceis[slot.0 as usize].live
    }

    pub(crate) fn cei(&self, slot: Slot) -> &CeiRecord {
        &self.ceis[slot.0 as usize]
    }

    /// The intervals of a CEI, by finish, then by line.
    pub(crate) fn eis(&self, slot: Slot) -> &[EiRecord] {
        let cei = self.cei(slot);
        &self.eis[cei.first as usize..(cei.first + cei.len) as usize]
    }

    /// Takes a CEI into the books. Nothing is open yet: [`advance`](Self::advance) opens what has begun.
    pub(crate) fn admit(&mut self, now: Chronon, cei: &Cei<'_>) -> Slot {
        let len = cei.intervals.len() as u32;
        let slot = self.free_slots.pop().unwrap_or(Slot(self.ceis.len() as u32));
        let first = self.free_runs.get_mut(&len).and_then(Vec::pop).unwrap_or(self.eis.len() as u32);
        let records = (0..).zip(cei.intervals).map(|(line, interval)| EiRecord {
            source: interval.source(),
            start: interval.start(),
            finish: interval.finish(),
            line,
            slot,
            state: State::Waiting,
            next: NONE,
            previous: NONE,
        });
        let range = first as usize..(first + len) as usize;
        if range.start == self.eis.len() {
            self.eis.extend(records);
        } else {
            self.eis[range.clone()].iter_mut().zip(records).for_each(|(old, new)| *old = new);
        }
        self.eis[range].sort_unstable_by_key(|ei| (ei.finish, ei.line));
        let record = CeiRecord {
            idx: cei.idx,
            first,
            len,
            need: cei.need,
            captured: 0,
            lost: 0,
            profile_rank: cei.profile_rank,
            live: true,
        };
        match self.ceis.get_mut(slot.0 as usize) {
            Some(old) => *old = record,
            None => self.ceis.push(record),
        }
        self.n_live += 1;
        self.agenda.file(now, (slot, cei.idx));
        slot
    }

    /// Opens what begins by `now`, gives up what ended before it, and drops CEIs that can no longer be
    /// captured. CEIs that changed or left the books are appended to `touched`.
    pub(crate) fn advance(&mut self, now: Chronon, touched: &mut Vec<Slot>) {
        while let Some(due) = self.agenda.take_due(now) {
            for &(slot, idx) in &due {
                let cei = self.cei(slot);
                if cei.live && cei.idx == idx && self.bring_up_to(now, slot) {
                    touched.push(slot);
                }
            }
            self.agenda.recycle(due);
        }
    }

    /// Whether anything changed.
    fn bring_up_to(&mut self, now: Chronon, slot: Slot) -> bool {
        let (first, len, idx) = {
            let cei = self.cei(slot);
            (cei.first, cei.len, cei.idx)
        };
        let (mut changed, mut next) = (false, None::<Chronon>);
        for at in first..first + len {
            let ei = &self.eis[at as usize];
            let open_now = match ei.state {
                State::Waiting if ei.start <= now => Some(ei.finish >= now),
                State::Open if ei.finish < now => Some(false),
                _ => None,
            };
            if let Some(open) = open_now {
                changed = true;
                if self.eis[at as usize].state == State::Open {
                    self.unlink(at);
                }
                self.eis[at as usize].state = if open { State::Open } else { State::Lost };
                if open { self.link(at) } else { self.ceis[slot.0 as usize].lost += 1 }
            }
            let ei = &self.eis[at as usize];
            let again = match ei.state {
                State::Waiting => Some(ei.start),
                State::Open => Some(ei.finish.plus(1)),
                State::Captured | State::Lost => None,
            };
            next = next.into_iter().chain(again).min();
        }
        let cei = self.cei(slot);
        if cei.need > cei.len - cei.lost {
            self.retire(slot);
            return true;
        }
        if let Some(next) = next {
            self.agenda.file(next, (slot, idx));
        }
        changed
    }

    /// A probe of `source`: captures every open interval on it. Their CEIs are appended to `touched`; those
    /// that are complete have left the books.
    pub(crate) fn capture(&mut self, source: SourceIdx, touched: &mut Vec<Slot>) {
        while let Some(&at) = self.open.get(source.index()).filter(|head| **head != NONE) {
            self.unlink(at);
            let ei = &mut self.eis[at as usize];
            ei.state = State::Captured;
            let slot = ei.slot;
            let cei = &mut self.ceis[slot.0 as usize];
            cei.captured += 1;
            touched.push(slot);
            if cei.captured >= cei.need {
                self.retire(slot);
            }
        }
    }

    fn retire(&mut self, slot: Slot) {
        let (first, len) = (self.cei(slot).first, self.cei(slot).len);
        for at in first..first + len {
            if self.eis[at as usize].state == State::Open {
                self.unlink(at);
            }
        }
        self.ceis[slot.0 as usize].live = false;
        self.n_live -= 1;
        self.free_slots.push(slot);
        self.free_runs.entry(len).or_default().push(first);
    }

    fn link(&mut self, at: u32) {
        let source = self.eis[at as usize].source.index();
        if source >= self.open.len() {
            self.open.resize(source + 1, NONE);
        }
        let head = std::mem::replace(&mut self.open[source], at);
        if head != NONE {
            self.eis[head as usize].previous = at;
        }
        let ei = &mut self.eis[at as usize];
        (ei.next, ei.previous) = (head, NONE);
    }

    fn unlink(&mut self, at: u32) {
        let EiRecord { source, next, previous, .. } = self.eis[at as usize];
        match previous {
            NONE => self.open[source.index()] = next,
            _ => self.eis[previous as usize].next = next,
        }
        if next != NONE {
            self.eis[next as usize].previous = previous;
        }
    }
}
