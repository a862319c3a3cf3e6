//! Optima and bounds of the reference workloads: what an independent program and solvers have found.

use dunlin_core::{Budget, Costs};
use dunlin_lab::optimum::bounds;
use dunlin_lab::planners::PlannerName;
use dunlin_sched::plan::intervals::Instance;

use super::workload;
use crate::optimum::{LIMIT, plan};

#[test]
fn the_planner_for_any_size_comes_close_to_the_bound() {
    // The share of the bound that has to be captured, in percent; on unit widths the bound itself is loose.
    for (name, percent) in [("base-0", 97), ("overwrite-0", 97), ("unit-0", 91)] {
        let planned = plan(&workload(name), 1.0, PlannerName::Offline);
        let (weight, bound) = (planned.run.score.weight_captured, planned.guarantee.unwrap().bound);
        assert!(
            weight <= bound && weight * 100.0 >= bound * f64::from(percent),
            "{name}: {weight} of {bound}"
        );
        assert!(name != "unit-0" || weight >= 315.0, "{weight}");
    }
}

#[test]
fn an_optimum_that_the_relaxation_proves() {
    let planned = plan(&workload("popular-0"), 1.0, PlannerName::Exact);
    let guarantee = planned.guarantee.unwrap();
    assert!(guarantee.is_proven);
    assert_eq!((planned.run.score.captured, guarantee.bound), (1594, 1594.0));
}

#[test]
fn bounds_agree_with_those_of_an_independent_program() {
    for (name, per_chronon, lp) in
        [("base-0", 1.0, 1049.66), ("budget2-1", 2.0, 1555.6), ("unit-2", 1.0, 334.54)]
    {
        let (workload, budget, costs) =
            (workload(name), Budget::constant(per_chronon).unwrap(), Costs::uniform());
        let instance = Instance { workload: &workload, chronons: 1000, budget: &budget, costs: &costs };
        let bounds = bounds(instance, LIMIT).unwrap();
        assert!(bounds.lp_at_least <= bounds.lp && bounds.lp <= bounds.single_ei, "{name}: {bounds:?}");
        assert!(bounds.lp_at_least - 0.05 <= lp && lp <= bounds.lp + 0.05, "{name}: {bounds:?}");
        assert!(bounds.lp - lp < 0.05, "{name}: {bounds:?}");
    }
}

#[cfg(feature = "highs")]
#[test]
fn optima_that_only_the_solver_proves() {
    for (name, per_chronon, optimum) in
        [("base-0", 1.0, 1049), ("budget2-0", 2.0, 1572), ("overwrite-0", 1.0, 917)]
    {
        let planned = plan(&workload(name), per_chronon, PlannerName::Exact);
        assert!(planned.guarantee.unwrap().is_proven, "{name}");
        assert_eq!(planned.run.score.captured, optimum, "{name}");
    }
}
