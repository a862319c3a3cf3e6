//! What a request must pass before it reaches a route: the host it asks for, its token, the clock. Also what every answer
//! carries. Nothing here knows what a route does.

pub(crate) mod hosts;

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::failure::Failure;
use crate::tokens;

/// Answers requests for known hosts only: a web page that points its own name at this address gets nothing.
pub(crate) async fn known_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    // A request may name its host twice; then both must be known.
    let in_target = request.uri().authority().map(Authority::as_str);
    let is_known = |name: Option<&str>| name.is_some_and(|name| app.hosts.knows(name));
    if is_known(named.or(in_target)) && in_target.is_none_or(|name| app.hosts.knows(name)) {
        return next.run(request).await;
    }
    Failure::new(
        StatusCode::MISDIRECTED_REQUEST,
        "unknown_host",
        format!("this server is not `{}`", named.or(in_target).unwrap_or("")),
        "use localhost or the address itself, or add the name to host_names in the configuration",
    )
    .into_response()
}

/// Lets through who has a token.
pub(crate) async fn token(State(app): State<App>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = given
        .and_then(|text| text.split_once(' '))
        .and_then(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned()));
    let Some(token) = token else {
        let hint = "send the header Authorization: Bearer TOKEN; make a token with dunlin token create NAME";
        return Failure::new(StatusCode::UNAUTHORIZED, "no_token", "a token is needed", hint).into_response();
    };
    match app.checking(move |store| tokens::check(store, &token)).await {
        Ok(Some(_)) => next.run(request).await,
        Ok(None) => {
            let hint = "check that it is complete and not revoked; dunlin token create NAME makes another";
            Failure::new(StatusCode::UNAUTHORIZED, "bad_token", "the token is not valid", hint)
                .into_response()
        }
        Err(failure) => failure.into_response(),
    }
}

/// Gives up on a request that takes too long.
pub(crate) async fn time_limit(State(app): State<App>, request: Request, next: Next) -> Response {
    let answered = tokio::time::timeout(app.options.request_time, next.run(request)).await;
    answered.unwrap_or_else(|_| {
        Failure::busy("timed_out", "the request took too long", "try again later, or ask for less")
            .into_response()
    })
}

/// Counts every answer, and adds what browsers should know about it.
pub(crate) async fn account(State(app): State<App>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let mut response = next.run(request).await;
    app.served.count(route.as_deref(), &method, response.status(), begun.elapsed());
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ];
    for (name, value) in fixed {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// What nobody serves.
pub(crate) async fn no_such_route(uri: Uri) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "no_such_route",
        format!("nothing is served at {}", uri.path()),
        "/api/v1/openapi.json lists what is",
    )
}

/// A route that is served, but not like this.
pub(crate) async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "wrong_method",
        format!("{method} is not possible at {}", uri.path()),
        "/api/v1/openapi.json lists what is",
    )
}
