//! Changes as a list: durable, ordered by cursor, a page at a time; on request it waits for the next one.

use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, State};
use dunlin_store::Cursor;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::gate::holder::Holder;
use crate::input::{Params, cursor, newest_only, page_size};
use crate::listing;
use crate::pages::{StreamPosition, known_source, pruned};
use crate::responses::change::ChangeResponse;

/// The longest wait for a change.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Which changes to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Those after this cursor: `next` of the page before. From the oldest when left out.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Only those of this source.
    source: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
    /// Only so many of the newest, up to 1000.
    #[param(minimum = 1, maximum = 1_000)]
    last: Option<u32>,
    /// If there is none yet, wait for one for this many seconds; up to 60.
    #[param(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Changes {
    changes: Vec<ChangeResponse>,
    /// To be sent as `after` for what follows, now or later.
    next: i64,
}

/// Lists changes by cursor. 410 when changes after the cursor have been removed; the error says from where to resume.
#[utoipa::path(get, path = "/changes", tag = "changes", params(ListParams),
    responses((status = 200, body = Changes), (status = 410, description = "Changes have been removed")))]
pub(super) async fn list(
    State(app): State<App>,
    Params(params): Params<ListParams>,
    Extension(mut holder): Extension<Holder>,
) -> Result<Json<Changes>, Failure> {
    let source = known_source(&app, params.source).await?;
    let after = cursor(params.after)?.unwrap_or(Cursor::START);
    if let Some(n_last) = newest_only(params.last)? {
        let read = app.with_store(move |store| listing::last_changes(store, source, n_last));
        let (mut changes, newest) = read.await?;
        changes.retain(|change| change.cursor > after);
        return Ok(Json(Changes {
            changes: changes.into_iter().map(ChangeResponse::from).collect(),
            next: newest.0,
        }));
    }
    let position = StreamPosition { after, source };
    let limit = page_size(params.limit, 100, 1_000)?;
    let wait = Duration::from_secs(params.wait.unwrap_or(0));
    if wait > LONGEST_WAIT {
        return Err(Failure::bad_parameter("wait: at most 60"));
    }
    let deadline = Instant::now() + wait;
    let mut newest = app.engine.newest_cursor();
    let mut stopping = app.stopping.clone();
    loop {
        newest.borrow_and_update();
        let page = position.read(&app, limit).await?;
        if let Some(gone_until) = page.gone_until {
            return Err(pruned("changes", position.after.0, gone_until.0));
        }
        let answer = Json(Changes { changes: page.changes, next: page.next.0 });
        if !answer.changes.is_empty() {
            return Ok(answer);
        }
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(deadline) => return Ok(answer),
            _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(answer),
            Ok(()) = newest.changed() => {}
            () = holder.hear() => {}
        }
        if holder.has_heard() {
            holder.check(&app).await?;
        }
    }
}
