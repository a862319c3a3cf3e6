//! The papers' worked examples and propositions.

use dunlin_core::{Budget, Chronon, Costs, Need, Probe, Schedule, SourceIdx, Workload};
use dunlin_sched::epoch::{self, run_workload};
use dunlin_sched::policy::{Arrival, Policy, Preemption, Random, Ranked, RoundRobin, UpdateWic, Wic};
use dunlin_sched::score::score_intervals;
use dunlin_sched::value::{Life, Urgency, ValueModel, expected_utility};
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

const N: u32 = 200;
const PAGES: u32 = 7;
const HOT_PAGE: u32 = 3;
const COLD: f64 = 0.01;
const HOT: f64 = 0.05;

fn page_probability(page: u32) -> f64 {
    if page == HOT_PAGE { HOT } else { COLD }
}

/// Expected utility of a schedule over all pages.
fn expected(schedule: &Schedule, model: &ValueModel) -> f64 {
    let mut utility = 0.0;
    for (page, probes) in (0..).zip(schedule.by_source(PAGES as usize)) {
        let probabilities = vec![page_probability(page); N as usize];
        let mut last = 0;
        for probe in probes.iter().map(|at: &Chronon| at.get()) {
            utility += expected_utility(model, &probabilities, last, probe);
            last = probe;
        }
    }
    utility
}

fn wic_on_pages(model: ValueModel) -> Schedule {
    let mut wic = Wic::uniform(model, PAGES as usize);
    epoch::run(&mut wic, N, &Budget::constant(1.0).unwrap(), |now, wic| {
        for page in 0..PAGES {
            let probability = page_probability(page);
            wic.arrive(now, Arrival::Change { source: SourceIdx(page), probability });
        }
    })
}

/// WIC, section 4: one hot page (π') among |P|−1 cold ones (π), append, one probe per chronon.
/// Timeliness only: the hot page every time, N·π', all of it without delay.
#[test]
fn one_hot_page_when_only_timeliness_counts() {
    let model = ValueModel::new(Life::Append, Urgency::Sliding(0));
    let schedule = wic_on_pages(model);
    assert!(schedule.probes().iter().all(|probe| probe.source == SourceIdx(HOT_PAGE)));
    assert_eq!(schedule.probes().len(), N as usize);
    assert!((expected(&schedule, &model) - f64::from(N) * HOT).abs() < 1e-9);
}

/// The same when only completeness counts. The best schedule probes the hot page, then every cold one once,
/// then the hot one again: N·π' + [(|P|−1)·N − |P|(|P|−1)/2]·π changes, N·π' − (|P|−1)(π'−π) without delay.
#[test]
fn one_hot_page_when_only_completeness_counts() {
    let (n, pages) = (f64::from(N), f64::from(PAGES));
    let best = n * HOT + ((pages - 1.0) * n - pages * (pages - 1.0) / 2.0) * COLD;
    let cold_pages = (0..PAGES).filter(|&page| page != HOT_PAGE);
    let order = std::iter::repeat_n(HOT_PAGE, (N - PAGES) as usize).chain(cold_pages).chain([HOT_PAGE]);
    let probe = |(chronon, page)| Probe { chronon, source: SourceIdx(page) };
    let papers = Schedule::from_probes(Chronon::first(N).zip(order).map(probe).collect());
    let uniform = ValueModel::new(Life::Append, Urgency::Uniform);
    let at_once = ValueModel::new(Life::Append, Urgency::Sliding(0));
    assert!((expected(&papers, &uniform) - best).abs() < 1e-9);
    let zero_delay = n * HOT - (pages - 1.0) * (HOT - COLD);
    assert!((expected(&papers, &at_once) - zero_delay).abs() < 1e-9);

    // WIC does not know where the epoch ends, so it cannot quite reach that; nobody can exceed it.
    let reached = expected(&wic_on_pages(uniform), &uniform);
    assert!(reached <= best + 1e-9, "{reached} beats the optimum {best}");
    assert!(reached >= 0.97 * best, "{reached} of {best}");
    assert!(expected(&wic_on_pages(at_once), &uniform) < reached, "the two aims are at odds");
}
