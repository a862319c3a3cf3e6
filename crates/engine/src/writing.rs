//! What waits to be written, and how it is written: in order, captures together, again and again while the store cannot.
//! Blocks; the driver chooses the thread.
//!
//! Invariant: every write is done or reported as lost, and never dropped because the store was full, busy or read-only. A
//! capture that is written twice counts once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Backoff, Retry};
use dunlin_query::relevance;
use dunlin_store::{Capture, CeiId, CeiQuery, InstanceId, Note, ObservationId, SourceId, Store, TextScope};

use crate::control::{Event, WatchKey, Write};
use crate::queries::index_portion;
use crate::source_config::set_noted_until;

const BACKOFF: Backoff = Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(30) };
/// The most captures in one call, so that a long backlog does not make one long wait.
const BATCH: usize = 1024;

/// Everything not yet written.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: VecDeque<Write>,
    n_failures: u32,
}

impl Backlog {
    pub(crate) fn push(&mut self, write: Write) {
        self.waiting.push_back(write);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How long to wait before the next attempt; nothing to wait for when the last one worked.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (self.n_failures > 0).then(|| BACKOFF.after(self.n_failures))
    }

    /// Writes as much as the store takes, and returns the resulting events.
    pub(crate) fn attempt(&mut self, store: &dyn Store) -> Vec<Event> {
        let mut events = Vec::new();
        let was_in_trouble = self.n_failures > 0;
        while !self.waiting.is_empty() {
            if let Err(error) = self.write_next(store, &mut events) {
                if !was_in_trouble && self.n_failures == 0 {
                    tracing::warn!(%error, "the store cannot be written; no probe starts until it can");
                }
                self.n_failures = self.n_failures.saturating_add(1);
                events.push(Event::StoreTrouble(Some(error.to_string())));
                return events;
            }
        }
        self.n_failures = 0;
        if was_in_trouble {
            tracing::info!("the store can be written again");
            events.push(Event::StoreTrouble(None));
        }
        events
    }

    /// Writes what comes first, with the captures that follow it. An error means: try again later.
    fn write_next(&mut self, store: &dyn Store, events: &mut Vec<Event>) -> Result<(), dunlin_store::Error> {
        let captures = self.leading_captures();
        if !captures.is_empty() {
            return self.write_captures(store, captures, events);
        }
        let result = match self.waiting.front() {
            Some(Write::Journal(rows)) => {
                let result = store.append_decisions(rows);
                if !result.as_ref().is_err_and(may_pass) {
                    events.push(Event::JournalWritten);
                }
                result
            }
            Some(Write::Politeness(scopes)) => store.remember_politeness(scopes.clone()),
            Some(Write::Notes { notes, until }) => write_notes(store, notes, *until),
            Some(Write::ReadCei(id)) => {
                let query = CeiQuery { after: Some(CeiId(id.0 - 1)), state: None, limit: 1 };
                let found = store.ceis(&query);
                found.map(|found| events.extend(found.into_iter().map(Event::CeiRead)))
            }
            Some(Write::Steps { steps, at }) => store.step_instances(steps.clone(), *at).and_then(|()| {
                let wanting = steps.iter().filter(|step| step.wants().is_some());
                wanting.map(|step| step.instance).try_for_each(|id| read_instance(store, id, events))
            }),
            Some(Write::ReadInstance(id)) => read_instance(store, *id, events),
            Some(Write::IndexTexts) => {
                index_portion(store).map(|is_complete| events.push(Event::TextsIndexed { is_complete }))
            }
            Some(Write::DropTextIndex) => store.drop_text_index(),
            Some(Write::FindTexts { scope, watches }) => find_texts(store, *scope, watches, events),
            Some(Write::CeisEnded { ended, at }) => store.end_ceis(ended.clone(), *at),
            Some(Write::Capture(_)) | None => Ok(()),
        };
        match result {
            Err(error) if may_pass(&error) => Err(error),
            result => {
                self.waiting.pop_front();
                if let Err(error) = result {
                    tracing::error!(%error, "part of the journal, of the notes or of CEIs could not be stored");
                }
                Ok(())
            }
        }
    }

    fn leading_captures(&self) -> Vec<Arc<Capture>> {
        let capture = |write: &Write| match write {
            Write::Capture(capture) => Some(Arc::clone(capture)),
            _ => None,
        };
        self.waiting.iter().map_while(capture).take(BATCH).collect()
    }

    fn write_captures(
        &mut self,
        store: &dyn Store,
        captures: Vec<Arc<Capture>>,
        events: &mut Vec<Event>,
    ) -> Result<(), dunlin_store::Error> {
        let written: Vec<Write> = self.waiting.drain(..captures.len()).collect();
        let results = store.record_captures(captures);
        let mut trouble = None;
        let mut unwritten = Vec::new();
        for (write, result) in written.into_iter().zip(results) {
            match (write, result) {
                (write, Err(error)) if may_pass(&error) => {
                    unwritten.push(write);
                    trouble.get_or_insert(error);
                }
                (Write::Capture(capture), result) => {
                    let (probe, source) = (capture.probe, capture.source);
                    events.push(Event::Written { probe, source, result });
                }
                _ => {}
            }
        }
        for write in unwritten.into_iter().rev() {
            self.waiting.push_front(write);
        }
        trouble.map_or(Ok(()), Err)
    }
}

/// Reads an instance with its CEI, unless it has ended.
fn read_instance(
    store: &dyn Store,
    id: InstanceId,
    events: &mut Vec<Event>,
) -> Result<(), dunlin_store::Error> {
    let Some(instance) = store.instance(id)? else { return Ok(()) };
    let cei = match instance.cei {
        Some(cei) => store.ceis(&CeiQuery { after: Some(CeiId(cei.0 - 1)), state: None, limit: 1 })?.pop(),
        None => None,
    };
    events.push(Event::InstanceRead(instance, cei));
    Ok(())
}

/// Reads how relevant sources are to words.
fn find_texts(
    store: &dyn Store,
    scope: TextScope,
    watches: &[(WatchKey, Vec<String>)],
    events: &mut Vec<Event>,
) -> Result<(), dunlin_store::Error> {
    let mut found = Vec::with_capacity(watches.len());
    for (watch, words) in watches {
        let texts = store.find_texts(words, scope)?;
        let relevant = |(source, score)| (source, relevance(score, texts.n_texts, &texts.n_with));
        found.push((*watch, texts.scores.into_iter().map(relevant).collect()));
    }
    events.push(Event::TextsFound { scope, found });
    Ok(())
}

/// Notes first, then that they are there.
fn write_notes(
    store: &dyn Store,
    notes: &[(SourceId, Note)],
    until: Option<ObservationId>,
) -> Result<(), dunlin_store::Error> {
    if !notes.is_empty() {
        store.remember_notes(notes.to_vec())?;
    }
    until.map_or(Ok(()), |until| set_noted_until(store, until))
}

/// Whether the store may take later what it does not take now. One that was closed says nothing about what it was given.
fn may_pass(error: &dunlin_store::Error) -> bool {
    error.retry() != Retry::No || *error == dunlin_store::Error::Closed
}
