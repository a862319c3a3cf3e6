//! Promises about versions and their contents.

use dunlin_store::{Depth, SourceId, Store, VersionId, VersionQuery};

use super::Fresh;
use crate::fixtures::{self, Numbers};

fn versions(store: &dyn Store, source: SourceId) -> Vec<VersionId> {
    let query = VersionQuery { source, before: None, limit: 1000 };
    store.versions(&query).unwrap().iter().map(|version| version.id).collect()
}

pub(crate) fn the_same_content_makes_no_version(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let first = store.record_capture(fixtures::news(source, 1, b"same")).unwrap();
    let second = store.record_capture(fixtures::news(source, 2, b"same")).unwrap();
    assert_eq!(first.version, second.version);
    assert_eq!(versions(store.as_ref(), source).len(), 1);
}

pub(crate) fn contents_that_come_back_are_stored_once(fresh: Fresh<'_>) {
    let store = fresh();
    let a = store.add_source(fixtures::source("a")).unwrap();
    let b = store.add_source(fixtures::source("b")).unwrap();
    for (number, content) in [(1, "red"), (2, "blue"), (3, "red"), (4, "blue")] {
        store.record_capture(fixtures::news(a, number, content.as_bytes())).unwrap();
    }
    store.record_capture(fixtures::news(b, 1, b"red")).unwrap();
    let statistics = store.statistics().unwrap();
    assert_eq!((statistics.versions, statistics.contents), (5, 2));
    let newest = store.newest_version(a).unwrap().unwrap();
    assert_eq!(store.content(newest.id).unwrap(), b"blue");
    let query = VersionQuery { source: a, before: Some(newest.id), limit: 2 };
    let before: Vec<Vec<u8>> =
        store.versions(&query).unwrap().iter().map(|version| store.content(version.id).unwrap()).collect();
    assert_eq!(before, [b"red".to_vec(), b"blue".to_vec()]);
}

pub(crate) fn long_histories_read_back_and_stay_small(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let mut numbers = Numbers(7);
    // What does not compress alone shows what the deltas save.
    let mut page = numbers.bytes(4000);
    let mut history = Vec::new();
    for number in 0..60 {
        let place = numbers.next() as usize % (page.len() - 20);
        let edit = numbers.bytes(20);
        page.splice(place..place + 10, edit);
        let recorded = store.record_capture(fixtures::news(source, number, &page)).unwrap();
        history.push((recorded.version.unwrap(), page.clone()));
    }
    for (version, content) in &history {
        assert_eq!(&store.content(*version).unwrap(), content);
    }
    let statistics = store.statistics().unwrap();
    assert_eq!(statistics.contents, 60);
    assert!(statistics.stored_bytes * 5 < statistics.content_bytes, "{statistics:?}");
    let findings = store.check(Depth::Everything).unwrap();
    assert_eq!((findings.problems.as_slice(), findings.contents_read), (&[][..], 60));
    let sampled = store.check(Depth::Sample(10)).unwrap();
    assert!((10..=20).contains(&sampled.contents_read), "{sampled:?}");
}

pub(crate) fn contents_of_every_size_read_back(fresh: Fresh<'_>) {
    let store = fresh();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let mut numbers = Numbers(9);
    for (number, len) in [0, 1, 7, 100, 20_000, 300_000, 3_000_000, 5, 0].into_iter().enumerate() {
        let content = numbers.bytes(len);
        let recorded = store.record_capture(fixtures::news(source, number as u64, &content)).unwrap();
        assert!(store.content(recorded.version.unwrap()).unwrap() == content, "{len} bytes");
    }
}
