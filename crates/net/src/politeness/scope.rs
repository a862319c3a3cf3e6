//! How far a limit reaches. Knows names only; two names of one machine are two hosts.

use url::{Host, Url};

/// What shares a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One URL.
    Url,
    /// All URLs of a host, whatever the port: they are most likely one machine.
    Host,
    /// All hosts of a registrable domain: `a.example.co.uk` and `b.example.co.uk`. Hosters whose customers get
    /// names under a public suffix, such as `github.io`, count each customer for itself.
    Domain,
}

impl Scope {
    /// The name of the place that `url` belongs to. Contains no path or query, which may hold secrets.
    pub fn key(self, url: &Url) -> String {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        match self {
            Self::Url => format!("url {host} {:016x}", fingerprint(url)),
            Self::Host => format!("host {host}"),
            Self::Domain => {
                let is_name = matches!(url.host(), Some(Host::Domain(_)));
                let domain = is_name.then(|| psl::domain_str(host)).flatten();
                format!("domain {}", domain.unwrap_or(host))
            }
        }
    }
}

/// FNV-1a of the URL without its fragment. Two URLs that share one would merely wait for each other.
fn fingerprint(url: &Url) -> u64 {
    let text = url.as_str().split('#').next().unwrap_or_default();
    super::backoff::fnv1a(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scope: Scope, url: &str) -> String {
        scope.key(&Url::parse(url).unwrap())
    }

    #[test]
    fn places_are_named_by_what_they_share() {
        assert_eq!(key(Scope::Host, "https://A.example.com.:8443/x"), "host a.example.com");
        assert_eq!(key(Scope::Domain, "https://a.b.example.co.uk/x"), "domain example.co.uk");
        assert_eq!(key(Scope::Domain, "https://someone.github.io/x"), "domain someone.github.io");
        assert_eq!(key(Scope::Domain, "http://127.0.0.1/x"), "domain 127.0.0.1");
        assert_eq!(key(Scope::Domain, "http://[::1]/x"), "domain [::1]");
        assert_eq!(key(Scope::Domain, "http://localhost/x"), "domain localhost");
        let secret = key(Scope::Url, "https://example.com/feed?key=s3cret");
        assert!(!secret.contains("s3cret") && secret.starts_with("url example.com "), "{secret}");
        assert_eq!(key(Scope::Url, "https://example.com/a#1"), key(Scope::Url, "https://example.com/a#2"));
        assert_ne!(key(Scope::Url, "https://example.com/a"), key(Scope::Url, "https://example.com/b"));
    }
}
