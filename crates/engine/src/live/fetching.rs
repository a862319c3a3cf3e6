//! One probe from the store's words to a finished capture, as a task. A panic in it ends this task and nothing else.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dunlin_core::Fault;
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Error as NetError, Fetched, Request};
use dunlin_store::Store;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, spawn_blocking};
use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::recent::Recalled;
use crate::Settings;
use crate::capture::{Body, Errand, Failure, Job, Step, first_step, given_up};
use crate::control::{Event, Leg};
use crate::handle::wall_clock;
use crate::probe::{digest, prepare, read};

/// What a task brought.
pub(super) struct Done {
    pub(super) event: Event,
    /// What the next probe of the source begins with, once what this one brought is written.
    pub(super) next: Option<Box<Recalled>>,
}

impl From<Event> for Done {
    fn from(event: Event) -> Self {
        Self { event, next: None }
    }
}

/// The largest body that is hashed between other tasks; a larger one would keep them waiting.
const HASHED_AT_ONCE: usize = 256 << 10;

/// What every probe needs.
#[derive(Clone)]
pub(super) struct Fetching {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    client: Client,
    /// Reading pages takes a processor each; more at a time than there are only costs memory.
    readers: Arc<Semaphore>,
    /// Of the prints of bodies: another one in every run, so that nobody can choose bodies that are taken for one another.
    seed: u64,
}

impl Fetching {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>, client: Client) -> Self {
        let n_readers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self {
            store,
            settings,
            client,
            readers: Arc::new(Semaphore::new(n_readers)),
            seed: RandomState::new().hash_one(()),
        }
    }

    /// Probes a source, beginning with what is recalled of it, or with what the store has.
    pub(super) async fn probe(self, errand: Errand, leg: Leg, recalled: Option<Box<Recalled>>) -> Done {
        let Errand { probe, source, .. } = errand;
        let mut last_print = None;
        let job = if let Some(recalled) = recalled {
            let Recalled { checked, look, flicker, print, .. } = *recalled;
            last_print = print;
            Job::new(errand, checked, look, flicker, &self.settings)
        } else {
            let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
            // As many threads as wait for the store would each keep memory of their own.
            let _reader = self.readers.acquire().await;
            let preparing = spawn_blocking(move || prepare(&*store, &settings, errand));
            match preparing.await {
                Ok(Ok(job)) => job,
                Ok(Err(error)) => return Event::Dropped { probe, reason: error.to_string() }.into(),
                Err(error) => return Event::Crashed { probe, reason: message_of(error) }.into(),
            }
        };
        let request = match job.request() {
            Ok(request) => leg.of(request),
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                return Event::Taken(Box::new(given_up(&job, failure, wall_clock()))).into();
            }
        };
        tracing::debug!(%source, url = %dunlin_net::ShownUrl::of(request.url()), "probe");
        let answer = match self.client.fetch(request).await {
            Err(NetError::Elsewhere { onward }) => return Event::LedOn { probe, onward }.into(),
            Err(NetError::Stale { .. }) => return Event::ClosedUnder { probe }.into(),
            answer => answer,
        };
        let at = wall_clock();
        let is_small = answer.as_ref().map_or(true, |fetched| fetched.body.len() <= HASHED_AT_ONCE);
        let print = answer.as_ref().ok().filter(|_| is_small).and_then(|fetched| self.print(fetched));
        let body = if print.is_some() && print == last_print { Body::Last } else { Body::Any };
        // Most answers are nothing new, and it takes microseconds to see that: less than another thread does.
        if is_small && let Step::Done(taken) = first_step(&job, &answer, body, at) {
            let next = Recalled::after(job.checked, Some(job.flicker), print.or(last_print), &taken);
            return Done { event: Event::Taken(taken), next };
        }
        let _reader = self.readers.acquire().await;
        let checked = Arc::clone(&job.checked);
        let (store, settings) = (self.store, self.settings);
        let reading = spawn_blocking(move || match &answer {
            Ok(fetched) if is_small => read(&*store, &settings, job, fetched, at),
            answer => digest(&*store, &settings, job, answer, at),
        });
        match reading.await {
            Ok(Ok(taken)) => {
                let next = Recalled::after(checked, None, None, &taken);
                Done { event: Event::Taken(Box::new(taken)), next }
            }
            Ok(Err(error)) => Event::Dropped { probe, reason: error.to_string() }.into(),
            Err(error) => Event::Crashed { probe, reason: message_of(error) }.into(),
        }
    }

    /// Tells a body from others, several times faster than its hash does.
    fn print(&self, fetched: &Fetched) -> Option<u128> {
        (!fetched.is_unchanged()).then(|| xxh3_128_with_seed(&fetched.body, self.seed))
    }

    pub(super) async fn robots(self, url: Url) -> Done {
        let request = Request::new(url.clone()).keeping_first(MAX_BYTES as u64);
        let answer = Box::new(self.client.fetch(request).await);
        Event::Robots { url, answer }.into()
    }
}

/// What a task said when it panicked.
fn message_of(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => crate::probe::panic_message(&*panic),
        Err(_) => "it was cancelled".to_owned(),
    }
}
