//! What the last choices were worth, to say what the budget went to. Decides nothing.

use std::collections::VecDeque;

use dunlin_core::Time;
use dunlin_sched::scheduler::{Choice, HostIdx, Reason};

/// How many choices are remembered.
const MOST: usize = 512;

/// The last choices that were probed, in the order of time.
#[derive(Debug, Default)]
pub(super) struct RecentChoices(VecDeque<RecentChoice>);

#[derive(Debug)]
struct RecentChoice {
    at: Time,
    host: HostIdx,
    reason: Reason,
    value: f64,
}

impl RecentChoices {
    pub(super) fn note(&mut self, at: Time, host: HostIdx, choice: &Choice) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(RecentChoice { at, host, reason: choice.reason, value: choice.value });
    }

    /// Whether something of a host was probed in this time.
    pub(super) fn was_asked(&self, host: HostIdx, from: Time, until: Time) -> bool {
        self.between(from, until).any(|choice| choice.host == host)
    }

    /// What the least of the probes in this time was worth that were made for what they are worth, as far as they are remembered.
    pub(super) fn least_worth(&self, from: Time, until: Time) -> Option<f64> {
        let by_worth = |choice: &&RecentChoice| matches!(choice.reason, Reason::Worth | Reason::Interval);
        self.between(from, until).filter(by_worth).map(|choice| choice.value).min_by(f64::total_cmp)
    }

    fn between(&self, from: Time, until: Time) -> impl Iterator<Item = &RecentChoice> {
        self.0.iter().filter(move |choice| (from..=until).contains(&choice.at))
    }
}
