//! Decisions in their table, a batch in a row. Which of them are about a source is seen when a batch is read: that is
//! done for people, now and then, while writing them is done for every probe.

use dunlin_core::Time;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::numbering;
use crate::{Decision, DecisionId, DecisionQuery, Error, NewDecision, Order, SourceId};

/// The most decisions in a row, and the most bytes after which no more are added: a row is read as a whole.
const MAX_IN_ROW: u8 = u8::MAX;
const MAX_BYTES_IN_ROW: usize = 64 << 10;

/// One alone as it is on disk, in databases of the first schema.
#[derive(Deserialize)]
struct Alone {
    reason: String,
    figures: Vec<u8>,
}

/// One of a batch as it is on disk. Fields are told apart by their order: add at the end, with a new schema.
#[derive(Serialize, Deserialize)]
struct InBatch<'a> {
    at: i64,
    source: Option<i64>,
    #[serde(borrow)]
    reason: &'a str,
    #[serde(borrow)]
    figures: &'a [u8],
}

/// A row to be.
pub(super) struct Batch {
    size: i64,
    at: Time,
    entry: Vec<u8>,
}

/// Packs decisions, on the thread of the caller.
pub(super) fn pack(decisions: &[NewDecision]) -> Result<Vec<Batch>, Error> {
    let mut batches = Vec::new();
    let mut rest = decisions;
    while let Some(first) = rest.first() {
        let mut batch = Batch { size: 0, at: first.at, entry: Vec::new() };
        for decision in rest.iter().take(MAX_IN_ROW.into()) {
            let packed = InBatch {
                at: decision.at.micros(),
                source: decision.source.map(|source| source.0),
                reason: &decision.reason,
                figures: &decision.figures,
            };
            batch.entry = postcard::to_extend(&packed, batch.entry)?;
            batch.size += 1;
            batch.at = batch.at.max(decision.at);
            rest = &rest[1..];
            if batch.entry.len() >= MAX_BYTES_IN_ROW {
                break;
            }
        }
        batches.push(batch);
    }
    Ok(batches)
}

pub(super) fn append(connection: &Connection, batches: &[Batch]) -> Result<(), Error> {
    let mut insert =
        connection.prepare_cached("INSERT INTO decision (id, at, entry, size) VALUES (?1, ?2, ?3, ?4)")?;
    for batch in batches {
        let last = numbering::newest(connection, "decision")? + batch.size;
        insert.execute(params![last, batch.at.micros(), batch.entry, batch.size])?;
    }
    Ok(())
}

pub(super) fn list(connection: &Connection, query: &DecisionQuery) -> Result<Vec<Decision>, Error> {
    let (compared, order) = match query.order {
        Order::OldestFirst => (">", "ASC"),
        Order::NewestFirst => ("<", "DESC"),
    };
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, at, source, entry, size FROM decision
         WHERE id {compared} ?1 AND at >= ?2 AND (size > 0 OR ?3 IS NULL OR source = ?3) ORDER BY id {order}"
    ))?;
    let after = query.after.map(|after| after.0);
    let after = after.unwrap_or(if query.order == Order::OldestFirst { 0 } else { i64::MAX });
    // A batch may have some on either side.
    let begin = match query.order {
        Order::OldestFirst => after,
        Order::NewestFirst => after.saturating_add(MAX_IN_ROW.into()),
    };
    let since = query.since.map_or(i64::MIN, Time::micros);
    let mut rows = select.query(params![begin, since, query.source.map(|source| source.0)])?;
    let mut found = Vec::new();
    while found.len() < query.limit as usize
        && let Some(row) = rows.next()?
    {
        let (id, at, source, size) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(4)?);
        let entry = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        let mut batch = if size == 0 { alone(id, at, source, entry)? } else { unpack(id, size, entry)? };
        if query.order == Order::NewestFirst {
            batch.reverse();
        }
        batch.retain(|decision| is_asked_for(decision, query, after));
        found.append(&mut batch);
    }
    found.truncate(query.limit as usize);
    Ok(found)
}

fn is_asked_for(found: &Decision, query: &DecisionQuery, after: i64) -> bool {
    let is_beyond = match query.order {
        Order::OldestFirst => found.id.0 > after,
        Order::NewestFirst => found.id.0 < after,
    };
    let NewDecision { at, source, .. } = found.decision;
    is_beyond
        && query.source.is_none_or(|wanted| source == Some(wanted))
        && query.since.is_none_or(|since| at >= since)
        && query.until.is_none_or(|until| at < until)
}

fn alone(id: i64, at: i64, source: Option<i64>, entry: &[u8]) -> Result<Vec<Decision>, Error> {
    let Alone { reason, figures } = postcard::from_bytes(entry)?;
    let decision = NewDecision {
        at: Time::from_micros(at),
        source: source.map(SourceId),
        reason: reason.into(),
        figures,
    };
    Ok(vec![Decision { id: DecisionId(id), decision }])
}

fn unpack(last: i64, size: i64, entry: &[u8]) -> Result<Vec<Decision>, Error> {
    let mut rest = entry;
    let mut decisions = Vec::new();
    for id in last - size + 1..=last {
        let (packed, after) = postcard::take_from_bytes::<InBatch<'_>>(rest)?;
        rest = after;
        let decision = NewDecision {
            at: Time::from_micros(packed.at),
            source: packed.source.map(SourceId),
            reason: packed.reason.to_owned().into(),
            figures: packed.figures.to_vec(),
        };
        decisions.push(Decision { id: DecisionId(id), decision });
    }
    Ok(decisions)
}
