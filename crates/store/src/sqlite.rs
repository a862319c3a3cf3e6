//! The store that needs no set-up: one `SQLite` database in a data directory, one thread that writes, a few
//! connections that read. This file only says which function serves which call.

mod captures;
mod ceis;
mod columns;
mod contents;
mod failure;
mod history;
mod instances;
mod items;
mod journal;
mod lock;
mod migrate;
mod numbering;
mod open;
mod outbox;
mod packing;
mod private;
mod prune;
mod queries;
mod readers;
mod remembered;
mod resources;
mod sources;
mod texts;
mod unchanged;
mod upkeep;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dunlin_core::Time;
use rusqlite::Connection;

use self::captures::{Recording, in_order};
use self::lock::DirectoryLock;
use self::readers::Readers;
use self::writer::Writer;
use crate::cei::check_intervals;
use crate::{
    Capture, CeiId, CeiQuery, CeiState, Change, ChangeQuery, CursorRange, Decision, DecisionQuery, Depth,
    Error, Findings, FoundTexts, InstanceId, InstanceStep, Item, ItemScope, Lease, Message, NewCei,
    NewDecision, NewInterval, NewMessage, NewQuery, NewSource, Note, ObservationQuery, Politeness,
    ProbeBasis, Pruned, QueryFilter, QueryId, QuerySources, Receipt, Recorded, ResultCursor, ResultFilter,
    Retention, Source, SourceEdit, SourceId, SourceQuery, SourceText, Statistics, Store, StoredCei,
    StoredInstance, StoredMiss, StoredObservation, StoredQuery, StoredResult, TextIndex, TextScope,
    ToldStory, Version, VersionId, VersionQuery,
};

pub use self::open::{Durability, SqliteOptions};

/// A store in a data directory of its own. Dropping it finishes what is queued and leaves one tidy file.
#[derive(Debug)]
pub struct SqliteStore {
    // Dropped in this order: the writer can only tidy up without readers, and the directory is free after that.
    readers: Readers,
    access: Access,
    file: PathBuf,
    _lock: Option<DirectoryLock>,
}

#[derive(Debug)]
enum Access {
    Write(Writer),
    Read,
}

impl SqliteStore {
    fn writer(&self) -> Result<&Writer, Error> {
        match &self.access {
            Access::Write(writer) => Ok(writer),
            Access::Read => Err(Error::ReadOnly),
        }
    }

    fn write<T, W>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    {
        self.writer()?.submit(work).wait()
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.readers.read(work)
    }
}

impl Store for SqliteStore {
    fn add_sources(&self, sources: Vec<NewSource>) -> Result<Vec<SourceId>, Error> {
        sources.iter().try_for_each(NewSource::check)?;
        self.write(move |connection| sources.iter().map(|source| sources::add(connection, source)).collect())
    }

    fn source(&self, id: SourceId) -> Result<Option<Source>, Error> {
        self.read(|connection| sources::get(connection, id))
    }

    fn probe_bases(&self, sources: &[SourceId], notes: &[&str]) -> Result<Vec<Option<ProbeBasis>>, Error> {
        self.read(|connection| {
            sources.iter().map(|source| sources::basis(connection, *source, notes)).collect()
        })
    }

    fn sources(&self, query: &SourceQuery) -> Result<Vec<Source>, Error> {
        self.read(|connection| sources::list(connection, query))
    }

    fn edit_source(&self, id: SourceId, edit: SourceEdit) -> Result<Source, Error> {
        self.write(move |connection| sources::edit(connection, id, &edit))
    }

    fn remove_source(&self, id: SourceId) -> Result<(), Error> {
        self.write(move |connection| {
            queries::check_unneeded(connection, id)?;
            sources::remove(connection, id)
        })
    }

    fn record_captures(&self, captures: Vec<Arc<Capture>>) -> Vec<Result<Recorded, Error>> {
        let writer = match self.writer() {
            Ok(writer) => writer,
            Err(error) => return captures.iter().map(|_| Err(error.clone())).collect(),
        };
        // All are queued before the first is waited for, so that they share transactions.
        let pending: Vec<_> = in_order(captures).into_iter().map(|part| part.submit(writer)).collect();
        pending.into_iter().flat_map(Recording::wait).collect()
    }

    fn add_cei(&self, cei: NewCei) -> Result<CeiId, Error> {
        cei.check()?;
        self.write(move |connection| ceis::add(connection, &cei))
    }

    fn extend_cei(&self, id: CeiId, more: Vec<NewInterval>, need: u32) -> Result<(), Error> {
        check_intervals(&more)?;
        self.write(move |connection| ceis::extend(connection, id, &more, need))
    }

    fn end_ceis(&self, ended: Vec<(CeiId, CeiState)>, at: Time) -> Result<(), Error> {
        self.write(move |connection| ceis::end(connection, &ended, at))
    }

    fn ceis(&self, query: &CeiQuery) -> Result<Vec<StoredCei>, Error> {
        self.read(|connection| ceis::list(connection, query))
    }

    fn add_query(&self, query: NewQuery) -> Result<(QueryId, QuerySources), Error> {
        query.check()?;
        self.write(move |connection| queries::add(connection, &query))
    }

    fn replace_query(&self, id: QueryId, query: NewQuery) -> Result<QuerySources, Error> {
        query.check()?;
        self.write(move |connection| queries::replace(connection, id, &query))
    }

    fn pause_query(&self, id: QueryId, paused: Option<Time>) -> Result<(), Error> {
        self.write(move |connection| queries::pause(connection, id, paused))
    }

    fn remove_query(&self, id: QueryId, at: Time) -> Result<Vec<SourceId>, Error> {
        self.write(move |connection| queries::remove(connection, id, at))
    }

    fn queries(&self, filter: &QueryFilter) -> Result<Vec<StoredQuery>, Error> {
        self.read(|connection| queries::list(connection, filter))
    }

    fn instances(&self, after: Option<InstanceId>, limit: u32) -> Result<Vec<StoredInstance>, Error> {
        self.read(|connection| instances::list(connection, after, limit))
    }

    fn instance(&self, id: InstanceId) -> Result<Option<StoredInstance>, Error> {
        self.read(|connection| instances::get(connection, id))
    }

    fn step_instances(&self, steps: Vec<InstanceStep>, at: Time) -> Result<(), Error> {
        self.write(move |connection| instances::step(connection, &steps, at))
    }

    fn results(&self, filter: &ResultFilter) -> Result<Vec<StoredResult>, Error> {
        self.read(|connection| queries::results(connection, filter))
    }

    fn newest_result(&self) -> Result<ResultCursor, Error> {
        self.read(queries::newest_result)
    }

    fn oldest_result(&self) -> Result<ResultCursor, Error> {
        self.read(queries::oldest_result)
    }

    fn newest_miss(&self) -> Result<ResultCursor, Error> {
        self.read(queries::newest_miss)
    }

    fn n_sources_for_queries(&self) -> Result<u64, Error> {
        self.read(queries::n_sources)
    }

    fn misses(&self, filter: &ResultFilter) -> Result<Vec<StoredMiss>, Error> {
        self.read(|connection| queries::misses(connection, filter))
    }

    fn stories(&self, query: QueryId, limit: u32) -> Result<Vec<ToldStory>, Error> {
        self.read(|connection| queries::stories(connection, query, limit))
    }

    fn text_index(&self) -> Result<TextIndex, Error> {
        self.read(texts::state)
    }

    fn build_text_index(&self, portion: Vec<SourceText>, reached: TextIndex) -> Result<(), Error> {
        self.write(move |connection| texts::build(connection, &portion, reached))
    }

    fn drop_text_index(&self) -> Result<(), Error> {
        self.write(texts::remove_all)
    }

    fn find_texts(&self, words: &[String], scope: TextScope) -> Result<FoundTexts, Error> {
        self.read(|connection| texts::find(connection, words, scope))
    }

    fn changes(&self, query: &ChangeQuery) -> Result<Vec<Change>, Error> {
        self.read(|connection| history::changes(connection, query))
    }

    fn cursor_range(&self) -> Result<CursorRange, Error> {
        self.read(history::cursor_range)
    }

    fn versions(&self, query: &VersionQuery) -> Result<Vec<Version>, Error> {
        self.read(|connection| history::versions(connection, query))
    }

    fn version(&self, id: VersionId) -> Result<Option<Version>, Error> {
        self.read(|connection| history::version(connection, id))
    }

    fn content(&self, id: VersionId) -> Result<Vec<u8>, Error> {
        self.read(|connection| history::content(connection, id))
    }

    fn items(&self, source: SourceId, scope: ItemScope) -> Result<Vec<Item>, Error> {
        self.read(|connection| items::list(connection, source, scope))
    }

    fn notes(&self, source: SourceId) -> Result<Vec<Note>, Error> {
        self.read(|connection| remembered::notes(connection, source))
    }

    fn remember_notes(&self, notes: Vec<(SourceId, Note)>) -> Result<(), Error> {
        self.write(move |connection| remembered::set_notes_of(connection, &notes))
    }

    fn observations(&self, query: &ObservationQuery) -> Result<Vec<StoredObservation>, Error> {
        self.read(|connection| history::observations(connection, query))
    }

    fn remember_politeness(&self, politeness: Vec<Politeness>) -> Result<(), Error> {
        self.write(move |connection| remembered::set_politeness(connection, &politeness))
    }

    fn politeness(&self) -> Result<Vec<Politeness>, Error> {
        self.read(remembered::politeness)
    }

    fn append_decisions(&self, decisions: &[NewDecision]) -> Result<(), Error> {
        let batches = journal::pack(decisions)?;
        self.write(move |connection| journal::append(connection, &batches))
    }

    fn decisions(&self, query: &DecisionQuery) -> Result<Vec<Decision>, Error> {
        self.read(|connection| journal::list(connection, query))
    }

    fn queue_messages(&self, queued: Time, messages: Vec<NewMessage>) -> Result<(), Error> {
        if let Some(message) = messages.iter().find(|message| message.change.is_some()) {
            let found = format!("about a change, key {}", message.key);
            return Err(Error::BadValue {
                what: "message",
                found,
                expected: "one that belongs to no capture",
            });
        }
        self.write(move |connection| {
            messages.iter().try_for_each(|message| outbox::add(connection, queued, None, None, message))
        })
    }

    fn lease_messages(&self, lease: Lease) -> Result<Vec<Message>, Error> {
        self.write(move |connection| outbox::lease(connection, &lease))
    }

    fn next_message_due(&self) -> Result<Option<Time>, Error> {
        self.read(outbox::next_due)
    }

    fn acknowledge_message(&self, receipt: Receipt) -> Result<(), Error> {
        self.write(move |connection| outbox::acknowledge(connection, receipt))
    }

    fn postpone_message(&self, receipt: Receipt, due: Time, error: String) -> Result<(), Error> {
        self.write(move |connection| outbox::postpone(connection, receipt, due, &error))
    }

    fn setting(&self, name: &str) -> Result<Option<String>, Error> {
        self.read(|connection| remembered::setting(connection, name))
    }

    fn settings(&self, prefix: &str) -> Result<Vec<(String, String)>, Error> {
        self.read(|connection| remembered::settings(connection, prefix))
    }

    fn set_setting(&self, name: &str, value: Option<String>) -> Result<(), Error> {
        let name = name.to_owned();
        self.write(move |connection| remembered::set_setting(connection, &name, value.as_deref()))
    }

    fn newest_time(&self) -> Result<Option<Time>, Error> {
        self.read(upkeep::newest_time)
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        self.read(|connection| upkeep::statistics(connection, &self.file))
    }

    fn check(&self, depth: Depth) -> Result<Findings, Error> {
        self.read(|connection| upkeep::check(connection, depth))
    }

    fn prune(&self, retention: Retention) -> Result<Pruned, Error> {
        prune::prune(self.writer()?, retention)
    }

    fn compact(&self) -> Result<(), Error> {
        self.writer()?.submit_alone(upkeep::compact).wait()
    }

    fn back_up(&self, to: &Path) -> Result<(), Error> {
        self.readers.with_connection(|connection| upkeep::back_up(connection, to))
    }
}
