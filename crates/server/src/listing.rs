//! Lists that the store gives oldest first, as people and programs ask for them: full pages of what is shown of the
//! journal, and the newest end of a list. Reads only.
//!
//! Invariant: a page has as many rows as requested, unless there are no more.

use dunlin_store::{
    Change, ChangeQuery, Cursor, Decision, DecisionId, DecisionQuery, Error as StoreError, Order,
    ResultFilter, SourceId, Store,
};

use crate::responses::query::{MissResponse, ResultResponse};

/// Rows read at a time.
const PAGE: u32 = 1_000;

/// How much further back each further attempt reads.
const STRIDE: i64 = 8;

/// A page of decisions about sources, and where the next one begins. Rows that are kept for replays are passed over.
pub(crate) fn decisions(
    store: &dyn Store,
    mut query: DecisionQuery,
) -> Result<(Vec<Decision>, Option<DecisionId>), StoreError> {
    let wanted = query.limit as usize;
    let mut page = Vec::new();
    loop {
        let rows = store.decisions(&query)?;
        let is_last = rows.len() < wanted;
        for row in rows {
            query.after = Some(row.id);
            if row.decision.source.is_some() {
                page.push(row);
            }
            if page.len() == wanted {
                return Ok((page, query.after));
            }
        }
        if is_last {
            return Ok((page, query.after));
        }
    }
}

/// The newest changes in the order of their cursors, and the newest cursor of all.
pub(crate) fn last_changes(
    store: &dyn Store,
    source: Option<SourceId>,
    n_last: u32,
) -> Result<(Vec<Change>, Cursor), StoreError> {
    let range = store.cursor_range()?;
    let changes = last(range.newest.0, range.oldest.0 - 1, n_last, |after| {
        let page = store.changes(&ChangeQuery { after: Cursor(after), source, limit: PAGE })?;
        let next = page.last().filter(|_| page.len() == PAGE as usize).map(|change| change.cursor.0);
        Ok((page, next))
    })?;
    let newest = changes.last().map_or(range.newest, |change| change.cursor.max(range.newest));
    Ok((changes, newest))
}

/// The newest decisions about sources in the order in which they were taken, and the newest of all.
pub(crate) fn last_decisions(
    store: &dyn Store,
    source: Option<SourceId>,
    n_last: u32,
) -> Result<(Vec<Decision>, Option<DecisionId>), StoreError> {
    let newest =
        |source, limit| DecisionQuery { source, order: Order::NewestFirst, ..DecisionQuery::first(limit) };
    let (mut decisions, _) = decisions(store, newest(source, n_last))?;
    decisions.reverse();
    // Asked last and without the source: what is decided from now on comes after it.
    let last_of_all = store.decisions(&newest(None, 1))?.pop().map(|row| row.id);
    let last_shown = decisions.last().map(|row| row.id);
    Ok((decisions, last_shown.or(last_of_all)))
}

/// Results of queries, and after which one the next page begins.
pub(crate) fn results(
    store: &dyn Store,
    filter: &ResultFilter,
) -> Result<(Vec<ResultResponse>, i64), StoreError> {
    let results = store.results(filter)?;
    let next = results.last().map_or(filter.after, |last| last.cursor);
    Ok((ResultResponse::all(store, results)?, next.0))
}

/// Misses of queries, and after which one the next page begins.
pub(crate) fn missed(
    store: &dyn Store,
    filter: &ResultFilter,
) -> Result<(Vec<MissResponse>, i64), StoreError> {
    let misses = store.misses(filter)?;
    let next = misses.last().map_or(filter.after, |last| last.cursor);
    Ok((misses.into_iter().map(MissResponse::from).collect(), next.0))
}

/// The last rows up to `newest`, searched further and further back; `read` returns those after a number, a page at a
/// time, and where the next page begins.
fn last<T>(
    newest: i64,
    before_oldest: i64,
    n_last: u32,
    mut read: impl FnMut(i64) -> Result<(Vec<T>, Option<i64>), StoreError>,
) -> Result<Vec<T>, StoreError> {
    let wanted = n_last as usize;
    let mut reach = i64::from(n_last);
    loop {
        let start = newest.saturating_sub(reach).max(before_oldest);
        let (mut found, mut after) = (Vec::new(), Some(start));
        while let Some(position) = after {
            let (page, next) = read(position)?;
            found.extend(page);
            let n_surplus = found.len().saturating_sub(wanted);
            found.drain(..n_surplus);
            after = next;
        }
        if found.len() >= wanted || start == before_oldest {
            return Ok(found);
        }
        reach = reach.saturating_mul(STRIDE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rows_are_found_over_gaps() {
        let rows: Vec<i64> = (1..=10).chain([500, 501, 9_000]).collect();
        let read = |after: i64| {
            let page: Vec<i64> = rows.iter().copied().filter(|row| *row > after).take(2).collect();
            let next = page.last().copied().filter(|_| page.len() == 2);
            Ok((page, next))
        };
        assert_eq!(last(9_000, 0, 2, read).unwrap(), [501, 9_000]);
        assert_eq!(last(9_000, 0, 4, read).unwrap(), [10, 500, 501, 9_000]);
        assert_eq!(last(9_000, 0, 100, read).unwrap(), rows);
    }
}
