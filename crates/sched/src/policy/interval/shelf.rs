//! Entries in order of value, then of deadline, then of CEI and line: a sorted row of small heaps, one per
//! value and deadline. Small heaps stay in the cache, and a heap whose deadline has passed goes as a whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use dunlin_core::Chronon;

use super::ledger::Slot;

/// One CEI's interval that is next to be walked past. After its place in the row, the order of the fields
/// is the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) cei: u32,
    pub(crate) line: u32,
    pub(crate) slot: Slot,
    pub(crate) version: u32,
    /// Its position among the CEI's records.
    pub(crate) position: u32,
}

/// Where a heap stands in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) value: u64,
    pub(crate) finish: Chronon,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Shelf {
    row: BTreeMap<Key, BinaryHeap<Reverse<Entry>>>,
    len: usize,
}

impl Shelf {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, key: Key, entry: Entry) {
        self.row.entry(key).or_default().push(Reverse(entry));
        self.len += 1;
    }

    /// The first entry that counts; those before it that do not, or whose deadline has passed, are cleared.
    pub(crate) fn peek(&mut self, now: Chronon, counts: impl Fn(&Entry) -> bool) -> Option<(Key, Entry)> {
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

    pub(crate) fn retain(&mut self, counts: impl Fn(&Entry) -> bool) {
        self.row.retain(|_, heap| {
            heap.retain(|Reverse(entry)| counts(entry));
            !heap.is_empty()
        });
        self.len = self.row.values().map(BinaryHeap::len).sum();
    }
}
