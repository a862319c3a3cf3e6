//! Fetching robots.txt of sites, and what follows from the answer. One fetch per site at a time, within the host's gap.
//! It does not count as a probe, but a probe waits for each, so the budget bounds these fetches too.

use dunlin_core::{Fault, Time};
use dunlin_net::politeness::ScopedUrl;
use dunlin_net::robots::SiteState;
use dunlin_net::{Error as NetError, Fetched, RedactedUrl};
use dunlin_store::ProbeId;

use super::admission::RobotsAnswer;
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
    /// Lets a probe wait for a robots.txt, and fetches it unless that is already happening.
    pub(super) fn fetch_robots(
        &mut self,
        now: Time,
        probe: ProbeId,
        robots_txt: &ScopedUrl,
        commands: &mut Vec<Command>,
    ) {
        if self.admission.wait_for_robots(now, probe, robots_txt) {
            self.stats.robots += 1;
            commands.push(Command::FetchRobots { url: robots_txt.url().clone() });
        }
    }

    /// The fetch has panicked: the probes that waited for it fail.
    pub(super) fn robots_lost(&mut self, now: Time, scoped: &ScopedUrl, commands: &mut Vec<Command>) {
        let (waiting, until) = self.admission.robots_lost(now, scoped);
        let failure =
            Failure::new(Fault::Ours, "internal error while asking for robots.txt (please report this)");
        for probe in waiting {
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
        match answer {
            Err(error) if error.fault() == Fault::Ours => self.trouble.ours(now, &error.to_string()),
            _ => self.trouble.fine(),
        }
        let Some(answered) = self.admission.robots_answered(now, scoped, answer) else { return };
        let RobotsAnswer { waiting, free_at, closed_until, site } = answered;
        self.store_site(scoped, site, commands);
        let host = self.host_of(now, scoped.url());
        self.hold_until(now, host, free_at);
        let Some(until) = closed_until else {
            for probe in waiting {
                if self.is_stopping {
                    self.return_probe(now, probe);
                } else {
                    self.in_flight.delay(probe, free_at);
                }
            }
            return;
        };
        let until = until.max(free_at);
        let (fault, why) = match answer {
            Ok(fetched) => (Fault::Remote, format!("the server answers {}", fetched.status)),
            Err(error) => (error.fault(), error.to_string()),
        };
        let failure = Failure::new(fault, format!("{} cannot be read: {why}", RedactedUrl::of(scoped.url())));
        for probe in waiting {
            self.fail_before_fetch(now, probe, &failure, until, commands);
        }
    }

    /// Stores the rules of a site and its waits, so that the next run need not fetch them again.
    fn store_site(&self, scoped: &ScopedUrl, site: Option<(String, SiteState)>, commands: &mut Vec<Command>) {
        let mut to_store = self.admission.to_store(scoped);
        to_store.extend(site.map(|(site, state)| {
            let written = postcard::to_allocvec(&state).ok().filter(|bytes| bytes.len() <= MAX_STORED);
            dunlin_store::Politeness { scope: site_name(&site), state: written.unwrap_or_default() }
        }));
        commands.push(Command::Write(Write::Politeness(to_store)));
    }

    /// Starts nothing from now on. Probes without a request yet are returned.
    pub(super) fn stop(&mut self, now: Time) {
        self.is_stopping = true;
        for probe in self.in_flight.take_all_delayed() {
            self.return_probe(now, probe);
        }
    }
}
