//! Which redirects a fetch follows by itself, and where it resumes after the caller has allowed a redirect to another
//! site. Knows nothing about other sites and decides nothing about them.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fetched::Hop;
use crate::redacted_url::RedactedUrl;
use crate::robots::Robots;

/// A redirect to another site that was not followed, with the hops that led to it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "PlainRedirect", try_from = "PlainRedirect")]
pub struct CrossSiteRedirect {
    hops: Vec<Hop>,
    url: Url,
}

/// The same as numbers and texts.
#[derive(Serialize, Deserialize)]
struct PlainRedirect {
    hops: Vec<(u16, String)>,
    url: String,
}

impl From<CrossSiteRedirect> for PlainRedirect {
    fn from(redirect: CrossSiteRedirect) -> Self {
        let hops = redirect.hops.into_iter().map(|hop| (hop.status.as_u16(), hop.from.into()));
        Self { hops: hops.collect(), url: redirect.url.into() }
    }
}

impl TryFrom<PlainRedirect> for CrossSiteRedirect {
    type Error = String;

    fn try_from(plain: PlainRedirect) -> Result<Self, String> {
        let url = |text: &str| Url::parse(text).map_err(|error| error.to_string());
        let hop = |(status, from): (u16, String)| {
            let status = StatusCode::from_u16(status).map_err(|error| error.to_string())?;
            Ok::<_, String>(Hop { status, from: url(&from)? })
        };
        let hops = plain.hops.into_iter().map(hop).collect::<Result<_, _>>()?;
        Ok(Self { hops, url: url(&plain.url)? })
    }
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
