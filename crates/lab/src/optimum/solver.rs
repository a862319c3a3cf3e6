//! The integer program and its relaxation, put to `HiGHS`. Only the program and a start go in, only pairs and
//! bounds come out.

use std::time::Duration;

use dunlin_sched::plan::intervals::{Grid, Pair, Program};
use highs::{HighsModelStatus, HighsSolutionStatus, HighsStatus, RowProblem, Sense};

use crate::Error;

/// What the solver found.
pub(super) struct Found {
    /// The best plan, possibly the one it was given.
    pub(super) pairs: Vec<Pair>,
    /// No plan is worth more, what the grid has secured not included.
    pub(super) bound: f64,
}

/// Weights up to this are counted as they are.
const MOST_COUNTED: f64 = 1e6;

/// Solves the program of a grid, starting from a plan.
pub(super) fn solve(grid: &Grid, start: &[Pair], limit: Duration) -> Result<Found, Error> {
    let program = Program::new(grid);
    let nothing_left = Found { pairs: start.to_vec(), bound: grid.undecided() };
    if limit.is_zero() || program.weights().is_empty() {
        return Ok(nothing_left);
    }
    let ObjectiveScale { unit, gap } = objective_scale(grid, &program);
    let problem = posed(&program, unit, |column| program.is_whole(column));
    let mut model = problem.try_optimise(Sense::Maximise).map_err(failed)?;
    model.make_quiet();
    model.set_option("time_limit", limit.as_secs_f64());
    model.set_option("mip_abs_gap", gap);
    model.set_option("mip_rel_gap", 0.0);
    model.try_set_solution(Some(&program.values(start)), None, None, None).map_err(failed)?;
    let solved = model.try_solve().map_err(failed)?;
    let is_optimal = solved.status() == HighsModelStatus::Optimal;
    let bound = solved.double_info_value(c"mip_dual_bound").map_err(failed)? * unit;
    let has_plan = is_optimal || solved.primal_solution_status() == HighsSolutionStatus::Feasible;
    let pairs = if has_plan { program.probed(solved.get_solution().columns()) } else { start.to_vec() };
    Ok(Found { pairs, bound: if bound.is_finite() { bound } else { nothing_left.bound } })
}

/// The value of the linear relaxation, what the grid has secured not included; nothing if time runs out.
pub(super) fn relaxed(grid: &Grid, limit: Duration) -> Result<Option<f64>, Error> {
    let program = Program::new(grid);
    if limit.is_zero() || program.weights().is_empty() {
        return Ok(program.weights().is_empty().then_some(0.0));
    }
    let ObjectiveScale { unit, .. } = objective_scale(grid, &program);
    let mut model = posed(&program, unit, |_| false).try_optimise(Sense::Maximise).map_err(failed)?;
    model.make_quiet();
    model.set_option("time_limit", limit.as_secs_f64());
    let solved = model.try_solve().map_err(failed)?;
    let is_optimal = solved.status() == HighsModelStatus::Optimal;
    Ok(is_optimal.then(|| solved.objective_value() * unit))
}

/// What weights are measured in, and what difference between plan and bound is none.
struct ObjectiveScale {
    unit: f64,
    gap: f64,
}

/// Totals of whole weights are whole: less than one is nothing. Other weights, and those too large for a solver's
/// tolerances, are measured in the largest.
fn objective_scale(grid: &Grid, program: &Program) -> ObjectiveScale {
    let largest = program.weights().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let is_counted = grid.attainable(0.5) == 0.0 && largest <= MOST_COUNTED;
    if is_counted {
        ObjectiveScale { unit: 1.0, gap: 0.999 }
    } else {
        ObjectiveScale { unit: largest, gap: 1e-9 }
    }
}

fn posed(program: &Program, unit: f64, is_whole: impl Fn(usize) -> bool) -> RowProblem {
    let mut problem = RowProblem::default();
    let columns: Vec<_> = program
        .weights()
        .iter()
        .zip(program.most())
        .enumerate()
        .map(|(i, (&weight, &most))| {
            problem.add_column_with_integrality(weight / unit, 0.0..=most, is_whole(i))
        })
        .collect();
    for row in program.rows() {
        let terms = row.columns.iter().zip(row.coefficients).map(|(&x, &c)| (columns[x as usize], c));
        problem.add_row(..=row.at_most, terms.collect::<Vec<_>>());
    }
    problem
}

fn failed(status: HighsStatus) -> Error {
    Error::Solver { reason: format!("{status:?}") }
}
