//! A heap of sources by key, largest first, in which a source's key can be changed in place. Ties go to
//! the lower source index. Not a general priority queue: positions are kept outside, in one array shared
//! by several heaps, because every source is in at most one of them.

use std::cmp::Ordering;

use dunlin_core::SourceIdx;

use crate::value::scaled::Scaled;

/// Four children per node: half the depth of a binary heap, and siblings share cache lines.
const ARITY: usize = 4;

/// Where each source stands in its heap.
#[derive(Debug, Clone)]
pub(crate) struct Positions(Vec<u32>);

const ABSENT: u32 = u32::MAX;

impl Positions {
    pub(crate) fn new(n_sources: usize) -> Self {
        Self(vec![ABSENT; n_sources])
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct HeapEntry {
    pub(crate) key: Scaled,
    pub(crate) source: SourceIdx,
}

impl HeapEntry {
    /// The order in which entries come out.
    pub(crate) fn best_first(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key).then(self.source.cmp(&other.source))
    }

    /// Whether this one comes out first.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        self.key > other.key || (self.key == other.key && self.source < other.source)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SourceHeap {
    entries: Vec<HeapEntry>,
}

impl SourceHeap {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keeps the best `n` entries, of at least one and fewer than all; hands out the others' sources and the
    /// last entry kept.
    pub(crate) fn keep_best(&mut self, positions: &mut Positions, n: usize) -> (Vec<SourceIdx>, HeapEntry) {
        self.entries.select_nth_unstable_by(n - 1, HeapEntry::best_first);
        let last = self.entries[n - 1];
        let dropped: Vec<_> = self.entries.drain(n..).map(|entry| entry.source).collect();
        dropped.iter().for_each(|source| positions.0[source.index()] = ABSENT);
        self.rebuild(positions);
        (dropped, last)
    }

    /// Fills an empty heap.
    pub(crate) fn fill(&mut self, positions: &mut Positions, entries: impl Iterator<Item = HeapEntry>) {
        self.entries.extend(entries);
        self.rebuild(positions);
    }

    /// Orders entries that are in no order, in linear time.
    fn rebuild(&mut self, positions: &mut Positions) {
        for at in (0..self.entries.len()).rev() {
            self.sift_down(positions, at);
        }
    }

    pub(crate) fn peek(&self) -> Option<HeapEntry> {
        self.entries.first().copied()
    }

    /// Inserts the source, or changes its key; a key of zero removes it.
    pub(crate) fn set(&mut self, positions: &mut Positions, source: SourceIdx, key: Scaled) {
        let position = positions.0[source.index()];
        if key.is_zero() {
            if position != ABSENT {
                self.remove_at(positions, position as usize);
            }
        } else if position == ABSENT {
            self.entries.push(HeapEntry { key, source });
            self.sift_up(positions, self.entries.len() - 1);
        } else {
            let at = position as usize;
            let rises = HeapEntry { key, source }.beats(&self.entries[at]);
            self.entries[at].key = key;
            if rises { self.sift_up(positions, at) } else { self.sift_down(positions, at) }
        }
    }

    pub(crate) fn pop(&mut self, positions: &mut Positions) -> Option<HeapEntry> {
        let top = self.peek()?;
        self.remove_at(positions, 0);
        Some(top)
    }

    fn remove_at(&mut self, positions: &mut Positions, at: usize) {
        let removed = self.entries.swap_remove(at);
        positions.0[removed.source.index()] = ABSENT;
        if let Some(moved) = self.entries.get(at) {
            let rises = moved.beats(&removed);
            if rises { self.sift_up(positions, at) } else { self.sift_down(positions, at) }
        }
    }

    fn sift_up(&mut self, positions: &mut Positions, mut at: usize) {
        let rising = self.entries[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if !rising.beats(&self.entries[parent]) {
                break;
            }
            self.place(positions, at, self.entries[parent]);
            at = parent;
        }
        self.place(positions, at, rising);
    }

    fn sift_down(&mut self, positions: &mut Positions, mut at: usize) {
        let sinking = self.entries[at];
        loop {
            let first = at * ARITY + 1;
            let Some(children) = self.entries.get(first..(first + ARITY).min(self.entries.len())) else {
                break;
            };
            let Some(best) =
                (0..children.len()).reduce(|a, b| if children[b].beats(&children[a]) { b } else { a })
            else {
                break;
            };
            let child = children[best];
            if !child.beats(&sinking) {
                break;
            }
            self.place(positions, at, child);
            at = first + best;
        }
        self.place(positions, at, sinking);
    }

    fn place(&mut self, positions: &mut Positions, at: usize, entry: HeapEntry) {
        self.entries[at] = entry;
        positions.0[entry.source.index()] = at as u32;
    }
}
