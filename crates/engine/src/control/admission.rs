//! Who may be asked, and when: robots.txt first, then politeness. Owns what is known about sites and scopes, and which probes
//! wait for a robots.txt. Starts no request and knows no source.

use std::collections::BTreeMap;
use std::sync::Arc;

use dunlin_core::Time;
use dunlin_net::politeness::{self, MayFetch, Politeness, ScopeState, ScopedUrl};
use dunlin_net::robots::{Robots, RobotsCache, RobotsVerdict, SiteState};
use dunlin_net::{Error as NetError, Fetched};
use dunlin_store::ProbeId;

use super::robots;
use crate::{RobotsRule, Settings};

/// The most sites whose robots.txt is remembered.
const MAX_SITES: usize = 50_000;

/// Whether a URL may be fetched now.
pub(super) enum Permission {
    Go,
    /// Not before this time, like everything of its host.
    HostWaits(Time),
    /// Not before this time, because it has failed; others of its host may.
    Waits(Time),
    /// Not before this time, like everything of its origin: the robots.txt there could not be read. Other ports and
    /// schemes of its host may.
    Closed(Time),
    /// This robots.txt has to be read first.
    AskRobots(ScopedUrl),
    /// Not before this time, when robots.txt will be fetched again.
    Forbidden(Time),
}

/// What an answer to a request for robots.txt means.
pub(super) struct RobotsAnswer {
    /// The probes that waited for it.
    pub(super) waiting: Vec<ProbeId>,
    /// When the site may be asked for something else.
    pub(super) free_at: Time,
    /// Until when the site is closed, because its robots.txt could not be read.
    pub(super) closed_until: Option<Time>,
    /// What to store about the site.
    pub(super) site: Option<(String, SiteState)>,
}

#[derive(Debug)]
pub(super) struct Admission {
    politeness: Politeness,
    robots: Option<RobotsCache>,
    /// Each robots.txt that is being fetched, and the probes that wait for it.
    robots_fetches: BTreeMap<String, Vec<ProbeId>>,
}

impl Admission {
    pub(super) fn new(settings: &Settings) -> Self {
        let robots = match &settings.robots {
            RobotsRule::Obey { product } => Some(RobotsCache::new(product, MAX_SITES)),
            RobotsRule::Ignore => None,
        };
        let politeness = Politeness::new(settings.politeness, settings.seed);
        Self { politeness, robots, robots_fetches: BTreeMap::new() }
    }

    /// Restores the scopes and sites that an earlier run stored. Unreadable ones are skipped.
    pub(super) fn restore(&mut self, stored: &[dunlin_store::Politeness]) {
        let read = |scope: &dunlin_store::Politeness| {
            Some((scope.scope.clone(), postcard::from_bytes::<ScopeState>(&scope.state).ok()?))
        };
        let (sites, scopes): (Vec<_>, Vec<_>) = stored.iter().partition(|stored| robots::is_site(stored));
        self.politeness.restore(scopes.into_iter().filter_map(read));
        if let Some(robots) = &mut self.robots {
            robots.restore(sites.into_iter().filter_map(robots::read_site));
        }
    }

    /// Begins after an earlier run, which may have sent requests to any host up to now.
    pub(super) fn resume(&mut self, now: Time) {
        self.politeness.resume(now);
    }

    /// Forgets scopes and sites that hold nothing back; their names.
    pub(super) fn forget(&mut self, now: Time) -> Vec<String> {
        let mut names = self.politeness.forget(now);
        let sites = self.robots.as_mut().map(|robots| robots.forget(now));
        names.extend(sites.into_iter().flatten().map(|site| robots::site_name(&site)));
        names
    }

    /// Whether a URL may be fetched now. A site that forbids it, and for which nothing says for how long, is asked again
    /// at `ask_again`.
    pub(super) fn permission(&mut self, now: Time, url: &ScopedUrl, ask_again: Time) -> Permission {
        match self.robots.as_ref().map(|robots| robots.verdict(url.url(), now)) {
            Some(RobotsVerdict::Unknown { robots_txt }) => return Permission::AskRobots(robots_txt.into()),
            Some(RobotsVerdict::Unreachable { until }) => return Permission::Closed(until),
            Some(RobotsVerdict::Forbidden) => {
                let known = self.robots.as_ref().and_then(|robots| robots.known_until(url.url()));
                return Permission::Forbidden(known.unwrap_or(ask_again));
            }
            Some(RobotsVerdict::Allowed { .. }) | None => {}
        }
        let MayFetch::NotBefore(until, reason) = self.politeness.may_fetch(url, now) else {
            return Permission::Go;
        };
        match self.politeness.scope_hold(url, now) {
            Some((scope_until, _)) => Permission::HostWaits(scope_until),
            None if reason == politeness::Reason::Busy => Permission::HostWaits(until),
            None => Permission::Waits(until),
        }
    }

    /// Until when everything of the scope of `url` is held, and why, if it is.
    pub(super) fn scope_hold(&mut self, url: &ScopedUrl, now: Time) -> Option<(Time, String)> {
        self.politeness.scope_hold(url, now).map(|(until, reason)| (until, reason.to_string()))
    }

    /// When the scope of `url` may be asked again.
    pub(super) fn free_at(&mut self, url: &ScopedUrl, now: Time) -> Time {
        self.politeness.scope_hold(url, now).map_or(now, |(until, _)| until)
    }

    /// Until when a URL that has failed is not asked for.
    pub(super) fn failed_until(&mut self, url: &ScopedUrl, now: Time) -> Option<Time> {
        match self.politeness.may_fetch(url, now) {
            MayFetch::NotBefore(until, reason) if reason.is_failure() => Some(until),
            _ => None,
        }
    }

    /// Until when the site of `url` is closed, because its robots.txt could not be read.
    pub(super) fn closed_until(&self, url: &ScopedUrl, now: Time) -> Option<Time> {
        match self.robots.as_ref()?.verdict(url.url(), now) {
            RobotsVerdict::Unreachable { until } => Some(until),
            _ => None,
        }
    }

    /// The robots.txt of the site of `url`, if it is known.
    pub(super) fn rules(&self, url: &ScopedUrl) -> Option<Arc<Robots>> {
        self.robots.as_ref()?.robots(url.url()).cloned()
    }

    /// A request starts.
    pub(super) fn started(&mut self, url: &ScopedUrl, now: Time) {
        self.politeness.started(url, now);
    }

    /// A request has ended.
    pub(super) fn finished(&mut self, url: &ScopedUrl, outcome: politeness::Outcome, now: Time) {
        self.politeness.finished(url, outcome, now);
    }

    /// What to store about the scopes of `url`.
    pub(super) fn to_store(&self, url: &ScopedUrl) -> Vec<dunlin_store::Politeness> {
        let stored = |(scope, state): (&str, &ScopeState)| {
            let state = postcard::to_allocvec(state).ok()?;
            Some(dunlin_store::Politeness { scope: scope.to_owned(), state })
        };
        self.politeness.to_store(url).filter_map(stored).collect()
    }

    /// Until when a robots.txt must not be fetched, if so. One that is already being fetched can be waited for.
    pub(super) fn robots_held(&mut self, now: Time, robots_txt: &ScopedUrl) -> Option<Time> {
        if self.robots_fetches.contains_key(robots_txt.url().as_str()) {
            return None;
        }
        match self.politeness.may_fetch(robots_txt, now) {
            MayFetch::Go => None,
            MayFetch::NotBefore(until, _) => Some(until),
        }
    }

    /// Lets a probe wait for a robots.txt; whether that has to be fetched.
    pub(super) fn wait_for_robots(&mut self, now: Time, probe: ProbeId, robots_txt: &ScopedUrl) -> bool {
        if let Some(waiting) = self.robots_fetches.get_mut(robots_txt.url().as_str()) {
            waiting.push(probe);
            return false;
        }
        self.politeness.started(robots_txt, now);
        self.robots_fetches.insert(robots_txt.url().to_string(), vec![probe]);
        true
    }

    /// The fetch of a robots.txt has panicked: the probes that waited for it, and until when the host is held.
    pub(super) fn robots_lost(&mut self, now: Time, robots_txt: &ScopedUrl) -> (Vec<ProbeId>, Time) {
        self.politeness.finished(robots_txt, politeness::Outcome::LocalFailure, now);
        let waiting = self.robots_fetches.remove(robots_txt.url().as_str()).unwrap_or_default();
        (waiting, self.free_at(robots_txt, now))
    }

    /// A robots.txt has answered; `None` if robots.txt files are not obeyed.
    pub(super) fn robots_answered(
        &mut self,
        now: Time,
        robots_txt: &ScopedUrl,
        answer: &Result<Fetched, NetError>,
    ) -> Option<RobotsAnswer> {
        let url = robots_txt.url();
        let waiting = self.robots_fetches.remove(url.as_str()).unwrap_or_default();
        // A failure to reach or read the file says nothing about other ports of the host, and counts for this origin only.
        // An explicit wish of the server counts for the whole host.
        self.politeness.finished(robots_txt, politeness::Outcome::of(answer).explicit_only(), now);
        let robots = self.robots.as_mut()?;
        robots.remember(url, answer, now);
        let closed_until = match robots.verdict(url, now) {
            RobotsVerdict::Unreachable { until } => Some(until),
            _ => None,
        };
        let delay = robots.robots(url).and_then(|robots| robots.crawl_delay());
        let site = robots.to_store(url);
        self.politeness.set_gap(robots_txt, delay);
        let free_at = self.free_at(robots_txt, now);
        Some(RobotsAnswer { waiting, free_at, closed_until, site })
    }
}
