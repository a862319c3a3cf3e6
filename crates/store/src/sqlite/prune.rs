//! Removing what may go, in portions: each is a transaction of its own, so that captures get in between.

use dunlin_core::Time;
use rusqlite::{Connection, params};

use super::contents;
use super::writer::Writer;
use crate::{Error, Pruned, Retention};

/// Sources whose versions are looked at in one transaction.
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
    pruned.changes = rows(writer, "change", "cursor", "detected", retention.changes_before)?;
    pruned.observations = rows(writer, "observation", "id", "at", retention.observations_before)?;
    pruned.decisions = rows(writer, "decision", "id", "at", retention.decisions_before)?;
    pruned.items = rows(writer, "item", "rowid", "left_at", retention.items_before)?;
    Ok(pruned)
}

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
    // The newest of all is left out first, then those that are counted or young enough.
    let mut remove = connection.prepare_cached(
        "DELETE FROM version WHERE source = ?1
         AND id < (SELECT max(id) FROM version WHERE source = ?1)
         AND (at < ?2 OR id <= (SELECT id FROM version WHERE source = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?3))
         RETURNING content",
    )?;
    let before = retention.versions_before.map_or(i64::MIN, Time::micros);
    let keep = retention.keep_versions.map_or(i64::MAX, i64::from);
    let mut portion = Portion { versions: 0, contents: 0, last_source: sources.last().copied() };
    for source in sources {
        let removed = remove.query_map(params![source, before, keep], |row| row.get(0))?;
        let removed: Vec<i64> = removed.collect::<Result<_, _>>()?;
        portion.versions += removed.len() as u64;
        portion.contents += contents::remove_unneeded(connection, removed)?;
    }
    Ok(portion)
}

/// Rows of `table` whose time lies before the limit, if there is one.
fn rows(
    writer: &Writer,
    table: &'static str,
    key: &'static str,
    time: &'static str,
    before: Option<Time>,
) -> Result<u64, Error> {
    let Some(before) = before else { return Ok(0) };
    let mut total = 0;
    loop {
        let removed = writer
            .submit(move |connection| {
                let sql = format!(
                    "DELETE FROM {table} WHERE {key} IN
                     (SELECT {key} FROM {table} WHERE {time} < ?1 ORDER BY {time} LIMIT ?2)"
                );
                let removed = connection.prepare_cached(&sql)?.execute([before.micros(), ROWS_AT_ONCE])?;
                Ok(removed as u64)
            })
            .wait()?;
        total += removed;
        if removed == 0 {
            return Ok(total);
        }
    }
}
