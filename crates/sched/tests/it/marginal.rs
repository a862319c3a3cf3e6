//! The marginal policy: it chooses what its plain version chooses, keeps to its limits, knows nothing of the
//! future, and is worth having.

use dunlin_core::{
    Allowance, Budget, Chronon, Costs, ExecutionInterval, Need, Observation, Outcome, Schedule, SourceIdx,
    Workload,
};
use dunlin_sched::epoch::run_workload;
use dunlin_sched::plain::PlainMarginal;
use dunlin_sched::policy::{Arrival, Marginal, Policy, Preemption, Ranked};
use dunlin_sched::score::{check_budget, score_intervals};
use proptest::prelude::*;

use crate::fast_is_plain::{SOURCES, announce_ceis, compare, failures};
use crate::instances::{CHRONONS, budget, chronon, costs, interval, workload};

/// Tells of a CEI some chronons after its release.
fn announce_late(workload: &Workload, delay: u32) -> impl FnMut(Chronon, &mut dyn Policy) {
    move |now, policy| {
        for cei in workload.ceis().filter(|cei| cei.release().plus(delay * (cei.idx.0 % 3)) == now) {
            policy.arrive(now, Arrival::Cei(cei));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn chooses_what_its_plain_version_chooses(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize), failures in failures(),
    ) {
        let mut fast = Marginal::new(&budget, costs.clone());
        let mut plain = PlainMarginal::new(&budget, costs);
        compare(&mut fast, &mut plain, &budget, &failures, announce_ceis(&workload))?;
    }

    #[test]
    fn chooses_what_its_plain_version_chooses_when_told_late(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize), delay in 1..5u32,
    ) {
        let mut fast = Marginal::new(&budget, costs.clone());
        let mut plain = PlainMarginal::new(&budget, costs);
        compare(&mut fast, &mut plain, &budget, &[false], announce_late(&workload, delay))?;
    }

    #[test]
    fn never_breaks_the_budget_or_probes_twice(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize),
    ) {
        let mut policy = Marginal::new(&budget, costs.clone());
        let schedule = run_workload(&mut policy, &workload, CHRONONS, &budget, |_| ());
        prop_assert_eq!(check_budget(&schedule, &budget, &costs, CHRONONS), Ok(()));
        for (_, probes) in schedule.by_chronon() {
            let mut sources: Vec<_> = probes.iter().map(|probe| probe.source).collect();
            sources.sort_unstable();
            sources.dedup();
            prop_assert_eq!(sources.len(), probes.len());
        }
    }

    /// Two worlds that are alike up to some chronon see the same choices up to it.
    #[test]
    fn knows_nothing_of_the_future(
        past in workload(), future in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize),
        parting in 1..=CHRONONS,
    ) {
        let run = |future: Option<&Workload>| {
            let mut policy = Marginal::new(&budget, costs.clone());
            let mut announce_past = announce_ceis(&past);
            let mut announce_future = future.map(announce_ceis);
            dunlin_sched::epoch::run(&mut policy, parting, &budget, |now, policy| {
                announce_past(now, policy);
                if let Some(announce) = announce_future.as_mut().filter(|_| now == chronon(parting)) {
                    announce(now, policy);
                }
            })
        };
        let until = |schedule: &Schedule| {
            schedule.probes().iter().filter(|probe| probe.chronon < chronon(parting)).copied().collect::<Vec<_>>()
        };
        prop_assert_eq!(until(&run(None)), until(&run(Some(&future))));
    }
}

/// Needs of one to three intervals ten chronons wide, more of them than one probe per chronon can serve.
fn crowd(seed: u64) -> Workload {
    let mut state = seed;
    let mut draw = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as u32
    };
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for _ in 0..900 {
        let first = 1 + draw(500);
        let eis: Vec<ExecutionInterval> = (0..=draw(3))
            .map(|_| {
                let start = first + draw(30);
                interval(draw(60), start, start + 9)
            })
            .collect();
        workload.push(profile, &eis, Need::All, 1.0).unwrap();
    }
    workload
}

#[test]
fn captures_more_than_mrsf_where_needs_compete() {
    let budget = Budget::constant(1.0).unwrap();
    let (mut marginal, mut mrsf) = (0, 0);
    for seed in 0..6 {
        let workload = crowd(seed);
        let captured = |policy: &mut dyn Policy| {
            let schedule = run_workload(policy, &workload, 540, &budget, |_| ());
            score_intervals(&workload, &schedule).captured
        };
        marginal += captured(&mut Marginal::new(&budget, Costs::uniform()));
        mrsf += captured(&mut Ranked::mrsf(Preemption::Preemptive, Costs::uniform()));
    }
    assert!(marginal > mrsf, "{marginal} against {mrsf}");
}

#[test]
fn chooses_what_its_plain_version_chooses_in_a_crowd() {
    let workload = crowd(3);
    for grant in [0.3, 1.0, 2.5] {
        let budget = Budget::constant(grant).unwrap();
        let fast =
            run_workload(&mut Marginal::new(&budget, Costs::uniform()), &workload, 540, &budget, |_| ());
        let plain =
            run_workload(&mut PlainMarginal::new(&budget, Costs::uniform()), &workload, 540, &budget, |_| ());
        assert_eq!(fast, plain);
    }
}

fn single(source: u32, start: u32, finish: u32, weight: f64) -> Workload {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    workload.push(profile, &[interval(source, start, finish)], Need::All, weight).unwrap();
    workload
}

fn choices(policy: &mut dyn Policy, now: u32, left: f64) -> Vec<SourceIdx> {
    let mut chosen = Vec::new();
    policy.choose(chronon(now), &mut Allowance::of(left), &mut chosen);
    chosen
}

#[test]
fn windows_without_end_and_weights_without_measure() {
    let budget = Budget::constant(1.0).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    for (source, weight) in [(0, 1e100), (1, f64::MIN_POSITIVE), (2, 0.0), (3, 1.0)] {
        let workload = single(source, 1, u32::MAX, weight);
        policy.arrive(chronon(1), Arrival::Cei(workload.ceis().next().unwrap()));
        let workload = single(source, u32::MAX, u32::MAX, weight);
        policy.arrive(chronon(1), Arrival::Cei(workload.ceis().next().unwrap()));
    }
    assert_eq!(choices(&mut policy, 1, 1.0), [SourceIdx(0)]);
}

#[test]
fn the_last_chronons_are_chronons_like_others() {
    let budget = Budget::constant(0.5).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    let mut n_chosen = 0;
    for now in u32::MAX - 9..=u32::MAX {
        let workload = single(now % 3, now, u32::MAX, 1.0);
        policy.arrive(chronon(now), Arrival::Cei(workload.ceis().next().unwrap()));
        for source in choices(&mut policy, now, f64::from(now % 2)) {
            policy.observe(Observation { source, at: chronon(now), outcome: Outcome::Read });
            n_chosen += 1;
        }
    }
    assert_eq!(n_chosen, 5);
}

#[test]
fn without_a_budget_nothing_is_chosen_and_nothing_breaks() {
    let budget = Budget::constant(0.0).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    let workload = crowd(1);
    assert!(run_workload(&mut policy, &workload, 540, &budget, |_| ()).probes().is_empty());
    // Whoever grants something all the same is served.
    let late = single(0, 541, 545, 1.0);
    policy.arrive(chronon(541), Arrival::Cei(late.ceis().next().unwrap()));
    assert_eq!(choices(&mut policy, 541, 1.0), [SourceIdx(0)]);
}

#[test]
fn a_failed_probe_is_tried_again() {
    let budget = Budget::constant(1.0).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    let workload = single(4, 1, 3, 1.0);
    policy.arrive(chronon(1), Arrival::Cei(workload.ceis().next().unwrap()));
    let mut outcomes = Vec::new();
    for (now, outcome) in [(1, Outcome::Failed), (2, Outcome::Read), (3, Outcome::Read)] {
        let chosen = choices(&mut policy, now, 1.0);
        for &source in &chosen {
            policy.observe(Observation { source, at: chronon(now), outcome });
        }
        outcomes.push(chosen.len());
    }
    assert_eq!(outcomes, [1, 1, 0]);
}

#[test]
fn a_need_that_pays_for_a_dear_probe_displaces_several_cheap_ones() {
    let budget = Budget::constant(2.0).unwrap();
    let costs = Costs::per_source(vec![1.0, 1.0, 2.0]).unwrap();
    let mut policy = Marginal::new(&budget, costs);
    for (source, weight) in [(0, 1.0), (1, 1.0), (2, 5.0)] {
        let workload = single(source, 1, 1, weight);
        policy.arrive(chronon(1), Arrival::Cei(workload.ceis().next().unwrap()));
    }
    assert_eq!(choices(&mut policy, 1, 2.0), [SourceIdx(2)]);
}

#[test]
fn a_need_of_many_intervals_is_captured() {
    let budget = Budget::constant(1.0).unwrap();
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    let eis: Vec<_> = (0..60).map(|source| interval(source, 1 + source / 2, 62)).collect();
    workload.push(profile, &eis, Need::All, 100.0).unwrap();
    workload.push(profile, &eis, Need::Any(20), 100.0).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    let schedule = run_workload(&mut policy, &workload, 62, &budget, |_| ());
    assert_eq!(score_intervals(&workload, &schedule).captured, 2);
}
