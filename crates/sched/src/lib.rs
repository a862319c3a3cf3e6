//! Dunlin's scheduling library: given what is known of each source and a budget of probes, which sources
//! to probe now.
//!
//! - [`model`]: what a source has done, as far as probes and its own dates have shown;
//! - [`forecast`]: how often it will change from now on, and how sure that is;
//! - [`value`]: what a probe is worth (life, urgency, weight);
//! - [`policy`]: which probes to take now, online;
//! - [`plan`]: when to probe, decided for a whole epoch or period beforehand, and bounds on any schedule;
//! - [`scheduler`]: the same in wall-clock time, with hosts, learned forecasts and a price: what runs live;
//! - [`epoch`]: the loop that drives a policy through an epoch;
//! - [`score`]: one evaluator for every schedule, however it was made;
//! - [`plain`]: the same policies in their simplest form, to check the fast ones against.
//!
//! ```
//! use dunlin_core::{Allowance, Chronon, Observation, Outcome, SourceIdx};
//! use dunlin_sched::policy::{Arrival, Policy, Wic};
//! use dunlin_sched::value::{Life, Urgency, ValueModel};
//!
//! let model = ValueModel::new(Life::Append, Urgency::Uniform);
//! let mut wic = Wic::uniform(model, 2);
//! let (now, mut chosen) = (Chronon::FIRST, Vec::new());
//! wic.arrive(now, Arrival::Change { source: SourceIdx(0), probability: 0.2 });
//! wic.arrive(now, Arrival::Change { source: SourceIdx(1), probability: 0.7 });
//! wic.choose(now, &mut Allowance::of(1.0), &mut chosen);
//! assert_eq!(chosen, [SourceIdx(1)]);
//! wic.observe(Observation { source: SourceIdx(1), at: now, outcome: Outcome::Read });
//! ```
//!
//! Invariant: decisions are pure. No clock, no randomness but from a given seed, no files, no hash order;
//! the same calls give the same choices, which is what makes a live run replayable.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod epoch;
pub mod forecast;
pub mod model;
pub mod plain;
pub mod plan;
pub mod policy;
pub mod scheduler;
pub mod score;
pub mod value;
