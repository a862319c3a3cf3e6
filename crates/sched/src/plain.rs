//! The plain algorithms: every candidate, every chronon, straight from the definitions.
//!
//! They exist to be checked against and to be raced: property tests demand that the policies in
//! [`policy`](crate::policy) choose exactly the same sources in the same order, and the benchmarks report
//! how much faster they do it. [`PlainScheduler`] alone is not a twin but a measure: the live scheduler works with a price,
//! and has to collect nearly as much. Nothing that a user runs goes through here.

pub(crate) mod marginal;
mod polling;
mod ranked;
mod scheduler;
mod update_wic;
mod wic;

pub use marginal::PlainMarginal;
pub use polling::{plain_polling, polling_loss};
pub use ranked::PlainRanked;
pub use scheduler::PlainScheduler;
pub use update_wic::PlainUpdateWic;
pub use wic::PlainWic;
