//! Floating-point numbers with a total order, so that they can be the keys of heaps.

use std::cmp::Ordering;

/// Differences smaller than this are rounding. Weights are measured in units of the first one.
pub(crate) const ROUNDING: f64 = 1e-9;

/// A number ordered as by [`f64::total_cmp`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedF64(pub(crate) f64);

impl PartialEq for OrderedF64 {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderedF64 {}

impl PartialOrd for OrderedF64 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedF64 {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
