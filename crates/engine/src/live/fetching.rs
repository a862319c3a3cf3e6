//! One probe from its task to its result: the fetch, then the reading if the content is new.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Error as NetError, Fetched, Request};
use dunlin_store::Store;
use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::recent::{Kept, Recalled};
use super::workers::{Progress, Run, TaskId};
use crate::capture::{
    Body, Failure, PreparedProbe, ProbeTask, Step, first_step, given_up, reading_timed_out,
};
use crate::control::{Event, SiteHop};
use crate::handle::wall_clock;
use crate::probe::{digest, read};
use crate::recipe::Target;
use crate::{ReaderLimits, Readers, Settings, WorkError};

/// The result of a task.
pub(super) struct Done {
    pub(super) event: Event,
    /// What the next probe of the source starts from, once this one is written.
    pub(super) next: Option<Kept>,
}

impl From<Event> for Done {
    fn from(event: Event) -> Self {
        Self { event, next: None }
    }
}

/// Something to fetch.
pub(super) enum FetchTask {
    /// A source.
    Probe { task: ProbeTask, hop: SiteHop, basis: Basis },
    /// A robots.txt.
    Robots(Url),
}

/// What a probe starts from.
pub(super) enum Basis {
    /// What the last probe left.
    Recalled(Kept),
    /// What the store has.
    Read(Box<PreparedProbe>),
}

/// Fetched content that has to be read.
pub(super) struct Reading {
    prepared: Box<PreparedProbe>,
    answer: Box<Result<Fetched, NetError>>,
    at: Time,
}

/// The largest body that is hashed between other tasks; a larger one would keep them waiting.
const HASHED_AT_ONCE: usize = 256 << 10;

/// What every probe needs.
#[derive(Clone)]
pub(super) struct Fetching {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    client: Client,
    /// Read pages.
    readers: Readers,
    /// Of the fingerprints of bodies: random in every run, so that a site cannot choose bodies that collide.
    seed: u64,
}

impl Fetching {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>, client: Client) -> Self {
        // What waits for them is bounded by the number of active probes.
        let staff = ReaderLimits::for_this_machine(Settings::SPARE_READERS, usize::MAX);
        Self {
            store,
            settings,
            client,
            readers: Readers::new("dunlin-reader", staff),
            seed: RandomState::new().hash_one(()),
        }
    }

    pub(super) fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// Fetches a source, starting from what is cached of it, or from what the store has.
    async fn probe(&self, task: ProbeTask, hop: SiteHop, basis: Basis) -> Progress<Reading> {
        let ProbeTask { probe, source, .. } = task;
        let (prepared, last_fingerprint) = match basis {
            Basis::Read(prepared) => (*prepared, None),
            Basis::Recalled(kept) => {
                let Recalled { recipe, note, flicker, fingerprint } = kept.recalled();
                let target = Target { url: Arc::clone(&task.url), recipe };
                (PreparedProbe::new(&task, target, note, flicker, &self.settings), fingerprint)
            }
        };
        let request = match prepared.request() {
            Ok(request) => hop.of(request),
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                let result = given_up(&prepared, failure, wall_clock());
                return Progress::Done(Event::Probed(Box::new(result)).into());
            }
        };
        tracing::debug!(%source, url = %dunlin_net::RedactedUrl::of(request.url()), "probe");
        let answer = match self.client.fetch(request).await {
            Err(NetError::CrossSiteRedirect { redirect }) => {
                return Progress::Done(Event::Redirected { probe, redirect }.into());
            }
            Err(NetError::Stale { .. }) => return Progress::Done(Event::ConnectionClosed { probe }.into()),
            answer => answer,
        };
        let at = wall_clock();
        let is_small = is_small(&answer);
        let fingerprint =
            answer.as_ref().ok().filter(|_| is_small).and_then(|fetched| self.fingerprint(fetched));
        let body =
            if fingerprint.is_some() && fingerprint == last_fingerprint { Body::Last } else { Body::Any };
        // Most answers are nothing new, and that takes microseconds to see: less than switching to another thread.
        if is_small && let Step::Done(result) = first_step(&prepared, &answer, body, at) {
            let next = Kept::after(
                prepared.target.recipe,
                Some(prepared.flicker),
                fingerprint.or(last_fingerprint),
                &result,
            );
            return Progress::Done(Done { event: Event::Probed(result), next });
        }
        Progress::Rest(Reading { prepared: Box::new(prepared), answer: Box::new(answer), at })
    }

    async fn robots(&self, url: Url) -> Done {
        let request = Request::new(url.clone()).keeping_first(MAX_BYTES as u64);
        let answer = Box::new(self.client.fetch(request).await);
        Event::Robots { url, answer }.into()
    }

    /// Distinguishes a body from others, several times faster than its hash.
    fn fingerprint(&self, fetched: &Fetched) -> Option<u128> {
        (!fetched.is_unchanged()).then(|| xxh3_128_with_seed(&fetched.body, self.seed))
    }
}

impl Run for Fetching {
    type Task = FetchTask;
    type Rest = Reading;

    fn id(task: &FetchTask) -> TaskId {
        match task {
            FetchTask::Probe { task, .. } => TaskId::Probe(task.probe),
            FetchTask::Robots(url) => TaskId::Robots(url.clone()),
        }
    }

    async fn fetch(&self, task: FetchTask) -> Progress<Reading> {
        match task {
            FetchTask::Probe { task, hop, basis } => self.probe(task, hop, basis).await,
            FetchTask::Robots(url) => Progress::Done(self.robots(url).await),
        }
    }

    async fn finish(&self, Reading { prepared, answer, at }: Reading) -> Done {
        let (probe, recipe) = (prepared.probe, Arc::clone(&prepared.target.recipe));
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let (source, within) = (prepared.source, settings.reading_time);
        let late = reading_timed_out(&prepared, &answer, within, at);
        let reading = self.readers.run(within, move || match &*answer {
            Ok(fetched) if is_small(&answer) => read(&*store, &settings, *prepared, fetched, at),
            answer => digest(&*store, &settings, *prepared, answer, at),
        });
        match reading.await {
            Ok(Ok(result)) => {
                let next = Kept::after(recipe, None, None, &result);
                Done { event: Event::Probed(Box::new(result)), next }
            }
            Ok(Err(error)) => Event::Dropped { probe, reason: error.to_string() }.into(),
            Err(WorkError::TooLong { .. }) => {
                tracing::warn!(%source, ?within, "a page took too long to read; its reading was abandoned");
                Event::Probed(Box::new(late)).into()
            }
            Err(WorkError::Panicked(reason)) => Event::Crashed { probe, reason }.into(),
            Err(unread) => Event::Dropped { probe, reason: unread.to_string() }.into(),
        }
    }
}

/// Whether an answer may be hashed between other tasks.
fn is_small(answer: &Result<Fetched, NetError>) -> bool {
    answer.as_ref().map_or(true, |fetched| fetched.body.len() <= HASHED_AT_ONCE)
}
