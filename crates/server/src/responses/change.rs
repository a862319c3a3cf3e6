//! A change as clients see it, in lists and in the stream alike.

use dunlin_store::Change;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::written;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChangeResponse {
    /// Its position in the stream of all changes.
    pub(crate) cursor: i64,
    /// The source that changed.
    source: i64,
    /// Its address.
    url: String,
    /// When it was found.
    #[schema(format = DateTime)]
    detected_at: String,
    /// Between these two instants it happened; the first is null when the source had never been seen before.
    #[schema(value_type = [Option<String>; 2])]
    happened_between: (Option<String>, String),
    /// The version it was found in; null when that is not kept.
    version: Option<i64>,
    /// In one line, for people.
    summary: String,
    /// What happened: added, edited, removed, …
    kind: String,
    /// The item it happened to; null for the source as a whole.
    item: Option<String>,
}

impl From<Change> for ChangeResponse {
    fn from(change: Change) -> Self {
        let found = change.found;
        Self {
            cursor: change.cursor.0,
            source: change.source.0,
            url: change.url,
            detected_at: written(change.detected),
            happened_between: (found.happened_after.map(written), written(found.happened_before)),
            version: change.version.map(|id| id.0),
            summary: found.summary,
            kind: found.kind,
            item: found.item,
        }
    }
}
