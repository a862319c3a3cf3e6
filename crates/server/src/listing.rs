//! Lists that the store gives oldest first, as people and programs ask for them: full pages of what is shown of the
//! journal, and the newest end of a list. Reads only.
//!
//! Invariant: a page has as many rows as requested, unless there are no more.

use dunlin_store::{
    Change, ChangeQuery, Cursor, Decision, DecisionId, DecisionQuery, Error as StoreError, Order,
    ResultCursor, ResultFilter, SourceId, Store,
};

use crate::failure::Failure;
use crate::pages::{ahead, pruned};
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

/// Results after a cursor.
pub(crate) struct ResultPage {
    pub(crate) results: Vec<ResultResponse>,
    /// After which one the next page begins.
    pub(crate) next: ResultCursor,
    /// The newest of all queries.
    pub(crate) newest: ResultCursor,
    /// Set when results after the cursor have been removed: up to here nothing is left.
    pub(crate) gone_until: Option<ResultCursor>,
}

impl ResultPage {
    /// The page for a reader of a list, who is told when there is no going on from its cursor.
    pub(crate) fn for_list(self, after: ResultCursor) -> Result<Self, Failure> {
        if after > self.newest {
            return Err(ahead(after.0, "result", self.newest.0));
        }
        match self.gone_until {
            Some(gone_until) => Err(pruned("results", after.0, gone_until.0)),
            None => Ok(self),
        }
    }
}

/// Results of queries after a cursor.
pub(crate) fn results(store: &dyn Store, filter: &ResultFilter) -> Result<ResultPage, StoreError> {
    let newest = store.newest_result()?;
    let results = store.results(filter)?;
    let next = results.last().map_or(filter.after, |last| last.cursor);
    // Asked after the results: what is removed in between is noticed.
    let before_oldest = ResultCursor(store.oldest_result()?.0 - 1);
    let has_next = results.first().is_some_and(|first| first.cursor.0 == filter.after.0 + 1);
    // A reader from the start wants what there is.
    let is_gone = filter.after > ResultCursor::START && before_oldest > filter.after && !has_next;
    let results = ResultResponse::all(store, results)?;
    Ok(ResultPage { results, next, newest, gone_until: is_gone.then_some(before_oldest) })
}

/// Misses of queries after a cursor.
pub(crate) struct MissPage {
    pub(crate) missed: Vec<MissResponse>,
    /// After which one the next page begins.
    pub(crate) next: i64,
    newest: ResultCursor,
}

impl MissPage {
    /// The page for a reader, who is told when its cursor is not there yet.
    pub(crate) fn for_list(self, after: ResultCursor) -> Result<Self, Failure> {
        if after > self.newest { Err(ahead(after.0, "miss", self.newest.0)) } else { Ok(self) }
    }
}

/// Misses of queries after a cursor.
pub(crate) fn missed(store: &dyn Store, filter: &ResultFilter) -> Result<MissPage, StoreError> {
    let newest = store.newest_miss()?;
    let misses = store.misses(filter)?;
    let next = misses.last().map_or(filter.after, |last| last.cursor);
    Ok(MissPage { missed: misses.into_iter().map(MissResponse::from).collect(), next: next.0, newest })
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
