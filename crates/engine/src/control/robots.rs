//! Fetching robots.txt of sites, and what follows from the answer. One fetch per site at a time, within the host's gap.
//! It does not count as a probe, but a probe waits for each, so the budget bounds these fetches too.

use dunlin_core::{Fault, Time};
use dunlin_net::politeness::{MayFetch, Outcome, ScopedUrl};
use dunlin_net::robots::{RobotsVerdict, SiteState};
use dunlin_net::{Error as NetError, Fetched, RedactedUrl};
use dunlin_store::ProbeId;

use super::{Command, Control, Write};
use crate::capture::Failure;

/// The prefix of stored site names; no scope has it.
const SITE: &str = "robots ";

/// The most bytes that are stored of one site. A larger file is fetched again after a restart.
const MAX_STORED: usize = 64 << 10;

/// Whether this is about a site, not about a scope.
pub(super) fn is_site(stored: &dunlin_store::Politeness) -> bool {
    stored.scope.starts_with(SITE)
}

/// What is stored about a site, if it can be read.
pub(super) fn read_site(stored: &dunlin_store::Politeness) -> Option<(String, SiteState)> {
    let site = stored.scope.strip_prefix(SITE)?;
    Some((site.to_owned(), postcard::from_bytes(&stored.state).ok()?))
}

/// The name under which a site is stored.
pub(super) fn site_name(site: &str) -> String {
    format!("{SITE}{site}")
}

impl Control {
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

    /// Lets a probe wait for a robots.txt, and fetches it unless that is already happening.
    pub(super) fn fetch_robots(
        &mut self,
        now: Time,
        probe: ProbeId,
        robots_txt: &ScopedUrl,
        commands: &mut Vec<Command>,
    ) {
        if let Some(waiting) = self.robots_fetches.get_mut(robots_txt.url().as_str()) {
            waiting.push(probe);
            return;
        }
        self.politeness.started(robots_txt, now);
        self.robots_fetches.insert(robots_txt.url().to_string(), vec![probe]);
        self.figures.robots += 1;
        commands.push(Command::FetchRobots { url: robots_txt.url().clone() });
    }

    /// The fetch has panicked: the probes that waited for it fail.
    pub(super) fn robots_lost(&mut self, now: Time, scoped: &ScopedUrl, commands: &mut Vec<Command>) {
        self.politeness.finished(scoped, Outcome::LocalFailure, now);
        let until = self.politeness.scope_hold(scoped, now).map_or(now, |(until, _)| until);
        let failure =
            Failure::new(Fault::Ours, "internal error while asking for robots.txt (please report this)");
        for probe in self.robots_fetches.remove(scoped.url().as_str()).unwrap_or_default() {
            self.fail_before_fetch(now, probe, &failure, until, commands);
        }
    }

    pub(super) fn robots_answered(
        &mut self,
        now: Time,
        scoped: &ScopedUrl,
        answer: &Result<Fetched, NetError>,
        commands: &mut Vec<Command>,
    ) {
        let url = scoped.url();
        let waiting = self.robots_fetches.remove(url.as_str()).unwrap_or_default();
        // A failure to reach or read the file says nothing about other ports of the host, and counts for this origin only.
        // An explicit wish of the server counts for the whole host.
        self.politeness.finished(scoped, Outcome::of(answer).explicit_only(), now);
        match answer {
            Err(error) if error.fault() == Fault::Ours => self.trouble.ours(now, &error.to_string()),
            _ => self.trouble.fine(),
        }
        let Some(robots) = &mut self.robots else { return };
        robots.remember(url, answer, now);
        let verdict = robots.verdict(url, now);
        let delay = robots.robots(url).and_then(|robots| robots.crawl_delay());
        let site = robots.to_store(url);
        self.politeness.set_gap(scoped, delay);
        self.store_site(scoped, site, commands);
        let free = self.politeness.scope_hold(scoped, now).map_or(now, |(until, _)| until);
        let host = self.host_of(now, url);
        self.hold_until(now, host, free);
        let RobotsVerdict::Unreachable { until } = verdict else {
            for probe in waiting {
                if self.is_stopping {
                    self.return_probe(now, probe);
                } else {
                    self.delayed.insert((free, probe));
                }
            }
            return;
        };
        let until = until.max(free);
        let (fault, why) = match answer {
            Ok(fetched) => (Fault::Remote, format!("the server answers {}", fetched.status)),
            Err(error) => (error.fault(), error.to_string()),
        };
        let failure = Failure::new(fault, format!("{} cannot be read: {why}", RedactedUrl::of(url)));
        for probe in waiting {
            self.fail_before_fetch(now, probe, &failure, until, commands);
        }
    }

    /// Stores the rules of a site and its waits, so that the next run need not fetch them again.
    fn store_site(&self, scoped: &ScopedUrl, site: Option<(String, SiteState)>, commands: &mut Vec<Command>) {
        let mut to_store = self.remembered(scoped);
        to_store.extend(site.map(|(site, state)| {
            let written = postcard::to_allocvec(&state).ok().filter(|bytes| bytes.len() <= MAX_STORED);
            dunlin_store::Politeness { scope: site_name(&site), state: written.unwrap_or_default() }
        }));
        commands.push(Command::Write(Write::Politeness(to_store)));
    }

    /// Starts nothing from now on. Probes without a request yet are returned.
    pub(super) fn stop(&mut self, now: Time) {
        self.is_stopping = true;
        for (_, probe) in std::mem::take(&mut self.delayed) {
            self.return_probe(now, probe);
        }
    }
}
