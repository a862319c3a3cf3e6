//! When a source was updated in the past, in slots. Not tied to any period: the same history can be planned for
//! the hour or for the day. A slot is a fixed stretch of time counted from the same origin as the periods.

use std::num::NonZeroU32;
use std::ops::Range;

use crate::plan::Error;

/// The updates of one source over a stretch of time, each with what it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Ascending; several updates may share a slot.
    slots: Vec<i64>,
    /// Nothing when every update counts 1.
    decay: Option<Decay>,
    span: Range<i64>,
}

/// How updates count less the older they are.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Decay {
    /// When an update would count 1.
    since: i64,
    /// Slots after which it counts half.
    half_life: NonZeroU32,
}

impl History {
    /// Updates in these slots, in any order, observed over `span`.
    pub fn new(mut slots: Vec<i64>, span: Range<i64>) -> Result<Self, Error> {
        slots.sort_unstable();
        if let Some(&slot) = slots.iter().find(|slot| !span.contains(slot)) {
            return Err(Error::OutsideSpan { slot, from: span.start, until: span.end });
        }
        Ok(Self { slots, decay: None, span })
    }

    /// Those of the update times that fall into `seconds`, cut into slots of that many seconds.
    pub fn from_seconds(times: &[i64], slot: NonZeroU32, seconds: Range<i64>) -> Self {
        let length = i64::from(slot.get());
        let within = times.iter().filter(|time| seconds.contains(time));
        let mut slots: Vec<_> = within.map(|time| time.div_euclid(length)).collect();
        slots.sort_unstable();
        let until = seconds.end.saturating_add(length - 1).div_euclid(length);
        Self { slots, decay: None, span: seconds.start.div_euclid(length)..until }
    }

    /// The slots of the updates, ascending.
    pub fn slots(&self) -> &[i64] {
        &self.slots
    }

    /// The slots over which the source was observed.
    pub fn span(&self) -> Range<i64> {
        self.span.clone()
    }

    /// Number of updates.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing was ever updated.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What an update in `slot` counts.
    pub(crate) fn weight(&self, slot: i64) -> f64 {
        let count = |decay: Decay| (-((decay.since - slot) as f64) / f64::from(decay.half_life.get())).exp2();
        self.decay.map_or(1.0, count)
    }

    /// How much more an update counts than one that is so many slots older. Beyond 64 half-lives, where the older one
    /// counts nothing to speak of, it stays at that.
    pub(super) fn growth(&self, slots: u32) -> f64 {
        let half_lives = |decay: Decay| f64::from(slots) / f64::from(decay.half_life.get());
        self.decay.map_or(1.0, |decay| half_lives(decay).min(64.0).exp2())
    }

    /// Whether some updates count less than others.
    pub(super) const fn is_decayed(&self) -> bool {
        self.decay.is_some()
    }

    /// The part of the history within `span`.
    #[must_use]
    pub fn part(&self, span: Range<i64>) -> Self {
        let start = span.start.max(self.span.start);
        let span = start..span.end.min(self.span.end).max(start);
        let first = self.slots.partition_point(|&slot| slot < span.start);
        let end = self.slots.partition_point(|&slot| slot < span.end);
        Self { slots: self.slots[first..end].to_vec(), decay: self.decay, span }
    }

    /// The last `slots` slots of it: a sliding history.
    #[must_use]
    pub fn last(&self, slots: u32) -> Self {
        self.part(self.span.end.saturating_sub(i64::from(slots))..self.span.end)
    }

    /// The same updates, of which one that is `half_life` slots older than the end counts half, and so on; and so
    /// does time in which a copy was stale.
    #[must_use]
    pub fn decayed(&self, half_life: NonZeroU32) -> Self {
        Self { decay: Some(Decay { since: self.span.end, half_life }), ..self.clone() }
    }
}
