//! What a stream follows: changes, or the results of one query. A position, what comes after it as events, and how to hear of more.

use std::fmt::Write as _;

use dunlin_engine::queries::query;
use dunlin_store::{Cursor, QueryId, ResultCursor, ResultFilter, SourceId};
use serde_json::json;
use tokio::sync::watch;

use crate::app::App;
use crate::failure::Failure;
use crate::listing;
use crate::pages::{Page, StreamPosition, ahead};

/// Events read at a time.
const PAGE: u32 = 100;

/// What a stream follows, and how far it is.
pub(super) enum Followed {
    Changes { position: StreamPosition, newest: watch::Receiver<Cursor> },
    Results { query: QueryId, after: ResultCursor, newest: watch::Receiver<ResultCursor> },
}

/// What comes next.
pub(super) enum Next {
    /// So many events, as they are sent; none if there is nothing new.
    Events { text: String, n_events: u64 },
    /// Nothing ever.
    Ended,
}

impl Followed {
    /// Changes after a cursor, or from now on. An invalid position is refused before the stream begins.
    pub(super) async fn changes(
        app: &App,
        source: Option<SourceId>,
        after: Option<i64>,
    ) -> Result<Self, Failure> {
        let after = match after {
            Some(after) => {
                StreamPosition { after: Cursor(after), source }.read(app, 1).await?;
                Cursor(after)
            }
            None => app.with_store(|store| store.cursor_range()).await?.newest,
        };
        Ok(Self::Changes { position: StreamPosition { after, source }, newest: app.engine.newest_cursor() })
    }

    /// Results of a query after a cursor, or from now on.
    pub(super) async fn results(app: &App, id: QueryId, after: Option<i64>) -> Result<Self, Failure> {
        app.with_store(move |store| query(store, id)).await?;
        let newest = app.with_store(|store| store.newest_result()).await?;
        let after = after.map_or(newest, ResultCursor);
        if after > newest {
            return Err(ahead(after.0, "result", newest.0));
        }
        Ok(Self::Results { query: id, after, newest: app.engine.newest_result() })
    }

    /// The cursor up to which all is sent.
    pub(super) const fn position(&self) -> i64 {
        match self {
            Self::Changes { position, .. } => position.after.0,
            Self::Results { after, .. } => after.0,
        }
    }

    /// What comes next; the position moves past it.
    pub(super) async fn next(&mut self, app: &App) -> Result<Next, Failure> {
        match self {
            Self::Changes { position, newest } => {
                newest.borrow_and_update();
                let page = position.read(app, PAGE).await?;
                let text = events(position.after, &page);
                position.after = page.next;
                Ok(Next::Events { text, n_events: page.changes.len() as u64 })
            }
            Self::Results { query: id, after, newest } => {
                newest.borrow_and_update();
                let filter = ResultFilter { after: *after, query: Some(*id), limit: PAGE };
                let id = *id;
                let read = app.with_store(move |store| {
                    let is_there = store.query(id)?.is_some();
                    Ok::<_, dunlin_store::Error>((is_there, listing::results(store, &filter)?))
                });
                let (is_there, page) = read.await?;
                if !is_there {
                    return Ok(Next::Ended);
                }
                let mut text = String::new();
                if let Some(until) = page.gone_until {
                    gap(&mut text, after.0, until.0);
                }
                for result in &page.results {
                    append(
                        &mut text,
                        result.cursor,
                        "result",
                        &serde_json::to_string(result).unwrap_or_default(),
                    );
                }
                *after = page.next.max(page.gone_until.unwrap_or(page.next));
                Ok(Next::Events { text, n_events: page.results.len() as u64 })
            }
        }
    }

    /// Until there may be more.
    pub(super) async fn changed(&mut self) {
        let heard = match self {
            Self::Changes { newest, .. } => newest.changed().await,
            Self::Results { newest, .. } => newest.changed().await,
        };
        if heard.is_err() {
            // The engine has stopped, and the stream hears of that by itself.
            std::future::pending::<()>().await;
        }
    }
}

/// A page as events.
fn events(after: Cursor, page: &Page) -> String {
    let mut text = String::new();
    if let Some(until) = page.gone_until {
        gap(&mut text, after.0, until.0);
    }
    for change in &page.changes {
        // A change is plain values, which can always be written; without line breaks, so it is one line of data.
        let data = serde_json::to_string(change).unwrap_or_default();
        append(&mut text, change.cursor, "change", &data);
    }
    text
}

fn gap(text: &mut String, after: i64, until: i64) {
    append(text, until, "gap", &json!({ "after": after, "resume_after": until }).to_string());
}

fn append(text: &mut String, id: i64, event: &str, data: &str) {
    // Writing to a string cannot fail.
    let _ = write!(text, "id: {id}\nevent: {event}\ndata: {data}\n\n");
}
