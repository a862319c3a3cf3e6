//! The outcome of a request for politeness. Not the content of the answer.

use http::StatusCode;

use dunlin_core::Fault;

use crate::error::Error;
use crate::fetched::{Fetched, RetryAfter};

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Answered; a missing page is an answer too.
    Fine,
    /// The server asked for less: 429, 503, or a failure with `Retry-After`.
    Limited {
        /// When to come back, if the server says so.
        retry_after: Option<RetryAfter>,
    },
    /// No answer: the whole host is likely affected.
    Unreachable,
    /// This URL does not work: an internal error, a broken body. Others of the host may.
    Broken,
    /// Our own machine or network failed. The host gets no back-off for it, but a retry at once would be a hot loop.
    LocalFailure,
    /// Never sent, or given up; says nothing about the host.
    Abandoned,
}

impl Outcome {
    /// The outcome of a fetch.
    pub fn of(result: &Result<Fetched, Error>) -> Self {
        match result {
            Ok(fetched) => Self::of_answer(fetched.status, fetched.retry_after),
            // The redirect was the answer.
            Err(Error::CrossSiteRedirect { .. }) => Self::Fine,
            Err(error) if error.fault() == Fault::User => Self::Abandoned,
            Err(error) if error.fault() == Fault::Ours => Self::LocalFailure,
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

    /// Only what the host stated itself: an answer, or a wait that it asked for. For a host that was reached through
    /// another site's redirect or for its robots.txt: other failures may be the fault of the chosen port and path.
    #[must_use]
    pub fn explicit_only(self) -> Self {
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
