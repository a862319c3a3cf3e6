//! Needs and everything else under one budget: who goes first, and that nobody waits for ever.

use std::time::Duration;

use dunlin_core::ResourceIdx;
use dunlin_sched::scheduler::CeiEvent::Captured;
use dunlin_sched::scheduler::{CeiId, Choice, Input, Reason, Scheduler, SourceTerms};

use super::intervals::interval;
use super::{at, host, joined, settings, step, sure, terms};

/// Needs of one interval each, two in a second where the budget has one probe, and some sources to watch beside them. Which needs
/// were captured, and when each of the others was probed, and why.
fn beside_needs_at_twice_the_budget(
    seconds: i64,
    mut tell: impl FnMut(&mut Scheduler, i64),
) -> (f64, Vec<(i64, Choice)>) {
    const SOURCES: u32 = 60;
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 99));
    for source in 0..SOURCES {
        let terms = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(1e-3), None));
    }
    let (mut probed, mut n_captured) = (Vec::new(), 0);
    for second in 1..=seconds {
        for number in 0..2 {
            let nth = second.unsigned_abs() * 2 + number;
            // Sources in an order in which none comes twice within a window.
            let intervals = vec![interval((nth * 7 % u64::from(SOURCES)) as u32, second, second + 9)];
            let (cei, captured) = (CeiId(nth), Vec::new());
            scheduler
                .apply(at(second), Input::CeiArrived { cei, intervals, captured, need: 1, weight: 1_000.0 });
        }
        tell(&mut scheduler, second);
        let others =
            step(&mut scheduler, at(second)).into_iter().filter(|choice| choice.resource.0 >= SOURCES);
        probed.extend(others.map(|choice| (second, choice)));
        let events = scheduler.take_cei_events();
        n_captured += events.iter().filter(|event| matches!(event, Captured { .. })).count();
    }
    (n_captured as f64 / (2 * seconds) as f64, probed)
}

#[test]
fn needs_at_twice_the_budget_keep_nothing_else_waiting_for_long() {
    let (alone, _) = beside_needs_at_twice_the_budget(1_000, |_, _| ());
    assert!((0.48..=0.51).contains(&alone), "the budget has one probe for two needs, and captures {alone}");
    let (share, probed) = beside_needs_at_twice_the_budget(1_000, |scheduler, second| match second {
        // Nothing is expected of it.
        1 => {
            let terms = SourceTerms { longest_gap: Duration::from_secs(100), ..terms(0) };
            scheduler.apply(at(1), joined(100, terms, sure(1e-9), Some(at(0))));
        }
        350 => scheduler.apply(at(350), joined(101, terms(0), sure(1e-9), None)),
        550 => scheduler.apply(at(550), Input::ProbeRequested { resource: ResourceIdx(100) }),
        _ => {}
    });
    let when = |reason| -> Vec<i64> {
        probed.iter().filter(|(_, choice)| choice.reason == reason).map(|(second, _)| *second).collect()
    };
    assert_eq!(when(Reason::Requested), [550], "at once");
    let new = when(Reason::New);
    assert!(matches!(new[..], [350..=352]), "{new:?}");
    assert_eq!(when(Reason::Overdue).len(), 9, "{probed:?}");
    let of_100 = probed.iter().filter(|(_, choice)| choice.resource.0 == 100).map(|(second, _)| *second);
    let times: Vec<i64> = [0].into_iter().chain(of_100).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= 102), "{times:?}");
    assert!(share >= alone - 0.01, "eleven probes of a thousand go elsewhere: {share}, {alone}");
}

/// Many more new sources than the budget has probes: they get a half, and needs the other.
#[test]
fn a_crowd_of_new_sources_takes_turns_with_needs() {
    let (share, probed) = beside_needs_at_twice_the_budget(400, |scheduler, second| {
        if second == 1 {
            for source in 100..1_000 {
                scheduler.apply(at(1), joined(source, terms(0), sure(1e-9), None));
            }
        }
    });
    assert!((199..=201).contains(&probed.len()), "{}", probed.len());
    assert!(probed.iter().all(|(_, choice)| choice.reason == Reason::New));
    assert!((0.23..=0.26).contains(&share), "{share}");
}

/// In every other second somebody asks for a probe, and it is made. New sources and needs share what is left by halves.
#[test]
fn a_probe_that_was_requested_takes_the_turn_of_nobody() {
    let (share, probed) = beside_needs_at_twice_the_budget(400, |scheduler, second| {
        if second == 1 {
            let terms = SourceTerms { shortest_gap: Duration::ZERO, ..terms(0) };
            scheduler.apply(at(1), joined(100, terms, sure(1e-9), Some(at(0))));
            for source in 101..1_000 {
                scheduler.apply(at(1), joined(source, terms, sure(1e-9), None));
            }
        }
        if second % 2 == 0 {
            scheduler.apply(at(second), Input::ProbeRequested { resource: ResourceIdx(100) });
        }
    });
    let count = |reason| probed.iter().filter(|(_, choice)| choice.reason == reason).count();
    assert_eq!(count(Reason::Requested), 200);
    assert!((99..=101).contains(&count(Reason::New)), "{}", count(Reason::New));
    assert!((0.11..=0.13).contains(&share), "{share}");
}

/// Both needs are known while nothing can have changed since the last probe. When they are due, the changes of the second source
/// have become worth something, and a probe serves both.
#[test]
fn of_two_needs_that_one_goes_first_whose_probe_also_brings_changes() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 99));
    let needed_only = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(0) };
    // It may be probed again when its interval begins, and not before.
    let watched = SourceTerms { shortest_gap: Duration::from_secs(500), ..terms(0) };
    scheduler.apply(at(0), joined(0, needed_only, sure(1e-3), Some(at(0))));
    scheduler.apply(at(0), joined(1, watched, sure(1e-3), Some(at(0))));
    for source in 0..2_u32 {
        let (intervals, captured) = (vec![interval(source, 500, 520)], Vec::new());
        let cei = CeiId(source.into());
        scheduler.apply(at(0), Input::CeiArrived { cei, intervals, captured, need: 1, weight: 5.0 });
    }
    let mut probed = Vec::new();
    for second in 0..=510 {
        probed.extend(step(&mut scheduler, at(second)).into_iter().map(|choice| (second, choice.resource.0)));
    }
    assert_eq!(probed, [(500, 1), (501, 0)]);
}
