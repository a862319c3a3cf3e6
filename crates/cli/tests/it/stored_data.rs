//! What a service has left in its data directory, read after its end and compared with what happened. Laws that hold for
//! every run are checked on reading.

use std::collections::BTreeMap;
use std::path::Path;

use dunlin_store::{
    Change, ChangeQuery, Cursor, DecisionQuery, Depth, SourceId, SourceQuery, SqliteStore, Store, Version,
    VersionQuery,
};

/// Changes read at a time.
const PAGE: u32 = 500;
/// No test leaves as many rows of one kind; reading that does not end would fill the memory.
const MOST_ROWS: usize = 1_000_000;

/// A version of a page of the test bed.
pub(crate) struct Capture {
    pub(crate) source: SourceId,
    /// As the page itself counts.
    pub(crate) number: u64,
    pub(crate) version: Version,
}

/// Everything that was kept.
pub(crate) struct StoredData {
    /// The addresses of the sources.
    pub(crate) urls: BTreeMap<SourceId, String>,
    /// In the order of their cursors.
    pub(crate) changes: Vec<Change>,
    /// All versions, also baselines without a reported change.
    pub(crate) captures: Vec<Capture>,
    /// When each probe was decided.
    pub(crate) decided: Vec<dunlin_core::Time>,
}

impl StoredData {
    /// Reads a data directory, and checks what must always hold: the store is sound down to the last
    /// content; the cursors are 1, 2, 3, …; no version of a page is stored or reported twice.
    pub(crate) fn read(data: &Path) -> Self {
        let store = SqliteStore::open_read_only(data).unwrap();
        let findings = store.check(Depth::Everything).unwrap();
        assert!(findings.is_sound(), "{:?}", findings.problems);
        let sources = store.sources(&SourceQuery::first(10_000)).unwrap();
        let changes = changes(&store);
        for (change, cursor) in changes.iter().zip(1..) {
            assert_eq!(change.cursor, Cursor(cursor), "a cursor is missing or came twice");
        }
        let captures: Vec<Capture> = sources.iter().flat_map(|source| captures(&store, source.id)).collect();
        let mut seen = BTreeMap::new();
        for capture in &captures {
            let before = seen.insert((capture.source, capture.number), capture.version.id);
            assert_eq!(before, None, "version {} of {} is stored twice", capture.number, capture.source);
        }
        let mut reported = BTreeMap::new();
        for change in &changes {
            let key = (change.source, change.version, &change.found.item, &change.found.kind);
            assert_eq!(reported.insert(key, change.cursor), None, "reported twice: {change:?}");
        }
        let mut decided = Vec::new();
        let mut query = DecisionQuery::first(PAGE);
        loop {
            let page = store.decisions(&query).unwrap();
            let Some(last) = page.last() else { break };
            query.after = Some(last.id);
            decided
                .extend(page.iter().filter(|row| row.decision.source.is_some()).map(|row| row.decision.at));
            assert!(decided.len() < MOST_ROWS, "pages go round in circles");
        }
        Self {
            urls: sources.into_iter().map(|source| (source.id, source.spec.url)).collect(),
            changes,
            captures,
            decided,
        }
    }
}

fn changes(store: &SqliteStore) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    loop {
        let after = changes.last().map_or(Cursor(0), |change| change.cursor);
        let page = store.changes(&ChangeQuery { after, source: None, limit: PAGE }).unwrap();
        if page.is_empty() {
            return changes;
        }
        changes.extend(page);
        assert!(changes.len() < MOST_ROWS, "pages go round in circles");
    }
}

fn captures(store: &SqliteStore, source: SourceId) -> Vec<Capture> {
    let mut captures: Vec<Capture> = Vec::new();
    loop {
        let before = captures.last().map(|capture| capture.version.id);
        let page = store.versions(&VersionQuery { source, before, limit: PAGE }).unwrap();
        if page.is_empty() {
            return captures;
        }
        captures.extend(page.into_iter().map(|version| {
            let content = String::from_utf8(store.content(version.id).unwrap()).unwrap();
            Capture { source, number: number_on(&content), version }
        }));
        assert!(captures.len() < MOST_ROWS, "pages go round in circles");
    }
}

/// The version that a page of the test bed says it is.
pub(crate) fn number_on(page: &str) -> u64 {
    let after =
        page.split("data-version=\"").nth(1).unwrap_or_else(|| panic!("no version on this page: {page}"));
    after.split('"').next().unwrap().parse().unwrap()
}
