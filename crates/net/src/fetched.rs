//! What a server answered. Any status counts as an answer; a fetch without an answer is a [`crate::Error`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dunlin_core::Time;
use http::{HeaderMap, StatusCode, header, response};
use url::Url;

use crate::client::Content;
use crate::http_date;
use crate::redacted_url::RedactedUrl;
use crate::request::{Validators, to_latin1};
use dunlin_core::{Fault, Retry};

/// When a server allows the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// After so long.
    Delay(Duration),
    /// Not before this moment, by the server's clock.
    At(Time),
}

impl RetryAfter {
    /// Reads a `Retry-After` header: seconds, or a date. A date is turned into a delay when the answer also
    /// says what time the server thinks it is, so that a wrong clock on either side does no harm.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            // More digits than fit still ask for a long wait.
            return Some(Self::Delay(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX)))));
        }
        let at = http_date::parse(text)?;
        Some(match date(headers, &header::DATE) {
            Some(date) => Self::Delay(at.since(date)),
            None => Self::At(at),
        })
    }

    /// The moment it means, when the answer came at `now`.
    pub fn not_before(self, now: Time) -> Time {
        match self {
            Self::Delay(delay) => now.plus(delay),
            Self::At(at) => at.max(now),
        }
    }
}

/// What the server says about how long its answer is good for. Evidence about the source, not an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheHints {
    /// `max-age` (or `s-maxage`, which shared caches prefer) less the `Age` it already had.
    pub max_age: Option<Duration>,
    /// The `Expires` date; a date that cannot be read means already expired, and is left out.
    pub expires: Option<Time>,
    /// `no-store` or `no-cache`: not to be cached.
    pub is_uncacheable: bool,
}

impl CacheHints {
    fn read(headers: &HeaderMap) -> Self {
        let mut hints = Self { expires: date(headers, &header::EXPIRES), ..Self::default() };
        let mut shared = None;
        for value in headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok()) {
            for directive in value.split(',') {
                let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
                let seconds = || argument.trim().trim_matches('"').parse().ok().map(Duration::from_secs);
                match name.trim().to_ascii_lowercase().as_str() {
                    "max-age" => hints.max_age = hints.max_age.or_else(seconds),
                    "s-maxage" => shared = shared.or_else(seconds),
                    "no-store" | "no-cache" => hints.is_uncacheable = true,
                    _ => {}
                }
            }
        }
        let age = headers.get(header::AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok());
        let age = Duration::from_secs(age.unwrap_or(0));
        hints.max_age = shared.or(hints.max_age).map(|max| max.saturating_sub(age));
        hints
    }

    /// Until when the answer is good, when it came at `now`.
    pub fn fresh_until(&self, now: Time) -> Option<Time> {
        if self.is_uncacheable {
            return None;
        }
        self.max_age.map(|age| now.plus(age)).or(self.expires)
    }
}

/// How long the phases of a fetch took, summed over redirects. Zero where a phase did not happen, as on a
/// connection that was used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Looking up names.
    pub resolve: Duration,
    /// Opening TCP connections.
    pub connect: Duration,
    /// TLS and HTTP handshakes.
    pub handshake: Duration,
    /// From sending requests to the heads of the answers.
    pub first_byte: Duration,
    /// Reading and decompressing the body.
    pub body: Duration,
    /// Everything, waiting for a slot included.
    pub total: Duration,
}

/// A redirect that was followed.
#[derive(Clone, PartialEq, Eq)]
pub struct Hop {
    /// 301 and 308 say that the address has changed permanently.
    pub status: StatusCode,
    /// The URL that redirected.
    pub from: Url,
}

impl fmt::Debug for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.status, RedactedUrl::of(&self.from))
    }
}

/// An answer.
#[derive(Clone)]
#[non_exhaustive]
pub struct Fetched {
    /// The status of the last answer.
    pub status: StatusCode,
    /// Where that answer came from.
    pub final_url: Arc<Url>,
    /// The redirects on the way, in order.
    pub hops: Vec<Hop>,
    /// What to send next time so that the server can answer "not changed".
    pub validators: Validators,
    /// `Content-Type` as the server spelt it.
    pub content_type: Option<String>,
    /// When to come back, if the server says so.
    pub retry_after: Option<RetryAfter>,
    /// How long the answer is good for, if the server says so.
    pub cache: CacheHints,
    /// The content, decompressed; empty for 304.
    pub body: Bytes,
    /// Whether the body was cut at the limit of [`crate::Request::keeping_first`].
    pub is_cut: bool,
    /// Bytes of the body as sent.
    pub sent_bytes: u64,
    /// How long it took.
    pub timings: Timings,
}

impl Fetched {
    /// `timings` are those of what came before the content.
    pub(crate) fn new(
        head: &response::Parts,
        final_url: Arc<Url>,
        hops: Vec<Hop>,
        content: Content,
        timings: Timings,
    ) -> Self {
        let headers = &head.headers;
        let text = |name| headers.get(name).map(to_latin1);
        Self {
            status: head.status,
            final_url,
            hops,
            validators: Validators { etag: text(header::ETAG), last_modified: text(header::LAST_MODIFIED) },
            content_type: text(header::CONTENT_TYPE),
            retry_after: RetryAfter::read(headers),
            cache: CacheHints::read(headers),
            body: content.body,
            is_cut: content.is_cut,
            sent_bytes: content.sent_bytes,
            timings: Timings { body: content.took, ..timings },
        }
    }

    /// Content as a server would have given it at `url`, for content that was not fetched.
    pub fn of_content(url: &Url, media_type: &str, body: Bytes) -> Self {
        let mut response = http::Response::new(body);
        if let Ok(media_type) = http::HeaderValue::from_str(media_type)
            && !media_type.is_empty()
        {
            response.headers_mut().insert(header::CONTENT_TYPE, media_type);
        }
        Self::from_response(response, Url::clone(url), Vec::new())
    }

    /// An answer that did not come over a network: from a simulated web, or from a file.
    pub fn from_response(answer: http::Response<Bytes>, final_url: Url, hops: Vec<Hop>) -> Self {
        let (head, body) = answer.into_parts();
        let sent_bytes = body.len() as u64;
        let content = Content { body, sent_bytes, is_cut: false, took: Duration::ZERO };
        Self::new(&head, Arc::new(final_url), hops, content, Timings::default())
    }

    /// Whether the server says that nothing changed.
    pub fn is_unchanged(&self) -> bool {
        self.status == StatusCode::NOT_MODIFIED
    }

    /// Whose fault it is that there is no content; `None` when there is.
    pub fn fault(&self) -> Option<Fault> {
        if self.status.is_success() || self.is_unchanged() {
            None
        } else if self.status.is_client_error() && !is_slow_down(self.status) {
            Some(Fault::User)
        } else {
            Some(Fault::Remote)
        }
    }

    /// Whether asking again may give content, when the answer came at `now`.
    pub fn retry(&self, now: Time) -> Retry {
        if !(self.status.is_server_error() || is_slow_down(self.status)) {
            return Retry::No;
        }
        self.retry_after.map_or(Retry::Backoff, |after| Retry::After(after.not_before(now).since(now)))
    }
}

fn is_slow_down(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::REQUEST_TIMEOUT
}

fn date(headers: &HeaderMap, name: &header::HeaderName) -> Option<Time> {
    http_date::parse(headers.get(name)?.to_str().ok()?)
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("status", &self.status)
            .field("final_url", &RedactedUrl::of(&self.final_url))
            .field("hops", &self.hops)
            .field("validators", &self.validators)
            .field("content_type", &self.content_type)
            .field("retry_after", &self.retry_after)
            .field("cache", &self.cache)
            .field("body_bytes", &self.body.len())
            .field("timings", &self.timings)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
