//! What each block of chronons can spend, and what a growing plan has left of it.
//!
//! A whole budget makes blocks independent. A fractional one is saved up as the meter of `core` saves it, so
//! that a probe in one chronon may stand in the way of another much later; then every block is one chronon.

use super::grid::Pair;

/// The same share of a probe's cost that the budget's own meter forgives.
const ROUNDING: f64 = 1e-9;

/// What can be spent in each block.
#[derive(Debug, Clone)]
pub(super) enum Capacity {
    /// So much in each block, whatever happens in others.
    Whole(Vec<f64>),
    /// One grant per chronon, whose fractions can be saved.
    Saving(Vec<Grant>),
}

/// A chronon's grant, split the way the meter splits it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grant {
    /// Spent first, and gone if it is not.
    pub(super) whole: f64,
    /// Can be saved, up to one probe's worth.
    pub(super) part: f64,
    /// The most that one chronon spends.
    pub(super) most: f64,
}

impl Grant {
    pub(super) fn of(grant: f64) -> Self {
        let most = if grant == 0.0 { 0.0 } else { grant.ceil().max(1.0) };
        Self { whole: grant.floor(), part: grant.fract(), most }
    }
}

impl Capacity {
    /// The most that a block can spend, were all others idle.
    pub(super) fn most(&self, block: u32) -> f64 {
        match self {
            Self::Whole(grants) => grants[block as usize],
            Self::Saving(grants) => grants[block as usize].most,
        }
    }

    /// Whether a probe of this cost can ever be made in a block.
    pub(super) fn allows(&self, block: u32, cost: f64) -> bool {
        fits(cost, self.most(block))
    }
}

fn fits(cost: f64, left: f64) -> bool {
    cost * (1.0 - ROUNDING) <= left
}

/// What a plan has spent, block by block.
#[derive(Debug, Clone)]
pub(super) struct BlockBudget<'a> {
    capacity: &'a Capacity,
    spent: Vec<f64>,
    /// What is saved at the end of each block; empty where nothing can be saved.
    saved: Vec<f64>,
}

impl<'a> BlockBudget<'a> {
    pub(super) fn new(capacity: &'a Capacity) -> Self {
        match capacity {
            Capacity::Whole(grants) => Self { capacity, spent: vec![0.0; grants.len()], saved: Vec::new() },
            Capacity::Saving(grants) => {
                let mut block_budget =
                    Self { capacity, spent: vec![0.0; grants.len()], saved: vec![-1.0; grants.len()] };
                block_budget.update_saved(0);
                block_budget
            }
        }
    }

    /// Whether one more probe of this cost fits into a block without starving a later one.
    pub(super) fn fits(&self, block: u32, cost: f64) -> bool {
        let spent = self.spent[block as usize];
        match self.capacity {
            Capacity::Whole(grants) => fits(cost, grants[block as usize] - spent),
            Capacity::Saving(grants) => {
                fits(cost, grants[block as usize].most - spent) && self.survives(grants, block as usize, cost)
            }
        }
    }

    /// Whether one probe can take the place of another in a block.
    pub(super) fn fits_instead(&self, block: u32, cost: f64, instead_of: f64) -> bool {
        match self.capacity {
            Capacity::Whole(grants) => {
                fits(cost, grants[block as usize] - self.spent[block as usize] + instead_of)
            }
            Capacity::Saving(_) => cost <= instead_of,
        }
    }

    pub(super) fn spend(&mut self, block: u32, cost: f64) {
        self.spent[block as usize] += cost;
        self.update_saved(block as usize);
    }

    pub(super) fn refund(&mut self, block: u32, cost: f64) {
        self.spent[block as usize] = (self.spent[block as usize] - cost).max(0.0);
        self.update_saved(block as usize);
    }

    /// Whether no later probe lacks the budget that an extra `cost` at `first` takes.
    fn survives(&self, grants: &[Grant], first: usize, cost: f64) -> bool {
        let mut saved = if first == 0 { 0.0 } else { self.saved[first - 1] };
        for (block, grant) in grants.iter().enumerate().skip(first) {
            let spent = self.spent[block] + if block == first { cost } else { 0.0 };
            let from_savings = (spent - grant.whole).max(0.0);
            if !fits(from_savings, saved + grant.part) {
                return false;
            }
            saved = (saved + grant.part - from_savings).min(1.0);
            if saved >= self.saved[block] {
                return true;
            }
        }
        true
    }

    /// Brings the savings up to date from `first` on, as far as they change.
    fn update_saved(&mut self, first: usize) {
        let Capacity::Saving(grants) = self.capacity else { return };
        let mut saved = if first == 0 { 0.0 } else { self.saved[first - 1] };
        for (block, grant) in grants.iter().enumerate().skip(first) {
            let from_savings = (self.spent[block] - grant.whole).max(0.0);
            saved = (saved + grant.part - from_savings).min(1.0);
            if self.saved[block] == saved {
                return;
            }
            self.saved[block] = saved;
        }
    }

    /// Spends for as many of the probes, in the order given, as fit; returns those.
    pub(super) fn afford(&mut self, probes: &[Pair], cost: impl Fn(u32) -> f64) -> Vec<Pair> {
        let mut afforded = Vec::with_capacity(probes.len());
        for &probe in probes {
            let cost = cost(probe.source);
            if self.fits(probe.block, cost) {
                self.spend(probe.block, cost);
                afforded.push(probe);
            }
        }
        afforded
    }
}
