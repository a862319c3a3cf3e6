//! The open CEIs: what the scheduler is told of them, which probe captures what, and what has become of them. The store keeps
//! the ledger; an interval is captured there in the transaction that stores the capture of its source.
//!
//! An extension is read from the store, after all that was to be written before it: what was captured meanwhile is known then,
//! and a CEI that was complete without its further intervals comes back.
//!
//! Invariant: the scheduler learns that an interval is captured only after it is in the store.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::scheduler::{self, CeiEvent, Input, Interval};
use dunlin_store::{CapturedInterval, CeiId, CeiState, NewInterval, SourceId, StoredCei};

use super::{Command, Control, Write};

/// All open CEIs.
#[derive(Debug, Default)]
pub(super) struct Ceis {
    open: BTreeMap<CeiId, OpenCei>,
    by_source: BTreeMap<SourceId, BTreeSet<CeiId>>,
    /// Those that wait for sources: too many of theirs are not watched. The scheduler knows at most the probes under way for them.
    waiting: BTreeSet<CeiId>,
    /// How often each is being read from the store because it was extended.
    awaited: BTreeMap<CeiId, u32>,
    /// Lost, by what the scheduler says, and not yet written.
    lost: Vec<CeiId>,
}

/// One of them.
#[derive(Debug)]
struct OpenCei {
    need: u32,
    weight: f64,
    intervals: Vec<(NewInterval, bool)>,
    /// The position here of each interval that the scheduler was told of.
    told: Vec<u32>,
}

impl OpenCei {
    /// Whether it can still be captured at `now`, if all its sources are watched.
    fn can_be_met(&self, now: Time) -> bool {
        let n_possible = self.intervals.iter().filter(|(own, is_captured)| *is_captured || own.finish >= now);
        n_possible.count() >= self.need as usize
    }
}

impl Ceis {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// An interval, as it is in the ledger.
    pub(super) fn interval(&self, captured: CapturedInterval) -> Option<NewInterval> {
        let (interval, _) = self.open.get(&captured.cei)?.intervals.get(captured.position as usize)?;
        Some(*interval)
    }

    fn index(&mut self, id: CeiId, intervals: &[(NewInterval, bool)]) {
        for (interval, _) in intervals {
            self.by_source.entry(interval.source).or_default().insert(id);
        }
    }

    fn remove(&mut self, id: CeiId) {
        self.waiting.remove(&id);
        let Some(cei) = self.open.remove(&id) else { return };
        for (interval, _) in cei.intervals {
            if let Some(ceis) = self.by_source.get_mut(&interval.source) {
                ceis.remove(&id);
                if ceis.is_empty() {
                    self.by_source.remove(&interval.source);
                }
            }
        }
    }
}

/// The number of a CEI as the scheduler knows it.
const fn scheduled(id: CeiId) -> scheduler::CeiId {
    scheduler::CeiId(id.0.cast_unsigned())
}

const fn stored(id: scheduler::CeiId) -> CeiId {
    CeiId(id.0.cast_signed())
}

impl Control {
    /// An open CEI, from its owner or from an earlier run.
    pub(super) fn cei_added(&mut self, now: Time, cei: StoredCei) {
        let StoredCei { id, need, weight, intervals, .. } = cei;
        let intervals: Vec<_> =
            intervals.into_iter().map(|own| (own.interval, own.captured.is_some())).collect();
        self.ceis.index(id, &intervals);
        self.ceis.open.insert(id, OpenCei { need, weight, intervals, told: Vec::new() });
        self.tell_cei(now, id);
    }

    /// A CEI got further intervals in the store.
    pub(super) fn cei_extended(&mut self, id: CeiId, commands: &mut Vec<Command>) {
        *self.ceis.awaited.entry(id).or_default() += 1;
        commands.push(Command::Write(Write::ReadCei(id)));
    }

    /// A CEI that was extended, as it is in the store. One that was withdrawn or lost meanwhile stays so.
    pub(super) fn cei_read(&mut self, now: Time, cei: StoredCei) {
        let Some(awaited) = self.ceis.awaited.get_mut(&cei.id) else { return };
        *awaited -= 1;
        if *awaited == 0 {
            self.ceis.awaited.remove(&cei.id);
        }
        self.cei_stored(now, cei);
    }

    /// A CEI as it is in the store: new, or with further intervals.
    pub(super) fn cei_stored(&mut self, now: Time, cei: StoredCei) {
        self.note_cei_events();
        if cei.state != CeiState::Open {
            return;
        }
        let Some(known) = self.ceis.open.get_mut(&cei.id) else { return self.cei_added(now, cei) };
        let (id, first, need) = (cei.id, known.intervals.len(), cei.need.saturating_sub(known.need));
        let more: Vec<_> = cei.intervals.iter().skip(first).map(|own| (own.interval, false)).collect();
        known.need = known.need.max(cei.need);
        known.intervals.extend(&more);
        self.ceis.index(id, &more);
        self.tell_extension(now, id, first, need);
    }

    /// The owner of a CEI no longer wants it.
    pub(super) fn cei_withdrawn(&mut self, now: Time, id: CeiId) {
        self.ceis.awaited.remove(&id);
        if self.ceis.open.contains_key(&id) {
            self.ceis.remove(id);
            self.update_scheduler(now, Input::CeiWithdrawn { cei: scheduled(id) });
        }
    }

    /// Tells the scheduler of the intervals of a CEI from this position on, and that so many more are needed.
    fn tell_extension(&mut self, now: Time, id: CeiId, first: usize, need: u32) {
        let Some(cei) = self.ceis.open.get(&id) else { return };
        let (mut intervals, mut told) = (Vec::new(), cei.told.clone());
        for (position, (own, _)) in (0..).zip(&cei.intervals).skip(first) {
            let Some((resource, source)) = self.place_of(own.source) else { continue };
            told.push(position);
            intervals.push(Interval { resource, source, start: own.start, finish: own.finish });
        }
        if self.ceis.waiting.contains(&id) || told.len() < cei.need as usize {
            return self.tell_cei(now, id);
        }
        if let Some(cei) = self.ceis.open.get_mut(&id) {
            cei.told = told;
        }
        self.update_scheduler(now, Input::CeiExtended { cei: scheduled(id), intervals, need });
    }

    /// Tells the scheduler of a CEI as it is now, with the intervals of sources that are watched.
    fn tell_cei(&mut self, now: Time, id: CeiId) {
        self.note_cei_events();
        let Some(cei) = self.ceis.open.get(&id) else { return };
        let (mut intervals, mut told, mut captured) = (Vec::new(), Vec::new(), Vec::new());
        for (position, (own, is_captured)) in (0..).zip(&cei.intervals) {
            // A captured one counts, whatever has become of its source.
            let place = self.place_of(own.source);
            let place = place.or(is_captured.then_some((ResourceIdx(0), SourceIdx(0))));
            let Some((resource, source)) = place else { continue };
            if *is_captured {
                captured.push(told.len() as u32);
            }
            told.push(position);
            intervals.push(Interval { resource, source, start: own.start, finish: own.finish });
        }
        let (need, weight) = (cei.need, cei.weight);
        if intervals.len() < need as usize {
            return self.tell_in_flight(now, id, &intervals, &told);
        }
        if let Some(cei) = self.ceis.open.get_mut(&id) {
            cei.told = told;
        }
        self.ceis.waiting.remove(&id);
        let cei = scheduled(id);
        self.update_scheduler(now, Input::CeiArrived { cei, intervals, captured, need, weight });
    }

    /// Tells the scheduler of a CEI that waits for sources: no more than what is being probed, which is captured nevertheless.
    fn tell_in_flight(&mut self, now: Time, id: CeiId, intervals: &[Interval], told: &[u32]) {
        self.ceis.waiting.insert(id);
        let begun = intervals.iter().flat_map(|own| self.begun_intervals(own.resource));
        let begun: Vec<u32> = begun.filter(|(_, own)| own.cei == id).map(|(_, own)| own.position).collect();
        let is_begun = |(_, position): &(&Interval, &u32)| begun.contains(position);
        let (intervals, told): (Vec<Interval>, Vec<u32>) =
            intervals.iter().zip(told).filter(is_begun).map(|(own, position)| (*own, *position)).unzip();
        let (cei, need) = (scheduled(id), told.len() as u32);
        let Some(known) = self.ceis.open.get_mut(&id) else { return };
        let before = std::mem::replace(&mut known.told, told);
        let input = match need {
            0 if before.is_empty() => return,
            0 => Input::CeiWithdrawn { cei },
            _ => Input::CeiArrived { cei, intervals, captured: Vec::new(), need, weight: 0.0 },
        };
        self.update_scheduler(now, input);
    }

    fn place_of(&self, source: SourceId) -> Option<(ResourceIdx, SourceIdx)> {
        let index = self.sources.find(source)?;
        Some((self.sources.resource(index)?, index))
    }

    /// A source is watched, or is not any more: the CEIs that need it are told anew.
    pub(super) fn cei_source_changed(&mut self, now: Time, source: SourceId) {
        let ceis: Vec<CeiId> = self.ceis.by_source.get(&source).into_iter().flatten().copied().collect();
        ceis.into_iter().for_each(|id| self.tell_cei(now, id));
    }

    /// The intervals that a probe of a resource captures if it shows something to their source.
    pub(super) fn begun_intervals(&self, resource: ResourceIdx) -> Vec<(SourceIdx, CapturedInterval)> {
        let begun = self.scheduler.scheduler().begun_intervals(resource).into_iter();
        let captured = |(source, cei, told): (SourceIdx, scheduler::CeiId, u32)| {
            let cei = stored(cei);
            let position = *self.ceis.open.get(&cei)?.told.get(told as usize)?;
            Some((source, CapturedInterval { cei, position }))
        };
        begun.filter_map(captured).collect()
    }

    /// Takes in what the scheduler says has become of CEIs.
    pub(super) fn take_cei_events(&mut self, now: Time, commands: &mut Vec<Command>) {
        self.note_cei_events();
        let lost = std::mem::take(&mut self.ceis.lost);
        self.lose(now, lost, commands);
    }

    /// The same, before the scheduler is told anything that gives intervals other positions.
    fn note_cei_events(&mut self) {
        for event in self.scheduler.take_cei_events() {
            match event {
                CeiEvent::IntervalCaptured { cei, interval } => {
                    let cei = self.ceis.open.get_mut(&stored(cei));
                    if let Some(cei) = cei
                        && let Some(position) = cei.told.get(interval as usize)
                        && let Some((_, is_captured)) = cei.intervals.get_mut(*position as usize)
                    {
                        *is_captured = true;
                    }
                }
                // The scheduler knows only a part of it.
                CeiEvent::Captured { cei } | CeiEvent::Lost { cei }
                    if self.ceis.waiting.contains(&stored(cei)) => {}
                CeiEvent::Captured { cei } => {
                    self.stats.ceis_captured += u64::from(!self.queries.owns(stored(cei)));
                    self.ceis.remove(stored(cei));
                }
                CeiEvent::Lost { cei } => {
                    self.ceis.remove(stored(cei));
                    self.ceis.lost.push(stored(cei));
                }
            }
        }
    }

    /// CEIs that wait for sources to be watched, and cannot be captured any more even if they are.
    pub(super) fn lose_overdue_ceis(&mut self, now: Time, commands: &mut Vec<Command>) {
        let is_lost = |id: &&CeiId| self.ceis.open.get(id).is_none_or(|cei| !cei.can_be_met(now));
        let lost = self.ceis.waiting.iter().filter(is_lost).copied().collect();
        self.lose(now, lost, commands);
    }

    fn lose(&mut self, now: Time, lost: Vec<CeiId>, commands: &mut Vec<Command>) {
        if lost.is_empty() {
            return;
        }
        self.stats.ceis_lost += lost.iter().filter(|id| !self.queries.owns(**id)).count() as u64;
        for id in &lost {
            self.ceis.remove(*id);
            self.ceis.awaited.remove(id);
        }
        let ended = lost.into_iter().map(|id| (id, CeiState::Lost)).collect();
        commands.push(Command::Write(Write::CeisEnded { ended, at: now }));
    }
}
