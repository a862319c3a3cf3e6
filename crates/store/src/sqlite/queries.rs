//! Queries, their results and misses in their tables; the steps of their instances are in [`super::instances`].

use dunlin_core::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{ceis, sources};
use crate::{
    CeiId, CeiState, Error, InstanceId, NewMiss, NewPart, NewQuery, NewResult, NewSource, QueryFilter,
    QueryId, QuerySource, QuerySources, ResultCursor, ResultFilter, Sighting, SourceId, StoredMiss,
    StoredQuery, StoredResult, ToldStory, VersionId,
};

/// The most other sources that are noted of a result.
const MOST_SIGHTINGS: i64 = 100;

pub(super) fn add(connection: &Connection, query: &NewQuery) -> Result<(QueryId, QuerySources), Error> {
    check_name(connection, &query.name, None)?;
    connection
        .prepare_cached("INSERT INTO query (name, text, installed, memory) VALUES (?1, ?2, ?3, x'')")?
        .execute(params![query.name, query.text, query.installed.micros()])?;
    let id = QueryId(connection.last_insert_rowid());
    Ok((id, add_sources(connection, id, &query.sources)?))
}

pub(super) fn replace(connection: &Connection, id: QueryId, query: &NewQuery) -> Result<QuerySources, Error> {
    check_name(connection, &query.name, Some(id))?;
    let replaced = connection
        .prepare_cached("UPDATE query SET name = ?2, text = ?3, installed = ?4, memory = x'' WHERE id = ?1")?
        .execute(params![id.0, query.name, query.text, query.installed.micros()])?;
    if replaced == 0 {
        return Err(Error::NoSuchQuery(id));
    }
    end_instances(connection, id, query.installed)?;
    let before = sources_of(connection, id)?;
    connection.prepare_cached("DELETE FROM query_source WHERE query = ?1")?.execute([id.0])?;
    let mut sources = add_sources(connection, id, &query.sources)?;
    sources.removed = remove_unneeded(connection, before)?;
    Ok(sources)
}

pub(super) fn pause(connection: &Connection, id: QueryId, paused: Option<Time>) -> Result<(), Error> {
    let changed = connection
        .prepare_cached("UPDATE query SET paused = ?2 WHERE id = ?1")?
        .execute(params![id.0, paused.map(Time::micros)])?;
    if changed == 0 {
        return Err(Error::NoSuchQuery(id));
    }
    paused.map_or(Ok(()), |at| end_instances(connection, id, at))
}

pub(super) fn remove(connection: &Connection, id: QueryId, at: Time) -> Result<Vec<SourceId>, Error> {
    let sources = sources_of(connection, id)?;
    end_instances(connection, id, at)?;
    if connection.prepare_cached("DELETE FROM query WHERE id = ?1")?.execute([id.0])? == 0 {
        return Err(Error::NoSuchQuery(id));
    }
    remove_unneeded(connection, sources)
}

fn check_name(connection: &Connection, name: &str, but: Option<QueryId>) -> Result<(), Error> {
    let mut find = connection.prepare_cached("SELECT id FROM query WHERE name = ?1")?;
    let known: Option<i64> = find.query_row([name], |row| row.get(0)).optional()?;
    match known {
        Some(other) if but != Some(QueryId(other)) => Err(Error::NameTaken(name.to_owned())),
        _ => Ok(()),
    }
}

/// Instances of a query that have not ended go, and their CEIs are withdrawn.
fn end_instances(connection: &Connection, id: QueryId, at: Time) -> Result<(), Error> {
    let mut remove =
        connection.prepare_cached("DELETE FROM query_instance WHERE query = ?1 RETURNING cei")?;
    let removed = remove.query_map([id.0], |row| row.get::<_, Option<i64>>(0))?;
    let removed: Vec<Option<i64>> = removed.collect::<Result<_, _>>()?;
    let ended: Vec<_> = removed.into_iter().flatten().map(|cei| (CeiId(cei), CeiState::Withdrawn)).collect();
    ceis::end(connection, &ended, at)
}

fn add_sources(connection: &Connection, id: QueryId, parts: &[QuerySource]) -> Result<QuerySources, Error> {
    let mut all = QuerySources::default();
    let mut insert = connection
        .prepare_cached("INSERT INTO query_source (query, position, source) VALUES (?1, ?2, ?3)")?;
    for (position, part) in (0_i64..).zip(parts) {
        let source = match part {
            QuerySource::Watched(source) => {
                sources::demand(connection, *source)?;
                *source
            }
            QuerySource::Own(new) => {
                if let Some(source) = alike(connection, new)? {
                    source
                } else {
                    let source = sources::add(connection, new)?;
                    all.added.push(source);
                    source
                }
            }
        };
        insert.execute(params![id.0, position, source.0])?;
        all.sources.push(source);
    }
    Ok(all)
}

/// A source for queries that reads the same in the same way.
fn alike(connection: &Connection, new: &NewSource) -> Result<Option<SourceId>, Error> {
    let mut find = connection.prepare_cached(
        "SELECT id FROM source WHERE url = ?1 AND kind = ?2 AND recipe = ?3 AND for_queries <> 0
         AND paused IS NULL LIMIT 1",
    )?;
    let found = find.query_row(params![new.url, new.kind, new.recipe], |row| row.get(0)).optional()?;
    Ok(found.map(SourceId))
}

fn sources_of(connection: &Connection, id: QueryId) -> Result<Vec<SourceId>, Error> {
    let mut select =
        connection.prepare_cached("SELECT source FROM query_source WHERE query = ?1 ORDER BY position")?;
    let rows = select.query_map([id.0], |row| row.get(0).map(SourceId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Removes those that are there for queries only, and that none reads any more.
fn remove_unneeded(connection: &Connection, mut candidates: Vec<SourceId>) -> Result<Vec<SourceId>, Error> {
    candidates.sort_unstable();
    candidates.dedup();
    let mut is_unneeded = connection.prepare_cached(
        "SELECT 1 FROM source WHERE id = ?1 AND for_queries <> 0
         AND NOT EXISTS (SELECT 1 FROM query_source WHERE source = ?1)",
    )?;
    let mut removed = Vec::new();
    for source in candidates {
        if is_unneeded.exists([source.0])? {
            sources::remove(connection, source)?;
            removed.push(source);
        }
    }
    Ok(removed)
}

/// Refuses to let go of a source that a query reads.
pub(super) fn check_unneeded(connection: &Connection, source: SourceId) -> Result<(), Error> {
    let mut find = connection.prepare_cached(
        "SELECT name FROM query JOIN query_source ON query_source.query = query.id WHERE source = ?1
         ORDER BY id LIMIT 1",
    )?;
    match find.query_row([source.0], |row| row.get(0)).optional()? {
        Some(query) => Err(Error::NeededByQuery { id: source, query }),
        None => Ok(()),
    }
}

pub(super) fn list(connection: &Connection, filter: &QueryFilter) -> Result<Vec<StoredQuery>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT id, name, text, installed, paused, memory,
         (SELECT count(*) FROM query_result WHERE query = query.id),
         (SELECT count(*) FROM query_miss WHERE query = query.id)
         FROM query WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let after = filter.after.map_or(0, |after| after.0);
    let rows = select.query_map(params![after, filter.limit], |row| {
        Ok(StoredQuery {
            id: QueryId(row.get(0)?),
            name: row.get(1)?,
            text: row.get(2)?,
            installed: Time::from_micros(row.get(3)?),
            paused: row.get::<_, Option<i64>>(4)?.map(Time::from_micros),
            sources: Vec::new(),
            memory: row.get(5)?,
            n_results: row.get::<_, i64>(6)?.cast_unsigned(),
            n_missed: row.get::<_, i64>(7)?.cast_unsigned(),
        })
    })?;
    let mut queries: Vec<StoredQuery> = rows.collect::<Result<_, _>>()?;
    for query in &mut queries {
        query.sources = sources_of(connection, query.id)?;
    }
    Ok(queries)
}

/// Stores a result, unless its instance had one.
pub(super) fn add_result(
    connection: &Connection,
    query: QueryId,
    instance: i64,
    result: &NewResult,
) -> Result<Option<ResultCursor>, Error> {
    let added = connection
        .prepare_cached(
            "INSERT INTO query_result (query, instance, captured, story) SELECT id, ?2, ?3, ?4 FROM query WHERE id = ?1
             AND NOT EXISTS (SELECT 1 FROM query_result WHERE instance = ?2)",
        )?
        .execute(params![query.0, instance, result.at.micros(), result.story])?;
    if added == 0 {
        return Ok(None);
    }
    let cursor = connection.last_insert_rowid();
    let mut insert = connection.prepare_cached(
        "INSERT INTO query_part (result, position, name, source, captured, version, items) VALUES (?1, ?2, ?3, ?4, ?5,
         coalesce(?6, (SELECT max(id) FROM version WHERE source = ?4)), ?7)",
    )?;
    for (position, part) in (0_i64..).zip(&result.parts) {
        let version = part.version.map(|version| version.0);
        let NewPart { name, source, at, items, .. } = part;
        insert.execute(params![cursor, position, name, source.0, at.micros(), version, items])?;
    }
    Ok(Some(ResultCursor(cursor)))
}

/// Notes where else a result was seen: once for each source, and nowhere but in the first that tells it.
pub(super) fn add_sighting(
    connection: &Connection,
    first: InstanceId,
    sighting: &Sighting,
) -> Result<(), Error> {
    let Sighting { source, at, version, title, link } = sighting;
    connection
        .prepare_cached(
            "INSERT INTO query_sighting (result, source, seen, version, title, link)
             SELECT cursor, ?2, ?3, coalesce(?4, (SELECT max(id) FROM version WHERE source = ?2)), ?5, ?6
             FROM query_result WHERE instance = ?1
             AND NOT EXISTS (SELECT 1 FROM query_part WHERE result = cursor AND source = ?2)
             AND (SELECT count(*) FROM query_sighting WHERE result = cursor) < ?7
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            first.0,
            source.0,
            at.micros(),
            version.map(|version| version.0),
            title,
            link,
            MOST_SIGHTINGS
        ])?;
    Ok(())
}

pub(super) fn add_miss(connection: &Connection, query: QueryId, miss: &NewMiss) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO query_miss (query, began, missed, parts) SELECT id, ?2, ?3, ?4 FROM query WHERE id = ?1",
        )?
        .execute(params![query.0, miss.began.micros(), miss.at.micros(), miss.parts])?;
    Ok(())
}

pub(super) fn results(connection: &Connection, filter: &ResultFilter) -> Result<Vec<StoredResult>, Error> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT cursor, query, captured, story FROM query_result WHERE cursor > ?1 AND {} ORDER BY cursor LIMIT ?3",
        of_query(filter),
    ))?;
    let rows = select.query_map(bounds(filter), |row| {
        let result = NewResult { at: Time::from_micros(row.get(2)?), parts: Vec::new(), story: row.get(3)? };
        let (cursor, query) = (ResultCursor(row.get(0)?), QueryId(row.get(1)?));
        Ok(StoredResult { cursor, query, result, also_at: Vec::new() })
    })?;
    let mut results: Vec<StoredResult> = rows.collect::<Result<_, _>>()?;
    let mut parts = connection.prepare_cached(
        "SELECT name, source, captured, version, items FROM query_part WHERE result = ?1 ORDER BY position",
    )?;
    let mut sightings = connection.prepare_cached(
        "SELECT source, seen, version, title, link FROM query_sighting WHERE result = ?1 ORDER BY seen, source",
    )?;
    for stored in &mut results {
        stored.result.parts = parts.query_map([stored.cursor.0], part)?.collect::<Result<_, _>>()?;
        if stored.result.story.is_some() {
            stored.also_at = sightings.query_map([stored.cursor.0], sighting)?.collect::<Result<_, _>>()?;
        }
    }
    Ok(results)
}

fn part(row: &Row<'_>) -> rusqlite::Result<NewPart> {
    Ok(NewPart {
        name: row.get(0)?,
        source: SourceId(row.get(1)?),
        at: Time::from_micros(row.get(2)?),
        version: row.get::<_, Option<i64>>(3)?.map(VersionId),
        items: row.get(4)?,
    })
}

fn sighting(row: &Row<'_>) -> rusqlite::Result<Sighting> {
    Ok(Sighting {
        source: SourceId(row.get(0)?),
        at: Time::from_micros(row.get(1)?),
        version: row.get::<_, Option<i64>>(2)?.map(VersionId),
        title: row.get(3)?,
        link: row.get(4)?,
    })
}

/// The results of a query that are known again by their stories, newest first.
pub(super) fn stories(connection: &Connection, query: QueryId, limit: u32) -> Result<Vec<ToldStory>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT instance, story FROM query_result WHERE query = ?1 AND story IS NOT NULL
         ORDER BY cursor DESC LIMIT ?2",
    )?;
    let rows = select.query_map(params![query.0, limit], |row| {
        Ok(ToldStory { instance: InstanceId(row.get(0)?), story: row.get(1)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn newest_result(connection: &Connection) -> Result<ResultCursor, Error> {
    Ok(ResultCursor(super::numbering::newest(connection, "query_result")?))
}

pub(super) fn oldest_result(connection: &Connection) -> Result<ResultCursor, Error> {
    let mut select = connection.prepare_cached("SELECT min(cursor) FROM query_result")?;
    let oldest: Option<i64> = select.query_row([], |row| row.get(0))?;
    Ok(ResultCursor(oldest.map_or_else(|| newest_result(connection).map(|newest| newest.0 + 1), Ok)?))
}

pub(super) fn newest_miss(connection: &Connection) -> Result<ResultCursor, Error> {
    Ok(ResultCursor(super::numbering::newest(connection, "query_miss")?))
}

pub(super) fn n_sources(connection: &Connection) -> Result<u64, Error> {
    let mut select = connection.prepare_cached("SELECT count(*) FROM source WHERE for_queries <> 0")?;
    Ok(select.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

pub(super) fn misses(connection: &Connection, filter: &ResultFilter) -> Result<Vec<StoredMiss>, Error> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT cursor, query, began, missed, parts FROM query_miss WHERE cursor > ?1 AND {}
         ORDER BY cursor LIMIT ?3",
        of_query(filter),
    ))?;
    let rows = select.query_map(bounds(filter), |row| {
        let (began, at) = (Time::from_micros(row.get(2)?), Time::from_micros(row.get(3)?));
        let miss = NewMiss { began, at, parts: row.get(4)? };
        Ok(StoredMiss { cursor: ResultCursor(row.get(0)?), query: QueryId(row.get(1)?), miss })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Either condition lets the database use an index.
const fn of_query(filter: &ResultFilter) -> &'static str {
    if filter.query.is_some() { "query = ?2" } else { "?2 IS NULL" }
}

fn bounds(filter: &ResultFilter) -> (i64, Option<i64>, u32) {
    (filter.after.0, filter.query.map(|query| query.0), filter.limit)
}
