//! What a request must pass before it reaches a route: the host it asks for, its token, the clock. Also what every answer
//! carries. Nothing here knows what a route does.

pub(crate) mod holder;
pub(crate) mod hosts;

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::failure::Failure;
use holder::Holder;

/// Answers requests for known hosts only: a web page that points its own name at this address gets nothing.
pub(crate) async fn known_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let host = match one_host(&request) {
        Ok(host) => host,
        Err(message) => {
            let hint = "send one Host header, and the same host in the request line if there is one in it";
            return Failure::new(StatusCode::BAD_REQUEST, "bad_host", message, hint).into_response();
        }
    };
    if app.hosts.knows(host) {
        return next.run(request).await;
    }
    Failure::new(
        StatusCode::MISDIRECTED_REQUEST,
        "unknown_host",
        format!("this server is not `{host}`"),
        "use localhost or the address itself, or add the name to host_names in the configuration",
    )
    .into_response()
}

/// The one host that a request names: a proxy in front may go by another name than we do if there are two. A request of
/// HTTP/1.0 may name none.
fn one_host(request: &Request) -> Result<&str, &'static str> {
    let mut headers = request.headers().get_all(header::HOST).iter();
    let (named, another) = (headers.next(), headers.next());
    if another.is_some() {
        return Err("there are several Host headers");
    }
    let named = named.map(|value| value.to_str().map_err(|_| "the Host header is not plain text"));
    let in_target = request.uri().authority().map(Authority::as_str);
    match (named.transpose()?, in_target) {
        (Some(named), Some(target)) if !named.trim().eq_ignore_ascii_case(target) => {
            Err("the request line and the Host header name different hosts")
        }
        (Some(named), _) => Ok(named),
        (None, _) if request.version() > Version::HTTP_10 => Err("there is no Host header"),
        (None, target) => Ok(target.unwrap_or_default()),
    }
}

/// Came over one of the connections that are kept for what needs no token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved;

/// Keeps the reserved connections for what they are there for.
pub(crate) async fn room(request: Request, next: Next) -> Response {
    if request.extensions().get::<Reserved>().is_none() {
        return next.run(request).await;
    }
    let hint = "close some, or come back later";
    Failure::busy(
        "too_many_connections",
        "requests are in flight on as many connections as there may be",
        hint,
    )
    .into_response()
}

/// Lets requests with a valid token through.
pub(crate) async fn token(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = given
        .and_then(|text| text.split_once(' '))
        .and_then(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned()));
    let Some(token) = token else {
        let hint = "send the header Authorization: Bearer TOKEN; make a token with dunlin token create NAME";
        return Failure::new(StatusCode::UNAUTHORIZED, "no_token", "a token is needed", hint).into_response();
    };
    // From before the check on, so that no revocation is missed.
    let mut holder = Holder { token, revoked: app.revoked.subscribe() };
    if let Err(failure) = holder.check(&app).await {
        return failure.into_response();
    }
    request.extensions_mut().insert(holder);
    next.run(request).await
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

/// The answer for an unknown route.
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
