//! Probes of sources that are not cached: the store is read for many at a time, since one call costs more than what it
//! reads. Fetches nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use dunlin_store::{ProbeId, Store};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::Settings;
use crate::capture::{PreparedProbe, ProbeTask};
use crate::control::{Event, SiteHop};
use crate::probe::{panic_message, prepare};
use crate::recipe::Recipes;

/// The most that are read in one call, so that the first need not wait long for the last.
const AT_ONE_TIME: usize = 256;
/// The most calls at one time; each has a thread.
const CALLS: usize = 2;

/// A probe that can be fetched, or the event that ended it.
pub(super) enum Ready {
    Probe { task: ProbeTask, hop: SiteHop, prepared: Box<PreparedProbe> },
    Event(Event),
}

/// Probes that wait for the store.
pub(super) struct Preparing {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    recipes: Arc<Mutex<Recipes>>,
    waiting: Vec<(ProbeTask, SiteHop)>,
    calls: FuturesUnordered<JoinHandle<Vec<Ready>>>,
    n_called: usize,
}

impl Preparing {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>) -> Self {
        let (recipes, calls) = (Arc::default(), FuturesUnordered::new());
        Self { store, settings, recipes, waiting: Vec::new(), calls, n_called: 0 }
    }

    /// How many are not ready.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.n_called
    }

    /// Queues one.
    pub(super) fn push(&mut self, task: ProbeTask, hop: SiteHop) {
        self.waiting.push((task, hop));
    }

    /// Begins to read for those that wait, unless enough are being read for.
    pub(super) fn begin(&mut self) {
        while !self.waiting.is_empty() && self.calls.len() < CALLS {
            let rest = self.waiting.split_off(self.waiting.len().min(AT_ONE_TIME));
            let batch = std::mem::replace(&mut self.waiting, rest);
            self.n_called += batch.len();
            let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
            let recipes = Arc::clone(&self.recipes);
            self.calls.push(spawn_blocking(move || read(&*store, &settings, &recipes, batch)));
        }
    }

    /// Waits for some to be ready; nothing when none is being read for.
    pub(super) async fn ended(&mut self) -> Option<Vec<Ready>> {
        // A panic has been caught where it happened, and calls are never cancelled.
        let ready = self.calls.next().await?.unwrap_or_default();
        self.n_called -= ready.len();
        Some(ready)
    }
}

fn read(
    store: &dyn Store,
    settings: &Settings,
    recipes: &Mutex<Recipes>,
    batch: Vec<(ProbeTask, SiteHop)>,
) -> Vec<Ready> {
    let (tasks, hops): (Vec<ProbeTask>, Vec<SiteHop>) = batch.into_iter().unzip();
    // The recipes are consistent after a panic, and the rest is not used again.
    let prepared = catch_unwind(AssertUnwindSafe(|| {
        let mut recipes = recipes.lock().unwrap_or_else(PoisonError::into_inner);
        prepare(store, settings, &mut recipes, &tasks)
    }));
    let all =
        |event: &dyn Fn(ProbeId) -> Event| tasks.iter().map(|task| Ready::Event(event(task.probe))).collect();
    let prepared = match prepared {
        Ok(Ok(prepared)) => prepared,
        Ok(Err(error)) => return all(&|probe| Event::Dropped { probe, reason: error.to_string() }),
        Err(panic) => {
            let said = panic_message(&*panic);
            return all(&|probe| Event::Crashed { probe, reason: said.clone() });
        }
    };
    let ready = tasks.into_iter().zip(hops).zip(prepared).map(|((task, hop), prepared)| match prepared {
        Ok(prepared) => Ready::Probe { task, hop, prepared: Box::new(prepared) },
        Err(error) => Ready::Event(Event::Dropped { probe: task.probe, reason: error.to_string() }),
    });
    ready.collect()
}
