//! One probe from its task to its result: the fetch, then the reading for each source to which the content is new.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Error as NetError, Fetched, Request};
use dunlin_store::{SourceId, Store};
use futures_util::future::join_all;
use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::probe_cache::{PackedProbeState, ProbeState};
use super::workers::{Progress, Run, TaskId};
use crate::capture::{
    Answer, Failure, PreparedProbe, PreparedSource, ProbeResult, ProbeTask, SourceEnd, Step, first_step,
    given_up, reading_timed_out,
};
use crate::control::{Event, SiteHop};
use crate::memory::FetchState;
use crate::probe::digest;
use crate::recipe::Target;
use crate::templates::Templates;
use crate::{ReaderLimits, Readers, Settings, WorkError, clock};

/// The result of a task.
pub(super) struct Done {
    pub(super) event: Event,
    /// What the next probe of each source starts from, once this one is written.
    pub(super) next: Vec<(SourceId, PackedProbeState)>,
}

impl From<Event> for Done {
    fn from(event: Event) -> Self {
        Self { event, next: Vec::new() }
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
    /// What the last probe left, for each source.
    Cached(Vec<PackedProbeState>),
    /// What the store has.
    Read(Box<PreparedProbe>),
}

/// Fetched content that some source has to read.
pub(super) struct Reading {
    prepared: Box<PreparedProbe>,
    answer: Unhashed,
    at: Time,
}

/// An answer, as far as it is known.
enum Unhashed {
    Hashed(Answer),
    /// It is too large to be hashed between other tasks.
    Large(Result<Fetched, NetError>),
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
    /// What pages of the same site have in common.
    templates: Arc<Templates>,
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
            templates: Arc::default(),
            seed: RandomState::new().hash_one(()),
        }
    }

    pub(super) fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// What a probe starts from, and the fingerprint of the last body.
    fn prepared(&self, task: &ProbeTask, basis: Basis) -> (PreparedProbe, Option<u128>) {
        let kept = match basis {
            Basis::Read(prepared) => return (*prepared, None),
            Basis::Cached(kept) => kept,
        };
        let mut prepared = PreparedProbe {
            probe: task.probe,
            fetch_state: FetchState::default(),
            sources: Vec::with_capacity(kept.len()),
            dropped: Vec::new(),
        };
        let mut last_fingerprint = None;
        for (own, kept) in task.sources.iter().zip(kept) {
            let ProbeState { recipe, note, flicker, fetch_state, fingerprint } = kept.unpack();
            let target = Target { url: Arc::clone(&task.url), recipe };
            (prepared.fetch_state, last_fingerprint) = (fetch_state, fingerprint);
            let source = PreparedSource::new(task.probe, *own, target, note, flicker, &self.settings);
            prepared.sources.push(source);
        }
        (prepared, last_fingerprint)
    }

    /// Fetches a resource, starting from what is cached of it, or from what the store has.
    async fn probe(&self, task: ProbeTask, hop: SiteHop, basis: Basis) -> Progress<Reading> {
        let probe = task.probe;
        let (prepared, last_fingerprint) = self.prepared(&task, basis);
        let request = match prepared.request() {
            Ok(request) => hop.of(request),
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                let result = given_up(&prepared, &failure, clock::now());
                return Progress::Done(Event::Probed(Box::new(result)).into());
            }
        };
        tracing::debug!(url = %dunlin_net::RedactedUrl::of(request.url()), "probe");
        let answer = match self.client.fetch(request).await {
            Err(NetError::CrossSiteRedirect { redirect }) => {
                return Progress::Done(Event::Redirected { probe, redirect }.into());
            }
            Err(NetError::Stale { .. }) => return Progress::Done(Event::ConnectionClosed { probe }.into()),
            answer => answer,
        };
        let at = clock::now();
        let prepared = Box::new(prepared);
        if !is_small(&answer) {
            return Progress::Rest(Reading { prepared, answer: Unhashed::Large(answer), at });
        }
        let fingerprint = answer.as_ref().ok().and_then(|fetched| self.fingerprint(fetched));
        let is_last = fingerprint.is_some() && fingerprint == last_fingerprint;
        let answer = Answer::new(answer, at, prepared.fetch_state.hash.filter(|_| is_last));
        // Most answers are nothing new, and that takes microseconds to see: less than switching to another thread.
        let steps: Vec<Step<'_>> =
            prepared.sources.iter().map(|source| first_step(source, &answer)).collect();
        // What is there now is wanted of some, and that is in the store.
        let asks_store = prepared.sources.iter().any(|source| source.wants_items);
        if asks_store || steps.iter().any(|step| matches!(step, Step::Read(_))) {
            drop(steps);
            return Progress::Rest(Reading { prepared, answer: Unhashed::Hashed(answer), at });
        }
        let fetch_state = answer.fetch_state(&prepared.fetch_state);
        let fingerprint = fingerprint.or(last_fingerprint);
        let (mut next, mut ends) = (Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len()));
        for (source, step) in prepared.sources.iter().zip(steps) {
            let Step::Done(result) = step else { continue };
            let (recipe, flicker) = (Arc::clone(&source.target.recipe), Some(source.flicker.clone()));
            let kept = PackedProbeState::after(recipe, flicker, fetch_state.clone(), fingerprint, &result);
            next.extend(kept.map(|kept| (source.source, kept)));
            ends.push(SourceEnd::Result(result));
        }
        let result = ProbeResult::of(&prepared, &answer, ends);
        Progress::Done(Done { event: Event::Probed(Box::new(result)), next })
    }

    /// Reads an answer for one source, on a thread of its own and within its time: a source that takes too long does not
    /// keep others from being read.
    async fn read(&self, prepared: PreparedSource, answer: &Arc<Answer>) -> SourceEnd {
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let templates = Arc::clone(&self.templates);
        let (source, within) = (prepared.source, settings.reading_time);
        let late = reading_timed_out(&prepared, within, answer.at);
        let answer = Arc::clone(answer);
        let reading =
            self.readers.run(within, move || digest(&*store, &settings, &templates, prepared, &answer));
        match reading.await {
            Ok(Ok(result)) => result.into(),
            Ok(Err(error)) => SourceEnd::Dropped { source, reason: error.to_string() },
            Err(WorkError::TooLong { .. }) => {
                tracing::warn!(%source, ?within, "a page took too long to read; its reading was abandoned");
                late.into()
            }
            Err(WorkError::Panicked(reason)) => SourceEnd::Crashed { source, reason },
            Err(unread) => SourceEnd::Dropped { source, reason: unread.to_string() },
        }
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

    async fn finish(&self, Reading { mut prepared, answer, at }: Reading) -> Done {
        let answer = match answer {
            Unhashed::Hashed(answer) => answer,
            Unhashed::Large(answer) => {
                let probe = prepared.probe;
                let hashing =
                    self.readers.run(self.settings.reading_time, move || Answer::new(answer, at, None));
                match hashing.await {
                    Ok(answer) => answer,
                    Err(unread) => return Event::Dropped { probe, reason: unread.to_string() }.into(),
                }
            }
        };
        let fetch_state = answer.fetch_state(&prepared.fetch_state);
        let answer = Arc::new(answer);
        let sources = std::mem::take(&mut prepared.sources);
        let recipes: Vec<_> = sources.iter().map(|source| Arc::clone(&source.target.recipe)).collect();
        let ends = join_all(sources.into_iter().map(|source| self.read(source, &answer))).await;
        let mut next = Vec::with_capacity(ends.len());
        for (recipe, end) in recipes.into_iter().zip(&ends) {
            if let SourceEnd::Result(result) = end {
                let kept = PackedProbeState::after(recipe, None, fetch_state.clone(), None, result);
                next.extend(kept.map(|kept| (result.capture.source, kept)));
            }
        }
        let result = ProbeResult::of(&prepared, &answer, ends);
        Done { event: Event::Probed(Box::new(result)), next }
    }
}

/// Whether an answer may be hashed between other tasks.
fn is_small(answer: &Result<Fetched, NetError>) -> bool {
    answer.as_ref().map_or(true, |fetched| fetched.body.len() <= HASHED_AT_ONCE)
}
