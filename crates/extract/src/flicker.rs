//! What a page changes all the time and nobody needs to hear about: parts that differ between two looks in a row
//! (counters, rotating teasers, tokens), and content that comes back to what it was before (A-B-A).
//!
//! A [`Flicker`] is a value: it is passed in, a new one comes out, and it is stored with the source. It is
//! bounded; what is forgotten is reported once more.

use serde::{Deserialize, Serialize};

use crate::detect::{Change, Comparison, compare};
use crate::document::Item;

mod memory;
mod traits;

use memory::Memory;
use traits::{Trait, traits_of};

/// Why a change is not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quiet {
    /// The content has come back to what it was not long ago, or an item leaves that came and went before.
    Returned,
    /// It differs only where two looks in a row differed.
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
    /// Places and shapes of what differed between two looks in a row.
    volatile: Memory<256>,
}

impl Flicker {
    /// Learns from two looks that followed each other so closely that nothing can have happened: all that differs
    /// between them flickers.
    #[must_use]
    pub fn learn(mut self, first: &[Item], second: &[Item]) -> Self {
        for change in compare(first, second).changes {
            let traits = traits_of(&change);
            for volatile in traits.places.iter().chain(&traits.shapes) {
                self.volatile.remember(*volatile);
            }
            self.remember(&traits);
            // An item that comes and goes within a moment may be gone the next moment.
            if let Change::Added(item) = change {
                self.remember(&traits_of(&Change::Removed(item)));
            }
        }
        self
    }

    /// Judges the changes from `previous` to `current`, and remembers them.
    #[must_use]
    pub fn observe<'i>(self, previous: &'i [Item], current: &'i [Item]) -> (Self, Verdict<'i>) {
        self.judge(compare(previous, current))
    }

    /// Likewise for a comparison that is already made.
    #[must_use]
    pub fn judge(mut self, comparison: Comparison<'_>) -> (Self, Verdict<'_>) {
        let mut verdict = Verdict { redated: comparison.redated, ..Verdict::default() };
        for change in comparison.changes {
            let traits = traits_of(&change);
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
