//! From what a probe brought to what is written and learned: politeness first, then the capture is completed and goes to
//! the writer; only when it is in the store does the watch hear of it.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, SourceIdx, Time};
use dunlin_net::politeness::{self, MayFetch, ScopedUrl};
use dunlin_sched::model::{Look, Seen};
use dunlin_sched::watch::Input;
use dunlin_store::{Capture, Health, Outcome, ProbeId, Recorded, Repeated, SourceState};

use super::{Command, Control, Ending, Write};
use crate::capture::{Failure, Finding, FollowUp, Refusal, Taken, is_about_the_way};
use crate::memory::{Learned, learned_note, look_note};

/// The first pause after a refusal; it doubles up to the longest gap.
const FIRST_REFUSAL: Duration = Duration::from_hours(1);

impl Control {
    pub(super) fn taken(&mut self, now: Time, taken: Box<Taken>, commands: &mut Vec<Command>) {
        let Taken { mut capture, courtesy, finding, mut look, is_noted, health, n_bytes, way } = *taken;
        let probe = capture.probe;
        let Some(flight) = self.flights.get(&probe) else { return };
        let (index, id, leg) = (flight.choice.source, flight.id, Arc::clone(&flight.leg));
        self.figures.bytes += n_bytes;
        self.leg_ended(now, probe, courtesy);
        capture.politeness = self.remembered(&leg);
        capture.politeness.extend(self.asked_on_the_way(now, probe, &way));
        let Some(source) = self.sources.same(index, id) else {
            // Removed meanwhile: there is nothing left to store it under.
            self.flights.remove(&probe);
            return;
        };
        let (last_look, failures) = (source.last_look, source.failures);
        let ending = match finding {
            Finding::Seen { seen, follow_up } => {
                self.trouble.fine();
                if !is_noted {
                    capture.notes.extend(self.learned_after(index, last_look, capture.at, &seen));
                    capture.notes.extend(look_note(&look));
                }
                match capture.outcome {
                    Outcome::Changed => self.figures.changed += 1,
                    _ => self.figures.unchanged += 1,
                }
                Ending::Looked { seen, at: capture.at, follow_up, is_noted: !is_noted }
            }
            Finding::Failed(failure) => {
                let ending = self.failure(now, &failure, failures, &leg);
                if let Ending::Failed { not_before, failures } = ending {
                    (look.not_before, look.failures) = (Some(not_before), failures);
                }
                capture.notes.extend(look_note(&look));
                ending
            }
        };
        capture.state = self.state_after(now, index, health);
        capture.keep_versions = capture.version.as_ref().and(self.settings.keep.n_versions);
        self.land(probe, ending, capture, commands);
    }

    /// What a probe has asked for last has ended: its place rests. A place that it was led to is held to nothing but
    /// its own word.
    pub(super) fn leg_ended(&mut self, now: Time, probe: ProbeId, courtesy: politeness::Outcome) {
        let Some(flight) = self.flights.get(&probe) else { return };
        let (leg, own_host) = (Arc::clone(&flight.leg), flight.redirect.is_none().then_some(flight.host));
        let courtesy = if own_host.is_none() { courtesy.explicit_only() } else { courtesy };
        self.politeness.finished(&leg, courtesy, now);
        let host = own_host.unwrap_or_else(|| self.host_of(now, leg.url()));
        self.hold(now, host, &leg);
    }

    /// What a failure means for the next attempt.
    fn failure(&mut self, now: Time, failure: &Failure, failures: u32, url: &ScopedUrl) -> Ending {
        self.count_failure(failure.fault);
        let rules = self.settings.politeness;
        if failure.fault == Fault::Ours {
            self.trouble.ours(now, &failure.reason);
            return Ending::Failed { not_before: now.plus(rules.first_backoff), failures };
        }
        self.trouble.fine();
        let failures = failures.saturating_add(1);
        let not_before = match failure.refusal {
            Refusal::Lasting => {
                let longest = self.settings.longest_gap.max(FIRST_REFUSAL);
                now.plus(doubled(FIRST_REFUSAL, failures, longest))
            }
            Refusal::Passing => match self.politeness.may_fetch(url, now) {
                MayFetch::NotBefore(until, reason) if reason.is_failure() => until,
                _ => now.plus(self.own_pause(failures)),
            },
        };
        Ending::Failed { not_before, failures }
    }

    /// The pipeline panicked: a failure of ours, but with this source, so this source waits.
    pub(super) fn crashed(&mut self, now: Time, probe: ProbeId, reason: &str, commands: &mut Vec<Command>) {
        let Some(flight) = self.flights.get(&probe) else { return };
        let (index, id, leg) = (flight.choice.source, flight.id, Arc::clone(&flight.leg));
        self.leg_ended(now, probe, politeness::Outcome::Abandoned);
        self.figures.crashed += 1;
        self.count_failure(Fault::Ours);
        let Some(source) = self.sources.same(index, id) else {
            self.flights.remove(&probe);
            return;
        };
        let failures = source.failures.saturating_add(1);
        let not_before = now.plus(self.own_pause(failures));
        let reason = format!("internal error while reading it: {reason} (please report this)");
        let failure = Failure::new(Fault::Ours, reason);
        let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
        let mut capture = Capture::bare(id, probe, now, outcome);
        capture.politeness = self.remembered(&leg);
        capture.state = self.state_after(now, index, Some((Health::Failing, Some(failure.reason))));
        self.land(probe, Ending::Failed { not_before, failures }, capture, commands);
    }

    /// Nothing to store came of a probe.
    pub(super) fn dropped(&mut self, now: Time, probe: ProbeId, reason: &str) {
        self.leg_ended(now, probe, politeness::Outcome::Abandoned);
        let Some(flight) = self.flights.remove(&probe) else { return };
        tracing::warn!(source = %flight.id, reason, "a probe was dropped");
        self.count_failure(Fault::Ours);
        let rules = self.settings.politeness;
        let Some(source) = self.sources.same(flight.choice.source, flight.id) else { return };
        source.failures = source.failures.saturating_add(1);
        let not_before = now.plus(pause_after(&rules, source.failures));
        source.not_before = Some(not_before);
        self.tell(now, Input::Failed { source: flight.choice.source, not_before });
        self.settle(now, flight.choice.source, flight.id);
    }

    /// Hands a capture to the writer; the probe ends when it is in the store.
    pub(super) fn land(
        &mut self,
        probe: ProbeId,
        ending: Ending,
        capture: Capture,
        commands: &mut Vec<Command>,
    ) {
        if let Some(flight) = self.flights.get_mut(&probe) {
            flight.ending = Some(ending);
            commands.push(Command::Write(Write::Capture(Arc::new(capture))));
        }
    }

    /// A capture is in the store, or never will be.
    pub(super) fn written(
        &mut self,
        now: Time,
        probe: ProbeId,
        result: Result<Recorded, dunlin_store::Error>,
    ) {
        let Some(flight) = self.flights.remove(&probe) else { return };
        let is_stored = match result {
            Ok(recorded) => {
                self.noting.written(recorded.observation);
                if recorded.repeated == Repeated::No {
                    self.figures.captures += 1;
                    let n_changes = recorded.cursors.map_or(0, |(first, last)| last.0 - first.0 + 1);
                    self.figures.changes += n_changes.unsigned_abs();
                    self.figures.versions += u64::from(recorded.version.is_some());
                }
                true
            }
            Err(dunlin_store::Error::NoSuchSource(_)) => return,
            Err(error) => {
                tracing::error!(source = %flight.id, %error, "a capture could not be stored");
                self.figures.lost_captures += 1;
                false
            }
        };
        let rules = self.settings.politeness;
        let Some(source) = self.sources.same(flight.choice.source, flight.id) else { return };
        let (mut is_wanted, mut is_unnoted) = (false, false);
        let input = match flight.ending {
            Some(Ending::Looked { seen, at, follow_up, is_noted }) if is_stored => {
                is_unnoted = !is_noted;
                is_wanted = follow_up == FollowUp::Soon;
                (source.last_look, source.not_before, source.failures) = (Some(at), None, 0);
                Input::Looked { source: flight.choice.source, seen }
            }
            Some(Ending::Failed { not_before, failures }) if is_stored => {
                (source.not_before, source.failures) = (Some(not_before), failures);
                Input::Failed { source: flight.choice.source, not_before }
            }
            // What was seen is not stored, so it has to be seen again, but not at once.
            _ => {
                source.failures = source.failures.saturating_add(1);
                let not_before = now.plus(pause_after(&rules, source.failures));
                Input::Failed { source: flight.choice.source, not_before }
            }
        };
        self.tell(now, input);
        if is_unnoted {
            self.note_later(flight.choice.source);
        }
        if is_wanted {
            self.tell(now, Input::Wanted { source: flight.choice.source });
        }
        self.settle(now, flight.choice.source, flight.id);
    }

    /// What the forecast will know once this look is stored, as a note to be stored with it.
    fn learned_after(
        &self,
        source: SourceIdx,
        since: Option<Time>,
        at: Time,
        seen: &Seen,
    ) -> Option<dunlin_store::Note> {
        let look = Look { since, at, seen: seen.clone() };
        let model = self.watch.watch().model_after(source, &look)?;
        learned_note(&Learned { last_look: Some(at), model })
    }

    /// The state to store, if it is another one than before. It counts from when the health last became another one.
    pub(super) fn state_after(
        &mut self,
        now: Time,
        index: SourceIdx,
        health: Option<(Health, Option<String>)>,
    ) -> Option<SourceState> {
        let (health, reason) = health?;
        let before = &mut self.sources.get_mut(index)?.state;
        let reason = match reason {
            None if before.health == health && !is_about_the_way(&before.reason) => return None,
            reason => reason.unwrap_or_default(),
        };
        if before.health == health && before.reason == reason {
            return None;
        }
        let since = if before.health == health { before.since } else { now };
        *before = SourceState { health, reason, since };
        Some(before.clone())
    }

    /// What is to be stored about the places that `url` concerns.
    pub(super) fn remembered(&self, url: &ScopedUrl) -> Vec<dunlin_store::Politeness> {
        let stored = |(scope, state): (&str, &politeness::ScopeState)| {
            let state = postcard::to_allocvec(state).ok()?;
            Some(dunlin_store::Politeness { scope: scope.to_owned(), state })
        };
        self.politeness.to_store(url).filter_map(stored).collect()
    }

    /// How long a source waits after so many failures of its own.
    pub(super) fn own_pause(&self, failures: u32) -> Duration {
        pause_after(&self.settings.politeness, failures)
    }

    pub(super) fn count_failure(&mut self, fault: Fault) {
        match fault {
            Fault::Remote => self.figures.failed_remote += 1,
            Fault::Ours => self.figures.failed_ours += 1,
            Fault::User => self.figures.failed_user += 1,
        }
    }
}

fn pause_after(rules: &politeness::Rules, failures: u32) -> Duration {
    doubled(rules.first_backoff, failures, rules.longest_backoff)
}

/// `first`, doubled with every failure after the first one, up to `longest`.
fn doubled(first: Duration, failures: u32, longest: Duration) -> Duration {
    first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(longest)
}
