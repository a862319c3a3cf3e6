//! What every request shares: the engine, the limits, and the way to the store. Knows no route.
//!
//! Invariant: the store is only called on blocking threads, and at most as many as the options allow. Slow calls and quick
//! calls have separate threads, and token checks are apart from both, so that one client's work never blocks another.

use std::sync::Arc;

use dunlin_engine::{Handle, ReaderLimits, Readers, WorkError};
use dunlin_store::Store;
use tokio::sync::{Mutex, Semaphore, watch};

use crate::Options;
use crate::failure::Failure;
use crate::gate::hosts::KnownHosts;
use crate::metrics::ServerMetrics;

/// Shared by all requests; cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Handle,
    pub(crate) options: Arc<Options>,
    pub(crate) hosts: Arc<KnownHosts>,
    pub(crate) served: Arc<ServerMetrics>,
    pub(crate) streams: Arc<Semaphore>,
    /// True once the server is stopping.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Held while a source is read, altered and written.
    pub(crate) editing: Arc<Mutex<()>>,
    /// Notified whenever a token has been revoked.
    pub(crate) revoked: Arc<watch::Sender<()>>,
    calls: Arc<Semaphore>,
    checks: Arc<Semaphore>,
    heavy: Readers,
}

/// Tokens checked at one time. Each takes one read of one row.
const MAX_CHECKS: usize = 4;

/// Threads for heavy calls that take long or were given up, besides those of the options.
const SPARE_HEAVY: usize = 6;

impl App {
    pub(crate) fn new(engine: Handle, options: Options, stopping: watch::Receiver<bool>) -> Self {
        Self {
            engine,
            hosts: Arc::new(KnownHosts::new(&options.host_names)),
            served: Arc::new(ServerMetrics::default()),
            streams: Arc::new(Semaphore::new(options.max_streams)),
            calls: Arc::new(Semaphore::new(options.max_store_calls.max(1))),
            checks: Arc::new(Semaphore::new(MAX_CHECKS)),
            heavy: Readers::new(
                "dunlin-heavy",
                ReaderLimits {
                    at_one_time: options.max_heavy_calls,
                    spare: SPARE_HEAVY,
                    most_waiting: options.max_heavy_waiting,
                },
            ),
            options: Arc::new(options),
            stopping,
            editing: Arc::default(),
            revoked: Arc::new(watch::Sender::new(())),
        }
    }

    /// Asks the store for something that it has at once, on a blocking thread when there is room.
    pub(crate) async fn with_store<T, E>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        self.blocking(&self.calls, work).await
    }

    /// The same for what every request needs before anything else.
    pub(crate) async fn checking<T, E>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        self.blocking(&self.checks, work).await
    }

    /// Runs work on a site's content, which may take long: on a thread of its own, with a deadline.
    pub(crate) async fn heavily<T, E>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        let store = Arc::clone(self.engine.store());
        let done = self.heavy.run(self.options.heavy_time, move || work(&*store)).await;
        match done {
            Ok(done) => done.map_err(Into::into),
            Err(WorkError::Full) => Err(Failure::busy(
                "too_many_calls",
                "too many calls of this kind wait already",
                "try again later",
            )),
            Err(WorkError::TooLong { within }) => {
                let message = format!("this took longer than {within:?}");
                Err(Failure::busy(
                    "timed_out",
                    &message,
                    "try again later; a page like that may be too much for its recipe",
                ))
            }
            Err(WorkError::Panicked(_)) => Err(Failure::internal("a call of the store broke off")),
            Err(unread) => Err(Failure::internal(unread.to_string())),
        }
    }

    async fn blocking<T, E>(
        &self,
        room: &Arc<Semaphore>,
        work: impl FnOnce(&dyn Store) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        E: Into<Failure> + Send + 'static,
    {
        let permit = Arc::clone(room).acquire_owned().await;
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
