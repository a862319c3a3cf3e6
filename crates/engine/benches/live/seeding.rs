//! A store of many sources that have been probed once, made in seconds: as the service would leave it after first probes,
//! except for the items of pages, which a probe that finds nothing new does not read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::memory::{FetchState, Learned, ProbeNote, learned_note, probe_note, spec_of};
use dunlin_net::Validators;
use dunlin_sched::model::{Model, Prior};
use dunlin_store::{
    Capture, ContentHash, Health, NewSource, NewVersion, Outcome, ProbeId, SourceId, SourceState,
    SqliteStore, Store,
};

use crate::Web;
use crate::origin;

/// Sources added, or captures recorded, in one call.
const AT_ONE_TIME: usize = 20_000;

/// Fills the store in `directory` with the pages of `web`, which are its sources from 1 on.
pub(crate) fn fill(directory: &Path, web: &Web, recipe: &str) {
    let store = SqliteStore::open(directory).unwrap();
    let now = Time::from_micros(0).plus(std::time::UNIX_EPOCH.elapsed().unwrap());
    let probed_at = Time::from_micros(now.micros() - Duration::from_mins(1).as_micros() as i64);
    let sources: Vec<NewSource> = (0..web.n_urls)
        .map(|number| {
            let page = NewSource::page(web.url(number), probed_at);
            NewSource { recipe: recipe.to_owned(), ..page }
        })
        .collect();
    let mut ids =
        store.add_sources(sources.clone()).unwrap().into_iter().enumerate().zip(&sources).peekable();
    while ids.peek().is_some() {
        let some = ids.by_ref().take(AT_ONE_TIME);
        let captures =
            some.map(|((number, id), source)| Arc::new(first_probe(web, number, id, source, probed_at)));
        assert!(store.record_captures(captures.collect()).iter().all(Result::is_ok));
    }
}

fn first_probe(web: &Web, number: usize, id: SourceId, source: &NewSource, at: Time) -> Capture {
    let content = origin::first_page(&web.path(number));
    let etag = web.is_known(number).then(|| origin::ETAG.to_owned());
    let hash = Some(ContentHash::of(&content).0);
    let fetch_state = FetchState { validators: Validators { etag, last_modified: None }, hash };
    let note = ProbeNote { spec: spec_of(source), hash, last_probe: Some(at), ..ProbeNote::default() };
    let learned = Learned { last_probe: Some(at), model: Model::new(Prior::default()) };
    let mut capture = Capture::bare(id, ProbeId(0), at, Outcome::Changed);
    capture.version = Some(NewVersion { content, media_type: "text/html".to_owned() });
    capture.notes = [probe_note(&note), learned_note(&learned)].into_iter().flatten().collect();
    capture.fetch_state = fetch_state.to_bytes();
    capture.state =
        Some(SourceState { health: Health::Well, reason: String::new(), since: at, announced: None });
    capture
}
