//! Polling one source for recall: at which slots of a recurring period to probe, when only so many probes are
//! allowed and every update overwrites the one before.
//!
//! A period is cut into slots; a poll in a slot sees every update up to and including that slot. Of n updates
//! between two successive polls n − 1 are missed, and the interval after the last poll of a period runs into the
//! next period. Three planners: [`exact`], the best there is on the history given; [`modelled`], near it in time
//! linear in the slots; [`uniform`], the baseline. [`plan_many`] shares a number of polls among sources.
//!
//! ```
//! use dunlin_sched::plan::polling::{History, Objective, exact, uniform};
//! use dunlin_sched::score::score_polling;
//!
//! // Minutes of updates, at :05 and :14 past every hour of a day; two polls an hour.
//! let minutes = (0..24).flat_map(|hour| [hour * 60 + 5, hour * 60 + 14]).collect();
//! let history = History::new(minutes, 0..24 * 60)?;
//! let plan = exact(&history, 60, 2, Objective::Recall)?;
//! assert_eq!(plan.polls(), [5, 14]);
//! assert_eq!(score_polling(&history, &plan).missed, 0);
//! assert_eq!(score_polling(&history, &uniform(60, 2)).recall, 0.5);
//! # Ok::<(), dunlin_sched::plan::Error>(())
//! ```

mod cycle;
mod history;
mod losses;
mod many;
mod modelled;
mod regime;

use super::Error;
use cycle::Cycle;
pub use history::History;
pub use losses::MOST_SLOTS;
pub(crate) use losses::{Losses, never, staleness, unit};
pub use many::plan_many;
pub use modelled::modelled;
pub use regime::{Break, find_break, replan};

/// What a plan should be good at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Fewest updates missed; of plans that miss equally many, the freshest.
    Recall,
    /// Longest time with a current copy.
    Freshness,
    /// Smallest mean time since the first update not yet seen.
    Age,
}

/// When to poll: the same slots in every period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollingPlan {
    slots: u32,
    polls: Vec<u32>,
}

impl PollingPlan {
    /// A plan over periods of `slots` slots; polls beyond the period are left out, repeated ones count once.
    pub fn new(slots: u32, mut polls: Vec<u32>) -> Self {
        polls.retain(|&poll| poll < slots);
        polls.sort_unstable();
        polls.dedup();
        Self { slots, polls }
    }

    /// Slots in a period.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// The slots in which to poll, counted from 0, ascending.
    pub fn polls(&self) -> &[u32] {
        &self.polls
    }

    /// The first poll in `slot` or later, counting slots from where periods are counted from.
    pub fn next_poll(&self, slot: i64) -> Option<i64> {
        let length = i64::from(self.slots);
        let (period, phase) = (slot.div_euclid(length), slot.rem_euclid(length));
        let next = self.polls.partition_point(|&poll| i64::from(poll) < phase);
        let (period, poll) = match self.polls.get(next) {
            Some(&poll) => (period, poll),
            None => (period + 1, *self.polls.first()?),
        };
        Some(period * length + i64::from(poll))
    }
}

/// The slot of its period that `slot` is.
fn phase(slot: i64, slots: u32) -> u32 {
    u32::try_from(slot.rem_euclid(i64::from(slots))).expect("a remainder is less than its divisor")
}

/// The best of all plans of at most `polls` polls per period of `slots` slots, measured on `history`.
///
/// There may be fewer polls than allowed: polls in slots in which nothing ever changed would gain nothing.
pub fn exact(history: &History, slots: u32, polls: u32, objective: Objective) -> Result<PollingPlan, Error> {
    let slots = slots.max(1);
    let losses = Losses::new(history, slots, objective)?;
    let best = Cycle::new(&losses).best(polls);
    Ok(PollingPlan::new(slots, best.map(|round| losses.slots_of(round.polls())).unwrap_or_default()))
}

/// Polls at equal distances, the first in slot 0.
pub fn uniform(slots: u32, polls: u32) -> PollingPlan {
    let slots = slots.max(1);
    let polls = polls.min(slots);
    let at = |poll: u32| u64::from(poll) * u64::from(slots) / u64::from(polls);
    PollingPlan::new(slots, (0..polls).map(|poll| u32::try_from(at(poll)).unwrap_or(u32::MAX)).collect())
}
