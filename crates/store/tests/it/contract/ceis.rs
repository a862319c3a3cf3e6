//! Promises about the ledger of CEIs.

use dunlin_store::{
    CapturedInterval, CeiId, CeiQuery, CeiState, Error, NewCei, NewInterval, Retention, SourceId, Store,
    StoredCei,
};

use super::Fresh;
use crate::fixtures::{self, time};

fn interval(source: SourceId, start: i64, finish: i64) -> NewInterval {
    NewInterval { source, start: time(start), finish: time(finish) }
}

fn need(store: &dyn Store, intervals: Vec<NewInterval>, need: u32) -> CeiId {
    store.add_cei(NewCei { intervals, need, weight: 2.0, created: time(0) }).unwrap()
}

fn all(store: &dyn Store, state: Option<CeiState>) -> Vec<StoredCei> {
    store.ceis(&CeiQuery { after: None, state, limit: 100 }).unwrap()
}

fn captured(cei: &StoredCei) -> Vec<bool> {
    cei.intervals.iter().map(|interval| interval.captured.is_some()).collect()
}

/// The number of the observation.
fn capture(store: &dyn Store, source: SourceId, probe: u64, intervals: &[(CeiId, u32)]) -> i64 {
    let mut capture = fixtures::probe(source, probe);
    let captures = |&(cei, position): &(CeiId, u32)| CapturedInterval { cei, position };
    capture.intervals = intervals.iter().map(captures).collect();
    store.record_capture(capture).unwrap().observation.0
}

pub(crate) fn a_cei_is_captured_with_the_probe_that_completes_it(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, b] = ["a", "b"].map(|name| store.add_source(fixtures::source(name)).unwrap());
    let both = need(&*store, vec![interval(a, 0, 9), interval(b, 5, 9)], 2);
    let either = need(&*store, vec![interval(a, 0, 9), interval(b, 0, 9)], 1);
    let first = capture(&*store, a, 3, &[(both, 0), (either, 0)]);
    let open = all(&*store, Some(CeiState::Open));
    assert_eq!(open.iter().map(|cei| cei.id).collect::<Vec<_>>(), [both]);
    assert_eq!(open[0].intervals[0].captured.unwrap().0, first);
    assert_eq!((open[0].need, open[0].weight, open[0].created), (2, 2.0, time(0)));
    capture(&*store, b, 6, &[(both, 1), (either, 1)]);
    let ended = all(&*store, Some(CeiState::Captured));
    assert_eq!(
        ended.iter().map(|cei| (cei.id, cei.ended)).collect::<Vec<_>>(),
        [(both, Some(time(6))), (either, Some(time(3)))]
    );
    assert_eq!(captured(&ended[1]), [true, false], "what has ended stays as it is");
}

pub(crate) fn a_capture_recorded_again_captures_nothing_twice(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let id = need(&*store, vec![interval(a, 0, 9), interval(a, 20, 29)], 2);
    let first = capture(&*store, a, 1, &[(id, 0)]);
    assert_eq!(capture(&*store, a, 1, &[(id, 0)]), first);
    capture(&*store, a, 2, &[(id, 0)]);
    let cei = all(&*store, None).remove(0);
    assert_eq!((captured(&cei), cei.state), (vec![true, false], CeiState::Open));
    assert_eq!(cei.intervals[0].captured.unwrap().0, first, "the first capture counts");
}

pub(crate) fn an_open_cei_is_extended_and_one_that_has_ended_is_not(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let id = need(&*store, vec![interval(a, 0, 9)], 1);
    store.extend_cei(id, vec![interval(a, 20, 29), interval(a, 30, 39)], 1).unwrap();
    capture(&*store, a, 1, &[(id, 0)]);
    assert_eq!(all(&*store, None)[0].state, CeiState::Open, "one more is needed");
    capture(&*store, a, 31, &[(id, 2)]);
    let cei = all(&*store, None).remove(0);
    assert_eq!((captured(&cei), cei.state, cei.need), (vec![true, false, true], CeiState::Captured, 2));
    assert_eq!(cei.intervals[2].interval, interval(a, 30, 39));
    let late = store.extend_cei(id, vec![interval(a, 40, 49)], 1);
    assert_eq!(late, Err(Error::NoSuchCei(id)));
    assert_eq!(all(&*store, None)[0].intervals.len(), 3);
}

pub(crate) fn a_cei_ends_once(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let [lost, withdrawn, met] = [9, 9, 9].map(|finish| need(&*store, vec![interval(a, 0, finish)], 1));
    capture(&*store, a, 1, &[(met, 0)]);
    let ends = vec![(lost, CeiState::Lost), (withdrawn, CeiState::Withdrawn), (met, CeiState::Lost)];
    store.end_ceis(ends, time(10)).unwrap();
    store.end_ceis(vec![(lost, CeiState::Withdrawn)], time(11)).unwrap();
    capture(&*store, a, 12, &[(lost, 0)]);
    let states: Vec<_> = all(&*store, None).iter().map(|cei| (cei.state, cei.ended)).collect();
    let ended = |state, at| (state, Some(time(at)));
    assert_eq!(
        states,
        [ended(CeiState::Lost, 10), ended(CeiState::Withdrawn, 10), ended(CeiState::Captured, 1)]
    );
    let page = store.ceis(&CeiQuery { after: Some(lost), state: None, limit: 1 }).unwrap();
    assert_eq!(page[0].id, withdrawn);
    let old = Retention { observations_before: Some(time(5)), ..Retention::default() };
    store.prune(old).unwrap();
    assert_eq!(all(&*store, None).len(), 2, "those that ended long ago go");
}

pub(crate) fn a_cei_that_cannot_be_met_is_refused(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let good = NewCei { intervals: vec![interval(a, 0, 9)], need: 1, weight: 1.0, created: time(0) };
    for bad in [
        NewCei { need: 0, ..good.clone() },
        NewCei { need: 2, ..good.clone() },
        NewCei { weight: f64::NAN, ..good.clone() },
        NewCei { intervals: vec![interval(a, 9, 0)], ..good.clone() },
    ] {
        assert!(matches!(store.add_cei(bad), Err(Error::BadValue { .. })));
    }
    let id = store.add_cei(good).unwrap();
    assert!(matches!(store.extend_cei(id, vec![interval(a, 9, 0)], 1), Err(Error::BadValue { .. })));
    assert_eq!(all(&*store, None)[0].need, 1);
}

pub(crate) fn a_moment_is_an_interval(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let interval = |finish| NewInterval { source, start: time(5), finish: time(finish) };
    let cei = |finish| NewCei { intervals: vec![interval(finish)], need: 1, weight: 0.0, created: time(0) };
    store.add_cei(cei(5)).unwrap();
    assert!(matches!(store.add_cei(cei(4)), Err(Error::BadValue { what: "interval", .. })));
}
