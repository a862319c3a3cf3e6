//! Health checks for supervisors, and metrics for Prometheus. Needs no token: nothing here names a source.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use dunlin_engine::clock::now;

/// All is well.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Well {
    #[schema(value_type = String, example = "ok")]
    status: &'static str,
}

/// Whether decisions are being made. If not, a restart may help.
#[utoipa::path(get, path = "/healthz", tag = "service", security(()),
    responses((status = 200, body = Well), (status = 503, description = "Not alive")))]
pub(super) async fn alive(State(app): State<App>) -> Result<Json<Well>, Failure> {
    let health = app.engine.health();
    if health.is_alive(now()) {
        return Ok(Json(Well { status: "ok" }));
    }
    let message = if health.is_stopping { "the engine is stopping" } else { "the engine makes no decisions" };
    Err(Failure::busy("not_alive", message, "look at the log; restart the service if this stays"))
}

/// Whether sources are captured: the store can be written, the network works, nothing stands still. The message says what
/// fails.
#[utoipa::path(get, path = "/readyz", tag = "service", security(()),
    responses((status = 200, body = Well), (status = 503, description = "Not ready")))]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Well>, Failure> {
    let health = app.engine.health();
    let standstill = app.engine.standstill();
    let accepting = app.served.accepting.trouble(now());
    let is_well = health.is_well(now()) && standstill.is_none() && accepting.is_none();
    if is_well && !*app.stopping.borrow() {
        return Ok(Json(Well { status: "ok" }));
    }
    if health.is_stopping || *app.stopping.borrow() {
        return Err(Failure::busy("not_ready", "the service is stopping", "start it again"));
    }
    let store = health.store_trouble.map(|trouble| format!("the store cannot be written: {trouble}"));
    let network = health.network_trouble.map(|trouble| format!("nothing can be fetched: {trouble}"));
    let accepting = accepting.map(|trouble| format!("connections cannot be accepted: {trouble}"));
    if let Some(message) = store.or(network).or(accepting) {
        let hint = "free disk space, mend the network, or raise the limit on open files, as the message says";
        return Err(Failure::busy("not_ready", &message, hint));
    }
    let (message, hint) = standstill.map_or_else(
        || ("the engine makes no decisions".to_owned(), "look at the log; restart the service if this stays"),
        |standstill| (format!("nothing is captured: {standstill}"), standstill.hint()),
    );
    Err(Failure::busy("not_ready", &message, hint))
}

/// Counters and gauges.
#[utoipa::path(get, path = "/metrics", tag = "service", security(()),
    responses((status = 200, content((String = "text/plain"), (String = "application/openmetrics-text")))))]
pub(super) async fn metrics(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Failure> {
    let text = app.served.written(app.engine.stats());
    let text = text.map_err(|_| Failure::internal("the metrics could not be written"))?;
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let content_type = if accepted.contains("application/openmetrics-text") {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; version=0.0.4; charset=utf-8"
    };
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, content_type)], text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use dunlin_engine::{Engine, Settings};
    use dunlin_store::SqliteStore;
    use tokio::sync::watch;

    use super::*;
    use crate::Options;

    #[tokio::test]
    async fn a_service_that_cannot_accept_connections_is_not_ready_and_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let settings = Settings { chronon: Duration::from_millis(5), ..Settings::default() };
        let engine = Engine::start(store, settings).await.unwrap();
        let (_stop, stopping) = watch::channel(false);
        let app = App::new(engine.handle(), Options::default(), stopping);
        let getting_ready = async {
            let mut polls = tokio::time::interval(Duration::from_millis(5));
            while ready(State(app.clone())).await.is_err() {
                polls.tick().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), getting_ready).await.expect("ready, some time");
        app.served.accepting.failed(&std::io::Error::other("too many open files"), now());
        let refused = ready(State(app)).await.expect_err("not ready").into_response();
        assert_eq!(refused.status(), 503);
        let body = axum::body::to_bytes(refused.into_body(), 10_000).await.unwrap();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("connections cannot be accepted: too many open files"), "{text}");
        engine.stop().await.unwrap();
    }
}
