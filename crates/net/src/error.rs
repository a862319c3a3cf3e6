//! What can go wrong with a fetch, whose fault it is, and whether to try again. An answer with an error status is
//! not in here: the server answered, and [`crate::Fetched`] says what.
//!
//! Invariant: no message and no `Debug` output contains a header value, a query string or URL credentials.

use std::io;
use std::time::Duration;

use dunlin_core::{Fault, Retry};

use crate::cross_site::CrossSiteRedirect;
use crate::guard::Refusal;
use crate::redacted_url::RedactedUrl;
use crate::resolve::ResolveError;

/// A part of a fetch that has its own time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Waiting for one of our own connection slots.
    Queue,
    /// Looking up the name.
    Resolve,
    /// Opening the TCP connection.
    Connect,
    /// The TLS and HTTP/2 handshakes.
    Handshake,
    /// From the request to the head of the answer.
    FirstByte,
    /// Between two pieces of the body.
    Body,
    /// Everything together, redirects included.
    Total,
}

impl Phase {
    /// What its limit is called where it is set.
    const fn setting(self) -> &'static str {
        match self {
            Self::Queue => "limits.in_flight",
            Self::Resolve => "limits.resolve",
            Self::Connect => "limits.connect",
            Self::Handshake => "limits.handshake",
            Self::FirstByte => "limits.first_byte",
            Self::Body => "limits.idle",
            Self::Total => "limits.total",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Queue => "waiting for a free connection",
            Self::Resolve => "looking up the name",
            Self::Connect => "connecting",
            Self::Handshake => "the TLS handshake",
            Self::FirstByte => "waiting for the head of the answer",
            Self::Body => "waiting for more of the body",
            Self::Total => "the whole fetch",
        })
    }
}

/// Why a fetch gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a URL. The text itself is left out, since it may hold a password.
    #[error("not a URL: {0} (write it as https://host/path)")]
    BadUrl(#[from] url::ParseError),
    /// The guard refused the URL or every address of its host.
    #[error("{url} refused: {refusal}")]
    Refused {
        /// Where it should have gone.
        url: RedactedUrl,
        /// Why not.
        refusal: Refusal,
        /// How many redirects led there; 0 for the requested URL.
        hops: usize,
    },
    /// A header that the client sets itself or that cannot be sent.
    #[error("header `{name}` cannot be set (leave it out, or remove control characters from its value)")]
    BadHeader {
        /// Its name.
        name: String,
    },
    /// A path or query with characters that cannot be sent.
    #[error("{url} cannot be sent as it is written (percent-encode its path and query)")]
    BadPath {
        /// The URL.
        url: RedactedUrl,
    },
    /// A root certificate or user agent that cannot be used.
    #[error("unusable setting {setting}: {reason} (correct it)")]
    BadSetting {
        /// Which one.
        setting: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The host's name gave no address.
    #[error("cannot look up {host}: {reason}")]
    Resolve {
        /// The name.
        host: String,
        /// What the name servers answered.
        reason: ResolveError,
    },
    /// No address of the host accepted a connection.
    #[error("cannot connect to {host}: {reason} (check that the site is up)")]
    Connect {
        /// The host.
        host: String,
        /// What the last attempt met.
        reason: io::Error,
    },
    /// The certificate does not prove that this is the host.
    #[error(
        "certificate of {host} not accepted: {} (add its issuer to guard.extra_roots if it is trusted)",
        in_words(reason)
    )]
    Certificate {
        /// The host.
        host: String,
        /// What is wrong with it.
        reason: rustls::CertificateError,
    },
    /// TLS failed for another reason than the certificate.
    #[error("TLS with {host} failed: {reason} (check that the port speaks TLS)")]
    Tls {
        /// The host.
        host: String,
        /// What went wrong.
        reason: io::Error,
    },
    /// A phase took longer than its limit.
    #[error("{host}: {phase} took longer than {limit:?} (raise {} if that is usual for it)", phase.setting())]
    TimedOut {
        /// The host.
        host: String,
        /// Which phase.
        phase: Phase,
        /// Its limit.
        limit: Duration,
    },
    /// More redirects than allowed.
    #[error(
        "more than {limit} redirects, the last to {url} (watch the final address, or raise limits.redirects)"
    )]
    TooManyRedirects {
        /// The most that are followed.
        limit: usize,
        /// Where the next would have gone.
        url: RedactedUrl,
    },
    /// A redirect to a URL already visited in this fetch.
    #[error("redirects go in a circle at {url} (the site may want cookies, which are never sent)")]
    RedirectLoop {
        /// The URL met twice.
        url: RedactedUrl,
    },
    /// A redirect from https to http.
    #[error("redirect from https to {url} refused (set guard.downgrades if it is trusted)")]
    Downgrade {
        /// The unencrypted URL.
        url: RedactedUrl,
    },
    /// A redirect whose `Location` is not a URL.
    #[error("redirect from {url} to something that is not a URL: {reason}")]
    BadLocation {
        /// The URL that redirects.
        url: RedactedUrl,
        /// What is wrong with the target.
        reason: url::ParseError,
    },
    /// A redirect to another site, for a request that stays within its own.
    #[error("redirect to {} not followed (ask that site first, then resume)", RedactedUrl::of(redirect.url()))]
    CrossSiteRedirect {
        /// Where it leads, and the hops before it.
        redirect: Box<CrossSiteRedirect>,
    },
    /// A kept connection was closed before a byte of the answer arrived, for a request that is sent once.
    #[error("{host}: closed a kept connection just as it was used again (try again)")]
    Stale {
        /// The host.
        host: String,
    },
    /// Status line and headers over their limit.
    #[error(
        "{host}: headers of more than {limit} bytes or {} lines (raise limits.head if the bytes are legitimate)",
        crate::client::MAX_HEADER_LINES
    )]
    HeadTooLarge {
        /// The host.
        host: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// More body than allowed, as sent or after decompression.
    #[error("{host}: body of more than {limit} bytes {stage} ({})", stage.hint())]
    BodyTooLarge {
        /// The host.
        host: String,
        /// The limit, in bytes.
        limit: u64,
        /// Where it was counted.
        stage: Stage,
    },
    /// No room for the body became free in time, among those of all fetches.
    #[error("{host}: no room for its body, others hold all of {limit} bytes (raise limits.memory)")]
    NoRoom {
        /// The host.
        host: String,
        /// All the room there is.
        limit: u64,
    },
    /// A body that took so much room for so long that others had to wait for it.
    #[error(
        "{host}: body given up, it arrived too slowly to hold so much memory while others waited (raise limits.memory)"
    )]
    CrowdsOut {
        /// The host.
        host: String,
    },
    /// A body that grows suspiciously when decompressed.
    #[error("{host}: body grows more than {limit}-fold when decompressed (likely a decompression bomb)")]
    Bomb {
        /// The host.
        host: String,
        /// The largest growth allowed.
        limit: u64,
    },
    /// The body ended before its announced end.
    #[error("{host}: body cut off after {received} bytes{} (the content is not used)", expected_bytes(*expected))]
    Truncated {
        /// The host.
        host: String,
        /// Bytes that arrived.
        received: u64,
        /// Bytes announced by `Content-Length`.
        expected: Option<u64>,
    },
    /// A body that is not what `Content-Encoding` says.
    #[error("{host}: body is not valid {encoding}: {reason}")]
    BadEncoding {
        /// The host.
        host: String,
        /// The coding named by the server.
        encoding: &'static str,
        /// What the decoder met.
        reason: io::Error,
    },
    /// A coding that was not requested.
    #[error("{host}: unknown content encoding `{encoding}` (only gzip, deflate, br and zstd are accepted)")]
    UnknownEncoding {
        /// The host.
        host: String,
        /// The coding named by the server.
        encoding: String,
    },
    /// An answer that is not HTTP.
    #[error("{host}: not a usable HTTP answer: {reason}")]
    Protocol {
        /// The host.
        host: String,
        /// What was wrong with it.
        reason: hyper::Error,
    },
}

/// Where a size is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// As sent over the network.
    Sent,
    /// After decompression.
    Decoded,
    /// In one line of an answer that is read by lines.
    Line,
    /// In memory, with what unpacking takes.
    Held,
}

impl Stage {
    const fn hint(self) -> &'static str {
        match self {
            Self::Sent => "raise limits.sent if it is legitimate",
            Self::Decoded => "raise limits.decoded if it is legitimate",
            Self::Line => "check that it is a stream of lines",
            Self::Held => "raise limits.memory if it is legitimate",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sent => "as sent",
            Self::Decoded => "after decompression",
            Self::Line => "in one line",
            Self::Held => "in memory",
        })
    }
}

/// What is wrong with a certificate. Many reasons have no text, only a name such as `UnknownIssuer`.
fn in_words(reason: &rustls::CertificateError) -> String {
    let said = match reason {
        rustls::CertificateError::Other(inner) => inner.to_string(),
        other => other.to_string(),
    };
    if !said.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return said;
    }
    let mut words = String::new();
    for letter in said.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

fn expected_bytes(expected: Option<u64>) -> String {
    expected.map_or_else(String::new, |expected| format!(" of {expected}"))
}

impl Error {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            // The requested URL is the user's fault; a redirect target is the site's.
            Self::BadUrl(_)
            | Self::BadHeader { .. }
            | Self::BadPath { .. }
            | Self::BadSetting { .. }
            | Self::Refused { hops: 0, .. } => Fault::User,
            Self::Resolve { reason, .. } => reason.fault(),
            Self::Connect { reason, .. } if is_our_network(reason) => Fault::Ours,
            Self::TimedOut { phase: Phase::Queue | Phase::Resolve, .. } | Self::NoRoom { .. } => Fault::Ours,
            _ => Fault::Remote,
        }
    }

    /// Whether trying again later makes sense.
    pub fn retry(&self) -> Retry {
        match self {
            Self::BadUrl(_) | Self::BadHeader { .. } | Self::BadPath { .. } | Self::BadSetting { .. } => {
                Retry::No
            }
            // Another lookup may find another address.
            Self::Refused { hops: 0, refusal, .. }
                if !matches!(refusal, Refusal::Address { .. } | Refusal::Metadata { .. }) =>
            {
                Retry::No
            }
            // Names move, certificates are renewed, pages shrink: a watcher tries again, less and less often.
            _ => Retry::Backoff,
        }
    }

    /// Whether the connection was closed before a byte of the answer arrived, as happens when a server gives
    /// up a kept-alive connection just as it is used again, or has no room for another one.
    pub fn is_stale_connection(&self) -> bool {
        let Self::Protocol { reason, .. } = self else { return false };
        reason.is_incomplete_message()
            || reason.is_canceled()
            || reason.is_closed()
            || lost_connection(reason)
    }
}

fn lost_connection(error: &hyper::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>()).is_some_and(|io| {
        matches!(io.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
    })
}

/// Failures to connect that say something about this machine only: no route at all, no descriptors left.
fn is_our_network(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, NetworkDown, NetworkUnreachable, OutOfMemory};
    const TOO_MANY_OPEN_FILES: [i32; 2] = [23, 24]; // ENFILE, EMFILE
    matches!(error.kind(), NetworkDown | NetworkUnreachable | AddrNotAvailable | OutOfMemory)
        || error.raw_os_error().is_some_and(|code| TOO_MANY_OPEN_FILES.contains(&code))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{CertificateError, OtherError};

    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_said_in_words() {
        let shown = |reason| Error::Certificate { host: "a.test".to_owned(), reason }.to_string();
        let nameless = OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity")));
        for (reason, words) in [
            (CertificateError::UnknownIssuer, "not accepted: unknown issuer (add"),
            (CertificateError::Other(nameless), "not accepted: ca used as end entity (add"),
        ] {
            assert!(shown(reason.clone()).contains(words), "{}", shown(reason));
        }
    }
}
