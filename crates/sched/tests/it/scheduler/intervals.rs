//! Needs that span sources: which probe captures what, when probes take time, fail, are given back or come late.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::Evidence;
use dunlin_sched::scheduler::CeiEvent::{Captured, IntervalCaptured, Lost};
use dunlin_sched::scheduler::{
    CeiEvent, CeiId, Choice, HostIdx, Input, Interval, Pace, Reason, Scheduler, Shown, SourceTerms,
};
use dunlin_sched::value::{Life, Urgency, ValueModel};

use super::{at, host, joined, settings, step, sure, terms};

const ID: CeiId = CeiId(7);

/// Four sources on two hosts that are probed for needs only, one probe in a second.
fn idle() -> Scheduler {
    let mut scheduler = Scheduler::new(settings(1.0));
    for number in 0..2 {
        scheduler.apply(at(0), host(number, 1));
    }
    for source in 0..4 {
        let terms = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(source % 2) };
        scheduler.apply(at(0), joined(source, terms, sure(1e-3), None));
    }
    assert_eq!(choose(&mut scheduler, 0), [], "nobody wants anything");
    scheduler
}

pub(super) fn interval(source: u32, start: i64, finish: i64) -> Interval {
    Interval {
        resource: ResourceIdx(source),
        source: SourceIdx(source),
        start: at(start),
        finish: at(finish),
    }
}

fn arrive(scheduler: &mut Scheduler, now: i64, intervals: &[Interval], need: u32) {
    let intervals = intervals.to_vec();
    scheduler
        .apply(at(now), Input::CeiArrived { cei: ID, intervals, captured: Vec::new(), need, weight: 1.0 });
}

fn choose(scheduler: &mut Scheduler, now: i64) -> Vec<Choice> {
    choose_at(scheduler, at(now))
}

fn choose_at(scheduler: &mut Scheduler, now: Time) -> Vec<Choice> {
    let mut chosen = Vec::new();
    scheduler.choose(now, usize::MAX, &mut chosen);
    chosen
}

fn sources(chosen: &[Choice]) -> Vec<u32> {
    chosen.iter().map(|choice| choice.resource.0).collect()
}

fn succeeded(source: u32) -> Input {
    Input::Probed { resource: ResourceIdx(source), shown: Shown::All(Evidence::Unchanged) }
}

const fn captured(interval: u32) -> CeiEvent {
    IntervalCaptured { cei: ID, interval }
}

#[test]
fn a_need_is_met_by_probes_within_its_intervals() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 4), interval(1, 6, 9)], 2);
    assert_eq!(choose(&mut scheduler, 1), []);
    let chosen = choose(&mut scheduler, 2);
    assert_eq!((sources(&chosen), chosen[0].reason), (vec![0], Reason::Interval));
    assert!(chosen[0].value > 0.0, "{chosen:?}");
    scheduler.apply(at(3), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0)]);
    assert_eq!(choose(&mut scheduler, 5), []);
    assert_eq!(sources(&choose(&mut scheduler, 6)), [1]);
    scheduler.apply(at(6), succeeded(1));
    assert_eq!(scheduler.take_cei_events(), [captured(1), Captured { cei: ID }]);
    assert_eq!(choose(&mut scheduler, 7), [], "it is met");
}

#[test]
fn an_explanation_names_the_interval_that_is_probed_next() {
    let mut scheduler = idle();
    let explained = |scheduler: &Scheduler, source, second| {
        let said = scheduler.explain(ResourceIdx(source), at(second)).unwrap();
        (said.value, said.next_probe, said.reason)
    };
    assert_eq!(explained(&scheduler, 0, 0), (0.0, None, Reason::Interval), "it is probed for nothing else");
    arrive(&mut scheduler, 1, &[interval(0, 5, 9), interval(1, 20, 30)], 2);
    choose(&mut scheduler, 1);
    assert_eq!(explained(&scheduler, 0, 1), (0.0, Some(at(5)), Reason::Interval), "not before it begins");
    // Two are due in one second, on one host.
    let other = vec![interval(2, 5, 9)];
    let (cei, captured, need, weight) = (CeiId(8), Vec::new(), 1, 3.0);
    scheduler.apply(at(2), Input::CeiArrived { cei, intervals: other, captured, need, weight });
    let chosen = choose(&mut scheduler, 5);
    let (probed, waits) = if sources(&chosen) == [0] { (0, 2) } else { (2, 0) };
    assert_eq!(explained(&scheduler, probed, 5).1, None, "it is being probed");
    let (value, next, reason) = explained(&scheduler, waits, 5);
    assert!(value > 0.5 && reason == Reason::Interval, "{value}, {reason:?}");
    assert!(next.is_some_and(|next| (at(5)..=at(9)).contains(&next)), "{next:?}");
    // A source whose changes are wanted says which comes first.
    scheduler.apply(at(5), succeeded(probed));
    let rested_at_30 = SourceTerms { shortest_gap: Duration::from_secs(24), ..terms(1) };
    scheduler.apply(at(6), joined(1, rested_at_30, sure(1e-6), Some(at(6))));
    choose(&mut scheduler, 7);
    assert_eq!(explained(&scheduler, 1, 7).1, Some(at(30)));
    assert_eq!(explained(&scheduler, 1, 7).2, Reason::Interval);
    scheduler.apply(at(8), Input::ProbeRequested { resource: ResourceIdx(1) });
    assert_eq!(explained(&scheduler, 1, 8).2, Reason::Requested);
}

#[test]
fn a_probe_that_began_within_an_interval_may_end_after_it() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 4)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    for second in 3..20 {
        assert_eq!(choose(&mut scheduler, second), [], "it is under way");
    }
    scheduler.apply(at(20), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
}

#[test]
fn an_interval_that_begins_within_a_second_is_not_probed_for_before_it_begins() {
    let mut scheduler = idle();
    let start = at(2).plus(Duration::from_millis(500));
    arrive(&mut scheduler, 1, &[Interval { start, ..interval(0, 2, 4) }], 1);
    assert_eq!(choose(&mut scheduler, 2), []);
    assert_eq!(sources(&choose(&mut scheduler, 3)), [0]);
    scheduler.apply(at(3), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
}

#[test]
fn the_last_moment_of_an_interval_counts() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 4)], 1);
    scheduler.apply(at(1), Input::HostHeld { host: HostIdx(0), until: at(4) });
    for second in 2..4 {
        assert_eq!(choose(&mut scheduler, second), [], "its host is held");
    }
    assert_eq!(sources(&choose(&mut scheduler, 4)), [0]);
    scheduler.apply(at(4), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
}

/// One for each of these sources, all of them wanted, from second 2 to 30.
fn three_on_three_hosts(per_second: f64) -> Scheduler {
    let mut scheduler = Scheduler::new(settings(per_second));
    for source in 0..3 {
        scheduler.apply(at(0), host(source, 1));
        let terms = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(source) };
        scheduler.apply(at(0), joined(source, terms, sure(1e-3), None));
    }
    arrive(&mut scheduler, 1, &[interval(0, 2, 30), interval(1, 2, 30), interval(2, 2, 30)], 3);
    scheduler
}

#[test]
fn what_is_due_is_not_lost_when_the_budget_is_lowered_before_it_is_paid() {
    let mut scheduler = three_on_three_hosts(3.0);
    choose(&mut scheduler, 1);
    let mut chosen = Vec::new();
    scheduler.choose(at(2), 1, &mut chosen);
    assert_eq!(chosen.len(), 1, "there is room for one at a time");
    scheduler.apply(at(2), Input::Budget(Pace { per_second: 0.4 }));
    for second in 2..15 {
        chosen.extend(choose(&mut scheduler, second));
    }
    assert_eq!(chosen.len(), 3, "{chosen:?}");
    (0..3).for_each(|source| scheduler.apply(at(15), succeeded(source)));
    assert_eq!(scheduler.take_cei_events().last(), Some(&Captured { cei: ID }));
}

/// Changes wait in the queue all the time; what has no place in the plan comes after them.
#[test]
fn intervals_are_planned_with_the_budget_that_there_is_now() {
    let mut scheduler = Scheduler::new(settings(0.001));
    scheduler.apply(at(0), host(0, 10));
    scheduler.apply(at(0), host(1, 10));
    for source in 4..60 {
        scheduler.apply(at(0), joined(source, terms(1), sure(0.01), Some(at(-1_000))));
    }
    for source in 0..4 {
        let terms = SourceTerms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(1e-3), None));
    }
    choose(&mut scheduler, 0);
    let intervals = (0..4).map(|source| interval(source, 20, 30)).collect();
    let (captured, need, weight) = (Vec::new(), 4, 1_000.0);
    scheduler.apply(at(1), Input::CeiArrived { cei: ID, intervals, captured, need, weight });
    choose(&mut scheduler, 1);
    scheduler.apply(at(2), Input::Budget(Pace { per_second: 1.0 }));
    for second in 2..=31 {
        for source in sources(&choose(&mut scheduler, second)) {
            scheduler.apply(at(second), succeeded(source));
        }
    }
    assert_eq!(scheduler.take_cei_events().last(), Some(&Captured { cei: ID }));
}

#[test]
fn a_probe_that_began_after_an_interval_does_not_capture_it() {
    let mut scheduler = idle();
    let end = at(2).plus(Duration::from_millis(500));
    let late = Interval { resource: ResourceIdx(0), source: SourceIdx(0), start: at(2), finish: end };
    scheduler.apply(
        at(1),
        Input::CeiArrived { cei: ID, intervals: vec![late], captured: Vec::new(), need: 1, weight: 1.0 },
    );
    // The host is held at the beginning of the second, and free when the interval is over.
    scheduler
        .apply(at(1), Input::HostHeld { host: HostIdx(0), until: at(2).plus(Duration::from_millis(700)) });
    assert_eq!(choose(&mut scheduler, 2), []);
    scheduler.apply(at(2), Input::ProbeRequested { resource: ResourceIdx(0) });
    let chosen = choose_at(&mut scheduler, at(2).plus(Duration::from_millis(800)));
    assert_eq!(chosen[0].reason, Reason::Requested);
    scheduler.apply(at(3), succeeded(0));
    choose(&mut scheduler, 3);
    assert_eq!(scheduler.take_cei_events(), [Lost { cei: ID }]);
}

/// Its request went out later than it was chosen: its host had to be waited for.
#[test]
fn a_probe_captures_the_intervals_that_it_begins_within_whenever_it_was_chosen() {
    // Over; not over yet; begun meanwhile.
    let three = [interval(0, 2, 4), interval(0, 2, 6), interval(0, 5, 9)];
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &three, 3);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    (3..=6).for_each(|second| drop(choose(&mut scheduler, second)));
    let resource = ResourceIdx(0);
    scheduler.apply(at(6), Input::ProbeBegan { resource });
    // Only two can still be captured.
    assert_eq!(scheduler.take_cei_events(), [Lost { cei: ID }]);

    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &three, 2);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    (3..=6).for_each(|second| drop(choose(&mut scheduler, second)));
    scheduler.apply(at(6), Input::ProbeBegan { resource });
    let begun: Vec<u32> = scheduler.begun_intervals(resource).into_iter().map(|(_, _, own)| own).collect();
    assert_eq!(begun, [2, 1]);
    scheduler.apply(at(20), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(2), captured(1), Captured { cei: ID }]);
}

#[test]
fn an_interval_that_a_late_probe_does_not_capture_is_probed_again() {
    let mut scheduler = idle();
    // It ends within the second in which the probe begins, and is due again in no other.
    let finish = at(4).plus(Duration::from_millis(300));
    arrive(&mut scheduler, 1, &[Interval { finish, ..interval(0, 2, 4) }, interval(1, 20, 30)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    choose(&mut scheduler, 4);
    scheduler.apply(at(4).plus(Duration::from_millis(500)), Input::ProbeBegan { resource: ResourceIdx(0) });
    assert_eq!(scheduler.begun_intervals(ResourceIdx(0)), []);
    scheduler.apply(at(5), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), []);
    let next: Vec<u32> = (5..=25).flat_map(|second| sources(&choose(&mut scheduler, second))).collect();
    assert_eq!(next, [1], "the other one takes its place");
    scheduler.apply(at(25), succeeded(1));
    assert_eq!(scheduler.take_cei_events(), [captured(1), Captured { cei: ID }]);
}

#[test]
fn a_probe_that_fails_is_tried_again_while_the_interval_lasts() {
    for given_back in [false, true] {
        let mut scheduler = idle();
        arrive(&mut scheduler, 1, &[interval(0, 2, 9)], 1);
        assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
        let resource = ResourceIdx(0);
        let failed = if given_back {
            Input::ProbeReturned { resource }
        } else {
            Input::ProbeFailed { resource, not_before: at(5) }
        };
        scheduler.apply(at(3), failed);
        assert_eq!(scheduler.take_cei_events(), []);
        let again: Vec<i64> = (3..8).filter(|second| !choose(&mut scheduler, *second).is_empty()).collect();
        assert_eq!(again, [if given_back { 3 } else { 5 }]);
        scheduler.apply(at(8), succeeded(0));
        assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
    }
}

#[test]
fn a_need_is_lost_when_too_few_intervals_are_left() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 3), interval(1, 2, 30)], 2);
    scheduler.apply(at(1), Input::HostHeld { host: HostIdx(0), until: at(10) });
    (2..4).for_each(|second| drop(choose(&mut scheduler, second)));
    // The other is worth nothing without the first.
    choose(&mut scheduler, 4);
    let events = scheduler.take_cei_events();
    assert_eq!(events.last(), Some(&Lost { cei: ID }), "{events:?}");
    assert_eq!(choose(&mut scheduler, 11), []);
    // A failure after the end of the interval loses it as well.
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 3)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    choose(&mut scheduler, 6);
    assert_eq!(scheduler.take_cei_events(), [], "the probe may succeed");
    scheduler.apply(at(7), Input::ProbeFailed { resource: ResourceIdx(0), not_before: at(8) });
    assert_eq!(scheduler.take_cei_events(), [Lost { cei: ID }]);
}

#[test]
fn what_cannot_be_met_is_lost_at_once() {
    for (intervals, need) in [
        (vec![], 1),
        (vec![interval(0, 2, 4)], 2),
        (vec![interval(0, -9, -5)], 1),
        (vec![interval(0, 5, 4)], 1),
    ] {
        let mut scheduler = idle();
        arrive(&mut scheduler, 1, &intervals, need);
        assert_eq!(scheduler.take_cei_events(), [Lost { cei: ID }], "{intervals:?}");
    }
}

#[test]
fn a_need_can_be_extended_while_a_probe_for_it_is_under_way() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 9)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    let more = vec![interval(1, 4, 6), interval(3, 4, 6)];
    scheduler.apply(at(3), Input::CeiExtended { cei: ID, intervals: more, need: 1 });
    scheduler.apply(at(3), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0)]);
    let next = sources(&choose(&mut scheduler, 4));
    assert_eq!(next.len(), 1);
    scheduler.apply(at(5), succeeded(next[0]));
    let interval = if next[0] == 1 { 1 } else { 2 };
    assert_eq!(scheduler.take_cei_events(), [captured(interval), Captured { cei: ID }]);
}

/// Its owner describes it anew: one of its sources was edited, or what it wants has changed.
#[test]
fn a_need_that_is_described_anew_keeps_the_probe_under_way() {
    let two = [interval(0, 2, 4), interval(1, 20, 30)];
    let turned = [interval(3, 20, 30), two[1], two[0]];
    let cases: [(&[Interval], i64, Vec<CeiEvent>); 5] = [
        (&two, 3, vec![captured(0)]),
        (&turned, 3, vec![captured(2)]),
        // The interval is over, and the probe began within it.
        (&two, 6, vec![captured(0)]),
        // This one is no longer wanted, and another takes its place.
        (&[interval(0, 2, 5), two[1]], 3, vec![]),
        (&[interval(3, 2, 4), two[1]], 3, vec![]),
    ];
    for (anew, when, expected) in cases {
        let mut scheduler = idle();
        arrive(&mut scheduler, 1, &two, 2);
        assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
        arrive(&mut scheduler, when, anew, 2);
        assert_eq!(scheduler.begun_intervals(ResourceIdx(0)).len(), expected.len(), "{anew:?}");
        scheduler.apply(at(7), succeeded(0));
        assert_eq!(scheduler.take_cei_events(), expected, "{anew:?}");
    }
}

#[test]
fn a_need_that_is_described_anew_has_what_fails_probed_again() {
    let mut scheduler = idle();
    let two = [interval(0, 2, 9), interval(1, 20, 30)];
    arrive(&mut scheduler, 1, &two, 2);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    arrive(&mut scheduler, 3, &two, 2);
    scheduler.apply(at(4), Input::ProbeFailed { resource: ResourceIdx(0), not_before: at(5) });
    assert_eq!(sources(&choose(&mut scheduler, 5)), [0]);
    scheduler.apply(at(6), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0)]);
}

#[test]
fn a_need_can_be_extended_after_the_end_of_an_interval_that_is_being_probed() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 4)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 2)), [0]);
    choose(&mut scheduler, 7);
    scheduler.apply(at(7), Input::CeiExtended { cei: ID, intervals: vec![interval(1, 8, 9)], need: 1 });
    scheduler.apply(at(7), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0)]);
    assert_eq!(sources(&choose(&mut scheduler, 8)), [1]);
}

#[test]
fn a_need_that_is_withdrawn_costs_nothing_more() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 2, 9), interval(1, 2, 9)], 2);
    assert_eq!(choose(&mut scheduler, 2).len(), 1);
    scheduler.apply(at(2), Input::CeiWithdrawn { cei: ID });
    scheduler.apply(at(3), succeeded(0));
    scheduler.apply(at(3), succeeded(1));
    assert_eq!(choose(&mut scheduler, 3), []);
    assert_eq!(scheduler.take_cei_events(), []);
}

#[test]
fn a_need_that_is_withdrawn_is_not_probed_for_while_others_are_open() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 1, &[interval(0, 5, 9), interval(1, 5, 9)], 2);
    let other = Input::CeiArrived {
        cei: CeiId(8),
        intervals: vec![interval(2, 15, 20)],
        captured: Vec::new(),
        need: 1,
        weight: 1.0,
    };
    scheduler.apply(at(1), other);
    assert_eq!(choose(&mut scheduler, 2), [], "both are planned");
    scheduler.apply(at(2), Input::CeiWithdrawn { cei: ID });
    let mut probed = Vec::new();
    for second in 3..30 {
        for source in sources(&choose(&mut scheduler, second)) {
            probed.push(source);
            scheduler.apply(at(second), succeeded(source));
        }
    }
    assert_eq!(probed, [2]);
    let events = scheduler.take_cei_events();
    assert_eq!(events, [IntervalCaptured { cei: CeiId(8), interval: 0 }, Captured { cei: CeiId(8) }]);
}

/// One probe serves the change demand and the interval on the same source.
#[test]
fn a_probe_for_changes_captures_intervals_too() {
    let mut scheduler = idle();
    scheduler.apply(at(1), joined(0, terms(0), sure(1e-3), None));
    arrive(&mut scheduler, 1, &[interval(0, 2, 9)], 1);
    let chosen = choose(&mut scheduler, 2);
    assert_eq!(sources(&chosen), [0]);
    scheduler.apply(at(3), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
    assert_eq!(choose(&mut scheduler, 4), [], "neither is due again");
}

#[test]
fn intervals_survive_a_clock_that_is_set_back() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 100, &[interval(0, 110, 200), interval(1, 40, 60)], 1);
    choose(&mut scheduler, 100);
    // An hour of clock is gained; both windows are ahead again.
    choose(&mut scheduler, 20);
    assert_eq!(scheduler.take_cei_events(), []);
    let mut probed = Vec::new();
    for second in 21..120 {
        for source in sources(&choose(&mut scheduler, second)) {
            probed.push((second, source));
            scheduler.apply(at(second), succeeded(source));
        }
    }
    assert_eq!(scheduler.take_cei_events().last(), Some(&Captured { cei: ID }), "{probed:?}");
    assert_eq!(probed.len(), 1, "{probed:?}");
}

#[test]
fn a_probe_under_way_captures_although_the_clock_is_set_back_meanwhile() {
    let mut scheduler = idle();
    arrive(&mut scheduler, 100, &[interval(0, 40, 200)], 1);
    assert_eq!(sources(&choose(&mut scheduler, 100)), [0]);
    assert_eq!(choose(&mut scheduler, 50), []);
    scheduler.apply(at(52), succeeded(0));
    assert_eq!(scheduler.take_cei_events(), [captured(0), Captured { cei: ID }]);
}

/// What is appended is still there later: a probe of these sources that is put off brings all the more. So a need takes
/// precedence although its weight is less than the price of a probe.
#[test]
fn needs_of_little_weight_are_met_where_changes_lose_nothing_by_waiting() {
    let mut scheduler = Scheduler::new(settings(1.0));
    scheduler.apply(at(0), host(0, 99));
    let value = ValueModel::new(Life::Append, Urgency::Uniform);
    for source in 0..100 {
        let terms = SourceTerms { value, ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(0.02), Some(at(-i64::from(source)))));
    }
    for source in 100..200 {
        let terms = SourceTerms { wants_changes: false, ..terms(0) };
        scheduler.apply(at(0), joined(source, terms, sure(0.02), None));
    }
    let arrive = |scheduler: &mut Scheduler, now, source, start, weight| {
        let (cei, captured) = (CeiId(u64::from(source)), Vec::new());
        let intervals = vec![interval(source, start, start + 1)];
        scheduler.apply(at(now), Input::CeiArrived { cei, intervals, captured, need: 1, weight });
    };
    // What waiting costs the others is learned while there are needs.
    arrive(&mut scheduler, 0, 100, 5_000, 1.0);
    for second in 1..=600 {
        step(&mut scheduler, at(second));
    }
    scheduler.take_cei_events();
    let n_needs = 90;
    for (source, second) in (101..).zip((604..).step_by(4)).take(n_needs) {
        let weight = scheduler.stats().price / 3.0;
        arrive(&mut scheduler, second, source, second, weight);
        (second..second + 4).for_each(|second| assert_eq!(step(&mut scheduler, at(second)).len(), 1));
    }
    let events = scheduler.take_cei_events();
    let n_lost = events.iter().filter(|event| matches!(event, Lost { .. })).count();
    assert!(n_lost <= n_needs / 20, "{n_lost} of {n_needs} lost");
}
