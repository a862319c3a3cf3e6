//! Reading back what captures recorded: changes, versions, observations.

use dunlin_core::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::captures::WrittenOutcome;
use super::{contents, unchanged};
use crate::{
    Change, ChangeQuery, ContentHash, Cursor, CursorRange, Error, NewChange, ObservationId, ObservationQuery,
    ProbeId, SourceId, StoredObservation, Version, VersionId, VersionQuery,
};

pub(super) fn changes(connection: &Connection, query: &ChangeQuery) -> Result<Vec<Change>, Error> {
    let of = if query.source.is_some() { "change.source = ?2" } else { "?2 IS NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT cursor, source, url, version, detected, change.kind, item, summary, detail, happened_after,
         happened_before, coalesce(name, title) FROM change JOIN source ON source.id = change.source
         WHERE cursor > ?1 AND {of} ORDER BY cursor LIMIT ?3"
    ))?;
    let source = query.source.map(|source| source.0);
    let rows = select.query_map(params![query.after.0, source, query.limit], |row| {
        Ok(Change {
            cursor: Cursor(row.get(0)?),
            source: SourceId(row.get(1)?),
            url: row.get(2)?,
            name: row.get(11)?,
            version: row.get::<_, Option<i64>>(3)?.map(VersionId),
            detected: Time::from_micros(row.get(4)?),
            found: NewChange {
                kind: row.get(5)?,
                item: row.get(6)?,
                summary: row.get(7)?,
                detail: row.get(8)?,
                happened_after: row.get::<_, Option<i64>>(9)?.map(Time::from_micros),
                happened_before: Time::from_micros(row.get(10)?),
            },
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn cursor_range(connection: &Connection) -> Result<CursorRange, Error> {
    let oldest: Option<i64> = connection.query_row("SELECT min(cursor) FROM change", [], |row| row.get(0))?;
    // Also right after the newest change itself has been removed.
    let newest: Option<i64> = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'change'", [], |row| row.get(0))
        .optional()?;
    let newest = Cursor(newest.unwrap_or(0));
    Ok(CursorRange { oldest: oldest.map_or(Cursor(newest.0 + 1), Cursor), newest })
}

const VERSION: &str = "SELECT version.id, source, at, hash, size, media_type
    FROM version JOIN content ON content.id = version.content";

pub(super) fn versions(connection: &Connection, query: &VersionQuery) -> Result<Vec<Version>, Error> {
    let mut select = connection.prepare_cached(&format!(
        "{VERSION} WHERE source = ?1 AND version.id < ?2 ORDER BY version.id DESC LIMIT ?3"
    ))?;
    let before = query.before.map_or(i64::MAX, |before| before.0);
    let rows = select.query_map(params![query.source.0, before, query.limit], version_from)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn version(connection: &Connection, id: VersionId) -> Result<Option<Version>, Error> {
    let mut select = connection.prepare_cached(&format!("{VERSION} WHERE version.id = ?1"))?;
    Ok(select.query_row([id.0], version_from).optional()?)
}

fn version_from(row: &Row<'_>) -> rusqlite::Result<Version> {
    Ok(Version {
        id: VersionId(row.get(0)?),
        source: SourceId(row.get(1)?),
        at: Time::from_micros(row.get(2)?),
        hash: ContentHash(row.get(3)?),
        size: row.get::<_, i64>(4)?.cast_unsigned(),
        media_type: row.get(5)?,
    })
}

pub(super) fn content(connection: &Connection, id: VersionId) -> Result<Vec<u8>, Error> {
    let mut select = connection.prepare_cached("SELECT content FROM version WHERE id = ?1")?;
    let content = select.query_row([id.0], |row| row.get(0)).optional()?;
    contents::load(connection, content.ok_or(Error::NoSuchVersion(id))?)
}

pub(super) fn observations(
    connection: &Connection,
    query: &ObservationQuery,
) -> Result<Vec<StoredObservation>, Error> {
    let mut found = eventful(connection, query)?;
    found.extend(unchanged::list(connection, query)?);
    found.sort_by_key(|seen| seen.id);
    found.truncate(query.limit as usize);
    Ok(found)
}

fn eventful(connection: &Connection, query: &ObservationQuery) -> Result<Vec<StoredObservation>, Error> {
    let of = if query.source.is_some() { "source = ?1" } else { "?1 IS NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, source, probe, at, outcome FROM observation
         WHERE {of} AND id > ?2 ORDER BY id LIMIT ?3"
    ))?;
    let source = query.source.map(|source| source.0);
    let after = query.after.map_or(0, |after| after.0);
    let rows = select.query_map(params![source, after, query.limit], |row| Ok(observation_from(row)))?;
    rows.map(|row| row?).collect()
}

fn observation_from(row: &Row<'_>) -> Result<StoredObservation, Error> {
    let outcome: Vec<u8> = row.get(4)?;
    Ok(StoredObservation {
        id: ObservationId(row.get(0)?),
        source: SourceId(row.get(1)?),
        probe: ProbeId(row.get::<_, i64>(2)?.cast_unsigned()),
        at: Time::from_micros(row.get(3)?),
        outcome: postcard::from_bytes::<WrittenOutcome>(&outcome)?.into(),
    })
}
