//! The parts of a probe that touch the store, on whatever thread the driver runs them. The same for both drivers.

use std::sync::Arc;

use dunlin_core::{Fault, Time};
use dunlin_net::Fetched;
use dunlin_store::Store;

use crate::capture::{self, Body, Errand, Failure, Job, Previous, Step, Taken};
use crate::memory::{self, Memory};
use crate::recipe::understand;
use crate::{Error, Settings};

/// Reads what a probe needs: the source, and what the last look left.
pub(crate) fn prepare(store: &dyn Store, settings: &Settings, errand: Errand) -> Result<Job, Error> {
    let id = errand.source;
    let source = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
    let memory = Memory::load(store, id, &source.spec, settings.prior)?;
    let checked = Arc::new(understand(&source.spec, settings)?);
    Ok(Job::new(errand, checked, memory.look, memory.flicker, settings))
}

/// Makes of an answer what is to be stored and learned.
pub(crate) fn digest(
    store: &dyn Store,
    settings: &Settings,
    job: Job,
    answer: &Result<Fetched, dunlin_net::Error>,
    at: Time,
) -> Result<Taken, Error> {
    match capture::first_step(&job, answer, Body::Any, at) {
        Step::Done(taken) => Ok(*taken),
        Step::Read(fetched) => read(store, settings, job, fetched, at),
    }
}

/// Reads content that is other than the last one, and compares it with what is stored.
pub(crate) fn read(
    store: &dyn Store,
    settings: &Settings,
    job: Job,
    fetched: &Fetched,
    at: Time,
) -> Result<Taken, Error> {
    let extractor = match job.checked.extractor(settings.extraction) {
        Ok(extractor) => extractor,
        Err(error) => return Ok(capture::given_up(&job, Failure::new(Fault::User, error.to_string()), at)),
    };
    let is_first = !job.look.has_baseline();
    let previous = if is_first { Previous::default() } else { memory::previous(store, job.source)? };
    Ok(capture::read(job, fetched, &previous, at, &extractor))
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
