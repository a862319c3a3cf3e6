//! Sources and captures to store.

use dunlin_core::Time;
use dunlin_store::{
    Capture, Change, ChangeQuery, Cursor, NewChange, NewItem, NewMessage, NewSource, NewVersion, Outcome,
    ProbeId, SourceId, Store,
};

/// That many seconds after the tests' year zero.
pub(crate) fn time(seconds: i64) -> Time {
    Time::from_seconds(1_700_000_000 + seconds)
}

pub(crate) fn source(name: &str) -> NewSource {
    NewSource::page(format!("https://{name}.example/"), time(0))
}

/// An unchanged probe: number and second are the same.
pub(crate) fn probe(source: SourceId, number: u64) -> Capture {
    let at = time(i64::try_from(number).unwrap());
    Capture::bare(source, ProbeId(number), at, Outcome::Unchanged)
}

/// A probe that found new content and one change.
pub(crate) fn news(source: SourceId, number: u64, content: &[u8]) -> Capture {
    let mut capture = probe(source, number);
    capture.outcome = Outcome::Changed;
    capture.version = Some(version(content));
    capture.changes = vec![change(&format!("change {number}"), capture.at)];
    capture
}

pub(crate) fn version(content: &[u8]) -> NewVersion {
    NewVersion { content: content.to_vec(), media_type: "text/plain".to_owned() }
}

pub(crate) fn change(summary: &str, happened_before: Time) -> NewChange {
    NewChange {
        kind: "edited".to_owned(),
        item: None,
        summary: summary.to_owned(),
        detail: Vec::new(),
        happened_after: None,
        happened_before,
    }
}

pub(crate) fn item(key: &str, body: &str) -> NewItem {
    NewItem { key: key.to_owned(), body: body.as_bytes().to_vec() }
}

/// A message to the hook, due at once.
pub(crate) fn message(key: &str) -> NewMessage {
    NewMessage {
        key: key.to_owned(),
        destination: "hook".to_owned(),
        change: None,
        payload: key.as_bytes().to_vec(),
        due: time(0),
    }
}

/// No test stores more changes than this.
const MOST_CHANGES: usize = 100_000;

/// Every change of a store, read in pages. A store that does not go on from a cursor would fill the memory, so each page
/// has to begin after the one before it, and there is an end to them.
pub(crate) fn all_changes(store: &dyn Store) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    loop {
        let after = changes.last().map_or(Cursor::START, |change| change.cursor);
        let page = store.changes(&ChangeQuery { after, source: None, limit: 1000 }).unwrap();
        if page.is_empty() {
            return changes;
        }
        assert!(
            page[0].cursor > after && page.is_sorted_by(|a, b| a.cursor < b.cursor),
            "not after {after:?}"
        );
        changes.extend(page);
        assert!(changes.len() <= MOST_CHANGES, "more changes than any test stores");
    }
}

/// A generator that only has to be the same every time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Bytes that do not compress.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 32) as u8).collect()
    }
}
