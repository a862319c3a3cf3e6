//! The scheduler that goes by CAM's plans: what it does when, what it says about it, and what it finds.

use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};
use dunlin_sched::model::{Completeness, Evidence, Model, Parts, Prior};
use dunlin_sched::scheduler::{Input, Pace, Reason, Scheduler, Settings, Shown, Strategy};

use super::{at, changed, host, joined, settings, step, sure, terms};

const EPOCH: Duration = Duration::from_mins(10);

fn epoch_planner(per_second: f64) -> Settings {
    Settings { strategy: Strategy::Cam { epoch: EPOCH }, ..settings(per_second) }
}

/// Source i has changed once in `gaps[i]` seconds for long, and was just seen.
fn scheduler_of(settings: Settings, gaps: &[f64]) -> Scheduler {
    let mut scheduler = Scheduler::new(settings);
    scheduler.apply(at(0), host(0, 1_000));
    for (source, gap) in (0..).zip(gaps) {
        scheduler.apply(at(0), joined(source, terms(0), sure(1.0 / gap), Some(at(-1))));
    }
    scheduler
}

#[test]
fn what_is_said_about_the_next_probe_comes_true() {
    let mut scheduler = scheduler_of(epoch_planner(0.1), &[60.0, 60.0, 120.0, 240.0, 1e7]);
    let mut n_probes = 0;
    let mut expected: Vec<Option<Time>> = vec![None; 5];
    for second in 1..=1_800 {
        let now = at(second);
        let mut chosen = Vec::new();
        scheduler.choose(now, usize::MAX, &mut chosen);
        for choice in &chosen {
            let said = expected[choice.resource.index()];
            // A plan that was made in this chronon has had no chance to say anything.
            if second % 600 != 1 {
                assert!(
                    said.is_some_and(|said| said <= now && now.since(said) < EPOCH),
                    "{choice:?} {said:?}"
                );
                assert_eq!(choice.reason, Reason::Planned);
            }
            n_probes += 1;
            scheduler.apply(
                now,
                Input::Probed { resource: choice.resource, shown: Shown::All(Evidence::Unchanged) },
            );
        }
        for source in 0..5 {
            let said = scheduler.explain(ResourceIdx(source), now).unwrap();
            assert_eq!(said.reason, Reason::Planned);
            expected[source as usize] = said.next_probe;
            assert!(said.next_probe.unwrap() <= now.plus(EPOCH));
        }
    }
    // Sixty probes an epoch were there, and the first four sources had use for all of them.
    assert!((160..=181).contains(&n_probes), "{n_probes}");
}

#[test]
fn probes_go_where_changes_are_found() {
    let gaps = [100, 100, 1_000, 100_000i64];
    let mut scheduler = scheduler_of(epoch_planner(0.05), &gaps.map(|gap| gap as f64));
    let (mut probes, mut last) = ([0i32; 4], [0; 4]);
    for second in 1..=6_000i64 {
        let mut chosen = Vec::new();
        scheduler.choose(at(second), usize::MAX, &mut chosen);
        for source in chosen.iter().map(|choice| choice.resource) {
            let (gap, before) = (gaps[source.index()], last[source.index()]);
            let evidence = if second / gap == before / gap { Evidence::Unchanged } else { changed() };
            (last[source.index()], probes[source.index()]) = (second, probes[source.index()] + 1);
            scheduler.apply(at(second), Input::Probed { resource: source, shown: Shown::All(evidence) });
        }
    }
    let [one, two, slow, slowest] = probes;
    assert!((one - two).abs() <= one / 4, "{probes:?}");
    assert!(one > 2 * slow && slow > slowest, "{probes:?}");
    assert!((250..=301).contains(&probes.iter().sum::<i32>()), "{probes:?}");
}

#[test]
fn a_source_that_comes_within_an_epoch_does_not_wait_for_the_next() {
    let mut scheduler = scheduler_of(epoch_planner(0.1), &[600.0; 20]);
    for second in 1..=60 {
        step(&mut scheduler, at(second));
    }
    let resource = ResourceIdx(50);
    scheduler.apply(at(60), joined(50, terms(0), sure(1.0 / 30.0), None));
    let mut probes = Vec::new();
    for second in 61..=400 {
        let chosen = step(&mut scheduler, at(second));
        probes.extend(
            chosen.iter().filter(|choice| choice.resource == resource).map(|choice| (second, choice.reason)),
        );
    }
    // A first probe at once, and more as its changes are worth, which are twenty times those of the others.
    assert!(probes[0].0 < 75 && probes[0].1 == Reason::New, "{probes:?}");
    assert!(probes.len() >= 5 && probes[1].1 == Reason::Planned, "{probes:?}");

    // Another weight counts at once too.
    let mut heavier = terms(0);
    heavier.value.weight = 50.0;
    scheduler.apply(at(400), joined(3, heavier, sure(1.0 / 600.0), Some(at(390))));
    let mut n_probes = 0;
    for second in 401..=600 {
        n_probes += step(&mut scheduler, at(second))
            .iter()
            .filter(|choice| choice.resource == ResourceIdx(3))
            .count();
    }
    assert!(n_probes >= 4, "{n_probes}");
}

#[test]
fn from_nothing_known_it_finds_out_which_sources_to_probe() {
    let mut scheduler = Scheduler::new(epoch_planner(0.5));
    scheduler.apply(at(0), host(0, 1_000));
    let gaps: Vec<i64> = (0..100).map(|source| if source % 10 == 0 { 40 } else { 40_000 }).collect();
    for source in 0..100 {
        // In its first hours a rhythm of the week is half learned, and a plan believes it; that is not tried here.
        let model = Model::of_parts(Prior { rate: 1e-4, strength: 0.5 }, Parts::Rate);
        scheduler.apply(at(0), joined(source, terms(0), model, None));
    }
    let (mut last, mut busy, mut all) = (vec![0; 100], 0, 0);
    for second in 1..=7_200 {
        let mut chosen = Vec::new();
        scheduler.choose(at(second), usize::MAX, &mut chosen);
        for choice in chosen {
            let source = choice.resource.index();
            let has_changed = second / gaps[source] != last[source] / gaps[source];
            last[source] = second;
            let evidence = if has_changed {
                Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }
            } else {
                Evidence::Unchanged
            };
            scheduler
                .apply(at(second), Input::Probed { resource: choice.resource, shown: Shown::All(evidence) });
            if second > 3_600 {
                (busy, all) = (busy + usize::from(source.is_multiple_of(10)), all + 1);
            }
        }
    }
    assert!(all >= 1_600 && busy * 2 > all, "{busy} of {all} probes of the ten busy sources");
}

#[test]
fn a_host_that_is_held_gets_its_planned_probes_when_it_is_free() {
    let mut scheduler = scheduler_of(epoch_planner(0.1), &[100.0, 100.0]);
    for second in 1..=100 {
        step(&mut scheduler, at(second));
    }
    scheduler.apply(at(100), Input::HostHeld { host: dunlin_sched::scheduler::HostIdx(0), until: at(300) });
    for second in 101..300 {
        assert!(step(&mut scheduler, at(second)).is_empty(), "at {second}");
    }
    // What waited is one probe each, not all that were missed.
    let after: Vec<_> = (300..=310).flat_map(|second| step(&mut scheduler, at(second))).collect();
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(after.iter().all(|choice| choice.reason == Reason::Planned));
}

#[test]
fn another_budget_is_planned_with_before_the_epoch_is_over() {
    let mut scheduler = scheduler_of(epoch_planner(0.05), &[60.0; 10]);
    let mut probes = [0; 2];
    for second in 1..=600 {
        if second == 300 {
            scheduler.apply(at(second), Input::Budget(Pace { per_second: 0.2 }));
        }
        probes[usize::from(second >= 300)] += step(&mut scheduler, at(second)).len();
    }
    assert!(probes[0] <= 16 && probes[1] >= 50, "{probes:?}");
}

#[test]
fn more_sources_than_a_chronon_plans_for_are_planned_for() {
    let mut scheduler = Scheduler::new(epoch_planner(20.0));
    scheduler.apply(at(0), host(0, 100_000));
    for source in 0..10_000 {
        scheduler.apply(at(0), joined(source, terms(0), sure(1e-4), Some(at(-600))));
    }
    // Ten thousand are weighed, shared among and told in a few chronons; then there is a probe for all of the budget.
    let probes: Vec<usize> = (1..=600).map(|second| step(&mut scheduler, at(second)).len()).collect();
    assert!(probes[20..].iter().sum::<usize>() >= 11_000, "{probes:?}");
    assert!(probes.iter().all(|&probes| probes <= 20));
}

/// The service stood still for a minute while an epoch began, with a probe under way.
#[test]
fn a_plan_that_comes_late_asks_for_nothing_from_before_the_last_probe() {
    let mut scheduler = scheduler_of(epoch_planner(0.02), &[60.0]);
    for second in 1..=540 {
        step(&mut scheduler, at(second));
    }
    scheduler.apply(at(541), Input::ProbeRequested { resource: ResourceIdx(0) });
    let mut chosen = Vec::new();
    (541..=599).for_each(|second| scheduler.choose(at(second), usize::MAX, &mut chosen));
    assert_eq!(chosen.len(), 1, "{chosen:?}");
    scheduler
        .apply(at(650), Input::Probed { resource: ResourceIdx(0), shown: Shown::All(Evidence::Unchanged) });
    // One in fifty seconds can be afforded, and as many are planned.
    let first = (660..1_200).find(|second| !step(&mut scheduler, at(*second)).is_empty());
    assert!(first.is_some_and(|second| (690..=710).contains(&second)), "{first:?}");
}
