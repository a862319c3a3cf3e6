//! Needs whose sources share hosts that allow one probe at a time: what a host keeps back is probed when it is free.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::Evidence;
use dunlin_sched::scheduler::{CeiEvent, CeiId, HostIdx, Input, Interval, Scheduler, Shown, SourceTerms};

use super::{at, host, joined, settings, sure, terms};

/// Needs of one interval each: on which source, from when to when.
type Needs = Vec<(u32, i64, i64)>;

/// So many sources on each of so many hosts, all of them probed for needs only.
#[derive(Clone, Copy)]
struct Web {
    hosts: u32,
    sources_each: u32,
    /// How long a probe takes, and how long its host rests afterwards.
    takes: Duration,
    gap: Duration,
}

/// How many of the needs are captured with this budget. Asks again whenever a host is open, as the service does.
fn captured(web: Web, needs: &Needs, per_second: f64) -> usize {
    let mut scheduler = Scheduler::new(settings(per_second));
    for number in 0..web.hosts {
        scheduler.apply(at(0), host(number, 1));
        for source in (0..web.sources_each).map(|nth| number * web.sources_each + nth) {
            let terms = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(number) };
            scheduler.apply(at(0), joined(source, terms, sure(1e-3), None));
        }
    }
    let last = needs.iter().map(|need| need.2).max().unwrap();
    let (mut running, mut n_captured): (Vec<(Time, ResourceIdx)>, usize) = (Vec::new(), 0);
    for tenth in 0..(last + 5) * 10 {
        let now = at(0).plus(Duration::from_millis(100 * tenth.unsigned_abs()));
        let mut is_asked = tenth % 10 == 0;
        if is_asked {
            let second = tenth / 10;
            for (id, &(source, start, finish)) in (0..).zip(needs).filter(|(_, need)| need.1 == second) {
                let (resource, source) = (ResourceIdx(source), SourceIdx(source));
                let intervals = vec![Interval { resource, source, start: at(start), finish: at(finish) }];
                let (cei, captured) = (CeiId(id), Vec::new());
                scheduler.apply(now, Input::CeiArrived { cei, intervals, captured, need: 1, weight: 1.0 });
            }
        }
        let (ended, still): (Vec<_>, Vec<_>) = running.into_iter().partition(|(end, _)| *end <= now);
        running = still;
        for (_, resource) in ended {
            let host = HostIdx(resource.0 / web.sources_each);
            scheduler.apply(now, Input::HostHeld { host, until: now.plus(web.gap) });
            scheduler.apply(now, Input::Probed { resource, shown: Shown::All(Evidence::Unchanged) });
            is_asked |= scheduler.is_open(host, now);
        }
        if is_asked {
            let mut chosen = Vec::new();
            scheduler.choose(now, usize::MAX, &mut chosen);
            running.extend(chosen.iter().map(|choice| (now.plus(web.takes), choice.resource)));
        }
        let events = scheduler.take_cei_events();
        n_captured += events.iter().filter(|event| matches!(event, CeiEvent::Captured { .. })).count();
    }
    n_captured
}

const ONE_HOST: Web =
    Web { hosts: 1, sources_each: 4, takes: Duration::from_millis(300), gap: Duration::from_secs(2) };

#[test]
fn what_a_busy_host_keeps_back_is_probed_later() {
    let needs: Needs = (0..3).map(|source| (source, 2, 40)).collect();
    for per_second in [0.2, 1.0, 2.0, 5.0, 100.0] {
        assert_eq!(captured(ONE_HOST, &needs, per_second), 3, "{per_second} per second");
    }
}

/// Four probes of 0.3 seconds, one after the other, begin in little more than a second.
#[test]
fn a_host_that_is_free_again_within_a_second_is_probed_again() {
    let needs: Needs = (0..4).map(|source| (source, 2, 3)).collect();
    assert_eq!(captured(Web { gap: Duration::ZERO, ..ONE_HOST }, &needs, 10.0), 4);
}

/// Numbers that look random, below `below`.
fn numbers(mut state: u64, below: i64) -> impl Iterator<Item = i64> {
    std::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(i64::try_from(state >> 33).unwrap() % below)
    })
}

/// Twelve sources on four hosts, a need every second, windows of 4 to 40 seconds: the hosts are the limit.
#[test]
fn a_larger_budget_never_captures_less() {
    let web = Web { hosts: 4, sources_each: 3, ..ONE_HOST };
    for seed in 0..5 {
        let (mut sources, mut lengths) = (numbers(seed, 12), numbers(seed + 100, 36));
        let need =
            |start| (sources.next().unwrap().try_into().unwrap(), start, start + 4 + lengths.next().unwrap());
        let needs: Needs = (2..200).map(need).collect();
        let budgets = [0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 20.0];
        let captured = budgets.map(|per_second| captured(web, &needs, per_second));
        assert!(captured.is_sorted(), "{captured:?} of {}, seed {seed}", needs.len());
        assert!(captured[6] * 100 >= needs.len() * 95, "{captured:?} of {}, seed {seed}", needs.len());
    }
}
