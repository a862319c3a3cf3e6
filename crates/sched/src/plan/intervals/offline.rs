//! A good schedule at any size: prices from the relaxation, a first plan, then repeated reconstruction.
//!
//! Two first plans compete: the schedule of the online policy `marginal`, and the CEIs in the order in which
//! the fractional plan of the relaxation captures them. Whatever still fits is added. Then, over and over, a
//! CEI outside the plan is forced into it at the expense of the jobs that stand in its way; those that lost
//! their place, and others that can use what became free, are fitted in again. A change for the worse is
//! sometimes kept, less and less often (simulated annealing). Deterministic: the same seed and effort give the
//! same plan, as long as `proceed` never says no.

use dunlin_core::Schedule;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::draft_plan::DraftPlan;
use super::fit::Fitter;
use super::grid::{BlockSpan, Grid, Pair};
use super::relax::{Relaxation, Tolerance, relax};
use super::{Instance, TooLarge};
use crate::epoch;
use crate::policy::Marginal;
use crate::score::score_intervals;

/// How long to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Reconstructions per CEI.
    pub rounds: u32,
    /// Where chance begins.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { rounds: 20, seed: 0 }
    }
}

/// A schedule, and how much better another one could be.
#[derive(Debug, Clone)]
pub struct OfflinePlan {
    /// What to probe when.
    pub schedule: Schedule,
    /// No schedule captures more weight.
    pub bound: f64,
    /// Whether this one captures as much as any can.
    pub is_proven: bool,
}

/// Plans an instance. `proceed` is called regularly; once it returns false, the best so far is returned.
pub fn offline(
    instance: Instance<'_>,
    effort: Effort,
    mut proceed: impl FnMut() -> bool,
) -> Result<OfflinePlan, TooLarge> {
    let grid = Grid::new(instance)?;
    let relaxation = relax(&grid, Tolerance::default(), &mut proceed);
    let pairs = improve(&grid, instance, &relaxation, effort, &mut proceed);
    let schedule = grid.schedule(&pairs);
    let weight = score_intervals(instance.workload, &schedule).weight_captured;
    let bound = grid.attainable(relaxation.bound).max(weight);
    Ok(OfflinePlan { schedule, bound, is_proven: weight >= bound })
}

/// The same on a grid of the instance and its relaxation; the best pairs found.
pub fn improve(
    grid: &Grid,
    instance: Instance<'_>,
    relaxation: &Relaxation,
    effort: Effort,
    proceed: &mut dyn FnMut() -> bool,
) -> Vec<Pair> {
    let mut marginal = Marginal::new(instance.budget, instance.costs.clone());
    let online =
        epoch::run_workload(&mut marginal, instance.workload, instance.chronons, instance.budget, |_| ());
    let mut search = Search::new(grid, relaxation, effort.seed);
    let adopted = search.adopt(&grid.pairs_of(&online));
    let rounded = search.round(relaxation);
    let best = if rounded.value() > adopted.value() { rounded } else { adopted };
    let enough = grid.attainable(relaxation.bound) - grid.secured();
    search.anneal(best, u64::from(effort.rounds) * grid.ceis.len() as u64, enough, proceed)
}

struct Search<'a> {
    grid: &'a Grid,
    fitter: Fitter,
    rng: ChaCha8Rng,
    /// CEIs by what they are worth beyond their price, best first.
    order: Vec<u32>,
    /// For each block, the CEIs that have a span over it, best first.
    over: Vec<Vec<u32>>,
}

/// Acceptance of losses, in units of the mean weight: at the start, and at the end.
const HOT: f64 = 0.25;
const COLD: f64 = 0.03;

/// CEIs tried in each block that has become free.
const TRIED_PER_BLOCK: usize = 12;

impl<'a> Search<'a> {
    fn new(grid: &'a Grid, relaxation: &Relaxation, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..grid.ceis.len() as u32).collect();
        let margin = |cei: u32| relaxation.margins[cei as usize] / grid.ceis[cei as usize].weight;
        order.sort_by(|&a, &b| margin(b).total_cmp(&margin(a)));
        let mut over = vec![Vec::new(); grid.n_blocks()];
        for &cei in &order {
            for span in grid.spans_of(cei as usize) {
                for block in span.first..=span.last {
                    if over[block as usize].last() != Some(&cei) {
                        over[block as usize].push(cei);
                    }
                }
            }
        }
        Self { grid, fitter: Fitter::new(grid.n_blocks()), rng: ChaCha8Rng::seed_from_u64(seed), order, over }
    }

    /// A plan that keeps what a schedule captures, and adds what fits.
    fn adopt(&mut self, pairs: &[Pair]) -> DraftPlan<'a> {
        let mut draft = DraftPlan::new(self.grid);
        let mut by_source: Vec<Vec<u32>> = vec![Vec::new(); self.grid.n_sources];
        for pair in pairs {
            by_source[pair.source as usize].push(pair.block);
        }
        for (i, cei) in self.grid.ceis.iter().enumerate() {
            let probe = |span: usize| {
                let covered = self.grid.spans[span];
                let own = &by_source[covered.source as usize];
                own.get(own.partition_point(|&block| block < covered.first))
                    .copied()
                    .filter(|&block| covered.covers(block))
            };
            let served: Vec<(usize, u32)> = cei
                .spans
                .clone()
                .filter_map(|span| Some((span, probe(span)?)))
                .take(cei.need as usize)
                .collect();
            if served.len() < cei.need as usize {
                continue;
            }
            for (span, block) in served {
                let source = self.grid.spans[span].source;
                let job = match draft.jobs_of(source, block, block) {
                    [(_, job), ..] => *job,
                    [] => draft.create(source, block),
                };
                draft.join(job, span as u32);
            }
            draft.admit(i as u32);
        }
        let order = self.order.clone();
        self.add(&mut draft, &order);
        draft
    }

    /// A plan that takes CEIs in the order in which the fractional plan captures them.
    fn round(&mut self, relaxation: &Relaxation) -> DraftPlan<'a> {
        let mut draft = DraftPlan::new(self.grid);
        let mut order = self.order.clone();
        let share = |cei: u32| relaxation.captured[cei as usize];
        order.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
        self.add(&mut draft, &order);
        draft
    }

    fn add(&mut self, draft: &mut DraftPlan<'a>, ceis: &[u32]) {
        for &cei in ceis {
            if !draft.contains(cei) {
                self.fitter.admit(draft, cei, &mut |span| span.first);
            }
        }
        draft.forget_changes();
    }

    /// Reconstructs over and over, until the plan is worth enough; the best plan seen.
    fn anneal(
        &mut self,
        mut draft: DraftPlan<'a>,
        rounds: u64,
        enough: f64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Vec<Pair> {
        let (mut best, mut best_value) = (draft.pairs(), draft.value());
        let unit = self.grid.undecided() / (self.grid.ceis.len().max(1)) as f64;
        for round in 0..rounds {
            if best_value >= enough || (round % 64 == 0 && !proceed()) {
                break;
            }
            let temperature = unit * HOT * (COLD / HOT).powf(round as f64 / rounds as f64);
            let before = draft.value();
            if !self.reconstruct(&mut draft) {
                continue;
            }
            let loss = before - draft.value();
            if loss > 0.0 && self.rng.random::<f64>() >= (-loss / temperature).exp() {
                draft.undo(0);
                continue;
            }
            draft.forget_changes();
            if draft.value() > best_value {
                (best, best_value) = (draft.pairs(), draft.value());
            }
        }
        best
    }

    /// Forces one CEI from outside into the plan and repairs the rest. Whether anything was changed.
    fn reconstruct(&mut self, draft: &mut DraftPlan<'a>) -> bool {
        let Some(cei) = self.outsider(draft) else { return false };
        let mut losers = Vec::new();
        if !self.force(draft, cei, &mut losers) {
            draft.undo(0);
            return false;
        }
        self.refill(draft, losers);
        true
    }

    /// A CEI that is not in the plan, more likely one worth its price.
    fn outsider(&mut self, draft: &DraftPlan<'a>) -> Option<u32> {
        let n = self.order.len();
        for _ in 0..64 {
            let cei = self.order[an_early_one(&mut self.rng, n)];
            if !draft.contains(cei) {
                return Some(cei);
            }
        }
        None
    }

    /// Takes a CEI in, at the expense of others where need be.
    fn force(&mut self, draft: &mut DraftPlan<'a>, cei: u32, losers: &mut Vec<u32>) -> bool {
        let rng = &mut self.rng;
        for _ in 0..=self.grid.ceis[cei as usize].spans.len() {
            if self.fitter.admit(draft, cei, &mut |span| any_block(rng, span)) {
                return true;
            }
            // Clear one place in one of its spans, the cheapest of a few drawn.
            let spans = self.grid.ceis[cei as usize].spans.clone();
            let span = self.grid.spans[rng.random_range(spans)];
            let mut cheapest: Option<(f64, Vec<u32>)> = None;
            for _ in 0..4 {
                let block = any_block(rng, span);
                let jobs = draft.jobs_in(block);
                if jobs.is_empty() {
                    continue;
                }
                let ceis = draft.wants_of(jobs[rng.random_range(0..jobs.len())]);
                let loss = ceis.iter().map(|&loser| self.grid.ceis[loser as usize].weight).sum();
                if cheapest.as_ref().is_none_or(|(least, _)| loss < *least) {
                    cheapest = Some((loss, ceis));
                }
            }
            for loser in cheapest.into_iter().flat_map(|(_, ceis)| ceis) {
                draft.drop_want(loser);
                losers.push(loser);
            }
        }
        false
    }

    /// Fits in those that lost their place, and others that can use what became free.
    fn refill(&mut self, draft: &mut DraftPlan<'a>, losers: Vec<u32>) {
        let mut candidates = losers;
        let mut vacated = draft.vacated(0);
        vacated.sort_unstable();
        vacated.dedup();
        for block in vacated {
            let over = &self.over[block as usize];
            for _ in 0..TRIED_PER_BLOCK.min(over.len()) {
                candidates.push(over[an_early_one(&mut self.rng, over.len())]);
            }
        }
        let rng = &mut self.rng;
        for at in (1..candidates.len()).rev() {
            candidates.swap(at, rng.random_range(0..=at));
        }
        for cei in candidates {
            if !draft.contains(cei) {
                self.fitter.admit(draft, cei, &mut |span| any_block(rng, span));
            }
        }
    }
}

fn any_block(rng: &mut impl Rng, span: BlockSpan) -> u32 {
    rng.random_range(span.first..=span.last)
}

/// One of `n` places, the earlier the likelier.
fn an_early_one(rng: &mut impl Rng, n: usize) -> usize {
    rng.random_range(0..n).min(rng.random_range(0..n))
}
