//! What to ask a server for. Always a GET: what changes something on a server is a [`crate::Call`].
//!
//! Invariant: the values of headers never appear in `Debug` output; they may be keys or cookies.

use std::fmt;
use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::cross_site::{CrossSiteRedirect, FollowPolicy};
use crate::error::Error;
use crate::fetched::Hop;
use crate::robots::Robots;

/// What a server sent us to identify a version; sent back byte for byte, so that it can answer "not changed".
///
/// Bytes outside ASCII, which the standard discourages, are kept as the characters of the same number.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Validators {
    /// The `ETag`, with its quotes and `W/` if it had them.
    pub etag: Option<String>,
    /// The `Last-Modified` date as the server spelt it.
    pub last_modified: Option<String>,
}

/// Set by the client itself; a second value would confuse framing, caching or the guard.
const OURS: &[HeaderName] = &[
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::USER_AGENT,
    header::RANGE,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
];

/// Which connections a request goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Connections {
    /// A kept one if there is one; if that is closed just as it is used, a new one at once.
    #[default]
    Any,
    /// The same, but it is not sent a second time: that is [`Error::Stale`], and the caller repeats it when the host
    /// allows.
    Once,
    /// A new one.
    New,
}

/// One fetch.
#[derive(Clone)]
pub struct Request {
    pub(crate) url: Arc<Url>,
    pub(crate) validators: Validators,
    pub(crate) headers: HeaderMap,
    pub(crate) keep_first: Option<u64>,
    pub(crate) connections: Connections,
    follow: FollowPolicy,
    redirect: Option<CrossSiteRedirect>,
}

impl Request {
    /// Asks for `url`.
    pub fn new(url: impl Into<Arc<Url>>) -> Self {
        Self {
            url: url.into(),
            validators: Validators::default(),
            headers: HeaderMap::new(),
            keep_first: None,
            connections: Connections::Any,
            follow: FollowPolicy::All,
            redirect: None,
        }
    }

    /// Asks for the text of a URL.
    pub fn parse(url: &str) -> Result<Self, Error> {
        Ok(Self::new(Url::parse(url)?))
    }

    /// Wants the content only if it is not the version described.
    #[must_use]
    pub fn unless(mut self, validators: Validators) -> Self {
        self.validators = validators;
        self
    }

    /// Adds a custom header, such as `Authorization`. It goes to the host of the URL only, never to
    /// another one that redirects lead to.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        insert_own(&mut self.headers, name, value)?;
        Ok(self)
    }

    /// Keeps the first `bytes` of the content and stops reading there, instead of refusing what is too large.
    #[must_use]
    pub fn keeping_first(mut self, bytes: u64) -> Self {
        self.keep_first = Some(bytes);
        self
    }

    /// Goes over these connections.
    #[must_use]
    pub fn over(mut self, connections: Connections) -> Self {
        self.connections = connections;
        self
    }

    /// Follows redirects only within the site, as far as its `rules` allow. Any other ends the fetch with
    /// [`Error::CrossSiteRedirect`], so that the caller can decide first.
    #[must_use]
    pub fn within_site(mut self, rules: Option<Arc<Robots>>) -> Self {
        self.follow = FollowPolicy::Site(rules);
        self
    }

    /// Resumes at the target of a redirect that an earlier fetch did not follow. A request for another address starts
    /// from the beginning: its headers are not meant for where that other address leads.
    #[must_use]
    pub fn resuming(mut self, redirect: CrossSiteRedirect) -> Self {
        let own = without_fragment(&self.url);
        self.redirect = redirect.hops().first().is_some_and(|hop| hop.from == *own).then_some(redirect);
        self
    }

    /// Whether a redirect is followed without asking the caller.
    pub fn may_follow(&self, from: &Url, to: &Url) -> bool {
        self.follow.allow(from, to)
    }

    /// The URL to fetch first, and the redirects that led to it.
    pub fn beginning(&self) -> (Arc<Url>, Vec<Hop>) {
        match &self.redirect {
            Some(redirect) => (Arc::new(redirect.url().clone()), redirect.hops().to_vec()),
            None => (without_fragment(&self.url), Vec::new()),
        }
    }

    /// Where to.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The version that is already known.
    pub fn validators(&self) -> &Validators {
        &self.validators
    }

    /// The headers of a request to its own host, without those that name the host.
    pub(crate) fn all_headers(&self, user_agent: &HeaderValue) -> Result<HeaderMap, Error> {
        let mut headers = self.headers.clone();
        headers.insert(header::USER_AGENT, user_agent.clone());
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        for (name, validator) in [
            (header::IF_NONE_MATCH, &self.validators.etag),
            (header::IF_MODIFIED_SINCE, &self.validators.last_modified),
        ] {
            if let Some(text) = validator {
                let value = from_latin1(text).ok_or_else(|| Error::BadHeader { name: name.to_string() })?;
                headers.insert(name, value);
            }
        }
        Ok(headers)
    }
}

/// The part that is sent to servers.
fn without_fragment(url: &Arc<Url>) -> Arc<Url> {
    let mut url = Arc::clone(url);
    if url.fragment().is_some() {
        Arc::make_mut(&mut url).set_fragment(None);
    }
    url
}

/// Adds a header of the user's own.
pub(crate) fn insert_own(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Error> {
    let (parsed, mut value) = validated(name, value)?;
    if OURS.contains(&parsed) {
        return Err(Error::BadHeader { name: name.escape_debug().to_string() });
    }
    value.set_sensitive(true);
    headers.insert(parsed, value);
    Ok(())
}

/// A header that can be sent.
pub(crate) fn validated(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let bad = || Error::BadHeader { name: name.escape_debug().to_string() };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
    Ok((parsed, HeaderValue::from_str(value).map_err(|_| bad())?))
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Request")
            .field("url", &crate::redacted_url::RedactedUrl::of(&self.url))
            .field("validators", &self.validators)
            .field("header_names", &names)
            .field("keep_first", &self.keep_first)
            .field("redirect", &self.redirect)
            .finish_non_exhaustive()
    }
}

/// A header's bytes as text, one character per byte, so that nothing is lost.
pub(crate) fn to_latin1(value: &HeaderValue) -> String {
    value.as_bytes().iter().map(|&byte| char::from(byte)).collect()
}

fn from_latin1(text: &str) -> Option<HeaderValue> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validators_go_back_byte_for_byte() {
        for bytes in [&b"W/\"a b\""[..], b"\"caf\xe9\xff\"", b"unquoted", b"\"\""] {
            let text = to_latin1(&HeaderValue::from_bytes(bytes).unwrap());
            assert_eq!(from_latin1(&text).unwrap().as_bytes(), bytes);
        }
    }

    #[test]
    fn framing_headers_and_line_breaks_are_refused() {
        let request = || Request::parse("https://example.com/").unwrap();
        for name in ["Host", "content-length", "Transfer-Encoding", "If-None-Match", "User-Agent", "a b"] {
            assert!(matches!(request().header(name, "x"), Err(Error::BadHeader { .. })), "{name}");
        }
        assert!(request().header("X-A", "1\r\nX-B: 2").is_err());
        assert!(request().header("Authorization", "Bearer s3cret").is_ok());
    }

    #[test]
    fn debug_output_has_no_secret() {
        let request = Request::parse("https://a:pw@example.com/?k=s3cret").unwrap();
        let request = request.header("Cookie", "s3cret").unwrap();
        let shown = format!("{request:?}");
        assert!(shown.contains("cookie") && !shown.contains("s3cret") && !shown.contains("pw"), "{shown}");
    }
}
