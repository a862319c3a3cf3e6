//! A probe that is redirected to another site: that site's robots.txt and gap count like any other's before the probe
//! continues there. A redirect that may not be followed ends as a failed probe with the reason.

use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::politeness::Outcome;
use dunlin_net::robots::Robots;
use dunlin_net::{Connections, CrossSiteRedirect, RedactedUrl, Request};
use dunlin_store::ProbeId;
use serde::{Deserialize, Serialize};

use super::admission::Permission;
use super::begin::PATIENCE;
use super::{Command, Control};
use crate::capture::Failure;

/// The part of a probe within one site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteHop {
    /// The redirect that led to this site, if any.
    pub redirect: Option<Box<CrossSiteRedirect>>,
    /// The site's robots.txt, if it is known. Shared because it is large and never changes; as plain data it is itself.
    #[serde(with = "plain_rules")]
    pub rules: Option<Arc<Robots>>,
    /// How it is sent.
    pub connections: Connections,
}

/// A shared robots.txt as the file that it is.
mod plain_rules {
    use std::sync::Arc;

    use dunlin_net::robots::Robots;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde calls it with this type")]
    pub(super) fn serialize<S: Serializer>(
        rules: &Option<Arc<Robots>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        rules.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<Robots>>, D::Error> {
        Ok(Option::<Robots>::deserialize(deserializer)?.map(Arc::new))
    }
}

impl SiteHop {
    /// The request of this hop.
    pub fn of(self, request: Request) -> Request {
        let request = request.within_site(self.rules).over(self.connections);
        match self.redirect {
            Some(redirect) => request.resuming(*redirect),
            None => request,
        }
    }
}

impl Control {
    /// The site redirects to another one.
    pub(super) fn redirected(
        &mut self,
        now: Time,
        probe: ProbeId,
        redirect: Box<CrossSiteRedirect>,
        commands: &mut Vec<Command>,
    ) {
        self.hop_ended(now, probe, Outcome::Fine);
        let Some(active) = self.in_flight.get_mut(probe) else { return };
        active.url = Arc::new(redirect.url().clone().into());
        active.redirect = Some(redirect);
        if self.room_is_shut(now) {
            self.return_probe(now, probe);
        } else {
            self.follow_redirect(now, probe, commands);
        }
    }

    /// The connection of a probe was closed: it is sent once more, over a new one, when its host allows.
    pub(super) fn connection_closed(&mut self, now: Time, probe: ProbeId) {
        self.hop_ended(now, probe, Outcome::Abandoned);
        let Some(active) = self.in_flight.get_mut(probe) else { return };
        active.connections = Connections::New;
        let url = Arc::clone(&active.url);
        let free_at = self.admission.free_at(&url, now);
        self.in_flight.delay(probe, free_at);
    }

    /// Starts the next hop of a probe, lets it wait, or ends it.
    pub(super) fn follow_redirect(&mut self, now: Time, probe: ProbeId, commands: &mut Vec<Command>) {
        let Some(url) = self.in_flight.get(probe).map(|active| Arc::clone(&active.url)) else { return };
        let (fault, why, until) = match self.permission(now, &url) {
            Permission::Go => return self.launch_hop(now, probe, commands),
            Permission::HostWaits(until) if until.since(now) <= PATIENCE => {
                self.in_flight.delay(probe, until);
                return;
            }
            Permission::AskRobots(robots_txt) => match self.admission.robots_held(now, &robots_txt) {
                None => return self.fetch_robots(now, probe, &robots_txt, commands),
                Some(free) if free.since(now) <= PATIENCE => {
                    self.in_flight.delay(probe, free);
                    return;
                }
                Some(free) => (Fault::Remote, "that host may not receive requests now", free),
            },
            Permission::HostWaits(until) => (Fault::Remote, "that host may not receive requests now", until),
            Permission::Waits(until) => (Fault::Remote, "that page has failed before", until),
            Permission::Closed(until) => (Fault::Remote, "robots.txt of that site cannot be read", until),
            Permission::Forbidden(until) => {
                (Fault::User, "robots.txt of that site forbids it (ask its owner)", until)
            }
        };
        let failure = Failure::new(fault, format!("it redirects to {}: {why}", RedactedUrl::of(url.url())));
        self.fail_before_fetch(now, probe, &failure, until, commands);
    }
}
