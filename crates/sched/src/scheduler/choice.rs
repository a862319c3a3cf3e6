//! What a scheduler has chosen and why, and what it says when asked about a resource.

use dunlin_core::{ResourceIdx, Time};
use serde::{Deserialize, Serialize};

use super::input::CeiId;

/// A resource to probe now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Which resource.
    pub resource: ResourceIdx,
    /// Why now.
    pub reason: Reason,
    /// What the probe is worth.
    pub value: f64,
    /// What a probe had to be worth, per unit of cost.
    pub price: f64,
}

/// Why a probe is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// It is worth the price.
    Worth,
    /// Nothing was worth more, and the budget would have gone unspent.
    Spare,
    /// It has never been seen.
    New,
    /// It has not been probed for as long as its terms allow.
    Overdue,
    /// Someone asked for it.
    #[serde(rename = "Wanted")]
    Requested,
    /// The plan has it for this time.
    Planned,
    /// It captures intervals of needs.
    Interval,
}

/// Something that became of a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CeiEvent {
    /// One of its intervals is captured.
    IntervalCaptured {
        /// Of which need.
        cei: CeiId,
        /// Its position among the intervals of the need.
        interval: u32,
    },
    /// As many intervals as it needs are captured.
    Captured {
        /// Which need.
        cei: CeiId,
    },
    /// It can no longer be captured.
    Lost {
        /// Which need.
        cei: CeiId,
    },
}

/// Something that keeps a resource from being probed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    /// A probe is in flight.
    #[serde(rename = "UnderWay")]
    InFlight,
    /// The last probe is too recent.
    ShortestGap {
        /// Until when.
        until: Time,
    },
    /// It was put off, after a failure.
    NotBefore {
        /// Until when.
        until: Time,
    },
    /// The host is not to be asked.
    HostHeld {
        /// Until when.
        until: Time,
    },
    /// The host's own budget is spent.
    HostBudget {
        /// Until when; `None` if it has none to spend.
        until: Option<Time>,
    },
    /// The host has as many probes in flight as it may.
    HostBusy,
    /// The budget for all is spent.
    Budget {
        /// Until when; `None` if there is none to spend.
        until: Option<Time>,
    },
}

/// What there is to say about a resource now.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What a probe is worth now.
    pub value: f64,
    /// What it would have to be worth, per unit of cost.
    pub price: f64,
    /// When the next probe is expected; `None` when it cannot be said (a probe is in flight, there is no budget, or it is probed
    /// for intervals only and none is planned).
    pub next_probe: Option<Time>,
    /// Why it will be taken then.
    pub reason: Reason,
    /// What keeps it from being taken now, besides its value.
    pub holds: Vec<Hold>,
}

/// How a scheduler is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SchedulerStats {
    /// What a probe has to be worth, per unit of cost.
    pub price: f64,
    /// Resources watched.
    pub resources: usize,
    /// Of these, those that could be probed now and wait for the budget.
    pub ready: usize,
    /// Those that wait for their host.
    pub waiting_on_hosts: usize,
    /// Those that are being probed.
    pub in_flight: usize,
}
