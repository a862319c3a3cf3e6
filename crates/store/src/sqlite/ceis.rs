//! The ledger of CEIs in its tables.

use dunlin_core::Time;
use rusqlite::{Connection, Row, params};

use crate::{
    CapturedInterval, CeiId, CeiQuery, CeiState, Error, NewCei, NewInterval, ObservationId, SourceId,
    StoredCei, StoredInterval,
};

pub(super) fn add(connection: &Connection, cei: &NewCei) -> Result<CeiId, Error> {
    connection
        .prepare_cached("INSERT INTO cei (need, weight, state, created) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![cei.need, cei.weight, state_to_text(CeiState::Open), cei.created.micros()])?;
    let id = CeiId(connection.last_insert_rowid());
    add_intervals(connection, id, 0, &cei.intervals)?;
    Ok(id)
}

fn add_intervals(
    connection: &Connection,
    cei: CeiId,
    first: i64,
    intervals: &[NewInterval],
) -> Result<(), Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO cei_interval (cei, position, source, start, finish) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, interval) in (first..).zip(intervals) {
        let NewInterval { source, start, finish } = interval;
        insert.execute(params![cei.0, position, source.0, start.micros(), finish.micros()])?;
    }
    Ok(())
}

/// Adds intervals to an open CEI, of which it needs so many more.
pub(super) fn extend(
    connection: &Connection,
    id: CeiId,
    more: &[NewInterval],
    need: u32,
) -> Result<(), Error> {
    let extended = connection
        .prepare_cached("UPDATE cei SET need = need + ?2 WHERE id = ?1 AND state = ?3")?
        .execute(params![id.0, need, state_to_text(CeiState::Open)])?;
    if extended == 0 {
        return Err(Error::NoSuchCei(id));
    }
    let first = connection
        .prepare_cached("SELECT count(*) FROM cei_interval WHERE cei = ?1")?
        .query_row([id.0], |row| row.get(0))?;
    add_intervals(connection, id, first, more)
}

/// Ends open CEIs; those that have ended stay as they are.
pub(super) fn end(connection: &Connection, ended: &[(CeiId, CeiState)], at: Time) -> Result<(), Error> {
    let mut update =
        connection.prepare_cached("UPDATE cei SET state = ?2, ended = ?3 WHERE id = ?1 AND state = ?4")?;
    for (id, state) in ended {
        update.execute(params![id.0, state_to_text(*state), at.micros(), state_to_text(CeiState::Open)])?;
    }
    Ok(())
}

/// An observation captures intervals. One that is captured already, or whose CEI has ended, stays as it is.
pub(super) fn capture(
    connection: &Connection,
    captured: &[CapturedInterval],
    by: ObservationId,
    at: Time,
) -> Result<(), Error> {
    let open = state_to_text(CeiState::Open);
    for CapturedInterval { cei, position } in captured {
        let is_new = connection
            .prepare_cached(
                "UPDATE cei_interval SET captured = ?3 WHERE cei = ?1 AND position = ?2 AND captured IS NULL
                 AND (SELECT state FROM cei WHERE id = ?1) = ?4",
            )?
            .execute(params![cei.0, position, by.0, open])?;
        if is_new > 0 {
            connection
                .prepare_cached(
                    "UPDATE cei SET state = ?2, ended = ?3 WHERE id = ?1
                     AND need <= (SELECT count(captured) FROM cei_interval WHERE cei = ?1)",
                )?
                .execute(params![cei.0, state_to_text(CeiState::Captured), at.micros()])?;
        }
    }
    Ok(())
}

pub(super) fn list(connection: &Connection, query: &CeiQuery) -> Result<Vec<StoredCei>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT id, need, weight, state, created, ended FROM cei
         WHERE id > ?1 AND (?2 IS NULL OR state = ?2) ORDER BY id LIMIT ?3",
    )?;
    let (after, state) = (query.after.map_or(0, |after| after.0), query.state.map(state_to_text));
    let rows = select.query_map(params![after, state, query.limit], |row| Ok(read(row)))?;
    let mut ceis: Vec<StoredCei> = rows.map(|row| row?).collect::<Result<_, Error>>()?;
    let mut intervals = connection.prepare_cached(
        "SELECT source, start, finish, captured FROM cei_interval WHERE cei = ?1 ORDER BY position",
    )?;
    for cei in &mut ceis {
        let rows = intervals.query_map([cei.id.0], |row| {
            let interval = NewInterval {
                source: SourceId(row.get(0)?),
                start: Time::from_micros(row.get(1)?),
                finish: Time::from_micros(row.get(2)?),
            };
            Ok(StoredInterval { interval, captured: row.get::<_, Option<i64>>(3)?.map(ObservationId) })
        })?;
        cei.intervals = rows.collect::<Result<_, _>>()?;
    }
    Ok(ceis)
}

fn read(row: &Row<'_>) -> Result<StoredCei, Error> {
    let state: String = row.get(3)?;
    Ok(StoredCei {
        id: CeiId(row.get(0)?),
        need: row.get(1)?,
        weight: row.get(2)?,
        state: state_from_text(&state)?,
        created: Time::from_micros(row.get(4)?),
        ended: row.get::<_, Option<i64>>(5)?.map(Time::from_micros),
        intervals: Vec::new(),
    })
}

const STATES: [(CeiState, &str); 4] = [
    (CeiState::Open, "open"),
    (CeiState::Captured, "captured"),
    (CeiState::Lost, "lost"),
    (CeiState::Withdrawn, "withdrawn"),
];

fn state_to_text(state: CeiState) -> &'static str {
    STATES.iter().find(|(known, _)| *known == state).map_or("open", |(_, text)| text)
}

fn state_from_text(text: &str) -> Result<CeiState, Error> {
    let known = STATES.iter().find(|(_, known)| *known == text).map(|(state, _)| *state);
    known.ok_or_else(|| Error::damaged(format!("a CEI has the unknown state {text}")))
}
