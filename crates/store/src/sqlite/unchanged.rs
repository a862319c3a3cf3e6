//! Probes that found nothing new: most captures. A batch of them is one row, and each is an observation when it is read
//! back.
//!
//! Only the latest ones are recognised by their probe when they are recorded again: a caller that is unsure whether one
//! was recorded asks again at once or never.

use std::collections::HashMap;

use dunlin_core::Time;
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::columns::{COLUMNS, differences, sums};
use super::{numbering, sources};
use crate::{
    Capture, Error, ObservationId, ObservationQuery, Outcome, ProbeId, Recorded, Repeated, SourceId,
    StoredObservation,
};

/// The most probes in a row, which is read as a whole.
const MAX_IN_ROW: usize = 256;
/// How many of the latest probes are recognised, in at most 32 rows.
const MAX_LATEST: usize = 256;
const SELECT_LATEST: &str = "SELECT id, probes, packing FROM unchanged ORDER BY id DESC LIMIT 32";

/// One probe. A sequence of these is a batch in databases of the second schema.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct UnchangedProbe {
    source: i64,
    probe: u64,
    at: i64,
}

/// A batch as it is on disk, all as differences. Not compressed: differences hardly repeat. Fields are identified by
/// their order: add at the end, with a new schema.
#[derive(Serialize, Deserialize)]
struct Columns {
    source: Vec<i64>,
    probe: Vec<i64>,
    at: Vec<i64>,
}

impl UnchangedProbe {
    /// The capture in this form, if it found nothing new.
    pub(super) fn of(capture: &Capture) -> Option<Self> {
        let nothing = Capture::bare(capture.source, capture.probe, capture.at, Outcome::Unchanged);
        let at = capture.at.micros();
        (*capture == nothing).then_some(Self { source: capture.source.0, probe: capture.probe.0, at })
    }
}

/// Stores probes; a result for each, in the same order.
pub(super) fn record(
    connection: &Connection,
    probes: &[UnchangedProbe],
) -> Result<Vec<Result<Recorded, Error>>, Error> {
    let mut numbers = latest(connection)?;
    let mut newest = numbering::newest(connection, "observation")?;
    let mut find_source = sources::existence_check(connection)?;
    let mut new = Vec::with_capacity(probes.len());
    let mut answers = Vec::with_capacity(probes.len());
    for entry in probes {
        let recorded = |number, repeated| {
            let observation = ObservationId(number);
            Ok(Recorded { observation, version: None, cursors: None, last_result: None, repeated })
        };
        answers.push(match numbers.get(&(entry.source, entry.probe)) {
            Some(number) => recorded(*number, Repeated::Yes),
            None if find_source.exists([entry.source])? => {
                newest += 1;
                numbers.insert((entry.source, entry.probe), newest);
                new.push(*entry);
                recorded(newest, Repeated::No)
            }
            None => Err(Error::NoSuchSource(SourceId(entry.source))),
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

fn add(connection: &Connection, last: i64, batch: &[UnchangedProbe]) -> Result<(), Error> {
    let latest = batch.iter().map(|entry| entry.at).max();
    connection
        .prepare_cached("INSERT INTO unchanged (id, size, at, probes, packing) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![last, numbering::size_of(batch), latest, pack(batch)?, COLUMNS])?;
    Ok(())
}

/// The numbers of the latest probes.
fn latest(connection: &Connection) -> Result<HashMap<(i64, u64), i64>, Error> {
    let mut select = connection.prepare_cached(SELECT_LATEST)?;
    let mut rows = select.query([])?;
    let mut numbers = HashMap::with_capacity(MAX_LATEST + MAX_IN_ROW);
    while numbers.len() < MAX_LATEST
        && let Some(row) = rows.next()?
    {
        let batch = unpack(row)?;
        numbers.extend(batch.into_iter().map(|(number, entry)| ((entry.source, entry.probe), number)));
    }
    Ok(numbers)
}

/// Lists probes as observations.
pub(super) fn list(
    connection: &Connection,
    query: &ObservationQuery,
) -> Result<Vec<StoredObservation>, Error> {
    let mut select =
        connection.prepare_cached("SELECT id, probes, packing FROM unchanged WHERE id > ?1 ORDER BY id")?;
    let after = query.after.map_or(0, |after| after.0);
    let mut rows = select.query([after])?;
    let mut is_there: HashMap<i64, bool> = HashMap::new();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let batch = unpack(row)?;
        for (number, entry) in batch {
            if number <= after || query.source.is_some_and(|source| source.0 != entry.source) {
                continue;
            }
            // Probes of a removed source stay in their batch.
            let there = is_there
                .entry(entry.source)
                .or_insert_with(|| sources::demand(connection, SourceId(entry.source)).is_ok());
            if *there {
                found.push(observation(number, &entry));
            }
            if found.len() >= query.limit as usize {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

fn observation(number: i64, entry: &UnchangedProbe) -> StoredObservation {
    StoredObservation {
        id: ObservationId(number),
        source: SourceId(entry.source),
        probe: ProbeId(entry.probe),
        at: Time::from_micros(entry.at),
        outcome: Outcome::Unchanged,
    }
}

fn pack(batch: &[UnchangedProbe]) -> Result<Vec<u8>, Error> {
    Ok(postcard::to_allocvec(&Columns {
        source: differences(batch.iter().map(|entry| entry.source)),
        probe: differences(batch.iter().map(|entry| entry.probe.cast_signed())),
        at: differences(batch.iter().map(|entry| entry.at)),
    })?)
}

/// The probes of a row, with their numbers.
fn unpack(row: &Row<'_>) -> Result<Vec<(i64, UnchangedProbe)>, Error> {
    let last: i64 = row.get(0)?;
    let packed = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
    let probes: Vec<UnchangedProbe> = if row.get::<_, i64>(2)? == COLUMNS {
        let Columns { source, probe, at } = postcard::from_bytes(packed)?;
        if source.len() != probe.len() || source.len() != at.len() {
            return Err(Error::damaged(format!("the columns of batch {last} do not fit each other")));
        }
        let columns = sums(source).zip(sums(probe)).zip(sums(at));
        columns
            .map(|((source, probe), at)| UnchangedProbe { source, probe: probe.cast_unsigned(), at })
            .collect()
    } else {
        postcard::from_bytes(packed)?
    };
    let first = last - numbering::size_of(&probes) + 1;
    Ok((first..).zip(probes).collect())
}
