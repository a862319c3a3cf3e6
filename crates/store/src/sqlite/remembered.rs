//! Small things kept by name: notes about a source, politeness towards a host, settings.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{Error, Note, Politeness, SourceId};

pub(super) fn set_notes(connection: &Connection, source: SourceId, notes: &[Note]) -> Result<(), Error> {
    let mut set = connection.prepare_cached(
        "INSERT INTO note (source, name, value) VALUES (?1, ?2, ?3)
         ON CONFLICT (source, name) DO UPDATE SET value = excluded.value",
    )?;
    for note in notes {
        set.execute(params![source.0, note.name, note.value])?;
    }
    Ok(())
}

/// Notes about several sources; those about sources that are gone are passed over.
pub(super) fn set_notes_of(connection: &Connection, notes: &[(SourceId, Note)]) -> Result<(), Error> {
    let mut set = connection.prepare_cached(
        "INSERT INTO note (source, name, value) SELECT id, ?2, ?3 FROM source WHERE id = ?1
         ON CONFLICT (source, name) DO UPDATE SET value = excluded.value",
    )?;
    for (source, note) in notes {
        set.execute(params![source.0, note.name, note.value])?;
    }
    Ok(())
}

pub(super) fn notes(connection: &Connection, source: SourceId) -> Result<Vec<Note>, Error> {
    let mut select =
        connection.prepare_cached("SELECT name, value FROM note WHERE source = ?1 ORDER BY name")?;
    let rows = select.query_map([source.0], |row| Ok(Note { name: row.get(0)?, value: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn set_politeness(connection: &Connection, politeness: &[Politeness]) -> Result<(), Error> {
    let mut set = connection.prepare_cached(
        "INSERT INTO politeness (scope, state) VALUES (?1, ?2)
         ON CONFLICT (scope) DO UPDATE SET state = excluded.state",
    )?;
    let mut forget = connection.prepare_cached("DELETE FROM politeness WHERE scope = ?1")?;
    for Politeness { scope, state } in politeness {
        if state.is_empty() {
            forget.execute([scope])?;
        } else {
            set.execute(params![scope, state])?;
        }
    }
    Ok(())
}

pub(super) fn politeness(connection: &Connection) -> Result<Vec<Politeness>, Error> {
    let mut select = connection.prepare_cached("SELECT scope, state FROM politeness ORDER BY scope")?;
    let rows = select.query_map([], |row| Ok(Politeness { scope: row.get(0)?, state: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn set_setting(connection: &Connection, name: &str, value: Option<&str>) -> Result<(), Error> {
    match value {
        Some(value) => connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([name, value])?,
        None => connection.prepare_cached("DELETE FROM setting WHERE name = ?1")?.execute([name])?,
    };
    Ok(())
}

pub(super) fn setting(connection: &Connection, name: &str) -> Result<Option<String>, Error> {
    let mut select = connection.prepare_cached("SELECT value FROM setting WHERE name = ?1")?;
    Ok(select.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn settings(connection: &Connection, prefix: &str) -> Result<Vec<(String, String)>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT name, value FROM setting WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name",
    )?;
    let rows = select.query_map([prefix], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
