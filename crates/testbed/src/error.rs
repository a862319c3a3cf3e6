//! What a test bed refuses, and why it could not start.

use std::io;
use std::net::SocketAddr;

/// A refusal or failure of any function of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A trace without sources is a site without pages.
    #[error("the trace has no sources (expected at least one line `source,time`)")]
    NoSources,
    /// The same source twice, or lists of different lengths.
    #[error("the trace is not well-formed: {what} (expected it as read from a trace file)")]
    MalformedTrace {
        /// What is wrong with it.
        what: String,
    },
    /// A source that the trace does not have.
    #[error("no source {source_id:?} in the trace (GET / lists all {sources})")]
    UnknownSource {
        /// The id asked for.
        source_id: String,
        /// How many there are.
        sources: usize,
    },
    /// A speed at which nothing would happen, or everything at once.
    #[error("speed {speed} (expected trace seconds per real second, {least} to {most})")]
    BadSpeed {
        /// What was given.
        speed: f64,
        /// The slowest.
        least: f64,
        /// The fastest.
        most: f64,
    },
    /// A fault that does not exist, or an argument it cannot have.
    #[error("fault {text:?} (expected {expected})")]
    BadFault {
        /// What was given.
        text: String,
        /// What would do.
        expected: String,
    },
    /// A setting beyond its limit.
    #[error("{setting} {value} (expected {expected})")]
    BadSetting {
        /// Its name.
        setting: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason} (try another port, or 0 for any free one)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        reason: io::Error,
    },
}

impl Error {
    /// Whether the environment failed rather than the input being bad.
    pub const fn is_environment(&self) -> bool {
        matches!(self, Self::Listen { .. })
    }
}
