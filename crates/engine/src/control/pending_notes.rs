//! Notes of what was learned, for probes that left nothing else to store. Such a probe is one entry of a batch in the
//! store; the note that it changes would be a page. So notes are written now and then, for all sources probed since, and
//! a run that begins after a crash learns again from the probes since the last notes.
//!
//! Invariant: everything learned from probes up to the observation handed over as `until` is in notes handed over with it
//! or before it.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_store::{Note, ObservationId, SourceId};

use super::{Command, Control, Write};
use crate::memory::{Learned, learned_note};
use crate::source_config::{Activity, SourceConfig, WatchedSource};

/// How often notes are written, while there are any. Seldom: a source that is probed several times in between is written
/// once, and of many sources several share a page.
const EVERY: Duration = Duration::from_mins(5);
/// After this many probes they are written sooner: a run that begins after a crash has to read all of them.
const MAX_PROBES: i64 = 1_000_000;
/// How many sources' notes are handed over at a time, so that deciding does not wait for them.
const AT_ONE_TIME: usize = 256;

/// Sources whose notes are not written yet.
#[derive(Debug, Default)]
pub(super) struct PendingNotes {
    /// Sources about which something was learned since the last notes were begun.
    new: Vec<SourceIdx>,
    /// Sources whose notes are being written now, the next one last.
    now: Vec<SourceIdx>,
    /// Notes of sources whose terms have changed since.
    ready: Vec<(SourceId, Note)>,
    /// Up to where all is noted when those are; `None` when none are being written.
    until: Option<ObservationId>,
    /// Up to where all is noted, or was handed over to be.
    noted: Option<ObservationId>,
    /// The newest observation in the store.
    newest: Option<ObservationId>,
    begun_at: Option<Time>,
}

impl PendingNotes {
    /// Counts a capture that is in the store.
    pub(super) fn written(&mut self, observation: ObservationId) {
        self.newest = self.newest.max(Some(observation));
    }

    /// Whether there is something to hand over.
    const fn has_some(&self) -> bool {
        self.until.is_some() || !self.ready.is_empty()
    }

    /// Begins notes of all that was learned up to now.
    fn begin(&mut self, now: Time) {
        self.begun_at = Some(now);
        (self.until, self.noted) = (self.newest, self.newest);
        self.now.append(&mut self.new);
        // The next one is taken from the end. Notes of neighbours are neighbours in the store, and share a page there.
        self.now.sort_unstable_by(|one, other| other.cmp(one));
    }
}

impl Control {
    /// Something was learned about a source, and its note can wait.
    pub(super) fn note_later(&mut self, index: SourceIdx) {
        if let Some(source) = self.sources.get_mut(index)
            && !source.is_unnoted
        {
            source.is_unnoted = true;
            self.pending_notes.new.push(index);
        }
    }

    /// A source is added, and what was learned about it is in no note: an earlier run crashed.
    pub(super) fn note_joined(&mut self, index: SourceIdx, id: SourceId, watched: &WatchedSource) {
        if self.sources.resource(index).is_some() {
            return self.note_later(index);
        }
        let learned = Learned { last_probe: watched.last_probe, model: watched.model.clone() };
        self.pending_notes.ready.extend(learned_note(&learned).map(|note| (id, note)));
    }

    /// The configuration of a source is about to change: what was learned about it goes into a note, and into the new
    /// configuration, unless that starts from scratch.
    pub(super) fn note_before(&mut self, index: SourceIdx, config: &mut SourceConfig) {
        let Some(learned) = self.probes_since_notes(index) else { return };
        let Some(source) = self.sources.get_mut(index) else { return };
        source.is_unnoted = false;
        self.pending_notes.ready.extend(learned_note(&learned).map(|note| (source.id, note)));
        if let Activity::Watch(watched) | Activity::Pause(watched) = &mut config.activity
            && source.resource_id == config.resource
            && watched.last_probe.is_some_and(|last| Some(last) < learned.last_probe)
        {
            (watched.last_probe, watched.model) = (learned.last_probe, learned.model);
        }
    }

    /// What was learned about a source, if that is in no note.
    fn probes_since_notes(&self, index: SourceIdx) -> Option<Learned> {
        let source = self.sources.get(index).filter(|source| source.is_unnoted)?;
        let model = self.scheduler.scheduler().model(source.resource?, index)?.clone();
        Some(Learned { last_probe: source.last_probe, model })
    }

    /// Hands some notes to the writer, if it is time for them.
    pub(super) fn write_notes(&mut self, now: Time, commands: &mut Vec<Command>) {
        if self.trouble.store.is_some() {
            return;
        }
        let age = self.pending_notes.begun_at.map_or(Duration::MAX, |at| now.since(at));
        let n_probes =
            self.pending_notes.newest.map_or(0, |id| id.0) - self.pending_notes.noted.map_or(0, |id| id.0);
        let is_time = age >= EVERY || (self.pending_notes.noted.is_some() && n_probes >= MAX_PROBES);
        if self.pending_notes.until.is_none()
            && self.pending_notes.newest > self.pending_notes.noted
            && is_time
        {
            self.pending_notes.begin(now);
        }
        if self.pending_notes.has_some() {
            self.hand_over_notes(commands);
        }
    }

    /// Hands all notes to the writer, at the end of a run.
    pub(super) fn flush_notes(&mut self, now: Time, commands: &mut Vec<Command>) {
        self.pending_notes.begin(now);
        while self.pending_notes.has_some() {
            self.hand_over_notes(commands);
        }
    }

    fn hand_over_notes(&mut self, commands: &mut Vec<Command>) {
        let mut notes = std::mem::take(&mut self.pending_notes.ready);
        for _ in 0..AT_ONE_TIME {
            let Some(index) = self.pending_notes.now.pop() else { break };
            let Some(learned) = self.probes_since_notes(index) else { continue };
            if let Some(source) = self.sources.get_mut(index) {
                source.is_unnoted = false;
                notes.extend(learned_note(&learned).map(|note| (source.id, note)));
            }
        }
        notes.sort_by_key(|(id, _)| *id);
        let until = self.pending_notes.until.take_if(|_| self.pending_notes.now.is_empty());
        commands.push(Command::Write(Write::Notes { notes, until }));
    }
}
