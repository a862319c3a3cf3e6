//! One probe from the store's words to a finished capture: what is fetched, then what is read if it is new.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Error as NetError, Fetched, Request};
use dunlin_store::Store;
use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::recent::{Kept, Recalled};
use super::tasks::{Name, Progress, Run};
use crate::capture::{Body, Errand, Failure, Job, Step, first_step, given_up, took_too_long};
use crate::control::{Event, Leg};
use crate::handle::wall_clock;
use crate::probe::{digest, read};
use crate::recipe::Target;
use crate::{Readers, Settings, Staff, Unread};

/// What a task brought.
pub(super) struct Done {
    pub(super) event: Event,
    /// What the next probe of the source begins with, once what this one brought is written.
    pub(super) next: Option<Kept>,
}

impl From<Event> for Done {
    fn from(event: Event) -> Self {
        Self { event, next: None }
    }
}

/// Something to fetch.
pub(super) enum Fetch {
    /// A source.
    Probe { errand: Errand, leg: Leg, basis: Basis },
    /// A robots.txt.
    Robots(Url),
}

/// What a probe begins with.
pub(super) enum Basis {
    /// What the probe before has left.
    Recalled(Kept),
    /// What the store has.
    Read(Box<Job>),
}

/// What a probe brought that has to be read.
pub(super) struct Reading {
    job: Box<Job>,
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
    /// Of the prints of bodies: another one in every run, so that nobody can choose bodies that are taken for one another.
    seed: u64,
}

impl Fetching {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>, client: Client) -> Self {
        // What waits for them is bounded by what may be under way.
        let staff = Staff::for_this_machine(Settings::SPARE_READERS, usize::MAX);
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

    /// Fetches a source, beginning with what is recalled of it, or with what the store has.
    async fn probe(&self, errand: Errand, leg: Leg, basis: Basis) -> Progress<Reading> {
        let Errand { probe, source, .. } = errand;
        let (job, last_print) = match basis {
            Basis::Read(job) => (*job, None),
            Basis::Recalled(kept) => {
                let Recalled { recipe, look, flicker, print } = kept.recalled();
                let target = Target { url: Arc::clone(&errand.url), recipe };
                (Job::new(&errand, target, look, flicker, &self.settings), print)
            }
        };
        let request = match job.request() {
            Ok(request) => leg.of(request),
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                let taken = given_up(&job, failure, wall_clock());
                return Progress::Done(Event::Taken(Box::new(taken)).into());
            }
        };
        tracing::debug!(%source, url = %dunlin_net::RedactedUrl::of(request.url()), "probe");
        let answer = match self.client.fetch(request).await {
            Err(NetError::CrossSiteRedirect { redirect }) => {
                return Progress::Done(Event::LedOn { probe, redirect }.into());
            }
            Err(NetError::Stale { .. }) => return Progress::Done(Event::ClosedUnder { probe }.into()),
            answer => answer,
        };
        let at = wall_clock();
        let is_small = is_small(&answer);
        let print = answer.as_ref().ok().filter(|_| is_small).and_then(|fetched| self.print(fetched));
        let body = if print.is_some() && print == last_print { Body::Last } else { Body::Any };
        // Most answers are nothing new, and it takes microseconds to see that: less than another thread does.
        if is_small && let Step::Done(taken) = first_step(&job, &answer, body, at) {
            let next = Kept::after(job.target.recipe, Some(job.flicker), print.or(last_print), &taken);
            return Progress::Done(Done { event: Event::Taken(taken), next });
        }
        Progress::Rest(Reading { job: Box::new(job), answer: Box::new(answer), at })
    }

    async fn robots(&self, url: Url) -> Done {
        let request = Request::new(url.clone()).keeping_first(MAX_BYTES as u64);
        let answer = Box::new(self.client.fetch(request).await);
        Event::Robots { url, answer }.into()
    }

    /// Tells a body from others, several times faster than its hash does.
    fn print(&self, fetched: &Fetched) -> Option<u128> {
        (!fetched.is_unchanged()).then(|| xxh3_128_with_seed(&fetched.body, self.seed))
    }
}

impl Run for Fetching {
    type Errand = Fetch;
    type Rest = Reading;

    fn name(errand: &Fetch) -> Name {
        match errand {
            Fetch::Probe { errand, .. } => Name::Probe(errand.probe),
            Fetch::Robots(url) => Name::Robots(url.clone()),
        }
    }

    async fn fetch(&self, errand: Fetch) -> Progress<Reading> {
        match errand {
            Fetch::Probe { errand, leg, basis } => self.probe(errand, leg, basis).await,
            Fetch::Robots(url) => Progress::Done(self.robots(url).await),
        }
    }

    async fn finish(&self, Reading { job, answer, at }: Reading) -> Done {
        let (probe, recipe) = (job.probe, Arc::clone(&job.target.recipe));
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let (source, within) = (job.source, settings.reading_time);
        let late = took_too_long(&job, &answer, within, at);
        let reading = self.readers.run(within, move || match &*answer {
            Ok(fetched) if is_small(&answer) => read(&*store, &settings, *job, fetched, at),
            answer => digest(&*store, &settings, *job, answer, at),
        });
        match reading.await {
            Ok(Ok(taken)) => {
                let next = Kept::after(recipe, None, None, &taken);
                Done { event: Event::Taken(Box::new(taken)), next }
            }
            Ok(Err(error)) => Event::Dropped { probe, reason: error.to_string() }.into(),
            Err(Unread::TooLong { .. }) => {
                tracing::warn!(%source, ?within, "a page took too long to read; its reading was abandoned");
                Event::Taken(Box::new(late)).into()
            }
            Err(Unread::Panicked(reason)) => Event::Crashed { probe, reason }.into(),
            Err(unread) => Event::Dropped { probe, reason: unread.to_string() }.into(),
        }
    }
}

/// Whether an answer may be hashed between other tasks.
fn is_small(answer: &Result<Fetched, NetError>) -> bool {
    answer.as_ref().map_or(true, |fetched| fetched.body.len() <= HASHED_AT_ONCE)
}
