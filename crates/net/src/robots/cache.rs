//! The robots.txt files that are known, and until when. Reads no clock and fetches nothing: it says what should be
//! fetched, and receives the result.
//!
//! Invariants: while nothing is known about a site, nothing of it is allowed; the cache holds at most
//! [`MAX_CACHED`] bytes, and at most the requested number of sites.

use std::cmp::Reverse;
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
/// The shortest, regardless of the server's cache headers: a file that expires every minute is of no use.
const MIN_AGE: Duration = Duration::from_mins(10);
/// How soon a robots.txt that could not be read is fetched again.
const RETRY_AGE: Duration = Duration::from_mins(10);
/// The same when the failure was on our side.
const OWN_FAULT_AGE: Duration = Duration::from_mins(1);

/// How much longer rules are remembered: they stay valid if the file cannot be fetched again.
const KEPT_AFTERWARDS: Duration = Duration::from_hours(7 * 24);

/// The most bytes that all sites together may hold. Most have few rules, or none.
pub const MAX_CACHED: usize = 64 << 20;

/// What an entry takes besides its name and its rules, in the map and for its reference count.
const ENTRY_BYTES: usize = size_of::<(String, Entry)>() + 32;

/// The format of a stored site; a site in another format is fetched again.
const FORM: u8 = 0xf1;

/// What a site says about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsVerdict {
    /// It may be fetched, with this pause between requests if the site asks for one.
    Allowed {
        /// The site's crawl-delay.
        crawl_delay: Option<Duration>,
    },
    /// A rule forbids it.
    Forbidden,
    /// The file could not be read, which forbids everything until it can be.
    Unreachable {
        /// When the file will be fetched again.
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
    form: u8,
    /// The product name that the rules were read for.
    product: String,
    robots: Option<Robots>,
    until: Time,
}

/// What is known, per scheme, host and port.
#[derive(Debug, Clone)]
pub struct RobotsCache {
    product: String,
    max_sites: usize,
    max_bytes: usize,
    entries: BTreeMap<String, Entry>,
    /// What all entries hold.
    n_bytes: usize,
    /// Sites that had to make room and are still stored.
    displaced: Vec<String>,
}

impl RobotsCache {
    /// Remembers the rules that concern `product` for at most `max_sites` sites.
    pub fn new(product: &str, max_sites: usize) -> Self {
        Self {
            product: product.to_owned(),
            max_sites: max_sites.max(1),
            max_bytes: MAX_CACHED,
            entries: BTreeMap::new(),
            n_bytes: 0,
            displaced: Vec::new(),
        }
    }

    /// Holds at most `max_bytes`.
    #[must_use]
    pub fn holding(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// How many bytes it holds.
    pub fn held_bytes(&self) -> usize {
        self.n_bytes
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

    /// Records the result of fetching the robots.txt for `url`.
    ///
    /// An answer that there is none (4xx) allows everything; a failing server or network forbids everything,
    /// except that earlier rules stay valid. 429 asks for fewer requests, so it counts as a failing server.
    pub fn remember(&mut self, url: &Url, answer: &Result<Fetched, Error>, now: Time) {
        let site = site_of(url);
        let previous = self.remove(&site).and_then(|entry| entry.robots);
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
            // A file behind endless redirects counts as missing (2.3.1.2).
            Err(Error::TooManyRedirects { .. } | Error::RedirectLoop { .. }) => {
                Entry { robots: Some(Arc::default()), until: now.plus(MAX_AGE) }
            }
            Err(error) if error.fault() == Fault::Ours => {
                Entry { robots: previous, until: now.plus(OWN_FAULT_AGE) }
            }
            Err(_) => Entry { robots: previous, until: now.plus(RETRY_AGE) },
        };
        self.insert(site.clone(), entry);
        // It has just been fetched, so it is not displaced: it would only be fetched again.
        self.make_room(Some(&site));
    }

    fn insert(&mut self, site: String, entry: Entry) {
        self.remove(&site);
        self.n_bytes += entry.held(&site);
        self.entries.insert(site, entry);
    }

    fn remove(&mut self, site: &str) -> Option<Entry> {
        let entry = self.entries.remove(site)?;
        self.n_bytes -= entry.held(site);
        Some(entry)
    }

    /// What is to be stored of the site of `url`, under its name.
    pub fn to_store(&self, url: &Url) -> Option<(String, SiteState)> {
        let (site, entry) = self.entries.get_key_value(&site_of(url))?;
        let robots = entry.robots.as_deref().cloned();
        let state = SiteState { form: FORM, product: self.product.clone(), robots, until: entry.until };
        Some((site.clone(), state))
    }

    /// Restores what an earlier run stored. Rules that were read for another product are fetched again.
    pub fn restore(&mut self, stored: impl IntoIterator<Item = (String, SiteState)>) {
        for (site, SiteState { form, product, robots, until }) in stored {
            if form == FORM && product == self.product {
                let entry = Entry { robots: robots.map(Arc::new), until };
                self.insert(site, entry);
                self.make_room(None);
            } else {
                self.displaced.push(site);
            }
        }
    }

    /// Drops sites that were not needed for long, and returns those that need not be stored any more.
    pub fn forget(&mut self, now: Time) -> Vec<String> {
        let mut gone = std::mem::take(&mut self.displaced);
        gone.retain(|site| !self.entries.contains_key(site));
        let is_old = |entry: &Entry| now >= entry.until.plus(KEPT_AFTERWARDS);
        let old = self.entries.iter().filter(|(_, entry)| is_old(entry));
        let old: Vec<String> = old.map(|(site, _)| site.clone()).collect();
        for site in old {
            self.remove(&site);
            gone.push(site);
        }
        gone
    }

    /// Displaces the largest where too many bytes are held, and those that expire soonest where there are
    /// too many sites. A few more than necessary, since finding them is slow.
    fn make_room(&mut self, kept: Option<&str>) {
        if self.n_bytes > self.max_bytes {
            let most = self.max_bytes - self.max_bytes / 16;
            let largest = |site: &str, entry: &Entry| (Reverse(entry.held(site)), entry.until);
            self.displace(kept, largest, |cache| cache.n_bytes > most);
        }
        if self.entries.len() > self.max_sites {
            let most = self.max_sites - self.max_sites / 16;
            self.displace(kept, |_, entry| entry.until, |cache| cache.entries.len() > most);
        }
    }

    /// Displaces those that come first in this order for as long as there are too many.
    fn displace<K: Ord>(
        &mut self,
        kept: Option<&str>,
        order: impl Fn(&str, &Entry) -> K,
        is_too_much: impl Fn(&Self) -> bool,
    ) {
        let others = self.entries.iter().filter(|(site, _)| Some(site.as_str()) != kept);
        let mut sites: Vec<(K, String)> =
            others.map(|(site, entry)| (order(site, entry), site.clone())).collect();
        sites.sort_unstable();
        for (_, site) in sites {
            if !is_too_much(self) {
                return;
            }
            self.remove(&site);
            self.displaced.push(site);
        }
    }
}

impl Entry {
    /// How many bytes it holds, under this name.
    fn held(&self, site: &str) -> usize {
        ENTRY_BYTES + site.len() + self.robots.as_ref().map_or(0, |robots| robots.held())
    }

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
