//! Which probes to take now. A policy gets arrivals, observations and the clock, and is asked for the
//! sources to probe; it never fetches, never scores itself and never asks what time it is.
//!
//! One chronon goes like this, live and in the lab:
//!
//! 1. [`Policy::arrive`] for everything that becomes known now;
//! 2. [`Policy::choose`], which spends from an allowance;
//! 3. [`Policy::observe`] for every source chosen, before the next chronon begins.
//!
//! Work per chronon depends on what arrived, what is open and what was chosen, not on the number of sources.
//! Two things cost more: urgencies that decay unevenly, whose values have to be computed again when they
//! reach the top, and probe costs that differ, because what does not fit is passed over. The plain
//! algorithms, which evaluate every candidate in every chronon, are in [`plain`](crate::plain).

mod heap;
mod interval;
mod plan_follower;
mod random;
mod ranking;
mod round_robin;
mod wic;

use dunlin_core::{Allowance, Cei, Chronon, Observation, SourceIdx};

pub(crate) use interval::marginal;
pub use interval::marginal::Marginal;
pub(crate) use interval::ranked::Order;
pub use interval::ranked::{Preemption, Ranked};
pub use interval::update_wic::UpdateWic;
pub use plan_follower::PlanFollower;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use wic::Wic;

/// Something that becomes known in the present chronon.
#[derive(Debug, Clone, Copy)]
pub enum Arrival<'a> {
    /// The source changes in the present chronon with this probability. At most one per source and chronon.
    Change {
        /// Which source.
        source: SourceIdx,
        /// How likely, 0 to 1.
        probability: f64,
    },
    /// A need that spans several sources; all its intervals are known from now on.
    Cei(Cei<'a>),
}

/// An online scheduling policy. Deterministic: the same calls give the same choices.
pub trait Policy {
    /// Takes in something that becomes known at `now`. Policies ignore the kinds they have no use for.
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>);

    /// Appends distinct sources to probe at `now` to `chosen`, best first, paying for each from
    /// `allowance`. Called once per chronon, in order of time.
    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>);

    /// Takes in the outcome of a probe chosen in the same chronon.
    fn observe(&mut self, observation: Observation);
}
