//! The scopes that politeness is owed to, as dense indices for the scheduler, with how often each was probed recently.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_net::politeness::{self, ScopedUrl};
use dunlin_sched::scheduler::{HostIdx, HostTerms, Input};
use dunlin_store::ProbeId;
use url::Url;

use super::Control;
use super::usage::HostCounter;

/// One scope.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) scope: Box<str>,
    pub(super) used: HostCounter,
}

/// All scopes of sources. Indices of dropped scopes are used again.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    slots: Vec<Option<Host>>,
    by_scope: BTreeMap<Box<str>, HostIdx>,
    free: Vec<HostIdx>,
}

impl Hosts {
    pub(super) fn get_mut(&mut self, host: HostIdx) -> Option<&mut Host> {
        self.slots.get_mut(host.0 as usize)?.as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.by_scope.len()
    }

    /// One more than the largest index.
    pub(super) const fn n_indices(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (HostIdx, &Host)> {
        let numbered = self.slots.iter().zip(0..);
        numbered.filter_map(|(host, index)| Some((HostIdx(index), host.as_ref()?)))
    }

    fn put(&mut self, host: Host) -> HostIdx {
        let index = self.free.pop().unwrap_or(HostIdx(self.slots.len() as u32));
        self.by_scope.insert(host.scope.clone(), index);
        if index.0 as usize == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[index.0 as usize] = Some(host);
        index
    }

    fn drop_all(&mut self, is_dropped: impl Fn(HostIdx) -> bool) {
        for (index, slot) in (0..).map(HostIdx).zip(&mut self.slots) {
            if let Some(host) = slot.take_if(|_| is_dropped(index)) {
                self.by_scope.remove(&host.scope);
                self.free.push(index);
            }
        }
    }
}

impl Control {
    /// The scope of a URL; a new one is registered with the scheduler.
    pub(super) fn host_of(&mut self, now: Time, url: &Url) -> HostIdx {
        let scope = self.settings.politeness.scope.key(url);
        if let Some(host) = self.hosts.by_scope.get(scope.as_str()) {
            return *host;
        }
        let host = self.hosts.put(Host { scope: scope.into(), used: HostCounter::default() });
        self.register_host(now, host);
        host
    }

    /// Drops scopes without sources. A held one is kept until the hold ends: the hold belongs to its index.
    pub(super) fn drop_hosts(&mut self, now: Time) {
        let at_resources = self.resources.iter().map(|(_, resource)| resource.host);
        let in_use: BTreeSet<HostIdx> = at_resources.chain(self.in_flight.hosts()).collect();
        let scheduler = self.scheduler.scheduler();
        let is_held = |index| scheduler.held_until(index).is_some_and(|until| until > now);
        self.hosts.drop_all(|index| !in_use.contains(&index) && !is_held(index));
    }

    /// Tells the scheduler what a host allows.
    pub(super) fn register_host(&mut self, now: Time, host: HostIdx) {
        let at_one_time = self.settings.politeness.concurrent.max(1);
        let terms = HostTerms { at_one_time, budget: self.settings.host_budget };
        self.update_scheduler(now, Input::Host { host, terms });
    }

    /// Tells the scheduler until when the scope of `url` is held, if it is.
    pub(super) fn hold(&mut self, now: Time, host: HostIdx, url: &ScopedUrl) {
        if let Some((until, _)) = self.admission.scope_hold(url, now) {
            self.hold_until(now, host, until);
        }
    }

    /// Counts a request for each scope that redirects within a site led to, so that it rests as after any other; returns
    /// what to store about them. They were not known before the fetch, unlike the scopes where hops started.
    pub(super) fn count_chain(
        &mut self,
        now: Time,
        probe: ProbeId,
        redirect_chain: &[Url],
    ) -> Vec<dunlin_store::Politeness> {
        let Some(active) = self.in_flight.get(probe).filter(|_| redirect_chain.len() > 1) else {
            return Vec::new();
        };
        let scope = self.settings.politeness.scope;
        let hops = active.redirect.iter().flat_map(|redirect| redirect.hops()).map(|hop| &hop.from);
        let mut counted: BTreeSet<String> =
            hops.chain([active.url.url()]).map(|url| scope.key(url)).collect();
        let mut to_store = Vec::new();
        for url in redirect_chain {
            let key = scope.key(url);
            if counted.contains(&key) {
                continue;
            }
            let address = ScopedUrl::from(url.clone());
            self.admission.started(&address, now);
            self.admission.finished(&address, politeness::Outcome::Abandoned, now);
            if let Some(host) = self.hosts.by_scope.get(key.as_str()).copied() {
                self.hold(now, host, &address);
            }
            to_store.extend(self.admission.to_store(&address));
            counted.insert(key);
        }
        to_store
    }

    pub(super) fn hold_until(&mut self, now: Time, host: HostIdx, until: Time) {
        self.update_scheduler(now, Input::HostHeld { host, until });
    }
}
