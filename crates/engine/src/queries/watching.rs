//! A query that watches for words as control keeps it. See [`super::config`] for one that names its sources.

use dunlin_core::Time;
use dunlin_query::{Body, End, Predicate, Query, Term};
use dunlin_store::{QueryId, Store, StoredQuery};

use super::news::{Story, Told};

/// The most stories that a query remembers to have told.
pub(crate) const MOST_TOLD: u32 = 1000;

/// What a find is called: in WHERE, and in its result.
pub(crate) const ITEM: &str = "item";

/// An installed query with WATCH.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// Its number.
    pub id: QueryId,
    /// What its owner calls it.
    pub name: String,
    /// The words of each WATCH, and what they weigh: its importance times the weight of the query.
    pub watches: Vec<(Vec<Term>, f64)>,
    /// What has to hold of an item for it to be told.
    pub filter: Option<Predicate>,
    /// From when on nothing is told.
    pub end: Option<Time>,
    /// Whether nothing is looked for.
    pub is_paused: bool,
    /// What it told last, newest first.
    pub told: Vec<Told>,
}

impl WatchConfig {
    /// A stored query with WATCH; none if it has SELECTs.
    pub(super) fn load(
        store: &dyn Store,
        stored: &StoredQuery,
        query: &Query,
    ) -> Result<Option<Self>, dunlin_store::Error> {
        let Body::Watch(watches) = &query.body else { return Ok(None) };
        let told = store.stories(stored.id, MOST_TOLD)?.into_iter().filter_map(|told| {
            Some(Told { instance: told.instance, story: Story::from_bytes(&told.story)? })
        });
        Ok(Some(Self {
            id: stored.id,
            name: stored.name.clone(),
            watches: watches.iter().map(|watch| (watch.terms(), watch.importance * query.weight)).collect(),
            filter: query.filter.clone(),
            end: query.end.map(|end| match end {
                End::Until(end) => end,
                End::For(life) => stored.installed.plus(life),
            }),
            is_paused: stored.paused.is_some(),
            told: told.collect(),
        }))
    }
}
