//! Versions of sources: listed, their content as it was captured, and what differs between two.
//!
//! Invariant: nothing captured from a site is ever served as something a browser would run.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use dunlin_store::{Error as StoreError, SourceId, Store, Version, VersionId, VersionQuery};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sources;
use crate::app::App;
use crate::compare::{Compared, Form};
use crate::failure::Failure;
use crate::input::{Id, Params, page_size};
use crate::responses::version::{DifferenceResponse, VersionResponse};

/// Which versions to list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListParams {
    /// Those before this one: `next` of the page before.
    before: Option<i64>,
    /// At most this many; up to 1000, 100 when left out.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<u32>,
}

/// A page of versions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Versions {
    versions: Vec<VersionResponse>,
    /// To be sent as `before` for the next page; null when this is the last.
    next: Option<i64>,
}

/// Lists the versions of a source, newest first.
#[utoipa::path(get, path = "/sources/{id}/versions", tag = "versions", params(("id" = i64, Path), ListParams),
    responses((status = 200, body = Versions)))]
pub(super) async fn list(
    State(app): State<App>,
    Id(id): Id,
    Params(params): Params<ListParams>,
) -> Result<Json<Versions>, Failure> {
    let limit = page_size(params.limit, 100, 1_000)?;
    let source = sources::find(&app, SourceId(id)).await?.id;
    let query = VersionQuery { source, before: params.before.map(VersionId), limit };
    let versions = app.with_store(move |store| store.versions(&query)).await?;
    let is_full = versions.len() == limit as usize;
    let next = versions.last().filter(|_| is_full).map(|version| version.id.0);
    Ok(Json(Versions { versions: versions.into_iter().map(VersionResponse::from).collect(), next }))
}

/// Shows a version, without its content.
#[utoipa::path(get, path = "/versions/{id}", tag = "versions", params(("id" = i64, Path)),
    responses((status = 200, body = VersionResponse)))]
pub(super) async fn show(State(app): State<App>, Id(id): Id) -> Result<Json<VersionResponse>, Failure> {
    Ok(Json(app.with_store(move |store| version(store, VersionId(id))).await?.into()))
}

fn version(store: &dyn Store, id: VersionId) -> Result<Version, StoreError> {
    store.version(id)?.ok_or(StoreError::NoSuchVersion(id))
}

/// Gives the bytes of a version: text as plain text, anything else as a file to save.
#[utoipa::path(get, path = "/versions/{id}/content", tag = "versions", params(("id" = i64, Path)),
    responses((status = 200, content(
        (String = "text/plain"), (Vec<u8> = "application/octet-stream"),
    ))))]
pub(super) async fn content(State(app): State<App>, Id(id): Id) -> Result<Response, Failure> {
    let id = VersionId(id);
    let read = app.heavily(move |store| Ok::<_, StoreError>((version(store, id)?, store.content(id)?)));
    let (version, content) = read.await?;
    let disposition = format!("attachment; filename=\"version-{id}\"");
    Ok(match plain_type(&version.media_type) {
        Some(plain) => ([(header::CONTENT_TYPE, plain)], content).into_response(),
        None => (
            [
                (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
                (header::CONTENT_DISPOSITION, disposition),
            ],
            content,
        )
            .into_response(),
    })
}

/// The harmless type as which text is served, in its own character set; `None` for what is not text.
fn plain_type(media_type: &str) -> Option<String> {
    let lower = media_type.to_ascii_lowercase();
    let (essence, parameters) = lower.split_once(';').unwrap_or((&lower, ""));
    let essence = essence.trim();
    let is_text = essence.starts_with("text/")
        || essence.ends_with("+xml")
        || essence.ends_with("+json")
        || matches!(essence, "application/json" | "application/xml");
    let charset = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("charset="));
    let charset = charset.map(|name| name.trim_matches('"')).filter(|name| {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        !name.is_empty() && name.len() <= 40 && name.bytes().all(is_fit)
    });
    is_text.then(|| format!("text/plain; charset={}", charset.unwrap_or("utf-8")))
}

/// What to compare a version with.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Against {
    /// Another version of the same source; the one before when left out.
    against: Option<i64>,
    /// Whether to show the lines side by side as well.
    rows: bool,
}

/// Says what differs between a version and another, in what is read of them. With `Accept: text/plain`, as `diff -u` does.
#[utoipa::path(get, path = "/versions/{id}/diff", tag = "versions", params(("id" = i64, Path), Against),
    responses((status = 200, content(
        (DifferenceResponse = "application/json"), (String = "text/plain"),
    ))))]
pub(super) async fn difference(
    State(app): State<App>,
    Id(id): Id,
    Params(Against { against, rows }): Params<Against>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let settings = app.engine.settings().clone();
    let form = if rows { Form::WordsAndRows } else { Form::Words };
    let wants_text = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accepted| accepted.trim_start().starts_with("text/plain"));
    app.heavily(move |store| {
        let compared = Compared::read(store, &settings, VersionId(id), against.map(VersionId))?;
        Ok::<_, Failure>(if wants_text {
            compared.unified().into_response()
        } else {
            Json(compared.to_response(form)).into_response()
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_served_as_plain_text_and_the_rest_not_at_all() {
        let plain = |media_type: &str| plain_type(media_type);
        assert_eq!(plain("text/html; charset=ISO-8859-1").unwrap(), "text/plain; charset=iso-8859-1");
        assert_eq!(plain("application/atom+xml").unwrap(), "text/plain; charset=utf-8");
        assert_eq!(plain("text/html; charset=\"a b\r\nx\"").unwrap(), "text/plain; charset=utf-8");
        assert_eq!(plain("image/png"), None);
        assert_eq!(plain(""), None);
    }
}
