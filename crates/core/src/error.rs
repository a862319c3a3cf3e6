//! What a constructor of this crate can refuse.

/// A value that would break an invariant of the model. Messages name the value and what is expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An interval that ends before it begins.
    #[error("finish {finish} lies before start {start} (expected finish >= start)")]
    FinishBeforeStart {
        /// First chronon given.
        start: u32,
        /// Last chronon given.
        finish: u32,
    },
    /// A need without a single interval.
    #[error("a CEI without intervals can never be captured (expected at least one interval)")]
    NoIntervals,
    /// A profile index that does not exist.
    #[error("profile {profile} does not exist (expected one of {profiles})")]
    UnknownProfile {
        /// The index asked for.
        profile: u32,
        /// How many profiles there are.
        profiles: usize,
    },
    /// A `need` outside 1..=number of intervals.
    #[error("need {need} of {intervals} intervals (expected 1 to {intervals})")]
    NeedOutOfRange {
        /// The number given.
        need: u32,
        /// How many intervals there are.
        intervals: usize,
    },
    /// A weight that is negative, enormous or not a number.
    #[error("weight {0} (expected a number from 0 to 1e100)")]
    BadWeight(f64),
    /// A cost that is zero, negative, infinite or not a number.
    #[error("cost {0} (expected a finite number above 0)")]
    BadCost(f64),
    /// A budget that is negative, infinite or not a number.
    #[error("budget {0} (expected a finite number, 0 or more)")]
    BadBudget(f64),
    /// More of something than an index can number.
    #[error("more than {limit} {what} in one workload (split it)")]
    TooMany {
        /// What there was too much of.
        what: &'static str,
        /// The largest number that fits.
        limit: u32,
    },
    /// A change outside the epoch.
    #[error("change at chronon {chronon} of an epoch of {chronons} (expected 1 to {chronons})")]
    OutsideEpoch {
        /// Where the change was.
        chronon: u32,
        /// How long the epoch is.
        chronons: u32,
    },
}
