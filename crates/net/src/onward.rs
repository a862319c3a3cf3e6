//! How far a fetch follows redirects by itself, and where it goes on once somebody has decided that it may. Decides
//! nothing about other sites: what is known of them is not known here.

use std::fmt;
use std::sync::Arc;

use url::Url;

use crate::fetched::Hop;
use crate::robots::Robots;
use crate::shown::ShownUrl;

/// A redirect that was not followed, with the way there.
#[derive(Clone, PartialEq, Eq)]
pub struct Onward {
    hops: Vec<Hop>,
    url: Url,
}

impl Onward {
    /// `hops` have led to `url`, which has not been asked.
    pub fn new(hops: Vec<Hop>, url: Url) -> Self {
        Self { hops, url }
    }

    /// Where it leads.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// What was asked on the way, in order.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }
}

impl fmt::Debug for Onward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} to {}", self.hops, ShownUrl::of(&self.url))
    }
}

/// Which redirects a fetch follows by itself.
#[derive(Debug, Clone, Default)]
pub(crate) enum Bounds {
    /// All of them.
    #[default]
    None,
    /// Those within one site, as far as its rules allow.
    Site(Option<Arc<Robots>>),
}

impl Bounds {
    pub(crate) fn allow(&self, from: &Url, to: &Url) -> bool {
        match self {
            Self::None => true,
            Self::Site(rules) => {
                from.origin() == to.origin() && rules.as_ref().is_none_or(|rules| rules.allows(to))
            }
        }
    }
}
