//! From a choice to a probe: the last checks before a request goes to a host. Robots.txt comes first, then politeness; a
//! choice that may not be probed now is returned to the scheduler.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, ResourceIdx, SourceIdx, Time};
use dunlin_net::Connections;
use dunlin_net::politeness::ScopedUrl;
use dunlin_sched::scheduler::{Choice, HostIdx, Input};
use dunlin_store::{Capture, Outcome, ProbeId};

use super::admission::Permission;
use super::in_flight::{ActiveProbe, ActiveSource, Ending};
use super::{Command, Control, SiteHop};
use crate::capture::{Failure, ProbeTask, SourceTask};

/// How long a probe waits for its host after robots.txt was read; for a longer wait it is chosen again.
pub(super) const PATIENCE: Duration = Duration::from_mins(5);

impl Control {
    /// Turns a choice into a probe, or returns it.
    pub(super) fn begin(&mut self, now: Time, choice: &Choice, commands: &mut Vec<Command>) {
        self.price = choice.price;
        let resource = self.resources.get(choice.resource);
        let Some(resource) = resource.filter(|resource| resource.active_probe.is_none()) else {
            self.return_choice(now, choice);
            return;
        };
        let (address, host) = (Arc::clone(&resource.address), resource.host);
        match self.permission(now, &address) {
            Permission::Go => {
                let probe = self.register_probe(choice, address, host);
                self.launch(now, probe, commands);
            }
            Permission::HostWaits(until) => {
                self.return_choice(now, choice);
                self.hold_until(now, host, until);
            }
            Permission::Waits(until) | Permission::Closed(until) => {
                self.stats.returned += 1;
                self.update_scheduler(
                    now,
                    Input::ProbePostponed { resource: choice.resource, not_before: until },
                );
                for source in self.sources_of(choice.resource) {
                    if let Some(source) = self.sources.get_mut(source) {
                        source.not_before = Some(until);
                    }
                }
            }
            Permission::AskRobots(robots_txt) => {
                if let Some(free) = self.admission.robots_held(now, &robots_txt) {
                    self.return_choice(now, choice);
                    self.hold_until(now, host, free);
                    return;
                }
                let probe = self.register_probe(choice, address, host);
                self.fetch_robots(now, probe, &robots_txt, commands);
            }
            Permission::Forbidden(until) => {
                let probe = self.register_probe(choice, address, host);
                self.forbid(now, probe, until, commands);
            }
        }
    }

    /// Starts the probes that waited for their host, or returns them.
    pub(super) fn begin_delayed(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some(probe) = self.in_flight.take_delayed(now) {
            let Some(active) = self.in_flight.get(probe) else { continue };
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
                Permission::Go => {
                    self.tell_began(now, probe);
                    if has_asked {
                        self.launch_hop(now, probe, commands);
                    } else {
                        self.launch(now, probe, commands);
                    }
                }
                Permission::HostWaits(until) if until.since(now) <= PATIENCE => {
                    self.in_flight.delay(probe, until);
                }
                Permission::Forbidden(until) => self.forbid(now, probe, until, commands),
                _ => self.return_probe(now, probe),
            }
        }
    }

    /// Tells the scheduler that the request of a probe goes out only now: what it shows is from now on, and not from when it was
    /// chosen. So it is with one that is sent once more, since nothing is known of the first.
    fn tell_began(&mut self, now: Time, probe: ProbeId) {
        let Some(resource) = self.in_flight.get(probe).map(|active| active.choice.resource) else { return };
        if self.resources.get(resource).is_some_and(|known| known.active_probe == Some(probe)) {
            self.update_scheduler(now, Input::ProbeBegan { resource });
        }
    }

    /// Ends a probe that has no answer yet: it counts as not made.
    pub(super) fn return_probe(&mut self, now: Time, probe: ProbeId) {
        let Some(active) = self.in_flight.end(probe) else { return };
        if let Some(resource) = self.resources.get_mut(active.choice.resource)
            && resource.active_probe.take_if(|own| *own == probe).is_some()
        {
            self.return_choice(now, &active.choice);
            self.hold(now, active.host, &active.address);
        }
        for source in &active.sources {
            self.release(now, source.index, source.id);
        }
    }

    /// The watched sources of a resource.
    fn sources_of(&self, resource: ResourceIdx) -> Vec<SourceIdx> {
        self.resources.get(resource).map_or_else(Vec::new, |resource| resource.sources().collect())
    }

    pub(super) fn permission(&mut self, now: Time, url: &ScopedUrl) -> Permission {
        self.admission.permission(now, url, now.plus(self.settings.longest_gap))
    }

    /// Tells the scheduler that a choice was not probed.
    fn return_choice(&mut self, now: Time, choice: &Choice) {
        self.stats.returned += 1;
        self.update_scheduler(now, Input::ProbeReturned { resource: choice.resource });
    }

    /// Registers an active probe, for all sources of its resource.
    fn register_probe(&mut self, choice: &Choice, address: Arc<ScopedUrl>, host: HostIdx) -> ProbeId {
        let probe = self.in_flight.next_id();
        if let Some(now) = self.now {
            self.recent_choices.note(now, host, choice);
        }
        if let Some(resource) = self.resources.get_mut(choice.resource) {
            resource.active_probe = Some(probe);
        }
        let mut sources = Vec::new();
        for index in self.sources_of(choice.resource) {
            if let Some(source) = self.sources.get_mut(index) {
                source.is_being_probed = true;
                let (id, ending) = (source.id, Ending::Gone);
                sources.push(ActiveSource { index, id, ending, begun: Vec::new(), to_rank: Vec::new() });
            }
        }
        self.in_flight.begin(
            probe,
            ActiveProbe {
                choice: *choice,
                url: Arc::clone(&address),
                address,
                host,
                connections: Connections::Once,
                redirect: None,
                sources,
                n_unwritten: 0,
            },
        );
        probe
    }

    /// Writes the reason for a probe to the journal, for each source that it serves.
    fn journal_probe(&mut self, now: Time, probe: ProbeId) {
        let Some(active) = self.in_flight.get(probe) else { return };
        let row = |source: &ActiveSource| crate::journal::row_of(now, source.id, probe, &active.choice);
        self.journal.rows.extend(active.sources.iter().map(row));
        self.stats.probes += 1;
        self.usage.count(now);
        if let Some(host) = self.hosts.get_mut(active.host) {
            host.used.count(now);
        }
    }

    /// Starts a probe.
    fn launch(&mut self, now: Time, probe: ProbeId, commands: &mut Vec<Command>) {
        self.journal_probe(now, probe);
        let Some(host) = self.in_flight.get(probe).map(|active| active.host) else { return };
        if self.settings.politeness.concurrent > 1 {
            // With one at a time the host is busy anyway, and held when the answer comes.
            self.hold_until(now, host, now.plus(self.settings.politeness.gap));
        }
        self.launch_hop(now, probe, commands);
    }

    /// Starts the next hop of a probe.
    pub(super) fn launch_hop(&mut self, now: Time, probe: ProbeId, commands: &mut Vec<Command>) {
        let Some(active) = self.in_flight.get(probe) else { return };
        self.admission.started(&active.url, now);
        let rules = self.admission.rules(&active.url);
        let hop = SiteHop { redirect: active.redirect.clone(), rules, connections: active.connections };
        let task_of = |own: &ActiveSource| {
            let last_probe = self.sources.get(own.index).and_then(|source| source.last_probe);
            let (wants_items, wants_news) = (self.queries.reads(own.id), self.watches.are_running());
            SourceTask { source: own.id, last_probe, wants_items, wants_news }
        };
        let sources = active.sources.iter().map(task_of).collect();
        let url = Arc::clone(active.address.shared_url());
        commands.push(Command::Probe { task: ProbeTask { probe, url, sources }, hop });
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
        let Some(active) = self.in_flight.get(probe) else { return };
        let url = Arc::clone(&active.url);
        let is_redirected = active.redirect.is_some();
        self.count_failure(failure.fault);
        let sources = self.in_flight.sources_of(probe);
        let mut captures = Vec::with_capacity(sources.len());
        for (_, id) in sources {
            let Some(index) = self.active_source(probe, id) else { continue };
            let failures = self.sources.get(index).map_or(0, |source| source.failures);
            let (not_before, failures) = if is_redirected && failure.fault == Fault::Remote {
                let failures = failures.saturating_add(1);
                (not_before.max(now.plus(self.own_pause(failures))), failures)
            } else {
                (not_before, failures)
            };
            let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
            let mut capture = Capture::bare(id, probe, now, outcome);
            self.complete_health(now, index, failure.health(), &mut capture);
            captures.push(capture);
            self.in_flight.set_ending(probe, index, Ending::Failed { not_before, failures });
        }
        if let Some(first) = captures.first_mut() {
            first.politeness = self.admission.to_store(&url);
        }
        self.queue_captures(now, probe, captures, commands);
    }
}
