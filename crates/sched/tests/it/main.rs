//! The laws of the scheduling library, seen from outside.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fast_is_plain; // every policy chooses what its plain version chooses
mod guarantee; // WIC against the exhaustive optimum
mod instances; // random instances small enough to make ties common
mod marginal; // the marginal policy: its plain version, its limits, what it is good for
mod papers; // the papers' worked examples and propositions
mod score; // the evaluator on cases worked out by hand
mod value; // incremental values against the definition
