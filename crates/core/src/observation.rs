//! The only way back from the world to the scheduler: what came of a probe.

use crate::{Chronon, SourceIdx};

/// What came of one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The source probed.
    pub source: SourceIdx,
    /// When.
    pub at: Chronon,
    /// How it went.
    pub outcome: Outcome,
}

/// How a probe went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The source answered; everything on it up to this chronon has been seen.
    Read,
    /// Nothing was seen; the budget is spent all the same.
    Failed,
}
