//! A schedule: which source was, or will be, probed when. Every policy and planner ends in one.

use crate::{Chronon, SourceIdx};

/// One probe of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probe {
    /// When.
    pub chronon: Chronon,
    /// Where.
    pub source: SourceIdx,
}

/// A set of probes, in order of chronon; within a chronon in the order in which they were chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    probes: Vec<Probe>,
}

impl Schedule {
    /// An empty schedule.
    pub const fn new() -> Self {
        Self { probes: Vec::new() }
    }

    /// A schedule from probes in any order; a source given twice in one chronon counts once.
    pub fn from_probes(mut probes: Vec<Probe>) -> Self {
        probes.sort_unstable();
        probes.dedup();
        Self { probes }
    }

    /// Adds the sources chosen at `chronon`, which must not lie before the last one added.
    pub fn extend(&mut self, chronon: Chronon, sources: &[SourceIdx]) {
        debug_assert!(self.probes.last().is_none_or(|last| last.chronon <= chronon));
        self.probes.extend(sources.iter().map(|&source| Probe { chronon, source }));
    }

    /// All probes in order.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The probes of each chronon that has any, in order.
    pub fn by_chronon(&self) -> impl Iterator<Item = (Chronon, &[Probe])> {
        self.probes.chunk_by(|a, b| a.chronon == b.chronon).map(|probes| (probes[0].chronon, probes))
    }

    /// The probe chronons of each of `n_sources` sources, ascending.
    pub fn by_source(&self, n_sources: usize) -> Vec<Vec<Chronon>> {
        let mut chronons = vec![Vec::new(); n_sources];
        for probe in &self.probes {
            if let Some(own) = chronons.get_mut(probe.source.index()) {
                own.push(probe.chronon);
            }
        }
        chronons
    }
}
