//! Resources in their table: one for every request that some source needs.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::resource::request_key;
use crate::{Error, ResourceId, SourceId};

/// Adds the functions that migrations use.
pub(super) fn add_functions(connection: &Connection) -> Result<(), Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("request_key", 2, flags, |arguments| {
        let (url, recipe) = (arguments.get::<String>(0)?, arguments.get::<String>(1)?);
        Ok(request_key(&url, &recipe))
    })?;
    Ok(())
}

/// The resource of a request; a new one where no source has needed it.
pub(super) fn of_request(connection: &Connection, url: &str, recipe: &str) -> Result<ResourceId, Error> {
    let key = request_key(url, recipe);
    let mut find = connection.prepare_cached("SELECT id FROM resource WHERE request = ?1")?;
    if let Some(id) = find.query_row([key], |row| row.get(0)).optional()? {
        return Ok(ResourceId(id));
    }
    connection.prepare_cached("INSERT INTO resource (request, state) VALUES (?1, x'')")?.execute([key])?;
    Ok(ResourceId(connection.last_insert_rowid()))
}

/// What a fetch for a source leaves for the next one of its resource.
pub(super) fn set_state(connection: &Connection, source: SourceId, state: &[u8]) -> Result<(), Error> {
    connection
        .prepare_cached(
            "UPDATE resource SET state = ?2 WHERE id = (SELECT resource FROM source WHERE id = ?1)",
        )?
        .execute(params![source.0, state])?;
    Ok(())
}

/// Removes a resource that no source needs.
pub(super) fn remove_unneeded(connection: &Connection, id: ResourceId) -> Result<(), Error> {
    connection
        .prepare_cached(
            "DELETE FROM resource WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM source WHERE resource = ?1)",
        )?
        .execute([id.0])?;
    Ok(())
}
