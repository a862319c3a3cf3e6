//! Entries in order of value, then of deadline, then of CEI and line: a sorted map of small heaps (buckets), one per
//! value and deadline. Small heaps stay in the cache, and a heap whose deadline has passed is dropped as a whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The next interval of one CEI. Within a bucket, entries are ordered by their fields, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IntervalEntry {
    pub(crate) cei: u64,
    pub(crate) line: u32,
    /// The CEI's record.
    pub(crate) record: u32,
    pub(crate) version: u32,
    /// Its position among the CEI's records.
    pub(crate) position: u32,
}

/// Which bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BucketKey {
    pub(crate) value: u64,
    pub(crate) finish: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct BucketedHeap {
    row: BTreeMap<BucketKey, BinaryHeap<Reverse<IntervalEntry>>>,
    len: usize,
}

impl BucketedHeap {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, key: BucketKey, entry: IntervalEntry) {
        self.row.entry(key).or_default().push(Reverse(entry));
        self.len += 1;
    }

    /// The first entry that counts; those before it that do not, or whose deadline has passed, are cleared.
    pub(crate) fn peek(
        &mut self,
        now: u32,
        counts: impl Fn(&IntervalEntry) -> bool,
    ) -> Option<(BucketKey, IntervalEntry)> {
        while let Some(mut first) = self.row.first_entry() {
            let key = *first.key();
            let heap = first.get_mut();
            if key.finish >= now {
                while let Some(&Reverse(entry)) = heap.peek() {
                    if counts(&entry) {
                        return Some((key, entry));
                    }
                    heap.pop();
                    self.len -= 1;
                }
            }
            self.len -= heap.len();
            first.remove();
        }
        None
    }

    /// Takes out the first entry.
    pub(crate) fn pop(&mut self) {
        if let Some(mut first) = self.row.first_entry()
            && first.get_mut().pop().is_some()
        {
            self.len -= 1;
        }
    }

    pub(crate) fn retain(&mut self, counts: impl Fn(&IntervalEntry) -> bool) {
        self.row.retain(|_, heap| {
            heap.retain(|Reverse(entry)| counts(entry));
            !heap.is_empty()
        });
        self.len = self.row.values().map(BinaryHeap::len).sum();
    }
}
