//! Looks that brought nothing but that they were made: most captures. A batch of them is one row, and an observation
//! each when it is read back.
//!
//! Such a look is known again under its probe among the latest ones only. Whoever is not sure whether it was recorded
//! asks again at once or never.

use std::collections::HashMap;

use dunlin_core::Time;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::{numbering, sources};
use crate::{
    Capture, Error, ObservationId, ObservationQuery, Outcome, ProbeId, Recorded, Repeated, SourceId,
    StoredObservation,
};

/// The most looks in a row, which is read as a whole.
const MAX_IN_ROW: usize = 256;
/// The looks among which one is known again, in no more than 32 rows.
const LATEST_LOOKS: usize = 256;
const SELECT_LATEST: &str = "SELECT id, looks FROM look ORDER BY id DESC LIMIT 32";

/// A look as it is on disk. Fields are told apart by their order: add at the end, with a new schema.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Look {
    source: i64,
    probe: u64,
    at: i64,
}

impl Look {
    /// The capture as a look, if it brought nothing.
    pub(super) fn of(capture: &Capture) -> Option<Self> {
        let nothing = Capture::bare(capture.source, capture.probe, capture.at, Outcome::Unchanged);
        let at = capture.at.micros();
        (*capture == nothing).then_some(Self { source: capture.source.0, probe: capture.probe.0, at })
    }
}

/// Stores looks; an answer for each, in the same order.
pub(super) fn record(connection: &Connection, looks: &[Look]) -> Result<Vec<Result<Recorded, Error>>, Error> {
    let mut numbers = latest(connection)?;
    let mut newest = numbering::newest(connection, "observation")?;
    let mut find_source = sources::finding(connection)?;
    let mut new = Vec::with_capacity(looks.len());
    let mut answers = Vec::with_capacity(looks.len());
    for look in looks {
        let recorded = |number, repeated| {
            Ok(Recorded { observation: ObservationId(number), version: None, cursors: None, repeated })
        };
        answers.push(match numbers.get(&(look.source, look.probe)) {
            Some(number) => recorded(*number, Repeated::Yes),
            None if find_source.exists([look.source])? => {
                newest += 1;
                numbers.insert((look.source, look.probe), newest);
                new.push(*look);
                recorded(newest, Repeated::No)
            }
            None => Err(Error::NoSuchSource(SourceId(look.source))),
        });
    }
    let mut last = newest - numbering::size_of(&new);
    for batch in new.chunks(MAX_IN_ROW) {
        last += numbering::size_of(batch);
        add(connection, last, batch)?;
    }
    if !new.is_empty() {
        numbering::go_on_after(connection, "observation", newest)?;
    }
    Ok(answers)
}

fn add(connection: &Connection, last: i64, batch: &[Look]) -> Result<(), Error> {
    let latest = batch.iter().map(|look| look.at).max();
    connection
        .prepare_cached("INSERT INTO look (id, size, at, looks) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![last, numbering::size_of(batch), latest, postcard::to_allocvec(batch)?])?;
    Ok(())
}

/// The numbers of the latest looks.
fn latest(connection: &Connection) -> Result<HashMap<(i64, u64), i64>, Error> {
    let mut select = connection.prepare_cached(SELECT_LATEST)?;
    let mut rows = select.query([])?;
    let mut numbers = HashMap::with_capacity(LATEST_LOOKS + MAX_IN_ROW);
    while numbers.len() < LATEST_LOOKS
        && let Some(row) = rows.next()?
    {
        let batch = unpack(row.get(0)?, row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
        numbers.extend(batch.into_iter().map(|(number, look)| ((look.source, look.probe), number)));
    }
    Ok(numbers)
}

/// Lists looks as observations.
pub(super) fn list(
    connection: &Connection,
    query: &ObservationQuery,
) -> Result<Vec<StoredObservation>, Error> {
    let mut select = connection.prepare_cached("SELECT id, looks FROM look WHERE id > ?1 ORDER BY id")?;
    let after = query.after.map_or(0, |after| after.0);
    let mut rows = select.query([after])?;
    let mut is_there: HashMap<i64, bool> = HashMap::new();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let batch = unpack(row.get(0)?, row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
        for (number, look) in batch {
            if number <= after || query.source.is_some_and(|source| source.0 != look.source) {
                continue;
            }
            // Looks at a source that was removed stay in their batch.
            let there = is_there
                .entry(look.source)
                .or_insert_with(|| sources::demand(connection, SourceId(look.source)).is_ok());
            if *there {
                found.push(observation(number, &look));
            }
            if found.len() >= query.limit as usize {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

fn observation(number: i64, look: &Look) -> StoredObservation {
    StoredObservation {
        id: ObservationId(number),
        source: SourceId(look.source),
        probe: ProbeId(look.probe),
        at: Time::from_micros(look.at),
        outcome: Outcome::Unchanged,
        evidence: Vec::new(),
    }
}

/// The looks of a row, with their numbers.
fn unpack(last: i64, looks: &[u8]) -> Result<Vec<(i64, Look)>, Error> {
    let looks: Vec<Look> = postcard::from_bytes(looks)?;
    let first = last - numbering::size_of(&looks) + 1;
    Ok((first..).zip(looks).collect())
}
