//! Connections that the system did not let the server accept, mostly because the process has no file descriptors left:
//! logged once in a while, counted, and reported as not ready. Waits for nothing.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dunlin_core::Time;
use prometheus_client::metrics::counter::Counter;

/// How long after the last failure the service is not ready, and how often a failure is logged.
const MEMORY: Duration = Duration::from_mins(1);

/// Failures to accept connections.
#[derive(Debug, Default)]
pub(crate) struct Accepting {
    pub(crate) failures: Counter,
    last: Mutex<Option<Trouble>>,
}

#[derive(Debug, Clone)]
struct Trouble {
    reason: String,
    at: Time,
    logged: Time,
}

impl Accepting {
    /// Records a failure; `true` when it was logged as well.
    pub(crate) fn failed(&self, error: &io::Error, now: Time) -> bool {
        self.failures.inc();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let logged = last.as_ref().map(|trouble| trouble.logged);
        let is_told = logged.is_none_or(|logged| now < logged || now >= logged.plus(MEMORY));
        if is_told {
            tracing::warn!(
                %error,
                failures = self.failures.get(),
                "connections cannot be accepted (raise the limit on open files, as by `ulimit -n`)"
            );
        }
        let logged = if is_told { now } else { logged.unwrap_or(now) };
        *last = Some(Trouble { reason: error.to_string(), at: now, logged });
        is_told
    }

    /// What keeps connections from being accepted, if something did recently.
    pub(crate) fn trouble(&self, now: Time) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = last.as_ref().filter(|trouble| now < trouble.at.plus(MEMORY));
        recent.map(|trouble| trouble.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_logged_once_in_a_while_and_forgotten_after_a_while() {
        let accepting = Accepting::default();
        let at = |seconds: i64| Time::from_seconds(1_700_000_000 + seconds);
        let error = io::Error::other("too many open files");
        assert_eq!(accepting.trouble(at(0)), None);
        assert!(accepting.failed(&error, at(0)));
        assert!(!accepting.failed(&error, at(1)) && !accepting.failed(&error, at(59)));
        assert!(accepting.failed(&error, at(60)));
        assert!(!accepting.failed(&error, at(90)));
        assert_eq!(accepting.failures.get(), 5);
        assert_eq!(accepting.trouble(at(149)).as_deref(), Some("too many open files"));
        assert_eq!(accepting.trouble(at(150)), None);
        assert!(accepting.failed(&error, at(-3_600)), "a clock that was set back does not silence it");
    }
}
