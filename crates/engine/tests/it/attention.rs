//! A source that can be fetched and is not what it should be needs attention for as long as that is so, and its owner is told once
//! of that and once of its end, whatever its answers look like meanwhile.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::simulated::Simulation;
use dunlin_store::{Health, NewSource, SourceId, Store};

use crate::fixtures::{health_told, page, simulation, state, summaries, test_store};
use crate::web::{Fault, Kind, Web, at};

const DAY: i64 = 86_400;
const HALF_A_DAY: i64 = DAY / 2;
const URL: &str = "http://bad.example/page";
/// Since when it is not what it should be.
const BEGINS: i64 = 7_200;
const RECIPE: &str = r#"{"recipe":{"kind":"html_selector","css":"h1"},"longest_gap":1800}"#;

fn web_with(until: i64, fault: Fault) -> Web {
    let mut web = Web::default();
    web.put(URL, Kind::Page, &[]);
    // Where two are wrong, the first counts.
    web.fail(URL, HALF_A_DAY, HALF_A_DAY + 300, Fault::Status(500));
    web.fail(URL, BEGINS, until, fault);
    web
}

/// When a source is first seen to be of this health, to the minute.
fn first_at(run: &mut Simulation<Web>, store: &dyn Store, source: SourceId, health: Health) -> Time {
    let by = run.clock().plus(Duration::from_hours(6));
    while state(store, source).0 != health {
        assert!(run.clock() < by, "{health:?} within six hours");
        run.run_until(run.clock().plus(Duration::from_mins(1)));
    }
    run.clock()
}

/// Lets time pass; at every moment the source needs attention for this reason.
fn stays_ill(run: &mut Simulation<Web>, store: &dyn Store, source: SourceId, until: i64, reason: &str) {
    while run.clock() < at(until) {
        let (health, stated) = state(store, source);
        assert_eq!(health, Health::Attention, "at {:?}", run.clock());
        assert!(stated.contains(reason), "{stated}");
        run.run_until(run.clock().plus(Duration::from_mins(5)).min(at(until)));
    }
}

/// That it needs attention, so long after it was first seen, and that it is well again; nothing else.
fn was_told_once(store: &dyn Store, source: SourceId, first: Time) {
    let told = health_told(store, source);
    let kinds: Vec<&str> = told.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(kinds, ["attention", "recovered"], "{told:?}");
    // It was seen up to a minute after it began, and is told at the first probe after ten.
    let late = told[0].1.since(first).as_secs();
    assert!((9 * 60..10 * 60 + 1_900).contains(&late), "after {late} s: {told:?}");
    assert_eq!(summaries(store, source), Vec::<String>::new());
}

/// Byte for byte the same, with something the server could know it again by or without; over a restart, and a failure of another
/// kind.
#[test]
fn a_selector_that_matches_no_more_needs_attention_until_it_matches_again() {
    let reason = "nothing found where the recipe looks";
    for etag in [None, Some("\"new\"")] {
        let test_store = test_store();
        let store: &dyn Store = &*test_store.store;
        let web = web_with(DAY, Fault::Redesigned(etag));
        let mut run = simulation(&test_store.store, web.clone(), 0);
        let source = run.add_source(NewSource { recipe: RECIPE.to_owned(), ..page(URL) }).unwrap();
        run.run_until(at(BEGINS));
        assert_eq!(state(store, source), (Health::Well, String::new()));
        let first = first_at(&mut run, store, source, Health::Attention);
        stays_ill(&mut run, store, source, HALF_A_DAY - 60, reason);
        let n_same = run.world().probes_of("/page").iter().filter(|probe| **probe > first).count();
        assert!(n_same > 5, "{n_same} answers that were the same");
        run.stop();

        let mut run = simulation(&test_store.store, web, HALF_A_DAY - 60);
        run.probe_now(source).unwrap();
        stays_ill(&mut run, store, source, HALF_A_DAY - 1, reason);
        for seconds in [0, 60, 120] {
            run.probe_now(source).unwrap();
            run.run_until(at(HALF_A_DAY + seconds));
        }
        assert_eq!(state(store, source).0, Health::Failing);
        first_at(&mut run, store, source, Health::Attention);
        stays_ill(&mut run, store, source, DAY, reason);
        run.run_until(at(2 * DAY));
        assert_eq!(state(store, source), (Health::Well, String::new()));
        was_told_once(store, source, first);
    }
}

#[test]
fn a_page_that_stays_behind_a_notice_needs_attention_until_it_is_back() {
    let test_store = test_store();
    let store: &dyn Store = &*test_store.store;
    let end = HALF_A_DAY - 7_200;
    let mut run = simulation(&test_store.store, web_with(end, Fault::Notice), 0);
    let recipe = r#"{"longest_gap":1800}"#.to_owned();
    let source = run.add_source(NewSource { recipe, ..page(URL) }).unwrap();
    run.run_until(at(BEGINS));
    let first = first_at(&mut run, store, source, Health::Attention);
    stays_ill(&mut run, store, source, end, "maintenance");
    run.run_until(at(HALF_A_DAY - 1));
    assert_eq!(state(store, source), (Health::Well, String::new()));
    was_told_once(store, source, first);
}
