//! Removing what may go, in portions: each is a transaction of its own, so that captures get in between.

use dunlin_core::Time;
use rusqlite::{Connection, params};

use super::contents;
use super::writer::Writer;
use crate::{Error, Pruned, Retention};

/// Sources whose versions are checked in one transaction.
const SOURCES_AT_ONCE: i64 = 100;
/// Rows that one transaction removes from a table that only grows at its end.
const ROWS_AT_ONCE: i64 = 5_000;

pub(super) fn prune(writer: &Writer, retention: Retention) -> Result<Pruned, Error> {
    let mut pruned = Pruned::default();
    if retention.keep_versions.is_some() || retention.versions_before.is_some() {
        let mut after = 0;
        loop {
            let portion = writer.submit(move |connection| versions(connection, retention, after)).wait()?;
            pruned.versions += portion.versions;
            pruned.contents += portion.contents;
            match portion.last_source {
                Some(last) => after = last,
                None => break,
            }
        }
    }
    pruned.changes = rows(writer, CHANGES, retention.changes_before)?;
    pruned.observations = rows(writer, OBSERVATIONS, retention.observations_before)?;
    pruned.observations += rows(writer, UNCHANGED, retention.observations_before)?;
    rows(writer, CEIS, retention.observations_before)?;
    rows(writer, RESULTS, retention.changes_before)?;
    rows(writer, MISSES, retention.changes_before)?;
    pruned.decisions = rows(writer, DECISIONS, retention.decisions_before)?;
    pruned.items = rows(writer, ITEMS, retention.items_before)?;
    Ok(pruned)
}

/// A table whose rows go by age.
#[derive(Clone, Copy)]
struct Aging {
    table: &'static str,
    key: &'static str,
    time: &'static str,
    /// How many things are in a row. Those of a batch go together, when the latest of them may.
    size: &'static str,
}

const CHANGES: Aging = Aging { table: "change", key: "cursor", time: "detected", size: "1" };
const OBSERVATIONS: Aging = Aging { table: "observation", key: "id", time: "at", size: "1" };
const UNCHANGED: Aging = Aging { table: "unchanged", key: "id", time: "at", size: "size" };
const DECISIONS: Aging = Aging { table: "decision", key: "id", time: "at", size: "max(size, 1)" };
/// Those that have ended go with the observations that captured their intervals.
const CEIS: Aging = Aging { table: "cei", key: "id", time: "ended", size: "1" };
/// What queries captured and missed is kept for as long as changes are.
const RESULTS: Aging = Aging { table: "query_result", key: "cursor", time: "captured", size: "1" };
const MISSES: Aging = Aging { table: "query_miss", key: "cursor", time: "missed", size: "1" };
const ITEMS: Aging = Aging { table: "item", key: "rowid", time: "left_at", size: "1" };

struct Portion {
    versions: u64,
    contents: u64,
    last_source: Option<i64>,
}

/// Old versions of the next few sources. Contents on which kept deltas are based stay until those deltas go.
fn versions(connection: &Connection, retention: Retention, after: i64) -> Result<Portion, Error> {
    let mut next = connection.prepare_cached("SELECT id FROM source WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let sources = next.query_map([after, SOURCES_AT_ONCE], |row| row.get(0))?;
    let sources: Vec<i64> = sources.collect::<Result<_, _>>()?;
    let mut portion = Portion { versions: 0, contents: 0, last_source: sources.last().copied() };
    for source in sources {
        let (versions, contents) =
            versions_of(connection, source, retention.keep_versions, retention.versions_before)?;
        portion.versions += versions;
        portion.contents += contents;
    }
    Ok(portion)
}

/// Versions of a source that are beyond `keep` or from before a time, and contents that nothing needs after that; how
/// many of each went.
pub(super) fn versions_of(
    connection: &Connection,
    source: i64,
    keep: Option<u32>,
    before: Option<Time>,
) -> Result<(u64, u64), Error> {
    // The newest of all is left out first, then those that are counted or young enough.
    let mut remove = connection.prepare_cached(
        "DELETE FROM version WHERE source = ?1
         AND id < (SELECT max(id) FROM version WHERE source = ?1)
         AND (at < ?2 OR id <= (SELECT id FROM version WHERE source = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?3))
         RETURNING content",
    )?;
    let before = before.map_or(i64::MIN, Time::micros);
    let keep = keep.map_or(i64::MAX, i64::from);
    let removed = remove.query_map(params![source, before, keep], |row| row.get(0))?;
    let removed: Vec<i64> = removed.collect::<Result<_, _>>()?;
    Ok((removed.len() as u64, contents::remove_unneeded(connection, removed)?))
}

/// Rows whose time lies before the limit, if there is one.
fn rows(writer: &Writer, aging: Aging, before: Option<Time>) -> Result<u64, Error> {
    let Some(before) = before else { return Ok(0) };
    let mut total = 0;
    loop {
        let removed = writer
            .submit(move |connection| {
                let Aging { table, key, time, size } = aging;
                let sql = format!(
                    "DELETE FROM {table} WHERE {key} IN
                     (SELECT {key} FROM {table} WHERE {time} < ?1 ORDER BY {time} LIMIT ?2) RETURNING {size}"
                );
                let mut remove = connection.prepare_cached(&sql)?;
                let sizes = remove.query_map([before.micros(), ROWS_AT_ONCE], |row| row.get::<_, i64>(0))?;
                let removed: i64 = sizes.sum::<Result<_, _>>()?;
                Ok(removed.cast_unsigned())
            })
            .wait()?;
        total += removed;
        if removed == 0 {
            return Ok(total);
        }
    }
}
