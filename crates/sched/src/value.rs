//! What a probe of a source is worth: how long information stays on a page (life), how fast it loses
//! value before it is captured (urgency), and how much the source matters (weight).
//!
//! The expected utility of probing source i at chronon j, last probed at p (0: never), is
//!
//! ```text
//! g_i(p, j) = W_i · Σ_{k=p+1..j} urgency_i(j−k) · π_{i,k} · life_i(k, j)
//! ```
//!
//! [`PendingUtility`] carries that sum from event to event; [`expected_utility`] evaluates it term by term and
//! is what the tests trust. [`curve`] is the same in continuous time, for rates. None of them decides anything.

pub mod curve;
mod direct;
mod life;
mod pending_utility;
pub(crate) mod scaled;
mod urgency;

pub use direct::expected_utility;
pub use life::Life;
pub(crate) use pending_utility::Growth;
pub use pending_utility::PendingUtility;
pub use urgency::Urgency;

use serde::{Deserialize, Serialize};

/// How one source's changes are valued.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ValueModel {
    /// How long what a change added stays visible.
    pub life: Life,
    /// What a change is worth by the time it is captured.
    pub urgency: Urgency,
    /// How much the source matters (W), 0 or more; the papers use 0 to 1.
    pub weight: f64,
}

impl ValueModel {
    /// A model of weight 1.
    pub const fn new(life: Life, urgency: Urgency) -> Self {
        Self { life, urgency, weight: 1.0 }
    }

    /// The age from which on a change is worth nothing or gone for certain, if there is one.
    pub fn horizon(&self) -> Option<u32> {
        match (self.life.horizon(), self.urgency.horizon()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// A life or urgency that was written wrongly.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// No such kind.
    #[error("unknown {what} `{given}` (expected {expected})")]
    Unknown {
        /// "life" or "urgency".
        what: &'static str,
        /// What was written.
        given: String,
        /// What would have been understood.
        expected: &'static str,
    },
    /// The kind exists, its parameter is wrong.
    #[error("{what} `{given}`: {problem}")]
    Parameter {
        /// "life" or "urgency".
        what: &'static str,
        /// What was written.
        given: String,
        /// What the parameter must be.
        problem: &'static str,
    },
}
