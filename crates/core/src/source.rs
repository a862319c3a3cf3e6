//! Which source, as a dense index. Names and addresses stay with the code that assigned the index.

use serde::{Deserialize, Serialize};

/// A source (page, feed, resource) by its position in the caller's list. Ties between sources of equal
/// value go to the lower index, so the order in which indices are assigned is part of every result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceIdx(pub u32);

impl SourceIdx {
    /// Its position in an array with one element per source.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one fetch serves, by its position in the caller's list: a resource. Sources are what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceIdx(pub u32);

impl ResourceIdx {
    /// As an index into a list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
