//! The response to a failed request: one status, one stable code, one message, one hint. The only place where
//! errors of other crates become HTTP.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dunlin_engine::{QueryError, Refused};
use serde::Serialize;
use utoipa::ToSchema;

/// The answer to a request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    body: Box<ErrorBody>,
    retry_after: Option<u32>,
}

/// What went wrong, for programs and for people.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// Stable; programs may rely on it.
    #[schema(value_type = String, example = "no_such_source")]
    pub(crate) code: &'static str,
    /// What is wrong, for people.
    pub(crate) message: String,
    /// What to try.
    pub(crate) hint: String,
    /// The cursor to resume from, where changes have been removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resume_after: Option<i64>,
    /// Where in a text the first error is: the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// The character in that line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    /// All that is wrong with a text, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<TextError>,
}

/// Something wrong in a text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TextError {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    message: String,
    /// What may have been meant, or what to try.
    hint: Option<String>,
    /// The bytes of the text concerned: the first one, and the one after the last.
    bytes: (usize, usize),
}

/// Every error has this form.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorResponse {
    pub(crate) error: ErrorBody,
}

impl Failure {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let body = ErrorBody {
            code,
            message: message.into(),
            hint: hint.into(),
            resume_after: None,
            line: None,
            column: None,
            errors: Vec::new(),
        };
        Self { status, body: Box::new(body), retry_after: None }
    }

    /// A text of a query that was refused, with each place.
    fn refused_text(refused: Refused) -> Self {
        let hint = refused.0.first().and_then(|first| first.hint.clone());
        let hint = hint.unwrap_or_else(|| "see docs/query-language.md".to_owned());
        let mut failure = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_query", refused.to_string(), hint);
        let first = refused.0.first().map(|first| (first.line, first.column));
        (failure.body.line, failure.body.column) = first.unzip();
        failure.body.errors = refused.0.into_iter().map(TextError::from).collect();
        failure
    }

    /// From a message that ends in what to try, in brackets.
    fn from_message(status: StatusCode, code: &'static str, message: &str) -> Self {
        let (message, hint) = match message.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
            Some((message, hint)) => (message, hint),
            None => (message, "see docs/api.md"),
        };
        Self::new(status, code, message, hint)
    }

    pub(crate) fn bad_parameter(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "bad_parameter",
            message,
            "/api/v1/openapi.json lists the parameters",
        )
    }

    pub(crate) fn bad_value(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_value", message, hint)
    }

    pub(crate) fn busy(code: &'static str, message: &str, hint: &str) -> Self {
        Self { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message, hint) }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let hint = "try again; if it stays, please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message, hint)
    }

    /// With the cursor from which a reader can resume.
    pub(crate) fn resume_after(mut self, cursor: i64) -> Self {
        self.body.resume_after = Some(cursor);
        self
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn into_body(self) -> ErrorBody {
        *self.body
    }
}

impl From<QueryError> for TextError {
    fn from(error: QueryError) -> Self {
        let QueryError { line, column, message, hint, span, .. } = error;
        Self { line, column, message, hint, bytes: (span.start, span.end) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(ErrorResponse { error: *self.body })).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"dunlin\""));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<dunlin_store::Error> for Failure {
    fn from(error: dunlin_store::Error) -> Self {
        use dunlin_store::Error;
        let message = error.to_string();
        let (status, code) = match error {
            Error::NoSuchSource(_) => (StatusCode::NOT_FOUND, "no_such_source"),
            Error::NoSuchVersion(_) => (StatusCode::NOT_FOUND, "no_such_version"),
            Error::NoSuchQuery(_) => (StatusCode::NOT_FOUND, "no_such_query"),
            Error::NameTaken(_) => (StatusCode::CONFLICT, "query_exists"),
            Error::NeededByQuery { .. } => (StatusCode::CONFLICT, "needed_by_query"),
            Error::BadValue { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "bad_value"),
            Error::Full => (StatusCode::INSUFFICIENT_STORAGE, "store_full"),
            Error::Busy => return Self::busy("store_busy", "the store is busy", "try again"),
            Error::Closed => return Self::busy("stopping", "the store has been closed", "start it again"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "store_failed"),
        };
        Self::from_message(status, code, &message)
    }
}

impl From<dunlin_engine::Error> for Failure {
    fn from(error: dunlin_engine::Error) -> Self {
        use dunlin_engine::Error;
        let message = error.to_string();
        let code = match error {
            Error::Store(error) => return error.into(),
            Error::Query(refused) => return Self::refused_text(*refused),
            Error::NoSuchQuery(_) => {
                return Self::from_message(StatusCode::NOT_FOUND, "no_such_query", &message);
            }
            Error::QueryOver { .. } | Error::NoSuchName { .. } => "bad_query",
            Error::QueryTooFast { .. } | Error::TooManyQuerySources { .. } => "over_limit",
            Error::NoSuchSource(_) => {
                return Self::from_message(StatusCode::NOT_FOUND, "no_such_source", &message);
            }
            Error::Paused(_) => return Self::from_message(StatusCode::CONFLICT, "source_paused", &message),
            Error::Stopped => return Self::busy("stopping", "the engine has stopped", "start it again"),
            Error::Url(_) => "bad_url",
            Error::Header(_) => "bad_header",
            Error::Kind { .. } => "bad_kind",
            Error::Recipe { .. } | Error::Extraction(_) => "bad_recipe",
            Error::Value(_) | Error::Number { .. } => "bad_value",
            _ => return Self::internal(message),
        };
        Self::from_message(StatusCode::UNPROCESSABLE_ENTITY, code, &message)
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        use crate::Error;
        let message = error.to_string();
        let (status, code) = match error {
            Error::Store(error) => return error.into(),
            Error::TokenName { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "bad_value"),
            Error::TokenExists { .. } => (StatusCode::CONFLICT, "token_exists"),
            Error::LocalToken => (StatusCode::CONFLICT, "local_token"),
            Error::NoSuchToken { .. } => (StatusCode::NOT_FOUND, "no_such_token"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
        };
        Self::from_message(status, code, &message)
    }
}

#[cfg(test)]
mod tests {
    use dunlin_store::SourceId;

    use super::*;

    #[test]
    fn a_message_is_parted_from_what_to_try() {
        let body = Failure::from(dunlin_store::Error::NoSuchSource(SourceId(7))).body;
        assert_eq!((body.code, &*body.message), ("no_such_source", "no source 7"));
        assert_eq!(body.hint, "list the sources to see which there are");
    }

    #[test]
    fn every_error_has_its_status_and_code() {
        use dunlin_engine::Error as Engine;
        use dunlin_store::{Error as Stored, VersionId};
        let bad = || Stored::BadValue { what: "weight", found: "-1".to_owned(), expected: "more" };
        let number = Engine::Number { what: "weight", given: String::new(), expected: "a number" };
        let name = || "x".to_owned();
        let cases: [(Failure, u16, &str); 20] = [
            (Stored::NoSuchSource(SourceId(1)).into(), 404, "no_such_source"),
            (Stored::NoSuchVersion(VersionId(1)).into(), 404, "no_such_version"),
            (bad().into(), 422, "bad_value"),
            (Stored::Full.into(), 507, "store_full"),
            (Stored::Busy.into(), 503, "store_busy"),
            (Stored::Closed.into(), 503, "stopping"),
            (Stored::ReadOnly.into(), 500, "store_failed"),
            (Engine::NoSuchSource(SourceId(1)).into(), 404, "no_such_source"),
            (Engine::Paused(SourceId(1)).into(), 409, "source_paused"),
            (Engine::Stopped.into(), 503, "stopping"),
            (Engine::Kind { given: name() }.into(), 422, "bad_kind"),
            (Engine::Recipe { reason: name() }.into(), 422, "bad_recipe"),
            (number.into(), 422, "bad_value"),
            (Engine::Store(Stored::Full).into(), 507, "store_full"),
            (Engine::Unwritten.into(), 500, "internal"),
            (crate::Error::TokenName { name: name() }.into(), 422, "bad_value"),
            (crate::Error::TokenExists { name: name() }.into(), 409, "token_exists"),
            (crate::Error::NoSuchToken { name: name() }.into(), 404, "no_such_token"),
            (crate::Error::LocalToken.into(), 409, "local_token"),
            (crate::Error::Store(Stored::Busy).into(), 503, "store_busy"),
        ];
        for (failure, status, code) in cases {
            let text = format!("{failure:?}");
            assert_eq!((failure.status().as_u16(), failure.body.code), (status, code), "{text}");
            assert_eq!(failure.retry_after.is_some(), status == 503, "{text}");
            let response = failure.into_response();
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503, "{text}");
        }
        let unauthorized = Failure::new(StatusCode::UNAUTHORIZED, "no_token", "", "").into_response();
        assert!(unauthorized.headers().contains_key(header::WWW_AUTHENTICATE));
    }
}
