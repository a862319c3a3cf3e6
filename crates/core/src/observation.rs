//! The only feedback that a policy gets: the outcome of a probe.

use crate::{Chronon, SourceIdx};

/// The outcome of one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The source probed.
    pub source: SourceIdx,
    /// When.
    pub at: Chronon,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The source answered; everything on it up to this chronon has been seen.
    Read,
    /// Nothing was seen; the budget is spent nevertheless.
    Failed,
}
