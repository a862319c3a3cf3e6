//! What a page changes all the time without news. Some of it is recognised at once: clocks, counters, tokens, advertising. The rest
//! is learned: places that are different nearly every time, lines that come again after they left.
//!
//! A [`Flicker`] is a value: it is passed in, a new one comes out, and it is stored with the source. It is bounded; what is
//! forgotten is reported once more. It knows no clock: the caller says when a content was read.

use std::time::Duration;

use dunlin_core::Time;
use serde::{Deserialize, Deserializer, Serialize};

use crate::detect::{Change, compare};
use crate::document::Item;
use crate::parts::Moment;
use crate::work::Work;

mod burst;
mod difference;
mod judge;
mod places;
mod seen;
mod spots;
mod surroundings;
mod template;
mod verdict;

use burst::Burst;
use difference::differences;
use places::{Pace, Places};
use seen::{How, Seen};
pub use template::Template;
pub use verdict::{Changed, Reason, Suppressed, Verdict};

/// What is known about a source's flicker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flicker {
    /// How often places were different.
    places: Places,
    /// Lines that came or went.
    seen: Seen,
    /// The current burst.
    burst: Burst,
    /// When the last content was judged, in microseconds since 1970.
    last_content: Option<i64>,
}

/// When a content was read, and what came before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// When.
    pub at: Option<Time>,
    /// The last successful probe before it.
    pub last_probe: Option<Time>,
}

/// A content that is gone within this time, at the next probe, may be restless; after that it may have had its reasons.
const SOON: Duration = Duration::from_hours(3);

/// A content that was there for so many probes has stood.
const LONG: u32 = 3;

/// Whether a burst needs another probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstState {
    /// Another probe, compared with the same first one, will show more.
    Continue,
    /// What flickers is known; the last probe can be judged.
    Done,
}

impl Flicker {
    /// Bytes that it takes, about.
    pub fn n_bytes(&self) -> usize {
        self.places.n_bytes() + self.seen.n_bytes() + self.burst.n_bytes()
    }

    /// Learns from a probe that followed soon after `first` and the earlier probes of the burst. A part that differs at
    /// every probe flickers; a part that stays for two probes has changed, and is judged like any other.
    #[must_use]
    pub fn observe_burst(mut self, first: &[Item], next: &[Item], work: &Work) -> (Self, BurstState) {
        let differences = differences(compare(first, next).changes, Moment::default(), work);
        let burst = std::mem::take(&mut self.burst).with_probe(&differences);
        for mark in burst.returned() {
            self.seen.toggled(mark, How::Added);
        }
        for (place, container) in burst.convicted() {
            self.places.convict(place);
            self.places.convict(container);
        }
        if burst.is_open() {
            self.burst = burst;
            return (self, BurstState::Continue);
        }
        (self, BurstState::Done)
    }

    /// Judges what is different in `current`, compared with `previous`, and remembers it.
    #[must_use]
    pub fn observe<'i>(self, previous: &'i [Item], current: &'i [Item]) -> (Self, Verdict<'i>) {
        self.judge(compare(previous, current).changes, Reading::default(), &Work::default())
    }

    /// Likewise for changes that are already known. Changes beyond the `work` are reported as a whole.
    #[must_use]
    pub fn judge<'i>(self, changes: Vec<Change<'i>>, reading: Reading, work: &Work) -> (Self, Verdict<'i>) {
        self.judge_on_site(changes, reading, &Template::default(), work)
    }

    /// Likewise, with what other pages of its site have shown.
    #[must_use]
    pub fn judge_on_site<'i>(
        mut self,
        changes: Vec<Change<'i>>,
        reading: Reading,
        site: &Template,
        work: &Work,
    ) -> (Self, Verdict<'i>) {
        self.burst = Burst::default();
        let before = self.last_content.map(Time::from_micros).or(reading.last_probe);
        let differences = differences(changes, Moment { now: reading.at, before }, work);
        let stood = reading.last_probe.map(Time::micros) > self.last_content && self.last_content.is_some();
        let is_soon = before.zip(reading.at).is_none_or(|(before, now)| now.since(before) <= SOON);
        if stood && !is_soon {
            self.places.acquit();
        }
        let content_before = self.last_content.map(Time::from_micros);
        self.last_content = reading.at.map(Time::micros).or(self.last_content);
        let has_stood = reading
            .last_probe
            .zip(reading.at)
            .zip(content_before)
            .is_some_and(|((last, now), first)| last.since(first) >= LONG * now.since(last));
        let pace = Pace { is_telling: is_soon && !has_stood, has_stood };
        let verdict = judge::judge(&mut self.places, &mut self.seen, differences, pace, site);
        if !self.places.is_worth_keeping() && self.seen.is_empty() {
            self.last_content = None;
        }
        (self, verdict)
    }
}

/// Reads a list that was stored, of which no more is kept than would have been written.
fn at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let mut list = Vec::deserialize(deserializer)?;
    list.truncate(MOST);
    Ok(list)
}

/// All changes as they are, for a source of which everything is to be reported.
pub fn everything<'i>(changes: Vec<Change<'i>>, work: &Work) -> Verdict<'i> {
    judge::everything(differences(changes, Moment::default(), work))
}
