//! What every request shares: the engine, the limits, and the way to the store. Knows no route.
//!
//! Invariant: the store is only called on blocking threads, and no more of those are taken than the options allow.

use std::sync::Arc;

use dunlin_engine::Handle;
use dunlin_store::Store;
use tokio::sync::{Mutex, Semaphore, watch};

use crate::Options;
use crate::failure::Failure;
use crate::figures::Served;
use crate::gate::hosts::KnownHosts;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Handle,
    pub(crate) options: Arc<Options>,
    pub(crate) hosts: Arc<KnownHosts>,
    pub(crate) served: Arc<Served>,
    pub(crate) streams: Arc<Semaphore>,
    /// True once the server has been told to stop.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Held while a source is read, altered and written.
    pub(crate) editing: Arc<Mutex<()>>,
    calls: Arc<Semaphore>,
}

impl App {
    pub(crate) fn new(engine: Handle, options: Options, stopping: watch::Receiver<bool>) -> Self {
        Self {
            engine,
            hosts: Arc::new(KnownHosts::new(&options.host_names)),
            served: Arc::new(Served::default()),
            streams: Arc::new(Semaphore::new(options.max_streams)),
            calls: Arc::new(Semaphore::new(options.max_store_calls.max(1))),
            options: Arc::new(options),
            stopping,
            editing: Arc::default(),
        }
    }

    /// Does something with the store, or anything else that takes long, on a blocking thread when there is room.
    pub(crate) async fn with_store<T, E>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        let permit = Arc::clone(&self.calls).acquire_owned().await;
        let permit = permit.map_err(|_| Failure::internal("no more calls of the store are taken"))?;
        let store = Arc::clone(self.engine.store());
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&*store);
            drop(permit);
            done
        });
        match done.await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(Failure::internal("a call of the store broke off")),
        }
    }
}
