//! What has been captured, as it is read back: versions, items, changes, observations; and how to ask for them.

use dunlin_core::Time;

use crate::{ContentHash, Cursor, NewChange, ObservationId, Outcome, ProbeId, SourceId, VersionId};

/// A version of a source, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number; larger is later.
    pub id: VersionId,
    /// The source it is a version of.
    pub source: SourceId,
    /// When it was captured.
    pub at: Time,
    /// The hash of its content.
    pub hash: ContentHash,
    /// The length of its content in bytes.
    pub size: u64,
    /// What the content is; empty when unknown.
    pub media_type: String,
}

/// Which versions of a source to list, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionQuery {
    /// The source.
    pub source: SourceId,
    /// Only those before this one; the last of a page asks for the next page.
    pub before: Option<VersionId>,
    /// At most this many.
    pub limit: u32,
}

/// A stored change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its position in the stream of all changes.
    pub cursor: Cursor,
    /// The source that changed.
    pub source: SourceId,
    /// Its address at present.
    pub url: String,
    /// What people know it by, at present; may be empty.
    pub name: String,
    /// The version in which the change was found; `None` when that came without content or was pruned.
    pub version: Option<VersionId>,
    /// When it was detected.
    pub detected: Time,
    /// What was found.
    pub found: NewChange,
}

/// Which changes to list, in the order of their cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeQuery {
    /// Those after this position.
    pub after: Cursor,
    /// Only those of this source.
    pub source: Option<SourceId>,
    /// At most this many.
    pub limit: u32,
}

/// A stored item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What makes it this item.
    pub key: String,
    /// Its content, now or when it was last present.
    pub body: Vec<u8>,
    /// When a probe first found it.
    pub first_seen: Time,
    /// When a probe first missed it; `None` while it is present.
    pub left: Option<Time>,
}

/// Which items of a source to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemScope {
    /// Those now on it, in its order.
    Present,
    /// Also those that have left and are still remembered, after the others and the last that left first, so that one that
    /// comes back is not taken for a new one.
    Remembered,
}

/// What came of a probe, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredObservation {
    /// Its number; larger is later.
    pub id: ObservationId,
    /// The source probed.
    pub source: SourceId,
    /// Which probe it was.
    pub probe: ProbeId,
    /// When.
    pub at: Time,
    /// How it went.
    pub outcome: Outcome,
}

/// Which observations to list, in the order in which they were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservationQuery {
    /// Only those of this source.
    pub source: Option<SourceId>,
    /// Those after this one; the last of a page asks for the next page.
    pub after: Option<ObservationId>,
    /// At most this many.
    pub limit: u32,
}
