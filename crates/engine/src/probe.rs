//! The parts of a probe that use the store, on a thread of the driver's choice. The same for both drivers.

use dunlin_core::{Fault, Time};
use dunlin_net::Fetched;
use dunlin_store::{ProbeBasis, SourceId, Store};

use crate::capture::{self, Body, Failure, PreparedProbe, Previous, ProbeResult, ProbeTask, Step};
use crate::memory;
use crate::recipe::Recipes;
use crate::{Error, Settings};

/// Reads what probes start from: the configuration of each source, and the notes of its last probe. One call of the store
/// serves all; an error means that the store could not be read.
pub(crate) fn prepare(
    store: &dyn Store,
    settings: &Settings,
    recipes: &mut Recipes,
    tasks: &[ProbeTask],
) -> Result<Vec<Result<PreparedProbe, Error>>, Error> {
    let sources: Vec<SourceId> = tasks.iter().map(|task| task.source).collect();
    let stored = store.probe_bases(&sources, &memory::PROBE_NOTES)?;
    let prepared = |(task, basis): (&ProbeTask, Option<ProbeBasis>)| {
        let basis = basis.ok_or(Error::NoSuchSource(task.source))?;
        let target = recipes.target(&basis)?;
        let (note, flicker) = memory::read_probe_notes(&basis);
        Ok(PreparedProbe::new(task, target, note, flicker, settings))
    };
    Ok(tasks.iter().zip(stored).map(prepared).collect())
}

/// Turns an answer into a result.
pub(crate) fn digest(
    store: &dyn Store,
    settings: &Settings,
    prepared: PreparedProbe,
    answer: &Result<Fetched, dunlin_net::Error>,
    at: Time,
) -> Result<ProbeResult, Error> {
    match capture::first_step(&prepared, answer, Body::Any, at) {
        Step::Done(result) => Ok(*result),
        Step::Read(fetched) => read(store, settings, prepared, fetched, at),
    }
}

/// Reads content that is other than the last one, and compares it with what is stored.
pub(crate) fn read(
    store: &dyn Store,
    settings: &Settings,
    prepared: PreparedProbe,
    fetched: &Fetched,
    at: Time,
) -> Result<ProbeResult, Error> {
    let extractor = match prepared.target.extractor(settings.extraction) {
        Ok(extractor) => extractor,
        Err(error) => {
            return Ok(capture::given_up(&prepared, Failure::new(Fault::User, error.to_string()), at));
        }
    };
    let is_first = !prepared.note.has_baseline();
    let previous = if is_first { Previous::default() } else { memory::previous(store, prepared.source)? };
    Ok(capture::read(prepared, fetched, &previous, at, &extractor))
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
