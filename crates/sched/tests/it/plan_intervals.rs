//! Offline planning: everything against full enumeration, and the laws that hold at any size.

use dunlin_core::{Budget, Costs, ExecutionInterval, Need, Schedule, Workload};
use dunlin_sched::epoch::run_workload;
use dunlin_sched::plan::intervals::{
    Effort, Grid, Instance, Program, Tolerance, enumerate, local_ratio, offline, relax, single_ei_bound,
};
use dunlin_sched::policy::{Marginal, Policy, Preemption, Random, Ranked, RoundRobin, UpdateWic};
use dunlin_sched::score::{check_budget, score_intervals};
use proptest::prelude::*;

use crate::instances::{CHRONONS, budget, costs, interval, workload};

const FEW: Effort = Effort { rounds: 5, seed: 7 };

/// Up to 7 CEIs of up to 3 intervals over 3 sources and 5 chronons: all their schedules can be tried.
fn tiny() -> impl Strategy<Value = Workload> {
    let ei = (0..3u32, 1..6u32, 0..4u32)
        .prop_map(|(source, start, width)| interval(source, start, (start + width).min(5)));
    let weight = prop_oneof![2 => Just(1.0), 1 => Just(2.0), 1 => 0.0..3.0f64];
    let cei = (prop::collection::vec(ei, 1..4), any::<Option<u8>>(), weight);
    prop::collection::vec(cei, 1..8).prop_map(made_of)
}

pub(crate) fn made_of(ceis: Vec<(Vec<ExecutionInterval>, Option<u8>, f64)>) -> Workload {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for (eis, need, weight) in ceis {
        let need = need.map_or(Need::All, |need| Need::Any(u32::from(need) % eis.len() as u32 + 1));
        workload.push(profile, &eis, need, weight).unwrap();
    }
    workload
}

pub(crate) fn captured(instance: Instance<'_>, schedule: &Schedule) -> f64 {
    let Instance { workload, chronons, budget, costs } = instance;
    check_budget(schedule, budget, costs, chronons).unwrap();
    score_intervals(workload, schedule).weight_captured
}

fn online(instance: Instance<'_>, policy: &mut dyn Policy) -> f64 {
    let schedule = run_workload(policy, instance.workload, instance.chronons, instance.budget, |_| ());
    captured(instance, &schedule)
}

/// What every online policy captures.
fn policies(instance: Instance<'_>) -> Vec<f64> {
    let Instance { workload, budget, costs, .. } = instance;
    let n_sources = workload.n_sources();
    let mut policies: Vec<Box<dyn Policy>> = vec![
        Box::new(Marginal::new(budget, costs.clone())),
        Box::new(UpdateWic::new(n_sources, costs.clone())),
        Box::new(RoundRobin::new(n_sources as u32, costs.clone())),
        Box::new(Random::new(n_sources as u32, costs.clone(), 3)),
    ];
    for preemption in [Preemption::Preemptive, Preemption::NonPreemptive] {
        policies.push(Box::new(Ranked::s_edf(preemption, costs.clone())));
        policies.push(Box::new(Ranked::mrsf(preemption, costs.clone())));
        policies.push(Box::new(Ranked::m_edf(preemption, costs.clone())));
    }
    policies.iter_mut().map(|policy| online(instance, &mut **policy)).collect()
}

/// Sums in another order differ in the last bits.
pub(crate) const ROUNDING: f64 = 1e-6;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn nothing_beats_enumeration_and_no_bound_lies_below_it(
        workload in tiny(), costs in costs(3), budget in budget(5),
    ) {
        let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
        let best = enumerate(instance, 1_000_000).unwrap();
        prop_assert!((captured(instance, &best.schedule) - best.weight).abs() < ROUNDING);
        let plan = offline(instance, FEW, || true).unwrap();
        let approximate = captured(instance, &local_ratio(instance).unwrap());
        for weight in [captured(instance, &plan.schedule), approximate].into_iter().chain(policies(instance)) {
            prop_assert!(weight <= best.weight + ROUNDING, "{weight} beats {}", best.weight);
        }
        if plan.is_proven {
            prop_assert!(captured(instance, &plan.schedule) >= best.weight - ROUNDING);
        }
        let single = single_ei_bound(instance, || true).unwrap();
        let grid = Grid::new(instance).unwrap();
        let relaxation = relax(&grid, Tolerance::default(), || true);
        for bound in [plan.bound, relaxation.bound, single.weight] {
            prop_assert!(bound >= best.weight - ROUNDING, "{bound} below {}", best.weight);
        }
        prop_assert!(relaxation.at_least <= relaxation.bound + ROUNDING);
    }

    /// The program's optimum is therefore no worse than the best schedule; that it is no better is for those
    /// to show who have a solver.
    #[test]
    fn the_best_schedule_is_a_point_of_the_program(workload in tiny(), costs in costs(3), budget in budget(5)) {
        let instance = Instance { workload: &workload, chronons: 5, budget: &budget, costs: &costs };
        let best = enumerate(instance, 1_000_000).unwrap();
        let grid = Grid::new(instance).unwrap();
        let program = Program::new(&grid);
        let values = program.values(&grid.pairs_of(&best.schedule));
        for row in program.rows() {
            let sum: f64 = row.columns.iter().zip(row.coefficients).map(|(&x, c)| values[x as usize] * c).sum();
            prop_assert!(sum <= row.at_most + ROUNDING, "{row:?}");
        }
        let worth: f64 = values.iter().zip(program.weights()).map(|(x, weight)| x * weight).sum();
        prop_assert!(worth + grid.secured() >= best.weight - ROUNDING, "{worth} of {}", best.weight);
        // And back: what the program says is probed captures what it says is captured.
        let again = grid.schedule(&program.probed(&values));
        prop_assert!(captured(instance, &again) >= best.weight - ROUNDING);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn plans_lie_between_the_policies_and_the_bounds(
        workload in workload(), costs in costs(8), budget in budget(CHRONONS as usize),
    ) {
        let instance = Instance { workload: &workload, chronons: CHRONONS, budget: &budget, costs: &costs };
        let plan = offline(instance, FEW, || true).unwrap();
        let planned = captured(instance, &plan.schedule);
        prop_assert!(planned >= online(instance, &mut Marginal::new(&budget, costs.clone())) - ROUNDING);
        let single = single_ei_bound(instance, || true).unwrap().weight;
        let approximate = captured(instance, &local_ratio(instance).unwrap());
        for weight in [planned, approximate].into_iter().chain(policies(instance)) {
            prop_assert!(weight <= plan.bound + ROUNDING && weight <= single + ROUNDING);
        }
        prop_assert_eq!(offline(instance, FEW, || true).unwrap().schedule, plan.schedule);
    }

    /// A plan that is cut short is a plan.
    #[test]
    fn a_plan_that_is_stopped_early_still_has_a_schedule_and_a_bound(workload in workload(), patience in 0..20u32) {
        let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
        let instance = Instance { workload: &workload, chronons: CHRONONS, budget: &budget, costs: &costs };
        let mut left = patience;
        let patient = || {
            left = left.saturating_sub(1);
            left > 0
        };
        let plan = offline(instance, FEW, patient).unwrap();
        let weight = captured(instance, &plan.schedule);
        prop_assert!(weight <= plan.bound + ROUNDING);
        prop_assert!(weight >= online(instance, &mut Marginal::new(&budget, costs.clone())) - ROUNDING);
    }
}

/// One probe per chronon and four chronons. A (weight 3) needs a@1 and b@2; B and C (weight 2 each) need one of
/// those chronons for another source; D needs any two of three.
#[test]
fn an_instance_worked_out_by_hand() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    let mut push = |intervals: &[ExecutionInterval], need, weight| {
        workload.push(profile, intervals, need, weight).unwrap();
    };
    push(&[interval(0, 1, 1), interval(1, 2, 2)], Need::All, 3.0);
    push(&[interval(2, 1, 1)], Need::All, 2.0);
    push(&[interval(3, 2, 2)], Need::All, 2.0);
    push(&[interval(0, 3, 3), interval(1, 3, 4), interval(2, 3, 4)], Need::Any(2), 1.0);
    let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 4, budget: &budget, costs: &costs };
    // c@1, d@2, then two of D's three: 2 + 2 + 1.
    assert_eq!(enumerate(instance, 10_000).unwrap().weight, 5.0);
    let plan = offline(instance, Effort::default(), || true).unwrap();
    assert_eq!((captured(instance, &plan.schedule), plan.bound, plan.is_proven), (5.0, 5.0, true));
    // Four single intervals at most. B and C are worth 2 an interval, A 1.5: 2 + 2 + 3.
    let single = single_ei_bound(instance, || true).unwrap();
    assert_eq!((single.intervals, single.weight), (4.0, 7.0));
}

#[test]
fn what_takes_nothing_from_anybody_is_decided_at_once() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    // Alone in its chronons; then two that want the same chronon, one of which can do without.
    for intervals in [vec![interval(0, 1, 9)], vec![interval(1, 10, 10)], vec![interval(2, 10, 11)]] {
        workload.push(profile, &intervals, Need::All, 1.0).unwrap();
    }
    let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 1_000_000, budget: &budget, costs: &costs };
    let grid = Grid::new(instance).unwrap();
    assert_eq!((grid.secured(), grid.undecided()), (3.0, 0.0));
    assert_eq!(captured(instance, &grid.schedule(&[])), 3.0);
}

/// The heaviest weights allowed, beside the lightest.
#[test]
fn weights_of_any_size() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for (source, weight) in [(0, 1e100), (1, 3e99), (2, 1e-30)] {
        workload.push(profile, &[interval(source, 1, 1)], Need::All, weight).unwrap();
    }
    let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 1, budget: &budget, costs: &costs };
    let plan = offline(instance, FEW, || true).unwrap();
    assert_eq!(captured(instance, &plan.schedule), 1e100);
    assert!((1e100..1.001e100).contains(&plan.bound), "{}", plan.bound);
}

#[test]
fn an_epoch_too_long_to_hold_is_refused() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    workload.push(profile, &[interval(0, 1, 100_000_000)], Need::All, 1.0).unwrap();
    let (budget, costs) = (Budget::constant(0.5).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 200_000_000, budget: &budget, costs: &costs };
    let refused = offline(instance, FEW, || true).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "100000000 chronons with fractional budgets or unequal costs are too many to plan with (at most \
         20000000; try a shorter epoch or fewer needs)"
    );
    assert!(enumerate(instance, 1_000).unwrap_err().to_string().starts_with("100000000 chronons"));
}

/// The search is as deep as the epoch is long: what would exhaust the stack is refused before it begins.
#[test]
fn enumeration_refuses_what_is_too_deep_for_it() {
    let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
    let refused = |n_sources: u32, finish: u32| {
        let mut workload = Workload::new();
        let profile = workload.add_profile();
        for source in 0..n_sources {
            workload.push(profile, &[interval(source, 1, finish)], Need::All, 1.0).unwrap();
        }
        let instance = Instance { workload: &workload, chronons: finish, budget: &budget, costs: &costs };
        enumerate(instance, u64::MAX).unwrap_err().to_string()
    };
    assert!(refused(1, 3_000).starts_with("3000 chronons are too many"));
    assert!(refused(3_000, 1).starts_with("3000 intervals are too many"));
    assert!(refused(9, 1_000).starts_with("10000 pairs of a chronon and a source are too many"));
}
