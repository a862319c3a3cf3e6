//! What Dunlin knows, on disk: sources, their versions and changes, the outcome of every probe, and the messages
//! that still have to reach someone.
//!
//! - [`Store`]: what every store can do; [`SqliteStore`] is the one that needs no set-up;
//! - [`NewSource`], [`Source`], [`SourceEdit`]: what is watched;
//! - [`Capture`]: the result of one probe, stored as a whole or not at all;
//! - [`Change`], [`Version`], [`Item`], [`StoredObservation`]: what was captured, read back;
//! - [`NewCei`], [`StoredCei`]: needs that span sources, and how far each is met;
//! - [`NewQuery`], [`InstanceStep`], [`StoredResult`]: continuous queries, and what they captured;
//! - [`TextIndex`], [`FoundTexts`]: which sources say certain words;
//! - [`NewDecision`], [`Decision`]: why each probe was made;
//! - [`Message`], [`Lease`]: what is on its way out;
//! - [`Retention`], [`Depth`], [`Statistics`]: maintenance.
//!
//! ```
//! use dunlin_core::Time;
//! use dunlin_store::{Capture, ChangeQuery, Cursor, NewChange, NewSource, NewVersion, Outcome, ProbeId};
//! use dunlin_store::{SqliteStore, Store};
//!
//! let directory = tempfile::tempdir().unwrap();
//! let store = SqliteStore::open(directory.path())?;
//! let now = Time::from_seconds(1_700_000_000);
//! let source = store.add_source(NewSource::page("https://example.org/", now))?;
//!
//! let mut capture = Capture::bare(source, ProbeId(1), now, Outcome::Changed);
//! capture.version = Some(NewVersion { content: b"hello".to_vec(), media_type: "text/plain".into() });
//! capture.changes = vec![NewChange {
//!     kind: "added".into(),
//!     item: None,
//!     summary: "the page says hello".into(),
//!     detail: Vec::new(),
//!     happened_after: None,
//!     happened_before: now,
//! }];
//! let recorded = store.record_capture(capture.clone())?;
//! assert_eq!(recorded.cursors, Some((Cursor(1), Cursor(1))));
//!
//! // The answer got lost? Record it again: it counts once.
//! assert_eq!(store.record_capture(capture)?.cursors, recorded.cursors);
//! let changes = store.changes(&ChangeQuery { after: Cursor::START, source: None, limit: 10 })?;
//! assert_eq!(changes.len(), 1);
//! assert_eq!(store.content(recorded.version.unwrap())?, b"hello");
//! # Ok::<(), dunlin_store::Error>(())
//! ```
//!
//! Invariant: nothing is published before it is written. A message is queued in the transaction that stores its
//! change, and a call that writes returns only after its transaction is in the log on disk.

mod capture;
mod cei;
mod error;
mod history;
mod identity;
mod journal;
mod outbox;
mod query;
mod resource;
mod source;
mod sqlite;
mod store;
mod text;
mod upkeep;

pub use capture::{
    Capture, MAX_CONTENT_BYTES, NewChange, NewItem, NewMessage, NewVersion, Note, Outcome, Politeness,
    Recorded, Repeated,
};
pub use cei::{CapturedInterval, CeiQuery, CeiState, NewCei, NewInterval, StoredCei, StoredInterval};
pub use dunlin_core::{Fault, Retry};
pub use error::Error;
pub use history::{
    Change, ChangeQuery, Item, ItemScope, ObservationQuery, StoredObservation, Version, VersionQuery,
};
pub use identity::{
    CeiId, ContentHash, Cursor, DecisionId, InstanceId, MessageId, ObservationId, ProbeId, QueryId,
    ResourceId, ResultCursor, SourceId, VersionId,
};
pub use journal::{Decision, DecisionQuery, NewDecision, Order};
pub use outbox::{Lease, Message, Receipt};
pub use query::{
    InstanceEnd, InstanceNext, InstanceStep, NewMiss, NewPart, NewQuery, NewResult, QueryFilter, QuerySource,
    QuerySources, ResultFilter, Sighting, StoredInstance, StoredMiss, StoredQuery, StoredResult, ToldStory,
};
pub use source::{
    FoundAs, Health, NewSource, ProbeBasis, Source, SourceEdit, SourceQuery, SourceScope, SourceState,
};
pub use sqlite::{Durability, SqliteOptions, SqliteStore};
pub use store::Store;
pub use text::{FoundTexts, MAX_TEXT_BYTES, SourceText, TextIndex, TextScope};
pub use upkeep::{CursorRange, Depth, Findings, Pruned, Retention, Statistics};
