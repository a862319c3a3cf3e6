//! Changes, or results of a query, as Server-Sent Events: each once, in order, from where the reader left off.
//!
//! Invariant: a stream holds at most one page. The next one is read when the connection has taken the last, so a slow
//! reader costs no memory; it falls behind in the store, which is where the changes are.

mod followed;

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dunlin_store::QueryId;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, watch};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::gate::holder::Holder;
use crate::input::{Params, cursor};
use crate::pages::known_source;
use crate::responses::change::ChangeResponse;
use crate::responses::query::ResultResponse;

use self::followed::{Followed, Next};

/// How long to wait after the store failed before asking it again.
const PAUSE: Duration = Duration::from_secs(1);

/// Which changes to follow.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StreamParams {
    /// From after this cursor on; `Last-Event-ID` goes before it. From now on when both are left out.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Only changes of this source.
    source: Option<i64>,
    /// Not changes, but the results of this query. Cursors are then those of results.
    query: Option<i64>,
}

/// The data of an event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is sent, for the document")]
enum StreamedEvent {
    Change(Box<ChangeResponse>),
    Result(ResultResponse),
}

/// Follows changes as Server-Sent Events. The id of an event is its cursor; an event `change` has a change as its data; an
/// event `gap` says that changes have been removed that the reader has not seen. With `query`, an event `result` has a result
/// of that query as its data, and the stream ends when the query is removed.
#[utoipa::path(get, path = "/stream", tag = "changes",
    params(StreamParams, ("Last-Event-ID" = Option<i64>, Header, minimum = 0, description = "The last cursor that was seen")),
    responses((status = 200, content_type = "text/event-stream", body = StreamedEvent)))]
pub(super) async fn follow(
    State(app): State<App>,
    Params(params): Params<StreamParams>,
    Extension(holder): Extension<Holder>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if params.source.is_some() && params.query.is_some() {
        return Err(Failure::bad_parameter(
            "source and query: a result may come from several sources; give one of the two",
        ));
    }
    let permit = app.streams.clone().try_acquire_owned().map_err(|_| {
        let hint = "close one, or come back later";
        Failure::busy("too_many_streams", "as many streams are open as there may be", hint)
    })?;
    let source = known_source(&app, params.source).await?;
    let requested = last_event(&headers)?.or(cursor(params.after)?.map(|cursor| cursor.0));
    let wanted = match params.query {
        Some(query) => Followed::results(&app, QueryId(query), requested).await?,
        None => Followed::changes(&app, source, requested).await?,
    };
    let mut first = "retry: 1000\n".to_owned();
    if requested.is_none() {
        // So that a client cut off before the first event does not miss it.
        first = format!("{first}id: {}\n", wanted.position());
    }
    let follower = Follower {
        followed: wanted,
        stopping: app.stopping.clone(),
        holder,
        first: Some(first + "\n"),
        open: Open::new(app, permit),
    };
    let body = Body::from_stream(stream::unfold(follower, |mut follower| async move {
        let text = follower.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), follower))
    }));
    Ok(([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")], body)
        .into_response())
}

fn last_event(headers: &HeaderMap) -> Result<Option<i64>, Failure> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().map(str::trim).filter(|text| !text.is_empty()).map(str::parse);
    match number {
        None => Ok(None),
        Some(Ok(number)) if number >= 0 => Ok(Some(number)),
        Some(_) => Err(Failure::bad_parameter("Last-Event-ID: not a cursor")),
    }
}

/// A slot for an open stream, released when the stream ends.
struct Open {
    app: App,
    _permit: OwnedSemaphorePermit,
}

impl Open {
    fn new(app: App, permit: OwnedSemaphorePermit) -> Self {
        app.served.open_streams.inc();
        Self { app, _permit: permit }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.app.served.open_streams.dec();
    }
}

struct Follower {
    followed: Followed,
    holder: Holder,
    stopping: watch::Receiver<bool>,
    first: Option<String>,
    open: Open,
}

impl Follower {
    /// What to send next; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            // A stopping service stores active probes first, and all their changes are sent.
            let is_stopping = *self.stopping.borrow();
            if self.holder.is_revoked(&self.open.app).await {
                return None;
            }
            let patience = match self.followed.next(&self.open.app).await {
                Ok(Next::Ended) => return None,
                Ok(Next::Events { text, n_events }) => {
                    self.open.app.served.streamed.inc_by(n_events);
                    if !text.is_empty() {
                        return Some(text);
                    }
                    self.open.app.options.keep_alive
                }
                // The reader keeps its position. It gets no error, since it could do nothing about it.
                Err(_) => PAUSE,
            };
            if is_stopping {
                return None;
            }
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|is_stopping| *is_stopping) => {}
                () = self.followed.changed() => {}
                () = self.holder.hear() => {}
                () = tokio::time::sleep(patience) => return Some(": still here\n\n".to_owned()),
            }
        }
    }
}
