//! A clock that was set back. Every wait would last until the old time comes round again, so the scheduler is started again
//! at the new time with all that is known. A clock that was set forward needs nothing: no budget is saved up.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_sched::scheduler::Input;

use super::{Control, new_scheduler};

/// Clocks are corrected by small steps all the time; these are waited out.
const NOTICED: Duration = Duration::from_secs(5);

impl Control {
    /// Checks whether time runs backwards.
    pub(super) fn notice_clock(&mut self, now: Time) {
        let last = self.now.replace(now);
        if last.is_some_and(|last| last.since(now) > NOTICED + self.settings.chronon) {
            tracing::warn!(
                seconds = last.map_or(0, |last| last.since(now).as_secs()),
                "the clock was set back"
            );
            self.begin_anew(now);
        }
    }

    fn begin_anew(&mut self, now: Time) {
        let longest = self.settings.longest_gap.max(self.settings.politeness.longest_wait);
        let old = std::mem::replace(&mut self.scheduler, new_scheduler(&self.settings, self.budget));
        self.journal.entries.extend_from_slice(old.entries());
        let delayed: Vec<_> = self.in_flight.take_all_delayed().collect();
        delayed.into_iter().for_each(|probe| self.in_flight.delay(probe, now));
        (self.journal.batch_at, self.forgot_at) = (None, None);
        let hosts: Vec<_> = self.hosts.iter().map(|(host, _)| host).collect();
        for host in hosts {
            self.register_host(now, host);
        }
        let mut inputs = Vec::new();
        for (index, source) in self.sources.iter_mut() {
            source.last_probe = source.last_probe.map(|at| at.min(now));
            source.not_before = source.not_before.map(|at| at.min(now.plus(longest)));
            let (last_probe, not_before) = (source.last_probe, source.not_before);
            let Some(resource) = source.resource else { continue };
            let known = old.scheduler();
            if let Some((terms, model)) = known.terms(resource, index).zip(known.model(resource, index)) {
                let (source, model) = (index, model.clone());
                inputs.push(Input::SourceAdded { resource, source, terms, model, last_probe, not_before });
            }
        }
        for input in inputs {
            self.update_scheduler(now, input);
        }
        self.tell_all_ceis(now);
    }
}
