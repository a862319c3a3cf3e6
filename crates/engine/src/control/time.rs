//! A clock that was set back. The scheduler says when that is so, and corrects all that it knows. Here follow the times that
//! control keeps by itself, which would else last until the old time comes round again. A clock that was set forward needs
//! nothing: no budget is saved up.

use dunlin_core::Time;
use dunlin_sched::scheduler::{is_set_back, moved_back};

use super::Control;

impl Control {
    /// Checks whether time runs backwards.
    pub(super) fn notice_clock(&mut self, now: Time) {
        match self.now {
            Some(latest) if now < latest => {
                if is_set_back(latest, now, self.settings.chronon) {
                    tracing::warn!(seconds = latest.since(now).as_secs(), "the clock was set back");
                    self.now = Some(now);
                    self.clock_set_back(latest, now);
                }
            }
            _ => self.now = Some(now),
        }
    }

    fn clock_set_back(&mut self, latest: Time, now: Time) {
        let delayed: Vec<_> = self.in_flight.take_all_delayed().collect();
        delayed.into_iter().for_each(|probe| self.in_flight.delay(probe, now));
        (self.journal.batch_at, self.forgot_at) = (None, None);
        self.replan_queries(now);
        for (_, source) in self.sources.iter_mut() {
            source.last_probe = source.last_probe.map(|at| at.min(now));
            source.not_before = source.not_before.map(|at| moved_back(at, latest, now));
        }
    }
}
