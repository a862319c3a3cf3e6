//! Open intervals that were left out of the plan, by what a probe for them was worth. They are tried again
//! while there are probes to try with, and idle probes go to them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use super::super::cei_ledger::Reference;
use super::ordered_f64::OrderedF64;

/// A left-out interval and the worth per cost of its probe; the greatest comes first, then the oldest.
pub(crate) type BacklogEntry = (OrderedF64, Reverse<Reference>);

/// The backlog.
pub(crate) trait Backlog: Clone + Debug + Default {
    fn len(&self) -> usize;
    fn push(&mut self, entry: BacklogEntry);
    /// Takes out the greatest.
    fn pop(&mut self) -> Option<BacklogEntry>;
    fn retain(&mut self, keep: impl Fn(&BacklogEntry) -> bool);
}

impl Backlog for BinaryHeap<BacklogEntry> {
    fn len(&self) -> usize {
        self.len()
    }

    fn push(&mut self, entry: BacklogEntry) {
        self.push(entry);
    }

    fn pop(&mut self) -> Option<BacklogEntry> {
        self.pop()
    }

    fn retain(&mut self, keep: impl Fn(&BacklogEntry) -> bool) {
        self.retain(keep);
    }
}
