//! When the owner of a source is told that it fails, needs attention or is well again: as a change among the others, once each,
//! and only of trouble that lasts. What is wrong with a source is decided elsewhere.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_store::{Capture, Health, NewChange};

use super::Control;

/// Trouble that is over within this time is not told.
const GRACE: Duration = Duration::from_mins(10);

/// The kinds of these changes. They say nothing of what is on the source.
const KINDS: [&str; 4] = ["attention", "failing", "refused", "recovered"];

/// Whether a change of this kind is about the health of its source, and not about its content.
pub fn is_about_health(kind: &str) -> bool {
    KINDS.contains(&kind)
}

impl Control {
    /// Completes a capture by the new health of its source, and by what its owner is to be told of it.
    pub(super) fn complete_health(
        &mut self,
        now: Time,
        index: SourceIdx,
        health: Option<(Health, String)>,
        capture: &mut Capture,
    ) {
        let Some(source) = self.sources.get(index) else { return };
        let (was_since, last_probe) = (source.state.since, source.last_probe);
        capture.state = self.state_after(now, index, health);
        let Some(source) = self.sources.get(index) else { return };
        let mut state = source.state.clone();
        let lasts = now.since(state.since);
        let trouble = Some(state.health).filter(|health| !matches!(health, Health::New | Health::Well));
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
