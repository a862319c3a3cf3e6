//! What keeps everything from working: a store that cannot be written, or our own failing network. While it lasts no
//! probe starts, or one at a time, so that no source is blamed and nothing runs hot.

use std::time::Duration;

use dunlin_core::{Backoff, Time};

/// This many of our own failures in a row, without a success in between, are the network's.
const IN_A_ROW: u32 = 3;
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(5), longest: Duration::from_mins(1) };

/// What is wrong at present.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Why the store cannot be written.
    pub(super) store: Option<String>,
    n_ours: u32,
    pause: Option<(Time, Duration)>,
    reason: String,
}

impl Trouble {
    /// A fetch failed by our own fault.
    pub(super) fn ours(&mut self, now: Time, reason: &str) {
        self.n_ours = self.n_ours.saturating_add(1);
        if self.n_ours >= IN_A_ROW {
            self.pause = Some((now, BACKOFF.after(self.n_ours - IN_A_ROW + 1)));
            reason.clone_into(&mut self.reason);
        }
    }

    /// A fetch reached a server, so the network works.
    pub(super) fn fine(&mut self) {
        self.n_ours = 0;
        self.pause = None;
    }

    /// Why nothing can be fetched.
    pub(super) fn network(&self) -> Option<String> {
        self.pause.map(|_| self.reason.clone())
    }

    /// The most probes that may start at `now`.
    pub(super) fn most(&self, now: Time) -> u32 {
        match self.pause {
            _ if self.store.is_some() => 0,
            None => u32::MAX,
            // A clock that was set back ends the pause early, which costs one attempt.
            Some((since, pause)) if now >= since && now.since(since) < pause => 0,
            Some(_) => 1,
        }
    }
}
