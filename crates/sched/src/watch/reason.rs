//! What a watch has chosen and why, and what it says when asked about a source.

use dunlin_core::{SourceIdx, Time};
use serde::{Deserialize, Serialize};

use super::input::CeiId;

/// A source to look at now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Which source.
    pub source: SourceIdx,
    /// Why now.
    pub reason: Reason,
    /// What the look is worth.
    pub value: f64,
    /// What a look had to be worth, per unit of cost.
    pub price: f64,
}

/// Why a look is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// It is worth the price.
    Worth,
    /// Nothing was worth more, and the budget would have gone unspent.
    Spare,
    /// It has never been seen.
    New,
    /// It has not been looked at for as long as its terms allow.
    Overdue,
    /// Someone asked for it.
    Wanted,
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

/// Something that keeps a source from being looked at now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    /// A look is under way.
    UnderWay,
    /// The last look is too recent.
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
    /// The host has as many looks under way as it may.
    HostBusy,
    /// The budget for all is spent.
    Budget {
        /// Until when; `None` if there is none to spend.
        until: Option<Time>,
    },
}

/// What there is to say about a source now.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What a look is worth now.
    pub value: f64,
    /// What it would have to be worth, per unit of cost.
    pub price: f64,
    /// When the next look is expected; `None` when it cannot be said (the source is under way, or there is no budget).
    pub next_look: Option<Time>,
    /// Why it will be taken then.
    pub reason: Reason,
    /// What keeps it from being taken now, besides its value.
    pub holds: Vec<Hold>,
}

/// How a watch is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// What a look has to be worth, per unit of cost.
    pub price: f64,
    /// Sources watched.
    pub sources: usize,
    /// Of these, those that could be looked at now and wait for the budget.
    pub ready: usize,
    /// Those that wait for their host.
    pub waiting_on_hosts: usize,
    /// Those that are being looked at.
    pub under_way: usize,
}
