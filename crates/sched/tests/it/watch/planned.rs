//! The watch that goes by CAM's plans: what it does when, what it says about it, and what it finds.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::model::{Known, Model, Parts, Prior, Seen};
use dunlin_sched::watch::{Input, Pace, Reason, Settings, Strategy, Watch};

use super::{at, changed, host, joined, settings, step, sure, terms};

const EPOCH: Duration = Duration::from_mins(10);

fn planning(per_second: f64) -> Settings {
    Settings { strategy: Strategy::Cam { epoch: EPOCH }, ..settings(per_second) }
}

/// Source i has changed once in `gaps[i]` seconds for long, and was just seen.
fn watch_of(settings: Settings, gaps: &[f64]) -> Watch {
    let mut watch = Watch::new(settings);
    watch.apply(at(0), host(0, 1_000));
    for (source, gap) in (0..).zip(gaps) {
        watch.apply(at(0), joined(source, terms(0), sure(1.0 / gap), Some(at(-1))));
    }
    watch
}

#[test]
fn what_is_said_about_the_next_look_comes_true() {
    let mut watch = watch_of(planning(0.1), &[60.0, 60.0, 120.0, 240.0, 1e7]);
    let mut n_looks = 0;
    let mut expected: Vec<Option<Time>> = vec![None; 5];
    for second in 1..=1_800 {
        let now = at(second);
        let mut chosen = Vec::new();
        watch.choose(now, usize::MAX, &mut chosen);
        for choice in &chosen {
            let said = expected[choice.source.index()];
            // A plan that was made in this chronon has had no chance to say anything.
            if second % 600 != 1 {
                assert!(
                    said.is_some_and(|said| said <= now && now.since(said) < EPOCH),
                    "{choice:?} {said:?}"
                );
                assert_eq!(choice.reason, Reason::Planned);
            }
            n_looks += 1;
            watch.apply(now, Input::Looked { source: choice.source, seen: Seen::Unchanged });
        }
        for source in 0..5 {
            let said = watch.explain(SourceIdx(source), now).unwrap();
            assert_eq!(said.reason, Reason::Planned);
            expected[source as usize] = said.next_look;
            assert!(said.next_look.unwrap() <= now.plus(EPOCH));
        }
    }
    // Sixty looks an epoch were there, and the first four sources had use for all of them.
    assert!((160..=181).contains(&n_looks), "{n_looks}");
}

#[test]
fn probes_go_where_changes_are_found() {
    let gaps = [100, 100, 1_000, 100_000i64];
    let mut watch = watch_of(planning(0.05), &gaps.map(|gap| gap as f64));
    let (mut looks, mut last) = ([0i32; 4], [0; 4]);
    for second in 1..=6_000i64 {
        let mut chosen = Vec::new();
        watch.choose(at(second), usize::MAX, &mut chosen);
        for source in chosen.iter().map(|choice| choice.source) {
            let (gap, before) = (gaps[source.index()], last[source.index()]);
            let seen = if second / gap == before / gap { Seen::Unchanged } else { changed() };
            (last[source.index()], looks[source.index()]) = (second, looks[source.index()] + 1);
            watch.apply(at(second), Input::Looked { source, seen });
        }
    }
    let [one, two, slow, slowest] = looks;
    assert!((one - two).abs() <= one / 4, "{looks:?}");
    assert!(one > 2 * slow && slow > slowest, "{looks:?}");
    assert!((250..=301).contains(&looks.iter().sum::<i32>()), "{looks:?}");
}

#[test]
fn a_source_that_comes_within_an_epoch_does_not_wait_for_the_next() {
    let mut watch = watch_of(planning(0.1), &[600.0; 20]);
    for second in 1..=60 {
        step(&mut watch, at(second));
    }
    let source = SourceIdx(50);
    watch.apply(at(60), joined(50, terms(0), sure(1.0 / 30.0), None));
    let mut looks = Vec::new();
    for second in 61..=400 {
        let chosen = step(&mut watch, at(second));
        looks.extend(
            chosen.iter().filter(|choice| choice.source == source).map(|choice| (second, choice.reason)),
        );
    }
    // A first look at once, and more as its changes are worth, which are twenty times those of the others.
    assert!(looks[0].0 < 75 && looks[0].1 == Reason::New, "{looks:?}");
    assert!(looks.len() >= 5 && looks[1].1 == Reason::Planned, "{looks:?}");

    // Another weight counts at once too.
    let mut heavier = terms(0);
    heavier.value.weight = 50.0;
    watch.apply(at(400), Input::Changed { source: SourceIdx(3), terms: heavier });
    let mut n_looks = 0;
    for second in 401..=600 {
        n_looks += step(&mut watch, at(second)).iter().filter(|choice| choice.source == SourceIdx(3)).count();
    }
    assert!(n_looks >= 4, "{n_looks}");
}

#[test]
fn from_nothing_known_it_finds_out_whom_to_look_at() {
    let mut watch = Watch::new(planning(0.5));
    watch.apply(at(0), host(0, 1_000));
    let gaps: Vec<i64> = (0..100).map(|source| if source % 10 == 0 { 40 } else { 40_000 }).collect();
    for source in 0..100 {
        // In its first hours a rhythm of the week is half learned, and a plan believes it; that is not tried here.
        let model = Model::of_parts(Prior { rate: 1e-4, strength: 0.5 }, Parts::Rate);
        watch.apply(at(0), joined(source, terms(0), model, None));
    }
    let (mut last, mut busy, mut all) = (vec![0; 100], 0, 0);
    for second in 1..=7_200 {
        let mut chosen = Vec::new();
        watch.choose(at(second), usize::MAX, &mut chosen);
        for choice in chosen {
            let source = choice.source.index();
            let has_changed = second / gaps[source] != last[source] / gaps[source];
            last[source] = second;
            let seen = if has_changed {
                Seen::Changed { times: Vec::new(), known: Known::Latest }
            } else {
                Seen::Unchanged
            };
            watch.apply(at(second), Input::Looked { source: choice.source, seen });
            if second > 3_600 {
                (busy, all) = (busy + usize::from(source.is_multiple_of(10)), all + 1);
            }
        }
    }
    assert!(all >= 1_600 && busy * 2 > all, "{busy} of {all} looks at the ten busy sources");
}

#[test]
fn a_host_that_is_held_gets_its_planned_looks_when_it_is_free() {
    let mut watch = watch_of(planning(0.1), &[100.0, 100.0]);
    for second in 1..=100 {
        step(&mut watch, at(second));
    }
    watch.apply(at(100), Input::Held { host: dunlin_sched::watch::HostIdx(0), until: at(300) });
    for second in 101..300 {
        assert!(step(&mut watch, at(second)).is_empty(), "at {second}");
    }
    // What waited is one look each, not all that were missed.
    let after: Vec<_> = (300..=310).flat_map(|second| step(&mut watch, at(second))).collect();
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(after.iter().all(|choice| choice.reason == Reason::Planned));
}

#[test]
fn another_budget_is_planned_with_before_the_epoch_is_over() {
    let mut watch = watch_of(planning(0.05), &[60.0; 10]);
    let mut looks = [0; 2];
    for second in 1..=600 {
        if second == 300 {
            watch.apply(at(second), Input::Budget(Pace { per_second: 0.2 }));
        }
        looks[usize::from(second >= 300)] += step(&mut watch, at(second)).len();
    }
    assert!(looks[0] <= 16 && looks[1] >= 50, "{looks:?}");
}

#[test]
fn more_sources_than_a_chronon_plans_for_are_planned_for() {
    let mut watch = Watch::new(planning(20.0));
    watch.apply(at(0), host(0, 100_000));
    for source in 0..10_000 {
        watch.apply(at(0), joined(source, terms(0), sure(1e-4), Some(at(-600))));
    }
    // Ten thousand are weighed, shared among and told in a few chronons; then there is a look for all of the budget.
    let looks: Vec<usize> = (1..=600).map(|second| step(&mut watch, at(second)).len()).collect();
    assert!(looks[20..].iter().sum::<usize>() >= 11_000, "{looks:?}");
    assert!(looks.iter().all(|&looks| looks <= 20));
}
