//! Messages in their table. `due` has two meanings that never apply at once: when the next attempt may begin, and,
//! while an attempt runs, when its lease ends.

use dunlin_core::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Cursor, Error, Lease, Message, MessageId, NewMessage, Receipt, SourceId};

pub(super) fn add(
    connection: &Connection,
    queued: Time,
    source: Option<SourceId>,
    cursor: Option<Cursor>,
    message: &NewMessage,
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO outbox (key, destination, source, cursor, payload, queued, due)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![
            message.key,
            message.destination,
            source.map(|source| source.0),
            cursor.map(|cursor| cursor.0),
            message.payload,
            queued.micros(),
            message.due.micros(),
        ])?;
    Ok(())
}

pub(super) fn lease(connection: &Connection, lease: &Lease) -> Result<Vec<Message>, Error> {
    let to = if lease.destination.is_some() { "destination = ?2 AND" } else { "?2 IS NULL AND" };
    let mut select = connection.prepare_cached(&format!(
        "SELECT id, attempts, key, destination, source, cursor, payload, queued, last_error FROM outbox
         WHERE {to} due <= ?1 ORDER BY due, id LIMIT ?3"
    ))?;
    let rows = select.query_map(params![lease.now.micros(), lease.destination, lease.limit], read)?;
    let messages = rows.collect::<Result<Vec<_>, _>>()?;
    let mut take =
        connection.prepare_cached("UPDATE outbox SET attempts = attempts + 1, due = ?2 WHERE id = ?1")?;
    let ends = lease.now.plus(lease.length).micros();
    for message in &messages {
        take.execute(params![message.receipt.message.0, ends])?;
    }
    Ok(messages)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Message> {
    let earlier_attempts: u32 = row.get(1)?;
    Ok(Message {
        receipt: Receipt { message: MessageId(row.get(0)?), attempt: earlier_attempts.saturating_add(1) },
        key: row.get(2)?,
        destination: row.get(3)?,
        source: row.get::<_, Option<i64>>(4)?.map(SourceId),
        cursor: row.get::<_, Option<i64>>(5)?.map(Cursor),
        payload: row.get(6)?,
        queued: Time::from_micros(row.get(7)?),
        last_error: row.get(8)?,
    })
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Time>, Error> {
    let mut select = connection.prepare_cached("SELECT due FROM outbox ORDER BY due LIMIT 1")?;
    let due: Option<i64> = select.query_row([], |row| row.get(0)).optional()?;
    Ok(due.map(Time::from_micros))
}

/// The receiver has the message now, whichever attempt delivered it.
pub(super) fn acknowledge(connection: &Connection, receipt: Receipt) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([receipt.message.0])?;
    Ok(())
}

pub(super) fn postpone(
    connection: &Connection,
    receipt: Receipt,
    due: Time,
    error: &str,
) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE outbox SET due = ?3, last_error = ?4 WHERE id = ?1 AND attempts = ?2")?
        .execute(params![receipt.message.0, receipt.attempt, due.micros(), error])?;
    Ok(())
}
