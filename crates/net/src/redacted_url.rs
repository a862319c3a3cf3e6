//! A URL as messages and logs may show it. Not for fetching: what could be a secret has been left out.

use std::fmt;

use url::Url;

/// Scheme, host, port and path. Credentials are left out, and so is the query, where many sites put keys.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactedUrl(String);

impl RedactedUrl {
    /// The part of `url` that may be shown.
    pub fn of(url: &Url) -> Self {
        let mut shown = url.clone();
        // Both fail only for URLs that cannot have credentials, such as `data:`.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_fragment(None);
        if shown.query().is_some() {
            shown.set_query(None);
            return Self(format!("{shown}?…"));
        }
        Self(shown.into())
    }
}

impl fmt::Display for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RedactedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out() {
        let url = Url::parse("https://me:hunter2@example.com:8443/feed?key=s3cret#top").unwrap();
        assert_eq!(RedactedUrl::of(&url).to_string(), "https://example.com:8443/feed?…");
        assert_eq!(format!("{:?}", RedactedUrl::of(&url)), "https://example.com:8443/feed?…");
    }
}
