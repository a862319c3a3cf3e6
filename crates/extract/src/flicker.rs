//! What a page changes all the time without news: parts that differ at every probe, however close the probes (counters,
//! rotating teasers, tokens), and content that returns to an earlier state (A-B-A).
//!
//! A [`Flicker`] is a value: it is passed in, a new one comes out, and it is stored with the source. It is
//! bounded; what is forgotten is reported once more.

use serde::{Deserialize, Serialize};

use crate::detect::{Change, Comparison, compare};
use crate::document::Item;
use crate::work::Work;

mod burst;
mod memory;
mod traits;

use burst::Burst;
use memory::Memory;
use traits::{Trait, traits_of};

/// Why a change is not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suppression {
    /// The content has returned to a recent state, or an item leaves that came and went before.
    Returned,
    /// It differs only in parts that differed at every probe of a burst.
    Flickers,
}

/// The changes of one probe, divided into those to report and those to suppress.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict<'i> {
    /// To report, in the order of [`Comparison::changes`].
    pub reported: Vec<Change<'i>>,
    /// Not to report, and why.
    pub suppressed: Vec<(Change<'i>, Suppression)>,
    /// Items, old and new, in which nothing but the date is different.
    pub redated: Vec<(&'i Item, &'i Item)>,
}

/// What is known about a source's flicker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flicker {
    /// Recent states and lines.
    recent: Memory<1024>,
    /// Positions and shapes of parts that differed at every probe of a burst.
    volatile: Memory<256>,
    /// The current burst.
    burst: Burst,
}

/// Whether a burst needs another probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurstState {
    /// Another probe, compared with the same first one, will show more.
    Continue,
    /// What flickers is known; the last probe can be judged.
    Done,
}

impl Flicker {
    /// How many fingerprints it holds, of eight bytes each.
    pub fn n_fingerprints(&self) -> usize {
        self.recent.len() + self.volatile.len()
    }

    /// Learns from a probe that followed soon after `first` and the earlier probes of the burst. A part that differs at
    /// every probe flickers; a part that stays for two probes has changed, and is judged like any other.
    #[must_use]
    pub fn observe_burst(mut self, first: &[Item], next: &[Item], work: &Work) -> (Self, BurstState) {
        let (burst, returned) = std::mem::take(&mut self.burst).with_probe(&compare(first, next), work);
        // An item that comes or goes for a moment will do so again.
        for mark in returned.iter().flat_map(|item| &item.marks) {
            self.recent.remember(*mark);
        }
        for mark in burst.convicted().flat_map(|part| &part.marks) {
            self.volatile.remember(*mark);
        }
        if burst.is_open() {
            self.burst = burst;
            return (self, BurstState::Continue);
        }
        (self, BurstState::Done)
    }

    /// Whether some part is suppressed because it differed at every probe of a burst.
    pub const fn is_learned(&self) -> bool {
        !self.volatile.is_empty()
    }

    /// The whole page was the same at two probes. Nothing on it is different every time, then, and what was taken for
    /// flicker was a page that changed fast.
    #[must_use]
    pub fn stayed_the_same(self) -> Self {
        Self { volatile: Memory::default(), ..self }
    }

    /// Judges the changes from `previous` to `current`, and remembers them.
    #[must_use]
    pub fn observe<'i>(self, previous: &'i [Item], current: &'i [Item]) -> (Self, Verdict<'i>) {
        self.judge(compare(previous, current), &Work::default())
    }

    /// Likewise for a comparison that is already made. Changes beyond the `work` are known by their whole states only.
    #[must_use]
    pub fn judge<'i>(mut self, comparison: Comparison<'i>, work: &Work) -> (Self, Verdict<'i>) {
        self.burst = Burst::default();
        let mut verdict = Verdict { redated: comparison.redated, ..Verdict::default() };
        for change in comparison.changes {
            let traits = traits_of(&change, work);
            match self.suppression(&traits) {
                Some(reason) => verdict.suppressed.push((change, reason)),
                None => verdict.reported.push(change),
            }
            self.remember(&traits);
        }
        (self, verdict)
    }

    fn suppression(&self, traits: &Trait) -> Option<Suppression> {
        if self.recent.knows(traits.arrives_at) {
            return Some(Suppression::Returned);
        }
        let n_hunks = traits.places.len();
        let lines_known = |hunk: usize| {
            let mut lines = traits.lines.iter().filter(|(of, _)| *of == hunk).peekable();
            lines.peek().is_some() && lines.all(|(_, line)| self.recent.knows(*line))
        };
        if n_hunks > 0 && (0..n_hunks).all(lines_known) {
            return Some(Suppression::Returned);
        }
        let shapes_known = |hunk: usize| {
            let range = traits.shape_bounds[hunk]..traits.shape_bounds[hunk + 1];
            !range.is_empty() && traits.shapes[range].iter().all(|shape| self.volatile.knows(*shape))
        };
        let is_volatile =
            |hunk: usize| self.volatile.knows(traits.places[hunk]) || shapes_known(hunk) || lines_known(hunk);
        (n_hunks > 0 && (0..n_hunks).all(is_volatile)).then_some(Suppression::Flickers)
    }

    fn remember(&mut self, traits: &Trait) {
        for state in traits.leaves_behind.iter().copied().chain(traits.lines.iter().map(|(_, line)| *line)) {
            self.recent.remember(state);
        }
    }
}
