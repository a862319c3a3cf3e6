//! When and why a source is probed, what is expected of it, and requesting a probe.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dunlin_engine::Error as EngineError;
use dunlin_store::SourceId;
use serde::Serialize;
use utoipa::ToSchema;

use super::sources;
use crate::app::App;
use crate::failure::Failure;
use crate::input::Id;
use crate::responses::explanation::{ExplanationResponse, ForecastResponse};

/// Says what is known about a source, what a probe is worth, and when and why the next one will be made.
#[utoipa::path(get, path = "/sources/{id}/explain", tag = "sources", params(("id" = i64, Path)),
    responses((status = 200, body = ExplanationResponse)))]
pub(super) async fn explain(
    State(app): State<App>,
    Id(id): Id,
) -> Result<Json<ExplanationResponse>, Failure> {
    Ok(Json(app.engine.explain(SourceId(id)).await?.into()))
}

/// Says when a source is expected to change.
#[utoipa::path(get, path = "/sources/{id}/forecast", tag = "sources", params(("id" = i64, Path)),
    responses((status = 200, body = ForecastResponse)))]
pub(super) async fn forecast(State(app): State<App>, Id(id): Id) -> Result<Json<ForecastResponse>, Failure> {
    let explained = app.engine.explain(SourceId(id)).await?;
    Ok(Json(ForecastResponse::new(id, &explained.forecast)))
}

/// A probe has been requested.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Queued {
    source: i64,
    #[schema(value_type = String, example = "queued")]
    status: &'static str,
}

/// Requests a probe ahead of others, as soon as the host and the budget allow.
#[utoipa::path(post, path = "/sources/{id}/probe", tag = "sources", params(("id" = i64, Path)),
    responses((status = 202, body = Queued)))]
pub(super) async fn probe(State(app): State<App>, Id(id): Id) -> Result<(StatusCode, Json<Queued>), Failure> {
    // The engine applies a pause after the active probe; the store knows at once.
    if sources::find(&app, SourceId(id)).await?.paused.is_some() {
        return Err(EngineError::Paused(SourceId(id)).into());
    }
    app.engine.probe_now(SourceId(id)).await?;
    Ok((StatusCode::ACCEPTED, Json(Queued { source: id, status: "queued" })))
}
