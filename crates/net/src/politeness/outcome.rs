//! What came of a request, as far as politeness goes. Not what was in the answer.

use http::StatusCode;

use dunlin_core::Fault;

use crate::error::Error;
use crate::fetched::{Fetched, RetryAfter};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Answered; a page that is not there is an answer too.
    Fine,
    /// The server asked for less: 429, 503, or a failure with `Retry-After`.
    Limited {
        /// When to come back, if it said so.
        retry_after: Option<RetryAfter>,
    },
    /// Nobody answered: the whole host is likely affected.
    Unreachable,
    /// This URL does not work: an internal error, a broken body. Others of the host may.
    Broken,
    /// Our own machine or network failed. Says nothing about the host, so nothing is held against it; yet
    /// trying again at once would be a hot loop.
    OurTrouble,
    /// Never sent, or given up; says nothing about anyone.
    Abandoned,
}

impl Outcome {
    /// The outcome of a fetch.
    pub fn of(result: &Result<Fetched, Error>) -> Self {
        match result {
            Ok(fetched) => Self::of_answer(fetched.status, fetched.retry_after),
            // The redirect was the answer.
            Err(Error::Elsewhere { .. }) => Self::Fine,
            Err(error) if error.fault() == Fault::User => Self::Abandoned,
            Err(error) if error.fault() == Fault::Ours => Self::OurTrouble,
            Err(
                Error::Resolve { .. }
                | Error::Connect { .. }
                | Error::Certificate { .. }
                | Error::Tls { .. }
                | Error::TimedOut { .. },
            ) => Self::Unreachable,
            Err(_) => Self::Broken,
        }
    }

    /// What is left of it for a place that was asked on behalf of somebody else, by a redirect or for its robots.txt: an
    /// answer, and for how long it asks to be left alone. Other failures may be due to who chose port and path.
    #[must_use]
    pub fn own_word(self) -> Self {
        match self {
            Self::Fine | Self::Limited { retry_after: Some(_) } => self,
            _ => Self::Abandoned,
        }
    }

    fn of_answer(status: StatusCode, retry_after: Option<RetryAfter>) -> Self {
        let asks_for_less = matches!(status.as_u16(), 429 | 503);
        let is_failure = status.is_client_error() || status.is_server_error();
        if asks_for_less || (is_failure && retry_after.is_some()) {
            Self::Limited { retry_after }
        } else if status.is_server_error() {
            Self::Broken
        } else {
            Self::Fine
        }
    }
}
