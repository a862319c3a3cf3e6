//! What the API would say about a store in which no service runs, and what it would make of what it is given: for
//! commands that open a data directory themselves. Nothing is served here, and nothing written.
//!
//! Invariant: the JSON is the API's own; there is no second form of it.

use dunlin_core::Time;
use dunlin_engine::Explained;
use dunlin_store::{Change, Decision, NewSource, Source, SourceEdit, Version};
use serde::Serialize;
use serde_json::Value;

use crate::Error;
use crate::failure::Failure;
use crate::given::GivenSource;
use crate::shown::budget::ShownDecision;
use crate::shown::change::ShownChange;
use crate::shown::explained::ShownExplanation;
use crate::shown::source::ShownSource;
use crate::shown::version::ShownVersion;

fn told(shown: impl Serialize) -> Value {
    serde_json::to_value(shown).unwrap_or_default()
}

/// A source, as `GET /sources/{id}` shows it.
pub fn source(source: Source) -> Value {
    told(ShownSource::from(source))
}

/// A change, as in `GET /changes`.
pub fn change(change: Change) -> Value {
    told(ShownChange::from(change))
}

/// A version, as `GET /versions/{id}` shows it.
pub fn version(version: Version) -> Value {
    told(ShownVersion::from(version))
}

/// A decision, as in `GET /decisions`; `None` for rows that are kept for replays and mean nothing to people.
pub fn decision(decision: Decision) -> Option<Value> {
    ShownDecision::of(decision).map(told)
}

/// What `GET /sources/{id}/explain` says.
pub fn explained(explained: Explained) -> Value {
    told(ShownExplanation::from(explained))
}

/// The source that the body of `POST /sources` describes. What its words mean is the engine's to check.
pub fn new_source(given: Value, now: Time) -> Result<NewSource, Error> {
    read(given)?.into_new(now).map_err(refused)
}

/// What the body of `PATCH /sources/{id}` changes about a source.
pub fn source_edit(given: Value, present: &Source, now: Time) -> Result<SourceEdit, Error> {
    read(given)?.into_edit(present, now).map_err(refused)
}

fn read(given: Value) -> Result<GivenSource, Error> {
    serde_json::from_value(given)
        .map_err(|error| Error::Refused { message: error.to_string(), hint: "leave it out".to_owned() })
}

fn refused(failure: Failure) -> Error {
    let told = failure.into_told();
    Error::Refused { message: told.message, hint: told.hint }
}
