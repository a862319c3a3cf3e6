//! Numbers of rows that hold several things each. A row is stored under the number of the last thing in it, so that
//! `AUTOINCREMENT` goes on after it, and no number is given again even when the newest rows are gone.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::Error;

/// How many numbers a row with these takes.
pub(super) const fn size_of<T>(things: &[T]) -> i64 {
    (things.len() as u64).cast_signed()
}

/// The newest number that was ever given in `table`; 0 when none was.
pub(super) fn newest(connection: &Connection, table: &str) -> Result<i64, Error> {
    let mut select = connection.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = ?1")?;
    Ok(select.query_row([table], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Has `table` go on after `number`, which was given elsewhere.
pub(super) fn go_on_after(connection: &Connection, table: &str, number: i64) -> Result<(), Error> {
    let mut update = connection.prepare_cached("UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1")?;
    if update.execute(params![table, number])? == 0 {
        connection
            .prepare_cached("INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)")?
            .execute(params![table, number])?;
    }
    Ok(())
}
