//! The inputs of a scheduler: everything that can change a decision, as values that can be stored and replayed.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use serde::{Deserialize, Serialize};

use crate::model::{Evidence, Model};
use crate::value::ValueModel;

/// A host (or any other scope of politeness: an address, a domain) by its position in the caller's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostIdx(pub u32);

/// A maximum rate of probes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Probes per second; may be far below 1.
    pub per_second: f64,
}

/// What a probe is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strategy {
    /// The expected utility of what has not been seen, by the learned forecast and the source's terms.
    Learned,
    /// The time since the last probe: everyone in turn. To compare with.
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
    /// The most probes in flight at one time; at least 1.
    pub at_one_time: u32,
    /// A budget of its own, besides the one for all.
    pub budget: Option<Pace>,
}

/// How one source is to be probed, and what its resource costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SourceTerms {
    /// Where it is.
    pub host: HostIdx,
    /// What its changes are worth.
    pub value: ValueModel,
    /// What a probe costs, in units of the budget.
    pub cost: f64,
    /// Never probe again sooner than this, unless someone asks.
    pub shortest_gap: Duration,
    /// Probe at least this often, however little is expected.
    pub longest_gap: Duration,
    /// Whether its changes are wanted. If not, it is probed on request and for the intervals of needs only.
    pub wants_changes: bool,
}

/// A need that spans several sources, by the number that its owner gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CeiId(pub u64);

/// An execution interval: a probe of the resource that begins from `start` to `finish`, both included, and that shows the
/// source something captures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// The resource to probe.
    pub resource: ResourceIdx,
    /// The source of it that is wanted.
    pub source: SourceIdx,
    /// The first moment that counts.
    pub start: Time,
    /// The last moment that counts.
    pub finish: Time,
}

/// Something that may change what is chosen from now on.
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
    /// A source, which is a demand for the changes of a resource, or one whose terms are others. A resource begins with its
    /// first source, and has the host and the cost that its terms name.
    SourceAdded {
        /// What is fetched for it.
        resource: ResourceIdx,
        /// Which source.
        source: SourceIdx,
        /// How to probe it.
        terms: SourceTerms,
        /// What is known of it.
        model: Model,
        /// When it was last served by a probe.
        last_probe: Option<Time>,
        /// Not to be served before this time.
        not_before: Option<Time>,
    },
    /// A source is no longer probed: it was removed or paused. With the last one, its resource goes.
    SourceRemoved {
        /// What was fetched for it.
        resource: ResourceIdx,
        /// Which source.
        source: SourceIdx,
    },
    /// A probe that was chosen has been taken.
    Probed {
        /// Of which resource.
        resource: ResourceIdx,
        /// What it showed.
        shown: Shown,
    },
    /// A probe that was chosen failed. The budget is spent.
    ProbeFailed {
        /// Of which resource.
        resource: ResourceIdx,
        /// When to try again at the earliest.
        not_before: Time,
    },
    /// A probe that was chosen was not taken after all: no request was sent to the host. The budget is refunded.
    ProbeReturned {
        /// Of which resource.
        resource: ResourceIdx,
    },
    /// A host must not receive a request before this time.
    HostHeld {
        /// Which host.
        host: HostIdx,
        /// Until when.
        until: Time,
    },
    /// A user asks for a probe as soon as the host and the budget allow.
    ProbeRequested {
        /// Of which resource.
        resource: ResourceIdx,
    },
    /// A probe that was chosen was not taken after all, and cannot be before this time; others of its host can. The budget
    /// is refunded.
    ProbePostponed {
        /// Of which resource.
        resource: ResourceIdx,
        /// When to try again at the earliest.
        not_before: Time,
    },
    /// So much of the budget is saved up now, and no more, whatever the pace has brought: for a caller that grants by itself. The pace
    /// says what to expect from then on.
    Granted {
        /// In units of the budget.
        units: f64,
    },
    /// A complex execution interval: a need that is met when enough of its intervals are captured.
    CeiArrived {
        /// Which need. One of the same number is replaced.
        cei: CeiId,
        /// Its intervals.
        intervals: Vec<Interval>,
        /// The positions of those that are captured already.
        captured: Vec<u32>,
        /// How many have to be captured, these included.
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
    /// A need is withdrawn.
    CeiWithdrawn {
        /// Which need.
        cei: CeiId,
    },
    /// The request of a probe that was chosen goes out only now, since its host had to be waited for. Without this it went out
    /// when it was chosen.
    ProbeBegan {
        /// Of which resource.
        resource: ResourceIdx,
    },
}

/// What a probe of a resource showed its sources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Shown {
    /// The same to every source.
    All(Evidence),
    /// To each of these sources something of its own; to one that is not here, nothing.
    Each(Vec<(SourceIdx, ShownTo)>),
}

/// What a probe showed one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ShownTo {
    /// This.
    Evidence(Evidence),
    /// Nothing, though the fetch succeeded: it could not be read.
    Unreadable {
        /// When to try again at the earliest.
        not_before: Time,
    },
}

impl Shown {
    /// What it showed one source; `None` if it has nothing to do with that.
    pub fn to(&self, source: SourceIdx) -> Option<ShownTo> {
        match self {
            Self::All(evidence) => Some(ShownTo::Evidence(evidence.clone())),
            Self::Each(each) => each.iter().find(|(own, _)| *own == source).map(|(_, shown)| shown.clone()),
        }
    }

    /// Whether it showed something to a source.
    pub fn is_shown_to(&self, source: SourceIdx) -> bool {
        match self {
            Self::All(_) => true,
            Self::Each(each) => {
                each.iter().any(|(own, shown)| *own == source && matches!(shown, ShownTo::Evidence(_)))
            }
        }
    }
}
