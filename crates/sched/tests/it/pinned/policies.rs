//! Which sources the policies choose, on synthetic needs and beliefs; by fingerprint, with what came of it.

use std::fmt::Write as _;

use dunlin_core::{Budget, Changes, Costs, ExecutionInterval, Need, Schedule, SourceIdx, Workload};
use dunlin_sched::epoch::{run, run_workload};
use dunlin_sched::policy::{Arrival, Marginal, Policy, Preemption, Ranked, UpdateWic, Wic};
use dunlin_sched::score::{score_intervals, score_trace};
use dunlin_sched::value::ValueModel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Fingerprint, check, row};
use crate::instances::{chronon, interval};

const CHRONONS: u32 = 400;

fn fingerprint(schedule: &Schedule) -> u64 {
    let mut fingerprint = Fingerprint::new();
    for probe in schedule.probes() {
        fingerprint.add(u64::from(probe.chronon.get()) << 32 | u64::from(probe.source.0));
    }
    fingerprint.0
}

/// More needs than probes, of all kinds: narrow and wide, of one source and several, all or some needed, of all weights.
fn needs(seed: u64, widest: u32, n_sources: u32) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut workload = Workload::new();
    let profiles: Vec<_> = (0..12).map(|_| workload.add_profile()).collect();
    for _ in 0..700 {
        let first = rng.random_range(1..CHRONONS);
        let n_eis = rng.random_range(1..=4u32);
        let eis: Vec<ExecutionInterval> = (0..n_eis)
            .map(|_| {
                let start = (first + rng.random_range(0..25)).min(CHRONONS);
                interval(
                    rng.random_range(0..n_sources),
                    start,
                    (start + rng.random_range(0..=widest)).min(CHRONONS),
                )
            })
            .collect();
        let need =
            if rng.random_range(0..4) == 0 { Need::Any(rng.random_range(1..=n_eis)) } else { Need::All };
        let weight = [1.0, 1.0, 1.0, 0.4, 2.5][rng.random_range(0..5)];
        workload.push(profiles[rng.random_range(0..12)], &eis, need, weight).unwrap();
    }
    workload
}

fn costs() -> Costs {
    Costs::per_source((0..60).map(|source| [1.0, 0.5, 2.0, 1.0][source % 4]).collect()).unwrap()
}

#[test]
fn what_is_chosen_for_needs() {
    let mut table = String::new();
    // The last two have more intervals on a source than are considered, and windows beyond all statistics of deadlines.
    for (seed, widest, n_sources, grant) in [
        (1, 9, 60, 1.0),
        (2, 0, 60, 1.0),
        (3, 25, 60, 0.4),
        (4, 9, 60, 2.5),
        (5, 60, 60, 1.0),
        (6, 90, 4, 0.2),
        (7, 380, 60, 0.5),
    ] {
        let workload = needs(seed, widest, n_sources);
        let budget = Budget::constant(grant).unwrap();
        for costs in [Costs::uniform(), costs()] {
            type Rank = fn(Preemption, Costs) -> Ranked;
            let ranked: [(&str, Rank); 3] =
                [("s-edf", Ranked::s_edf), ("mrsf", Ranked::mrsf), ("m-edf", Ranked::m_edf)];
            let mut policies: Vec<(String, Box<dyn Policy>)> = vec![
                ("marginal".to_owned(), Box::new(Marginal::new(&budget, costs.clone()))),
                ("wic".to_owned(), Box::new(UpdateWic::new(workload.n_sources(), costs.clone()))),
            ];
            for (name, make) in ranked {
                for preemption in [Preemption::Preemptive, Preemption::NonPreemptive] {
                    policies
                        .push((format!("{name} {preemption:?}"), Box::new(make(preemption, costs.clone()))));
                }
            }
            for (name, mut policy) in policies {
                let schedule = run_workload(policy.as_mut(), &workload, CHRONONS, &budget, |_| ());
                let score = score_intervals(&workload, &schedule);
                writeln!(
                    table,
                    "{seed}, uniform costs {}, {name}: {} CEIs, {} intervals, {} probes, weight {:.3}, {:016x}",
                    costs.is_uniform(),
                    score.captured,
                    score.intervals_captured,
                    score.probes,
                    score.weight_captured,
                    fingerprint(&schedule)
                )
                .unwrap();
            }
        }
    }
    check("needs", &table);
}

#[test]
fn what_wic_chooses() {
    const SOURCES: u32 = 40;
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut happened = vec![Vec::new(); SOURCES as usize];
    let mut believed: Vec<Vec<(SourceIdx, f64)>> = vec![Vec::new(); CHRONONS as usize + 1];
    for now in 1..=CHRONONS {
        for source in 0..SOURCES {
            if rng.random::<f64>() < 0.03 + f64::from(source) * 0.004 {
                happened[source as usize].push(chronon(now));
                believed[now as usize].push((SourceIdx(source), [1.0, 0.6, 0.25][rng.random_range(0..3)]));
            }
        }
    }
    let changes = Changes::new(CHRONONS, happened).unwrap();
    let mut table = String::new();
    for life in ["append", "window:0", "window:7", "changes:1", "changes:3", "overwrite"] {
        for urgency in [
            "uniform",
            "exp:0",
            "exp:0.9",
            "sliding:0",
            "sliding:6",
            "poly:1.5",
            "polyexp:2:0.8",
            "chordal:9",
        ] {
            let model = ValueModel::new(life.parse().unwrap(), urgency.parse().unwrap());
            let models: Vec<ValueModel> = (0..SOURCES)
                .map(|source| ValueModel { weight: [1.0, 0.5, 0.9][source as usize % 3], ..model })
                .collect();
            for (grant, costs) in [(1.0, Costs::uniform()), (2.5, costs())] {
                let budget = Budget::constant(grant).unwrap();
                let mut wic = Wic::new(&models, &costs);
                let schedule = run(&mut wic, CHRONONS, &budget, |now, policy| {
                    for &(source, probability) in &believed[now.get() as usize] {
                        policy.arrive(now, Arrival::Change { source, probability });
                    }
                });
                let score = score_trace(&changes, &schedule, |source| models[source.index()]);
                row(
                    &mut table,
                    &format!("{life}, {urgency}, {grant}: {:016x}", fingerprint(&schedule)),
                    &[
                        score.captured as f64,
                        score.completeness,
                        score.zero_delay,
                        score.utility,
                        score.mean_delay.unwrap_or(-1.0),
                        score.p95_delay.map_or(-1.0, f64::from),
                        score.change_recall,
                        score.freshness,
                        score.mean_age,
                        score.probes as f64,
                    ],
                );
            }
        }
    }
    check("wic", &table);
}
