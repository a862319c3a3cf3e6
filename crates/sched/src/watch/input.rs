//! What a watch is told: everything that can sway a decision, as values that can be written down and fed back.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use serde::{Deserialize, Serialize};

use crate::model::{Model, Seen};
use crate::value::ValueModel;

/// A host (or whatever politeness is owed to: an address, a domain) by its position in the caller's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostIdx(pub u32);

/// How often, at the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Looks per second; may be far below 1.
    pub per_second: f64,
}

/// What a look is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// The expected utility of what has not been seen, by the learned forecast and the source's terms.
    Learned,
    /// The time since the last look: everyone in turn. To compare with.
    RoundRobin,
    /// CAM: a plan for every epoch of this length, for the most changes found, by weight. Life and urgency do not count.
    Cam {
        /// How far ahead a plan goes.
        epoch: Duration,
    },
}

/// What a host allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HostTerms {
    /// The most looks under way at one time; at least 1.
    pub at_one_time: u32,
    /// A budget of its own, besides the one for all.
    pub budget: Option<Pace>,
}

/// How one source is to be watched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Where it is.
    pub host: HostIdx,
    /// What its changes are worth.
    pub value: ValueModel,
    /// What a look costs, in units of the budget.
    pub cost: f64,
    /// Never look again sooner than this, unless someone asks.
    pub shortest_gap: Duration,
    /// Look at least this often, however little is expected.
    pub longest_gap: Duration,
    /// Whether its changes are wanted. If not, it is probed on request and for the intervals of needs only.
    pub wants_changes: bool,
}

/// A need that spans several sources, by the number that its owner gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CeiId(pub u64);

/// An execution interval: a probe of the source that begins from `start` to `finish`, both included, captures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// The source to probe.
    pub source: SourceIdx,
    /// The first moment that counts.
    pub start: Time,
    /// The last moment that counts.
    pub finish: Time,
}

/// Something that may sway what is chosen from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// Another budget for all.
    Budget(Pace),
    /// A host, or new terms for one. Comes before the first source of that host.
    Host {
        /// Which host.
        host: HostIdx,
        /// What it allows.
        terms: HostTerms,
    },
    /// A source to watch from now on, or again.
    Joined {
        /// Which source.
        source: SourceIdx,
        /// How to watch it.
        terms: Terms,
        /// What is known of it.
        model: Model,
        /// When it was last seen.
        last_look: Option<Time>,
        /// Not to be looked at before this time.
        not_before: Option<Time>,
    },
    /// A source is no longer watched: removed or paused.
    Left {
        /// Which source.
        source: SourceIdx,
    },
    /// A source is to be watched differently.
    Changed {
        /// Which source.
        source: SourceIdx,
        /// How.
        terms: Terms,
    },
    /// A look that was chosen has been taken.
    Looked {
        /// Which source.
        source: SourceIdx,
        /// What it showed.
        seen: Seen,
    },
    /// A look that was chosen gave nothing. The budget is spent.
    Failed {
        /// Which source.
        source: SourceIdx,
        /// When to try again at the earliest.
        not_before: Time,
    },
    /// A look that was chosen was not taken after all: nothing was asked of the host. The budget is given back.
    Returned {
        /// Which source.
        source: SourceIdx,
    },
    /// A host is not to be asked before this time.
    Held {
        /// Which host.
        host: HostIdx,
        /// Until when.
        until: Time,
    },
    /// Someone wants a look as soon as the host and the budget allow.
    Wanted {
        /// Which source.
        source: SourceIdx,
    },
    /// A look that was chosen was not taken after all, and cannot be before this time; others of its host can. The budget
    /// is given back.
    PutOff {
        /// Which source.
        source: SourceIdx,
        /// When to try again at the earliest.
        not_before: Time,
    },
    /// A complex execution interval: a need that is met when enough of its intervals are captured.
    CeiArrived {
        /// Which need. One of the same number is replaced.
        cei: CeiId,
        /// Its intervals.
        intervals: Vec<Interval>,
        /// How many of them have to be captured.
        need: u32,
        /// What capturing it is worth.
        weight: f64,
    },
    /// Further intervals of a need, which appear when something has happened.
    CeiExtended {
        /// Which need.
        cei: CeiId,
        /// The further intervals.
        intervals: Vec<Interval>,
        /// How many more have to be captured.
        need: u32,
    },
    /// A need is there no more.
    CeiWithdrawn {
        /// Which need.
        cei: CeiId,
    },
}
