//! Decisions in their table: time and source as columns, the rest as one compact record.

use dunlin_core::Time;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::{Decision, DecisionId, DecisionQuery, Error, NewDecision, SourceId};

/// The record as it is on disk. Fields are told apart by their order: add at the end, with a new schema.
#[derive(Serialize, Deserialize)]
struct Entry {
    reason: String,
    figures: Vec<u8>,
}

pub(super) fn append(connection: &Connection, decisions: &[NewDecision]) -> Result<(), Error> {
    let mut insert =
        connection.prepare_cached("INSERT INTO decision (at, source, entry) VALUES (?1, ?2, ?3)")?;
    for decision in decisions {
        let entry = Entry { reason: decision.reason.clone(), figures: decision.figures.clone() };
        let entry = postcard::to_allocvec(&entry)?;
        insert.execute(params![decision.at.micros(), decision.source.map(|source| source.0), entry])?;
    }
    Ok(())
}

pub(super) fn list(connection: &Connection, query: &DecisionQuery) -> Result<Vec<Decision>, Error> {
    let about = if query.source.is_some() { "source = ?1" } else { "?1 IS NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, at, source, entry FROM decision
         WHERE {about} AND id > ?2 AND at >= ?3 AND at < ?4 ORDER BY id LIMIT ?5"
    ))?;
    let rows = select.query_map(
        params![
            query.source.map(|source| source.0),
            query.after.map_or(0, |after| after.0),
            query.since.map_or(i64::MIN, Time::micros),
            query.until.map_or(i64::MAX, Time::micros),
            query.limit,
        ],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
    )?;
    rows.map(|row| {
        let (id, at, source, entry): (i64, i64, Option<i64>, Vec<u8>) = row?;
        let Entry { reason, figures } = postcard::from_bytes(&entry)?;
        let decision =
            NewDecision { at: Time::from_micros(at), source: source.map(SourceId), reason, figures };
        Ok(Decision { id: DecisionId(id), decision })
    })
    .collect()
}
