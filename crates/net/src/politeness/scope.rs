//! The scopes that limits apply to, and the scopes that a URL belongs to. Knows names only: two names of one machine are
//! two hosts.

use std::fmt;
use std::sync::Arc;

use url::{Host, Url};

use super::backoff::fnv1a;
use crate::redacted_url::RedactedUrl;

/// What shares a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One URL.
    Url,
    /// All URLs of a host, on any port: they are most likely one machine.
    Host,
    /// All hosts of a registrable domain: `a.example.co.uk` and `b.example.co.uk`. Hosters whose customers get
    /// names under a public suffix, such as `github.io`, count each customer for itself.
    Domain,
}

impl Scope {
    /// The name of the scope that `url` belongs to. Contains no path or query, which may hold secrets.
    pub fn key(self, url: &Url) -> String {
        self.with_parts(url, |parts| parts.concat())
    }

    /// The key of the scope that `url` belongs to: a hash of its name.
    fn scope_key(self, url: &Url) -> ScopeKey {
        self.with_parts(url, |parts| ScopeKey(fnv1a(parts)))
    }

    fn with_parts<T>(self, url: &Url, take: impl FnOnce(&[&str]) -> T) -> T {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        match self {
            Self::Url => {
                let digits = hexadecimal(fingerprint(url));
                take(&["url ", host, " ", std::str::from_utf8(&digits).unwrap_or_default()])
            }
            Self::Host => take(&["host ", host]),
            Self::Domain => {
                let is_name = matches!(url.host(), Some(Host::Domain(_)));
                let domain = is_name.then(|| psl::domain_str(host)).flatten();
                take(&["domain ", domain.unwrap_or(host)])
            }
        }
    }
}

/// A URL with the keys of the scopes it belongs to, computed once instead of at every lookup.
#[derive(Clone, PartialEq, Eq)]
pub struct ScopedUrl {
    url: Arc<Url>,
    url_key: ScopeKey,
    host_key: ScopeKey,
    domain_key: ScopeKey,
}

impl ScopedUrl {
    /// The URL itself.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The URL itself, shared.
    pub const fn shared_url(&self) -> &Arc<Url> {
        &self.url
    }

    /// The key of the scope that it belongs to.
    pub(super) const fn scope_key(&self, scope: Scope) -> ScopeKey {
        match scope {
            Scope::Url => self.url_key,
            Scope::Host => self.host_key,
            Scope::Domain => self.domain_key,
        }
    }
}

impl fmt::Debug for ScopedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", RedactedUrl::of(&self.url))
    }
}

impl From<Url> for ScopedUrl {
    fn from(url: Url) -> Self {
        Arc::new(url).into()
    }
}

impl From<Arc<Url>> for ScopedUrl {
    fn from(url: Arc<Url>) -> Self {
        let [url_key, host_key, domain_key] =
            [Scope::Url, Scope::Host, Scope::Domain].map(|scope| scope.scope_key(&url));
        Self { url, url_key, host_key, domain_key }
    }
}

/// A hash of a scope's name. Two names with the same key would merely wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScopeKey(u64);

impl ScopeKey {
    pub(super) fn of(name: &str) -> Self {
        Self(fnv1a(&[name]))
    }
}

/// A hash of the URL without its fragment. Two URLs with the same hash would merely wait for each other.
fn fingerprint(url: &Url) -> u64 {
    fnv1a(&[url.as_str().split('#').next().unwrap_or_default()])
}

fn hexadecimal(number: u64) -> [u8; 16] {
    std::array::from_fn(|digit| b"0123456789abcdef"[(number >> (60 - 4 * digit)) as usize & 15])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scope: Scope, url: &str) -> String {
        let url = Url::parse(url).unwrap();
        let key = scope.key(&url);
        assert_eq!(ScopedUrl::from(url).scope_key(scope), ScopeKey::of(&key), "{key}");
        key
    }

    #[test]
    fn scopes_are_named_by_what_they_share() {
        assert_eq!(key(Scope::Host, "https://A.example.com.:8443/x"), "host a.example.com");
        assert_eq!(key(Scope::Domain, "https://a.b.example.co.uk/x"), "domain example.co.uk");
        assert_eq!(key(Scope::Domain, "https://someone.github.io/x"), "domain someone.github.io");
        assert_eq!(key(Scope::Domain, "http://127.0.0.1/x"), "domain 127.0.0.1");
        assert_eq!(key(Scope::Domain, "http://[::1]/x"), "domain [::1]");
        assert_eq!(key(Scope::Domain, "http://localhost/x"), "domain localhost");
        let secret = key(Scope::Url, "https://example.com/feed?key=s3cret");
        assert!(!secret.contains("s3cret") && secret.starts_with("url example.com "), "{secret}");
        assert_eq!(key(Scope::Url, "https://example.com/"), "url example.com 0c8b41cfdcb3c914");
        assert_eq!(key(Scope::Url, "https://example.com/a#1"), key(Scope::Url, "https://example.com/a#2"));
        assert_ne!(key(Scope::Url, "https://example.com/a"), key(Scope::Url, "https://example.com/b"));
    }
}
