//! How much work reading and comparing may take. It is counted in steps, not in time: the same document ends at the same
//! place on every machine, and no clock is read.

use std::cell::Cell;

use crate::limits::Limits;

/// Steps that are left. Shared by all parts of one piece of work, so that ten seemingly cheap parts cannot add up.
///
/// A step is some nanoseconds: an element that a selector visits, a value that a path visits, sixteen bytes that a
/// pattern scans, four pairs of words that a comparison weighs, a byte of text that is kept.
#[derive(Debug)]
pub struct Work {
    left: Cell<u64>,
}

impl Work {
    /// Work of at most `n_steps`.
    pub const fn new(n_steps: u64) -> Self {
        Self { left: Cell::new(n_steps) }
    }

    /// Steps that are left.
    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Whether something was not done, or not to its end, because there were no steps left for it.
    pub fn is_used_up(&self) -> bool {
        self.left() == 0
    }

    /// Takes steps that are about to be done. False when there are not enough: then nothing more may be done.
    pub(crate) fn take(&self, n_steps: u64) -> bool {
        let left = self.left().saturating_sub(n_steps);
        self.left.set(left);
        left > 0
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new(Limits::default().max_steps)
    }
}
