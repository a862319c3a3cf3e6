//! Every request that was received, for checking a monitor's budget and politeness from the server's side.
//!
//! Bounded: the oldest are dropped, and the log says how many. Requests to the addresses that begin with `/_`
//! are not in it, so that reading the log does not change it.

use std::collections::VecDeque;

use dunlin_core::Time;
use serde::Serialize;

use crate::render::unix_seconds;

/// The most requests kept.
const KEPT: usize = 1_000_000;

/// The most of an address that is kept.
const TARGET_LENGTH: usize = 1_000;

/// A request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Counted from 1, in order of arrival.
    pub number: u64,
    /// When its head had arrived.
    pub received: Time,
    /// When the response was handed to the connection, or the fault had run its course; `None` before that.
    pub answered: Option<Time>,
    /// `GET`, `HEAD`, …
    pub method: String,
    /// Path and query, its first thousand characters.
    pub target: String,
    /// The source it was about.
    pub source: Option<String>,
    /// The status of the response; `None` if there was none.
    pub status: Option<u16>,
    /// Whether it had `If-None-Match` or `If-Modified-Since`.
    pub conditional: bool,
    /// The version that the response was about, also when it was "not modified".
    pub version: Option<u64>,
    /// The fault in force.
    pub fault: Option<String>,
}

impl Logged {
    fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            number: u64,
            received: f64,
            answered: Option<f64>,
            method: &'a str,
            path: &'a str,
            source: Option<&'a str>,
            status: Option<u16>,
            conditional: bool,
            version: Option<u64>,
            fault: Option<&'a str>,
        }
        let line = Line {
            number: self.number,
            received: unix_seconds(self.received),
            answered: self.answered.map(unix_seconds),
            method: &self.method,
            path: &self.target,
            source: self.source.as_deref(),
            status: self.status,
            conditional: self.conditional,
            version: self.version,
            fault: self.fault.as_deref(),
        };
        serde_json::to_string(&line).expect("text and numbers always become JSON")
    }
}

/// The log.
#[derive(Debug)]
pub(crate) struct Log {
    kept: VecDeque<Logged>,
    dropped: u64,
    limit: usize,
}

impl Log {
    /// An empty log of the usual size.
    pub(crate) const fn new() -> Self {
        Self::keeping(KEPT)
    }

    const fn keeping(limit: usize) -> Self {
        Self { kept: VecDeque::new(), dropped: 0, limit }
    }

    /// Notes a request and hands out its number; the one it came with is ignored.
    pub(crate) fn note(&mut self, request: Logged) -> u64 {
        if self.kept.len() == self.limit {
            self.kept.pop_front();
            self.dropped += 1;
        }
        let number = self.dropped + self.kept.len() as u64 + 1;
        let target = request.target.chars().take(TARGET_LENGTH).collect();
        self.kept.push_back(Logged { number, target, ..request });
        number
    }

    /// Notes when a request was done with. One that is no longer kept is passed over.
    pub(crate) fn note_answered(&mut self, number: u64, at: Time) {
        let place = number.checked_sub(self.dropped + 1);
        if let Some(request) = place.and_then(|place| self.kept.get_mut(place as usize)) {
            request.answered = Some(at);
        }
    }

    /// The requests after that number that are still kept, oldest first.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = &Logged> {
        self.kept.iter().skip(number.saturating_sub(self.dropped) as usize)
    }

    /// One line of JSON per request; before them `{"dropped":N}` if some of those asked for are gone.
    pub(crate) fn json_lines(&self, after: u64) -> String {
        let mut lines = String::new();
        if self.dropped > after {
            lines = format!("{{\"dropped\":{}}}\n", self.dropped - after);
        }
        for request in self.after(after) {
            lines.push_str(&request.to_json());
            lines.push('\n');
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Logged {
        Logged {
            number: 0,
            received: Time::from_micros(1_500_000),
            answered: None,
            method: "GET".to_owned(),
            target: "/pages/a".to_owned(),
            source: Some("a".to_owned()),
            status: Some(200),
            conditional: false,
            version: Some(3),
            fault: None,
        }
    }

    #[test]
    fn the_oldest_go_first_and_the_log_says_so() {
        let mut log = Log::keeping(5);
        for _ in 0..7 {
            log.note(request());
        }
        log.note_answered(1, Time::from_seconds(9));
        log.note_answered(3, Time::from_seconds(9));
        let lines = log.json_lines(0);
        let mut lines = lines.lines();
        assert_eq!(lines.next(), Some("{\"dropped\":2}"));
        assert_eq!(
            lines.next(),
            Some(
                "{\"number\":3,\"received\":1.5,\"answered\":9.0,\"method\":\"GET\",\"path\":\"/pages/a\",\
                 \"source\":\"a\",\"status\":200,\"conditional\":false,\"version\":3,\"fault\":null}"
            )
        );
        assert_eq!(lines.count(), 4);
        assert_eq!(log.json_lines(6).lines().count(), 1);
    }
}
