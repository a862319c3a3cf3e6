//! Maintenance of a store: how large it is, whether it is sound, what may be removed.

use dunlin_core::Time;

use crate::Cursor;

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Sources.
    pub sources: u64,
    /// Versions.
    pub versions: u64,
    /// Different contents among them.
    pub contents: u64,
    /// Bytes of those contents.
    pub content_bytes: u64,
    /// Bytes they take, compressed.
    pub stored_bytes: u64,
    /// Items, present or remembered.
    pub items: u64,
    /// Changes.
    pub changes: u64,
    /// Observations.
    pub observations: u64,
    /// Bytes of the batches of unchanged observations.
    pub unchanged_bytes: u64,
    /// Decisions in the journal.
    pub decisions: u64,
    /// Bytes they take.
    pub decision_bytes: u64,
    /// Messages that wait to be delivered.
    pub messages: u64,
    /// Bytes on disk, with what is free for reuse and the write-ahead log.
    pub disk_bytes: u64,
    /// Of these, bytes free for reuse.
    pub free_bytes: u64,
}

/// How thoroughly to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The structure of the database, and that what refers to something finds it.
    Structure,
    /// Also the hash of about this many contents, spread over the store.
    Sample(u32),
    /// Also the hash of every content.
    Everything,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// What is wrong, one line each; empty for a sound store.
    pub problems: Vec<String>,
    /// How many contents were read and compared with their hash.
    pub contents_read: u64,
}

impl Findings {
    /// Whether nothing is wrong.
    pub const fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What may be removed. A `None` keeps everything; the newest version of a source and its present items always stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Versions beyond this many of each source, the newest counted first.
    pub keep_versions: Option<u32>,
    /// Versions captured before this time.
    pub versions_before: Option<Time>,
    /// Changes detected before this time. Cursors of later ones stay as they are.
    pub changes_before: Option<Time>,
    /// Observations made before this time. A capture is no longer known by its probe once its observation is gone.
    pub observations_before: Option<Time>,
    /// Decisions taken before this time.
    pub decisions_before: Option<Time>,
    /// Items that left before this time.
    pub items_before: Option<Time>,
}

/// What went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Versions.
    pub versions: u64,
    /// Contents that no version and no delta needed any more.
    pub contents: u64,
    /// Changes.
    pub changes: u64,
    /// Observations.
    pub observations: u64,
    /// Decisions.
    pub decisions: u64,
    /// Items.
    pub items: u64,
}

/// The two ends of the stream of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorRange {
    /// The oldest change still there; one past the newest when there is none.
    pub oldest: Cursor,
    /// The newest change ever stored; [`Cursor::START`] before the first.
    pub newest: Cursor,
}
