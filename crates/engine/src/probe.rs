//! The parts of a probe that use the store, on a thread of the driver's choice. The same for both drivers.

use dunlin_store::{Source, SourceId, Store};

use crate::capture::{
    self, Answer, PreparedProbe, PreparedSource, Previous, ProbeOutcome, ProbeTask, SourceResult, Step,
};
use crate::memory::{self, FetchState};
use crate::queries::News;
use crate::recipe::Recipes;
use crate::templates::Templates;
use crate::{Error, Settings};

/// Reads what probes start from: the configuration of each source, and the notes of its last probe. One call of the store
/// serves all; an error means that the store could not be read.
pub(crate) fn prepare(
    store: &dyn Store,
    settings: &Settings,
    recipes: &mut Recipes,
    tasks: &[ProbeTask],
) -> Result<Vec<Result<PreparedProbe, Error>>, Error> {
    let sources: Vec<SourceId> =
        tasks.iter().flat_map(|task| &task.sources).map(|task| task.source).collect();
    let mut stored = store.probe_bases(&sources, &memory::PROBE_NOTES)?.into_iter();
    let prepared = |task: &ProbeTask| {
        let mut prepared = PreparedProbe {
            probe: task.probe,
            fetch_state: FetchState::default(),
            sources: Vec::with_capacity(task.sources.len()),
            dropped: Vec::new(),
        };
        let mut unprepared = None;
        for (own, basis) in task.sources.iter().zip(stored.by_ref()) {
            match basis.ok_or(Error::NoSuchSource(own.source)).and_then(|basis| {
                let (note, flicker, fetch_state) = memory::read_probe_notes(&basis);
                let target = recipes.target(&basis)?;
                prepared.fetch_state = fetch_state;
                Ok(PreparedSource::new(task.probe, *own, target, note, flicker, settings))
            }) {
                Ok(source) => prepared.sources.push(source),
                Err(error) => {
                    prepared.dropped.push((own.source, error.to_string()));
                    unprepared.get_or_insert(error);
                }
            }
        }
        match unprepared {
            Some(error) if prepared.sources.is_empty() => Err(error),
            _ => Ok(prepared),
        }
    };
    Ok(tasks.iter().map(prepared).collect())
}

/// Turns an answer into the result for one source.
pub(crate) fn digest(
    store: &dyn Store,
    settings: &Settings,
    templates: &Templates,
    mut prepared: PreparedSource,
    answer: &Answer,
) -> Result<SourceResult, Error> {
    let host = prepared.target.url.host_str().unwrap_or_default().to_owned();
    prepared.template = templates.of(&host);
    let (source, wants_items, wants_news) = (prepared.source, prepared.wants_items, prepared.wants_news);
    let mut result = read(store, settings, prepared, answer)?;
    if let Some(flicker) = memory::flicker_in(&result.capture.notes).filter(|flicker| flicker.n_bytes() > 0) {
        templates.learn(&host, &flicker);
    }
    if wants_items && matches!(result.outcome, ProbeOutcome::Observed { .. }) {
        result.seen = memory::seen(store, source, &result.capture)?;
    }
    if wants_news && result.capture.items.is_some() {
        let stored = store.source(source)?;
        let found = result.capture.found.as_ref().map_or("", |found| found.title.as_str());
        let title = stored.as_ref().map(Source::shown_name).filter(|name| !name.is_empty()).unwrap_or(found);
        result.news = News::of(title, &result.capture).map(Box::new);
    }
    Ok(result)
}

fn read(
    store: &dyn Store,
    settings: &Settings,
    prepared: PreparedSource,
    answer: &Answer,
) -> Result<SourceResult, Error> {
    let fetched = match capture::first_step(&prepared, answer) {
        Step::Done(result) => return Ok(*result),
        Step::Read(fetched) => fetched,
    };
    let extractor = match prepared.target.extractor(settings.extraction) {
        Ok(extractor) => extractor,
        Err(error) => return Ok(capture::unusable(&prepared, error.to_string(), answer.at)),
    };
    let is_first = !prepared.note.has_baseline();
    let previous = if is_first { Previous::default() } else { memory::previous(store, prepared.source)? };
    Ok(capture::read(prepared, answer, fetched, &previous, &extractor))
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
