//! Exact optima and bounds on whole workloads, through the names that users give.

use std::time::Duration;

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::files::IntervalsFile;
use dunlin_lab::generate::{AuctionWatch, PoissonUpdates};
use dunlin_lab::optimum::bounds;
use dunlin_lab::planners::{Planned, PlannerName, SchedulerName};
use dunlin_lab::policies::PolicyName;
use dunlin_sched::plan::intervals::Instance;
use dunlin_sched::score::check_budget;

use crate::fixtures::shared;

/// Long enough for a slow machine; nothing here should come near it.
const LIMIT: Duration = Duration::from_mins(10);

/// The workload of that name, or a small one made here.
fn workload(name: &str) -> (Workload, bool) {
    if let Some(path) = shared(&format!("fixtures/cei/{name}.csv.gz")) {
        return (IntervalsFile::open(&path, 1000).unwrap().workload, true);
    }
    let updates = PoissonUpdates { sources: 100, ..PoissonUpdates::default() };
    let profiles = AuctionWatch { profiles: 20, ..AuctionWatch::default() };
    (profiles.generate(&updates.generate(1).unwrap(), &updates.names(), 1).unwrap().workload, false)
}

fn plan(workload: &Workload, per_chronon: f64, name: PlannerName) -> Planned {
    let (budget, costs) = (Budget::constant(per_chronon).unwrap(), Costs::uniform());
    let instance = Instance { workload, chronons: 1000, budget: &budget, costs: &costs };
    let planned = name.plan(instance, 0, LIMIT).unwrap();
    check_budget(&planned.run.schedule, &budget, &costs, 1000).unwrap();
    planned
}

#[test]
fn the_planner_for_any_size_comes_close_to_the_bound() {
    // The share of the bound that has to be captured, in percent; on unit widths the bound itself is loose.
    for (name, percent) in [("base-0", 97), ("overwrite-0", 97), ("unit-0", 91)] {
        let (workload, is_theirs) = workload(name);
        let planned = plan(&workload, 1.0, PlannerName::Offline);
        let (weight, bound) = (planned.run.score.weight_captured, planned.guarantee.unwrap().bound);
        assert!(
            weight <= bound && weight * 100.0 >= bound * f64::from(percent),
            "{name}: {weight} of {bound}"
        );
        if is_theirs && name == "unit-0" {
            assert!(weight >= 315.0, "{weight}");
        }
    }
}

#[test]
fn an_optimum_that_the_relaxation_proves() {
    let (workload, is_theirs) = workload("popular-0");
    let planned = plan(&workload, 1.0, PlannerName::Exact);
    let guarantee = planned.guarantee.unwrap();
    if is_theirs {
        assert!(guarantee.is_proven);
        assert_eq!((planned.run.score.captured, guarantee.bound), (1594, 1594.0));
    }
    assert!(planned.run.score.weight_captured <= guarantee.bound);
}

#[test]
fn bounds_agree_with_those_of_an_independent_program() {
    for (name, per_chronon, lp) in
        [("base-0", 1.0, 1049.66), ("budget2-1", 2.0, 1555.6), ("unit-2", 1.0, 334.54)]
    {
        let (workload, is_theirs) = workload(name);
        let (budget, costs) = (Budget::constant(per_chronon).unwrap(), Costs::uniform());
        let instance = Instance { workload: &workload, chronons: 1000, budget: &budget, costs: &costs };
        let bounds = bounds(instance, LIMIT).unwrap();
        assert!(bounds.lp_at_least <= bounds.lp && bounds.lp <= bounds.single_ei, "{name}: {bounds:?}");
        if is_theirs {
            assert!(bounds.lp_at_least - 0.05 <= lp && lp <= bounds.lp + 0.05, "{name}: {bounds:?}");
            assert!(bounds.lp - lp < 0.05, "{name}: {bounds:?}");
        }
    }
}

#[test]
fn planners_have_names() {
    let parse = |name: &str| name.parse::<SchedulerName>();
    assert_eq!(parse("local-ratio").unwrap(), SchedulerName::Planner(PlannerName::LocalRatio));
    assert_eq!(parse("mrsf").unwrap(), SchedulerName::Policy(PolicyName::Mrsf));
    let refused = parse("optimal").unwrap_err().to_string();
    assert!(refused.ends_with("m-edf, marginal, local-ratio, offline, exact)"), "{refused}");
}

#[cfg(feature = "highs")]
mod solver {
    use dunlin_core::{Chronon, ExecutionInterval, Need, SourceIdx};
    use dunlin_lab::optimum::integer_program;
    use dunlin_sched::plan::intervals::enumerate;
    use dunlin_sched::score::score_intervals;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_optimum_that_only_the_solver_proves() {
        let (workload, is_theirs) = workload("budget2-0");
        let planned = plan(&workload, 2.0, PlannerName::Exact);
        assert!(planned.guarantee.unwrap().is_proven);
        if is_theirs {
            assert_eq!(planned.run.score.captured, 1572);
        }
    }

    fn interval(source: u32, start: u32, finish: u32) -> ExecutionInterval {
        let chronon = |number| Chronon::new(number).unwrap();
        ExecutionInterval::new(SourceIdx(source), chronon(start), chronon(finish)).unwrap()
    }

    fn tiny() -> impl Strategy<Value = Workload> {
        let ei = (0..3u32, 1..6u32, 0..4u32)
            .prop_map(|(r, start, width)| interval(r, start, (start + width).min(5)));
        let weight = prop_oneof![2 => Just(1.0), 1 => Just(2.0), 1 => 0.0..3.0f64];
        prop::collection::vec((prop::collection::vec(ei, 1..4), any::<Option<u8>>(), weight), 1..8).prop_map(
            |ceis| {
                let mut workload = Workload::new();
                let profile = workload.add_profile();
                for (eis, need, weight) in ceis {
                    let need =
                        need.map_or(Need::All, |need| Need::Any(u32::from(need) % eis.len() as u32 + 1));
                    workload.push(profile, &eis, need, weight).unwrap();
                }
                workload
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_integer_program_finds_what_enumeration_finds(
            workload in tiny(),
            grants in prop_oneof![
                prop_oneof![Just(1.0), Just(2.0), Just(0.5), Just(1.5), Just(0.25)].prop_map(|grant| vec![grant; 5]),
                prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(2.0)], 5),
            ],
            costs in prop_oneof![
                2 => Just(Costs::uniform()),
                1 => prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), Just(0.5)], 3)
                    .prop_map(|costs| Costs::per_source(costs).unwrap()),
            ],
        ) {
            let budget = Budget::per_chronon(grants).unwrap();
            let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
            let best = enumerate(instance, 1_000_000).unwrap().weight;
            let found = integer_program(instance, LIMIT).unwrap();
            check_budget(&found.schedule, &budget, &costs, 5).unwrap();
            let weight = score_intervals(&workload, &found.schedule).weight_captured;
            prop_assert!(found.is_proven && (weight - best).abs() < 1e-6, "{weight} instead of {best}");
            prop_assert!((found.bound - best).abs() < 1e-5, "{} instead of {best}", found.bound);
            let planned = PlannerName::Exact.plan(instance, 0, LIMIT).unwrap();
            prop_assert!((planned.run.score.weight_captured - best).abs() < 1e-6);
            prop_assert!(planned.guarantee.unwrap().is_proven);
        }
    }
}
