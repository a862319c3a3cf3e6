//! Items in their table. Only rows that differ are written: most of a feed is the same from probe to probe.

use std::collections::{HashMap, HashSet};

use dunlin_core::Time;
use rusqlite::{Connection, params};

use crate::{Error, Item, ItemScope, NewItem, SourceId};

/// Makes `items` the items now on the source; those no longer among them are remembered as having left at `at`.
pub(super) fn replace(
    connection: &Connection,
    source: SourceId,
    at: Time,
    items: &[NewItem],
) -> Result<(), Error> {
    let mut known = known_positions(connection, source)?;
    let mut seen = HashSet::new();
    let items: Vec<&NewItem> = items.iter().filter(|item| seen.insert(item.key.as_str())).collect();
    let before: Vec<Option<i64>> = items.iter().map(|item| known.get(&item.key).copied().flatten()).collect();
    let mut add = connection.prepare_cached(
        "INSERT INTO item (source, key, position, body, first_seen) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut update = connection.prepare_cached(
        "UPDATE item SET position = ?3, body = ?4, left_at = NULL
         WHERE source = ?1 AND key = ?2 AND (position IS NOT ?3 OR body <> ?4)",
    )?;
    for (item, position) in items.into_iter().zip(positions(&before)) {
        if known.remove(&item.key).is_some() {
            update.execute(params![source.0, item.key, position, item.body])?;
        } else {
            add.execute(params![source.0, item.key, position, item.body, at.micros()])?;
        }
    }
    let mut leave = connection
        .prepare_cached("UPDATE item SET position = NULL, left_at = ?3 WHERE source = ?1 AND key = ?2")?;
    for (key, position) in known {
        if position.is_some() {
            leave.execute(params![source.0, key, at.micros()])?;
        }
    }
    Ok(())
}

/// The positions of all items of a source, with none for those that have left.
fn known_positions(connection: &Connection, source: SourceId) -> Result<HashMap<String, Option<i64>>, Error> {
    let mut select = connection.prepare_cached("SELECT key, position FROM item WHERE source = ?1")?;
    let rows = select.query_map([source.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Increasing positions for a list, given those that its members had. Where a feed only grew at its ends, what was
/// there keeps its position, and its rows need not be written again; otherwise all are renumbered.
fn positions(before: &[Option<i64>]) -> Vec<i64> {
    let first = before.iter().position(Option::is_some);
    let last = before.iter().rposition(Option::is_some);
    if let (Some(first), Some(last)) = (first, last) {
        let kept: Option<Vec<i64>> = before[first..=last].iter().copied().collect();
        if let Some(kept) = kept.filter(|kept| kept.is_sorted_by(|one, next| one < next)) {
            let head = kept[0] - i64::from(first as u32)..kept[0];
            let tail = (1..).map(|step| kept[last - first] + step);
            return head.chain(kept.iter().copied()).chain(tail).take(before.len()).collect();
        }
    }
    (0..).take(before.len()).collect()
}

pub(super) fn list(connection: &Connection, source: SourceId, scope: ItemScope) -> Result<Vec<Item>, Error> {
    let present_only = scope == ItemScope::Present;
    let mut select = connection.prepare_cached(
        "SELECT key, body, first_seen, left_at FROM item
         WHERE source = ?1 AND (position IS NOT NULL OR NOT ?2)
         ORDER BY position IS NULL, position, left_at DESC, key",
    )?;
    let rows = select.query_map(params![source.0, present_only], |row| {
        Ok(Item {
            key: row.get(0)?,
            body: row.get(1)?,
            first_seen: Time::from_micros(row.get(2)?),
            left: row.get::<_, Option<i64>>(3)?.map(Time::from_micros),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::positions;

    #[test]
    fn a_list_that_grows_at_its_ends_keeps_its_numbers() {
        assert_eq!(positions(&[None, None, Some(0), Some(1), Some(5), None]), [-2, -1, 0, 1, 5, 6]);
        assert_eq!(positions(&[Some(3)]), [3]);
    }

    #[test]
    fn any_other_list_is_numbered_anew() {
        assert_eq!(positions(&[None, None]), [0, 1]);
        assert_eq!(positions(&[Some(2), Some(1)]), [0, 1]);
        assert_eq!(positions(&[Some(1), None, Some(2)]), [0, 1, 2]);
        assert_eq!(positions(&[]), [0_i64; 0]);
    }
}
