//! Sources in their table.

use dunlin_core::Time;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row, params};

use super::{contents, resources, texts};
use crate::{
    Error, FoundAs, Health, NewSource, Note, ProbeBasis, ResourceId, Source, SourceEdit, SourceId,
    SourceQuery, SourceScope, SourceState,
};

const COLUMNS: &str = "id, url, kind, recipe, weight, life, urgency, tags, created, health, reason, since, paused, resource, name, title, found_kind, announced, for_queries";

pub(super) fn add(connection: &Connection, new: &NewSource) -> Result<SourceId, Error> {
    let resource = resources::of_request(connection, &new.url, &new.recipe)?;
    connection
        .prepare_cached(
            "INSERT INTO source (url, kind, recipe, weight, life, urgency, tags, created, health, reason, since, resource, name, for_queries)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, '', ?8, ?10, ?11, ?12)",
        )?
        .execute(params![
            new.url,
            new.kind,
            new.recipe,
            new.weight,
            new.life,
            new.urgency,
            tags_to_json(&new.tags)?,
            new.created.micros(),
            health_to_text(Health::New),
            resource.0,
            new.name,
            new.for_queries,
        ])?;
    Ok(SourceId(connection.last_insert_rowid()))
}

pub(super) fn get(connection: &Connection, id: SourceId) -> Result<Option<Source>, Error> {
    let mut select = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM source WHERE id = ?1"))?;
    select.query_row([id.0], |row| Ok(read(row))).optional()?.transpose()
}

/// What a probe of a source begins with.
pub(super) fn basis(
    connection: &Connection,
    id: SourceId,
    notes: &[&str],
) -> Result<Option<ProbeBasis>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT url, kind, recipe, state FROM source JOIN resource ON resource.id = resource WHERE source.id = ?1",
    )?;
    let words = select
        .query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((url, kind, recipe, fetch_state)) = words else { return Ok(None) };
    let mut note = connection.prepare_cached("SELECT value FROM note WHERE source = ?1 AND name = ?2")?;
    let mut found = Vec::with_capacity(notes.len());
    for name in notes {
        if let Some(value) = note.query_row(params![id.0, name], |row| row.get(0)).optional()? {
            found.push(Note { name: (*name).to_owned(), value });
        }
    }
    Ok(Some(ProbeBasis { url, kind, recipe, notes: found, fetch_state }))
}

pub(super) fn list(connection: &Connection, query: &SourceQuery) -> Result<Vec<Source>, Error> {
    let by_url = if query.url.is_some() { "url = ?2" } else { "?2 IS NULL" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM source WHERE id > ?1 AND {by_url}
         AND (?3 IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?3))
         AND for_queries <= ?5
         ORDER BY id LIMIT ?4"
    ))?;
    let with_queries = query.scope == SourceScope::All;
    let after = query.after.map_or(0, |after| after.0);
    let rows = select
        .query_map(params![after, query.url, query.tag, query.limit, with_queries], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

pub(super) fn edit(connection: &Connection, id: SourceId, edit: &SourceEdit) -> Result<Source, Error> {
    let mut source = get(connection, id)?.ok_or(Error::NoSuchSource(id))?;
    let before = source.resource;
    edit.apply(&mut source);
    source.spec.check()?;
    source.resource = resources::of_request(connection, &source.spec.url, &source.spec.recipe)?;
    connection
        .prepare_cached(
            "UPDATE source SET url = ?2, kind = ?3, recipe = ?4, weight = ?5, life = ?6, urgency = ?7, tags = ?8,
             health = ?9, reason = ?10, since = ?11, paused = ?12, resource = ?13, name = ?14, announced = ?15 WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            source.spec.url,
            source.spec.kind,
            source.spec.recipe,
            source.spec.weight,
            source.spec.life,
            source.spec.urgency,
            tags_to_json(&source.spec.tags)?,
            health_to_text(source.state.health),
            source.state.reason,
            source.state.since.micros(),
            source.paused.map(Time::micros),
            source.resource.0,
            source.spec.name,
            source.state.announced.map(health_to_text),
        ])?;
    if source.resource != before {
        resources::remove_unneeded(connection, before)?;
    }
    Ok(source)
}

pub(super) fn set_state(connection: &Connection, id: SourceId, state: &SourceState) -> Result<(), Error> {
    connection
        .prepare_cached(
            "UPDATE source SET health = ?2, reason = ?3, since = ?4, announced = ?5 WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            health_to_text(state.health),
            state.reason,
            state.since.micros(),
            state.announced.map(health_to_text),
        ])?;
    Ok(())
}

/// Notes what a source was found to be.
pub(super) fn set_found(connection: &Connection, id: SourceId, found: &FoundAs) -> Result<(), Error> {
    connection
        .prepare_cached(
            "UPDATE source SET title = ?2, found_kind = ?3 WHERE id = ?1 AND (title, found_kind) <> (?2, ?3)",
        )?
        .execute(params![id.0, found.title, found.kind])?;
    Ok(())
}

/// The schema's references remove what belongs to it; contents are shared, and go if no other source has them.
pub(super) fn remove(connection: &Connection, id: SourceId) -> Result<(), Error> {
    let mut contents_of =
        connection.prepare_cached("SELECT DISTINCT content FROM version WHERE source = ?1")?;
    let contents = contents_of.query_map([id.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let removed = connection
        .prepare_cached("DELETE FROM source WHERE id = ?1 RETURNING resource")?
        .query_row([id.0], |row| row.get(0))
        .optional()?;
    let resource = ResourceId(removed.ok_or(Error::NoSuchSource(id))?);
    resources::remove_unneeded(connection, resource)?;
    contents::remove_unneeded(connection, contents)?;
    texts::remove(connection, id)
}

pub(super) fn demand(connection: &Connection, id: SourceId) -> Result<(), Error> {
    if existence_check(connection)?.exists([id.0])? { Ok(()) } else { Err(Error::NoSuchSource(id)) }
}

/// The statement that says whether a source exists, for many checks in a row.
pub(super) fn existence_check(connection: &Connection) -> Result<CachedStatement<'_>, Error> {
    Ok(connection.prepare_cached("SELECT 1 FROM source INDEXED BY source_by_id WHERE id = ?1")?)
}

fn read(row: &Row<'_>) -> Result<Source, Error> {
    let tags: String = row.get(7)?;
    let tags = serde_json::from_str(&tags)
        .map_err(|problem| Error::damaged(format!("the tags of a source cannot be read: {problem}")))?;
    let health: String = row.get(9)?;
    Ok(Source {
        id: SourceId(row.get(0)?),
        resource: ResourceId(row.get(13)?),
        spec: NewSource {
            url: row.get(1)?,
            name: row.get(14)?,
            kind: row.get(2)?,
            recipe: row.get(3)?,
            weight: row.get(4)?,
            life: row.get(5)?,
            urgency: row.get(6)?,
            tags,
            created: Time::from_micros(row.get(8)?),
            for_queries: row.get(18)?,
        },
        found: FoundAs { title: row.get(15)?, kind: row.get(16)? },
        state: SourceState {
            health: health_from_text(&health)?,
            reason: row.get(10)?,
            since: Time::from_micros(row.get(11)?),
            announced: row.get::<_, Option<String>>(17)?.map(|text| health_from_text(&text)).transpose()?,
        },
        paused: row.get::<_, Option<i64>>(12)?.map(Time::from_micros),
    })
}

fn tags_to_json(tags: &[String]) -> Result<String, Error> {
    serde_json::to_string(tags).map_err(|problem| Error::Bug { what: problem.to_string() })
}

const fn health_to_text(health: Health) -> &'static str {
    match health {
        Health::New => "new",
        Health::Well => "well",
        Health::Attention => "attention",
        Health::Failing => "failing",
        Health::Refused => "refused",
    }
}

fn health_from_text(text: &str) -> Result<Health, Error> {
    [Health::New, Health::Well, Health::Attention, Health::Failing, Health::Refused]
        .into_iter()
        .find(|health| health_to_text(*health) == text)
        .ok_or_else(|| Error::damaged(format!("a source has the unknown state {text}")))
}
