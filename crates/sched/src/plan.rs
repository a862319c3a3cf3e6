//! Plans for a whole epoch or period, made before it begins: when to poll one source over and over
//! ([`polling`]), which of the expected updates of many sources to probe and in which chronon ([`cam`]), how to
//! capture most of the needs of an epoch ([`intervals`]), and the best expected utility on instances small enough
//! to search ([`best_utility`]).
//!
//! A planner is a function of what is known beforehand. It learns nothing while its plan is carried out; what
//! reacts is a [`policy`](crate::policy), and [`PlanFollower`](crate::policy::PlanFollower) is the one that follows a plan.

mod best_utility;
pub mod cam;
pub mod intervals;
pub mod polling;

pub use best_utility::{MOST_STATES, best_utility};

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An update that does not lie in the stretch of time a history covers.
    #[error("update in slot {slot} of a history from {from} to {until} (expected it in between)")]
    OutsideSpan {
        /// Where the update was.
        slot: i64,
        /// First slot of the history.
        from: i64,
        /// First slot after it.
        until: i64,
    },
    /// More different slots with updates than the exact planner's table has room for.
    #[error(
        "updates in {slots} different slots of a period (expected at most {most}; try longer slots, or the modelled plan)"
    )]
    TooManySlots {
        /// How many there are.
        slots: usize,
        /// How many there may be.
        most: usize,
    },
    /// A weight that is negative, infinite or not a number.
    #[error("weight {0} of a source (expected a finite number, 0 or more)")]
    BadWeight(f64),
    /// A probability that is none.
    #[error("probability {0} of an update (expected a number from 0 to 1)")]
    BadProbability(f64),
    /// An update expected beyond the end of the epoch.
    #[error("update expected in chronon {chronon} of {chronons} (expected 1 to {chronons})")]
    OutsideEpoch {
        /// Where it is expected.
        chronon: u32,
        /// How long the epoch is.
        chronons: u32,
    },
    /// Two updates of one source expected in the same chronon.
    #[error(
        "source {source_idx} has two updates in chronon {chronon} (expected one, with the chance of either)"
    )]
    SameInstant {
        /// Which source.
        source_idx: u32,
        /// When.
        chronon: u32,
    },
    /// An instance too large to be searched.
    #[error("{states} states to search (expected at most {most}; try fewer sources or chronons)")]
    TooLarge {
        /// How many states the search would visit.
        states: u128,
        /// How many it may.
        most: u128,
    },
}
