//! What a polling plan makes of a source's updates, every one counted. Times are in slots.

use super::share;
use crate::plan::polling::{History, PollingPlan};

/// What a plan made of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct PollingScore {
    /// Updates in the history.
    pub updates: usize,
    /// Updates overwritten before a poll: of n between two successive polls n − 1, and all when there are no polls.
    /// The poll after the end of the history counts: the plan goes on.
    pub missed: usize,
    /// Updates not missed, as a share of all.
    pub recall: f64,
    /// Share of the time during which the copy was current. It is current at the start.
    pub freshness: f64,
    /// Mean time since the first update not yet seen, 0 while current.
    pub mean_age: f64,
}

/// Scores a plan on a history. How much an update counts for planning does not matter here.
pub fn score_polling(history: &History, plan: &PollingPlan) -> PollingScore {
    let span = history.span();
    let (mut captured, mut stale, mut age) = (0, 0i64, 0.0);
    let mut rest = history.slots();
    while let Some(&first) = rest.first() {
        let poll = plan.next_poll(first);
        captured += usize::from(poll.is_some());
        let until = poll.map_or(span.end, |poll| poll.min(span.end));
        let length = until - first;
        stale += length;
        age += length as f64 * (length as f64 - 1.0) / 2.0;
        let seen = poll.map_or(rest.len(), |poll| rest.partition_point(|&slot| slot <= poll));
        rest = &rest[seen..];
    }
    let updates = history.len();
    let time = (span.end - span.start) as f64;
    let per_time = |sum: f64| if time > 0.0 { sum / time } else { 0.0 };
    PollingScore {
        updates,
        missed: updates - captured,
        recall: share(captured as f64, updates as f64),
        freshness: 1.0 - per_time(stale as f64),
        mean_age: per_time(age),
    }
}
