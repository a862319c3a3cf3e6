//! From a choice to a probe: the last checks before a request goes to a host. Robots.txt comes first, then politeness; a
//! choice that may not be probed now is returned to the watch.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_net::Connections;
use dunlin_net::politeness::{self, MayFetch, ScopedUrl};
use dunlin_net::robots::RobotsVerdict;
use dunlin_sched::watch::{Choice, HostIdx, Input};
use dunlin_store::{Capture, Outcome, ProbeId, SourceId};

use super::{ActiveProbe, Command, Control, SiteHop, WatchUpdate};
use crate::capture::{Failure, ProbeTask};

/// How long a probe waits for its host after robots.txt was read; for a longer wait it is chosen again.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

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

impl Control {
    /// Turns a choice into a probe, or returns it.
    pub(super) fn begin(&mut self, now: Time, choice: &Choice, commands: &mut Vec<Command>) {
        self.price = choice.price;
        let source = self.sources.get(choice.source);
        let ready = source.filter(|source| source.active_probe.is_none());
        let Some((address, id, terms)) =
            ready.and_then(|source| Some((source.address.clone()?, source.id, source.terms?)))
        else {
            self.return_choice(now, choice);
            return;
        };
        match self.permission(now, &address) {
            Permission::Go => {
                let probe = self.register_probe(choice, id, address, terms.host);
                self.launch(now, probe, commands);
            }
            Permission::HostWaits(until) => {
                self.return_choice(now, choice);
                self.hold_until(now, terms.host, until);
            }
            Permission::Waits(until) | Permission::Closed(until) => {
                self.figures.returned += 1;
                self.update_watch(now, Input::PutOff { source: choice.source, not_before: until });
                if let Some(source) = self.sources.get_mut(choice.source) {
                    source.not_before = Some(until);
                }
            }
            Permission::AskRobots(robots_txt) => {
                if let Some(free) = self.robots_held(now, &robots_txt) {
                    self.return_choice(now, choice);
                    self.hold_until(now, terms.host, free);
                    return;
                }
                let probe = self.register_probe(choice, id, address, terms.host);
                self.fetch_robots(now, probe, &robots_txt, commands);
            }
            Permission::Forbidden(until) => {
                let probe = self.register_probe(choice, id, address, terms.host);
                self.forbid(now, probe, until, commands);
            }
        }
    }

    /// Starts the probes that waited for their host, or returns them.
    pub(super) fn begin_delayed(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some((until, probe)) = self.delayed.first().copied().filter(|(until, _)| *until <= now) {
            self.delayed.remove(&(until, probe));
            let Some(active) = self.active_probes.get(&probe) else { continue };
            let (url, is_redirected) = (Arc::clone(&active.url), active.redirect.is_some());
            let has_asked = active.connections == Connections::New;
            if self.room_is_shut(now) {
                self.return_probe(now, probe);
                continue;
            }
            if is_redirected {
                self.follow_redirect(now, probe, commands);
                continue;
            }
            match self.permission(now, &url) {
                Permission::Go if has_asked => self.launch_hop(now, probe, commands),
                Permission::Go => self.launch(now, probe, commands),
                Permission::HostWaits(until) if until.since(now) <= PATIENCE => {
                    self.delayed.insert((until, probe));
                }
                Permission::Forbidden(until) => self.forbid(now, probe, until, commands),
                _ => self.return_probe(now, probe),
            }
        }
    }

    /// Ends a probe that has no answer yet: it counts as not made.
    pub(super) fn return_probe(&mut self, now: Time, probe: ProbeId) {
        let Some(active) = self.active_probes.remove(&probe) else { return };
        if let Some(source) = self.sources.same(active.choice.source, active.id) {
            let address = source.address.clone();
            self.return_choice(now, &active.choice);
            if let Some(address) = address {
                self.hold(now, active.host, &address);
            }
            self.release(now, active.choice.source, active.id);
        }
    }

    pub(super) fn permission(&mut self, now: Time, url: &ScopedUrl) -> Permission {
        let verdict = self.robots.as_ref().map(|robots| robots.verdict(url.url(), now));
        match verdict {
            Some(RobotsVerdict::Unknown { robots_txt }) => return Permission::AskRobots(robots_txt.into()),
            Some(RobotsVerdict::Unreachable { until }) => return Permission::Closed(until),
            Some(RobotsVerdict::Forbidden) => {
                let known = self.robots.as_ref().and_then(|robots| robots.known_until(url.url()));
                return Permission::Forbidden(known.unwrap_or(now.plus(self.settings.longest_gap)));
            }
            Some(RobotsVerdict::Allowed { .. }) | None => {}
        }
        let MayFetch::NotBefore(until, reason) = self.politeness.may_fetch(url, now) else {
            return Permission::Go;
        };
        match self.politeness.scope_hold(url, now) {
            Some((place_until, _)) => Permission::HostWaits(place_until),
            None if reason == politeness::Reason::Busy => Permission::HostWaits(until),
            None => Permission::Waits(until),
        }
    }

    /// Tells the watch that a choice was not probed.
    fn return_choice(&mut self, now: Time, choice: &Choice) {
        self.figures.returned += 1;
        self.update_watch(now, Input::Returned { source: choice.source });
    }

    /// A new id.
    fn new_probe(&mut self) -> ProbeId {
        self.last_probe_id = self.last_probe_id.wrapping_add(1);
        ProbeId(self.last_probe_id)
    }

    /// Registers an active probe.
    fn register_probe(
        &mut self,
        choice: &Choice,
        id: SourceId,
        url: Arc<ScopedUrl>,
        host: HostIdx,
    ) -> ProbeId {
        let probe = self.new_probe();
        if let Some(source) = self.sources.get_mut(choice.source) {
            source.active_probe = Some(probe);
        }
        self.active_probes.insert(
            probe,
            ActiveProbe {
                choice: *choice,
                id,
                host,
                url,
                connections: Connections::Once,
                redirect: None,
                ending: None,
            },
        );
        probe
    }

    /// Writes the reason for a probe to the journal.
    fn journal_probe(&mut self, now: Time, probe: ProbeId) {
        let Some(active) = self.active_probes.get(&probe) else { return };
        self.journal.rows.push(crate::journal::row_of(now, active.id, probe, &active.choice));
        self.figures.probes += 1;
        self.usage.count(now);
        if let Some(host) = self.hosts.get_mut(active.host) {
            host.used.count(now);
        }
    }

    /// Starts a probe.
    fn launch(&mut self, now: Time, probe: ProbeId, commands: &mut Vec<Command>) {
        self.journal_probe(now, probe);
        let Some(host) = self.active_probes.get(&probe).map(|active| active.host) else { return };
        if self.settings.politeness.concurrent > 1 {
            // With one at a time the host is busy anyway, and held when the answer comes.
            self.hold_until(now, host, now.plus(self.settings.politeness.gap));
        }
        self.launch_hop(now, probe, commands);
    }

    /// Starts the next hop of a probe.
    pub(super) fn launch_hop(&mut self, now: Time, probe: ProbeId, commands: &mut Vec<Command>) {
        let Some(active) = self.active_probes.get(&probe) else { return };
        self.politeness.started(&active.url, now);
        let rules = self.robots.as_ref().and_then(|robots| robots.robots(active.url.url()).cloned());
        let hop = SiteHop { redirect: active.redirect.clone(), rules, connections: active.connections };
        let source = self.sources.get(active.choice.source);
        let last_probe = source.and_then(|source| source.last_probe);
        let address = source.and_then(|source| source.address.as_ref()).unwrap_or(&active.url);
        let url = Arc::clone(address.shared_url());
        commands.push(Command::Probe { task: ProbeTask { probe, source: active.id, url, last_probe }, hop });
    }

    /// A probe that robots.txt forbids fails without a request.
    fn forbid(&mut self, now: Time, probe: ProbeId, until: Time, commands: &mut Vec<Command>) {
        self.journal_probe(now, probe);
        let failure = Failure::new(Fault::User, "robots.txt of the site forbids it (ask its owner)");
        self.fail_before_fetch(now, probe, &failure, until, commands);
    }

    /// A probe fails before a request to its source, or to the site that its source redirects to. In the second case the
    /// source gets a pause that doubles: the other site has done nothing wrong.
    pub(super) fn fail_before_fetch(
        &mut self,
        now: Time,
        probe: ProbeId,
        failure: &Failure,
        not_before: Time,
        commands: &mut Vec<Command>,
    ) {
        let Some(active) = self.active_probes.get(&probe) else { return };
        let (index, id, url) = (active.choice.source, active.id, Arc::clone(&active.url));
        let is_redirected = active.redirect.is_some();
        let Some(failures) = self.sources.same(index, id).map(|source| source.failures) else {
            self.active_probes.remove(&probe);
            return;
        };
        let (not_before, failures) = if is_redirected && failure.fault == Fault::Remote {
            let failures = failures.saturating_add(1);
            (not_before.max(now.plus(self.own_pause(failures))), failures)
        } else {
            (not_before, failures)
        };
        self.count_failure(failure.fault);
        let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
        let mut capture = Capture::bare(id, probe, now, outcome);
        capture.politeness = self.remembered(&url);
        capture.state = self.state_after(now, index, failure.health());
        self.queue_capture(probe, WatchUpdate::Failed { not_before, failures }, capture, commands);
    }
}
