//! A stored query as control keeps it, and how all of them are read when the engine starts.

use dunlin_core::Time;
use dunlin_query::plan::QueryPlan;
use dunlin_query::{End, Query, parse};
use dunlin_store::{QueryFilter, QueryId, SourceId, Store, StoredQuery, TextIndex};

use super::parts::QueryMemory;
use super::watching::WatchConfig;
use crate::Error;
use crate::control::Event;
use crate::source_config::load_ceis;

/// How many queries or instances are read at a time.
const PAGE: u32 = 1000;

/// An installed query.
#[derive(Debug, Clone)]
pub struct QueryConfig {
    /// Its number.
    pub id: QueryId,
    /// What its owner calls it.
    pub name: String,
    /// How its instances begin and go on.
    pub plan: QueryPlan,
    /// What a result is worth.
    pub weight: f64,
    /// When it was installed.
    pub installed: Time,
    /// Whether no instance begins.
    pub is_paused: bool,
    /// What each select reads.
    pub sources: Vec<SourceId>,
    /// What it remembers.
    pub memory: QueryMemory,
}

impl QueryConfig {
    fn of(stored: StoredQuery, query: &Query) -> Option<Self> {
        let plan = QueryPlan::new(query, stored.installed)?;
        let n_selects = plan.selects().len();
        if stored.sources.len() != n_selects {
            return None;
        }
        Some(Self {
            id: stored.id,
            name: stored.name,
            weight: query.weight,
            installed: stored.installed,
            is_paused: stored.paused.is_some(),
            sources: stored.sources,
            memory: QueryMemory::from_bytes(&stored.memory, n_selects),
            plan,
        })
    }
}

/// What control is told of a stored query, as it was understood when it was installed. None if it was written by a release whose
/// language was another.
pub(super) fn installed_event(
    store: &dyn Store,
    stored: StoredQuery,
) -> Result<Option<Event>, dunlin_store::Error> {
    let Some(query) = parsed(&stored) else { return Ok(None) };
    Ok(match WatchConfig::load(store, &stored, &query)? {
        Some(config) => Some(Event::WatchInstalled(Box::new(config))),
        None => QueryConfig::of(stored, &query).map(|config| Event::QueryInstalled(Box::new(config))),
    })
}

/// What is known of a stored query without running it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outline {
    /// What a result is worth.
    pub weight: f64,
    /// From when on nothing begins or is told.
    pub end: Option<Time>,
}

/// What is known of a stored query without running it; none if it was written in a language that this release does not know.
pub fn outline(stored: &StoredQuery) -> Option<Outline> {
    let query = parsed(stored)?;
    let end = query.end.map(|end| match end {
        End::Until(end) => end,
        End::For(life) => stored.installed.plus(life),
    });
    Some(Outline { weight: query.weight, end })
}

fn parsed(stored: &StoredQuery) -> Option<Query> {
    match parse(&stored.text) {
        Ok(queries) => queries.into_iter().next(),
        Err(refused) => {
            tracing::warn!(query = stored.name, %refused, "a query cannot be read any more, and does not run (edit it)");
            None
        }
    }
}

/// Reads everything that is wanted of sources but their changes, a page at a time: queries, then their instances, then open CEIs.
pub fn load_needs(store: &dyn Store, mut add: impl FnMut(Event)) -> Result<(), Error> {
    let (mut after, mut is_index_needed) = (None, false);
    loop {
        let queries = store.queries(&QueryFilter { after, limit: PAGE })?;
        let Some(last) = queries.last() else { break };
        after = Some(last.id);
        for query in queries {
            let event = installed_event(store, query)?;
            is_index_needed |= matches!(event, Some(Event::WatchInstalled(_)));
            event.into_iter().for_each(&mut add);
        }
    }
    if !is_index_needed && store.text_index()? != TextIndex::None {
        // The last query that asked for words was removed while nothing ran.
        store.drop_text_index()?;
    }
    let mut after = None;
    loop {
        let instances = store.instances(after, PAGE)?;
        let Some(last) = instances.last() else { break };
        after = Some(last.id);
        instances.into_iter().for_each(|instance| add(Event::InstanceRestored(instance)));
    }
    load_ceis(store, |ceis| add(Event::CeisAdded(ceis)))
}
