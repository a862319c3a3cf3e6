//! The best schedule for needs, or the best that could be found in time, with a bound on all others.
//!
//! The steps: a relaxation for the bound, the offline heuristic for a schedule, and if the two do not
//! meet, an integer program. That needs the solver of the feature `highs`; without it, tiny instances are
//! enumerated, and larger ones refused. The same evaluator scores every schedule.

#[cfg(feature = "highs")]
mod solver;

use std::time::{Duration, Instant};

use dunlin_core::Schedule;
use dunlin_sched::plan::intervals::{Effort, Grid, Instance, Tolerance, improve, relax, single_ei_bound};
use dunlin_sched::score::{check_budget, score_intervals};

use crate::Error;

/// A schedule and what is known of its distance from the best.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// What to probe when.
    pub schedule: Schedule,
    /// No schedule captures more weight.
    pub bound: f64,
    /// Whether this one captures as much as any can.
    pub is_proven: bool,
    /// What found the final result.
    pub method: SolutionMethod,
}

/// What produced a bound or a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolutionMethod {
    /// Every schedule was tried.
    Enumeration,
    /// Prices found by a first-order method, and a search that keeps to them.
    FirstOrder,
    /// The solver `HiGHS`.
    Highs,
}

impl SolutionMethod {
    /// Its name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enumeration => "enumeration",
            Self::FirstOrder => "first-order",
            Self::Highs => "highs",
        }
    }
}

/// Upper bounds on what any schedule can capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// From the linear relaxation of the integer program.
    pub lp: f64,
    /// The relaxation's value is at least this; what a better solver could still gain on `lp`.
    pub lp_at_least: f64,
    /// What found `lp`.
    pub method: SolutionMethod,
    /// From single intervals, as the papers do it.
    pub single_ei: f64,
    /// The number of single intervals that no schedule exceeds.
    pub single_eis: f64,
}

/// Enumeration is for instances with so few schedules that scoring them all looks at no more intervals.
#[cfg(not(feature = "highs"))]
const FEW_INTERVALS: u64 = 2_000_000;

/// Bounds an instance, within a time limit.
pub fn bounds(instance: Instance<'_>, limit: Duration) -> Result<Bounds, Error> {
    let begin = Instant::now();
    let in_time = || begin.elapsed() < limit;
    let grid = Grid::new(instance)?;
    let relaxation = relax(&grid, Tolerance { gap: 1e-5, ..Tolerance::default() }, in_time);
    let single = single_ei_bound(instance, in_time)?;
    let bounds = Bounds {
        lp: relaxation.bound,
        lp_at_least: relaxation.at_least,
        method: SolutionMethod::FirstOrder,
        single_ei: single.weight,
        single_eis: single.intervals,
    };
    sharpen(&grid, bounds, limit.saturating_sub(begin.elapsed()))
}

/// The relaxation to the last digit, if the solver gets there in time.
#[cfg(feature = "highs")]
fn sharpen(grid: &Grid, bounds: Bounds, limit: Duration) -> Result<Bounds, Error> {
    Ok(solver::relaxed(grid, limit)?.map_or(bounds, |value| {
        let lp = value + grid.secured();
        Bounds { lp, lp_at_least: lp, method: SolutionMethod::Highs, ..bounds }
    }))
}

#[cfg(not(feature = "highs"))]
#[expect(clippy::unnecessary_wraps, reason = "a solver can fail")]
const fn sharpen(_: &Grid, bounds: Bounds, _: Duration) -> Result<Bounds, Error> {
    Ok(bounds)
}

/// Looks for the best schedule, within a time limit. Without a solver, an instance on which plan and bound do not
/// meet and that is too large to enumerate is an error: what was found would not be the optimum.
pub fn exact(instance: Instance<'_>, seed: u64, limit: Duration) -> Result<Optimum, Error> {
    let begin = Instant::now();
    let grid = Grid::new(instance)?;
    // The search for a schedule may take a quarter of the time; proving takes the rest.
    let relaxation = relax(&grid, Tolerance::default(), || begin.elapsed() < limit / 2);
    let started = Instant::now();
    let mut is_early = || started.elapsed() < limit / 4;
    let pairs = improve(&grid, instance, &relaxation, Effort { seed, ..Effort::default() }, &mut is_early);
    let bound = grid.attainable(relaxation.bound);
    let optimum = judged(instance, grid.schedule(&pairs), bound, SolutionMethod::FirstOrder);
    if optimum.is_proven {
        return Ok(optimum);
    }
    prove(instance, &grid, optimum, limit.saturating_sub(begin.elapsed()))
}

/// The integer program alone, without a plan to start from.
#[cfg(feature = "highs")]
pub fn integer_program(instance: Instance<'_>, limit: Duration) -> Result<Optimum, Error> {
    let grid = Grid::new(instance)?;
    let nothing =
        judged(instance, grid.schedule(&[]), grid.secured() + grid.undecided(), SolutionMethod::Highs);
    prove(instance, &grid, nothing, limit)
}

#[cfg(feature = "highs")]
fn prove(instance: Instance<'_>, grid: &Grid, start: Optimum, limit: Duration) -> Result<Optimum, Error> {
    let found = solver::solve(grid, &grid.pairs_of(&start.schedule), limit)?;
    let bound = grid.attainable((found.bound + grid.secured()).min(start.bound));
    let candidates = [grid.schedule(&found.pairs), start.schedule];
    let judged = candidates.map(|schedule| judged(instance, schedule, bound, SolutionMethod::Highs));
    let weight = |optimum: &Optimum| score_intervals(instance.workload, &optimum.schedule).weight_captured;
    let [found, start] = judged;
    Ok(if weight(&start) > weight(&found) { start } else { found })
}

#[cfg(not(feature = "highs"))]
fn prove(instance: Instance<'_>, _: &Grid, _: Optimum, _: Duration) -> Result<Optimum, Error> {
    let n_intervals: usize = instance.workload.ceis().map(|cei| cei.intervals.len()).sum();
    let few_schedules = FEW_INTERVALS / n_intervals.max(1) as u64;
    let best =
        dunlin_sched::plan::intervals::enumerate(instance, few_schedules).map_err(|_| Error::NoSolver)?;
    Ok(Optimum {
        schedule: best.schedule,
        bound: best.weight,
        is_proven: true,
        method: SolutionMethod::Enumeration,
    })
}

/// A schedule beside a bound. One that breaks the budget would be our mistake; it is worth nothing.
fn judged(instance: Instance<'_>, schedule: Schedule, bound: f64, method: SolutionMethod) -> Optimum {
    let keeps = check_budget(&schedule, instance.budget, instance.costs, instance.chronons).is_ok();
    debug_assert!(keeps, "planners keep to the budget");
    let schedule = if keeps { schedule } else { Schedule::new() };
    let weight = score_intervals(instance.workload, &schedule).weight_captured;
    let is_proven = weight >= bound - 1e-7 * bound;
    Optimum { schedule, bound: bound.max(weight), is_proven, method }
}
