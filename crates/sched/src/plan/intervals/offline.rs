//! A good schedule at any size: prices from the relaxation, a first plan, then repeated reconstruction.
//!
//! Two first plans compete: the schedule of the online policy `marginal`, and the wants in the order in which
//! the fractional plan of the relaxation captures them. Whatever still fits is added. Then, over and over, a
//! want outside the plan is forced into it at the expense of the jobs that stand in its way; those who lost
//! their place, and others who could use what became free, are fitted in again. A change for the worse is
//! kept now and then, ever less often (simulated annealing). Deterministic: the same seed and effort give the
//! same plan, as long as `proceed` never says no.

use dunlin_core::Schedule;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::agenda::Agenda;
use super::fit::Fitting;
use super::grid::{Grid, Pair, Span};
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
pub struct Plan {
    /// What to probe when.
    pub schedule: Schedule,
    /// No schedule captures more weight.
    pub bound: f64,
    /// Whether this one captures as much as any can.
    pub is_proven: bool,
}

/// Plans an instance. `proceed` is asked now and then; once it says no, the best so far is returned.
pub fn offline(
    instance: Instance<'_>,
    effort: Effort,
    mut proceed: impl FnMut() -> bool,
) -> Result<Plan, TooLarge> {
    let grid = Grid::new(instance)?;
    let relaxation = relax(&grid, Tolerance::default(), &mut proceed);
    let pairs = improve(&grid, instance, &relaxation, effort, &mut proceed);
    let schedule = grid.schedule(&pairs);
    let weight = score_intervals(instance.workload, &schedule).weight_captured;
    let bound = grid.attainable(relaxation.bound).max(weight);
    Ok(Plan { schedule, bound, is_proven: weight >= bound })
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
    search.anneal(best, u64::from(effort.rounds) * grid.wants.len() as u64, enough, proceed)
}

struct Search<'a> {
    grid: &'a Grid,
    fitting: Fitting,
    rng: ChaCha8Rng,
    /// Wants by what they are worth beyond their price, best first.
    order: Vec<u32>,
    /// For each block, the wants that have a span over it, best first.
    over: Vec<Vec<u32>>,
}

/// Acceptance of losses, in units of the mean weight: at the start, and at the end.
const HOT: f64 = 0.25;
const COLD: f64 = 0.03;

/// Wants tried in each block that has become free.
const TRIED_PER_BLOCK: usize = 12;

impl<'a> Search<'a> {
    fn new(grid: &'a Grid, relaxation: &Relaxation, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..grid.wants.len() as u32).collect();
        let margin = |want: u32| relaxation.margins[want as usize] / grid.wants[want as usize].weight;
        order.sort_by(|&a, &b| margin(b).total_cmp(&margin(a)));
        let mut over = vec![Vec::new(); grid.n_blocks()];
        for &want in &order {
            for span in grid.spans_of(want as usize) {
                for block in span.first..=span.last {
                    if over[block as usize].last() != Some(&want) {
                        over[block as usize].push(want);
                    }
                }
            }
        }
        Self {
            grid,
            fitting: Fitting::new(grid.n_blocks()),
            rng: ChaCha8Rng::seed_from_u64(seed),
            order,
            over,
        }
    }

    /// A plan that keeps what a schedule captures, and adds what fits.
    fn adopt(&mut self, pairs: &[Pair]) -> Agenda<'a> {
        let mut agenda = Agenda::new(self.grid);
        let mut by_source: Vec<Vec<u32>> = vec![Vec::new(); self.grid.n_sources];
        for pair in pairs {
            by_source[pair.source as usize].push(pair.block);
        }
        for (i, want) in self.grid.wants.iter().enumerate() {
            let probe = |span: usize| {
                let covered = self.grid.spans[span];
                let own = &by_source[covered.source as usize];
                own.get(own.partition_point(|&block| block < covered.first))
                    .copied()
                    .filter(|&block| covered.covers(block))
            };
            let served: Vec<(usize, u32)> = want
                .spans
                .clone()
                .filter_map(|span| Some((span, probe(span)?)))
                .take(want.need as usize)
                .collect();
            if served.len() < want.need as usize {
                continue;
            }
            for (span, block) in served {
                let source = self.grid.spans[span].source;
                let job = match agenda.jobs_of(source, block, block) {
                    [(_, job), ..] => *job,
                    [] => agenda.create(source, block),
                };
                agenda.join(job, span as u32);
            }
            agenda.admit(i as u32);
        }
        let order = self.order.clone();
        self.add(&mut agenda, &order);
        agenda
    }

    /// A plan that takes wants in the order in which the fractional plan captures them.
    fn round(&mut self, relaxation: &Relaxation) -> Agenda<'a> {
        let mut agenda = Agenda::new(self.grid);
        let mut order = self.order.clone();
        let share = |want: u32| relaxation.captured[want as usize];
        order.sort_by(|&a, &b| share(b).total_cmp(&share(a)));
        self.add(&mut agenda, &order);
        agenda
    }

    fn add(&mut self, agenda: &mut Agenda<'a>, wants: &[u32]) {
        for &want in wants {
            if !agenda.contains(want) {
                self.fitting.admit(agenda, want, &mut |span| span.first);
            }
        }
        agenda.forget_changes();
    }

    /// Reconstructs over and over, until the plan is worth enough; the best plan seen.
    fn anneal(
        &mut self,
        mut agenda: Agenda<'a>,
        rounds: u64,
        enough: f64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Vec<Pair> {
        let (mut best, mut best_value) = (agenda.pairs(), agenda.value());
        let unit = self.grid.undecided() / (self.grid.wants.len().max(1)) as f64;
        for round in 0..rounds {
            if best_value >= enough || (round % 64 == 0 && !proceed()) {
                break;
            }
            let temperature = unit * HOT * (COLD / HOT).powf(round as f64 / rounds as f64);
            let before = agenda.value();
            if !self.reconstruct(&mut agenda) {
                continue;
            }
            let loss = before - agenda.value();
            if loss > 0.0 && self.rng.random::<f64>() >= (-loss / temperature).exp() {
                agenda.undo(0);
                continue;
            }
            agenda.forget_changes();
            if agenda.value() > best_value {
                (best, best_value) = (agenda.pairs(), agenda.value());
            }
        }
        best
    }

    /// Forces one want from outside into the plan and mends the damage. Whether anything was changed.
    fn reconstruct(&mut self, agenda: &mut Agenda<'a>) -> bool {
        let Some(want) = self.outsider(agenda) else { return false };
        let mut losers = Vec::new();
        if !self.force(agenda, want, &mut losers) {
            agenda.undo(0);
            return false;
        }
        self.refill(agenda, losers);
        true
    }

    /// A want that is not in the plan, more likely one worth its price.
    fn outsider(&mut self, agenda: &Agenda<'a>) -> Option<u32> {
        let n = self.order.len();
        for _ in 0..64 {
            let want = self.order[an_early_one(&mut self.rng, n)];
            if !agenda.contains(want) {
                return Some(want);
            }
        }
        None
    }

    /// Takes a want in, at the expense of others where need be.
    fn force(&mut self, agenda: &mut Agenda<'a>, want: u32, losers: &mut Vec<u32>) -> bool {
        let rng = &mut self.rng;
        for _ in 0..=self.grid.wants[want as usize].spans.len() {
            if self.fitting.admit(agenda, want, &mut |span| any_block(rng, span)) {
                return true;
            }
            // Clear one place in one of its spans, the cheapest of a few drawn.
            let spans = self.grid.wants[want as usize].spans.clone();
            let span = self.grid.spans[rng.random_range(spans)];
            let mut cheapest: Option<(f64, Vec<u32>)> = None;
            for _ in 0..4 {
                let block = any_block(rng, span);
                let jobs = agenda.jobs_in(block);
                if jobs.is_empty() {
                    continue;
                }
                let wants = agenda.wants_of(jobs[rng.random_range(0..jobs.len())]);
                let loss = wants.iter().map(|&loser| self.grid.wants[loser as usize].weight).sum();
                if cheapest.as_ref().is_none_or(|(least, _)| loss < *least) {
                    cheapest = Some((loss, wants));
                }
            }
            for loser in cheapest.into_iter().flat_map(|(_, wants)| wants) {
                agenda.drop_want(loser);
                losers.push(loser);
            }
        }
        false
    }

    /// Fits in those who lost their place, and others who can use what became free.
    fn refill(&mut self, agenda: &mut Agenda<'a>, losers: Vec<u32>) {
        let mut candidates = losers;
        let mut vacated = agenda.vacated(0);
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
        for want in candidates {
            if !agenda.contains(want) {
                self.fitting.admit(agenda, want, &mut |span| any_block(rng, span));
            }
        }
    }
}

fn any_block(rng: &mut impl Rng, span: Span) -> u32 {
    rng.random_range(span.first..=span.last)
}

/// One of `n` places, the earlier the likelier.
fn an_early_one(rng: &mut impl Rng, n: usize) -> usize {
    rng.random_range(0..n).min(rng.random_range(0..n))
}
