//! The budget, and the decisions that spend it.

use axum::Json;
use axum::extract::State;
use dunlin_store::{DecisionId, DecisionQuery};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::input::{Body, Params, newest_only, page_size};
use crate::listing;
use crate::pages::known_source;
use crate::responses::budget::{BudgetResponse, DecisionResponse, NewBudget};
use crate::unit;

/// Says how the budget is used.
#[utoipa::path(get, path = "/budget", tag = "budget", responses((status = 200, body = BudgetResponse)))]
pub(super) async fn budget(State(app): State<App>) -> Result<Json<BudgetResponse>, Failure> {
    let report = app.engine.budget().await;
    let per_second = report.pace.per_second;
    let unit = app.with_store(move |store| unit::of(store, per_second)).await?;
    Ok(Json(BudgetResponse::new(report, unit)))
}

/// Sets the budget for all sources, for now and after every restart.
#[utoipa::path(put, path = "/budget", tag = "budget", request_body = NewBudget,
    responses((status = 200, body = BudgetResponse)))]
pub(super) async fn set_budget(
    State(app): State<App>,
    Body(new): Body<NewBudget>,
) -> Result<Json<BudgetResponse>, Failure> {
    let (pace, unit) = new.pace()?;
    app.engine.set_budget(pace).await?;
    app.with_store(move |store| unit::remember(store, pace.per_second, unit)).await?;
    budget(State(app)).await
}

/// Forgets the budget that was set, and goes back to the one that the service was started with.
#[utoipa::path(delete, path = "/budget", tag = "budget", responses((status = 200, body = BudgetResponse)))]
pub(super) async fn reset_budget(State(app): State<App>) -> Result<Json<BudgetResponse>, Failure> {
    app.engine.set_budget(app.engine.settings().budget).await?;
    app.with_store(dunlin_engine::forget_budget).await?;
    app.with_store(unit::forget).await?;
    budget(State(app)).await
}

/// Which decisions to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Only those about this source.
    source: Option<i64>,
    /// Those after this one: `next` of the page before.
    after: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
    /// Only so many of the newest, up to 1000.
    #[param(minimum = 1, maximum = 1_000)]
    last: Option<u32>,
}

/// A page of decisions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Decisions {
    decisions: Vec<DecisionResponse>,
    /// To be sent as `after` for what follows, now or later; null when nothing has been decided yet.
    next: Option<i64>,
}

/// Lists decisions in the order in which they were taken.
#[utoipa::path(get, path = "/decisions", tag = "budget", params(ListParams),
    responses((status = 200, body = Decisions)))]
pub(super) async fn decisions(
    State(app): State<App>,
    Params(params): Params<ListParams>,
) -> Result<Json<Decisions>, Failure> {
    let source = known_source(&app, params.source).await?;
    let (rows, next) = if let Some(n_last) = newest_only(params.last)? {
        let read = app.with_store(move |store| listing::last_decisions(store, source, n_last));
        let (mut rows, next) = read.await?;
        rows.retain(|row| params.after.is_none_or(|after| row.id.0 > after));
        (rows, next)
    } else {
        let query = DecisionQuery {
            source,
            after: params.after.map(DecisionId),
            ..DecisionQuery::first(page_size(params.limit, 100, 1_000)?)
        };
        app.with_store(move |store| listing::decisions(store, query)).await?
    };
    let decisions = rows.into_iter().filter_map(DecisionResponse::of).collect();
    Ok(Json(Decisions { decisions, next: next.map(|id| id.0) }))
}
