//! A bound on every schedule, from the linear relaxation of the integer program, without a solver.
//!
//! A first-order primal–dual method ([`pdhg`]) finds prices for the program's rows. Any prices at all give a
//! bound that no schedule exceeds, because every column is bounded; good prices give one close to the
//! relaxation's value. From the same iterates a fractional plan is repaired until it keeps to every row,
//! which bounds the relaxation from below: the difference says how much a better solver could still gain.

mod pdhg;

use super::capacity::Capacity;
use super::grid::Grid;
use super::pairs::Pairs;
use super::program::Program;
use pdhg::{Iterate, Pdhg};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Stop once bound and fractional plan differ by no more than this share of the bound.
    pub gap: f64,
    /// Stop after so many iterations in any case.
    pub iterations: u32,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { gap: 1e-4, iterations: 20_000 }
    }
}

/// What is known of the relaxation.
#[derive(Debug, Clone)]
pub struct Relaxation {
    /// No schedule captures more weight than this, what the grid has secured included.
    pub bound: f64,
    /// The relaxation's value is at least this.
    pub at_least: f64,
    /// How much of each CEI the fractional plan captures.
    pub(super) captured: Vec<f64>,
    /// What each CEI is worth beyond what its spans cost at the best prices found.
    pub(super) margins: Vec<f64>,
}

/// Iterations between two checks of how far it has come.
const BETWEEN_CHECKS: u32 = 50;

/// Bounds what any schedule on the grid can capture. `proceed` is asked now and then; once it says no, the
/// bound is what has been reached.
pub fn relax(grid: &Grid, tolerance: Tolerance, mut proceed: impl FnMut() -> bool) -> Relaxation {
    let program = Program::new(grid);
    let pairs = Pairs::new(grid);
    let mut relaxation = Relaxation {
        bound: grid.undecided(),
        at_least: 0.0,
        captured: vec![0.0; grid.ceis.len()],
        margins: grid.ceis.iter().map(|cei| cei.weight).collect(),
    };
    let mut solver = Pdhg::new(&program);
    let mut done = grid.ceis.is_empty();
    while !done && solver.iterations() < tolerance.iterations {
        solver.advance(BETWEEN_CHECKS);
        for candidate in solver.candidates() {
            relaxation.take(grid, &program, &pairs, candidate);
        }
        solver.restart_if_due();
        done = relaxation.bound - relaxation.at_least <= tolerance.gap * relaxation.bound || !proceed();
    }
    relaxation.bound += grid.secured();
    relaxation.at_least += grid.secured();
    relaxation
}

impl Relaxation {
    /// Keeps what is better in an iterate than in those before.
    fn take(&mut self, grid: &Grid, program: &Program, pairs: &Pairs, iterate: &Iterate) {
        if iterate.bound < self.bound {
            self.bound = iterate.bound;
            self.margins.copy_from_slice(&iterate.margins[program.ceis.clone()]);
        }
        let mut probed = iterate.x[..pairs.len()].to_vec();
        keep_to_budget(grid, pairs, &mut probed);
        let captured: Vec<f64> = (0..grid.ceis.len()).map(|cei| share(grid, pairs, cei, &probed)).collect();
        let value = captured.iter().zip(&grid.ceis).map(|(share, cei)| share * cei.weight).sum::<f64>();
        if value > self.at_least {
            self.at_least = value;
            self.captured = captured;
        }
    }
}

/// Scales what is probed down to what each block can spend.
fn keep_to_budget(grid: &Grid, pairs: &Pairs, probed: &mut [f64]) {
    let mut spent = vec![0.0; grid.n_blocks()];
    for (pair, amount) in pairs.iter().zip(&*probed) {
        spent[pair.block as usize] += amount * grid.cost(pair.source);
    }
    let scale: Vec<f64> = match &grid.capacity {
        Capacity::Whole(grants) => spent
            .iter()
            .zip(grants)
            .map(|(&spent, &grant)| if spent > grant { grant / spent } else { 1.0 })
            .collect(),
        // Fractions saved are used in order of time, as the meter does, and only as far as they go.
        Capacity::Saving(grants) => {
            let mut saved: f64 = 0.0;
            let mut afford = |spent: f64, grant: &super::capacity::Grant| {
                let allowed = (saved + grant.whole + grant.part).min(grant.most);
                let scale = if spent > allowed { allowed / spent } else { 1.0 };
                saved = (saved + grant.part - (spent * scale - grant.whole).max(0.0)).clamp(0.0, 1.0);
                scale
            };
            spent.iter().zip(grants).map(|(&spent, grant)| afford(spent, grant)).collect()
        }
    };
    for (pair, amount) in pairs.iter().zip(probed) {
        *amount *= scale[pair.block as usize];
    }
}

/// The largest share of a CEI that its spans allow: the y with Σ min(y, probed under a span) ≥ need · y.
fn share(grid: &Grid, pairs: &Pairs, cei: usize, probed: &[f64]) -> f64 {
    let need = grid.ceis[cei].need as usize;
    let under = |span| probed[pairs.under(span)].iter().sum::<f64>().min(1.0);
    let mut amounts: Vec<f64> = grid.spans_of(cei).iter().map(under).collect();
    amounts.sort_unstable_by(f64::total_cmp);
    let total = |n: usize| amounts[..n].iter().sum::<f64>();
    let n = amounts.len();
    (0..need).map(|full| total(n - full) / (need - full) as f64).fold(1.0, f64::min)
}
