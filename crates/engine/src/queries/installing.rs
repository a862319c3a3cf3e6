//! Installing, editing, pausing and removing a query: what is written to the store, and the events that tell control of it. Both
//! drivers go this way, and so do commands while no engine runs.

use dunlin_core::Time;
use dunlin_store::{QueryId, QuerySources, SourceId, Store, StoredQuery};

use super::config::installed_event;
use super::text;
use crate::control::Event;
use crate::source_config::{ProbesSinceNotes, SourceConfig};
use crate::{Error, Settings};

/// A query as it is in the store now, and what control has to be told.
#[derive(Debug)]
pub struct Installed {
    /// As it is stored.
    pub query: StoredQuery,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// Installs a query, or says what is wrong with its text.
pub fn install(store: &dyn Store, settings: &Settings, text: &str, now: Time) -> Result<Installed, Error> {
    let new = text::read(text, store, settings, now)?;
    let (id, sources) = store.add_query(new)?;
    installed(store, settings, id, &sources)
}

/// Puts another text in the place of that of a query, which begins anew and keeps its number, results and misses.
pub fn edit(
    store: &dyn Store,
    settings: &Settings,
    id: QueryId,
    text: &str,
    now: Time,
) -> Result<Installed, Error> {
    query(store, id)?;
    let new = text::read(text, store, settings, now)?;
    let sources = store.replace_query(id, new)?;
    installed(store, settings, id, &sources)
}

/// Lets no instance of a query begin, or lets them begin again. Instances that have begun are given up.
pub fn pause(
    store: &dyn Store,
    settings: &Settings,
    id: QueryId,
    paused: Option<Time>,
) -> Result<Installed, Error> {
    store.pause_query(id, paused)?;
    installed(store, settings, id, &QuerySources::default())
}

/// Removes a query with its results; what control has to be told.
pub fn remove(store: &dyn Store, id: QueryId, now: Time) -> Result<Vec<Event>, Error> {
    let removed = store.remove_query(id, now)?;
    let mut events = vec![Event::QueryRemoved(id)];
    events.extend(removed.into_iter().map(Event::Removed));
    Ok(events)
}

/// A query by its number.
pub fn query(store: &dyn Store, id: QueryId) -> Result<StoredQuery, Error> {
    store.query(id)?.ok_or(Error::NoSuchQuery(id))
}

/// Sources that are new come before what reads them, and those that go, after it.
fn installed(
    store: &dyn Store,
    settings: &Settings,
    id: QueryId,
    sources: &QuerySources,
) -> Result<Installed, Error> {
    let query = query(store, id)?;
    let config = |source: &SourceId| {
        let stored = store.source(*source)?.ok_or(Error::NoSuchSource(*source))?;
        SourceConfig::load(store, &stored, settings, &ProbesSinceNotes::default())
    };
    let added: Vec<SourceConfig> = sources.added.iter().map(config).collect::<Result<_, Error>>()?;
    let mut events = Vec::new();
    if !added.is_empty() {
        events.push(Event::Configured(added));
    }
    let event = installed_event(store, query.clone())?;
    events.push(event.unwrap_or(Event::QueryRemoved(id)));
    events.extend(sources.removed.iter().copied().map(Event::Removed));
    Ok(Installed { query, events })
}
