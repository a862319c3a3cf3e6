//! The covered pairs of a source and a block, numbered. The pairs under a span have successive numbers.

use std::ops::Range;

use super::grid::{BlockSpan, Grid, Pair};

/// Every pair that some span covers, ordered by source and then by block.
#[derive(Debug, Clone)]
pub(super) struct Pairs {
    blocks: Vec<u32>,
    sources: Vec<u32>,
    /// Where each source's pairs begin; one more than there are sources.
    first: Vec<usize>,
    /// Pair numbers ordered by block, and where each block's begin.
    by_block: Vec<u32>,
    first_in_block: Vec<usize>,
}

impl Pairs {
    pub(super) fn new(grid: &Grid) -> Self {
        let mut spans = grid.spans.clone();
        spans.sort_unstable();
        let (mut blocks, mut sources, mut first) =
            (Vec::new(), Vec::new(), Vec::with_capacity(grid.n_sources + 1));
        let mut rest = spans.as_slice();
        for source in 0..u32::try_from(grid.n_sources).unwrap_or(u32::MAX) {
            first.push(blocks.len());
            let own = rest.partition_point(|span| span.source == source);
            let mut next = 0;
            for span in &rest[..own] {
                blocks.extend(span.first.max(next)..=span.last);
                next = next.max(span.last + 1);
            }
            sources.resize(blocks.len(), source);
            rest = &rest[own..];
        }
        first.push(blocks.len());
        let mut first_in_block = vec![0; grid.n_blocks() + 1];
        for &block in &blocks {
            first_in_block[block as usize + 1] += 1;
        }
        for block in 0..grid.n_blocks() {
            first_in_block[block + 1] += first_in_block[block];
        }
        let mut place = first_in_block.clone();
        let mut by_block = vec![0; blocks.len()];
        for (pair, &block) in blocks.iter().enumerate() {
            by_block[place[block as usize]] = u32::try_from(pair).unwrap_or(u32::MAX);
            place[block as usize] += 1;
        }
        Self { blocks, sources, first, by_block, first_in_block }
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn get(&self, at: usize) -> Pair {
        Pair { block: self.blocks[at], source: self.sources[at] }
    }

    /// The number of a pair that some span covers.
    pub(super) fn of(&self, pair: Pair) -> usize {
        let own = self.first[pair.source as usize]..self.first[pair.source as usize + 1];
        own.start + self.blocks[own].partition_point(|&block| block < pair.block)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Pair> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The pairs under a span.
    pub(super) fn under(&self, span: &BlockSpan) -> Range<usize> {
        let from = self.of(Pair { block: span.first, source: span.source });
        from..from + span.len()
    }

    /// The pairs of a block.
    pub(super) fn in_block(&self, block: u32) -> impl Iterator<Item = usize> + use<> {
        let range = self.first_in_block[block as usize]..self.first_in_block[block as usize + 1];
        let pairs: Vec<u32> = self.by_block[range].to_vec();
        pairs.into_iter().map(|pair| pair as usize)
    }
}
