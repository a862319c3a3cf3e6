//! Several sources on one resource: worth the sum, probed when the first of them matters, told each what concerns it.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx};
use dunlin_sched::model::Evidence;
use dunlin_sched::scheduler::{Input, Reason, Scheduler, Shown, ShownTo, SourceTerms};

use super::{at, changed, host, settings, step, sure, terms};

const SHARED: ResourceIdx = ResourceIdx(0);

fn add(
    scheduler: &mut Scheduler,
    second: i64,
    source: u32,
    terms: SourceTerms,
    last_seconds_ago: Option<i64>,
) {
    let input = Input::SourceAdded {
        resource: SHARED,
        source: SourceIdx(source),
        terms,
        model: sure(1.0 / 600.0),
        last_probe: last_seconds_ago.map(|ago| at(second - ago)),
        not_before: None,
    };
    scheduler.apply(at(second), input);
}

/// With so many sources on resource 0, all last probed a minute ago.
fn shared(n_sources: u32) -> Scheduler {
    let mut scheduler = Scheduler::new(settings(0.01));
    scheduler.apply(at(0), host(0, 9));
    (0..n_sources).for_each(|source| add(&mut scheduler, 0, source, terms(0), Some(60)));
    scheduler
}

fn worth(scheduler: &Scheduler, second: i64) -> f64 {
    scheduler.explain(SHARED, at(second)).unwrap().value
}

#[test]
fn a_resource_is_worth_the_sum_of_its_sources() {
    let one = worth(&shared(1), 60);
    assert!(one > 0.0);
    for n_sources in [2, 3, 7] {
        let all = worth(&shared(n_sources), 60);
        assert!((all / one - f64::from(n_sources)).abs() < 1e-9, "{all} for {n_sources}, {one} for one");
    }
}

#[test]
fn many_modest_sources_are_probed_as_soon_as_one_that_is_worth_as_much() {
    let first = |n_sources: u32, weight: f64| {
        let mut scheduler = Scheduler::new(settings(0.01));
        scheduler.apply(at(0), host(0, 9));
        // Others that make a probe cost something.
        for other in 1..200 {
            let joined =
                super::joined(other + 100, terms(0), sure(1.0 / 900.0), Some(at(-i64::from(other) * 20)));
            scheduler.apply(at(0), joined);
        }
        for source in 0..n_sources {
            let mut own = terms(0);
            own.value.weight = weight;
            add(&mut scheduler, 0, source, own, Some(1));
        }
        let mut seconds = 1..50_000;
        seconds
            .find(|second| step(&mut scheduler, at(*second)).iter().any(|choice| choice.resource == SHARED))
    };
    let (alone, together) = (first(1, 8.0).unwrap(), first(8, 1.0).unwrap());
    assert!((together - alone).abs() <= alone / 10, "{together} s, and {alone} s for one of the same weight");
}

#[test]
fn what_a_probe_shows_one_source_teaches_the_others_nothing() {
    let mut scheduler = shared(3);
    let [before, _, after] = [0, 1, 2].map(SourceIdx);
    scheduler.apply(at(10), Input::ProbeRequested { resource: SHARED });
    let mut chosen = Vec::new();
    scheduler.choose(at(11), 9, &mut chosen);
    assert_eq!((chosen[0].resource, chosen[0].reason), (SHARED, Reason::Requested));
    let shown = Shown::Each(vec![
        (SourceIdx(1), ShownTo::Unreadable { not_before: at(5_000) }),
        (after, ShownTo::Evidence(changed())),
    ]);
    let unknown = scheduler.model(SHARED, before).unwrap().clone();
    scheduler.apply(at(12), Input::Probed { resource: SHARED, shown });
    assert_eq!(scheduler.model(SHARED, before), Some(&unknown), "the probe had nothing to do with it");
    let mean_rate = |source| scheduler.model(SHARED, source).unwrap().forecast().mean_rate();
    assert!(mean_rate(after) > mean_rate(before), "it has changed");
    assert_eq!(mean_rate(SourceIdx(1)), mean_rate(before), "it could not be read");
}

#[test]
fn a_source_that_cannot_be_read_is_no_reason_for_a_probe_until_its_time_has_come() {
    let mut scheduler = shared(2);
    let hasty = SourceTerms { longest_gap: Duration::from_secs(100), ..terms(0) };
    add(&mut scheduler, 0, 0, hasty, Some(60));
    let probed_at = |scheduler: &mut Scheduler, from: i64, until: i64| {
        (from..until).find(|second| {
            let mut chosen = Vec::new();
            scheduler.choose(at(*second), 9, &mut chosen);
            !chosen.is_empty()
        })
    };
    assert!(probed_at(&mut scheduler, 1, 200).is_some_and(|second| second <= 41), "it is overdue at 40");
    let shown = Shown::Each(vec![
        (SourceIdx(0), ShownTo::Unreadable { not_before: at(2_000) }),
        (SourceIdx(1), ShownTo::Evidence(Evidence::Unchanged)),
    ]);
    scheduler.apply(at(41), Input::Probed { resource: SHARED, shown });
    // The other one would be served at leisure; the overdue one may not be tried before 2000.
    let next = probed_at(&mut scheduler, 42, 3_000).unwrap();
    let explained = scheduler.explain(SHARED, at(next));
    assert!(next >= 100, "at {next}: {explained:?}");
}

/// Nothing else is a reason for a probe of the resource then.
#[test]
fn a_source_that_could_not_be_read_is_probed_when_its_time_has_come() {
    let mut scheduler = Scheduler::new(settings(0.5));
    scheduler.apply(at(0), host(0, 99));
    let mut modest = terms(0);
    modest.value.weight = 1e-3;
    add(&mut scheduler, 0, 0, modest, Some(60));
    add(&mut scheduler, 0, 1, terms(0), None);
    // Others that make a probe cost something.
    for other in 1..100 {
        let last_probe = Some(at(-60 - i64::from(other)));
        scheduler.apply(at(0), super::joined(other + 100, terms(0), sure(1.0 / 60.0), last_probe));
    }
    let mut probed = Vec::new();
    for second in 1..1_500 {
        let mut chosen = Vec::new();
        scheduler.choose(at(second), 9, &mut chosen);
        for choice in chosen {
            let mut shown = Shown::All(Evidence::Unchanged);
            if choice.resource == SHARED {
                probed.push((second, choice.reason));
                shown = Shown::Each(vec![
                    (SourceIdx(0), ShownTo::Evidence(Evidence::Unchanged)),
                    (SourceIdx(1), ShownTo::Unreadable { not_before: at(1_000) }),
                ]);
            }
            scheduler.apply(at(second), Input::Probed { resource: choice.resource, shown });
        }
    }
    let [(first, Reason::New), (again, Reason::New), ..] = probed[..] else { panic!("{probed:?}") };
    assert!(first < 10 && (1_000..=1_010).contains(&again), "{probed:?}");
}

/// What has never been seen is worth more than anything else, but not while it cannot be read.
#[test]
fn a_new_source_that_cannot_be_read_does_not_have_the_others_probed_all_the_time() {
    let gap_with = |unreadable: bool| {
        let mut scheduler = shared(1);
        if unreadable {
            add(&mut scheduler, 0, 1, terms(0), None);
        }
        // Another resource, so that a probe costs something.
        scheduler.apply(at(0), super::joined(7, terms(0), sure(1.0 / 60.0), Some(at(-60))));
        let mut probed = Vec::new();
        for second in 1..20_000 {
            let mut chosen = Vec::new();
            scheduler.choose(at(second), 9, &mut chosen);
            for choice in chosen {
                let shown = if choice.resource == SHARED {
                    probed.push(second);
                    Shown::Each(vec![
                        (SourceIdx(0), ShownTo::Evidence(Evidence::Unchanged)),
                        (SourceIdx(1), ShownTo::Unreadable { not_before: at(1_000_000) }),
                    ])
                } else {
                    Shown::Each(vec![(SourceIdx(7), ShownTo::Evidence(changed()))])
                };
                scheduler.apply(at(second), Input::Probed { resource: choice.resource, shown });
            }
        }
        probed.len()
    };
    let (alone, beside) = (gap_with(false), gap_with(true));
    assert!(alone > 0 && beside <= alone + 1, "{beside} probes, and {alone} without the unreadable one");
}

#[test]
fn a_source_that_leaves_takes_its_worth_along_and_the_last_one_the_resource() {
    let mut scheduler = shared(2);
    let one = worth(&shared(1), 60);
    scheduler.apply(at(1), Input::SourceRemoved { resource: SHARED, source: SourceIdx(0) });
    assert!((worth(&scheduler, 60) / one - 1.0).abs() < 1e-9);
    assert_eq!(scheduler.stats().resources, 1);
    scheduler.apply(at(2), Input::SourceRemoved { resource: SHARED, source: SourceIdx(0) });
    assert_eq!(scheduler.stats().resources, 1, "it is not there any more");
    scheduler.apply(at(3), Input::SourceRemoved { resource: SHARED, source: SourceIdx(1) });
    assert_eq!(scheduler.stats().resources, 0);
}
