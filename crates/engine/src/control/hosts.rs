//! The places that politeness is owed to, as dense indices for the watch, with how often each was asked of late.

use std::collections::BTreeMap;

use dunlin_core::Time;
use dunlin_sched::watch::{HostIdx, HostTerms, Input};
use url::Url;

use super::Control;
use super::usage::HourlyUse;

/// One place.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) place: Box<str>,
    pub(super) held_until: Option<Time>,
    pub(super) used: HourlyUse,
}

/// All places that any source is or was at.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    hosts: Vec<Host>,
    by_place: BTreeMap<Box<str>, HostIdx>,
}

impl Hosts {
    pub(super) fn get_mut(&mut self, host: HostIdx) -> Option<&mut Host> {
        self.hosts.get_mut(host.0 as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (HostIdx, &Host)> {
        self.hosts.iter().zip(0..).map(|(host, index)| (HostIdx(index), host))
    }
}

impl Control {
    /// The place of a URL; the watch is told of a new one.
    pub(super) fn host_of(&mut self, now: Time, url: &Url) -> HostIdx {
        let place = self.settings.politeness.scope.key(url);
        if let Some(host) = self.hosts.by_place.get(place.as_str()) {
            return *host;
        }
        let host = HostIdx(self.hosts.hosts.len() as u32);
        let place: Box<str> = place.into();
        self.hosts.by_place.insert(place.clone(), host);
        self.hosts.hosts.push(Host { place, held_until: None, used: HourlyUse::default() });
        self.introduce(now, host);
        host
    }

    /// Tells the watch what a host allows.
    pub(super) fn introduce(&mut self, now: Time, host: HostIdx) {
        let at_one_time = self.settings.politeness.concurrent.max(1);
        let terms = HostTerms { at_one_time, budget: self.settings.host_budget };
        self.tell(now, Input::Host { host, terms });
    }

    /// Tells the watch until when the place of `url` is to be left alone, if it is.
    pub(super) fn hold(&mut self, now: Time, host: HostIdx, url: &Url) {
        if let Some((until, _)) = self.politeness.place_hold(url, now) {
            self.hold_until(now, host, until);
        }
    }

    pub(super) fn hold_until(&mut self, now: Time, host: HostIdx, until: Time) {
        if let Some(host) = self.hosts.get_mut(host) {
            host.held_until = Some(until);
        }
        self.tell(now, Input::Held { host, until });
    }
}
