//! What the last choices were worth, to say what the budget went to. Decides nothing.

use std::collections::VecDeque;

use dunlin_core::Time;

/// How many choices are remembered.
const MOST: usize = 512;

/// The last choices, in the order of time.
#[derive(Debug, Default)]
pub(super) struct RecentChoices(VecDeque<(Time, f64)>);

impl RecentChoices {
    pub(super) fn note(&mut self, at: Time, worth: f64) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((at, worth));
    }

    /// What the least of the choices in this time was worth, as far as they are remembered.
    pub(super) fn least_between(&self, from: Time, until: Time) -> Option<f64> {
        let then = self.0.iter().filter(|(at, _)| (from..=until).contains(at));
        then.map(|(_, worth)| *worth).min_by(f64::total_cmp)
    }
}
