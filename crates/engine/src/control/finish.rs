//! From the result of a probe to what is written and learned: politeness first, then the capture is completed and goes to
//! the writer; the watch is updated only when the capture is in the store.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, SourceIdx, Time};
use dunlin_net::politeness::{self, MayFetch, ScopedUrl};
use dunlin_sched::model::{Look, Seen};
use dunlin_sched::watch::Input;
use dunlin_store::{Capture, Health, Outcome, ProbeId, Recorded, Repeated, SourceState};

use super::{Command, Control, WatchUpdate, Write};
use crate::capture::{Failure, FollowUp, ProbeOutcome, ProbeResult, Refusal, is_about_redirect};
use crate::memory::{Learned, learned_note, probe_note};

/// The first pause after a refusal; it doubles up to the longest gap.
const FIRST_REFUSAL: Duration = Duration::from_hours(1);

impl Control {
    pub(super) fn probed(&mut self, now: Time, result: Box<ProbeResult>, commands: &mut Vec<Command>) {
        let ProbeResult {
            mut capture,
            politeness_outcome,
            outcome,
            mut note,
            is_noted,
            health,
            n_bytes,
            redirect_chain,
        } = *result;
        let probe = capture.probe;
        let Some(active) = self.active_probes.get(&probe) else { return };
        let (index, id, url) = (active.choice.source, active.id, Arc::clone(&active.url));
        self.figures.bytes += n_bytes;
        self.hop_ended(now, probe, politeness_outcome);
        capture.politeness = self.remembered(&url);
        capture.politeness.extend(self.count_chain(now, probe, &redirect_chain));
        let Some(source) = self.sources.same(index, id) else {
            // The source was removed: there is nothing left to store it under.
            self.active_probes.remove(&probe);
            return;
        };
        let (last_probe, failures) = (source.last_probe, source.failures);
        let ending = match outcome {
            ProbeOutcome::Observed { seen, follow_up } => {
                self.trouble.fine();
                if !is_noted {
                    capture.notes.extend(self.learned_after(index, last_probe, capture.at, &seen));
                    capture.notes.extend(probe_note(&note));
                }
                match capture.outcome {
                    Outcome::Changed => self.figures.changed += 1,
                    _ => self.figures.unchanged += 1,
                }
                WatchUpdate::Observed { seen, at: capture.at, follow_up, is_noted: !is_noted }
            }
            ProbeOutcome::Failed(failure) => {
                let ending = self.failure(now, &failure, failures, &url);
                if let WatchUpdate::Failed { not_before, failures } = ending {
                    (note.not_before, note.failures) = (Some(not_before), failures);
                }
                capture.notes.extend(probe_note(&note));
                ending
            }
        };
        capture.state = self.state_after(now, index, health);
        capture.keep_versions = capture.version.as_ref().and(self.settings.keep.n_versions);
        self.queue_capture(probe, ending, capture, commands);
    }

    /// A hop has ended: its host rests. For a host that a redirect led to, only explicit answers count.
    pub(super) fn hop_ended(&mut self, now: Time, probe: ProbeId, politeness_outcome: politeness::Outcome) {
        let Some(active) = self.active_probes.get(&probe) else { return };
        let (url, own_host) = (Arc::clone(&active.url), active.redirect.is_none().then_some(active.host));
        let politeness_outcome =
            if own_host.is_none() { politeness_outcome.explicit_only() } else { politeness_outcome };
        self.politeness.finished(&url, politeness_outcome, now);
        let host = own_host.unwrap_or_else(|| self.host_of(now, url.url()));
        self.hold(now, host, &url);
    }

    /// When the next attempt may follow a failure.
    fn failure(&mut self, now: Time, failure: &Failure, failures: u32, url: &ScopedUrl) -> WatchUpdate {
        self.count_failure(failure.fault);
        let rules = self.settings.politeness;
        if failure.fault == Fault::Ours {
            self.trouble.ours(now, &failure.reason);
            return WatchUpdate::Failed { not_before: now.plus(rules.first_backoff), failures };
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
        WatchUpdate::Failed { not_before, failures }
    }

    /// The pipeline panicked: our own failure, but with this source, so this source waits.
    pub(super) fn crashed(&mut self, now: Time, probe: ProbeId, reason: &str, commands: &mut Vec<Command>) {
        let Some(active) = self.active_probes.get(&probe) else { return };
        let (index, id, url) = (active.choice.source, active.id, Arc::clone(&active.url));
        self.hop_ended(now, probe, politeness::Outcome::Abandoned);
        self.figures.crashed += 1;
        self.count_failure(Fault::Ours);
        let Some(source) = self.sources.same(index, id) else {
            self.active_probes.remove(&probe);
            return;
        };
        let failures = source.failures.saturating_add(1);
        let not_before = now.plus(self.own_pause(failures));
        let reason = format!("internal error while reading it: {reason} (please report this)");
        let failure = Failure::new(Fault::Ours, reason);
        let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
        let mut capture = Capture::bare(id, probe, now, outcome);
        capture.politeness = self.remembered(&url);
        capture.state = self.state_after(now, index, Some((Health::Failing, Some(failure.reason))));
        self.queue_capture(probe, WatchUpdate::Failed { not_before, failures }, capture, commands);
    }

    /// A probe has no result to store.
    pub(super) fn dropped(&mut self, now: Time, probe: ProbeId, reason: &str) {
        self.hop_ended(now, probe, politeness::Outcome::Abandoned);
        let Some(active) = self.active_probes.remove(&probe) else { return };
        tracing::warn!(source = %active.id, reason, "a probe was dropped");
        self.count_failure(Fault::Ours);
        let rules = self.settings.politeness;
        let Some(source) = self.sources.same(active.choice.source, active.id) else { return };
        source.failures = source.failures.saturating_add(1);
        let not_before = now.plus(pause_after(&rules, source.failures));
        source.not_before = Some(not_before);
        self.update_watch(now, Input::Failed { source: active.choice.source, not_before });
        self.release(now, active.choice.source, active.id);
    }

    /// Hands a capture to the writer; the probe ends when it is in the store.
    pub(super) fn queue_capture(
        &mut self,
        probe: ProbeId,
        ending: WatchUpdate,
        capture: Capture,
        commands: &mut Vec<Command>,
    ) {
        if let Some(active) = self.active_probes.get_mut(&probe) {
            active.ending = Some(ending);
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
        let Some(active) = self.active_probes.remove(&probe) else { return };
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
                tracing::error!(source = %active.id, %error, "a capture could not be stored");
                self.figures.lost_captures += 1;
                false
            }
        };
        let rules = self.settings.politeness;
        let Some(source) = self.sources.same(active.choice.source, active.id) else { return };
        let (mut is_follow_up, mut is_unnoted) = (false, false);
        let input = match active.ending {
            Some(WatchUpdate::Observed { seen, at, follow_up, is_noted }) if is_stored => {
                is_unnoted = !is_noted;
                is_follow_up = follow_up == FollowUp::Soon;
                (source.last_probe, source.not_before, source.failures) = (Some(at), None, 0);
                Input::Looked { source: active.choice.source, seen }
            }
            Some(WatchUpdate::Failed { not_before, failures }) if is_stored => {
                (source.not_before, source.failures) = (Some(not_before), failures);
                Input::Failed { source: active.choice.source, not_before }
            }
            // The observation is not stored, so it has to be made again, but not at once.
            _ => {
                source.failures = source.failures.saturating_add(1);
                let not_before = now.plus(pause_after(&rules, source.failures));
                Input::Failed { source: active.choice.source, not_before }
            }
        };
        self.update_watch(now, input);
        if is_unnoted {
            self.note_later(active.choice.source);
        }
        if is_follow_up {
            self.update_watch(now, Input::Wanted { source: active.choice.source });
        }
        self.release(now, active.choice.source, active.id);
    }

    /// What the forecast will know once this probe is stored, as a note to be stored with it.
    fn learned_after(
        &self,
        source: SourceIdx,
        since: Option<Time>,
        at: Time,
        seen: &Seen,
    ) -> Option<dunlin_store::Note> {
        let observation = Look { since, at, seen: seen.clone() };
        let model = self.watch.watch().model_after(source, &observation)?;
        learned_note(&Learned { last_probe: Some(at), model })
    }

    /// The state to store, if it has changed. Its time is that of the last change of health.
    pub(super) fn state_after(
        &mut self,
        now: Time,
        index: SourceIdx,
        health: Option<(Health, Option<String>)>,
    ) -> Option<SourceState> {
        let (health, reason) = health?;
        let before = &mut self.sources.get_mut(index)?.state;
        let reason = match reason {
            None if before.health == health && !is_about_redirect(&before.reason) => return None,
            reason => reason.unwrap_or_default(),
        };
        if before.health == health && before.reason == reason {
            return None;
        }
        let since = if before.health == health { before.since } else { now };
        *before = SourceState { health, reason, since };
        Some(before.clone())
    }

    /// What to store about the scopes of `url`.
    pub(super) fn remembered(&self, url: &ScopedUrl) -> Vec<dunlin_store::Politeness> {
        let stored = |(scope, state): (&str, &politeness::ScopeState)| {
            let state = postcard::to_allocvec(state).ok()?;
            Some(dunlin_store::Politeness { scope: scope.to_owned(), state })
        };
        self.politeness.to_store(url).filter_map(stored).collect()
    }

    /// How long a source waits after this many failures.
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
