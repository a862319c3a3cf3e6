//! What can be decided before any search: blocks whose budget covers every source that is needed there.
//!
//! Such a block probes them all: that takes nothing from any other.
//! What those probes capture is done with, so that less is needed of other blocks, and they may follow. Only for
//! budgets that cannot be saved; there, an idle chronon is worth something to a later one.

use super::capacity::Capacity;
use super::grid::{BlockSpan, Grid, Pair};
use super::pairs::Pairs;

/// What is decided and what is left.
pub(super) struct Reduced {
    /// Probes to make in any case.
    pub(super) given: Vec<Pair>,
    /// Weight they complete.
    pub(super) secured: f64,
    /// Weight, need and spans of the rest.
    pub(super) ceis: Vec<(f64, u32, Vec<BlockSpan>)>,
}

struct Reduction<'a> {
    grid: &'a Grid,
    pairs: Pairs,
    cei_of: Vec<u32>,
    is_open: Vec<bool>,
    /// Open spans over each pair.
    users: Vec<u32>,
    /// Cost of everything wanted in each block.
    demand: Vec<f64>,
    /// What each CEI still needs.
    needs: Vec<u32>,
    /// Spans of each source, by first block, and the longest of them.
    by_source: Vec<Vec<u32>>,
    longest: Vec<u32>,
    /// Blocks whose demand has fallen.
    queue: Vec<u32>,
}

/// Decides what can be decided.
pub(super) fn reduce(grid: &Grid) -> Reduced {
    let rest = |open: &dyn Fn(usize) -> bool, need: &dyn Fn(usize) -> u32| {
        let ceis = grid.ceis.iter().enumerate().filter(|(cei, _)| need(*cei) > 0);
        ceis.map(|(i, cei)| {
            let spans = cei.spans.clone().filter(|&span| open(span)).map(|span| grid.spans[span]);
            (cei.weight, need(i), spans.collect())
        })
        .collect()
    };
    let Capacity::Whole(capacity) = &grid.capacity else {
        let ceis = rest(&|_| true, &|cei| grid.ceis[cei].need);
        return Reduced { given: Vec::new(), secured: 0.0, ceis };
    };
    let mut reduction = Reduction::new(grid);
    let mut given = Vec::new();
    while let Some(block) = reduction.queue.pop() {
        let demand = reduction.demand[block as usize];
        if demand > 0.0 && demand <= capacity[block as usize] {
            reduction.grant_everything(block, &mut given);
        }
    }
    let done = grid.ceis.iter().zip(&reduction.needs).filter(|(_, need)| **need == 0);
    Reduced {
        secured: done.map(|(cei, _)| cei.weight).fold(0.0, |sum, weight| sum + weight),
        ceis: rest(&|span| reduction.is_open[span], &|cei| reduction.needs[cei]),
        given,
    }
}

impl<'a> Reduction<'a> {
    fn new(grid: &'a Grid) -> Self {
        let pairs = Pairs::new(grid);
        let mut cei_of = vec![0; grid.spans.len()];
        let mut by_source = vec![Vec::new(); grid.n_sources];
        let mut longest = vec![0; grid.n_sources];
        for (i, cei) in grid.ceis.iter().enumerate() {
            for span in cei.spans.clone() {
                cei_of[span] = u32::try_from(i).unwrap_or(u32::MAX);
                let BlockSpan { source, first, last } = grid.spans[span];
                by_source[source as usize].push(u32::try_from(span).unwrap_or(u32::MAX));
                longest[source as usize] = longest[source as usize].max(last - first);
            }
        }
        for spans in &mut by_source {
            spans.sort_unstable_by_key(|&span| grid.spans[span as usize].first);
        }
        let mut users = vec![0; pairs.len()];
        for span in &grid.spans {
            users[pairs.under(span)].iter_mut().for_each(|count| *count += 1);
        }
        let mut demand = vec![0.0; grid.n_blocks()];
        for pair in pairs.iter() {
            if grid.allows(pair.source, pair.block) {
                demand[pair.block as usize] += grid.cost(pair.source);
            }
        }
        Self {
            grid,
            pairs,
            cei_of,
            is_open: vec![true; grid.spans.len()],
            users,
            queue: (0..u32::try_from(demand.len()).unwrap_or(u32::MAX)).rev().collect(),
            demand,
            needs: grid.ceis.iter().map(|cei| cei.need).collect(),
            by_source,
            longest,
        }
    }

    /// Probes every source still wanted in the block.
    fn grant_everything(&mut self, block: u32, given: &mut Vec<Pair>) {
        for at in self.pairs.in_block(block) {
            let pair = self.pairs.get(at);
            if self.users[at] == 0 || !self.grid.allows(pair.source, block) {
                continue;
            }
            given.push(pair);
            let longest = self.longest[pair.source as usize];
            let own = &self.by_source[pair.source as usize];
            let from = own.partition_point(|&span| self.grid.spans[span as usize].first + longest < block);
            let captured: Vec<u32> = own[from..]
                .iter()
                .copied()
                .take_while(|&span| self.grid.spans[span as usize].first <= block)
                .filter(|&span| self.is_open[span as usize] && self.grid.spans[span as usize].last >= block)
                .collect();
            for span in captured {
                self.capture(span);
            }
        }
    }

    fn capture(&mut self, span: u32) {
        if !self.is_open[span as usize] {
            return;
        }
        self.close(span as usize);
        let cei = self.cei_of[span as usize] as usize;
        self.needs[cei] -= 1;
        if self.needs[cei] == 0 {
            for other in self.grid.ceis[cei].spans.clone() {
                self.close(other);
            }
        }
    }

    fn close(&mut self, span: usize) {
        if !std::mem::replace(&mut self.is_open[span], false) {
            return;
        }
        let BlockSpan { source, .. } = self.grid.spans[span];
        for at in self.pairs.under(&self.grid.spans[span]) {
            self.users[at] -= 1;
            let block = self.pairs.get(at).block;
            if self.users[at] == 0 && self.grid.allows(source, block) {
                self.demand[block as usize] -= self.grid.cost(source);
                self.queue.push(block);
            }
        }
    }
}
