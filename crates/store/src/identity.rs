//! The numbers by which stored things are known. They are given once and never again, even after a removal.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

identity! {
    /// A watched source.
    SourceId
}
identity! {
    /// What one request fetches, for one source or several.
    ResourceId
}
identity! {
    /// A complex execution interval.
    CeiId
}
identity! {
    /// A version of a source, as it was captured.
    VersionId
}
identity! {
    /// A message that waits to be delivered.
    MessageId
}
identity! {
    /// A row of the decision journal.
    DecisionId
}
identity! {
    /// What came of one probe.
    ObservationId
}
identity! {
    /// A continuous query.
    QueryId
}
identity! {
    /// An instance of a query. Its owner chooses the number, a new one for every instance.
    InstanceId
}
identity! {
    /// The position of a result among all results of queries, or of a miss among all misses: 1, 2, 3, … in the order in which
    /// they were stored. Zero is the position before the first.
    ResultCursor
}
identity! {
    /// The position of a change in the stream of all changes: 1, 2, 3, … in the order in which they were stored,
    /// without a gap. Zero is the position before the first.
    Cursor
}

impl Cursor {
    /// Before the first change.
    pub const START: Self = Self(0);
}

impl ResultCursor {
    /// Before the first result.
    pub const START: Self = Self(0);
}

/// Identifies one probe of one resource. The prober chooses it, a new one for every probe, and records a capture of each
/// source of that resource under it, again under the same one when the outcome of recording is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProbeId(pub u64);

/// The BLAKE3 hash of a version's content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}
