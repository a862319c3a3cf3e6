//! The sources that control knows, in as few bytes as possible: what only a probe needs is read from the store when it
//! is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::scheduler::{HostIdx, Input, SourceTerms};
use dunlin_store::{Health, ResourceId, SourceId, SourceState};

use super::Control;
use crate::source_config::{Activity, SourceConfig, WatchedSource};

/// Who is told of what is captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Its owner, change by change.
    User,
    /// Owners of queries, by results: it is there for queries only.
    Queries,
}

/// One source.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) id: SourceId,
    pub(super) resource_id: ResourceId,
    /// What is fetched for it; `None` while it is not watched.
    pub(super) resource: Option<ResourceIdx>,
    /// Whether the stored configuration is valid.
    pub(super) is_usable: bool,
    pub(super) state: SourceState,
    pub(super) last_probe: Option<Time>,
    pub(super) not_before: Option<Time>,
    pub(super) failures: u32,
    /// Whether something was learned about it that is in no note yet.
    pub(super) is_unnoted: bool,
    /// Whether the active probe of its resource serves it.
    pub(super) is_being_probed: bool,
    pub(super) audience: Audience,
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
    n_attention: usize,
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

    /// What is fetched for a source that is watched.
    pub(super) fn resource(&self, index: SourceIdx) -> Option<ResourceIdx> {
        self.get(index)?.resource
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (SourceIdx, &mut Source)> {
        let numbered = self.by_index.iter_mut().zip(0..);
        numbered.filter_map(|(source, index)| Some((SourceIdx(index), source.as_mut()?)))
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The numbers of all, in order.
    pub(super) fn ids(&self) -> impl Iterator<Item = SourceId> {
        self.by_id.keys().copied()
    }

    pub(super) const fn n_watched(&self) -> usize {
        self.n_watched
    }

    /// Watched sources that their owners may have to do something about.
    pub(super) const fn n_attention(&self) -> usize {
        self.n_attention
    }

    fn count_in(&mut self, source: &Source) {
        self.n_watched += usize::from(source.resource.is_some());
        self.n_attention += usize::from(needs_attention(source));
    }

    fn count_out(&mut self, source: &Source) {
        self.n_watched -= usize::from(source.resource.is_some());
        self.n_attention -= usize::from(needs_attention(source));
    }

    fn put(&mut self, source: Source) -> SourceIdx {
        self.count_in(&source);
        let index = self.find(source.id).or_else(|| self.free.pop());
        let index = index.unwrap_or(SourceIdx(self.by_index.len() as u32));
        self.by_id.insert(source.id, index);
        if index.index() == self.by_index.len() {
            self.by_index.push(Some(source));
        } else if let Some(before) = self.by_index[index.index()].replace(source) {
            self.count_out(&before);
        }
        index
    }

    fn take(&mut self, id: SourceId) {
        let Some(index) = self.by_id.remove(&id) else { return };
        if let Some(source) = self.by_index[index.index()].take() {
            self.count_out(&source);
        }
        self.free.push(index);
    }

    fn set_resource(&mut self, index: SourceIdx, resource: Option<ResourceIdx>) {
        self.edit(index, |source| source.resource = resource);
    }

    pub(super) fn set_state(&mut self, index: SourceIdx, state: SourceState) {
        self.edit(index, |source| source.state = state);
    }

    fn edit(&mut self, index: SourceIdx, edit: impl FnOnce(&mut Source)) {
        let Some(mut source) = self.by_index.get_mut(index.index()).and_then(Option::take) else { return };
        self.count_out(&source);
        edit(&mut source);
        self.count_in(&source);
        self.by_index[index.index()] = Some(source);
    }
}

const fn needs_attention(source: &Source) -> bool {
    source.resource.is_some() && matches!(source.state.health, Health::Attention)
}

impl Control {
    /// A source is added, or its configuration changes.
    pub(super) fn join(&mut self, now: Time, mut config: SourceConfig) {
        let before = self.sources.find(config.id);
        if let Some(source) = before.and_then(|index| self.sources.get_mut(index))
            && source.is_being_probed
        {
            // The active probe uses the old configuration; two at a time would mix both.
            source.next = Some(Box::new(config));
            return;
        }
        let mut is_requested = false;
        if let Some(index) = before {
            self.note_before(index, &mut config);
            let resource = self.sources.resource(index);
            is_requested = resource.is_some_and(|resource| self.scheduler.scheduler().is_requested(resource));
            self.unwatch(now, index);
        }
        let SourceConfig { id, resource: resource_id, state, activity } = config;
        let (watched, is_watched) = match activity {
            Activity::Watch(watched) => (Some(watched), true),
            Activity::Pause(watched) => (Some(watched), false),
            Activity::Invalid { .. } => (None, false),
        };
        let source = Source {
            id,
            resource_id,
            resource: None,
            is_usable: watched.is_some(),
            state,
            last_probe: watched.as_ref().and_then(|watched| watched.last_probe).map(|at| at.min(now)),
            not_before: watched.as_ref().and_then(|watched| self.not_before(now, watched)),
            failures: watched.as_ref().map_or(0, |watched| watched.failures),
            is_unnoted: false,
            is_being_probed: false,
            audience: match &watched {
                Some(watched) if watched.is_for_queries => Audience::Queries,
                _ => Audience::User,
            },
            next: None,
        };
        let (last_probe, not_before) = (source.last_probe, source.not_before);
        self.await_grace(id, &source.state);
        let index = self.sources.put(source);
        let Some(watched) = watched else { return };
        if is_watched {
            let host = self.host_of(now, &watched.url);
            let address = || (Arc::new(Arc::clone(&watched.url).into()), host);
            let resource = self.resources.add(resource_id, index, address);
            self.sources.set_resource(index, Some(resource));
        }
        if watched.is_unnoted {
            self.note_joined(index, id, &watched);
        }
        if let Some(resource) = self.sources.resource(index)
            && let Some(host) = self.resources.get(resource).map(|resource| resource.host)
        {
            let terms = self.with_queries(id, terms(host, &watched));
            let model = watched.model;
            let source = index;
            let input = Input::SourceAdded { resource, source, terms, model, last_probe, not_before };
            self.update_scheduler(now, input);
            if is_requested {
                self.update_scheduler(now, Input::ProbeRequested { resource });
            }
            self.cei_source_changed(now, id);
        }
    }

    /// A source is no longer watched, or will be watched differently.
    fn unwatch(&mut self, now: Time, index: SourceIdx) {
        if let Some(resource) = self.sources.resource(index) {
            self.sources.set_resource(index, None);
            self.resources.remove(resource, index);
            self.update_scheduler(now, Input::SourceRemoved { resource, source: index });
            if let Some(id) = self.sources.get(index).map(|source| source.id) {
                self.cei_source_changed(now, id);
            }
        }
    }

    /// When a source may be probed again; a wait made absurd by a clock set back is shortened.
    fn not_before(&self, now: Time, watched: &WatchedSource) -> Option<Time> {
        let longest = self.settings.longest_gap.max(self.settings.politeness.longest_wait);
        watched.not_before.filter(|at| *at > now).map(|at| at.min(now.plus(longest)))
    }

    /// A source that waits after a failure does not delay a requested probe. Its host still may.
    pub(super) fn end_own_pause(&mut self, now: Time, index: SourceIdx) {
        let Some(source) = self.sources.get_mut(index) else { return };
        // The scheduler may let it wait longer than it has to: for its shortest gap, which a request does not wait for.
        let waits = source.not_before.is_some() && !source.is_being_probed;
        let (Some(resource), true) = (source.resource, waits) else { return };
        source.not_before = None;
        if let Some(terms) = self.scheduler.scheduler().terms(resource, index) {
            self.tell_terms(now, index, terms);
        }
    }

    /// Tells the scheduler the terms of a watched source that is not being probed, as after an edit.
    pub(super) fn tell_terms(&mut self, now: Time, index: SourceIdx, terms: SourceTerms) {
        let Some(source) = self.sources.get(index) else { return };
        let (last_probe, not_before) = (source.last_probe, source.not_before);
        let Some(resource) = source.resource else { return };
        let scheduler = self.scheduler.scheduler();
        let is_requested = scheduler.is_requested(resource);
        let Some(model) = scheduler.model(resource, index).cloned() else { return };
        let input = Input::SourceAdded { resource, source: index, terms, model, last_probe, not_before };
        self.update_scheduler(now, input);
        if is_requested {
            self.update_scheduler(now, Input::ProbeRequested { resource });
        }
    }

    /// A source was removed. Its active probe ends without effect on it.
    pub(super) fn leave(&mut self, now: Time, id: SourceId) {
        if let Some(index) = self.sources.find(id) {
            self.unwatch(now, index);
            self.sources.take(id);
            self.forget_relevance(id);
        }
    }

    /// A probe has ended: a configuration that came during it is applied now.
    pub(super) fn release(&mut self, now: Time, index: SourceIdx, id: SourceId) {
        let Some(source) = self.sources.same(index, id) else { return };
        source.is_being_probed = false;
        if let Some(mut next) = source.next.take() {
            let progress = (source.last_probe, source.not_before, source.failures);
            let (resource, resource_id) = (source.resource, source.resource_id);
            next.state = source.state.clone();
            if let Activity::Watch(watched) | Activity::Pause(watched) = &mut next.activity
                && resource_id == next.resource
            {
                (watched.last_probe, watched.not_before, watched.failures) = progress;
                let model = resource.and_then(|resource| self.scheduler.scheduler().model(resource, index));
                if let Some(model) = model {
                    watched.model = model.clone();
                }
            }
            self.join(now, *next);
        }
    }
}

fn terms(host: HostIdx, watched: &WatchedSource) -> SourceTerms {
    // One that is there for queries is probed for their intervals. How often is for the query to say, within what its host allows.
    // What its changes are worth to those that wait for them is added.
    let wants_changes = !watched.is_for_queries;
    SourceTerms {
        host,
        value: watched.value,
        cost: 1.0,
        shortest_gap: if wants_changes { watched.shortest_gap } else { Duration::ZERO },
        longest_gap: watched.longest_gap,
        wants_changes,
    }
}
