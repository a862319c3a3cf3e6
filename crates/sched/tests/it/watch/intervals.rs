//! Needs that span sources: which probe captures what, when probes take time, fail, are given back or come late.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::model::Seen;
use dunlin_sched::watch::CeiEvent::{Captured, IntervalCaptured, Lost};
use dunlin_sched::watch::{CeiEvent, CeiId, Choice, HostIdx, Input, Interval, Reason, Terms, Watch};

use super::{at, host, joined, settings, sure, terms};

const ID: CeiId = CeiId(7);

/// Four sources on two hosts that are probed for needs only, one probe in a second.
fn idle() -> Watch {
    let mut watch = Watch::new(settings(1.0));
    for number in 0..2 {
        watch.apply(at(0), host(number, 1));
    }
    for source in 0..4 {
        let terms = Terms { wants_changes: false, shortest_gap: Duration::ZERO, ..terms(source % 2) };
        watch.apply(at(0), joined(source, terms, sure(1e-3), None));
    }
    assert_eq!(choose(&mut watch, 0), [], "nobody wants anything");
    watch
}

fn interval(source: u32, start: i64, finish: i64) -> Interval {
    Interval { source: SourceIdx(source), start: at(start), finish: at(finish) }
}

fn arrive(watch: &mut Watch, now: i64, intervals: &[Interval], need: u32) {
    let intervals = intervals.to_vec();
    watch.apply(at(now), Input::CeiArrived { cei: ID, intervals, need, weight: 1.0 });
}

fn choose(watch: &mut Watch, now: i64) -> Vec<Choice> {
    choose_at(watch, at(now))
}

fn choose_at(watch: &mut Watch, now: Time) -> Vec<Choice> {
    let mut chosen = Vec::new();
    watch.choose(now, usize::MAX, &mut chosen);
    chosen
}

fn sources(chosen: &[Choice]) -> Vec<u32> {
    chosen.iter().map(|choice| choice.source.0).collect()
}

fn succeeded(source: u32) -> Input {
    Input::Looked { source: SourceIdx(source), seen: Seen::Unchanged }
}

const fn captured(interval: u32) -> CeiEvent {
    IntervalCaptured { cei: ID, interval }
}

#[test]
fn a_need_is_met_by_probes_within_its_intervals() {
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 4), interval(1, 6, 9)], 2);
    assert_eq!(choose(&mut watch, 1), []);
    let chosen = choose(&mut watch, 2);
    assert_eq!((sources(&chosen), chosen[0].reason), (vec![0], Reason::Interval));
    assert!(chosen[0].value > 0.0, "{chosen:?}");
    watch.apply(at(3), succeeded(0));
    assert_eq!(watch.take_cei_events(), [captured(0)]);
    assert_eq!(choose(&mut watch, 5), []);
    assert_eq!(sources(&choose(&mut watch, 6)), [1]);
    watch.apply(at(6), succeeded(1));
    assert_eq!(watch.take_cei_events(), [captured(1), Captured { cei: ID }]);
    assert_eq!(choose(&mut watch, 7), [], "it is met");
}

#[test]
fn a_probe_that_began_within_an_interval_may_end_after_it() {
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 4)], 1);
    assert_eq!(sources(&choose(&mut watch, 2)), [0]);
    for second in 3..20 {
        assert_eq!(choose(&mut watch, second), [], "it is under way");
    }
    watch.apply(at(20), succeeded(0));
    assert_eq!(watch.take_cei_events(), [captured(0), Captured { cei: ID }]);
}

#[test]
fn a_probe_that_began_after_an_interval_does_not_capture_it() {
    let mut watch = idle();
    let end = at(2).plus(Duration::from_millis(500));
    let late = Interval { source: SourceIdx(0), start: at(2), finish: end };
    watch.apply(at(1), Input::CeiArrived { cei: ID, intervals: vec![late], need: 1, weight: 1.0 });
    // The host is held at the beginning of the second, and free when the interval is over.
    watch.apply(at(1), Input::Held { host: HostIdx(0), until: at(2).plus(Duration::from_millis(700)) });
    assert_eq!(choose(&mut watch, 2), []);
    watch.apply(at(2), Input::Wanted { source: SourceIdx(0) });
    let chosen = choose_at(&mut watch, at(2).plus(Duration::from_millis(800)));
    assert_eq!(chosen[0].reason, Reason::Wanted);
    watch.apply(at(3), succeeded(0));
    choose(&mut watch, 3);
    assert_eq!(watch.take_cei_events(), [Lost { cei: ID }]);
}

#[test]
fn a_probe_that_fails_is_tried_again_while_the_interval_lasts() {
    for given_back in [false, true] {
        let mut watch = idle();
        arrive(&mut watch, 1, &[interval(0, 2, 9)], 1);
        assert_eq!(sources(&choose(&mut watch, 2)), [0]);
        let source = SourceIdx(0);
        let failed =
            if given_back { Input::Returned { source } } else { Input::Failed { source, not_before: at(5) } };
        watch.apply(at(3), failed);
        assert_eq!(watch.take_cei_events(), []);
        let again: Vec<i64> = (3..8).filter(|second| !choose(&mut watch, *second).is_empty()).collect();
        assert_eq!(again, [if given_back { 3 } else { 5 }]);
        watch.apply(at(8), succeeded(0));
        assert_eq!(watch.take_cei_events(), [captured(0), Captured { cei: ID }]);
    }
}

#[test]
fn a_need_is_lost_when_too_few_intervals_are_left() {
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 3), interval(1, 2, 30)], 2);
    watch.apply(at(1), Input::Held { host: HostIdx(0), until: at(10) });
    (2..4).for_each(|second| drop(choose(&mut watch, second)));
    // The other is worth nothing without the first.
    choose(&mut watch, 4);
    let events = watch.take_cei_events();
    assert_eq!(events.last(), Some(&Lost { cei: ID }), "{events:?}");
    assert_eq!(choose(&mut watch, 11), []);
    // A failure after the end of the interval loses it as well.
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 3)], 1);
    assert_eq!(sources(&choose(&mut watch, 2)), [0]);
    choose(&mut watch, 6);
    assert_eq!(watch.take_cei_events(), [], "the probe may succeed");
    watch.apply(at(7), Input::Failed { source: SourceIdx(0), not_before: at(8) });
    assert_eq!(watch.take_cei_events(), [Lost { cei: ID }]);
}

#[test]
fn what_cannot_be_met_is_lost_at_once() {
    for (intervals, need) in [
        (vec![], 1),
        (vec![interval(0, 2, 4)], 2),
        (vec![interval(0, -9, -5)], 1),
        (vec![interval(0, 5, 4)], 1),
    ] {
        let mut watch = idle();
        arrive(&mut watch, 1, &intervals, need);
        assert_eq!(watch.take_cei_events(), [Lost { cei: ID }], "{intervals:?}");
    }
}

#[test]
fn a_need_can_be_extended_while_a_probe_for_it_is_under_way() {
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 9)], 1);
    assert_eq!(sources(&choose(&mut watch, 2)), [0]);
    let more = vec![interval(1, 4, 6), interval(3, 4, 6)];
    watch.apply(at(3), Input::CeiExtended { cei: ID, intervals: more, need: 1 });
    watch.apply(at(3), succeeded(0));
    assert_eq!(watch.take_cei_events(), [captured(0)]);
    let next = sources(&choose(&mut watch, 4));
    assert_eq!(next.len(), 1);
    watch.apply(at(5), succeeded(next[0]));
    let interval = if next[0] == 1 { 1 } else { 2 };
    assert_eq!(watch.take_cei_events(), [captured(interval), Captured { cei: ID }]);
}

#[test]
fn a_need_that_is_withdrawn_costs_nothing_more() {
    let mut watch = idle();
    arrive(&mut watch, 1, &[interval(0, 2, 9), interval(1, 2, 9)], 2);
    assert_eq!(choose(&mut watch, 2).len(), 1);
    watch.apply(at(2), Input::CeiWithdrawn { cei: ID });
    watch.apply(at(3), succeeded(0));
    watch.apply(at(3), succeeded(1));
    assert_eq!(choose(&mut watch, 3), []);
    assert_eq!(watch.take_cei_events(), []);
}

/// One probe serves the change demand and the interval on the same source.
#[test]
fn a_probe_for_changes_captures_intervals_too() {
    let mut watch = idle();
    watch.apply(at(1), joined(0, terms(0), sure(1e-3), None));
    arrive(&mut watch, 1, &[interval(0, 2, 9)], 1);
    let chosen = choose(&mut watch, 2);
    assert_eq!(sources(&chosen), [0]);
    watch.apply(at(3), succeeded(0));
    assert_eq!(watch.take_cei_events(), [captured(0), Captured { cei: ID }]);
    assert_eq!(choose(&mut watch, 4), [], "neither is due again");
}

#[test]
fn intervals_survive_a_clock_that_is_set_back() {
    let mut watch = idle();
    arrive(&mut watch, 100, &[interval(0, 110, 200), interval(1, 40, 60)], 1);
    choose(&mut watch, 100);
    // An hour of clock is gained; both windows are ahead again.
    choose(&mut watch, 20);
    assert_eq!(watch.take_cei_events(), []);
    let mut probed = Vec::new();
    for second in 21..120 {
        for source in sources(&choose(&mut watch, second)) {
            probed.push((second, source));
            watch.apply(at(second), succeeded(source));
        }
    }
    assert_eq!(watch.take_cei_events().last(), Some(&Captured { cei: ID }), "{probed:?}");
    assert_eq!(probed.len(), 1, "{probed:?}");
}
