//! The decision journal: why each probe was made, or not. Rows are only ever added, and pruned by age.

use std::borrow::Cow;

use dunlin_core::Time;

use crate::{DecisionId, SourceId};

/// A decision to be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision {
    /// When it was taken.
    pub at: Time,
    /// About which source; `None` for one about all (a new price, a new budget).
    pub source: Option<SourceId>,
    /// Why, in a word or a short line.
    pub reason: Cow<'static, str>,
    /// The figures behind it, in the caller's encoding; everything that a replay needs.
    pub figures: Vec<u8>,
}

/// A decision written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its number; larger is later.
    pub id: DecisionId,
    /// What was decided.
    pub decision: NewDecision,
}

/// From which end to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// In the order in which they were written.
    OldestFirst,
    /// The other way round.
    NewestFirst,
}

/// Which decisions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionQuery {
    /// Only those about this source.
    pub source: Option<SourceId>,
    /// From which end.
    pub order: Order,
    /// Those that follow this one in that order; the last of a page asks for the next page.
    pub after: Option<DecisionId>,
    /// Only those taken at this time or later.
    pub since: Option<Time>,
    /// Only those taken before this time.
    pub until: Option<Time>,
    /// At most this many.
    pub limit: u32,
}

impl DecisionQuery {
    /// The first `limit` decisions of all.
    pub const fn first(limit: u32) -> Self {
        Self { source: None, order: Order::OldestFirst, after: None, since: None, until: None, limit }
    }
}
