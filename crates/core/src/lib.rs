//! The basic values of Dunlin, shared by the code that decides and the code that fetches.
//!
//! There is no behaviour here: these are values whose constructors enforce what every other crate
//! relies on. Sources, profiles and needs are dense indices; their names stay with the code that read them.
//!
//! ```
//! use dunlin_core::{Chronon, ExecutionInterval, Need, SourceIdx, Workload};
//!
//! // "When both pages have changed, get both before the change is two chronons old."
//! let at = |source, start| {
//!     let start = Chronon::new(start).unwrap();
//!     ExecutionInterval::new(SourceIdx(source), start, start.plus(2)).unwrap()
//! };
//! let mut workload = Workload::new();
//! let profile = workload.add_profile();
//! workload.push(profile, &[at(0, 4), at(1, 9)], Need::All, 1.0)?;
//! assert_eq!(workload.cei(dunlin_core::CeiIdx(0)).release(), Chronon::new(4).unwrap());
//! # Ok::<(), dunlin_core::Error>(())
//! ```
//!
//! Invariant: no clock, no randomness, no files, no sockets, no hash order.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod backoff;
mod budget;
mod chronon;
mod cost;
mod error;
mod fault;
mod interval;
mod observation;
mod schedule;
mod source;
mod time;
mod trace;
mod workload;

pub use backoff::Backoff;
pub use budget::{Allowance, Budget, Meter};
pub use chronon::Chronon;
pub use cost::Costs;
pub use error::Error;
pub use fault::{Fault, Retry};
pub use interval::ExecutionInterval;
pub use observation::{Observation, Outcome};
pub use schedule::{Probe, Schedule};
pub use source::{ResourceIdx, SourceIdx};
pub use time::Time;
pub use trace::Changes;
pub use workload::{Cei, CeiIdx, Need, ProfileIdx, Workload};
