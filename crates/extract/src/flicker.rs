//! What a page changes all the time and nobody needs to hear about: parts that are different at every look, however
//! close the looks (counters, rotating teasers, tokens), and content that comes back to what it was before (A-B-A).
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
pub enum Quiet {
    /// The content has come back to what it was not long ago, or an item leaves that came and went before.
    Returned,
    /// It differs only where all of a few close looks differed.
    Flickers,
}

/// The changes of one look, divided into those to report and those not to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict<'i> {
    /// Worth telling, in the order of [`Comparison::changes`].
    pub reported: Vec<Change<'i>>,
    /// Not worth telling, and why.
    pub quiet: Vec<(Change<'i>, Quiet)>,
    /// Items, old and new, in which nothing but the date is different.
    pub redated: Vec<(&'i Item, &'i Item)>,
}

/// What is known of a source's flicker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flicker {
    /// States and lines that were there not long ago.
    recent: Memory<1024>,
    /// Places and shapes of what was different in every one of a few close looks.
    volatile: Memory<256>,
    /// The close looks under way.
    burst: Burst,
}

/// Whether a few close looks have told what they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseLooks {
    /// Another one, compared with the same first look, will tell more.
    GoOn,
    /// What flickers is known; the last look can be judged.
    Over,
}

impl Flicker {
    /// How many fingerprints it holds, of eight bytes each.
    pub fn n_fingerprints(&self) -> usize {
        self.recent.len() + self.volatile.len()
    }

    /// Learns from a look that followed soon after `first` and after the looks given before. A part that is another one
    /// in every close look flickers; a part that stays for two of them has changed, and will be judged like any other.
    #[must_use]
    pub fn look_closely(mut self, first: &[Item], next: &[Item], work: &Work) -> (Self, CloseLooks) {
        let (burst, returned) = std::mem::take(&mut self.burst).with_look(&compare(first, next), work);
        // An item that comes or goes for a moment will do so again.
        for mark in returned.iter().flat_map(|item| &item.marks) {
            self.recent.remember(*mark);
        }
        for mark in burst.convicted().flat_map(|part| &part.marks) {
            self.volatile.remember(*mark);
        }
        if burst.is_open() {
            self.burst = burst;
            return (self, CloseLooks::GoOn);
        }
        (self, CloseLooks::Over)
    }

    /// Whether some part is kept quiet because it was different at every close look.
    pub const fn is_learned(&self) -> bool {
        !self.volatile.is_empty()
    }

    /// The whole page was the same at two looks. Nothing on it is different every time, then, and what was taken for
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
            match self.reason_for_silence(&traits) {
                Some(reason) => verdict.quiet.push((change, reason)),
                None => verdict.reported.push(change),
            }
            self.remember(&traits);
        }
        (self, verdict)
    }

    fn reason_for_silence(&self, traits: &Trait) -> Option<Quiet> {
        if self.recent.knows(traits.arrives_at) {
            return Some(Quiet::Returned);
        }
        let n_hunks = traits.places.len();
        let lines_known = |hunk: usize| {
            let mut lines = traits.lines.iter().filter(|(of, _)| *of == hunk).peekable();
            lines.peek().is_some() && lines.all(|(_, line)| self.recent.knows(*line))
        };
        if n_hunks > 0 && (0..n_hunks).all(lines_known) {
            return Some(Quiet::Returned);
        }
        let shapes_known = |hunk: usize| {
            let range = traits.shape_bounds[hunk]..traits.shape_bounds[hunk + 1];
            !range.is_empty() && traits.shapes[range].iter().all(|shape| self.volatile.knows(*shape))
        };
        let is_volatile =
            |hunk: usize| self.volatile.knows(traits.places[hunk]) || shapes_known(hunk) || lines_known(hunk);
        (n_hunks > 0 && (0..n_hunks).all(is_volatile)).then_some(Quiet::Flickers)
    }

    fn remember(&mut self, traits: &Trait) {
        for state in traits.leaves_behind.iter().copied().chain(traits.lines.iter().map(|(_, line)| *line)) {
            self.recent.remember(state);
        }
    }
}
