//! When the owner of a source is told that it fails, needs attention or is well again: as a change among the others, once each,
//! and only of trouble that lasts. That is noticed at the end of the grace time, whether or not the source is probed by then. What
//! is wrong with a source is decided elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, SourceIdx, Time};
use dunlin_store::{Capture, Health, NewChange, Outcome, SourceId, SourceState};

use super::{Command, Control, Write};

/// Trouble that is over within this time is not told.
const GRACE: Duration = Duration::from_mins(10);

/// The kinds of these changes. They say nothing of what is on the source.
const KINDS: [&str; 4] = ["attention", "failing", "refused", "recovered"];

/// Whether a change of this kind is about the health of its source, and not about its content.
pub fn is_about_health(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// How many are told in one step, so that deciding does not wait when all of the web is in trouble.
const AT_ONE_TIME: usize = 256;

/// Sources whose trouble is not told yet, by when it is told if it lasts. Some of them may be well again.
#[derive(Debug, Default)]
pub(super) struct GraceTimes(BTreeSet<(Time, SourceId)>);

impl GraceTimes {
    /// When the first of them ends.
    pub(super) fn next_end(&self) -> Option<Time> {
        self.0.first().map(|(end, _)| *end)
    }

    fn take_ended(&mut self, now: Time) -> Option<SourceId> {
        let first = self.0.first().copied().filter(|(end, _)| *end <= now)?;
        self.0.remove(&first);
        Some(first.1)
    }
}

/// The trouble that a source is in, if it is in any.
fn trouble_of(state: &SourceState) -> Option<Health> {
    Some(state.health).filter(|health| !matches!(health, Health::New | Health::Well))
}

impl Control {
    /// Trouble that is not told yet will be, unless it ends soon.
    pub(super) fn await_grace(&mut self, id: SourceId, state: &SourceState) {
        let trouble = trouble_of(state);
        if trouble.is_some() && trouble != state.announced {
            self.grace_times.0.insert((state.since.plus(GRACE), id));
        }
    }

    /// Tells of sources whose trouble has lasted for the grace time by now. Such a message is stored like the result of a probe
    /// that found what the last one found; no request is made for it.
    pub(super) fn announce_lasting(&mut self, now: Time, commands: &mut Vec<Command>) {
        for _ in 0..AT_ONE_TIME {
            let Some(id) = self.grace_times.take_ended(now) else { break };
            let Some(index) = self.sources.find(id) else { continue };
            // One that is paused is nobody's trouble.
            let Some(source) = self.sources.get(index).filter(|source| source.resource.is_some()) else {
                continue;
            };
            let (since, reason) = (source.state.since, source.state.reason.clone());
            let is_refused = source.state.health == Health::Refused;
            let fault = if is_refused { Fault::User } else { Fault::Remote };
            let outcome = Outcome::Failed { fault, reason };
            let mut capture = Capture::bare(id, self.in_flight.next_id(), now, outcome);
            self.announce(now, index, since, &mut capture);
            if !capture.changes.is_empty() {
                commands.push(Command::Write(Write::Capture(Arc::new(capture))));
            }
        }
    }

    /// Completes a capture by the new health of its source, and by what its owner is to be told of it.
    pub(super) fn complete_health(
        &mut self,
        now: Time,
        index: SourceIdx,
        health: Option<(Health, String)>,
        capture: &mut Capture,
    ) {
        let Some(source) = self.sources.get(index) else { return };
        let (id, was_since) = (source.id, source.state.since);
        capture.state = self.state_after(now, index, health);
        self.announce(now, index, was_since, capture);
        if let Some(state) = &capture.state {
            self.await_grace(id, state);
        }
    }

    /// Adds to a capture what the owner of its source is to be told of its health. `was_since` is since when it had been in the
    /// state before.
    fn announce(&mut self, now: Time, index: SourceIdx, was_since: Time, capture: &mut Capture) {
        let Some(source) = self.sources.get(index) else { return };
        let (mut state, last_probe) = (source.state.clone(), source.last_probe);
        let lasts = now.since(state.since);
        let trouble = trouble_of(&state);
        let is_over = state.health == Health::Well;
        if trouble == state.announced || (!is_over && (trouble.is_none() || lasts < GRACE)) {
            return;
        }
        let reason = &state.reason;
        let (kind, summary) = match state.health {
            Health::Attention => ("attention", format!("needs attention: {reason}")),
            Health::Failing => ("failing", format!("cannot be read for {} now: {reason}", in_words(lasts))),
            Health::Refused => ("refused", format!("cannot be watched until you act: {reason}")),
            Health::New | Health::Well => {
                ("recovered", format!("is well again after {}", in_words(now.since(was_since))))
            }
        };
        // Trouble began before it was first seen, and ended before it was seen to have ended.
        let happened_before = if is_over { now } else { state.since };
        capture.changes.push(NewChange {
            kind: kind.to_owned(),
            item: None,
            summary,
            detail: Vec::new(),
            happened_after: last_probe.filter(|at| *at <= happened_before),
            happened_before,
        });
        state.announced = trouble;
        self.sources.set_state(index, state.clone());
        capture.state = Some(state);
    }
}

/// A length of time in one unit, as people say it.
fn in_words(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    let (number, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..120 => (minutes, "minute"),
        120..2_880 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}
