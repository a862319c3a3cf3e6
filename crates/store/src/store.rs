//! What every store can do, with any database. The promises made here are checked by one suite of
//! tests that runs against each.

use std::path::Path;
use std::sync::Arc;

use dunlin_core::Time;

use crate::{
    Capture, CeiId, CeiQuery, CeiState, Change, ChangeQuery, CursorRange, Decision, DecisionQuery, Depth,
    Error, Findings, FoundTexts, InstanceId, InstanceStep, Item, ItemScope, Lease, Message, NewCei,
    NewDecision, NewInterval, NewMessage, NewQuery, NewSource, Note, ObservationQuery, Politeness,
    ProbeBasis, Pruned, QueryFilter, QueryId, QuerySources, Receipt, Recorded, ResultCursor, ResultFilter,
    Retention, Source, SourceEdit, SourceId, SourceQuery, SourceText, Statistics, StoredCei, StoredInstance,
    StoredMiss, StoredObservation, StoredQuery, StoredResult, TextIndex, TextScope, ToldStory, Version,
    VersionId, VersionQuery,
};

/// A store. Calls block until they are done; a call that writes returns when what it wrote would survive the end
/// of the process. Any number of threads may call at once. Times are arguments: a store has no clock.
pub trait Store: Send + Sync {
    /// Adds sources in one transaction, all or none; their numbers in the same order. The same address may be watched in
    /// several ways.
    fn add_sources(&self, sources: Vec<NewSource>) -> Result<Vec<SourceId>, Error>;
    /// Adds a source.
    fn add_source(&self, source: NewSource) -> Result<SourceId, Error> {
        self.add_sources(vec![source])?.pop().ok_or(Error::Closed)
    }
    /// A source by its number.
    fn source(&self, id: SourceId) -> Result<Option<Source>, Error>;
    /// What probes of these sources begin with, with the notes of these names, all of one moment; in the same order, `None`
    /// for a missing source.
    fn probe_bases(&self, sources: &[SourceId], notes: &[&str]) -> Result<Vec<Option<ProbeBasis>>, Error>;
    /// Sources, by number.
    fn sources(&self, query: &SourceQuery) -> Result<Vec<Source>, Error>;
    /// Changes a source and returns it as it is now.
    fn edit_source(&self, id: SourceId, edit: SourceEdit) -> Result<Source, Error>;
    /// Removes a source with everything captured from it. Messages about it that wait are still delivered, and the
    /// cursors of its changes are not given again.
    fn remove_source(&self, id: SourceId) -> Result<(), Error>;

    /// Stores captures in the order given, each as a whole or not at all, independently of the others; the
    /// results are in the same order. Shared, because the caller keeps them until they are stored. See
    /// [`Capture`].
    fn record_captures(&self, captures: Vec<Arc<Capture>>) -> Vec<Result<Recorded, Error>>;
    /// Stores one capture, as a whole or not at all.
    fn record_capture(&self, capture: Capture) -> Result<Recorded, Error> {
        self.record_captures(vec![Arc::new(capture)]).pop().unwrap_or(Err(Error::Closed))
    }

    /// Adds a CEI, and returns its number.
    fn add_cei(&self, cei: NewCei) -> Result<CeiId, Error>;
    /// Adds intervals to an open CEI, of which it needs so many more.
    fn extend_cei(&self, id: CeiId, more: Vec<NewInterval>, need: u32) -> Result<(), Error>;
    /// Ends open CEIs in a state other than open, all or none; those that have ended stay as they are. A capture of its last
    /// interval ends a CEI by itself.
    fn end_ceis(&self, ended: Vec<(CeiId, CeiState)>, at: Time) -> Result<(), Error>;
    /// CEIs with their intervals, by number.
    fn ceis(&self, query: &CeiQuery) -> Result<Vec<StoredCei>, Error>;

    /// Installs a query, with the sources that it needs.
    fn add_query(&self, query: NewQuery) -> Result<(QueryId, QuerySources), Error>;
    /// Puts another query in the place of one, which keeps its number, its results and misses, and forgets its memory and instances.
    fn replace_query(&self, id: QueryId, query: NewQuery) -> Result<QuerySources, Error>;
    /// Pauses a query from a time on, or resumes it. Instances that have begun go.
    fn pause_query(&self, id: QueryId, paused: Option<Time>) -> Result<(), Error>;
    /// Removes a query with its results, and the sources that were there for it alone, which are returned.
    fn remove_query(&self, id: QueryId, at: Time) -> Result<Vec<SourceId>, Error>;
    /// How many sources are there for queries only.
    fn n_sources_for_queries(&self) -> Result<u64, Error>;
    /// Installed queries, by number.
    fn queries(&self, filter: &QueryFilter) -> Result<Vec<StoredQuery>, Error>;
    /// A query by its number.
    fn query(&self, id: QueryId) -> Result<Option<StoredQuery>, Error> {
        let filter = QueryFilter { after: Some(QueryId(id.0 - 1)), limit: 1 };
        Ok(self.queries(&filter)?.pop().filter(|query| query.id == id))
    }
    /// Instances that have not ended, by number, after this one.
    fn instances(&self, after: Option<InstanceId>, limit: u32) -> Result<Vec<StoredInstance>, Error>;
    /// An instance by its number, if it has not ended.
    fn instance(&self, id: InstanceId) -> Result<Option<StoredInstance>, Error>;
    /// Records steps of instances outside a capture, all or none.
    fn step_instances(&self, steps: Vec<InstanceStep>, at: Time) -> Result<(), Error>;
    /// Results of queries, by cursor.
    fn results(&self, filter: &ResultFilter) -> Result<Vec<StoredResult>, Error>;
    /// The position of the newest result.
    fn newest_result(&self) -> Result<ResultCursor, Error>;
    /// The position of the oldest result that is kept; that after the newest, if none is.
    fn oldest_result(&self) -> Result<ResultCursor, Error>;
    /// The position of the newest miss.
    fn newest_miss(&self) -> Result<ResultCursor, Error>;
    /// Misses of queries, by cursor.
    fn misses(&self, filter: &ResultFilter) -> Result<Vec<StoredMiss>, Error>;

    /// Results of a query that are known again by their stories, newest first.
    fn stories(&self, query: QueryId, limit: u32) -> Result<Vec<ToldStory>, Error>;

    /// How far the index of texts is made.
    fn text_index(&self) -> Result<TextIndex, Error>;
    /// Puts a portion of texts into the index, which begins if there is none and has been made as far as `reached` then. What is
    /// about a source that is gone is passed over.
    fn build_text_index(&self, portion: Vec<SourceText>, reached: TextIndex) -> Result<(), Error>;
    /// Forgets the index of texts.
    fn drop_text_index(&self) -> Result<(), Error>;
    /// Which sources have at least one of these words, each given once. Finds none without an index.
    fn find_texts(&self, words: &[String], scope: TextScope) -> Result<FoundTexts, Error>;

    /// Changes, by cursor.
    fn changes(&self, query: &ChangeQuery) -> Result<Vec<Change>, Error>;
    /// From which cursor to which there are changes.
    fn cursor_range(&self) -> Result<CursorRange, Error>;
    /// Versions of a source, newest first.
    fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, Error>;
    /// A version by its number.
    fn version(&self, id: VersionId) -> Result<Option<Version>, Error>;
    /// The newest version of a source.
    fn newest_version(&self, source: SourceId) -> Result<Option<Version>, Error> {
        Ok(self.versions(&VersionQuery { source, before: None, limit: 1 })?.pop())
    }
    /// The content of a version, compared with its hash.
    fn content(&self, id: VersionId) -> Result<Vec<u8>, Error>;
    /// Items of a source.
    fn items(&self, source: SourceId, scope: ItemScope) -> Result<Vec<Item>, Error>;
    /// What is remembered about a source, by name.
    fn notes(&self, source: SourceId) -> Result<Vec<Note>, Error>;
    /// Remembers something about sources outside a capture, all or none; what is about a source that is gone is passed
    /// over.
    fn remember_notes(&self, notes: Vec<(SourceId, Note)>) -> Result<(), Error>;
    /// Observations, in the order in which they were stored.
    fn observations(&self, query: &ObservationQuery) -> Result<Vec<StoredObservation>, Error>;

    /// Remembers politeness outside a capture; an empty state forgets the scope.
    fn remember_politeness(&self, politeness: Vec<Politeness>) -> Result<(), Error>;
    /// Everything remembered about hosts, by scope.
    fn politeness(&self) -> Result<Vec<Politeness>, Error>;

    /// Writes decisions to the journal, all or none.
    fn append_decisions(&self, decisions: &[NewDecision]) -> Result<(), Error>;
    /// Lists decisions.
    fn decisions(&self, query: &DecisionQuery) -> Result<Vec<Decision>, Error>;

    /// Queues messages without a capture (a test of a hook), all or none. Their `change` must be `None`.
    fn queue_messages(&self, queued: Time, messages: Vec<NewMessage>) -> Result<(), Error>;
    /// Takes due messages for delivery, the longest waiting first.
    fn lease_messages(&self, lease: Lease) -> Result<Vec<Message>, Error>;
    /// When the next message is due or its lease ends; `None` when nothing waits.
    fn next_message_due(&self) -> Result<Option<Time>, Error>;
    /// Removes a delivered message. Doing so twice, or after the lease, is fine: it was delivered.
    fn acknowledge_message(&self, receipt: Receipt) -> Result<(), Error>;
    /// Gives a message back for another attempt at `due`. Without effect if another attempt has begun since.
    fn postpone_message(&self, receipt: Receipt, due: Time, error: String) -> Result<(), Error>;

    /// A setting, as a JSON text.
    fn setting(&self, name: &str) -> Result<Option<String>, Error>;
    /// The settings whose names begin with `prefix`, with their values, by name.
    fn settings(&self, prefix: &str) -> Result<Vec<(String, String)>, Error>;
    /// Sets a setting to a JSON text, or forgets it.
    fn set_setting(&self, name: &str, value: Option<String>) -> Result<(), Error>;

    /// The time of the last probe or decision that is stored; `None` when there is none.
    fn newest_time(&self) -> Result<Option<Time>, Error>;
    /// How much there is. Reads every table, so it is for people, not for every request.
    fn statistics(&self) -> Result<Statistics, Error>;
    /// Checks the store. Problems are findings; an error means that checking failed.
    fn check(&self, depth: Depth) -> Result<Findings, Error>;
    /// Removes what may go, a little at a time, so that captures are recorded in between.
    fn prune(&self, retention: Retention) -> Result<Pruned, Error>;
    /// Gives free space back to the disk. Writers wait.
    fn compact(&self) -> Result<(), Error>;
    /// Copies the store as it is at this moment into a new file, complete or not at all. Writers do not wait.
    fn back_up(&self, to: &Path) -> Result<(), Error>;
}
