//! The papers' own upper bound: capture single intervals as if every need had one.
//!
//! If no schedule captures more than E single intervals, then the CEIs captured by any schedule need at most E
//! intervals together. The bound is the largest weight of CEIs, the last one in part, whose needs sum to at
//! most E. It forgets that a CEI's intervals belong together.

use dunlin_core::{Costs, Need, Workload};

use super::grid::Grid;
use super::relax::{Tolerance, relax};
use super::{Instance, TooLarge};
use crate::epoch;
use crate::policy::{Preemption, Ranked};
use crate::score::score_intervals;

/// What follows from single intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SingleEis {
    /// No schedule captures more single intervals.
    pub intervals: f64,
    /// No schedule captures CEIs of more weight.
    pub weight: f64,
}

/// Bounds what any schedule can capture by what it can capture of single intervals. `proceed` is asked now
/// and then; once it says no, the bound is what has been reached.
pub fn single_ei_bound(instance: Instance<'_>, proceed: impl FnMut() -> bool) -> Result<SingleEis, TooLarge> {
    let ceis = instance.workload;
    let singles = one_by_one(ceis);
    let instance = Instance { workload: &singles, ..instance };
    let intervals = if is_plain(instance) {
        // Unit tasks with release times and deadlines: the earliest deadline first is optimal.
        let mut edf = Ranked::s_edf(Preemption::Preemptive, Costs::uniform());
        let schedule = epoch::run_workload(&mut edf, &singles, instance.chronons, instance.budget, |_| ());
        score_intervals(&singles, &schedule).captured as f64
    } else {
        // One probe may capture many: a relaxation, rounded down because intervals are counted.
        (relax(&Grid::new(instance)?, Tolerance::default(), proceed).bound + 1e-6).floor()
    };
    Ok(SingleEis { intervals, weight: heaviest(ceis, intervals) })
}

/// Every interval as a need of its own.
fn one_by_one(workload: &Workload) -> Workload {
    let mut singles = Workload::new();
    let profile = singles.add_profile();
    for interval in workload.ceis().flat_map(|cei| cei.intervals) {
        let pushed = singles.push(profile, &[*interval], Need::All, 1.0);
        debug_assert!(pushed.is_ok(), "there are no more intervals than there were");
    }
    singles
}

/// Whether every probe captures one interval at most, costs 1, and takes nothing from another chronon.
fn is_plain(instance: Instance<'_>) -> bool {
    let mut intervals: Vec<_> = instance
        .workload
        .ceis()
        .flat_map(|cei| cei.intervals)
        .map(|interval| (interval.source(), interval.start(), interval.finish()))
        .collect();
    intervals.sort_unstable();
    let overlaps = |pair: &[(_, _, _)]| pair[0].0 == pair[1].0 && pair[1].1 <= pair[0].2;
    let mut chronons = dunlin_core::Chronon::first(instance.chronons);
    instance.costs.is_uniform()
        && !intervals.windows(2).any(overlaps)
        && chronons.all(|at| instance.budget.at(at).fract() == 0.0)
}

/// The largest weight of CEIs that need no more than so many intervals together.
fn heaviest(workload: &Workload, intervals: f64) -> f64 {
    let mut ceis: Vec<(f64, f64)> = workload.ceis().map(|cei| (cei.weight, f64::from(cei.need))).collect();
    ceis.sort_by(|(a, n), (b, m)| (b / m).total_cmp(&(a / n)));
    let mut left = intervals;
    let mut weight = 0.0;
    for (worth, need) in ceis {
        let share = (left / need).clamp(0.0, 1.0);
        weight += share * worth;
        left -= share * need;
    }
    weight
}
