//! Offline schedules for needs: every CEI of the epoch is known, and the question is which can be had.
//!
//! - [`enumerate`](enumerate()): every schedule there is; the oracle for tiny instances;
//! - [`Grid`]: the instance in the shape that all the others work on, with what is decided already taken out;
//! - [`Program`]: the integer program whose optimum is the best schedule, for a solver outside this crate;
//! - [`relax`]: a bound on every schedule from that program's linear relaxation, without a solver;
//! - [`single_ei_bound`]: the papers' bound, which forgets what belongs together;
//! - [`local_ratio`]: the papers' approximation with a guarantee;
//! - [`offline`]: a good schedule at any size, by prices, repair and repeated reconstruction.
//!
//! Invariant: whatever makes a schedule here keeps to the budget as [`check_budget`](crate::score::check_budget)
//! judges it, and no bound lies below what a schedule can earn.

mod capacity;
mod draft_plan;
mod enumerate;
mod fit;
mod grid;
mod local_ratio;
mod offline;
mod pairs;
mod program;
mod reduce;
mod relax;
mod single;

use dunlin_core::{Budget, Costs, Workload};

pub use enumerate::{Best, enumerate};
pub use grid::{Grid, Pair};
pub use local_ratio::local_ratio;
pub use offline::{Effort, OfflinePlan, improve, offline};
pub use program::{Program, Row};
pub use relax::{Relaxation, Tolerance, relax};
pub use single::{SingleEis, single_ei_bound};

/// What has to be planned.
#[derive(Debug, Clone, Copy)]
pub struct Instance<'a> {
    /// The needs.
    pub workload: &'a Workload,
    /// Length of the epoch; what lies beyond cannot be probed.
    pub chronons: u32,
    /// What may be spent.
    pub budget: &'a Budget,
    /// What a probe costs.
    pub costs: &'a Costs,
}

/// An instance beyond what a planner can hold, or would finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} {what} are too many to plan with (at most {limit}; try a shorter epoch or fewer needs)")]
pub struct TooLarge {
    /// What there are too many of.
    pub what: &'static str,
    /// How many there are.
    pub count: u64,
    /// How many there may be.
    pub limit: u64,
}
