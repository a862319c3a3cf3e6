//! Promises about resources: what is fetched once for all sources with the same request.

use dunlin_store::{ResourceId, SourceEdit, SourceId, Store};

use super::Fresh;
use crate::fixtures;

fn resource(store: &dyn Store, source: SourceId) -> ResourceId {
    store.source(source).unwrap().unwrap().resource
}

fn state(store: &dyn Store, source: SourceId) -> Vec<u8> {
    store.probe_bases(&[source], &[]).unwrap().remove(0).unwrap().fetch_state
}

pub(crate) fn sources_with_the_same_request_share_a_resource(fresh: Fresh<'_>) {
    let store = fresh();
    let with = |recipe: &str| {
        let new = dunlin_store::NewSource { recipe: recipe.to_owned(), ..fixtures::source("a") };
        store.add_source(new).unwrap()
    };
    let (whole, part) = (with("{}"), with(r#"{"recipe": {"html_selector": {"css": ".price"}}}"#));
    let (signed, other) =
        (with(r#"{"headers": {"Cookie": "a"}}"#), store.add_source(fixtures::source("b")).unwrap());
    assert_eq!(resource(&*store, whole), resource(&*store, part));
    for apart in [signed, other] {
        assert_ne!(resource(&*store, apart), resource(&*store, whole));
    }
    assert_ne!(resource(&*store, signed), resource(&*store, other));
}

pub(crate) fn what_a_fetch_leaves_is_there_for_all_who_share_it(fresh: Fresh<'_>) {
    let store = fresh();
    let [one, two] = ["a", "a"].map(|name| store.add_source(fixtures::source(name)).unwrap());
    let other = store.add_source(fixtures::source("b")).unwrap();
    assert_eq!(state(&*store, one), b"");
    let mut capture = fixtures::probe(one, 1);
    capture.fetch_state = Some(b"etag".to_vec());
    store.record_capture(capture).unwrap();
    assert_eq!([one, two, other].map(|source| state(&*store, source)), [&b"etag"[..], b"etag", b""]);
    store.record_capture(fixtures::news(two, 2, b"news")).unwrap();
    assert_eq!(state(&*store, one), b"etag", "a capture that says nothing about it leaves it");
}

pub(crate) fn a_source_that_moves_leaves_its_resource_to_the_others(fresh: Fresh<'_>) {
    let store = fresh();
    let [one, two] = ["a", "a"].map(|name| store.add_source(fixtures::source(name)).unwrap());
    let mut capture = fixtures::probe(one, 1);
    capture.fetch_state = Some(b"etag".to_vec());
    store.record_capture(capture).unwrap();
    let to_b = || SourceEdit { url: Some("https://b.example/".to_owned()), ..SourceEdit::default() };
    let moved = store.edit_source(one, to_b()).unwrap();
    assert_ne!(moved.resource, resource(&*store, two));
    assert_eq!([one, two].map(|source| state(&*store, source)), [&b""[..], b"etag"]);
    store.edit_source(two, to_b()).unwrap();
    assert_eq!(resource(&*store, two), moved.resource);
    // Nobody needs the first one any more, so the next source of that address starts afresh.
    let third = store.add_source(fixtures::source("a")).unwrap();
    assert_eq!(state(&*store, third), b"");
    store.remove_source(third).unwrap();
    let renamed = SourceEdit { weight: Some(3.0), ..SourceEdit::default() };
    assert_eq!(store.edit_source(two, renamed).unwrap().resource, moved.resource, "the request is the same");
}
