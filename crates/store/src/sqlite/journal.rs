//! Decisions in their table, a batch in a row. A query by source filters batches as it reads them: people ask now and
//! then, while every probe writes.

use dunlin_core::Time;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::columns::{self, COLUMNS, differences, sums};
use super::numbering;
use crate::{Decision, DecisionId, DecisionQuery, Error, NewDecision, Order, SourceId};

/// The most decisions in a row, and the bytes at which a row counts as full: a row is read as a whole.
const MAX_IN_ROW: u8 = u8::MAX;
const MAX_BYTES_IN_ROW: usize = 64 << 10;

/// A single decision as it is on disk, in databases of the first schema.
#[derive(Deserialize)]
struct SingleDecision {
    reason: String,
    figures: Vec<u8>,
}

/// One of a batch as it is on disk in databases of the second schema.
#[derive(Deserialize)]
struct InBatch<'a> {
    at: i64,
    source: Option<i64>,
    #[serde(borrow)]
    reason: &'a str,
    #[serde(borrow)]
    figures: &'a [u8],
}

/// A batch as it is on disk: a number of each column for each decision. Fields are identified by their order: add at the
/// end, with a new schema.
#[derive(Default, Serialize, Deserialize)]
struct Columns {
    /// As differences.
    at: Vec<i64>,
    /// As differences; 0 is none, and numbers begin with 1.
    source: Vec<i64>,
    /// The different reasons, which are few.
    reasons: Vec<String>,
    /// Which of them.
    reason: Vec<u8>,
    n_figures: Vec<u32>,
    /// Those of all, one after the other.
    figures: Vec<u8>,
}

/// A row to be written.
pub(super) struct Batch {
    size: i64,
    at: Time,
    entry: Vec<u8>,
}

/// Packs decisions, on the thread of the caller.
pub(super) fn pack(decisions: &[NewDecision]) -> Result<Vec<Batch>, Error> {
    let mut batches = Vec::new();
    let mut rest = decisions;
    while !rest.is_empty() {
        let mut n_bytes = 0;
        let fits = |decision: &&NewDecision| {
            let is_full = n_bytes >= MAX_BYTES_IN_ROW;
            n_bytes += decision.reason.len() + decision.figures.len();
            !is_full
        };
        let size = rest.iter().take(MAX_IN_ROW.into()).take_while(fits).count();
        let (batch, after) = rest.split_at(size);
        batches.push(Batch::of(batch)?);
        rest = after;
    }
    Ok(batches)
}

impl Batch {
    fn of(decisions: &[NewDecision]) -> Result<Self, Error> {
        let mut columns = Columns {
            at: differences(decisions.iter().map(|decision| decision.at.micros())),
            source: differences(
                decisions.iter().map(|decision| decision.source.map_or(0, |source| source.0)),
            ),
            ..Columns::default()
        };
        for NewDecision { reason, figures, .. } in decisions {
            let known = columns.reasons.iter().position(|known| known == reason);
            let index = known.unwrap_or_else(|| {
                columns.reasons.push(reason.clone().into_owned());
                columns.reasons.len() - 1
            });
            // At most one per decision, and the number of decisions fits into a byte.
            columns.reason.push(index as u8);
            columns.n_figures.push(figures.len() as u32);
            columns.figures.extend_from_slice(figures);
        }
        let latest = decisions.iter().map(|decision| decision.at).max();
        Ok(Self {
            size: numbering::size_of(decisions),
            at: latest.unwrap_or(Time::from_micros(0)),
            entry: columns::compress(&columns)?,
        })
    }
}

pub(super) fn append(connection: &Connection, batches: &[Batch]) -> Result<(), Error> {
    let mut insert = connection
        .prepare_cached("INSERT INTO decision (id, at, entry, size, packing) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for batch in batches {
        let last = numbering::newest(connection, "decision")? + batch.size;
        insert.execute(params![last, batch.at.micros(), batch.entry, batch.size, COLUMNS])?;
    }
    Ok(())
}

pub(super) fn list(connection: &Connection, query: &DecisionQuery) -> Result<Vec<Decision>, Error> {
    let (compared, order) = match query.order {
        Order::OldestFirst => (">", "ASC"),
        Order::NewestFirst => ("<", "DESC"),
    };
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, at, source, entry, size, packing FROM decision
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
        let mut batch = match (size, row.get(5)?) {
            (_, COLUMNS) => unpack(id, size, entry)?,
            (0, _) => alone(id, at, source, entry)?,
            _ => one_by_one(id, size, entry)?,
        };
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
    let SingleDecision { reason, figures } = postcard::from_bytes(entry)?;
    let decision = NewDecision {
        at: Time::from_micros(at),
        source: source.map(SourceId),
        reason: reason.into(),
        figures,
    };
    Ok(vec![Decision { id: DecisionId(id), decision }])
}

fn unpack(last: i64, size: i64, entry: &[u8]) -> Result<Vec<Decision>, Error> {
    let wrong = || Error::damaged(format!("the columns of decision {last} do not fit each other"));
    let Columns { at, source, reasons, reason, n_figures, figures } = columns::expand(entry)?;
    let n_decisions = usize::try_from(size).map_err(|_| wrong())?;
    let lengths = [at.len(), source.len(), reason.len(), n_figures.len()];
    if lengths != [n_decisions; 4] {
        return Err(wrong());
    }
    let mut rest = figures.as_slice();
    let mut decisions = Vec::with_capacity(n_decisions);
    let columns = sums(at).zip(sums(source)).zip(reason.into_iter().zip(n_figures));
    for (id, ((at, source), (reason, n_figures))) in (last - size + 1..=last).zip(columns) {
        let reason = reasons.get(usize::from(reason)).ok_or_else(wrong)?;
        let (figures, after) = rest.split_at_checked(n_figures as usize).ok_or_else(wrong)?;
        rest = after;
        let decision = NewDecision {
            at: Time::from_micros(at),
            source: (source != 0).then_some(SourceId(source)),
            reason: reason.clone().into(),
            figures: figures.to_vec(),
        };
        decisions.push(Decision { id: DecisionId(id), decision });
    }
    Ok(decisions)
}

fn one_by_one(last: i64, size: i64, entry: &[u8]) -> Result<Vec<Decision>, Error> {
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
