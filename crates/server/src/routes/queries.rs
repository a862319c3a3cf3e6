//! Continuous queries: installed, listed, shown, edited, paused, removed, and how each is doing.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use dunlin_engine::clock::now;
use dunlin_engine::queries::{query, rehearse};
use dunlin_store::{QueryFilter, QueryId, StoredQuery};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::input::{Body, Id, Params, page_size};
use crate::responses::query::{QueryExplanationResponse, QueryResponse};
use crate::responses::rehearsal::RehearsalResponse;

/// Which queries to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Those after this one: `next` of the page before.
    after: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
}

/// A page of queries.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Queries {
    queries: Vec<QueryResponse>,
    /// To be sent as `after` for the next page; null when this is the last.
    next: Option<i64>,
}

/// A query to install.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryRequest {
    /// One query, as docs/query-language.md has it.
    text: String,
    /// Install it without letting it run.
    #[serde(default)]
    paused: bool,
}

/// A query to try.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TestRequest {
    /// One query, as docs/query-language.md has it.
    text: String,
}

/// What to change about a query.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryEdit {
    /// Another text. The query begins anew, and keeps its results.
    #[serde(default)]
    text: Option<String>,
    /// Whether it is paused.
    #[serde(default)]
    paused: Option<bool>,
}

/// Lists queries by number.
#[utoipa::path(get, path = "/queries", tag = "queries", params(ListParams), responses((status = 200, body = Queries)))]
pub(super) async fn list(
    State(app): State<App>,
    Params(params): Params<ListParams>,
) -> Result<Json<Queries>, Failure> {
    let limit = page_size(params.limit, 100, 1_000)?;
    let filter = QueryFilter { after: params.after.map(QueryId), limit };
    // What a query weighs and when it ends is in its text, which is read here as well.
    let list = app.with_store(move |store| {
        let queries = store.queries(&filter)?;
        let next = queries.last().filter(|_| queries.len() == limit as usize).map(|query| query.id.0);
        Ok::<_, dunlin_store::Error>(Queries { queries: queries.into_iter().map(shown).collect(), next })
    });
    Ok(Json(list.await?))
}

fn shown(query: StoredQuery) -> QueryResponse {
    QueryResponse::of(query, now())
}

/// Installs a query. 422 says where its text is wrong: `line` and `column`, and all errors in `errors`.
#[utoipa::path(post, path = "/queries", tag = "queries", request_body = QueryRequest,
    responses((status = 201, body = QueryResponse)))]
pub(super) async fn add(
    State(app): State<App>,
    Body(request): Body<QueryRequest>,
) -> Result<impl IntoResponse, Failure> {
    let mut query = app.engine.add_query(request.text).await?;
    if request.paused {
        query = app.engine.pause_query(query.id, true).await?;
    }
    let location = format!("/api/v1/queries/{}", query.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(shown(query))))
}

/// Says what a query would have captured of what is stored, with probes to spare. Installs nothing.
#[utoipa::path(post, path = "/queries/test", tag = "queries", request_body = TestRequest,
    responses((status = 200, body = RehearsalResponse)))]
pub(super) async fn test(
    State(app): State<App>,
    Body(request): Body<TestRequest>,
) -> Result<Json<RehearsalResponse>, Failure> {
    let settings = app.engine.settings().clone();
    let rehearsed = app.heavily(move |store| rehearse(&request.text, store, &settings, now())).await?;
    Ok(Json(RehearsalResponse::from(rehearsed)))
}

/// Shows a query.
#[utoipa::path(get, path = "/queries/{id}", tag = "queries", params(("id" = i64, Path)),
    responses((status = 200, body = QueryResponse)))]
pub(super) async fn show(State(app): State<App>, Id(id): Id) -> Result<Json<QueryResponse>, Failure> {
    Ok(Json(shown(app.with_store(move |store| query(store, QueryId(id))).await?)))
}

/// Changes a query; also pauses and resumes it.
#[utoipa::path(patch, path = "/queries/{id}", tag = "queries", params(("id" = i64, Path)),
    request_body = QueryEdit, responses((status = 200, body = QueryResponse)))]
pub(super) async fn edit(
    State(app): State<App>,
    Id(id): Id,
    Body(request): Body<QueryEdit>,
) -> Result<Json<QueryResponse>, Failure> {
    let id = QueryId(id);
    let mut present = app.with_store(move |store| query(store, id)).await?;
    if let Some(text) = request.text {
        present = app.engine.edit_query(id, text).await?;
    }
    if let Some(is_paused) = request.paused.filter(|is_paused| *is_paused != present.paused.is_some()) {
        present = app.engine.pause_query(id, is_paused).await?;
    }
    Ok(Json(shown(present)))
}

/// Removes a query with its results, and the sources that were there for it alone.
#[utoipa::path(delete, path = "/queries/{id}", tag = "queries", params(("id" = i64, Path)),
    responses((status = 204)))]
pub(super) async fn remove(State(app): State<App>, Id(id): Id) -> Result<StatusCode, Failure> {
    app.engine.remove_query(QueryId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Says how a query is doing: when it begins next, what it waits for, what it reads.
#[utoipa::path(get, path = "/queries/{id}/explain", tag = "queries", params(("id" = i64, Path)),
    responses((status = 200, body = QueryExplanationResponse)))]
pub(super) async fn explain(
    State(app): State<App>,
    Id(id): Id,
) -> Result<Json<QueryExplanationResponse>, Failure> {
    let id = QueryId(id);
    let present = app.with_store(move |store| query(store, id)).await?;
    let report = app.engine.explain_query(id).await?;
    Ok(Json(QueryExplanationResponse::of(shown(present), report)))
}
