//! How the rest of the program talks to a running engine. Checks its input, writes it to the store, and informs the loop;
//! decides nothing.

use std::sync::{Arc, Mutex, PoisonError};

use dunlin_sched::scheduler::Pace;
use dunlin_store::{
    CeiId, CeiQuery, CeiState, Cursor, NewCei, NewInterval, NewSource, QueryId, ResultCursor, Source,
    SourceEdit, SourceId, Store, StoredCei, StoredQuery,
};
use tokio::sync::{RwLock, mpsc, oneshot, watch};

use crate::control::{Event, NotProbeable, QueryReport};
use crate::heartbeat::{Heartbeat, Standstill};
use crate::queries::{self, Installed};
use crate::reports::SourceExplanation;
use crate::source_config::{ProbesSinceNotes, SourceConfig};
use crate::{BudgetReport, EngineStats, Error, Health, Settings, clock, recipe};

/// The name under which a budget set while running is stored.
pub(crate) const BUDGET_SETTING: &str = "budget";

/// A request from a handle to the loop.
pub(crate) enum LoopRequest {
    Configure(Box<SourceConfig>, oneshot::Sender<()>),
    Remove(SourceId, oneshot::Sender<()>),
    Probe(SourceId, oneshot::Sender<Result<(), NotProbeable>>),
    Explain(Box<Source>, oneshot::Sender<SourceExplanation>),
    /// What happened, which is in the store already.
    Take(Vec<Event>, oneshot::Sender<()>),
    ExplainQuery(QueryId, oneshot::Sender<Option<QueryReport>>),
    Budget(oneshot::Sender<BudgetReport>),
    SetBudget(Pace, oneshot::Sender<()>),
}

/// What the loop publishes after every step.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) stats: EngineStats,
    pub(crate) health: Health,
}

/// A way to talk to a running engine. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) asks: mpsc::Sender<LoopRequest>,
    pub(crate) newest: watch::Receiver<Cursor>,
    pub(crate) newest_result: watch::Receiver<ResultCursor>,
    pub(crate) published: Arc<Mutex<Published>>,
    pub(crate) heartbeat: Arc<Heartbeat>,
    /// Held from before a write until the loop has been informed, so that store and loop see edits in the same order.
    /// Shared by additions: a source cannot be edited before it exists.
    pub(crate) order: Arc<RwLock<()>>,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("health", &self.health()).finish_non_exhaustive()
    }
}

impl Handle {
    /// Watches a source from now on. An error says which part of it cannot be used, and what to try.
    pub async fn add_source(&self, source: NewSource) -> Result<Source, Error> {
        recipe::check(&source, &self.settings)?;
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.read().await;
            let (source, config) = handle
                .with_store(move |store, settings| {
                    let id = store.add_source(source)?;
                    let source = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
                    let config = SourceConfig::load(store, &source, settings, &ProbesSinceNotes::default())?;
                    Ok((source, config))
                })
                .await?;
            handle.ask(|reply| LoopRequest::Configure(Box::new(config), reply)).await?;
            Ok(source)
        })
        .await
    }

    /// Changes a source; also pauses and resumes. A new address, kind or recipe makes the next probe a first one.
    pub async fn edit_source(&self, id: SourceId, edit: SourceEdit) -> Result<Source, Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            let (source, config) = handle
                .with_store(move |store, settings| {
                    let present = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
                    recipe::check_edit(&present, &edit, settings)?;
                    let source = store.edit_source(id, edit)?;
                    let config = SourceConfig::load(store, &source, settings, &ProbesSinceNotes::default())?;
                    Ok((source, config))
                })
                .await?;
            handle.ask(|reply| LoopRequest::Configure(Box::new(config), reply)).await?;
            Ok(source)
        })
        .await
    }

    /// Forgets a source and everything captured from it.
    pub async fn remove_source(&self, id: SourceId) -> Result<(), Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            handle
                .with_store(move |store, _| {
                    store.source(id)?.ok_or(Error::NoSuchSource(id))?;
                    Ok(store.remove_source(id)?)
                })
                .await?;
            handle.ask(|reply| LoopRequest::Remove(id, reply)).await
        })
        .await
    }

    /// Probes a source ahead of others, as soon as its host and the budget allow.
    pub async fn probe_now(&self, id: SourceId) -> Result<(), Error> {
        self.ask(|reply| LoopRequest::Probe(id, reply)).await?.map_err(|unwanted| match unwanted {
            NotProbeable::Unknown => Error::NoSuchSource(id),
            NotProbeable::Paused => Error::Paused(id),
        })
    }

    /// Captures a CEI from now on, if that is possible. What has become of it is in the store.
    pub async fn add_cei(&self, cei: NewCei) -> Result<CeiId, Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            let (cei, id) = handle.with_store(move |store, _| stored_cei(store, cei)).await?;
            handle.send(vec![Event::CeisAdded(vec![cei])]).await?;
            Ok(id)
        })
        .await
    }

    /// Adds intervals to an open CEI, of which it needs so many more: those that appear when something has happened.
    pub async fn extend_cei(&self, id: CeiId, more: Vec<NewInterval>, need: u32) -> Result<(), Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            handle.with_store(move |store, _| Ok(store.extend_cei(id, more, need)?)).await?;
            handle.send(vec![Event::CeiExtended(id)]).await
        })
        .await
    }

    /// Gives up a CEI.
    pub async fn withdraw_cei(&self, id: CeiId) -> Result<(), Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            let ended = vec![(id, CeiState::Withdrawn)];
            handle.with_store(move |store, _| Ok(store.end_ceis(ended, clock::now())?)).await?;
            handle.send(vec![Event::CeiWithdrawn(id)]).await
        })
        .await
    }

    /// Installs a query, or says what is wrong with its text, and where.
    pub async fn add_query(&self, text: String) -> Result<StoredQuery, Error> {
        self.change_query(move |store, settings| queries::install(store, settings, &text, clock::now())).await
    }

    /// Puts another text in the place of that of a query, which begins anew and keeps its results.
    pub async fn edit_query(&self, id: QueryId, text: String) -> Result<StoredQuery, Error> {
        self.change_query(move |store, settings| queries::edit(store, settings, id, &text, clock::now()))
            .await
    }

    /// Pauses a query, or resumes it.
    pub async fn pause_query(&self, id: QueryId, is_paused: bool) -> Result<StoredQuery, Error> {
        let paused = is_paused.then(clock::now);
        self.change_query(move |store, settings| queries::pause(store, settings, id, paused)).await
    }

    async fn change_query(
        &self,
        change: impl FnOnce(&dyn Store, &Settings) -> Result<Installed, Error> + Send + 'static,
    ) -> Result<StoredQuery, Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            let Installed { query, events } = handle.with_store(change).await?;
            handle.send(events).await?;
            Ok(query)
        })
        .await
    }

    /// Removes a query with its results.
    pub async fn remove_query(&self, id: QueryId) -> Result<(), Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            let events = handle.with_store(move |store, _| queries::remove(store, id, clock::now())).await?;
            handle.send(events).await
        })
        .await
    }

    /// How a query is doing; none if it is not installed, or has no instances.
    pub async fn explain_query(&self, id: QueryId) -> Result<Option<QueryReport>, Error> {
        self.ask(|reply| LoopRequest::ExplainQuery(id, reply)).await
    }

    /// The newest result of any query that is stored; announced after its commit.
    pub fn newest_result(&self) -> watch::Receiver<ResultCursor> {
        self.newest_result.clone()
    }

    /// Everything there is to say about a source now.
    pub async fn explain(&self, id: SourceId) -> Result<SourceExplanation, Error> {
        let (found, notes) =
            self.with_store(move |store, _| Ok((store.source(id)?, store.notes(id)?))).await?;
        let source = found.ok_or(Error::NoSuchSource(id))?;
        let explained = self.ask(|reply| LoopRequest::Explain(Box::new(source), reply)).await?;
        Ok(explained.with_notes(&notes))
    }

    /// How the budget is used. Empty once the engine has stopped.
    pub async fn budget(&self) -> BudgetReport {
        self.ask(LoopRequest::Budget).await.unwrap_or_else(|_| BudgetReport::unused(&self.settings))
    }

    /// Sets the budget for all, for now and after every restart.
    pub async fn set_budget(&self, pace: Pace) -> Result<(), Error> {
        let handle = self.clone();
        unbroken(async move {
            let _order = handle.order.write().await;
            handle.with_store(move |store, _| store_budget(store, pace)).await?;
            handle.ask(|reply| LoopRequest::SetBudget(pace, reply)).await
        })
        .await
    }

    /// The newest change that is stored; announced after its commit.
    pub fn newest_cursor(&self) -> watch::Receiver<Cursor> {
        self.newest.clone()
    }

    /// Counters and gauges.
    pub fn stats(&self) -> EngineStats {
        let stats = self.published.lock().unwrap_or_else(PoisonError::into_inner).stats;
        EngineStats { abandoned_readings: self.heartbeat.n_abandoned(), ..stats }
    }

    /// Whether the engine is alive, and what keeps it from working.
    pub fn health(&self) -> Health {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).health.clone()
    }

    /// Why nothing is captured at present, though everything seems to run. Sends no request, so it also works when the loop
    /// hangs.
    pub fn standstill(&self) -> Option<Standstill> {
        self.heartbeat.standstill()
    }

    /// The store. Its calls block, so they belong on blocking threads.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What the engine was started with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    async fn send(&self, events: Vec<Event>) -> Result<(), Error> {
        self.ask(|reply| LoopRequest::Take(events, reply)).await
    }

    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> LoopRequest) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).await.map_err(|_| Error::Stopped)?;
        answer.await.map_err(|_| Error::Stopped)
    }

    async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store, &Settings) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        tokio::task::spawn_blocking(move || work(&*store, &settings)).await.map_err(|_| Error::Stopped)?
    }
}

/// Stores a CEI, and reads it back as it is stored.
pub(crate) fn stored_cei(store: &dyn Store, cei: NewCei) -> Result<(StoredCei, CeiId), Error> {
    let id = store.add_cei(cei)?;
    let query = CeiQuery { after: Some(CeiId(id.0 - 1)), state: None, limit: 1 };
    Ok((store.ceis(&query)?.pop().ok_or(dunlin_store::Error::NoSuchCei(id))?, id))
}

/// Runs work to its end, even if the caller no longer waits.
async fn unbroken<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    tokio::spawn(work).await.map_err(|_| Error::Stopped)?
}

/// One probe in a thousand days; a smaller budget has to be 0.
const SLOWEST_PACE: f64 = 1.0 / 86_400_000.0;

/// A pace that can be kept.
pub(crate) fn check_pace(pace: Pace) -> Result<(), Error> {
    if pace.per_second == 0.0 || (SLOWEST_PACE..=1e6).contains(&pace.per_second) {
        return Ok(());
    }
    let given = pace.per_second.to_string();
    let expected = "probes per second: 0, or from one in 1000 days to 1000000";
    Err(Error::Number { what: "budget", given, expected })
}

/// Stores a budget, which goes before that of the settings from the next start on.
pub fn store_budget(store: &dyn Store, pace: Pace) -> Result<(), Error> {
    check_pace(pace)?;
    let text = serde_json::json!({ "per_second": pace.per_second }).to_string();
    Ok(store.set_setting(BUDGET_SETTING, Some(text))?)
}

/// The budget that was set while running, if it can be read.
pub fn stored_budget(store: &dyn Store) -> Result<Option<Pace>, Error> {
    let Some(text) = store.setting(BUDGET_SETTING)? else { return Ok(None) };
    Ok(serde_json::from_str::<Pace>(&text).ok().filter(|pace| check_pace(*pace).is_ok()))
}

/// Forgets the budget that was set while running: that of the settings counts again from the next start on.
pub fn forget_budget(store: &dyn Store) -> Result<(), Error> {
    Ok(store.set_setting(BUDGET_SETTING, None)?)
}
