//! One evaluator for every schedule, however it was made: by a policy, a planner, another tool, or in a file.
//!
//! Policies never score themselves. What counts is what really happened, not what was expected.

mod budget;
mod intervals;
mod polling;
mod trace;

pub use budget::{Overspent, check_budget};
pub use intervals::{IntervalScore, captured_ceis, score_intervals};
pub use polling::{PollingScore, score_polling};
pub use trace::{TraceScore, score_trace};

/// `part / whole`, and 1 when there was nothing to get.
fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 1.0 } else { part / whole }
}
