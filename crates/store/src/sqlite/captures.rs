//! Recording a capture: the whole result of one probe, inside the transaction of the caller.

use std::sync::Arc;

use dunlin_core::Time;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::unchanged::{self, UnchangedProbe};
use super::writer::{Pending, Writer};
use super::{ceis, contents, instances, items, outbox, prune, remembered, resources, sources, texts};
use crate::{
    Capture, ContentHash, Cursor, Error, Fault, NewChange, NewVersion, ObservationId, Outcome, Recorded,
    Repeated, SourceId, VersionId,
};

/// A part of the captures that are recorded in one call.
pub(super) enum Part {
    Eventful(Arc<Capture>),
    /// A run of probes that found nothing new.
    Unchanged(Vec<UnchangedProbe>),
}

/// The captures as parts that can be stored one after the other.
pub(super) fn in_order(captures: Vec<Arc<Capture>>) -> Vec<Part> {
    let mut parts = Vec::new();
    for capture in captures {
        match (UnchangedProbe::of(&capture), parts.last_mut()) {
            (Some(probe), Some(Part::Unchanged(probes))) => probes.push(probe),
            (Some(probe), _) => parts.push(Part::Unchanged(vec![probe])),
            (None, _) => parts.push(Part::Eventful(capture)),
        }
    }
    parts
}

impl Part {
    /// Queues it, prepared as far as possible on the thread of the caller.
    pub(super) fn submit(self, writer: &Writer) -> Recording {
        match self {
            Self::Eventful(capture) => match Prepared::new(capture) {
                Ok(prepared) => Recording::One(writer.submit(move |connection| prepared.record(connection))),
                Err(error) => Recording::Refused(error),
            },
            Self::Unchanged(probes) => {
                let size = probes.len();
                Recording::Several(
                    writer.submit(move |connection| unchanged::record(connection, &probes)),
                    size,
                )
            }
        }
    }
}

/// Answers that will come.
pub(super) enum Recording {
    One(Pending<Recorded>),
    Several(Pending<Vec<Result<Recorded, Error>>>, usize),
    Refused(Error),
}

impl Recording {
    /// Waits until all of it is on disk, or has failed; an answer for each capture.
    pub(super) fn wait(self) -> Vec<Result<Recorded, Error>> {
        match self {
            Self::One(pending) => vec![pending.wait()],
            Self::Several(pending, size) => pending.wait().unwrap_or_else(|error| vec![Err(error); size]),
            Self::Refused(error) => vec![Err(error)],
        }
    }
}

/// A capture with what can be computed before the transaction begins.
struct Prepared {
    capture: Arc<Capture>,
    hash: Option<ContentHash>,
}

impl Prepared {
    /// Checks and hashes, on the thread of the caller.
    fn new(capture: Arc<Capture>) -> Result<Self, Error> {
        capture.check()?;
        let hash = capture.version.as_ref().map(|version| ContentHash::of(&version.content));
        Ok(Self { capture, hash })
    }

    /// Stores it all, unless its probe is known.
    fn record(&self, connection: &Connection) -> Result<Recorded, Error> {
        let capture = &*self.capture;
        if let Some(earlier) = earlier(connection, capture)? {
            return Ok(earlier);
        }
        sources::demand(connection, capture.source)?;
        let version = match (&capture.version, self.hash) {
            (Some(version), Some(hash)) => Some(add_version(connection, capture, version, hash)?),
            _ => None,
        };
        if let Some(items) = &capture.items {
            items::replace(connection, capture.source, capture.at, items)?;
        }
        if let Some(words) = &capture.text {
            texts::replace(connection, capture.source, words)?;
        }
        let mut cursors = Vec::with_capacity(capture.changes.len());
        for change in &capture.changes {
            cursors.push(add_change(connection, capture, version, change)?);
        }
        for message in &capture.messages {
            let cursor = message.change.and_then(|index| cursors.get(index)).copied();
            outbox::add(connection, capture.at, Some(capture.source), cursor, message)?;
        }
        remembered::set_notes(connection, capture.source, &capture.notes)?;
        remembered::set_politeness(connection, &capture.politeness)?;
        if let Some(found) = &capture.found {
            sources::set_found(connection, capture.source, found)?;
        }
        if let Some(state) = &capture.state {
            sources::set_state(connection, capture.source, state)?;
        }
        let ends = cursors.first().copied().zip(cursors.last().copied());
        if let Some(state) = &capture.fetch_state {
            resources::set_state(connection, capture.source, state)?;
        }
        let observation = add_observation(connection, capture, version, ends)?;
        instances::go_on(connection, &capture.steps)?;
        ceis::capture(connection, &capture.intervals, observation, capture.at)?;
        let last_result = instances::end(connection, &capture.steps, capture.at)?;
        Ok(Recorded { observation, version, cursors: ends, last_result, repeated: Repeated::No })
    }
}

/// What the capture got when it was recorded before.
fn earlier(connection: &Connection, capture: &Capture) -> Result<Option<Recorded>, Error> {
    let mut find = connection.prepare_cached(
        "SELECT version, first_cursor, last_cursor, id FROM observation WHERE source = ?1 AND probe = ?2",
    )?;
    let found = find
        .query_row(params![capture.source.0, capture.probe.0.cast_signed()], |row| {
            let first: Option<i64> = row.get(1)?;
            let last: Option<i64> = row.get(2)?;
            Ok(Recorded {
                observation: ObservationId(row.get(3)?),
                version: row.get::<_, Option<i64>>(0)?.map(VersionId),
                cursors: first.zip(last).map(|(first, last)| (Cursor(first), Cursor(last))),
                last_result: None,
                repeated: Repeated::Yes,
            })
        })
        .optional()?;
    Ok(found)
}

/// A new version, or the newest one if nothing is different.
fn add_version(
    connection: &Connection,
    capture: &Capture,
    version: &NewVersion,
    hash: ContentHash,
) -> Result<VersionId, Error> {
    let newest = newest(connection, capture.source)?;
    if let Some(newest) = newest.as_ref().filter(|newest| newest.hash == hash) {
        return Ok(newest.version);
    }
    let content = contents::store(connection, &version.content, hash, newest.map(|newest| newest.content))?;
    connection
        .prepare_cached("INSERT INTO version (source, at, content, media_type) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![capture.source.0, capture.at.micros(), content, version.media_type])?;
    let added = VersionId(connection.last_insert_rowid());
    if let Some(keep) = capture.keep_versions {
        prune::versions_of(connection, capture.source.0, Some(keep), None)?;
    }
    Ok(added)
}

struct Newest {
    version: VersionId,
    content: i64,
    hash: ContentHash,
}

fn newest(connection: &Connection, source: SourceId) -> Result<Option<Newest>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT version.id, content.id, content.hash FROM version JOIN content ON content.id = version.content
         WHERE version.source = ?1 ORDER BY version.id DESC LIMIT 1",
    )?;
    let newest = select.query_row([source.0], |row| {
        let hash = ContentHash(row.get(2)?);
        Ok(Newest { version: VersionId(row.get(0)?), content: row.get(1)?, hash })
    });
    Ok(newest.optional()?)
}

fn add_change(
    connection: &Connection,
    capture: &Capture,
    version: Option<VersionId>,
    change: &NewChange,
) -> Result<Cursor, Error> {
    connection
        .prepare_cached(
            "INSERT INTO change (source, version, detected, kind, item, summary, detail, happened_after,
             happened_before) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            capture.source.0,
            version.map(|version| version.0),
            capture.at.micros(),
            change.kind,
            change.item,
            change.summary,
            change.detail,
            change.happened_after.map(Time::micros),
            change.happened_before.micros(),
        ])?;
    Ok(Cursor(connection.last_insert_rowid()))
}

fn add_observation(
    connection: &Connection,
    capture: &Capture,
    version: Option<VersionId>,
    cursors: Option<(Cursor, Cursor)>,
) -> Result<ObservationId, Error> {
    connection
        .prepare_cached(
            "INSERT INTO observation (source, probe, at, outcome, version, first_cursor, last_cursor)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            capture.source.0,
            capture.probe.0.cast_signed(),
            capture.at.micros(),
            postcard::to_allocvec(&WrittenOutcome::from(&capture.outcome))?,
            version.map(|version| version.0),
            cursors.map(|(first, _)| first.0),
            cursors.map(|(_, last)| last.0),
        ])?;
    Ok(ObservationId(connection.last_insert_rowid()))
}

/// An outcome as it is on disk. Variants are numbered by their order: add at the end, never remove.
#[derive(Serialize, Deserialize)]
pub(super) enum WrittenOutcome {
    Changed,
    Unchanged,
    Failed { fault: Fault, reason: String },
}

impl From<&Outcome> for WrittenOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Changed => Self::Changed,
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Failed { fault, reason } => Self::Failed { fault: *fault, reason: reason.clone() },
        }
    }
}

impl From<WrittenOutcome> for Outcome {
    fn from(outcome: WrittenOutcome) -> Self {
        match outcome {
            WrittenOutcome::Changed => Self::Changed,
            WrittenOutcome::Unchanged => Self::Unchanged,
            WrittenOutcome::Failed { fault, reason } => Self::Failed { fault, reason },
        }
    }
}
