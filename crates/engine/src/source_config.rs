//! The configuration of a source as control keeps it in memory, with what is remembered about the source.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_sched::model::Model;
use dunlin_sched::value::ValueModel;
use dunlin_store::{
    CeiQuery, CeiState, DecisionQuery, ObservationId, ObservationQuery, Outcome, ResourceId, Source,
    SourceId, SourceQuery, SourceState, Store, StoredCei,
};
use url::Url;

use crate::memory::Memory;
use crate::recipe::interpret;
use crate::{Error, Settings};

/// A source that is added or edited.
#[derive(Debug, Clone)]
pub struct SourceConfig {
    /// Its number.
    pub id: SourceId,
    /// What is fetched for it.
    pub resource: ResourceId,
    /// Its health.
    pub state: SourceState,
    /// What to do with it.
    pub activity: Activity,
}

/// What to do with a source.
#[derive(Debug, Clone)]
pub enum Activity {
    /// Watch it.
    Watch(Box<WatchedSource>),
    /// Do not probe it: a user has paused it.
    Pause(Box<WatchedSource>),
    /// Do not probe it: what is stored about it is invalid.
    Invalid {
        /// Why.
        reason: String,
    },
}

/// What control needs to watch a source.
#[derive(Debug, Clone)]
pub struct WatchedSource {
    /// Where it is.
    pub url: Arc<Url>,
    /// What its changes are worth.
    pub value: ValueModel,
    /// Never probe again sooner than this.
    pub shortest_gap: Duration,
    /// Probe at least this often.
    pub longest_gap: Duration,
    /// Whether it is there for queries only.
    pub is_for_queries: bool,
    /// What is known about how it changes.
    pub model: Model,
    /// Whether some of that is in no note: learned again from the probes of a run that crashed.
    pub is_unnoted: bool,
    /// The last probe that succeeded.
    pub last_probe: Option<Time>,
    /// Not to be probed before this time.
    pub not_before: Option<Time>,
    /// Failures in a row.
    pub failures: u32,
}

impl SourceConfig {
    /// Reads what is remembered about a stored source.
    pub fn load(
        store: &dyn Store,
        source: &Source,
        settings: &Settings,
        probes_since_notes: &ProbesSinceNotes,
    ) -> Result<Self, Error> {
        let (id, resource, state) = (source.id, source.resource, source.state.clone());
        let checked = match interpret(&source.spec, settings) {
            Ok(checked) => checked,
            Err(error) => {
                return Ok(Self {
                    id,
                    resource,
                    state,
                    activity: Activity::Invalid { reason: error.to_string() },
                });
            }
        };
        let mut memory = Memory::load(store, source.id, &source.spec, settings.prior)?;
        let noted = memory.note.last_probe;
        probes_since_notes.of(id).for_each(|at| memory.catch_up(at));
        let watched = Box::new(WatchedSource {
            url: checked.target.url,
            value: checked.value,
            shortest_gap: checked.shortest_gap,
            longest_gap: checked.longest_gap,
            is_for_queries: source.spec.for_queries,
            model: memory.model,
            is_unnoted: memory.note.last_probe != noted,
            last_probe: memory.note.last_probe,
            not_before: memory.note.not_before,
            failures: memory.note.failures,
        });
        let activity =
            if source.paused.is_some() { Activity::Pause(watched) } else { Activity::Watch(watched) };
        Ok(Self { id, resource, state, activity })
    }
}

/// Probes that showed nothing new, and that a crashed run had not put into its notes yet.
#[derive(Debug, Default)]
pub struct ProbesSinceNotes(BTreeMap<SourceId, Vec<Time>>);

impl ProbesSinceNotes {
    /// Reads all of them.
    pub fn read(store: &dyn Store) -> Result<Self, Error> {
        let mut probes = Self::default();
        let mut after = noted_until(store)?;
        loop {
            let page = store.observations(&ObservationQuery { source: None, after, limit: PAGE })?;
            let Some(last) = page.last() else { return Ok(probes) };
            after = Some(last.id);
            for observation in
                page.into_iter().filter(|observation| observation.outcome == Outcome::Unchanged)
            {
                probes.0.entry(observation.source).or_default().push(observation.at);
            }
        }
    }

    fn of(&self, source: SourceId) -> impl Iterator<Item = Time> {
        self.0.get(&source).into_iter().flatten().copied()
    }
}

/// The setting that says up to which observation all is in the notes.
const NOTED_UNTIL: &str = "noted_until";

fn noted_until(store: &dyn Store) -> Result<Option<ObservationId>, Error> {
    let stored = store.setting(NOTED_UNTIL)?;
    Ok(stored.and_then(|number| number.parse().ok()).map(ObservationId))
}

/// Stores up to which observation all is in the notes.
pub(crate) fn set_noted_until(store: &dyn Store, until: ObservationId) -> Result<(), dunlin_store::Error> {
    store.set_setting(NOTED_UNTIL, Some(until.to_string()))
}

/// Whether a run before this one may have used `store`.
pub fn has_been_used(store: &dyn Store) -> Result<bool, Error> {
    let has_sources = !store.sources(&SourceQuery::first(1))?.is_empty();
    Ok(has_sources || !store.decisions(&DecisionQuery::first(1))?.is_empty())
}

/// How many sources, or probes, are read at a time when starting.
const PAGE: u32 = 1000;

/// Reads all open CEIs, a page at a time.
pub fn load_ceis(store: &dyn Store, mut add: impl FnMut(Vec<StoredCei>)) -> Result<(), Error> {
    let mut query = CeiQuery { after: None, state: Some(CeiState::Open), limit: PAGE };
    loop {
        let ceis = store.ceis(&query)?;
        let Some(last) = ceis.last() else { return Ok(()) };
        query.after = Some(last.id);
        add(ceis);
    }
}

/// Reads all sources, a page at a time, so that starting needs no more memory than running.
pub fn load_all(
    store: &dyn Store,
    settings: &Settings,
    mut join: impl FnMut(Vec<SourceConfig>),
) -> Result<(), Error> {
    let probes_since_notes = ProbesSinceNotes::read(store)?;
    let mut after = None;
    loop {
        let sources = store.sources(&SourceQuery { after, ..SourceQuery::first(PAGE) })?;
        let Some(last) = sources.last() else { return Ok(()) };
        after = Some(last.id);
        let config: Result<Vec<SourceConfig>, Error> = sources
            .iter()
            .map(|source| SourceConfig::load(store, source, settings, &probes_since_notes))
            .collect();
        join(config?);
    }
}
