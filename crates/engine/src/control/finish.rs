//! From the result of a probe to what is written and learned: politeness first, then the capture of each source is completed
//! and goes to the writer; the scheduler is updated when all of them are in the store.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Backoff, Fault, SourceIdx, Time};
use dunlin_net::politeness::{self, ScopedUrl};
use dunlin_sched::model::{Evidence, ProbeEvidence};
use dunlin_sched::scheduler::{Input, Shown, ShownTo};
use dunlin_store::{
    Capture, CapturedInterval, Health, Outcome, ProbeId, Recorded, Repeated, SourceId, SourceState,
};

use super::in_flight::{ActiveProbe, ActiveSource, Ending};
use super::sources::Audience;
use super::{Command, Control, Write};
use crate::capture::{Failure, FollowUp, ProbeOutcome, ProbeResult, Refusal, SourceEnd, SourceResult};
use crate::memory::{Learned, learned_note, probe_note};

/// The longest pause while something else is shown in place of a source.
const LONGEST_REPLACED: Duration = Duration::from_hours(1);
/// The first pause after a refusal; it doubles up to the longest gap.
const FIRST_REFUSAL: Duration = Duration::from_hours(1);

impl Control {
    pub(super) fn probed(&mut self, now: Time, result: ProbeResult, commands: &mut Vec<Command>) {
        let ProbeResult { probe, politeness_outcome, n_bytes, redirect_chain, fetch_state, sources } = result;
        let Some(active) = self.in_flight.get(probe) else { return };
        let url = Arc::clone(&active.url);
        self.stats.bytes += n_bytes;
        self.hop_ended(now, probe, politeness_outcome);
        let mut politeness = self.admission.to_store(&url);
        politeness.extend(self.count_chain(now, probe, &redirect_chain));
        self.count_result(now, &sources);
        let begun = self.begun_by(probe);
        let mut captures = Vec::with_capacity(sources.len());
        for end in sources {
            let Some(index) = self.active_source(probe, end.source()) else { continue };
            let (mut seen, mut news) = (Vec::new(), None);
            let (ending, mut capture) = match end {
                SourceEnd::Result(mut result) => {
                    (seen, news) = (std::mem::take(&mut result.seen), result.news.take());
                    self.completed(now, index, *result, &url)
                }
                SourceEnd::Crashed { source, reason } => self.crash_of(now, probe, index, source, &reason),
                SourceEnd::Dropped { source, reason } => {
                    tracing::warn!(%source, reason, "a probe was dropped");
                    (self.own_failure(now, index), None)
                }
            };
            if let (Some(capture), Ending::Observed { .. }) = (&mut capture, &ending) {
                let own = begun.iter().filter(|(source, _)| *source == index);
                capture.intervals = own.map(|(_, interval)| *interval).collect();
                self.step_queries(now, capture, &seen);
                let begun = capture.steps.iter().filter(|step| step.wants().is_some());
                self.in_flight.set_begun(probe, index, begun.map(|step| step.instance).collect());
                let to_rank = self.step_watches(capture, news);
                self.in_flight.set_to_rank(probe, index, to_rank);
            }
            if let Some(capture) = &mut capture
                && self.sources.get(index).is_some_and(|source| source.audience == Audience::Queries)
            {
                // Its owner is told results, and wants no news of it.
                capture.changes.clear();
                capture.messages.clear();
            }
            captures.extend(capture);
            self.in_flight.set_ending(probe, index, ending);
        }
        if let Some(first) = captures.first_mut() {
            first.politeness = politeness;
            first.fetch_state = fetch_state.and_then(|state| state.to_bytes());
        }
        self.queue_captures(now, probe, captures, commands);
    }

    /// The intervals of CEIs that a probe captures for each source to which it shows something.
    fn begun_by(&self, probe: ProbeId) -> Vec<(SourceIdx, CapturedInterval)> {
        let Some(resource) = self.in_flight.get(probe).map(|active| active.choice.resource) else {
            return Vec::new();
        };
        let is_own = self.resources.get(resource).is_some_and(|known| known.active_probe == Some(probe));
        if is_own { self.begun_intervals(resource) } else { Vec::new() }
    }

    /// Counts the outcome of a fetch once, however many sources it served.
    fn count_result(&mut self, now: Time, sources: &[SourceEnd]) {
        let mut failed = None;
        for end in sources {
            match end {
                SourceEnd::Result(result) => match &result.outcome {
                    ProbeOutcome::Failed(failure) => failed = failed.or(Some(failure)),
                    ProbeOutcome::Observed { .. } => return self.trouble.fine(),
                },
                SourceEnd::Crashed { .. } => self.stats.crashed += 1,
                SourceEnd::Dropped { .. } => {}
            }
        }
        match failed {
            Some(failure) => {
                self.count_failure(failure.fault);
                match failure.fault {
                    Fault::Ours => self.trouble.ours(now, &failure.reason),
                    _ => self.trouble.fine(),
                }
            }
            None => self.count_failure(Fault::Ours),
        }
    }

    /// Completes the capture of one source.
    fn completed(
        &mut self,
        now: Time,
        index: SourceIdx,
        result: SourceResult,
        url: &ScopedUrl,
    ) -> (Ending, Option<Capture>) {
        let SourceResult {
            mut capture,
            outcome,
            mut note,
            is_noted,
            suppressed: _,
            health,
            seen: _,
            news: _,
        } = result;
        let Some(source) = self.sources.get(index) else { return (Ending::Gone, None) };
        let (last_probe, failures) = (source.last_probe, source.failures);
        self.complete_health(now, index, health, &mut capture);
        if let ProbeOutcome::Failed(_) = outcome {
            note.last_failure = Some(capture.at);
        }
        let ending = match outcome {
            ProbeOutcome::Observed { evidence, follow_up } => {
                if !is_noted {
                    capture.notes.extend(self.learned_after(index, last_probe, capture.at, &evidence));
                    capture.notes.extend(probe_note(&note));
                }
                match capture.outcome {
                    Outcome::Changed => self.stats.changed += 1,
                    _ => self.stats.unchanged += 1,
                }
                Ending::Observed { evidence, at: capture.at, follow_up, is_noted: !is_noted }
            }
            ProbeOutcome::Failed(failure) => {
                let (not_before, failures) = self.pause_of(now, &failure, failures, url);
                (note.not_before, note.failures) = (Some(not_before), failures);
                capture.notes.extend(probe_note(&note));
                Ending::Failed { not_before, failures }
            }
        };
        capture.keep_versions = capture.version.as_ref().and(self.settings.keep.n_versions);
        (ending, Some(capture))
    }

    /// A hop has ended: its host rests. For a host that a redirect led to, only explicit answers count.
    pub(super) fn hop_ended(&mut self, now: Time, probe: ProbeId, politeness_outcome: politeness::Outcome) {
        let Some(active) = self.in_flight.get(probe) else { return };
        let (url, own_host) = (Arc::clone(&active.url), active.redirect.is_none().then_some(active.host));
        let politeness_outcome =
            if own_host.is_none() { politeness_outcome.explicit_only() } else { politeness_outcome };
        self.admission.finished(&url, politeness_outcome, now);
        let host = own_host.unwrap_or_else(|| self.host_of(now, url.url()));
        self.hold(now, host, &url);
    }

    /// When the next attempt may follow a failure, and how many failures in a row that makes.
    fn pause_of(&mut self, now: Time, failure: &Failure, failures: u32, url: &ScopedUrl) -> (Time, u32) {
        if failure.fault == Fault::Ours {
            return (now.plus(self.settings.politeness.first_backoff), failures);
        }
        let failures = failures.saturating_add(1);
        let not_before = match failure.refusal {
            Refusal::Lasting => {
                let longest = self.settings.longest_gap.max(FIRST_REFUSAL);
                now.plus(Backoff { first: FIRST_REFUSAL, longest }.after(failures))
            }
            Refusal::Replaced => now.plus(self.own_pause(failures).min(LONGEST_REPLACED)),
            Refusal::Passing => {
                let until = self.admission.failed_until(url, now);
                until.unwrap_or_else(|| now.plus(self.own_pause(failures)))
            }
        };
        (not_before, failures)
    }

    /// The pipeline panicked: our own failure, but with this resource, so it waits.
    pub(super) fn crashed(&mut self, now: Time, probe: ProbeId, reason: &str, commands: &mut Vec<Command>) {
        let Some(url) = self.in_flight.get(probe).map(|active| Arc::clone(&active.url)) else { return };
        let sources = self.in_flight.sources_of(probe);
        self.hop_ended(now, probe, politeness::Outcome::Abandoned);
        self.stats.crashed += 1;
        self.count_failure(Fault::Ours);
        let mut captures = Vec::with_capacity(sources.len());
        for (index, id) in sources {
            if self.active_source(probe, id).is_some() {
                let (ending, capture) = self.crash_of(now, probe, index, id, reason);
                captures.extend(capture);
                self.in_flight.set_ending(probe, index, ending);
            }
        }
        if let Some(first) = captures.first_mut() {
            first.politeness = self.admission.to_store(&url);
        }
        self.queue_captures(now, probe, captures, commands);
    }

    /// What a panic while reading a source means for it.
    fn crash_of(
        &mut self,
        now: Time,
        probe: ProbeId,
        index: SourceIdx,
        id: SourceId,
        reason: &str,
    ) -> (Ending, Option<Capture>) {
        let reason = format!("internal error while reading it: {reason} (please report this)");
        let failure = Failure::new(Fault::Ours, reason);
        let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
        let mut capture = Capture::bare(id, probe, now, outcome);
        self.complete_health(now, index, Some((Health::Failing, failure.reason)), &mut capture);
        (self.own_failure(now, index), Some(capture))
    }

    /// A failure of our own with one source, which waits longer each time.
    fn own_failure(&mut self, now: Time, index: SourceIdx) -> Ending {
        let Some(source) = self.sources.get(index) else { return Ending::Gone };
        let failures = source.failures.saturating_add(1);
        Ending::Failed { not_before: now.plus(self.own_pause(failures)), failures }
    }

    /// A probe has no result to store.
    pub(super) fn dropped(&mut self, now: Time, probe: ProbeId, reason: &str) {
        self.hop_ended(now, probe, politeness::Outcome::Abandoned);
        if self.in_flight.get(probe).is_none() {
            return;
        }
        self.count_failure(Fault::Ours);
        for (index, id) in self.in_flight.sources_of(probe) {
            tracing::warn!(source = %id, reason, "a probe was dropped");
            if self.active_source(probe, id).is_some() {
                let ending = self.own_failure(now, index);
                self.in_flight.set_ending(probe, index, ending);
            }
        }
        self.end_if_written(now, probe);
    }

    /// The index of a source of an active probe; `None` if the source is gone, or another one has its index.
    pub(super) fn active_source(&mut self, probe: ProbeId, id: SourceId) -> Option<SourceIdx> {
        let active = self.in_flight.get(probe)?;
        let index = active.sources.iter().find(|source| source.id == id)?.index;
        self.sources.same(index, id).map(|_| index)
    }

    /// Hands the captures of a probe to the writer; the probe ends when they are in the store.
    pub(super) fn queue_captures(
        &mut self,
        now: Time,
        probe: ProbeId,
        captures: Vec<Capture>,
        commands: &mut Vec<Command>,
    ) {
        let Some(active) = self.in_flight.get_mut(probe) else { return };
        active.n_unwritten = captures.len();
        let writes = captures.into_iter().map(|capture| Write::Capture(Arc::new(capture)));
        commands.extend(writes.map(Command::Write));
        self.end_if_written(now, probe);
    }

    /// A capture is in the store, or never will be.
    pub(super) fn written(
        &mut self,
        now: Time,
        probe: ProbeId,
        source: SourceId,
        result: Result<Recorded, dunlin_store::Error>,
        commands: &mut Vec<Command>,
    ) {
        if let Ok(recorded) = &result {
            self.count_recorded(recorded);
        }
        let Some(active) = self.in_flight.get_mut(probe) else { return };
        active.n_unwritten = active.n_unwritten.saturating_sub(1);
        let Some(own) = active.sources.iter_mut().find(|own| own.id == source) else { return };
        let index = own.index;
        let (begun, to_rank) = (std::mem::take(&mut own.begun), std::mem::take(&mut own.to_rank));
        let captured_at = if let Ending::Observed { at, .. } = &own.ending { Some(*at) } else { None };
        match result {
            Ok(recorded) => {
                commands.extend(begun.into_iter().map(|id| Command::Write(Write::ReadInstance(id))));
                self.rank_text(source, &to_rank, commands);
                if let Some((at, version)) = captured_at.zip(recorded.version) {
                    self.note_version(source, at, version);
                }
            }
            Err(dunlin_store::Error::NoSuchSource(_)) => own.ending = Ending::Gone,
            Err(error) => {
                tracing::error!(%source, %error, "a capture could not be stored");
                self.stats.lost_captures += 1;
                // The observation is not stored, so it has to be made again, but not at once.
                let ending = self.own_failure(now, index);
                self.in_flight.set_ending(probe, index, ending);
            }
        }
        self.end_if_written(now, probe);
    }

    fn count_recorded(&mut self, recorded: &Recorded) {
        self.pending_notes.written(recorded.observation);
        if recorded.repeated == Repeated::No {
            self.stats.captures += 1;
            let n_changes = recorded.cursors.map_or(0, |(first, last)| last.0 - first.0 + 1);
            self.stats.changes += n_changes.unsigned_abs();
            self.stats.versions += u64::from(recorded.version.is_some());
        }
    }

    /// Ends a probe all of whose captures are written: its sources and the scheduler learn what came of it.
    fn end_if_written(&mut self, now: Time, probe: ProbeId) {
        if self.in_flight.get(probe).is_none_or(|active| active.n_unwritten > 0) {
            return;
        }
        let Some(active) = self.in_flight.end(probe) else { return };
        let (mut each, mut unnoted, mut is_follow_up) = (Vec::new(), Vec::new(), false);
        for ActiveSource { index, id, ending, .. } in &active.sources {
            let Some(source) = self.sources.same(*index, *id) else { continue };
            match ending {
                Ending::Observed { evidence, at, follow_up, is_noted } => {
                    (source.last_probe, source.not_before, source.failures) = (Some(*at), None, 0);
                    if !is_noted {
                        unnoted.push(*index);
                    }
                    is_follow_up |= *follow_up == FollowUp::Soon;
                    each.push((*index, ShownTo::Evidence(evidence.clone())));
                }
                Ending::Failed { not_before, failures } => {
                    (source.not_before, source.failures) = (Some(*not_before), *failures);
                    each.push((*index, ShownTo::Unreadable { not_before: *not_before }));
                }
                Ending::Gone => {}
            }
        }
        self.report_ended(now, probe, &active, each);
        unnoted.into_iter().for_each(|index| self.note_later(index));
        if is_follow_up {
            self.update_scheduler(now, Input::ProbeRequested { resource: active.choice.resource });
        }
        for ActiveSource { index, id, .. } in &active.sources {
            self.release(now, *index, *id);
        }
    }

    /// Reports to the scheduler how a probe has ended, unless its resource is gone.
    fn report_ended(
        &mut self,
        now: Time,
        probe: ProbeId,
        active: &ActiveProbe,
        each: Vec<(SourceIdx, ShownTo)>,
    ) {
        let resource = active.choice.resource;
        let Some(known) = self.resources.get_mut(resource) else { return };
        if known.active_probe.take_if(|own| *own == probe).is_none() {
            return;
        }
        // Those that came during the probe were not served by it.
        let served_all = known.sources().all(|source| each.iter().any(|(own, _)| *own == source));
        let is_same = each.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let input = match each.first() {
            Some((_, ShownTo::Evidence(evidence))) if is_same && served_all => {
                Input::Probed { resource, shown: Shown::All(evidence.clone()) }
            }
            Some((_, ShownTo::Unreadable { not_before })) if is_same && served_all => {
                Input::ProbeFailed { resource, not_before: *not_before }
            }
            _ => Input::Probed { resource, shown: Shown::Each(each) },
        };
        self.update_scheduler(now, input);
    }

    /// What the forecast will know once this probe is stored, as a note to be stored with it.
    fn learned_after(
        &self,
        source: SourceIdx,
        since: Option<Time>,
        at: Time,
        evidence: &Evidence,
    ) -> Option<dunlin_store::Note> {
        let resource = self.sources.resource(source)?;
        let observation = ProbeEvidence { since, at, evidence: evidence.clone() };
        let model = self.scheduler.scheduler().model_after(resource, source, &observation)?;
        learned_note(&Learned { last_probe: Some(at), model })
    }

    /// The state to store, if it has changed. Its time is that of the last change of health.
    pub(super) fn state_after(
        &mut self,
        now: Time,
        index: SourceIdx,
        health: Option<(Health, String)>,
    ) -> Option<SourceState> {
        let (health, reason) = health?;
        let before = &self.sources.get(index)?.state;
        if before.health == health && before.reason == reason {
            return None;
        }
        let since = if before.health == health { before.since } else { now };
        let after = SourceState { health, reason, since, announced: before.announced };
        self.sources.set_state(index, after.clone());
        Some(after)
    }

    /// How long a source waits after this many failures.
    pub(super) fn own_pause(&self, failures: u32) -> Duration {
        self.settings.politeness.backoff().after(failures)
    }

    pub(super) fn count_failure(&mut self, fault: Fault) {
        match fault {
            Fault::Remote => self.stats.failed_remote += 1,
            Fault::Ours => self.stats.failed_ours += 1,
            Fault::User => self.stats.failed_user += 1,
        }
    }
}
