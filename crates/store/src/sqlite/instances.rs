//! Instances of queries, and the steps that they take, inside the transaction of the caller.

use dunlin_core::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{ceis, queries};
use crate::{
    CeiId, CeiState, Error, InstanceEnd, InstanceId, InstanceNext, InstanceStep, NewCei, QueryId,
    ResultCursor, StoredInstance,
};

/// Takes steps outside a capture.
pub(super) fn step(connection: &Connection, steps: &[InstanceStep], at: Time) -> Result<(), Error> {
    go_on(connection, steps)?;
    end(connection, steps, at).map(|_| ())
}

/// Takes the steps of instances that go on. In a capture this comes before it is asked which CEIs are captured, since an
/// instance may want more now.
pub(super) fn go_on(connection: &Connection, steps: &[InstanceStep]) -> Result<(), Error> {
    for step in steps {
        if !is_installed(connection, step)? {
            continue;
        }
        if let Some(memory) = &step.memory {
            let mut remember = connection.prepare_cached("UPDATE query SET memory = ?2 WHERE id = ?1")?;
            remember.execute(params![step.query.0, memory])?;
        }
        if let InstanceNext::Open { state, wants } = &step.next {
            set_open(connection, step, state, wants.as_ref())?;
        }
    }
    Ok(())
}

/// Takes the steps of instances that end; the position of the last result among them. In a capture this comes after it is
/// known which CEIs are captured: what is open after that is withdrawn.
pub(super) fn end(
    connection: &Connection,
    steps: &[InstanceStep],
    at: Time,
) -> Result<Option<ResultCursor>, Error> {
    let mut last = None;
    for step in steps {
        if let InstanceNext::Ended(ended) = &step.next
            && is_installed(connection, step)?
        {
            last = end_one(connection, step, ended, at)?.or(last);
        }
    }
    Ok(last)
}

fn is_installed(connection: &Connection, step: &InstanceStep) -> Result<bool, Error> {
    Ok(connection.prepare_cached("SELECT 1 FROM query WHERE id = ?1")?.exists([step.query.0])?)
}

fn set_open(
    connection: &Connection,
    step: &InstanceStep,
    state: &[u8],
    wants: Option<&NewCei>,
) -> Result<(), Error> {
    let mut cei = get(connection, step.instance)?.and_then(|known| known.cei);
    if let Some(wanted) = wants {
        let extended = cei.map(|known| ceis::extend(connection, known, &wanted.intervals, wanted.need));
        match extended {
            Some(Ok(())) => {}
            None | Some(Err(Error::NoSuchCei(_))) => {
                // Of one that has ended nothing is left to add to: what is wanted now is a need of its own.
                let need = wanted.need.max(1);
                cei = Some(ceis::add(connection, &NewCei { need, ..wanted.clone() })?);
            }
            Some(Err(error)) => return Err(error),
        }
    }
    connection
        .prepare_cached(
            "INSERT INTO query_instance (id, query, cei, state) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET cei = excluded.cei, state = excluded.state",
        )?
        .execute(params![step.instance.0, step.query.0, cei.map(|cei| cei.0), state])?;
    Ok(())
}

fn end_one(
    connection: &Connection,
    step: &InstanceStep,
    ended: &InstanceEnd,
    at: Time,
) -> Result<Option<ResultCursor>, Error> {
    let cei: Option<Option<i64>> = connection
        .prepare_cached("DELETE FROM query_instance WHERE id = ?1 RETURNING cei")?
        .query_row([step.instance.0], |row| row.get(0))
        .optional()?;
    if let Some(cei) = cei.flatten() {
        let state =
            if matches!(ended, InstanceEnd::Missed(_)) { CeiState::Lost } else { CeiState::Withdrawn };
        ceis::end(connection, &[(CeiId(cei), state)], at)?;
    }
    match ended {
        InstanceEnd::Result(result) => queries::add_result(connection, step.query, step.instance.0, result),
        InstanceEnd::SeenAgain { first, sighting } => {
            queries::add_sighting(connection, *first, sighting).map(|()| None)
        }
        InstanceEnd::Missed(miss) => queries::add_miss(connection, step.query, miss).map(|()| None),
        InstanceEnd::Silent => Ok(None),
    }
}

pub(super) fn get(connection: &Connection, id: InstanceId) -> Result<Option<StoredInstance>, Error> {
    let mut select =
        connection.prepare_cached("SELECT id, query, cei, state FROM query_instance WHERE id = ?1")?;
    Ok(select.query_row([id.0], read).optional()?)
}

pub(super) fn list(
    connection: &Connection,
    after: Option<InstanceId>,
    limit: u32,
) -> Result<Vec<StoredInstance>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT id, query, cei, state FROM query_instance WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let after = after.map_or(i64::MIN, |after| after.0);
    Ok(select.query_map(params![after, limit], read)?.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredInstance> {
    Ok(StoredInstance {
        id: InstanceId(row.get(0)?),
        query: QueryId(row.get(1)?),
        cei: row.get::<_, Option<i64>>(2)?.map(CeiId),
        state: row.get(3)?,
    })
}
