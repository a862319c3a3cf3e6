//! Promises about what is written down for later: decisions, politeness, settings, notes.

use dunlin_store::{DecisionQuery, NewDecision, Note, Order, Politeness, Retention, SourceId};

use super::Fresh;
use crate::fixtures::{self, time};

pub(crate) fn decisions_are_read_by_source_and_time(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    let decision = |second, source| NewDecision {
        at: time(second),
        source,
        reason: format!("reason {second}").into(),
        figures: vec![0, 255, second.to_le_bytes()[0]],
    };
    let written = [decision(1, Some(a)), decision(2, None), decision(3, Some(b)), decision(4, Some(a))];
    store.append_decisions(&written[..3]).unwrap();
    store.append_decisions(&written[3..]).unwrap();
    let read = |query: DecisionQuery| -> Vec<NewDecision> {
        store.decisions(&query).unwrap().into_iter().map(|found| found.decision).collect()
    };
    let all = DecisionQuery::first(100);
    assert_eq!(read(all), written);
    assert_eq!(read(DecisionQuery { source: Some(a), ..all }), [written[0].clone(), written[3].clone()]);
    assert_eq!(read(DecisionQuery { since: Some(time(2)), until: Some(time(4)), ..all }), written[1..3]);
    let second = store.decisions(&DecisionQuery::first(2)).unwrap()[1].id;
    assert_eq!(read(DecisionQuery { after: Some(second), ..all }), written[2..]);

    // Those written together go together, when the latest of them may.
    let prune = |before| {
        let limit = Retention { decisions_before: Some(time(before)), ..Retention::default() };
        store.prune(limit).unwrap().decisions
    };
    assert_eq!((prune(3), prune(4)), (0, 3));
    assert_eq!(read(all), written[3..]);
    // A replay still needs to know which source it was about.
    store.remove_source(a).unwrap();
    assert_eq!(read(all), written[3..]);
}

pub(crate) fn decisions_are_listed_from_either_end(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let decision = |number: i64| NewDecision {
        at: time(number),
        source: (number % 3 == 0).then_some(a),
        reason: number.to_string().into(),
        figures: vec![7; 400],
    };
    // More than fit into one row of any store, and a few single ones.
    store.append_decisions(&(0..1000).map(decision).collect::<Vec<_>>()).unwrap();
    store.append_decisions(&[]).unwrap();
    (1000..1003).for_each(|number| store.append_decisions(&[decision(number)]).unwrap());
    for order in [Order::OldestFirst, Order::NewestFirst] {
        for source in [None, Some(a)] {
            let mut expected: Vec<NewDecision> = (0..1003).map(decision).collect();
            expected.retain(|decision| source.is_none() || decision.source == source);
            if order == Order::NewestFirst {
                expected.reverse();
            }
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let query = DecisionQuery { source, order, after, ..DecisionQuery::first(70) };
                let page = store.decisions(&query).unwrap();
                assert!(page.len() <= 70, "{}", page.len());
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                found.extend(page.into_iter().map(|row| row.decision));
                assert!(found.len() <= expected.len(), "pages go round in circles");
            }
            assert_eq!(found, expected, "{order:?} {source:?}");
        }
    }
}

pub(crate) fn politeness_is_remembered_by_scope(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let about = |scope: &str, state: &[u8]| Politeness { scope: scope.to_owned(), state: state.to_vec() };
    store.remember_politeness(vec![about("b", b"1"), about("a", b"1"), about("c", b"1")]).unwrap();
    let mut capture = fixtures::probe(source, 1);
    capture.politeness = vec![about("b", b"2")];
    store.record_capture(capture).unwrap();
    store.remember_politeness(vec![about("c", b"")]).unwrap();
    assert_eq!(store.politeness().unwrap(), [about("a", b"1"), about("b", b"2")]);
}

pub(crate) fn settings_and_notes_are_replaced(fresh: Fresh<'_>) {
    let store = fresh();
    assert_eq!(store.setting("budget").unwrap(), None);
    store.set_setting("budget", Some("1".to_owned())).unwrap();
    store.set_setting("budget", Some("2".to_owned())).unwrap();
    assert_eq!(store.setting("budget").unwrap().as_deref(), Some("2"));
    for name in ["token:b", "token:a", "token", "Token:c", "tokens", "my-token:d"] {
        store.set_setting(name, Some(format!("\"{name}\""))).unwrap();
    }
    let listed = |prefix: &str| -> Vec<String> {
        store.settings(prefix).unwrap().into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    assert_eq!(listed("token:"), ["token:a=\"token:a\"", "token:b=\"token:b\""]);
    assert_eq!(listed("budget"), ["budget=2"]);
    assert_eq!(listed("%"), [""; 0], "a prefix is no pattern");
    store.set_setting("budget", None).unwrap();
    assert_eq!(store.setting("budget").unwrap(), None);

    let source = store.add_source(fixtures::source("a")).unwrap();
    let note = |name: &str, value: &[u8]| Note { name: name.to_owned(), value: value.to_vec() };
    for (number, notes) in [(1, vec![note("etag", b"1"), note("noise", b"x")]), (2, vec![note("etag", b"2")])]
    {
        let mut capture = fixtures::probe(source, number);
        capture.notes = notes;
        store.record_capture(capture).unwrap();
    }
    assert_eq!(store.notes(source).unwrap(), [note("etag", b"2"), note("noise", b"x")]);
    // Also without a capture; a missing source does not keep the notes of others from being stored.
    let gone = (SourceId(99), note("etag", b"3"));
    store.remember_notes(vec![gone, (source, note("noise", b"y")), (source, note("new", b""))]).unwrap();
    let expected = [note("etag", b"2"), note("new", b""), note("noise", b"y")];
    assert_eq!(store.notes(source).unwrap(), expected);
    assert_eq!(store.notes(SourceId(99)).unwrap(), []);
}
