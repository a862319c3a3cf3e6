//! One probe from the store's words to a finished capture, as a task. A panic in it ends this task and nothing else.

use std::sync::Arc;

use dunlin_core::Fault;
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Request};
use dunlin_store::{ProbeId, SourceId, Store};
use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};
use url::Url;

use crate::capture::{Failure, given_up};
use crate::control::Event;
use crate::handle::wall_clock;
use crate::probe::{digest, prepare};
use crate::{Error, Settings};

/// What a task was for.
#[derive(Debug)]
pub(super) enum Work {
    Probe(ProbeId),
    Robots(Url),
}

/// What every probe needs.
#[derive(Clone)]
pub(super) struct Fetching {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    client: Client,
    /// Reading pages takes a processor each; more at a time than there are only costs memory.
    readers: Arc<Semaphore>,
}

impl Fetching {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>, client: Client) -> Self {
        let n_readers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self { store, settings, client, readers: Arc::new(Semaphore::new(n_readers)) }
    }

    pub(super) async fn probe(self, probe: ProbeId, source: SourceId) -> Event {
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let preparing = spawn_blocking(move || prepare(&*store, &settings, source, probe));
        let job = match preparing.await {
            Ok(Ok(job)) => job,
            Ok(Err(error)) => return Event::Dropped { probe, reason: error.to_string() },
            Err(error) => return Event::Crashed { probe, reason: message_of(error) },
        };
        let request = match job.request() {
            Ok(request) => request,
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                return Event::Taken(Box::new(given_up(&job, failure, wall_clock())));
            }
        };
        tracing::debug!(%source, url = %dunlin_net::ShownUrl::of(request.url()), "probe");
        let answer = self.client.fetch(request).await;
        let at = wall_clock();
        let _reader = self.readers.acquire().await;
        let (store, settings) = (self.store, self.settings);
        let reading = spawn_blocking(move || digest(&*store, &settings, job, &answer, at));
        outcome_of(probe, reading.await)
    }

    pub(super) async fn robots(self, url: Url) -> Event {
        let request = Request::new(url.clone()).keeping_first(MAX_BYTES as u64);
        let answer = Box::new(self.client.fetch(request).await);
        Event::Robots { url, answer }
    }
}

fn outcome_of(probe: ProbeId, read: Result<Result<crate::capture::Taken, Error>, JoinError>) -> Event {
    match read {
        Ok(Ok(taken)) => Event::Taken(Box::new(taken)),
        Ok(Err(error)) => Event::Dropped { probe, reason: error.to_string() },
        Err(error) => Event::Crashed { probe, reason: message_of(error) },
    }
}

/// What a task said when it panicked.
pub(super) fn message_of(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => crate::probe::panic_message(&*panic),
        Err(_) => "it was cancelled".to_owned(),
    }
}
