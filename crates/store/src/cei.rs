//! The ledger of complex execution intervals (CEIs): needs that are met when enough of their intervals are captured, each by
//! a probe of one source within a span of time. What is open survives the end of the process.

use dunlin_core::Time;

use crate::{CeiId, Error, ObservationId, SourceId};

/// A CEI to be captured.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCei {
    /// Its intervals.
    pub intervals: Vec<NewInterval>,
    /// How many of them have to be captured.
    pub need: u32,
    /// What capturing it is worth.
    pub weight: f64,
    /// When it became known.
    pub created: Time,
}

impl NewCei {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            let found = self.weight.to_string();
            return Err(Error::BadValue { what: "weight", found, expected: "a number of at least 0" });
        }
        if self.need == 0 || self.need as usize > self.intervals.len() {
            let found = format!("{} of {}", self.need, self.intervals.len());
            let expected = "at least 1 and at most the number of intervals";
            return Err(Error::BadValue { what: "need", found, expected });
        }
        check_intervals(&self.intervals)
    }
}

/// An execution interval: a probe of the source that begins from `start` to `finish`, both included, captures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewInterval {
    /// The source to probe.
    pub source: SourceId,
    /// The first moment that counts.
    pub start: Time,
    /// The last moment that counts.
    pub finish: Time,
}

pub(crate) fn check_intervals(intervals: &[NewInterval]) -> Result<(), Error> {
    match intervals.iter().find(|interval| interval.finish < interval.start) {
        Some(interval) => Err(Error::BadValue {
            what: "interval",
            found: format!("from {} to {} µs", interval.start.micros(), interval.finish.micros()),
            expected: "one that does not end before it begins",
        }),
        None => Ok(()),
    }
}

/// A stored CEI.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCei {
    /// Its number.
    pub id: CeiId,
    /// How many intervals have to be captured, those of extensions included.
    pub need: u32,
    /// What capturing it is worth.
    pub weight: f64,
    /// What has become of it.
    pub state: CeiState,
    /// When it became known.
    pub created: Time,
    /// When it was captured, lost or withdrawn.
    pub ended: Option<Time>,
    /// Its intervals, in the order in which they were added.
    pub intervals: Vec<StoredInterval>,
}

/// A stored interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredInterval {
    /// Where and when.
    pub interval: NewInterval,
    /// The observation that captured it.
    pub captured: Option<ObservationId>,
}

/// What has become of a CEI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeiState {
    /// It can still be captured.
    Open,
    /// Enough of its intervals were captured.
    Captured,
    /// Too many of its intervals have passed.
    Lost,
    /// Its owner no longer wants it.
    Withdrawn,
}

/// An interval of a CEI that a capture captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapturedInterval {
    /// Of which CEI.
    pub cei: CeiId,
    /// Which of its intervals, counted from 0.
    pub position: u32,
}

/// Which CEIs to list, in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CeiQuery {
    /// Those after this one; the last of a page asks for the next page.
    pub after: Option<CeiId>,
    /// Only those in this state.
    pub state: Option<CeiState>,
    /// At most this many.
    pub limit: u32,
}
