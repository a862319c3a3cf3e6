//! Signs of life that the loop and the writer leave as they run: they show whether anything is captured. Reading them
//! needs no reply from either, so it works when one of them hangs. Uses the monotonic clock.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::readers::Readers;

/// Why nothing is captured at present, though everything seems to run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Standstill {
    /// The loop has decided nothing for so long.
    #[error("no decision has been made for {} s", .since.as_secs())]
    Deciding {
        /// Since the last one.
        since: Duration,
    },
    /// One write to the store takes this long already.
    #[error("the store has been busy with one write for {} s", .since.as_secs())]
    Writing {
        /// Since it began.
        since: Duration,
    },
    /// Pages that took too long to read have all the readers.
    #[error("all {n_readers} readers are busy with pages whose reading was abandoned")]
    Reading {
        /// How many there are.
        n_readers: usize,
    },
}

impl Standstill {
    /// What to try.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Deciding { .. } => "look at the log; restart the service if this stays",
            Self::Writing { .. } => "look at the disk; restart the service if this stays",
            Self::Reading { .. } => {
                "pause or edit the sources whose reason is that reading took too long; a restart frees the readers"
            }
        }
    }
}

/// The signs.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// How old the latest sign may be.
    patience: Duration,
    ticked: Mutex<Instant>,
    /// Since when something is being written.
    writing: Mutex<Option<Instant>>,
    readers: Readers,
}

impl Heartbeat {
    pub(crate) fn new(patience: Duration, readers: Readers) -> Self {
        Self { patience, ticked: Mutex::new(Instant::now()), writing: Mutex::new(None), readers }
    }

    /// A decision was made.
    pub(crate) fn tick(&self) {
        *self.ticked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// A write begins; it ends when what this gives is dropped.
    pub(crate) fn writing(&self) -> Written<'_> {
        *self.writing.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Written(&self.writing)
    }

    /// How many abandoned readings still run.
    pub(crate) fn n_abandoned(&self) -> u64 {
        self.readers.n_abandoned() as u64
    }

    /// Why nothing is captured, if nothing is.
    pub(crate) fn standstill(&self) -> Option<Standstill> {
        let since = self.ticked.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        if since > self.patience {
            return Some(Standstill::Deciding { since });
        }
        let writing = *self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = writing.map(|begun| begun.elapsed()).filter(|since| *since > self.patience) {
            return Some(Standstill::Writing { since });
        }
        self.readers.are_stuck().then(|| Standstill::Reading { n_readers: self.readers.n_abandoned() })
    }
}

/// A write in progress.
pub(crate) struct Written<'p>(&'p Mutex<Option<Instant>>);

impl Drop for Written<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
