//! Contents in their table: each stored once, as a delta where that is smaller, and read back only if the hash
//! agrees. Which version has which content is not known here.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::packing::{Packed, Packing, Step, pack, unpack};
use crate::{ContentHash, Error, MAX_CONTENT_BYTES};

/// The most deltas between a content and a full copy. A delta is made against a full copy, so there is one; stores of earlier
/// versions have chains of this many.
const MAX_DEPTH: u32 = 10;

/// Finds or stores a content, as a delta if that is much smaller, and gives its row. The delta is made against what `near` itself
/// is based on: then one decompression gives any content, and the base of a page that changes at every probe is read once for each.
pub(super) fn store(
    connection: &Connection,
    content: &[u8],
    hash: ContentHash,
    near: Option<i64>,
) -> Result<i64, Error> {
    let mut find = connection.prepare_cached("SELECT id FROM content WHERE hash = ?1")?;
    if let Some(known) = find.query_row([&hash.0], |row| row.get(0)).optional()? {
        return Ok(known);
    }
    let base = match near {
        Some(near) => base_near(connection, near)?,
        None => None,
    };
    let packed = pack(content, base.as_ref().map(|base| base.content.as_slice()))?;
    let base = base.filter(|_| packed.packing == Packing::Delta);
    let (base, depth) = base.map_or((None, 0), |base| (Some(base.row), base.depth + 1));
    connection
        .prepare_cached(
            "INSERT INTO content (hash, size, base, depth, packing, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            &hash.0,
            (content.len() as u64).cast_signed(),
            base,
            depth,
            packed.packing as i64,
            packed.body
        ])?;
    Ok(connection.last_insert_rowid())
}

struct Base {
    row: i64,
    depth: u32,
    content: Vec<u8>,
}

/// The content to differ from; `None` when it is damaged: a bad old version must not keep a good new one from being stored.
fn base_near(connection: &Connection, near: i64) -> Result<Option<Base>, Error> {
    let mut select = connection.prepare_cached(
        "SELECT base.id, base.depth FROM content AS near JOIN content AS base ON base.id = ifnull(near.base, near.id)
         WHERE near.id = ?1",
    )?;
    let (row, depth) = select.query_row([near], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if depth >= MAX_DEPTH {
        return Ok(None);
    }
    // Its hash says nothing here: the delta gives the new content back from whatever it was made against.
    match unpacked(connection, row) {
        Ok((content, _)) => Ok(Some(Base { row, depth, content })),
        Err(Error::Damaged { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Reads a content and compares it with its hash.
pub(super) fn load(connection: &Connection, row: i64) -> Result<Vec<u8>, Error> {
    let (content, expected) = unpacked(connection, row)?;
    if ContentHash::of(&content) == expected {
        Ok(content)
    } else {
        Err(Error::damaged(format!("content {row} does not have the hash it was stored under")))
    }
}

/// Reads a content, and the hash that it was stored under.
fn unpacked(connection: &Connection, row: i64) -> Result<(Vec<u8>, ContentHash), Error> {
    let mut select =
        connection.prepare_cached("SELECT base, size, hash, packing, body FROM content WHERE id = ?1")?;
    // From the content wanted down to a full copy.
    let mut chain: Vec<Step> = Vec::new();
    let mut expected = None;
    let mut next = Some(row);
    while let Some(wanted) = next {
        if chain.len() > MAX_DEPTH as usize {
            return Err(Error::damaged(format!("content {row} has an endless chain of deltas")));
        }
        let found = select
            .query_row([wanted], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
            .optional()?;
        let (base, size, hash, packing, body): (Option<i64>, i64, [u8; 32], i64, Vec<u8>) =
            found.ok_or_else(|| Error::damaged(format!("content {wanted} is missing")))?;
        let size = usize::try_from(size).ok().filter(|size| *size <= MAX_CONTENT_BYTES);
        let size = size.ok_or_else(|| Error::damaged(format!("content {wanted} has an impossible size")))?;
        chain.push(Step { packed: Packed { packing: Packing::from_number(packing)?, body }, size });
        expected = expected.or(Some(ContentHash(hash)));
        next = base;
    }
    let expected = expected.ok_or_else(|| Error::damaged(format!("content {row} is missing")))?;
    chain.reverse();
    Ok((unpack(&chain)?, expected))
}

/// Removes contents among `candidates` that nothing needs any more, then what only they needed, and so on. Gives
/// how many went.
pub(super) fn remove_unneeded(connection: &Connection, candidates: Vec<i64>) -> Result<u64, Error> {
    let mut based_on = connection.prepare_cached("SELECT base FROM content WHERE id = ?1")?;
    let mut remove = connection.prepare_cached(
        "DELETE FROM content WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM version WHERE content = ?1)
         AND NOT EXISTS (SELECT 1 FROM content WHERE base = ?1)",
    )?;
    let mut waiting = candidates;
    let mut removed = 0;
    while let Some(candidate) = waiting.pop() {
        let base: Option<Option<i64>> = based_on.query_row([candidate], |row| row.get(0)).optional()?;
        if remove.execute([candidate])? == 1 {
            removed += 1;
            waiting.extend(base.flatten());
        }
    }
    Ok(removed)
}
