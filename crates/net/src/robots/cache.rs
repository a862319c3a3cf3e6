//! The robots.txt files that are known, and until when. Asks no clock and fetches nothing: it says what should be
//! fetched, and is told what came of it.
//!
//! Invariant: while nothing is known about a site, nothing of it is allowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use url::Url;

use super::{Robots, location};
use dunlin_core::Fault;

use crate::error::Error;
use crate::fetched::Fetched;

/// The longest that a file is believed without asking again (RFC 9309, 2.4).
const MAX_AGE: Duration = Duration::from_hours(24);
/// The shortest, whatever the server's cache headers say; a file that changes by the minute helps nobody.
const MIN_AGE: Duration = Duration::from_mins(10);
/// How soon a site that could not be asked is asked again.
const RETRY_AGE: Duration = Duration::from_mins(10);
/// The same when the failure was on our side.
const OWN_FAULT_AGE: Duration = Duration::from_mins(1);

/// How much longer rules are remembered: they go on counting if the file cannot be read when it is asked for again.
const KEPT_AFTERWARDS: Duration = Duration::from_hours(7 * 24);

/// What a site says about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsVerdict {
    /// It may be fetched, with this pause between requests if one was asked for.
    Allowed {
        /// The site's crawl-delay.
        crawl_delay: Option<Duration>,
    },
    /// A rule forbids it.
    Forbidden,
    /// The file could not be read, which forbids everything until it can be.
    Unreachable {
        /// When the file will be asked for again.
        until: Time,
    },
    /// Nothing is known any more; this has to be fetched first.
    Unknown {
        /// Where the file is.
        robots_txt: Url,
    },
}

#[derive(Debug, Clone)]
struct Entry {
    /// `None` while the file could not be read at all.
    robots: Option<Arc<Robots>>,
    until: Time,
}

/// What is known of one site, to be stored as it is.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SiteState {
    /// Whom the rules were read for.
    product: String,
    robots: Option<Robots>,
    until: Time,
}

/// What is known, per scheme, host and port.
#[derive(Debug, Clone)]
pub struct RobotsCache {
    product: String,
    max_sites: usize,
    entries: BTreeMap<String, Entry>,
    /// Sites that had to make room and are still stored.
    displaced: Vec<String>,
}

impl RobotsCache {
    /// Remembers the rules that concern `product` for at most `max_sites` sites.
    pub fn new(product: &str, max_sites: usize) -> Self {
        Self {
            product: product.to_owned(),
            max_sites: max_sites.max(1),
            entries: BTreeMap::new(),
            displaced: Vec::new(),
        }
    }

    /// What is known about `url` at `now`.
    pub fn verdict(&self, url: &Url, now: Time) -> RobotsVerdict {
        let known = self.entries.get(&site_of(url)).filter(|entry| entry.counts_at(now));
        let Some(entry) = known else {
            return RobotsVerdict::Unknown { robots_txt: location(url) };
        };
        match &entry.robots {
            None => RobotsVerdict::Unreachable { until: entry.until },
            Some(robots) if robots.allows(url) => {
                RobotsVerdict::Allowed { crawl_delay: robots.crawl_delay() }
            }
            Some(_) => RobotsVerdict::Forbidden,
        }
    }

    /// Until when what is known about the site of `url` counts.
    pub fn known_until(&self, url: &Url) -> Option<Time> {
        Some(self.entries.get(&site_of(url))?.until)
    }

    /// The rules of the site of `url`, if they are known, however old.
    pub fn robots(&self, url: &Url) -> Option<&Arc<Robots>> {
        self.entries.get(&site_of(url))?.robots.as_ref()
    }

    /// Takes in what came of asking the site of `url` for its robots.txt.
    ///
    /// An answer that there is none (4xx) allows everything; a failing server or network forbids everything,
    /// except that rules known from before go on counting. 429 is a plea for less, so it counts as a failing server.
    pub fn remember(&mut self, url: &Url, answer: &Result<Fetched, Error>, now: Time) {
        let site = site_of(url);
        let previous = self.entries.remove(&site).and_then(|entry| entry.robots);
        let entry = match answer {
            Ok(fetched) if fetched.status.is_success() => {
                let robots = Robots::parse(&fetched.body, &self.product);
                Entry { robots: Some(Arc::new(robots)), until: now.plus(age_of(fetched, now)) }
            }
            Ok(fetched) if !fetched.status.is_server_error() && fetched.status.as_u16() != 429 => {
                Entry { robots: Some(Arc::default()), until: now.plus(age_of(fetched, now)) }
            }
            Ok(fetched) => {
                let asked = fetched.retry_after.map(|after| after.not_before(now).since(now));
                let age = asked.unwrap_or(RETRY_AGE).clamp(RETRY_AGE, MAX_AGE);
                Entry { robots: previous, until: now.plus(age) }
            }
            // A file behind endless redirects counts as one that is not there (2.3.1.2).
            Err(Error::TooManyRedirects { .. } | Error::RedirectLoop { .. }) => {
                Entry { robots: Some(Arc::default()), until: now.plus(MAX_AGE) }
            }
            Err(error) if error.fault() == Fault::Ours => {
                Entry { robots: previous, until: now.plus(OWN_FAULT_AGE) }
            }
            Err(_) => Entry { robots: previous, until: now.plus(RETRY_AGE) },
        };
        self.entries.insert(site, entry);
        self.make_room();
    }

    /// What is to be stored of the site of `url`, under its name.
    pub fn to_store(&self, url: &Url) -> Option<(String, SiteState)> {
        let (site, entry) = self.entries.get_key_value(&site_of(url))?;
        let robots = entry.robots.as_deref().cloned();
        let state = SiteState { product: self.product.clone(), robots, until: entry.until };
        Some((site.clone(), state))
    }

    /// Takes in what an earlier run has stored. Rules that were read for somebody else are asked for anew.
    pub fn restore(&mut self, stored: impl IntoIterator<Item = (String, SiteState)>) {
        for (site, SiteState { product, robots, until }) in stored {
            if product == self.product {
                let entry = Entry { robots: robots.map(Arc::new), until };
                self.entries.insert(site, entry);
            } else {
                self.displaced.push(site);
            }
        }
        self.make_room();
    }

    /// Drops sites that nobody has asked about for long, and says which need not be stored any more.
    pub fn forget(&mut self, now: Time) -> Vec<String> {
        let mut gone = std::mem::take(&mut self.displaced);
        gone.retain(|site| !self.entries.contains_key(site));
        self.entries.retain(|site, entry| {
            let is_kept = now < entry.until.plus(KEPT_AFTERWARDS);
            if !is_kept {
                gone.push(site.clone());
            }
            is_kept
        });
        gone
    }

    /// Displaces those that would be asked again soonest. A few more than need be: looking for them takes long.
    fn make_room(&mut self) {
        if self.entries.len() <= self.max_sites {
            return;
        }
        let n_displaced = self.entries.len() - self.max_sites + self.max_sites / 16;
        let mut sites: Vec<(Time, String)> =
            self.entries.iter().map(|(site, entry)| (entry.until, site.clone())).collect();
        sites.sort_unstable();
        for (_, site) in sites.into_iter().take(n_displaced) {
            self.entries.remove(&site);
            self.displaced.push(site);
        }
    }
}

impl Entry {
    /// Whether it is believed. One from the future was noted before the clock was set back.
    fn counts_at(&self, now: Time) -> bool {
        now < self.until && self.until.since(now) <= MAX_AGE
    }
}

fn age_of(fetched: &Fetched, now: Time) -> Duration {
    let stated = fetched.cache.fresh_until(now).map(|until| until.since(now));
    stated.unwrap_or(MAX_AGE).clamp(MIN_AGE, MAX_AGE)
}

fn site_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}
