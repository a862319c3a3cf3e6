//! The papers' offline approximation: local ratio on unit-width alternatives.
//!
//! A CEI of wider intervals stands for all its *alternatives*, one chronon (here: block) chosen in each
//! interval, of which a marker allows only one. Weight is passed down a stack: the best alternative of a CEI
//! is pushed with what its weight still is, δ; then every alternative that shares a block with it loses δ over
//! the block's capacity, and its own siblings lose δ. What reaches 0 is out. At the end the stack is popped,
//! and whatever still fits is taken.
//!
//! The loss of an alternative is a sum over its blocks, so that its best sibling is found block by block and
//! the alternatives are never spelled out. And once the best has been pushed, no sibling is left above 0:
//! each CEI is pushed once.
//!
//! Guarantee, with k the largest `need`, equal costs, whole budgets, and no two CEIs that want the same source
//! in the same block: at least optimum/k for unit widths, budget 1 and CEIs that need all their intervals,
//! /(k+1) in all other cases; that is within the 2k, 2k+1, 2k+2 and 2k+3 that the papers quote for split intervals of any
//! length. (Every pushed δ is paid back by the alternative itself or by those that keep it out, and takes at
//! most that many times δ from any schedule.) Where CEIs share probes, no such guarantee is possible: the
//! choice of one source per chronon, worth something only in combinations, contains every constraint
//! satisfaction problem. They are treated as not being in each other's way.

use dunlin_core::Schedule;

use super::grid::{Grid, Pair};
use super::pairs::Pairs;
use super::{Instance, TooLarge};

/// A block for each of the spans chosen.
type Alternative = Vec<Pair>;

/// The approximation's schedule.
pub fn local_ratio(instance: Instance<'_>) -> Result<Schedule, TooLarge> {
    let grid = Grid::new(instance)?;
    let mut prices = Prices::new(&grid);
    let mut order: Vec<usize> = (0..grid.ceis.len()).collect();
    order.sort_by_key(|&cei| grid.spans_of(cei).iter().map(|span| span.last).max());
    let mut stack = Vec::new();
    for cei in order {
        if let Some((price, alternative)) = prices.cheapest(cei) {
            let left = grid.ceis[cei].weight - price;
            if left > 0.0 {
                prices.charge(&alternative, left);
                stack.push(alternative);
            }
        }
    }
    Ok(grid.schedule(&unwind(&grid, stack)))
}

/// Takes from the top of the stack whatever fits.
fn unwind(grid: &Grid, stack: Vec<Alternative>) -> Vec<Pair> {
    let mut block_budget = grid.block_budget();
    let mut taken: Vec<Pair> = Vec::new();
    let pairs = Pairs::new(grid);
    let mut is_taken = vec![false; pairs.len()];
    for alternative in stack.into_iter().rev() {
        let new: Vec<Pair> = alternative.into_iter().filter(|&pair| !is_taken[pairs.of(pair)]).collect();
        let afforded = block_budget.afford(&new, |source| grid.cost(source));
        if afforded.len() < new.len() {
            for pair in afforded {
                block_budget.refund(pair.block, grid.cost(pair.source));
            }
            continue;
        }
        for pair in afforded {
            is_taken[pairs.of(pair)] = true;
            taken.push(pair);
        }
    }
    taken
}

/// What an alternative loses by what has been pushed.
struct Prices<'a> {
    grid: &'a Grid,
    pairs: Pairs,
    of_block: Vec<f64>,
    /// The part of a block's price that comes from one source: no loss to CEIs that need it too.
    of_pair: Vec<f64>,
}

/// Partial alternatives tried when the cheapest blocks of a CEI clash with each other.
const MOST_LOOKED_AT: u32 = 20_000;

impl<'a> Prices<'a> {
    fn new(grid: &'a Grid) -> Self {
        let pairs = Pairs::new(grid);
        Self { grid, of_block: vec![0.0; grid.n_blocks()], of_pair: vec![0.0; pairs.len()], pairs }
    }

    fn price(&self, pair: Pair) -> f64 {
        self.of_block[pair.block as usize] - self.of_pair[self.pairs.of(pair)]
    }

    fn charge(&mut self, alternative: &[Pair], amount: f64) {
        for &pair in alternative {
            let share = amount * self.grid.cost(pair.source) / self.grid.capacity.most(pair.block);
            self.of_block[pair.block as usize] += share;
            self.of_pair[self.pairs.of(pair)] += share;
        }
    }

    /// The alternative of a CEI that loses least.
    fn cheapest(&self, cei: usize) -> Option<(f64, Alternative)> {
        let (spans, need) = (self.grid.spans_of(cei), self.grid.ceis[cei].need as usize);
        // One of as many blocks as there are spans is free of clashes with the others.
        let mut choices: Vec<Vec<(f64, Pair)>> = Vec::with_capacity(spans.len());
        for span in spans {
            let usable = (span.first..=span.last).filter(|&block| self.grid.allows(span.source, block));
            let mut blocks: Vec<(f64, Pair)> = usable
                .map(|block| Pair { block, source: span.source })
                .map(|pair| (self.price(pair), pair))
                .collect();
            if blocks.len() > spans.len() {
                blocks.select_nth_unstable_by(spans.len() - 1, |a, b| a.0.total_cmp(&b.0));
                blocks.truncate(spans.len());
            }
            blocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            choices.push(blocks);
        }
        choices.sort_by(|a, b| a[0].0.total_cmp(&b[0].0));
        let mut search =
            Combination { grid: self.grid, choices: &choices, need, best: None, left: MOST_LOOKED_AT };
        search.go_on(0, 0.0, &mut Vec::new());
        search.best
    }
}

/// The cheapest choice of one block in each of `need` spans that the blocks can afford together.
struct Combination<'a> {
    grid: &'a Grid,
    choices: &'a [Vec<(f64, Pair)>],
    need: usize,
    best: Option<(f64, Alternative)>,
    left: u32,
}

impl Combination<'_> {
    fn go_on(&mut self, span: usize, price: f64, chosen: &mut Alternative) {
        if self.left == 0 || self.best.as_ref().is_some_and(|(best, _)| price >= *best) {
            return;
        }
        self.left -= 1;
        if chosen.len() == self.need {
            self.best = Some((price, chosen.clone()));
            return;
        }
        let Some(blocks) = self.choices.get(span) else { return };
        for &(extra, pair) in blocks {
            if self.has_room(chosen, pair) {
                chosen.push(pair);
                self.go_on(span + 1, price + extra, chosen);
                chosen.pop();
            }
        }
        if chosen.len() + self.choices.len() - span > self.need {
            self.go_on(span + 1, price, chosen);
        }
    }

    fn has_room(&self, chosen: &[Pair], pair: Pair) -> bool {
        let here = chosen.iter().filter(|other| other.block == pair.block && other.source != pair.source);
        let spent: f64 = here.map(|other| self.grid.cost(other.source)).sum();
        self.grid.capacity.most(pair.block) >= spent + self.grid.cost(pair.source)
    }
}
