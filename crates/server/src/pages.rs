//! Pages of the stream of changes, for lists and for followers: the position of a reader, what comes next, and whether
//! something in between was removed.

use axum::http::StatusCode;
use dunlin_store::{Change, ChangeQuery, Cursor, CursorRange, Error as StoreError, SourceId, Store};

use crate::app::App;
use crate::failure::Failure;
use crate::responses::change::ChangeResponse;

/// The source that a reader wants, if it wants only one. A missing source is an error: no change would ever come.
pub(crate) async fn known_source(app: &App, wanted: Option<i64>) -> Result<Option<SourceId>, Failure> {
    let Some(id) = wanted.map(SourceId) else { return Ok(None) };
    let found = app.with_store(move |store| store.source(id)).await?;
    found.map(|source| Some(source.id)).ok_or_else(|| StoreError::NoSuchSource(id).into())
}

/// The position of a reader in the stream, and what it wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamPosition {
    /// It has seen everything up to here.
    pub(crate) after: Cursor,
    /// It wants only this source.
    pub(crate) source: Option<SourceId>,
}

/// What comes after a position.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) changes: Vec<ChangeResponse>,
    /// The position after the page.
    pub(crate) next: Cursor,
    /// Set when changes after the position have been removed: up to here nothing is left.
    pub(crate) gone_until: Option<Cursor>,
}

/// What the store has after a position.
#[derive(Debug)]
pub(crate) struct Gathered {
    changes: Vec<Change>,
    limit: u32,
    range: CursorRange,
}

impl StreamPosition {
    /// Reads at most `limit` changes.
    pub(crate) async fn read(self, app: &App, limit: u32) -> Result<Page, Failure> {
        self.page_of(app.with_store(move |store| self.gather(store, limit)).await?)
    }

    /// What the store has after the position.
    pub(crate) fn gather(self, store: &dyn Store, limit: u32) -> Result<Gathered, StoreError> {
        let query = ChangeQuery { after: self.after, source: self.source, limit };
        // The newest cursor is read before the changes and the oldest after them: what is committed in between is left
        // for the next page, and what is pruned in between is noticed.
        let newest = store.cursor_range()?.newest;
        let changes = store.changes(&query)?;
        Ok(Gathered { changes, limit, range: CursorRange { oldest: store.cursor_range()?.oldest, newest } })
    }

    /// The page for a reader at the position.
    pub(crate) fn page_of(self, gathered: Gathered) -> Result<Page, Failure> {
        let Gathered { changes, limit, range } = gathered;
        let newest = range.newest;
        if self.after > newest {
            return Err(ahead(self.after.0, "change", newest.0));
        }
        let changes: Vec<ChangeResponse> = changes.into_iter().map(ChangeResponse::from).collect();
        let last = changes.last().map_or(self.after, |change| Cursor(change.cursor));
        let is_full = changes.len() == limit as usize;
        let next = if is_full { last } else { last.max(newest) };
        let gone_until = self.gone_until(range, changes.first());
        Ok(Page { changes, next, gone_until })
    }

    /// Up to where changes that the reader has not seen were removed. A reader from the start wants what there is.
    fn gone_until(self, range: CursorRange, first: Option<&ChangeResponse>) -> Option<Cursor> {
        let before_oldest = Cursor(range.oldest.0 - 1);
        let first = first.map(|change| change.cursor);
        if self.after == Cursor::START || before_oldest <= self.after || first == Some(self.after.0 + 1) {
            return None;
        }
        Some(first.map_or(before_oldest, |first| before_oldest.min(Cursor(first - 1))))
    }
}

/// The error for a reader of a list whose next changes have been removed.
pub(crate) fn pruned(what: &str, after: i64, gone_until: i64) -> Failure {
    Failure::new(
        StatusCode::GONE,
        "cursor_pruned",
        format!("{what} after {after} up to {gone_until} have been removed"),
        format!("continue with after={gone_until}"),
    )
    .resume_after(gone_until)
}

/// The error for a reader whose cursor is not there yet.
pub(crate) fn ahead(after: i64, what: &str, newest: i64) -> Failure {
    let message = format!("cursor {after} is ahead of the newest {what}, {newest}");
    Failure::new(
        StatusCode::BAD_REQUEST,
        "cursor_ahead",
        message,
        "the cursor comes from another store or a later backup; start again from 0",
    )
    .resume_after(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_what_was_removed_after_the_position_of_a_reader() {
        let gone = |after: i64, oldest: i64| {
            let position = StreamPosition { after: Cursor(after), source: None };
            position
                .gone_until(CursorRange { oldest: Cursor(oldest), newest: Cursor(20) }, None)
                .map(|at| at.0)
        };
        assert_eq!(gone(5, 10), Some(9));
        assert_eq!(gone(9, 10), None, "the next one is there");
        assert_eq!(gone(20, 21), None, "nothing was left to read");
        assert_eq!(gone(0, 10), None, "from the start means from what there is");
    }

    #[test]
    fn what_was_read_before_it_was_removed_is_not_missed() {
        let page = |first: i64| {
            let time = dunlin_core::Time::from_seconds(1_700_000_000);
            let found = dunlin_store::NewChange {
                kind: "added".to_owned(),
                item: None,
                summary: String::new(),
                detail: Vec::new(),
                happened_after: None,
                happened_before: time,
            };
            let (cursor, url, name) = (Cursor(first), "https://a.example/".to_owned(), String::new());
            let change =
                Change { cursor, source: SourceId(1), url, name, version: None, detected: time, found };
            // The changes were read, then those up to 9 were removed.
            let range = CursorRange { oldest: Cursor(10), newest: Cursor(20) };
            let position = StreamPosition { after: Cursor(5), source: None };
            position.page_of(Gathered { changes: vec![change], limit: 1, range }).unwrap_or_else(|_| panic!())
        };
        assert_eq!((page(6).gone_until, page(6).next), (None, Cursor(6)), "it has the very next one");
        assert_eq!(page(8).gone_until, Some(Cursor(7)));
        assert_eq!(page(12).gone_until, Some(Cursor(9)));
    }
}
