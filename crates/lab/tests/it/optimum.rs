//! Exact optima and bounds on whole workloads, through the names that users give.

use std::time::Duration;

use dunlin_core::{Budget, Chronon, Costs, ExecutionInterval, Need, SourceIdx, Workload};
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_lab::optimum::{SolutionMethod, bounds};
use dunlin_lab::planners::{PlannerName, SchedulerName, ScoredPlan};
use dunlin_lab::policies::PolicyName;
use dunlin_sched::plan::intervals::{Instance, enumerate};
use dunlin_sched::score::check_budget;
use proptest::prelude::*;

/// Long enough for a slow machine; nothing here should come near it.
pub(crate) const LIMIT: Duration = Duration::from_mins(10);

/// The papers' workload at a third of its size.
fn workload(seed: u64, length: IntervalLength) -> Workload {
    let updates = PoissonUpdates { sources: 300, chronons: 300, lambda: 20.0 };
    let profiles = AuctionWatch { profiles: 30, length, ..AuctionWatch::default() };
    profiles.generate(&updates.generate(seed).unwrap(), &updates.names(), seed).unwrap().workload
}

pub(crate) fn plan(workload: &Workload, per_chronon: f64, name: PlannerName) -> ScoredPlan {
    let (budget, costs) = (Budget::constant(per_chronon).unwrap(), Costs::uniform());
    let instance = Instance { workload, chronons: 1000, budget: &budget, costs: &costs };
    let planned = name.plan(instance, 0, LIMIT).unwrap();
    check_budget(&planned.run.schedule, &budget, &costs, 1000).unwrap();
    planned
}

#[test]
fn the_planner_for_any_size_comes_close_to_the_bound() {
    for length in [IntervalLength::Window(10), IntervalLength::Overwrite, IntervalLength::Window(0)] {
        for seed in 1..4 {
            let planned = plan(&workload(seed, length), 1.0, PlannerName::Offline);
            let (weight, bound) = (planned.run.score.weight_captured, planned.guarantee.unwrap().bound);
            assert!(weight <= bound && weight >= 0.985 * bound, "{length:?} {seed}: {weight} of {bound}");
        }
    }
}

/// Plan and bound meet, on instances that have far too many schedules to be tried.
#[test]
fn an_optimum_that_the_relaxation_proves() {
    for (seed, length, per_chronon, optimum) in [
        (3, IntervalLength::Window(10), 2.0, 505),
        (2, IntervalLength::Overwrite, 1.0, 230),
        (3, IntervalLength::Overwrite, 1.0, 253),
        (2, IntervalLength::Window(0), 1.0, 173),
    ] {
        let planned = plan(&workload(seed, length), per_chronon, PlannerName::Exact);
        let guarantee = planned.guarantee.unwrap();
        assert!(guarantee.is_proven, "{seed} {length:?}");
        assert_eq!(
            (planned.run.score.captured, guarantee.bound),
            (optimum, optimum as f64),
            "{seed} {length:?}"
        );
    }
}

#[test]
fn bounds_enclose_the_relaxation() {
    for (length, per_chronon) in [(IntervalLength::Window(10), 1.0), (IntervalLength::Window(0), 1.0)] {
        let (workload, costs) = (workload(1, length), Costs::uniform());
        let budget = Budget::constant(per_chronon).unwrap();
        let instance = Instance { workload: &workload, chronons: 1000, budget: &budget, costs: &costs };
        let bounds = bounds(instance, LIMIT).unwrap();
        assert!(bounds.lp_at_least <= bounds.lp && bounds.lp <= bounds.single_ei, "{bounds:?}");
        assert!(bounds.lp - bounds.lp_at_least < 1e-4 * bounds.lp, "{bounds:?}");
        let captured = plan(&workload, per_chronon, PlannerName::Offline).run.score.weight_captured;
        assert!(captured <= bounds.lp + 1e-6, "{captured} of {bounds:?}");
    }
}

#[test]
fn planners_have_names() {
    let parse = |name: &str| name.parse::<SchedulerName>();
    assert_eq!(parse("local-ratio").unwrap(), SchedulerName::Planner(PlannerName::LocalRatio));
    assert_eq!(parse("mrsf").unwrap(), SchedulerName::Policy(PolicyName::Mrsf));
    let refused = parse("optimal").unwrap_err().to_string();
    assert!(refused.ends_with("m-edf, marginal, live, local-ratio, offline, exact)"), "{refused}");
}

/// Up to 7 CEIs of up to 3 intervals over 3 sources and 5 chronons: all their schedules can be tried.
fn tiny() -> impl Strategy<Value = Workload> {
    let interval = |(source, start, width): (u32, u32, u32)| {
        let chronon = |number: u32| Chronon::new(number.min(5)).unwrap();
        ExecutionInterval::new(SourceIdx(source), chronon(start), chronon(start + width)).unwrap()
    };
    let ei = (0..3u32, 1..6u32, 0..4u32).prop_map(interval);
    let weight = prop_oneof![2 => Just(1.0), 1 => Just(2.0), 1 => 0.0..3.0f64];
    let cei = (prop::collection::vec(ei, 1..4), any::<Option<u8>>(), weight);
    prop::collection::vec(cei, 1..8).prop_map(|ceis| {
        let mut workload = Workload::new();
        let profile = workload.add_profile();
        for (eis, need, weight) in ceis {
            let need = need.map_or(Need::All, |need| Need::Any(u32::from(need) % eis.len() as u32 + 1));
            workload.push(profile, &eis, need, weight).unwrap();
        }
        workload
    })
}

/// Whole, fractional and uneven ones.
fn budget() -> impl Strategy<Value = Budget> {
    let even = prop_oneof![Just(1.0), Just(2.0), Just(0.5), Just(1.5), Just(0.25)];
    let uneven = prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(2.0)], 5);
    prop_oneof![even.prop_map(|grant| vec![grant; 5]), uneven]
        .prop_map(|grants| Budget::per_chronon(grants).unwrap())
}

fn costs() -> impl Strategy<Value = Costs> {
    let unequal = prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), Just(0.5)], 3);
    prop_oneof![2 => Just(Costs::uniform()), 1 => unequal.prop_map(|costs| Costs::per_source(costs).unwrap())]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// In every build: what has no solver proves tiny instances by its bound, or tries every schedule.
    #[test]
    fn exact_finds_what_enumeration_finds(workload in tiny(), budget in budget(), costs in costs()) {
        let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
        let best = enumerate(instance, 1_000_000).unwrap().weight;
        let ScoredPlan { run, guarantee } = PlannerName::Exact.plan(instance, 0, LIMIT).unwrap();
        check_budget(&run.schedule, &budget, &costs, 5).unwrap();
        let (weight, guarantee) = (run.score.weight_captured, guarantee.unwrap());
        prop_assert!(guarantee.is_proven && (weight - best).abs() < 1e-6, "{weight} instead of {best}");
        prop_assert!((guarantee.bound - best).abs() < 1e-5, "{} instead of {best}", guarantee.bound);
        let bounds = bounds(instance, LIMIT).unwrap();
        prop_assert!(bounds.lp >= best - 1e-6 && bounds.single_ei >= best - 1e-6, "{bounds:?} below {best}");
    }
}

/// Three CEIs of which each excludes the others, so many times over. The relaxation captures half of each.
fn rings(copies: u32) -> Workload {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for copy in 0..copies {
        for (source, chronons) in [(0, [1, 2]), (2, [2, 3]), (4, [3, 1])] {
            let own = [source, source + 1].into_iter().zip(chronons).map(|(source, chronon)| {
                let at = Chronon::new(3 * copy + chronon).unwrap();
                ExecutionInterval::new(SourceIdx(source), at, at).unwrap()
            });
            workload.push(profile, &own.collect::<Vec<_>>(), Need::All, 1.0).unwrap();
        }
    }
    workload
}

#[test]
fn what_no_bound_proves_is_enumerated_or_left_to_the_solver() {
    let planned = plan(&rings(2), 1.0, PlannerName::Exact);
    let guarantee = planned.guarantee.unwrap();
    assert_eq!((planned.run.score.captured, guarantee.bound, guarantee.is_proven), (2, 2.0, true));
    let expected = if cfg!(feature = "highs") { SolutionMethod::Highs } else { SolutionMethod::Enumeration };
    assert_eq!(guarantee.method, expected);
}

/// Better no answer than one that is not what was asked for.
#[cfg(not(feature = "highs"))]
#[test]
fn without_a_solver_what_cannot_be_enumerated_is_refused() {
    let (workload, budget, costs) = (rings(6), Budget::constant(1.0).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 1000, budget: &budget, costs: &costs };
    let refused = PlannerName::Exact.plan(instance, 0, LIMIT).unwrap_err().to_string();
    assert!(refused.contains("cargo build --release -p dunlin --features highs"), "{refused}");
}

#[cfg(feature = "highs")]
mod solver {
    use dunlin_lab::optimum::integer_program;
    use dunlin_sched::plan::intervals::{Grid, Tolerance, relax};
    use dunlin_sched::score::score_intervals;

    use super::*;

    #[test]
    fn optima_that_only_the_solver_proves() {
        let planned = plan(&rings(6), 1.0, PlannerName::Exact);
        assert_eq!((planned.run.score.captured, planned.guarantee.unwrap().is_proven), (6, true));
    }

    /// Whatever the time allowed, there is a schedule, and a bound that it keeps to.
    #[test]
    fn who_runs_out_of_time_has_a_schedule_and_a_bound() {
        let workload = workload(1, IntervalLength::Window(0));
        let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
        let instance = Instance { workload: &workload, chronons: 1000, budget: &budget, costs: &costs };
        for limit in [Duration::from_millis(1), Duration::from_secs(5)] {
            let ScoredPlan { run, guarantee } = PlannerName::Exact.plan(instance, 0, limit).unwrap();
            check_budget(&run.schedule, &budget, &costs, 1000).unwrap();
            let (weight, bound) = (run.score.weight_captured, guarantee.unwrap().bound);
            assert!(weight > 0.0 && weight <= bound, "{weight}, {bound}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn the_integer_program_finds_what_enumeration_finds(
            workload in tiny(), budget in budget(), costs in costs(),
        ) {
            let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
            let best = enumerate(instance, 1_000_000).unwrap().weight;
            let found = integer_program(instance, LIMIT).unwrap();
            check_budget(&found.schedule, &budget, &costs, 5).unwrap();
            let weight = score_intervals(&workload, &found.schedule).weight_captured;
            prop_assert!(found.is_proven && (weight - best).abs() < 1e-6, "{weight} instead of {best}");
            prop_assert!((found.bound - best).abs() < 1e-5, "{} instead of {best}", found.bound);
        }

        /// The first-order method and the solver agree on the relaxation, as far as the former claims.
        #[test]
        fn two_ways_to_the_relaxation(workload in tiny(), budget in budget(), costs in costs()) {
            let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
            let ours = relax(&Grid::new(instance).unwrap(), Tolerance::default(), || true);
            let theirs = bounds(instance, LIMIT).unwrap();
            prop_assert_eq!(theirs.method, SolutionMethod::Highs);
            prop_assert!(
                ours.at_least <= theirs.lp + 1e-6 && theirs.lp <= ours.bound + 1e-6, "{theirs:?} and {ours:?}"
            );
        }
    }
}
