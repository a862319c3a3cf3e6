//! What is learned from probes that showed nothing new. Their notes are written only now and then, which must not be
//! noticeable.

use std::time::Duration;

use dunlin_engine::SourceExplanation;
use dunlin_engine::simulated::Simulation;
use dunlin_store::{ObservationQuery, SourceEdit, SourceId, Store};

use crate::fixtures::{TestStore, page, settings, test_store};
use crate::web::{Kind, Web, at};

const URL: &str = "http://quiet.example/";

/// A page that is probed every few seconds and never changes, beside one that does.
fn begin(test_store: &TestStore) -> (Simulation<Web>, SourceId) {
    let mut web = Web::default();
    web.put(URL, Kind::Page, &[0]);
    web.put("http://busy.example/", Kind::Page, &[0, 40, 80, 120]);
    let mut run = again(test_store, web, 0);
    let quiet = run.add_source(page(URL)).unwrap();
    run.add_source(page("http://busy.example/")).unwrap();
    (run, quiet)
}

fn again(test_store: &TestStore, web: Web, second: i64) -> Simulation<Web> {
    let mut settings = settings();
    settings.chronon = Duration::from_secs(1);
    settings.shortest_gap = Duration::from_secs(1);
    settings.budget.per_second = 1.0;
    settings.politeness.gap = Duration::from_secs(1);
    Simulation::new(test_store.store.clone(), settings, web, at(second)).unwrap()
}

fn known(explained: &SourceExplanation) -> String {
    format!("{:?} {:?}", explained.last_probe, explained.forecast)
}

fn n_probes(test_store: &TestStore, source: SourceId) -> usize {
    let all = ObservationQuery { source: Some(source), after: None, limit: 10_000 };
    test_store.store.observations(&all).unwrap().len()
}

#[test]
fn a_run_that_is_killed_forgets_nothing_that_was_learned() {
    for end in [3, 29, 31, 75, 140] {
        let test_store = test_store();
        let (mut run, quiet) = begin(&test_store);
        // Twice, so that there are probes of two runs.
        for end in [end, end + 60] {
            run.run_until(at(end));
            let before = known(&run.explain(quiet).unwrap());
            let web = run.kill();
            run = again(&test_store, web, end);
            assert_eq!(known(&run.explain(quiet).unwrap()), before, "after {end} s");
        }
        assert!(n_probes(&test_store, quiet) > 10, "{}", n_probes(&test_store, quiet));
    }
}

#[test]
fn nothing_is_known_of_another_address_after_a_kill_either() {
    let test_store = test_store();
    let (mut run, quiet) = begin(&test_store);
    run.run_until(at(100));
    let fresh = run.add_source(page("http://new.example/")).unwrap();
    let url = Some("http://other.example/".to_owned());
    run.edit_source(quiet, SourceEdit { url, ..SourceEdit::default() }).unwrap();
    let mut run = again(&test_store, run.kill(), 100);
    let [edited, fresh] = [quiet, fresh].map(|source| run.explain(source).unwrap());
    assert_eq!((edited.last_probe, edited.forecast.rate), (None, fresh.forecast.rate));
}

#[test]
fn an_edit_or_a_pause_forgets_nothing_that_was_learned() {
    let test_store = test_store();
    let (mut run, quiet) = begin(&test_store);
    run.run_until(at(100));
    let before = run.explain(quiet).unwrap();
    run.edit_source(quiet, SourceEdit { weight: Some(3.0), ..SourceEdit::default() }).unwrap();
    assert_eq!(known(&run.explain(quiet).unwrap()), known(&before));
    let paused = |paused| SourceEdit { paused: Some(paused), ..SourceEdit::default() };
    run.edit_source(quiet, paused(Some(at(100)))).unwrap();
    run.run_until(at(110));
    let last_probe = run.explain(quiet).unwrap().last_probe;
    run.edit_source(quiet, paused(None)).unwrap();
    let resumed = run.explain(quiet).unwrap();
    assert_eq!(resumed.last_probe, last_probe);
    assert!(
        resumed.forecast.rate <= before.forecast.rate,
        "{:?} after {:?}",
        resumed.forecast,
        before.forecast
    );
    // A page that was never probed is expected to change more often than one that never did.
    let fresh = run.add_source(page("http://new.example/")).unwrap();
    assert!(run.explain(fresh).unwrap().forecast.rate > before.forecast.rate);
}
