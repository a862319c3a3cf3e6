//! Sources: listed, added (one or many), shown, changed, paused, removed.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use dunlin_store::{Error as StoreError, Source, SourceId, SourceQuery, SourceScope};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::{ErrorBody, Failure};
use crate::input::{Body, Id, Params, or_empty, page_size};
use crate::responses::source::SourceResponse;
use crate::source_request::SourceRequest;
use crate::source_request::schema::{NewSourceSchema, SourceEditSchema};
use dunlin_engine::clock::now;

/// Concurrent additions of one bulk call; the store writes those that wait together.
const BULK_AT_ONE_TIME: usize = 16;

/// Which sources to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Those after this one: `next` of the page before.
    after: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
    /// Only those with this tag.
    #[serde(deserialize_with = "or_empty")]
    tag: Option<String>,
    /// Only those at this address.
    #[serde(deserialize_with = "or_empty")]
    url: Option<String>,
    /// Also those that are there for queries only.
    #[serde(default)]
    for_queries: bool,
}

/// A page of sources.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Sources {
    sources: Vec<SourceResponse>,
    /// To be sent as `after` for the next page; null when this is the last.
    next: Option<i64>,
}

/// Lists sources by number.
#[utoipa::path(get, path = "/sources", tag = "sources", params(ListParams), responses((status = 200, body = Sources)))]
pub(super) async fn list(
    State(app): State<App>,
    Params(params): Params<ListParams>,
) -> Result<Json<Sources>, Failure> {
    let limit = page_size(params.limit, 100, 1_000)?;
    let scope = if params.for_queries { SourceScope::All } else { SourceScope::Watched };
    let after = params.after.map(SourceId);
    let query = SourceQuery { after, url: params.url, tag: params.tag, scope, limit };
    let sources = app.with_store(move |store| store.sources(&query)).await?;
    let is_full = sources.len() == limit as usize;
    let next = sources.last().filter(|_| is_full).map(|source| source.id.0);
    Ok(Json(Sources { sources: sources.into_iter().map(SourceResponse::from).collect(), next }))
}

/// Watches a source from now on.
#[utoipa::path(post, path = "/sources", tag = "sources", request_body = NewSourceSchema,
    responses((status = 201, body = SourceResponse)))]
pub(super) async fn add(
    State(app): State<App>,
    Body(request): Body<SourceRequest>,
) -> Result<impl IntoResponse, Failure> {
    let source = add_one(&app, request).await?;
    let location = format!("/api/v1/sources/{}", source.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(SourceResponse::from(source))))
}

async fn add_one(app: &App, request: SourceRequest) -> Result<Source, Failure> {
    let pause = request.is_paused();
    let source = app.engine.add_source(request.into_new(now())?).await?;
    if !pause {
        return Ok(source);
    }
    let edit = dunlin_store::SourceEdit { paused: Some(Some(now())), ..Default::default() };
    Ok(app.engine.edit_source(source.id, edit).await?)
}

/// Sources to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkRequest {
    sources: Vec<SourceRequest>,
}

/// What came of each, in the order given.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AddedMany {
    results: Vec<Added>,
    /// How many were added.
    added: usize,
}

/// What came of one of many.
#[derive(Debug, Serialize, ToSchema)]
struct Added {
    /// What adding it alone would have answered.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<SourceResponse>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

/// Adds many sources, each by itself: one that cannot be added does not keep the others out.
#[utoipa::path(post, path = "/sources/bulk", tag = "sources", request_body = BulkRequest,
    responses((status = 200, body = AddedMany)))]
pub(super) async fn add_many(
    State(app): State<App>,
    Body(request): Body<BulkRequest>,
) -> Result<Json<AddedMany>, Failure> {
    let most = app.options.max_bulk;
    if request.sources.len() > most {
        let message = format!("sources: {} are too many for one call", request.sources.len());
        return Err(Failure::bad_value(message, format!("send at most {most} at a time")));
    }
    let adding = futures_util::stream::iter(request.sources).map(|source| add_one(&app, source));
    let results: Vec<Added> = adding
        .buffered(BULK_AT_ONE_TIME)
        .map(|added| match added {
            Ok(source) => Added { status: 201, source: Some(source.into()), error: None },
            Err(failure) => {
                Added { status: failure.status().as_u16(), source: None, error: Some(failure.into_body()) }
            }
        })
        .collect()
        .await;
    let added = results.iter().filter(|result| result.source.is_some()).count();
    Ok(Json(AddedMany { results, added }))
}

/// Shows a source.
#[utoipa::path(get, path = "/sources/{id}", tag = "sources", params(("id" = i64, Path)),
    responses((status = 200, body = SourceResponse)))]
pub(super) async fn show(State(app): State<App>, Id(id): Id) -> Result<Json<SourceResponse>, Failure> {
    Ok(Json(find(&app, SourceId(id)).await?.into()))
}

/// The source, or the failure that says there is none.
pub(super) async fn find(app: &App, id: SourceId) -> Result<Source, Failure> {
    app.with_store(move |store| store.source(id)?.ok_or(StoreError::NoSuchSource(id))).await
}

/// Changes a source; also pauses and resumes it.
#[utoipa::path(patch, path = "/sources/{id}", tag = "sources", params(("id" = i64, Path)),
    request_body = SourceEditSchema, responses((status = 200, body = SourceResponse)))]
pub(super) async fn edit(
    State(app): State<App>,
    Id(id): Id,
    Body(request): Body<SourceRequest>,
) -> Result<Json<SourceResponse>, Failure> {
    // Two edits of one recipe at the same time would lose one of them.
    let editing = app.editing.lock().await;
    let present = find(&app, SourceId(id)).await?;
    let edit = request.into_edit(&present, now())?;
    let source = app.engine.edit_source(SourceId(id), edit).await?;
    drop(editing);
    Ok(Json(source.into()))
}

/// Forgets a source and everything captured from it.
#[utoipa::path(delete, path = "/sources/{id}", tag = "sources", params(("id" = i64, Path)),
    responses((status = 204)))]
pub(super) async fn remove(State(app): State<App>, Id(id): Id) -> Result<StatusCode, Failure> {
    app.engine.remove_source(SourceId(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
