//! Clocks that are set back, by a little or by a lot, and clocks that jump: no standstill, no burst, and pauses as long as they were.

use std::time::Duration;

use dunlin_core::ResourceIdx;
use dunlin_sched::scheduler::{HostIdx, Input, Pace, Reason, Scheduler, SourceTerms};

use super::examples::sources;
use super::{at, host, joined, settings, step, sure, terms};

#[test]
fn a_clock_that_is_a_little_behind_is_waited_for() {
    for (behind, probes) in [(10, 0), (11, 1)] {
        for last_probe in [None, Some(at(0))] {
            let mut scheduler = Scheduler::new(settings(1.0));
            scheduler.apply(at(0), host(0, 100));
            let terms = SourceTerms { longest_gap: Duration::from_secs(500), ..terms(0) };
            (0..50).for_each(|source| scheduler.apply(at(0), joined(source, terms, sure(0.01), last_probe)));
            scheduler.apply(at(0), Input::ProbeRequested { resource: ResourceIdx(7) });
            scheduler.apply(at(0), Input::ProbeRequested { resource: ResourceIdx(9) });
            assert_eq!(sources(&step(&mut scheduler, at(1_000))), [7]);
            assert_eq!(step(&mut scheduler, at(1_000 - behind)).len(), 0);
            let first = step(&mut scheduler, at(1_001 - behind));
            assert_eq!(first.len(), probes, "{behind} seconds behind");
            assert!(first.iter().all(|choice| choice.resource == ResourceIdx(9)), "{first:?}");
            let next = step(&mut scheduler, at(1_002 - behind));
            let reason = if last_probe.is_none() { Reason::New } else { Reason::Overdue };
            assert_eq!(next.len(), probes);
            assert!(next.iter().all(|choice| choice.reason == reason), "{next:?}");
        }
    }
}

#[test]
fn a_pause_is_as_long_as_it_was_when_the_clock_is_set_back() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    let mut chosen = Vec::new();
    scheduler.choose(at(1), usize::MAX, &mut chosen);
    scheduler.apply(at(1), Input::ProbeFailed { resource: ResourceIdx(0), not_before: at(61) });
    let first = (1..=7_200).find(|second| !step(&mut scheduler, at(second - 3_600)).is_empty());
    assert!(first.is_some_and(|second| (55..=75).contains(&second)), "{first:?} seconds later");
}

#[test]
fn a_source_is_not_kept_from_probes_until_the_clock_is_where_it_was() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    assert_eq!(step(&mut scheduler, at(3_600)).len(), 1);
    // It has rested for its shortest gap, by any clock.
    let first = (1..=7_200).find(|second| !step(&mut scheduler, at(*second)).is_empty());
    assert!(first.is_some_and(|second| (10..=60).contains(&second)), "{first:?} seconds later");
}

#[test]
fn a_hold_of_a_host_is_as_long_as_it_was_when_the_clock_is_set_back() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
    scheduler.apply(at(1), Input::HostHeld { host: HostIdx(0), until: at(61) });
    assert!(step(&mut scheduler, at(1)).is_empty());
    let first = (1..=7_200).find(|second| !step(&mut scheduler, at(second - 3_600)).is_empty());
    assert!(first.is_some_and(|second| (55..=75).contains(&second)), "{first:?} seconds later");
}

#[test]
fn what_was_over_when_the_clock_was_set_back_holds_nothing_up_again() {
    for is_host in [false, true] {
        let mut scheduler = Scheduler::new(settings(1.0));
        scheduler.apply(at(0), host(0, 10));
        scheduler.apply(at(0), joined(0, terms(0), sure(0.01), None));
        if is_host {
            scheduler.apply(at(1), Input::HostHeld { host: HostIdx(0), until: at(3_000) });
        } else {
            scheduler.choose(at(1), usize::MAX, &mut Vec::new());
            scheduler.apply(at(1), Input::ProbeFailed { resource: ResourceIdx(0), not_before: at(3_000) });
        }
        scheduler.choose(at(2_999), usize::MAX, &mut Vec::new());
        // It ends, and then it is the beginning again.
        scheduler.apply(at(3_600), Input::Budget(Pace { per_second: 1.0 }));
        let first = (1..=3_600).find(|second| !step(&mut scheduler, at(*second)).is_empty());
        assert_eq!(first, Some(1), "a host: {is_host}");
    }
}

#[test]
fn a_clock_that_jumps_neither_bursts_nor_stops_the_scheduler() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 10));
    for source in 0..20 {
        scheduler.apply(at(0), joined(source, terms(0), sure(0.01), Some(at(-100))));
    }
    for second in 1..=30 {
        step(&mut scheduler, at(second));
    }
    // A year ahead: one probe, not a year's worth. Then back: it goes on at once, and keeps its gaps.
    let year = 365 * 86_400;
    assert_eq!(step(&mut scheduler, at(year)).len(), 1);
    assert!(step(&mut scheduler, at(31)).len() <= 1);
    let probes: usize = (32..=131).map(|second| step(&mut scheduler, at(second)).len()).sum();
    assert_eq!(probes, 100);
    // A little back: time stands still until it has caught up.
    let probes: usize = (126..=136).map(|second| step(&mut scheduler, at(second)).len()).sum();
    assert_eq!(probes, 5);
    assert!(scheduler.next_due(at(136)).is_some_and(|due| due <= at(137)));
}
