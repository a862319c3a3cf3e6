//! Promises about maintenance of a store.

use dunlin_store::{
    Depth, ItemScope, NewDecision, ObservationQuery, Retention, SourceId, Store, VersionId, VersionQuery,
};

use super::Fresh;
use crate::fixtures::{self, Numbers, time};

/// A source with that many versions, each a little different from the one before.
fn history(store: &dyn Store, name: &str, n_versions: u64) -> (SourceId, Vec<(VersionId, Vec<u8>)>) {
    let source = store.add_source(fixtures::source(name)).unwrap();
    let mut numbers = Numbers(n_versions + name.len() as u64);
    let mut page = numbers.bytes(1500);
    let versions = (1..=n_versions).map(|number| {
        page.splice(10..20, numbers.bytes(10));
        let recorded = store.record_capture(fixtures::news(source, number, &page)).unwrap();
        (recorded.version.unwrap(), page.clone())
    });
    (source, versions.collect())
}

fn remaining(store: &dyn Store, source: SourceId) -> usize {
    store.versions(&VersionQuery { source, before: None, limit: 1000 }).unwrap().len()
}

pub(crate) fn a_capture_removes_the_versions_it_makes_too_many(fresh: Fresh<'_>) {
    let store = fresh();
    let (source, versions) = history(store.as_ref(), "a", 5);
    let (other, _) = history(store.as_ref(), "other", 5);
    let mut capture = fixtures::news(source, 6, b"the sixth");
    capture.keep_versions = Some(3);
    store.record_capture(capture.clone()).unwrap();
    assert_eq!((remaining(store.as_ref(), source), remaining(store.as_ref(), other)), (3, 5));
    assert_eq!(&store.content(versions[4].0).unwrap(), &versions[4].1, "one that stays can be read");
    // Without a new version, nothing is too many.
    (capture.probe, capture.keep_versions) = (dunlin_store::ProbeId(7), Some(1));
    store.record_capture(capture.clone()).unwrap();
    assert_eq!(remaining(store.as_ref(), source), 3);
    (capture.probe, capture.keep_versions) = (dunlin_store::ProbeId(8), Some(0));
    capture.version.as_mut().unwrap().content = b"the seventh".to_vec();
    let seventh = store.record_capture(capture).unwrap().version.unwrap();
    assert_eq!(remaining(store.as_ref(), source), 1);
    assert_eq!(store.content(seventh).unwrap(), b"the seventh");
    assert!(store.check(Depth::Everything).unwrap().is_sound());
}

pub(crate) fn the_newest_time_is_that_of_the_last_thing_that_happened(fresh: Fresh<'_>) {
    let store = fresh();
    assert_eq!(store.newest_time().unwrap(), None);
    let source = store.add_source(fixtures::source("a")).unwrap();
    store.record_capture(fixtures::news(source, 3, b"news")).unwrap();
    assert_eq!(store.newest_time().unwrap(), Some(time(3)));
    store.record_capture(fixtures::probe(source, 5)).unwrap();
    assert_eq!(store.newest_time().unwrap(), Some(time(5)));
    let decision = NewDecision { at: time(7), source: None, reason: "".into(), figures: Vec::new() };
    store.append_decisions(&[decision]).unwrap();
    assert_eq!(store.newest_time().unwrap(), Some(time(7)));
}

pub(crate) fn the_newest_version_is_never_pruned(fresh: Fresh<'_>) {
    let store = fresh();
    let (source, versions) = history(store.as_ref(), "a", 5);
    let everything =
        Retention { keep_versions: Some(0), versions_before: Some(time(1000)), ..Retention::default() };
    let pruned = store.prune(everything).unwrap();
    assert_eq!(pruned.versions, 4);
    assert_eq!(remaining(store.as_ref(), source), 1);
    let (newest, content) = versions.last().unwrap();
    assert_eq!(&store.content(*newest).unwrap(), content);
    // Changes stay, and say that their version is gone.
    let changes = fixtures::all_changes(store.as_ref());
    let with_version = changes.iter().filter(|change| change.version.is_some()).count();
    assert_eq!((changes.len(), with_version), (5, 1));
}

pub(crate) fn pruning_keeps_what_deltas_need(fresh: Fresh<'_>) {
    let store = fresh();
    let (source, versions) = history(store.as_ref(), "a", 40);
    let (other, _) = history(store.as_ref(), "other", 3);
    for keep in [33, 17, 9, 4, 1] {
        store.prune(Retention { keep_versions: Some(keep), ..Retention::default() }).unwrap();
        assert_eq!(remaining(store.as_ref(), source), keep as usize);
        for (version, content) in &versions[versions.len() - keep as usize..] {
            assert_eq!(&store.content(*version).unwrap(), content, "keeping {keep}");
        }
        let findings = store.check(Depth::Everything).unwrap();
        assert!(findings.is_sound(), "{findings:?}");
    }
    assert_eq!(remaining(store.as_ref(), other), 1);
    // The newest version of each, and at most one chain of deltas below it.
    let contents = store.statistics().unwrap().contents;
    assert!(contents <= 2 * 11, "{contents} contents left for two versions");
    store.compact().unwrap();
    assert_eq!(&store.content(versions[39].0).unwrap(), &versions[39].1);
}

pub(crate) fn pruning_by_age_touches_only_what_is_named(fresh: Fresh<'_>) {
    let store = fresh();
    let (source, _) = history(store.as_ref(), "a", 10);
    for (number, keys) in [(11, vec!["x", "y"]), (12, vec!["y"]), (13, vec![])] {
        let mut capture = fixtures::probe(source, number);
        capture.items = Some(keys.into_iter().map(|key| fixtures::item(key, "1")).collect());
        store.record_capture(capture).unwrap();
    }
    let decision =
        |second| NewDecision { at: time(second), source: None, reason: "".into(), figures: Vec::new() };
    (1..=10).for_each(|second| store.append_decisions(&[decision(second)]).unwrap());

    let nothing = store.prune(Retention::default()).unwrap();
    assert_eq!(nothing, dunlin_store::Pruned::default());
    let limit = Some(time(4));
    let pruned = store.prune(Retention { versions_before: limit, ..Retention::default() }).unwrap();
    assert_eq!((pruned.versions, pruned.changes, pruned.decisions), (3, 0, 0));
    let pruned = store
        .prune(Retention {
            changes_before: limit,
            observations_before: limit,
            decisions_before: limit,
            items_before: Some(time(13)),
            ..Retention::default()
        })
        .unwrap();
    assert_eq!((pruned.versions, pruned.changes, pruned.observations), (0, 3, 3));
    assert_eq!((pruned.decisions, pruned.items), (3, 1));
    assert_eq!(store.items(source, ItemScope::Remembered).unwrap().len(), 1);
    let query = ObservationQuery { source: Some(source), after: None, limit: 100 };
    assert_eq!(store.observations(&query).unwrap()[0].at, time(4));
}

pub(crate) fn statistics_count_what_is_there(fresh: Fresh<'_>) {
    let store = fresh();
    let empty = store.statistics().unwrap();
    assert_eq!((empty.sources, empty.content_bytes, empty.changes), (0, 0, 0));
    let (source, _) = history(store.as_ref(), "a", 3);
    let mut capture = fixtures::probe(source, 9);
    capture.items = Some(vec![fixtures::item("x", "1")]);
    capture.messages = vec![fixtures::message("m")];
    store.record_capture(capture).unwrap();
    let decision = NewDecision { at: time(1), source: None, reason: "".into(), figures: Vec::new() };
    store.append_decisions(&vec![decision; 5]).unwrap();
    let found = store.statistics().unwrap();
    assert_eq!(found.decisions, 5);
    assert_eq!((found.sources, found.versions, found.contents, found.changes), (1, 3, 3, 3));
    assert_eq!((found.items, found.observations, found.messages), (1, 4, 1));
    assert_eq!(found.content_bytes, 4500);
    assert!(found.stored_bytes < 3000 && found.disk_bytes > found.stored_bytes, "{found:?}");
}

pub(crate) fn pruning_goes_through_all_sources(fresh: Fresh<'_>) {
    let store = fresh();
    let all = store.add_sources((0..320).map(|n| fixtures::source(&format!("s{n}"))).collect()).unwrap();
    // Two of the first hundred, none of the second, one beyond.
    for (number, place) in (1..).zip([3, 3, 3, 50, 50, 300, 300]) {
        let content = format!("content {number} of {place}");
        store.record_capture(fixtures::news(all[place], number, content.as_bytes())).unwrap();
    }
    let pruned = store.prune(Retention { keep_versions: Some(1), ..Retention::default() }).unwrap();
    assert_eq!((pruned.versions, pruned.contents), (4, 4));
    assert_eq!([3, 50, 300, 4].map(|place| remaining(store.as_ref(), all[place])), [1, 1, 1, 0]);
}
