//! Open intervals that were left out of the plan, by what a probe for them was worth. They are tried again
//! while there are probes to try with, and idle probes go to them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Debug;

use super::books::Reference;
use super::number::Number;

/// A left-out interval and the worth per cost of its probe; the greatest comes first, then the oldest.
pub(crate) type Spare = (Number, Reverse<Reference>);

/// A store of spares.
pub(crate) trait Spares: Clone + Debug + Default {
    fn len(&self) -> usize;
    fn push(&mut self, spare: Spare);
    /// Takes out the greatest.
    fn pop(&mut self) -> Option<Spare>;
    fn retain(&mut self, keep: impl Fn(&Spare) -> bool);
}

impl Spares for BinaryHeap<Spare> {
    fn len(&self) -> usize {
        self.len()
    }

    fn push(&mut self, spare: Spare) {
        self.push(spare);
    }

    fn pop(&mut self) -> Option<Spare> {
        self.pop()
    }

    fn retain(&mut self, keep: impl Fn(&Spare) -> bool) {
        self.retain(keep);
    }
}
