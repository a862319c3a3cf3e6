//! The input of a request, checked: a JSON body, parameters, the number in a path. Each refusal names the field.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use dunlin_store::{Cursor, ResultCursor};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use crate::app::App;
use crate::failure::Failure;

/// A JSON body within the limit on its size. JSON nested deeper than 128 levels is refused by the reader.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &App) -> Result<Self, Failure> {
        if !is_json(request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())) {
            return Err(Failure::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "the body is not declared as JSON",
                "send the header Content-Type: application/json",
            ));
        }
        let limit = app.options.max_body_bytes;
        let body = Limited::new(request.into_body(), limit).collect().await;
        let bytes = body.map_err(|error| too_large_or_cut(&*error, limit))?.to_bytes();
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let read = serde_path_to_error::deserialize(&mut reader);
        let value = read.map_err(|error| unreadable(&error.path().to_string(), error.inner()))?;
        reader.end().map_err(|error| unreadable(".", &error))?;
        Ok(Self(value))
    }
}

fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("application/json")
}

fn too_large_or_cut(error: &(dyn std::error::Error + 'static), limit: usize) -> Failure {
    if error.is::<LengthLimitError>() {
        return Failure::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is larger than {limit} bytes"),
            "send it in parts",
        );
    }
    Failure::new(StatusCode::BAD_REQUEST, "cut_off", "the body could not be read to its end", "send it again")
}

fn unreadable(place: &str, error: &serde_json::Error) -> Failure {
    if !error.is_data() {
        let hint = "send one JSON object";
        return Failure::new(StatusCode::BAD_REQUEST, "bad_json", error.to_string(), hint);
    }
    // The reader adds its line and column, which say little about a body that a program wrote.
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    // The client does not know the names of our types.
    let text = match text.split_once(", expected struct ") {
        Some((given, _)) if given.starts_with("invalid length") => "a list, expected an object".to_owned(),
        Some((given, _)) => format!("{given}, expected an object"),
        None => text.to_owned(),
    };
    let message = if place == "." { text.clone() } else { format!("{place}: {text}") };
    let code = if text.starts_with("unknown field") { "unknown_field" } else { "bad_value" };
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, code, message, "/api/v1/openapi.json lists the fields")
}

/// The parameters after the question mark. Unknown ones are refused: they are mostly misspelt.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let read = Query::try_from_uri(&parts.uri);
        let Query(params) = read.map_err(|rejection| {
            let text = rejection.body_text();
            let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
            Failure::bad_parameter(text)
        })?;
        Ok(Self(params))
    }
}

/// The number in the path.
pub(crate) struct Id(pub(crate) i64);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| Failure::bad_parameter(rejection.body_text()))?;
        let number =
            text.parse().map_err(|_| Failure::bad_parameter(format!("id: `{text}` is no number")))?;
        Ok(Self(number))
    }
}

/// Text that may be left out or left empty, which is the same.
pub(crate) fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(String::deserialize(deserializer)?).filter(|text| !text.is_empty()))
}

/// A field for which `null` means something else than leaving it out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Edit<T> {
    /// It was left out: as it was.
    #[default]
    Leave,
    /// It was `null`: back to the default.
    Clear,
    /// It is to be this.
    Set(T),
}

impl<T: Clone> Edit<T> {
    /// What becomes of `present`.
    pub(crate) fn apply(&self, present: &mut Option<T>) {
        match self {
            Self::Leave => {}
            Self::Clear => *present = None,
            Self::Set(new) => *present = Some(new.clone()),
        }
    }

    /// What it is to be; an inner `None` is the default.
    #[expect(clippy::option_option, reason = "left alone and back to the default are two things")]
    pub(crate) fn value(&self) -> Option<Option<T>> {
        match self {
            Self::Leave => None,
            Self::Clear => Some(None),
            Self::Set(new) => Some(Some(new.clone())),
        }
    }
}

/// A whole number; `2.0` is one too, as JSON has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole(i64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let is_whole = |float: &f64| float.fract() == 0.0 && float.abs() < 9.2e18;
        let whole = number.as_i64().or_else(|| number.as_f64().filter(is_whole).map(|float| float as i64));
        whole.map(Self).ok_or_else(|| serde::de::Error::custom(format!("{number}, expected a whole number")))
    }
}

impl Edit<Whole> {
    /// A number of seconds, which is never negative.
    pub(crate) fn seconds(&self, field: &str) -> Result<Edit<u64>, Failure> {
        Ok(match self {
            Self::Leave => Edit::Leave,
            Self::Clear => Edit::Clear,
            Self::Set(Whole(seconds)) => Edit::Set(u64::try_from(*seconds).map_err(|_| {
                Failure::bad_value(
                    format!("{field}: {seconds}"),
                    "expected whole seconds, from 1 to 100000000",
                )
            })?),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Edit<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

/// How many to list.
pub(crate) fn page_size(limit: Option<u32>, usual: u32, most: u32) -> Result<u32, Failure> {
    match limit.unwrap_or(usual) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        _ => Err(Failure::bad_parameter(format!("limit: from 1 to {most}"))),
    }
}

/// The position after which a list of changes begins.
pub(crate) fn cursor(after: Option<i64>) -> Result<Option<Cursor>, Failure> {
    match after {
        Some(..0) => Err(Failure::bad_parameter("after: cursors begin at 0")),
        after => Ok(after.map(Cursor)),
    }
}

/// The position after which a list of results begins.
pub(crate) fn result_cursor(after: Option<i64>) -> Result<Option<ResultCursor>, Failure> {
    Ok(cursor(after)?.map(|cursor| ResultCursor(cursor.0)))
}

/// How many of the newest to list, if requested.
pub(crate) fn newest_only(last: Option<u32>) -> Result<Option<u32>, Failure> {
    match last {
        None | Some(1..=1_000) => Ok(last),
        Some(_) => Err(Failure::bad_parameter("last: from 1 to 1000")),
    }
}
