//! What queries captured and what they missed, as lists: durable, ordered by cursor, a page at a time.

use axum::Json;
use axum::extract::State;
use dunlin_engine::queries::query;
use dunlin_store::{QueryId, ResultCursor, ResultFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::input::{Id, Params, page_size, result_cursor};
use crate::listing;
use crate::responses::query::{MissResponse, ResultResponse};

/// Which results or misses to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Those after this cursor: `next` of the page before. From the oldest when left out.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
}

impl ListParams {
    fn filter(&self, query: i64) -> Result<ResultFilter, Failure> {
        let after = result_cursor(self.after)?.unwrap_or(ResultCursor::START);
        Ok(ResultFilter { after, query: Some(QueryId(query)), limit: page_size(self.limit, 100, 1_000)? })
    }
}

/// A page of results.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Results {
    results: Vec<ResultResponse>,
    /// To be sent as `after` for what follows, now or later.
    next: i64,
}

/// A page of misses.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Missed {
    missed: Vec<MissResponse>,
    /// To be sent as `after` for what follows, now or later.
    next: i64,
}

/// Lists the results of a query by cursor. 410 when results after the cursor have been removed; the error says from where to
/// resume.
#[utoipa::path(get, path = "/queries/{id}/results", tag = "queries", params(("id" = i64, Path), ListParams),
    responses((status = 200, body = Results), (status = 410, description = "Results have been removed")))]
pub(super) async fn results(
    State(app): State<App>,
    Id(id): Id,
    Params(params): Params<ListParams>,
) -> Result<Json<Results>, Failure> {
    let filter = params.filter(id)?;
    let after = filter.after;
    let read = app.with_store(move |store| {
        query(store, QueryId(id))?;
        Ok::<_, dunlin_engine::Error>(listing::results(store, &filter)?)
    });
    let page = read.await?.for_list(after)?;
    Ok(Json(Results { results: page.results, next: page.next.0 }))
}

/// Lists the instances of a query that could not be captured, with what was missed of each and why.
#[utoipa::path(get, path = "/queries/{id}/missed", tag = "queries", params(("id" = i64, Path), ListParams),
    responses((status = 200, body = Missed)))]
pub(super) async fn missed(
    State(app): State<App>,
    Id(id): Id,
    Params(params): Params<ListParams>,
) -> Result<Json<Missed>, Failure> {
    let filter = params.filter(id)?;
    let after = filter.after;
    let read = app.with_store(move |store| {
        query(store, QueryId(id))?;
        Ok::<_, dunlin_engine::Error>(listing::missed(store, &filter)?)
    });
    let listing::MissPage { missed, next, .. } = read.await?.for_list(after)?;
    Ok(Json(Missed { missed, next }))
}
