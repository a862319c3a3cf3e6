//! One probe from the store's words to a finished capture: what is fetched, then what is read if it is new.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::robots::MAX_BYTES;
use dunlin_net::{Client, Error as NetError, Fetched, Request};
use dunlin_store::Store;
use url::Url;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::recent::Recalled;
use super::tasks::{Name, Progress, Run};
use crate::capture::{Body, Errand, Failure, Job, Step, first_step, given_up, took_too_long};
use crate::control::{Event, Leg};
use crate::handle::wall_clock;
use crate::probe::{digest, prepare, read};
use crate::{Readers, Settings, Staff, Unread};

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

/// Something to fetch.
pub(super) enum Fetch {
    /// A source.
    Probe { errand: Errand, leg: Leg, recalled: Option<Box<Recalled>> },
    /// A robots.txt.
    Robots(Url),
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
    /// Read what the store has of sources: apart from those that read pages, so as not to wait for them.
    finders: Readers,
    /// Read pages.
    readers: Readers,
    /// Of the prints of bodies: another one in every run, so that nobody can choose bodies that are taken for one another.
    seed: u64,
}

impl Fetching {
    pub(super) fn new(store: Arc<dyn Store>, settings: Arc<Settings>, client: Client) -> Self {
        // What waits for them is bounded by what may be under way.
        let staff = |n_spare| Staff::for_this_machine(n_spare, usize::MAX);
        Self {
            store,
            settings,
            client,
            finders: Readers::new("dunlin-finder", staff(2)),
            readers: Readers::new("dunlin-reader", staff(Settings::SPARE_READERS)),
            seed: RandomState::new().hash_one(()),
        }
    }

    pub(super) fn readers(&self) -> Readers {
        self.readers.clone()
    }

    /// Fetches a source, beginning with what is recalled of it, or with what the store has.
    async fn probe(&self, errand: Errand, leg: Leg, recalled: Option<Box<Recalled>>) -> Progress<Reading> {
        let Errand { probe, source, .. } = errand;
        let mut last_print = None;
        let job = if let Some(recalled) = recalled {
            let Recalled { checked, look, flicker, print, .. } = *recalled;
            last_print = print;
            Job::new(errand, checked, look, flicker, &self.settings)
        } else {
            match self.prepare(errand).await {
                Ok(job) => job,
                Err(event) => return Progress::Done(event.into()),
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
        tracing::debug!(%source, url = %dunlin_net::ShownUrl::of(request.url()), "probe");
        let answer = match self.client.fetch(request).await {
            Err(NetError::Elsewhere { onward }) => {
                return Progress::Done(Event::LedOn { probe, onward }.into());
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
            let next = Recalled::after(job.checked, Some(job.flicker), print.or(last_print), &taken);
            return Progress::Done(Done { event: Event::Taken(taken), next });
        }
        Progress::Rest(Reading { job: Box::new(job), answer: Box::new(answer), at })
    }

    /// Reads what the store has of a source.
    async fn prepare(&self, errand: Errand) -> Result<Job, Event> {
        let probe = errand.probe;
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let within = settings.reading_time;
        match self.finders.run(within, move || prepare(&*store, &settings, errand)).await {
            Ok(Ok(job)) => Ok(job),
            Ok(Err(error)) => Err(Event::Dropped { probe, reason: error.to_string() }),
            Err(Unread::Panicked(reason)) => Err(Event::Crashed { probe, reason }),
            Err(unread) => Err(Event::Dropped {
                probe,
                reason: format!("what is stored of it could not be read: {unread}"),
            }),
        }
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
            Fetch::Probe { errand, leg, recalled } => self.probe(errand, leg, recalled).await,
            Fetch::Robots(url) => Progress::Done(self.robots(url).await),
        }
    }

    async fn finish(&self, Reading { job, answer, at }: Reading) -> Done {
        let (probe, checked) = (job.probe, Arc::clone(&job.checked));
        let (store, settings) = (Arc::clone(&self.store), Arc::clone(&self.settings));
        let (source, within) = (job.source, settings.reading_time);
        let late = took_too_long(&job, &answer, within, at);
        let reading = self.readers.run(within, move || match &*answer {
            Ok(fetched) if is_small(&answer) => read(&*store, &settings, *job, fetched, at),
            answer => digest(&*store, &settings, *job, answer, at),
        });
        match reading.await {
            Ok(Ok(taken)) => {
                let next = Recalled::after(checked, None, None, &taken);
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
