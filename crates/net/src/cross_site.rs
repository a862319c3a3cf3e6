//! Which redirects a fetch follows by itself, and where it resumes after the caller has allowed a redirect to another
//! site. Knows nothing about other sites and decides nothing about them.

use std::fmt;
use std::sync::Arc;

use url::Url;

use crate::fetched::Hop;
use crate::redacted_url::RedactedUrl;
use crate::robots::Robots;

/// A redirect to another site that was not followed, with the hops that led to it.
#[derive(Clone, PartialEq, Eq)]
pub struct CrossSiteRedirect {
    hops: Vec<Hop>,
    url: Url,
}

impl CrossSiteRedirect {
    /// `hops` have led to `url`, which has not been fetched.
    pub fn new(hops: Vec<Hop>, url: Url) -> Self {
        Self { hops, url }
    }

    /// Where it leads.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The redirects before it, in order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }
}

impl fmt::Debug for CrossSiteRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} to {}", self.hops, RedactedUrl::of(&self.url))
    }
}

/// Which redirects a fetch follows by itself.
#[derive(Debug, Clone, Default)]
pub(crate) enum FollowPolicy {
    /// All of them.
    #[default]
    All,
    /// Those within one site, as far as its rules allow.
    Site(Option<Arc<Robots>>),
}

impl FollowPolicy {
    pub(crate) fn allow(&self, from: &Url, to: &Url) -> bool {
        match self {
            Self::All => true,
            Self::Site(rules) => {
                from.origin() == to.origin() && rules.as_ref().is_none_or(|rules| rules.allows(to))
            }
        }
    }
}
