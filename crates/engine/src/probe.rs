//! The parts of a probe that touch the store, on whatever thread the driver runs them. The same for both drivers.

use dunlin_core::{Fault, Time};
use dunlin_net::Fetched;
use dunlin_store::{ProbeBasis, SourceId, Store};

use crate::capture::{self, Body, Errand, Failure, Job, Previous, Step, Taken};
use crate::memory;
use crate::recipe::Recipes;
use crate::{Error, Settings};

/// Reads what probes need: the words of each source, and what its last look left. One call of the store serves all; an
/// error means that the store could not be read.
pub(crate) fn prepare(
    store: &dyn Store,
    settings: &Settings,
    recipes: &mut Recipes,
    errands: &[Errand],
) -> Result<Vec<Result<Job, Error>>, Error> {
    let sources: Vec<SourceId> = errands.iter().map(|errand| errand.source).collect();
    let stored = store.probe_bases(&sources, &memory::LEFT_BY_LOOKS)?;
    let job = |(errand, basis): (&Errand, Option<ProbeBasis>)| {
        let basis = basis.ok_or(Error::NoSuchSource(errand.source))?;
        let target = recipes.target(&basis)?;
        let (look, flicker) = memory::left_by_looks(&basis);
        Ok(Job::new(errand, target, look, flicker, settings))
    };
    Ok(errands.iter().zip(stored).map(job).collect())
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
    let extractor = match job.target.extractor(settings.extraction) {
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
