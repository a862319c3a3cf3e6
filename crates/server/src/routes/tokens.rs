//! API tokens through the API itself: the store belongs to the running service, so no other process can add one.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::input::Body;
use crate::tokens;
use dunlin_engine::clock::{now, rfc3339};

/// The tokens there are, without their secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Tokens {
    tokens: Vec<TokenResponse>,
}

/// A token without its secret.
#[derive(Debug, Serialize, ToSchema)]
struct TokenResponse {
    name: String,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Lists tokens by name.
#[utoipa::path(get, path = "/tokens", tag = "tokens", responses((status = 200, body = Tokens)))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<Tokens>, Failure> {
    let tokens = app.with_store(tokens::list).await?.into_iter();
    let to_response =
        tokens.map(|token| TokenResponse { name: token.name, created_at: rfc3339(token.created) });
    Ok(Json(Tokens { tokens: to_response.collect() }))
}

/// A token to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenRequest {
    /// What it is for: 1 to 40 letters, digits, dots or hyphens.
    #[schema(pattern = "^[0-9A-Za-z.-]{1,40}$")]
    name: String,
}

/// A new token.
#[derive(Serialize, ToSchema)]
pub(super) struct NewToken {
    name: String,
    /// Shown this once.
    token: String,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Makes a token. It is shown this once.
#[utoipa::path(post, path = "/tokens", tag = "tokens", request_body = TokenRequest,
    responses((status = 201, body = NewToken)))]
pub(super) async fn create(
    State(app): State<App>,
    Body(TokenRequest { name }): Body<TokenRequest>,
) -> Result<(StatusCode, Json<NewToken>), Failure> {
    let (created, given) = (now(), name.clone());
    let editing = app.editing.lock().await;
    let token = app.with_store(move |store| tokens::create(store, &given, created)).await?;
    drop(editing);
    Ok((StatusCode::CREATED, Json(NewToken { name, token, created_at: rfc3339(created) })))
}

/// Revokes a token, and ends the streams that were opened with it. The token of local commands stays.
#[utoipa::path(delete, path = "/tokens/{name}", tag = "tokens", params(("name" = String, Path)),
    responses((status = 204)))]
pub(super) async fn revoke(State(app): State<App>, Path(name): Path<String>) -> Result<StatusCode, Failure> {
    app.with_store(move |store| tokens::revoke(store, &name)).await?;
    app.revoked.send_replace(());
    Ok(StatusCode::NO_CONTENT)
}
