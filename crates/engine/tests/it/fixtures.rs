//! Stores, settings and sources that tests begin with, and a store that fails on demand.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::Settings;
use dunlin_engine::control::is_about_health;
use dunlin_engine::simulated::Simulation;
use dunlin_store::{
    Capture, CeiId, CeiQuery, CeiState, Change, ChangeQuery, Cursor, CursorRange, Decision, DecisionQuery,
    Depth, Error, Findings, FoundTexts, InstanceId, InstanceStep, Item, ItemScope, Lease, Message, NewCei,
    NewDecision, NewInterval, NewMessage, NewQuery, NewSource, Note, ObservationQuery, Politeness,
    ProbeBasis, Pruned, QueryFilter, QueryId, QuerySources, Receipt, Recorded, ResultCursor, ResultFilter,
    Retention, Source, SourceEdit, SourceId, SourceQuery, SourceText, SqliteStore, Statistics, Store,
    StoredCei, StoredInstance, StoredMiss, StoredObservation, StoredQuery, StoredResult, TextIndex,
    TextScope, ToldStory, Version, VersionId, VersionQuery,
};
use tempfile::TempDir;

use crate::web::{Web, at};

/// A store in a directory that goes with it.
pub(crate) struct TestStore {
    pub(crate) store: Arc<SqliteStore>,
    _directory: TempDir,
}

pub(crate) fn test_store() -> TestStore {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    TestStore { store, _directory: directory }
}

/// One probe in a hundred seconds, ten seconds apart per host, each source at least every six hours.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings {
        chronon: Duration::from_secs(10),
        shortest_gap: Duration::from_mins(1),
        longest_gap: Duration::from_hours(6),
        ..Settings::default()
    };
    settings.budget.per_second = 0.01;
    settings.politeness.gap = Duration::from_secs(10);
    settings
}

pub(crate) fn page(url: &str) -> NewSource {
    NewSource::page(url, at(0))
}

pub(crate) fn feed(url: &str) -> NewSource {
    NewSource { kind: "feed".to_owned(), life: "append".to_owned(), ..page(url) }
}

pub(crate) fn simulation(store: &Arc<SqliteStore>, web: Web, seconds: i64) -> Simulation<Web> {
    Simulation::new(store.clone(), settings(), web, at(seconds)).unwrap()
}

/// No test has more changes than this; a run that does not end would fill the memory.
const MOST_CHANGES: u32 = 50_000;

pub(crate) fn all_changes(store: &dyn Store) -> Vec<Change> {
    let changes =
        store.changes(&ChangeQuery { after: Cursor::START, source: None, limit: MOST_CHANGES }).unwrap();
    assert!(changes.len() < MOST_CHANGES as usize, "more changes than any test makes");
    changes
}

/// How many changes there are; their cursors are 1, 2, 3, … without a hole.
pub(crate) fn n_changes(store: &dyn Store) -> i64 {
    let cursors: Vec<i64> = all_changes(store).iter().map(|change| change.cursor.0).collect();
    let n_changes = i64::try_from(cursors.len()).unwrap();
    assert_eq!(cursors, (1..=n_changes).collect::<Vec<_>>());
    n_changes
}

/// What was told of the content of a source.
pub(crate) fn summaries(store: &dyn Store, source: SourceId) -> Vec<String> {
    let of_content = |change: &Change| change.source == source && !is_about_health(&change.found.kind);
    all_changes(store).into_iter().filter(of_content).map(|change| change.found.summary).collect()
}

/// What was told of its health: what happened, when, and in which words.
pub(crate) fn health_told(store: &dyn Store, source: SourceId) -> Vec<(String, Time, String)> {
    let of_health = |change: &Change| change.source == source && is_about_health(&change.found.kind);
    let told = all_changes(store).into_iter().filter(of_health);
    told.map(|change| (change.found.kind, change.detected, change.found.summary)).collect()
}

pub(crate) fn state(store: &dyn Store, source: SourceId) -> (dunlin_store::Health, String) {
    let state = store.source(source).unwrap().unwrap().state;
    (state.health, state.reason)
}

/// A gate where threads wait while it is shut.
#[derive(Default)]
pub(crate) struct Gate {
    is_shut: Mutex<bool>,
    opened: Condvar,
    n_held: AtomicI64,
}

impl Gate {
    pub(crate) fn shut(&self) {
        *self.is_shut.lock().unwrap() = true;
    }

    pub(crate) fn open(&self) {
        *self.is_shut.lock().unwrap() = false;
        self.opened.notify_all();
    }

    /// How many wait.
    pub(crate) fn n_held(&self) -> i64 {
        self.n_held.load(Ordering::SeqCst)
    }

    fn pass(&self) {
        self.n_held.fetch_add(1, Ordering::SeqCst);
        // Not for ever, so that a test that fails ends.
        let longest = Duration::from_mins(2);
        let shut = self.is_shut.lock().unwrap();
        drop(self.opened.wait_timeout_while(shut, longest, |is_shut| *is_shut).unwrap());
        self.n_held.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A store whose disk is full while `is_full`, that panics when the items of one source are read, and that has gates where the items
/// of some sources are read, and where captures are written.
pub(crate) struct Ailing {
    pub(crate) inner: Arc<SqliteStore>,
    pub(crate) is_full: AtomicBool,
    pub(crate) panics_at: AtomicI64,
    /// Before the items of these sources are read.
    pub(crate) held_at: Mutex<Vec<SourceId>>,
    pub(crate) items: Gate,
    pub(crate) writes: Gate,
}

impl Ailing {
    pub(crate) fn new(inner: &Arc<SqliteStore>) -> Arc<Self> {
        let (is_full, panics_at) = (AtomicBool::new(false), AtomicI64::new(-1));
        let (held_at, items, writes) = Default::default();
        Arc::new(Self { inner: inner.clone(), is_full, panics_at, held_at, items, writes })
    }

    fn room(&self) -> Result<(), Error> {
        if self.is_full.load(Ordering::Relaxed) { Err(Error::Full) } else { Ok(()) }
    }
}

impl Store for Ailing {
    fn add_sources(&self, sources: Vec<NewSource>) -> Result<Vec<SourceId>, Error> {
        self.inner.add_sources(sources)
    }
    fn source(&self, id: SourceId) -> Result<Option<Source>, Error> {
        self.inner.source(id)
    }
    fn probe_bases(&self, sources: &[SourceId], notes: &[&str]) -> Result<Vec<Option<ProbeBasis>>, Error> {
        self.inner.probe_bases(sources, notes)
    }
    fn sources(&self, query: &SourceQuery) -> Result<Vec<Source>, Error> {
        self.inner.sources(query)
    }
    fn edit_source(&self, id: SourceId, edit: SourceEdit) -> Result<Source, Error> {
        self.inner.edit_source(id, edit)
    }
    fn remove_source(&self, id: SourceId) -> Result<(), Error> {
        self.inner.remove_source(id)
    }
    fn record_captures(&self, captures: Vec<Arc<Capture>>) -> Vec<Result<Recorded, Error>> {
        self.writes.pass();
        match self.room() {
            Ok(()) => self.inner.record_captures(captures),
            Err(error) => captures.iter().map(|_| Err(error.clone())).collect(),
        }
    }
    fn add_cei(&self, cei: NewCei) -> Result<CeiId, Error> {
        self.inner.add_cei(cei)
    }
    fn extend_cei(&self, id: CeiId, more: Vec<NewInterval>, need: u32) -> Result<(), Error> {
        self.inner.extend_cei(id, more, need)
    }
    fn end_ceis(&self, ended: Vec<(CeiId, CeiState)>, at: Time) -> Result<(), Error> {
        self.room()?;
        self.inner.end_ceis(ended, at)
    }
    fn ceis(&self, query: &CeiQuery) -> Result<Vec<StoredCei>, Error> {
        self.inner.ceis(query)
    }
    fn add_query(&self, query: NewQuery) -> Result<(QueryId, QuerySources), Error> {
        self.inner.add_query(query)
    }
    fn replace_query(&self, id: QueryId, query: NewQuery) -> Result<QuerySources, Error> {
        self.inner.replace_query(id, query)
    }
    fn pause_query(&self, id: QueryId, paused: Option<Time>) -> Result<(), Error> {
        self.inner.pause_query(id, paused)
    }
    fn remove_query(&self, id: QueryId, at: Time) -> Result<Vec<SourceId>, Error> {
        self.inner.remove_query(id, at)
    }
    fn queries(&self, filter: &QueryFilter) -> Result<Vec<StoredQuery>, Error> {
        self.inner.queries(filter)
    }
    fn instances(&self, after: Option<InstanceId>, limit: u32) -> Result<Vec<StoredInstance>, Error> {
        self.inner.instances(after, limit)
    }
    fn instance(&self, id: InstanceId) -> Result<Option<StoredInstance>, Error> {
        self.inner.instance(id)
    }
    fn step_instances(&self, steps: Vec<InstanceStep>, at: Time) -> Result<(), Error> {
        self.room()?;
        self.inner.step_instances(steps, at)
    }
    fn results(&self, filter: &ResultFilter) -> Result<Vec<StoredResult>, Error> {
        self.inner.results(filter)
    }
    fn newest_result(&self) -> Result<ResultCursor, Error> {
        self.inner.newest_result()
    }
    fn oldest_result(&self) -> Result<ResultCursor, Error> {
        self.inner.oldest_result()
    }
    fn newest_miss(&self) -> Result<ResultCursor, Error> {
        self.inner.newest_miss()
    }
    fn n_sources_for_queries(&self) -> Result<u64, Error> {
        self.inner.n_sources_for_queries()
    }
    fn misses(&self, filter: &ResultFilter) -> Result<Vec<StoredMiss>, Error> {
        self.inner.misses(filter)
    }
    fn stories(&self, query: QueryId, limit: u32) -> Result<Vec<ToldStory>, Error> {
        self.inner.stories(query, limit)
    }
    fn text_index(&self) -> Result<TextIndex, Error> {
        self.inner.text_index()
    }
    fn build_text_index(&self, portion: Vec<SourceText>, reached: TextIndex) -> Result<(), Error> {
        self.room()?;
        self.inner.build_text_index(portion, reached)
    }
    fn drop_text_index(&self) -> Result<(), Error> {
        self.room()?;
        self.inner.drop_text_index()
    }
    fn find_texts(&self, words: &[String], scope: TextScope) -> Result<FoundTexts, Error> {
        self.inner.find_texts(words, scope)
    }
    fn changes(&self, query: &ChangeQuery) -> Result<Vec<Change>, Error> {
        self.inner.changes(query)
    }
    fn cursor_range(&self) -> Result<CursorRange, Error> {
        self.inner.cursor_range()
    }
    fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, Error> {
        self.inner.versions(query)
    }
    fn version(&self, id: VersionId) -> Result<Option<Version>, Error> {
        self.inner.version(id)
    }
    fn content(&self, id: VersionId) -> Result<Vec<u8>, Error> {
        self.inner.content(id)
    }
    fn items(&self, source: SourceId, scope: ItemScope) -> Result<Vec<Item>, Error> {
        assert_ne!(source.0, self.panics_at.load(Ordering::Relaxed), "told to panic");
        if self.held_at.lock().unwrap().contains(&source) {
            self.items.pass();
        }
        self.inner.items(source, scope)
    }
    fn notes(&self, source: SourceId) -> Result<Vec<Note>, Error> {
        self.inner.notes(source)
    }
    fn remember_notes(&self, notes: Vec<(SourceId, Note)>) -> Result<(), Error> {
        self.room()?;
        self.inner.remember_notes(notes)
    }
    fn observations(&self, query: &ObservationQuery) -> Result<Vec<StoredObservation>, Error> {
        self.inner.observations(query)
    }
    fn remember_politeness(&self, politeness: Vec<Politeness>) -> Result<(), Error> {
        self.room()?;
        self.inner.remember_politeness(politeness)
    }
    fn politeness(&self) -> Result<Vec<Politeness>, Error> {
        self.inner.politeness()
    }
    fn append_decisions(&self, decisions: &[NewDecision]) -> Result<(), Error> {
        self.room()?;
        self.inner.append_decisions(decisions)
    }
    fn decisions(&self, query: &DecisionQuery) -> Result<Vec<Decision>, Error> {
        self.inner.decisions(query)
    }
    fn queue_messages(&self, queued: Time, messages: Vec<NewMessage>) -> Result<(), Error> {
        self.inner.queue_messages(queued, messages)
    }
    fn lease_messages(&self, lease: Lease) -> Result<Vec<Message>, Error> {
        self.inner.lease_messages(lease)
    }
    fn next_message_due(&self) -> Result<Option<Time>, Error> {
        self.inner.next_message_due()
    }
    fn acknowledge_message(&self, receipt: Receipt) -> Result<(), Error> {
        self.inner.acknowledge_message(receipt)
    }
    fn postpone_message(&self, receipt: Receipt, due: Time, error: String) -> Result<(), Error> {
        self.inner.postpone_message(receipt, due, error)
    }
    fn setting(&self, name: &str) -> Result<Option<String>, Error> {
        self.inner.setting(name)
    }
    fn settings(&self, prefix: &str) -> Result<Vec<(String, String)>, Error> {
        self.inner.settings(prefix)
    }
    fn set_setting(&self, name: &str, value: Option<String>) -> Result<(), Error> {
        self.inner.set_setting(name, value)
    }
    fn newest_time(&self) -> Result<Option<Time>, Error> {
        self.inner.newest_time()
    }
    fn statistics(&self) -> Result<Statistics, Error> {
        self.inner.statistics()
    }
    fn check(&self, depth: Depth) -> Result<Findings, Error> {
        self.inner.check(depth)
    }
    fn prune(&self, retention: Retention) -> Result<Pruned, Error> {
        self.inner.prune(retention)
    }
    fn compact(&self) -> Result<(), Error> {
        self.inner.compact()
    }
    fn back_up(&self, to: &Path) -> Result<(), Error> {
        self.inner.back_up(to)
    }
}
