//! No space left, and space again. The store's own size limit makes the database report what it reports on a full
//! disk, at the same points.

use dunlin_store::{
    Capture, Depth, Error, Fault, Retention, Retry, SourceId, SqliteOptions, SqliteStore, Store,
};

use crate::fixtures::{self, Numbers};

const LIMIT: u64 = 2 << 20;

fn open(directory: &std::path::Path, size_limit: Option<u64>) -> SqliteStore {
    SqliteStore::open_with(directory, SqliteOptions { size_limit, ..SqliteOptions::default() }).unwrap()
}

fn large(numbers: &mut Numbers, source: SourceId, number: u64) -> Capture {
    fixtures::news(source, number, &numbers.bytes(40_000))
}

/// Captures until one does not fit; gives the number of that one.
fn fill(store: &SqliteStore, source: SourceId, numbers: &mut Numbers) -> u64 {
    for number in 1..1000 {
        match store.record_capture(large(numbers, source, number)) {
            Ok(_) => {}
            Err(failure) => {
                assert_eq!(failure, Error::Full);
                assert_eq!((failure.fault(), failure.retry()), (Fault::Ours, Retry::Backoff));
                return number;
            }
        }
    }
    panic!("40 MB went into {LIMIT} bytes");
}

#[test]
fn a_full_store_keeps_what_it_has_and_goes_on_when_there_is_space() {
    let directory = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(11);
    let store = open(directory.path(), Some(LIMIT));
    let source = store.add_source(fixtures::source("a")).unwrap();
    let refused = fill(&store, source, &mut numbers);
    assert!(refused > 10, "only {refused} fitted");

    // Everything that was answered is there, the refused one left nothing, and reading works.
    let changes = fixtures::all_changes(&store);
    assert_eq!(changes.len() as u64, refused - 1);
    let newest = store.newest_version(source).unwrap().unwrap();
    assert_eq!(store.content(newest.id).unwrap().len(), 40_000);
    assert!(store.check(Depth::Everything).unwrap().is_sound());

    // Old versions go, without reopening anything, and the same capture is taken.
    let pruned = store.prune(Retention { keep_versions: Some(2), ..Retention::default() }).unwrap();
    assert!(pruned.contents > 5, "{pruned:?}");
    let recorded = store.record_capture(large(&mut numbers, source, refused)).unwrap();
    assert_eq!(recorded.cursors.unwrap().0.0.cast_unsigned(), refused, "the failure left no hole");
    drop(store);

    // A larger disk does as well.
    let store = open(directory.path(), None);
    for number in refused + 1..refused + 100 {
        store.record_capture(large(&mut numbers, source, number)).unwrap();
    }
    assert!(store.check(Depth::Everything).unwrap().is_sound());
}

#[test]
fn one_that_does_not_fit_does_not_take_its_company_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(13);
    let store = open(directory.path(), Some(LIMIT));
    let source = store.add_source(fixtures::source("a")).unwrap();
    let small = |number| fixtures::news(source, number, format!("small {number}").as_bytes());
    let huge = fixtures::news(source, 1000, &numbers.bytes(5 << 20));
    let captures = [vec![small(1), small(2), huge], (3..30).map(small).collect()].concat();
    let outcomes = store.record_captures(captures.into_iter().map(std::sync::Arc::new).collect());
    let refused: Vec<usize> = (0..outcomes.len()).filter(|index| outcomes[*index].is_err()).collect();
    assert_eq!(refused, [2]);
    assert_eq!(outcomes[2], Err(Error::Full));
    let cursors: Vec<i64> = fixtures::all_changes(&store).iter().map(|change| change.cursor.0).collect();
    assert_eq!(cursors, (1..=29).collect::<Vec<i64>>());
    assert!(store.check(Depth::Everything).unwrap().is_sound());
}
