//! `/proof`: which service this is, for commands that know its data directory and have not yet sent it anything.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::failure::Failure;
use crate::input::Params;
use crate::proof;

/// What to answer to.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Challenge {
    /// 64 hexadecimal digits, chosen at random by the client.
    #[param(pattern = "^[0-9a-fA-F]{64}$")]
    challenge: String,
}

/// The answer to a challenge.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Proof {
    /// The BLAKE3 hash of the challenge, keyed with the token of local commands.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    proof: String,
}

/// Answers a challenge as only the service of a data directory can. 404 for one that was started without a directory.
#[utoipa::path(get, path = "/proof", tag = "service", params(Challenge), security(()),
    responses((status = 200, body = Proof)))]
pub(super) async fn prove(
    State(app): State<App>,
    Params(Challenge { challenge }): Params<Challenge>,
) -> Result<Json<Proof>, Failure> {
    if !proof::is_challenge(&challenge) {
        return Err(Failure::bad_parameter("challenge: expected 64 hexadecimal digits"));
    }
    let Some(token) = &app.options.local_token else {
        let hint = "send a token that you were given for this service";
        return Err(Failure::new(StatusCode::NOT_FOUND, "no_proof", "there is nothing to prove", hint));
    };
    Ok(Json(Proof { proof: proof::answer(&token.0, &challenge) }))
}
