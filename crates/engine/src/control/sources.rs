//! The sources that control knows, in as few bytes as possible: what only a probe needs is read from the store when it
//! is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use dunlin_core::{SourceIdx, Time};
use dunlin_net::politeness::ScopedUrl;
use dunlin_sched::watch::{Input, Terms};
use dunlin_store::{ProbeId, SourceId, SourceState};

use super::Control;
use crate::source_config::{Activity, SourceConfig, WatchedSource};

/// One source.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) id: SourceId,
    /// `None` when the stored configuration is invalid. Parsed, because parsing costs as much as the rest of a decision.
    pub(super) address: Option<Arc<ScopedUrl>>,
    pub(super) terms: Option<Terms>,
    pub(super) state: SourceState,
    pub(super) last_probe: Option<Time>,
    pub(super) not_before: Option<Time>,
    pub(super) failures: u32,
    pub(super) is_watched: bool,
    /// Whether something was learned about it that is in no note yet.
    pub(super) is_unnoted: bool,
    pub(super) active_probe: Option<ProbeId>,
    /// A configuration that came during a probe, to be applied after it.
    pub(super) next: Option<Box<SourceConfig>>,
}

/// All of them, by index and by number. Indices of sources that have left are used again.
#[derive(Debug, Default)]
pub(super) struct Sources {
    by_index: Vec<Option<Source>>,
    by_id: BTreeMap<SourceId, SourceIdx>,
    free: Vec<SourceIdx>,
    n_watched: usize,
}

impl Sources {
    pub(super) fn find(&self, id: SourceId) -> Option<SourceIdx> {
        self.by_id.get(&id).copied()
    }

    pub(super) fn get(&self, index: SourceIdx) -> Option<&Source> {
        self.by_index.get(index.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: SourceIdx) -> Option<&mut Source> {
        self.by_index.get_mut(index.index())?.as_mut()
    }

    /// The source with this id at this index; `None` when another source has the index.
    pub(super) fn same(&mut self, index: SourceIdx, id: SourceId) -> Option<&mut Source> {
        self.get_mut(index).filter(|source| source.id == id)
    }

    pub(super) fn is_watched(&self, index: SourceIdx) -> bool {
        self.get(index).is_some_and(|source| source.is_watched)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SourceIdx, &Source)> {
        let numbered = self.by_index.iter().zip(0..);
        numbered.filter_map(|(source, index)| Some((SourceIdx(index), source.as_ref()?)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (SourceIdx, &mut Source)> {
        let numbered = self.by_index.iter_mut().zip(0..);
        numbered.filter_map(|(source, index)| Some((SourceIdx(index), source.as_mut()?)))
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) const fn n_watched(&self) -> usize {
        self.n_watched
    }

    fn put(&mut self, source: Source) -> SourceIdx {
        self.n_watched += usize::from(source.is_watched);
        let index = self.find(source.id).or_else(|| self.free.pop());
        let index = index.unwrap_or(SourceIdx(self.by_index.len() as u32));
        self.by_id.insert(source.id, index);
        if index.index() == self.by_index.len() {
            self.by_index.push(Some(source));
        } else if let Some(before) = self.by_index[index.index()].replace(source) {
            self.n_watched -= usize::from(before.is_watched);
        }
        index
    }

    fn take(&mut self, id: SourceId) -> Option<(SourceIdx, Source)> {
        let index = self.by_id.remove(&id)?;
        let source = self.by_index[index.index()].take()?;
        self.free.push(index);
        self.n_watched -= usize::from(source.is_watched);
        Some((index, source))
    }
}

impl Control {
    /// A source is added, or its configuration changes.
    pub(super) fn join(&mut self, now: Time, mut config: SourceConfig) {
        let before = self.sources.find(config.id);
        if let Some(source) = before.and_then(|index| self.sources.get_mut(index))
            && source.active_probe.is_some()
        {
            // The active probe uses the old configuration; two at a time would mix both.
            source.next = Some(Box::new(config));
            return;
        }
        if let Some(index) = before {
            self.note_before(index, &mut config);
        }
        if let Some(index) = before
            && self.sources.is_watched(index)
        {
            self.update_watch(now, Input::Left { source: index });
        }
        let SourceConfig { id, state, activity } = config;
        let (watched, is_watched) = match activity {
            Activity::Watch(watched) => (Some(watched), true),
            Activity::Pause(watched) => (Some(watched), false),
            Activity::Invalid { .. } => (None, false),
        };
        let terms = watched.as_ref().map(|watched| self.terms(now, watched));
        let source = Source {
            id,
            address: watched.as_ref().map(|watched| Arc::new(Arc::clone(&watched.url).into())),
            terms,
            state,
            last_probe: watched.as_ref().and_then(|watched| watched.last_probe).map(|at| at.min(now)),
            not_before: watched.as_ref().and_then(|watched| self.not_before(now, watched)),
            failures: watched.as_ref().map_or(0, |watched| watched.failures),
            is_watched,
            is_unnoted: false,
            active_probe: None,
            next: None,
        };
        let (last_probe, not_before) = (source.last_probe, source.not_before);
        let index = self.sources.put(source);
        if let Some(watched) = watched.as_ref().filter(|watched| watched.is_unnoted) {
            self.note_joined(index, id, watched);
        }
        if let (Some(watched), Some(terms), true) = (watched, terms, is_watched) {
            let model = watched.model;
            self.update_watch(
                now,
                Input::Joined { source: index, terms, model, last_look: last_probe, not_before },
            );
        }
    }

    /// When a source may be probed again; a wait made absurd by a clock set back is shortened.
    fn not_before(&self, now: Time, watched: &WatchedSource) -> Option<Time> {
        let longest = self.settings.longest_gap.max(self.settings.politeness.longest_wait);
        watched.not_before.filter(|at| *at > now).map(|at| at.min(now.plus(longest)))
    }

    fn terms(&mut self, now: Time, watched: &WatchedSource) -> Terms {
        Terms {
            host: self.host_of(now, &watched.url),
            value: watched.value,
            cost: 1.0,
            shortest_gap: watched.shortest_gap,
            longest_gap: watched.longest_gap,
            wants_changes: true,
        }
    }

    /// A source that waits after a failure does not delay a requested probe. Its host still may.
    pub(super) fn end_own_pause(&mut self, now: Time, index: SourceIdx) {
        let Some(model) = self.watch.watch().model(index).cloned() else { return };
        let Some(source) = self.sources.get_mut(index) else { return };
        let waits = source.not_before.is_some_and(|at| at > now) && source.active_probe.is_none();
        let (Some(terms), true) = (source.terms, waits) else { return };
        source.not_before = None;
        let last_probe = source.last_probe;
        self.update_watch(
            now,
            Input::Joined { source: index, terms, model, last_look: last_probe, not_before: None },
        );
    }

    /// A source was removed. Its active probe ends without effect.
    pub(super) fn leave(&mut self, now: Time, id: SourceId) {
        if let Some((index, source)) = self.sources.take(id)
            && source.is_watched
        {
            self.update_watch(now, Input::Left { source: index });
        }
    }

    /// A probe has ended: a configuration that came during it is applied now.
    pub(super) fn release(&mut self, now: Time, index: SourceIdx, id: SourceId) {
        let Some(source) = self.sources.same(index, id) else { return };
        source.active_probe = None;
        if let Some(mut next) = source.next.take() {
            let progress = (source.last_probe, source.not_before, source.failures);
            let same = source.address.clone();
            next.state = source.state.clone();
            if let Activity::Watch(watched) | Activity::Pause(watched) = &mut next.activity
                && same.is_some_and(|same| *watched.url == *same.url())
            {
                (watched.last_probe, watched.not_before, watched.failures) = progress;
                if let Some(model) = self.watch.watch().model(index) {
                    watched.model = model.clone();
                }
            }
            self.join(now, *next);
        }
    }
}
