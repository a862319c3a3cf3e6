//! Random calls against a model that fits on a page: after each, the store must say what the model says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dunlin_store::{
    Depth, ItemScope, Outcome, Repeated, Retention, SourceId, SqliteStore, Store, VersionId, VersionQuery,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::fixtures::{self, time};

const SOURCES: i64 = 3;

#[derive(Debug, Clone)]
enum Call {
    Capture { source: i64, probe: u64, content: Option<Vec<u8>>, items: Option<Vec<u8>>, n_changes: usize },
    Remove { source: i64 },
    Prune { keep: u32 },
    Deliver { limit: u32 },
    Reopen,
    Compact,
}

/// Contents are short, or grown from a few pieces, so that they repeat, resemble each other and differ.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"<li>an item that comes again and again</li>".to_vec()),
        Just(vec![0x37, 0xa4, 0x30, 0xec]),
        vec(any::<u8>(), 0..40),
    ];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn call() -> impl Strategy<Value = Call> {
    let source = 1..=SOURCES;
    let capture = (
        source.clone(),
        0..12_u64,
        proptest::option::weighted(0.8, content()),
        proptest::option::of(vec(0..6_u8, 0..5)),
        0..3_usize,
    );
    prop_oneof![
        12 => capture.prop_map(|(source, probe, content, items, n_changes)| Call::Capture {
            source, probe, content, items, n_changes
        }),
        1 => source.prop_map(|source| Call::Remove { source }),
        2 => (0..4_u32).prop_map(|keep| Call::Prune { keep }),
        1 => (1..4_u32).prop_map(|limit| Call::Deliver { limit }),
        1 => Just(Call::Reopen),
        1 => Just(Call::Compact),
    ]
}

/// What a store should hold, in the plainest form.
#[derive(Default)]
struct Model {
    sources: BTreeMap<i64, Watched>,
    /// Cursor and source of each change.
    changes: Vec<(i64, i64)>,
    next_cursor: i64,
    messages: BTreeSet<String>,
}

#[derive(Default)]
struct Watched {
    versions: Vec<(VersionId, Vec<u8>)>,
    probes: BTreeSet<u64>,
    items: Vec<u8>,
    remembered: BTreeSet<u8>,
}

fn capture_of(call: &Call) -> Option<dunlin_store::Capture> {
    let Call::Capture { source, probe, content, items, n_changes } = call else { return None };
    let mut capture = fixtures::probe(SourceId(*source), *probe);
    capture.outcome = Outcome::Changed;
    capture.version = content.as_deref().map(fixtures::version);
    capture.items =
        items.as_ref().map(|keys| keys.iter().map(|key| fixtures::item(&key.to_string(), "body")).collect());
    capture.changes = (0..*n_changes).map(|_| fixtures::change("change", capture.at)).collect();
    capture.messages = vec![fixtures::message(&format!("{source} {probe}"))];
    Some(capture)
}

impl Model {
    /// Does to the model what `call` does to the store, and compares what the store answers.
    fn call(&mut self, store: &SqliteStore, call: &Call) {
        match call {
            Call::Capture { source, probe, content, items, n_changes } => {
                let recorded = store.record_capture(capture_of(call).unwrap());
                let Some(watched) = self.sources.get_mut(source) else {
                    recorded.unwrap_err();
                    return;
                };
                let recorded = recorded.unwrap();
                let is_new = watched.probes.insert(*probe);
                assert_eq!(recorded.repeated == Repeated::No, is_new);
                if !is_new {
                    return;
                }
                if let Some(content) = content
                    && watched.versions.last().is_none_or(|(_, newest)| newest != content)
                {
                    watched.versions.push((recorded.version.unwrap(), content.clone()));
                }
                if let Some(items) = items {
                    let mut seen = BTreeSet::new();
                    watched.items = items.iter().copied().filter(|key| seen.insert(*key)).collect();
                    watched.remembered.extend(seen);
                }
                for _ in 0..*n_changes {
                    self.next_cursor += 1;
                    self.changes.push((self.next_cursor, *source));
                }
                self.messages.insert(format!("{source} {probe}"));
            }
            Call::Remove { source } => {
                let known = self.sources.remove(source).is_some();
                assert_eq!(store.remove_source(SourceId(*source)).is_ok(), known);
                self.changes.retain(|(_, of)| of != source);
            }
            Call::Prune { keep } => {
                store.prune(Retention { keep_versions: Some(*keep), ..Retention::default() }).unwrap();
                for watched in self.sources.values_mut() {
                    let surplus = watched.versions.len().saturating_sub((*keep).max(1) as usize);
                    watched.versions.drain(..surplus);
                }
            }
            Call::Deliver { limit } => {
                let lease = dunlin_store::Lease {
                    now: time(0),
                    length: std::time::Duration::ZERO,
                    destination: None,
                    limit: *limit,
                };
                for message in store.lease_messages(lease).unwrap() {
                    assert!(self.messages.remove(&message.key));
                    store.acknowledge_message(message.receipt).unwrap();
                }
            }
            Call::Reopen => {}
            Call::Compact => store.compact().unwrap(),
        }
    }

    fn compare(&self, store: &SqliteStore) {
        let changes: Vec<(i64, i64)> =
            fixtures::all_changes(store).iter().map(|change| (change.cursor.0, change.source.0)).collect();
        assert_eq!(changes, self.changes);
        for (source, watched) in &self.sources {
            let source = SourceId(*source);
            let query = VersionQuery { source, before: None, limit: 1000 };
            let mut versions: Vec<(VersionId, Vec<u8>)> = store
                .versions(&query)
                .unwrap()
                .iter()
                .map(|version| (version.id, store.content(version.id).unwrap()))
                .collect();
            versions.reverse();
            assert_eq!(versions, watched.versions);
            let keys = |scope| -> Vec<u8> {
                let items = store.items(source, scope).unwrap();
                items.iter().map(|item| item.key.parse().unwrap()).collect()
            };
            assert_eq!(keys(ItemScope::Present), watched.items);
            assert_eq!(keys(ItemScope::Remembered).into_iter().collect::<BTreeSet<_>>(), watched.remembered);
        }
        let statistics = store.statistics().unwrap();
        assert_eq!(statistics.messages, self.messages.len() as u64);
        let contents: BTreeSet<&Vec<u8>> = self
            .sources
            .values()
            .flat_map(|watched| watched.versions.iter().map(|(_, content)| content))
            .collect();
        // More may be kept for deltas, never fewer.
        assert!(statistics.contents >= contents.len() as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_says_what_the_model_says(calls in vec(call(), 1..40)) {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Some(SqliteStore::open(directory.path()).unwrap());
        let mut model = Model::default();
        for _ in 0..SOURCES {
            let id = store.as_ref().unwrap().add_source(fixtures::source("a")).unwrap();
            model.sources.insert(id.0, Watched::default());
        }
        for call in &calls {
            if matches!(call, Call::Reopen) {
                drop(store.take());
                store = Some(SqliteStore::open(directory.path()).unwrap());
            }
            let store = store.as_ref().unwrap();
            model.call(store, call);
            model.compare(store);
        }
        let findings = store.unwrap().check(Depth::Everything).unwrap();
        prop_assert!(findings.is_sound(), "{findings:?}");
    }

    #[test]
    fn any_history_of_any_bytes_reads_back(contents in vec(content(), 1..40)) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        let source = store.add_source(fixtures::source("a")).unwrap();
        let captures = (0..).zip(&contents).map(|(number, content)| fixtures::news(source, number, content));
        for (recorded, content) in store.record_captures(captures.map(Arc::new).collect()).into_iter().zip(&contents) {
            prop_assert_eq!(&store.content(recorded.unwrap().version.unwrap()).unwrap(), content);
        }
    }
}
