//! A change as clients see it, in lists and in the stream alike.

use dunlin_core::Time;
use dunlin_engine::capture::ChangeDetail;
use dunlin_engine::clock::rfc3339;
use dunlin_store::Change;
use serde::Serialize;
use utoipa::ToSchema;

use super::version::DifferencePiece;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChangeResponse {
    /// Its position in the stream of all changes.
    pub(crate) cursor: i64,
    /// The source that changed.
    source: i64,
    /// Its address.
    url: String,
    /// What people know it by: its owner's name for it, or else its title; may be empty.
    name: String,
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
    /// What happened: added, edited or removed; or failing, attention, refused or recovered, of the source's health.
    kind: String,
    /// The item it happened to; null for the source as a whole.
    item: Option<String>,
    /// What is different, word by word; null for a change that has no text.
    detail: Option<ChangeDetailResponse>,
}

/// The item that changed, and what is different in its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ChangeDetailResponse {
    /// The title of the item, as it is now or last was.
    title: String,
    /// The heading above the part of the page that changed; empty if there is none.
    heading: String,
    /// What the title was before; null if it is the same.
    old_title: Option<String>,
    /// The address that the item points to.
    link: Option<String>,
    /// When its publisher says it appeared.
    #[schema(format = DateTime)]
    published: Option<String>,
    /// Equal and deleted pieces make the old text, equal and inserted ones the new, with gaps where it did not change.
    pieces: Vec<DifferencePiece>,
    /// Whether there was more than is kept here.
    is_cut: bool,
}

impl From<ChangeDetail> for ChangeDetailResponse {
    fn from(detail: ChangeDetail) -> Self {
        Self {
            title: detail.title,
            heading: detail.heading,
            old_title: detail.old_title,
            link: detail.link,
            published: detail.published.map(|micros| rfc3339(Time::from_micros(micros))),
            pieces: detail.pieces.into_iter().map(DifferencePiece::from).collect(),
            is_cut: detail.is_cut,
        }
    }
}

impl From<Change> for ChangeResponse {
    fn from(change: Change) -> Self {
        let found = change.found;
        Self {
            cursor: change.cursor.0,
            source: change.source.0,
            url: change.url,
            name: change.name,
            detected_at: rfc3339(change.detected),
            happened_between: (found.happened_after.map(rfc3339), rfc3339(found.happened_before)),
            version: change.version.map(|id| id.0),
            summary: found.summary,
            kind: found.kind,
            item: found.item,
            detail: ChangeDetail::read(&found.detail).map(ChangeDetailResponse::from),
        }
    }
}
