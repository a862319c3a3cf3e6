//! The papers' worked examples and propositions.

use dunlin_core::{Budget, Chronon, Costs, Need, SourceIdx, Workload};
use dunlin_sched::epoch::run_workload;
use dunlin_sched::policy::{Arrival, Policy, Preemption, Random, Ranked, RoundRobin, UpdateWic, Wic};
use dunlin_sched::score::score_intervals;
use dunlin_sched::value::{Life, Urgency, ValueModel};
use proptest::prelude::*;

use crate::instances::{CHRONONS, chronon, interval};

pub(crate) fn every_interval_policy(costs: &Costs, n_sources: usize, seed: u64) -> Vec<Box<dyn Policy>> {
    let mut policies: Vec<Box<dyn Policy>> = vec![
        Box::new(UpdateWic::new(n_sources, costs.clone())),
        Box::new(RoundRobin::new(n_sources as u32, costs.clone())),
        Box::new(Random::new(n_sources as u32, costs.clone(), seed)),
    ];
    for preemption in [Preemption::Preemptive, Preemption::NonPreemptive] {
        policies.push(Box::new(Ranked::s_edf(preemption, costs.clone())));
        policies.push(Box::new(Ranked::mrsf(preemption, costs.clone())));
        policies.push(Box::new(Ranked::m_edf(preemption, costs.clone())));
    }
    policies
}

/// Figure 5: two intervals of CEI 1 are captured; its third has 5 chronons left and its fourth is 14 long.
/// CEI 2 has just begun: 6 chronons left on its first interval, and 4 and 6 to come. One probe.
#[test]
fn figure_5_only_m_edf_leaves_the_cei_it_has_begun() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    let first = [interval(0, 1, 1), interval(1, 2, 2), interval(2, 3, 7), interval(3, 20, 33)];
    let second = [interval(4, 3, 8), interval(5, 9, 12), interval(6, 14, 19)];
    workload.push(profile, &first, Need::All, 1.0).unwrap();
    workload.push(profile, &second, Need::All, 1.0).unwrap();
    let budget = Budget::constant(1.0).unwrap();
    let third_probe = |policy: &mut dyn Policy| {
        run_workload(policy, &workload, 3, &budget, |_| ()).probes().last().map(|probe| probe.source)
    };
    let costs = Costs::uniform;
    assert_eq!(third_probe(&mut Ranked::s_edf(Preemption::Preemptive, costs())), Some(SourceIdx(2)));
    assert_eq!(third_probe(&mut Ranked::mrsf(Preemption::Preemptive, costs())), Some(SourceIdx(2)));
    assert_eq!(third_probe(&mut Ranked::m_edf(Preemption::Preemptive, costs())), Some(SourceIdx(4)));
    assert_eq!(third_probe(&mut Ranked::m_edf(Preemption::NonPreemptive, costs())), Some(SourceIdx(2)));
}

/// The most CEIs of rank 1 that any schedule captures, by trying everything.
fn best_of_all(workload: &Workload, now: u32, last: u32, captured: &mut Vec<bool>) -> usize {
    if now > last {
        return captured.iter().filter(|&&done| done).count();
    }
    let open: Vec<_> = workload
        .ceis()
        .filter(|cei| !captured[cei.idx.0 as usize] && cei.intervals[0].covers(chronon(now)))
        .map(|cei| cei.idx.0 as usize)
        .collect();
    let mut best = best_of_all(workload, now + 1, last, captured);
    for idx in open {
        captured[idx] = true;
        best = best.max(best_of_all(workload, now + 1, last, captured));
        captured[idx] = false;
    }
    best
}

proptest! {
    /// Proposition 1: rank 1, every interval on a source of its own, one probe per chronon.
    #[test]
    fn s_edf_is_optimal_for_simple_needs(
        intervals in prop::collection::vec((1..6u32, 0..4u32), 1..8),
    ) {
        let mut workload = Workload::new();
        let profile = workload.add_profile();
        for (source, (start, width)) in (0..).zip(intervals) {
            workload.push(profile, &[interval(source, start, start + width)], Need::All, 1.0).unwrap();
        }
        let budget = Budget::constant(1.0).unwrap();
        let mut s_edf = Ranked::s_edf(Preemption::Preemptive, Costs::uniform());
        let schedule = run_workload(&mut s_edf, &workload, 10, &budget, |_| ());
        let mut captured = vec![false; workload.n_ceis()];
        prop_assert_eq!(
            score_intervals(&workload, &schedule).captured,
            best_of_all(&workload, 1, 10, &mut captured)
        );
    }

    /// Proposition 3: intervals one chronon wide, profiles of one rank each and all alike.
    #[test]
    fn m_edf_and_mrsf_choose_alike_on_unit_intervals(
        ceis in prop::collection::vec(prop::collection::vec((0..8u32, 1..=CHRONONS), 3), 1..40),
        grant in 1..3u32,
    ) {
        let mut workload = Workload::new();
        let profile = workload.add_profile();
        for eis in ceis {
            let eis: Vec<_> = eis.into_iter().map(|(source, at)| interval(source, at, at)).collect();
            workload.push(profile, &eis, Need::All, 1.0).unwrap();
        }
        let budget = Budget::constant(f64::from(grant)).unwrap();
        let run = |mut policy: Ranked| run_workload(&mut policy, &workload, CHRONONS, &budget, |_| ());
        for preemption in [Preemption::Preemptive, Preemption::NonPreemptive] {
            let m_edf = run(Ranked::m_edf(preemption, Costs::uniform()));
            prop_assert_eq!(m_edf, run(Ranked::mrsf(preemption, Costs::uniform())));
        }
    }
}

/// WIC, section 4: one hot page (π') among |P|−1 cold ones (π), append, one probe per chronon. Timeliness
/// only: the hot page every time, N·π'. Completeness only: no schedule beats
/// N·π' + [(|P|−1)·N − |P|(|P|−1)/2]·π, which probes every page once in the last |P| chronons.
#[test]
fn one_hot_page_among_cold_ones() {
    const N: u32 = 200;
    const PAGES: u32 = 7;
    let (cold, hot) = (0.01, 0.05);
    let run = |urgency| {
        let model = ValueModel::new(Life::Append, urgency);
        let mut wic = Wic::uniform(model, PAGES as usize);
        let schedule = dunlin_sched::epoch::run(&mut wic, N, &Budget::constant(1.0).unwrap(), |now, wic| {
            for page in 0..PAGES {
                let probability = if page == 3 { hot } else { cold };
                wic.arrive(now, Arrival::Change { source: SourceIdx(page), probability });
            }
        });
        let mut utility = 0.0;
        for (page, probes) in (0..).zip(schedule.by_source(PAGES as usize)) {
            let probability = if page == 3 { hot } else { cold };
            let all = vec![probability; N as usize];
            let mut last = 0;
            for probe in probes.iter().map(|at: &Chronon| at.get()) {
                utility += dunlin_sched::value::expected_utility(&model, &all, last, probe);
                last = probe;
            }
        }
        (schedule, utility)
    };
    let (timely, utility) = run(Urgency::Sliding(0));
    assert!(timely.probes().iter().all(|probe| probe.source == SourceIdx(3)));
    assert_eq!(timely.probes().len(), N as usize);
    assert!((utility - f64::from(N) * hot).abs() < 1e-9);

    let (complete, utility) = run(Urgency::Uniform);
    let (n, pages) = (f64::from(N), f64::from(PAGES));
    let best = n * hot + ((pages - 1.0) * n - pages * (pages - 1.0) / 2.0) * cold;
    assert!(utility <= best + 1e-9, "{utility} beats the optimum {best}");
    assert!(utility >= 0.97 * best, "{utility} of {best}");
    assert!(complete.by_source(PAGES as usize).iter().all(|probes| !probes.is_empty()));
}
