//! The evaluator on cases small enough to work out by hand.

use dunlin_core::{Budget, Changes, Chronon, Costs, Need, Probe, Schedule, SourceIdx, Workload};
use dunlin_sched::score::{TraceScore, captured_ceis, check_budget, score_intervals, score_trace};
use dunlin_sched::value::{Life, Urgency, ValueModel};

use crate::instances::{chronon, interval};

fn schedule(probes: &[(u32, u32)]) -> Schedule {
    let probe = |&(at, source)| Probe { chronon: chronon(at), source: SourceIdx(source) };
    Schedule::from_probes(probes.iter().map(probe).collect())
}

#[test]
fn intervals_count_whole_ceis_their_weight_and_what_they_need() {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    let both = [interval(0, 1, 3), interval(1, 2, 4)];
    workload.push(profile, &both, Need::All, 1.0).unwrap();
    workload.push(profile, &[interval(0, 3, 3), interval(2, 1, 9)], Need::Any(1), 5.0).unwrap();
    workload.push(profile, &[interval(0, 4, 9), interval(1, 4, 4)], Need::All, 2.0).unwrap();
    let score = score_intervals(&workload, &schedule(&[(3, 0), (4, 1)]));
    assert_eq!((score.captured, score.ceis, score.intervals_captured, score.probes), (2, 3, 4, 2));
    assert_eq!((score.weight_captured, score.weighted_completeness), (6.0, 0.75));
    assert_eq!(captured_ceis(&workload, &schedule(&[(3, 0), (4, 1)])), [true, true, false]);
    let empty = score_intervals(&workload, &Schedule::new());
    assert_eq!((empty.captured, empty.gained_completeness), (0, 0.0));
}

/// One source that changes at 2, 3 and 6 of 10 chronons, probed at 4 and 6.
fn trace(life: Life, urgency: Urgency) -> TraceScore {
    let at = |numbers: &[u32]| numbers.iter().map(|&n| chronon(n)).collect::<Vec<Chronon>>();
    let changes = Changes::new(10, vec![at(&[2, 3, 6]), Vec::new()]).unwrap();
    score_trace(&changes, &schedule(&[(4, 0), (6, 0)]), |_| ValueModel::new(life, urgency))
}

#[test]
fn a_change_is_captured_by_the_first_probe_if_it_is_still_there() {
    let append = trace(Life::Append, Urgency::Exponential(0.5));
    assert_eq!((append.captured, append.changes, append.sources, append.probes), (3, 3, 2, 2));
    assert_eq!(append.delay_histogram.into_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1)]);
    assert_eq!((append.mean_delay, append.p95_delay), (Some(1.0), Some(2)));
    assert!((append.utility - (1.0 + 0.5 + 0.25) / 3.0).abs() < 1e-12);
    assert!((append.zero_delay - 1.0 / 3.0).abs() < 1e-12);

    let overwrite = trace(Life::Overwrite, Urgency::Uniform);
    assert_eq!(overwrite.captured, 2);
    assert!((overwrite.change_recall - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(trace(Life::Changes(2), Urgency::Uniform).captured, 3);
    assert_eq!(trace(Life::Window(1), Urgency::Uniform).captured, 2);
}

#[test]
fn a_copy_is_stale_from_the_first_unseen_change_to_the_next_probe() {
    // Source 0 is stale at chronons 2 and 3, with ages 0 and 1; source 1 never. 20 source-chronons.
    let score = trace(Life::Append, Urgency::Uniform);
    assert!((score.freshness - 18.0 / 20.0).abs() < 1e-12);
    assert!((score.mean_age - 1.0 / 20.0).abs() < 1e-12);
    // Never probed: stale from chronon 2 to the end, ages 0 to 8.
    let changes = Changes::new(10, vec![vec![chronon(2), chronon(5)]]).unwrap();
    let model = ValueModel::new(Life::Append, Urgency::Uniform);
    let unprobed = score_trace(&changes, &Schedule::new(), |_| model);
    assert!((unprobed.freshness - 0.1).abs() < 1e-12 && (unprobed.mean_age - 3.6).abs() < 1e-12);
    assert_eq!((unprobed.captured, unprobed.mean_delay), (0, None));
}

#[test]
fn a_broken_budget_is_found_where_it_breaks() {
    let budget = Budget::constant(1.0).unwrap();
    let check = |probes: &[(u32, u32)], costs: &Costs| check_budget(&schedule(probes), &budget, costs, 10);
    assert_eq!(check(&[(1, 0), (2, 1), (10, 0)], &Costs::uniform()), Ok(()));
    let over = check(&[(1, 0), (2, 0), (2, 1)], &Costs::uniform()).unwrap_err();
    assert_eq!((over.probe.chronon, over.probe.source), (chronon(2), SourceIdx(1)));
    assert_eq!((over.cost, over.left), (1.0, 0.0));
    // After the epoch nothing is granted; the first such probe is named.
    let late = check(&[(1, 0), (11, 0), (12, 1)], &Costs::uniform()).unwrap_err();
    assert_eq!(
        (late.probe.chronon, late.probe.source, late.cost, late.left),
        (chronon(11), SourceIdx(0), 1.0, 0.0)
    );
    let dear = Costs::per_source(vec![1.0, 2.0]).unwrap();
    let over = check(&[(1, 1)], &dear).unwrap_err();
    assert_eq!((over.probe.chronon, over.cost, over.left), (chronon(1), 2.0, 1.0));
    assert_eq!(over.to_string(), "budget broken at chronon 1: a probe costing 2 with 1 left");
}
