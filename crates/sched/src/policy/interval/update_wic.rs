//! WIC as a policy for complex needs, the way the papers compare it: every interval's start is an update
//! of its source, every update is worth 1 until its interval ends, and needs that span sources are not
//! seen at all.

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::super::heap::{Positions, SourceHeap};
use super::super::{Arrival, Policy};
use super::chronon_queue::ChrononQueue;
use crate::value::scaled::Scaled;

/// WIC with uniform urgency, certain updates, and lives that end with the intervals.
#[derive(Debug, Clone)]
pub struct UpdateWic {
    costs: Costs,
    updates: Vec<Vec<Update>>,
    heap: SourceHeap,
    positions: Positions,
    /// Sources whose number of visible updates changes.
    due: ChrononQueue<SourceIdx>,
}

/// An update of a source, announced by one or several intervals that start with it.
#[derive(Debug, Clone, Copy)]
struct Update {
    start: Chronon,
    finish: Chronon,
}

impl UpdateWic {
    /// WIC over the sources 0 to `n_sources`.
    pub fn new(n_sources: usize, costs: Costs) -> Self {
        Self {
            costs,
            updates: vec![Vec::new(); n_sources],
            heap: SourceHeap::default(),
            positions: Positions::new(n_sources),
            due: ChrononQueue::default(),
        }
    }

    fn rekey(&mut self, source: SourceIdx, now: Chronon) {
        let updates = &mut self.updates[source.index()];
        updates.retain(|update| update.finish >= now);
        let visible = updates.iter().filter(|update| update.start <= now).count();
        let worth = Scaled::new(visible as f64 / self.costs.of(source));
        self.heap.set(&mut self.positions, source, worth);
    }
}

impl Policy for UpdateWic {
    fn arrive(&mut self, _now: Chronon, arrival: Arrival<'_>) {
        let Arrival::Cei(cei) = arrival else { return };
        for interval in cei.intervals {
            let (source, start, finish) = (interval.source(), interval.start(), interval.finish());
            let updates = &mut self.updates[source.index()];
            match updates.iter_mut().find(|update| update.start == start) {
                Some(update) if update.finish >= finish => continue,
                Some(update) => update.finish = finish,
                None => {
                    updates.push(Update { start, finish });
                    self.due.push(start.get(), source);
                }
            }
            self.due.push(finish.plus(1).get(), source);
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        while let Some((_, sources)) = self.due.take_due(now.get()) {
            sources.into_iter().for_each(|source| self.rekey(source, now));
        }
        let mut too_expensive = Vec::new();
        while allowance.fits(self.costs.least()) {
            let Some(top) = self.heap.pop(&mut self.positions) else { break };
            if allowance.spend(self.costs.of(top.source)) {
                chosen.push(top.source);
            } else {
                too_expensive.push(top);
            }
        }
        too_expensive
            .into_iter()
            .for_each(|entry| self.heap.set(&mut self.positions, entry.source, entry.key));
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.updates[observation.source.index()].retain(|update| update.start > observation.at);
        }
        self.rekey(observation.source, observation.at);
    }
}
