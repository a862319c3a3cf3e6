//! The probes from decision to commit: which sources each serves, where it is, and what it waits for. Decides nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use dunlin_core::{SourceIdx, Time};
use dunlin_net::politeness::ScopedUrl;
use dunlin_net::{Connections, CrossSiteRedirect};
use dunlin_sched::model::Evidence;
use dunlin_sched::scheduler::{Choice, HostIdx};
use dunlin_store::{InstanceId, ProbeId, SourceId};

use super::watches::WatchKey;
use crate::by_id::ById;
use crate::capture::FollowUp;

/// A probe from decision to commit.
#[derive(Debug)]
pub(super) struct ActiveProbe {
    pub(super) choice: Choice,
    /// The address of the resource.
    pub(super) address: Arc<ScopedUrl>,
    pub(super) host: HostIdx,
    /// The URL of the current or last hop.
    pub(super) url: Arc<ScopedUrl>,
    /// Over which connections; a new one after a kept one was closed.
    pub(super) connections: Connections,
    /// The redirect to another site, if there was one: `url` is then its target and not the resource's address.
    pub(super) redirect: Option<Box<CrossSiteRedirect>>,
    /// The sources that it serves.
    pub(super) sources: Vec<ActiveSource>,
    /// How many of their captures are not in the store yet.
    pub(super) n_unwritten: usize,
}

/// One source of an active probe.
#[derive(Debug)]
pub(super) struct ActiveSource {
    pub(super) index: SourceIdx,
    pub(super) id: SourceId,
    pub(super) ending: Ending,
    /// Instances of queries that want something new after it; the store knows their CEIs once it is written.
    pub(super) begun: Vec<InstanceId>,
    /// The words that its text is to be ranked for once it is written.
    pub(super) to_rank: Vec<WatchKey>,
}

/// What came of a probe for one source.
#[derive(Debug)]
pub(super) enum Ending {
    /// `is_noted`: what was learned from it is stored with it.
    Observed {
        evidence: Evidence,
        at: Time,
        follow_up: FollowUp,
        is_noted: bool,
    },
    Failed {
        not_before: Time,
        failures: u32,
    },
    /// Nothing, yet or for good: the source was removed.
    Gone,
}

/// All active probes.
#[derive(Debug)]
pub(super) struct InFlight {
    probes: ById<ProbeId, ActiveProbe>,
    /// Probes that wait for their host to be free after its robots.txt was read, by when it is.
    delayed: BTreeSet<(Time, ProbeId)>,
    last_id: u64,
}

impl InFlight {
    /// `first` is a number from which on no probe of an earlier run was counted.
    pub(super) fn new(first: u64) -> Self {
        Self { probes: ById::default(), delayed: BTreeSet::new(), last_id: first }
    }

    pub(super) fn len(&self) -> usize {
        self.probes.len()
    }

    pub(super) fn get(&self, probe: ProbeId) -> Option<&ActiveProbe> {
        self.probes.get(&probe)
    }

    pub(super) fn get_mut(&mut self, probe: ProbeId) -> Option<&mut ActiveProbe> {
        self.probes.get_mut(&probe)
    }

    /// The number of the next probe.
    pub(super) const fn next_id(&mut self) -> ProbeId {
        self.last_id = self.last_id.wrapping_add(1);
        ProbeId(self.last_id)
    }

    pub(super) fn begin(&mut self, id: ProbeId, probe: ActiveProbe) {
        self.probes.insert(id, probe);
    }

    pub(super) fn end(&mut self, probe: ProbeId) -> Option<ActiveProbe> {
        self.probes.remove(&probe)
    }

    /// The hosts that probes are at.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostIdx> {
        self.probes.values().map(|active| active.host)
    }

    /// The sources that a probe serves.
    pub(super) fn sources_of(&self, probe: ProbeId) -> Vec<(SourceIdx, SourceId)> {
        let active = self.probes.get(&probe).into_iter();
        active.flat_map(|active| &active.sources).map(|source| (source.index, source.id)).collect()
    }

    pub(super) fn set_ending(&mut self, probe: ProbeId, index: SourceIdx, ending: Ending) {
        let active = self.probes.get_mut(&probe);
        let mut sources = active.into_iter().flat_map(|active| &mut active.sources);
        if let Some(source) = sources.find(|source| source.index == index) {
            source.ending = ending;
        }
    }

    pub(super) fn set_begun(&mut self, probe: ProbeId, index: SourceIdx, begun: Vec<InstanceId>) {
        let active = self.probes.get_mut(&probe);
        let mut sources = active.into_iter().flat_map(|active| &mut active.sources);
        if let Some(source) = sources.find(|source| source.index == index) {
            source.begun = begun;
        }
    }

    pub(super) fn set_to_rank(&mut self, probe: ProbeId, index: SourceIdx, to_rank: Vec<WatchKey>) {
        let active = self.probes.get_mut(&probe);
        let mut sources = active.into_iter().flat_map(|active| &mut active.sources);
        if let Some(source) = sources.find(|source| source.index == index) {
            source.to_rank = to_rank;
        }
    }

    /// Lets a probe wait.
    pub(super) fn delay(&mut self, probe: ProbeId, until: Time) {
        self.delayed.insert((until, probe));
    }

    /// Takes the next one out that has waited long enough.
    pub(super) fn take_delayed(&mut self, now: Time) -> Option<ProbeId> {
        let first = self.delayed.first().copied().filter(|(until, _)| *until <= now)?;
        self.delayed.remove(&first);
        Some(first.1)
    }

    /// When the first of those that wait goes on.
    pub(super) fn next_delayed(&self) -> Option<Time> {
        self.delayed.first().map(|(until, _)| *until)
    }

    /// Takes all out that wait.
    pub(super) fn take_all_delayed(&mut self) -> impl Iterator<Item = ProbeId> + use<> {
        std::mem::take(&mut self.delayed).into_iter().map(|(_, probe)| probe)
    }
}
