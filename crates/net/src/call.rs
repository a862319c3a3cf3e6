//! A request with a method and a body, for services that are called rather than watched: an API, a receiver of
//! messages. A plain GET is a [`crate::Request`].
//!
//! Invariant: neither the values of headers nor the body appear in `Debug` output.

use std::fmt;

use bytes::Bytes;
use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::error::Error;
use crate::redacted_url::RedactedUrl;
use crate::request::{insert_own, validated};

/// One call. It is sent once: redirects are not followed, and nothing is sent again after a lost connection, since
/// the first one may have had its effect.
#[derive(Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    /// Calls `url` without a body.
    pub fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// Adds a custom header, such as `Authorization`.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        insert_own(&mut self.headers, name, value)?;
        Ok(self)
    }

    /// Sends `body`, which is of this media type.
    pub fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Result<Self, Error> {
        let (name, value) = validated(header::CONTENT_TYPE.as_str(), media_type)?;
        self.headers.insert(name, value);
        self.body = body.into();
        Ok(self)
    }

    /// Where to.
    pub fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn all_headers(&self, user_agent: &HeaderValue) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(header::USER_AGENT, user_agent.clone());
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("url", &RedactedUrl::of(&self.url))
            .field("header_names", &names)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_secret() {
        let call = Call::new(Method::POST, Url::parse("https://example.com/hook?k=s3cret").unwrap());
        let call = call.header("Authorization", "Bearer s3cret").unwrap();
        let call = call.body("text/plain", "s3cret").unwrap();
        let shown = format!("{call:?}");
        assert!(shown.contains("authorization") && shown.contains("body_bytes: 6"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
