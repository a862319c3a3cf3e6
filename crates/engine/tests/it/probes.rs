//! What a probe makes of a page: what is reported, what is kept, what is learned.

use dunlin_engine::capture::{ChangeDetail, DetailPiece};
use dunlin_engine::simulated::Simulation;
use dunlin_engine::{Settings, SourceStatus};
use dunlin_store::{Health, NewSource, ObservationQuery, Outcome, SourceEdit, Store, VersionQuery};

use crate::fixtures::{all_changes, feed, page, settings, simulation, state, summaries, test_store};
use crate::web::{Fault, Kind, Web, at};

const PAGE: &str = "http://a.example/page";
const FEED: &str = "http://b.example/feed";
const DAY: i64 = 86_400;

#[test]
fn a_first_probe_reports_nothing_and_later_ones_report_what_is_new() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[40_000]);
    web.put(FEED, Kind::Feed(10), &[-5_000, 50_000, 60_000]);
    let mut run = simulation(&test_store.store, web, 0);
    let (page, feed) = (run.add_source(page(PAGE)).unwrap(), run.add_source(feed(FEED)).unwrap());
    run.run_until(at(10_000));
    assert_eq!(all_changes(&*test_store.store).len(), 0, "what was there already is not news");
    assert_eq!(test_store.store.newest_version(page).unwrap().unwrap().media_type, "text/html");
    assert_eq!(state(&*test_store.store, page), (Health::Well, String::new()));

    run.run_until(at(2 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3"]);
    let changes = all_changes(&*test_store.store);
    let edited = changes.iter().find(|change| change.source == page).unwrap();
    assert_eq!(edited.found.kind, "edited");
    assert!(edited.found.happened_after.unwrap() < at(40_000), "{edited:?}");
    assert!(edited.found.happened_before >= at(40_000), "{edited:?}");
    let pieces = ChangeDetail::read(&edited.found.detail).unwrap().pieces;
    assert!(pieces.contains(&DetailPiece::Inserted("1".to_owned())), "{pieces:?}");
    assert!(pieces.contains(&DetailPiece::Removed("0".to_owned())), "{pieces:?}");
    // A feed's own dates say when it happened.
    let dated = changes.iter().find(|change| change.found.summary == "Entry 2").unwrap();
    assert_eq!(dated.found.happened_before, at(50_000));
    // One version at first, one for the change; nothing for the many probes between.
    let versions = test_store.store.versions(&VersionQuery { source: page, before: None, limit: 9 }).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(
        String::from_utf8(test_store.store.content(versions[0].id).unwrap()).unwrap().contains("edition 1")
    );
}

#[test]
fn a_source_never_seen_has_no_value_and_no_chance_yet() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    let before = run.explain(source).unwrap();
    assert_eq!((before.value, before.forecast.chance, before.last_probe), (None, None, None));
    run.run_until(at(3_600));
    let after = run.explain(source).unwrap();
    assert!(after.value.unwrap() < 1e6 && after.forecast.chance.unwrap() <= 1.0, "{after:?}");
}

#[test]
fn a_source_that_is_due_with_many_others_says_so() {
    let test_store = test_store();
    let mut web = Web::default();
    let url = |n: i64| format!("http://h{n}.example/page");
    (0..30).for_each(|n| web.put(&url(n), Kind::Page, &[]));
    let mut run = simulation(&test_store.store, web, 0);
    let sources: Vec<_> = (0..30).map(|n| run.add_source(page(&url(n))).unwrap()).collect();
    run.run_until(at(300));
    let last = run.explain(sources[29]).unwrap();
    let queue_position = last.queue_position.unwrap();
    assert!((20..30).contains(&queue_position.others), "{queue_position:?}");
    assert!((at(2_000)..at(4_000)).contains(&queue_position.by.unwrap()), "{queue_position:?}");
}

#[test]
fn the_dates_of_a_feed_are_evidence_from_the_first_probe_on() {
    let test_store = test_store();
    let mut web = Web::default();
    let hourly: Vec<i64> = (1..40).map(|hour| -hour * 3600).rev().collect();
    web.put(FEED, Kind::Feed(100), &hourly);
    let mut run = simulation(&test_store.store, web, 0);
    let feed = run.add_source(feed(FEED)).unwrap();
    run.run_until(at(600));
    let query = ObservationQuery { source: Some(feed), after: None, limit: 9 };
    let first = test_store.store.observations(&query).unwrap().remove(0);
    assert_eq!(first.outcome, Outcome::Unchanged);
    assert_eq!(first.evidence.len(), 40, "all dates, and that of the entry from long ago");
    assert!(first.evidence.is_sorted());
}

#[test]
fn an_entry_that_scrolls_out_of_a_feed_is_no_news_and_neither_is_its_return() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(FEED, Kind::Feed(2), &[1_000, 40_000, 80_000]);
    let mut run = simulation(&test_store.store, web, 2_000);
    let feed = run.add_source(feed(FEED)).unwrap();
    run.run_until(at(2 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3"]);
    run.world().sites.get_mut(FEED).unwrap().kind = Kind::Feed(4);
    // Entries 0 and 1 come back; the next probe that reads the feed sees them.
    run.world().sites.get_mut(FEED).unwrap().changes.push(at(2 * DAY + 10));
    run.run_until(at(4 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3", "Entry 4"]);
}

#[test]
fn flicker_is_learned_from_a_second_probe_and_then_suppressed() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Flickering, &[3 * DAY]);
    let mut settings = settings();
    settings.budget.per_second = 0.05;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let recipe = r#"{"shortest_gap":1800}"#.to_owned();
    let source = run.add_source(NewSource { recipe, ..page(PAGE) }).unwrap();
    run.run_until(at(2 * DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 1, "the counter is reported once: {reported:?}");
    let probes = run.world().probes_of("/page");
    let closest = probes.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).min();
    assert!(closest.unwrap() < 60, "a second probe came soon: {closest:?}");
    run.run_until(at(5 * DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 2, "a real change is reported among the noise: {reported:?}");
    let versions = VersionQuery { source, before: None, limit: 99 };
    assert_eq!(test_store.store.versions(&versions).unwrap().len(), 3, "noise makes no versions");
}

#[test]
fn flicker_is_learned_however_often_the_page_is_probed() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Flickering, &[20_000]);
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 2, "the counter once, then the real change: {reported:?}");
    assert!(run.explain(source).unwrap().forecast.rate < 10.0 / DAY as f64, "noise is no reason to probe");
}

#[test]
fn real_changes_every_few_seconds_are_reported() {
    for (every, recipe) in [(8, "{}"), (1, r#"{"flicker":"tell"}"#)] {
        let test_store = test_store();
        let mut web = Web::default();
        let changes: Vec<i64> = (0..20_000 / every).map(|n| n * every + n * 7919 % 5).collect();
        web.put(PAGE, Kind::Page, &changes);
        let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
        let source = run.add_source(NewSource { recipe: recipe.to_owned(), ..page(PAGE) }).unwrap();
        run.run_until(at(20_000));
        let (n_reported, n_probes) =
            (summaries(&*test_store.store, source).len(), run.world().probes().count());
        assert!(
            n_reported * 10 > n_probes * 9,
            "{n_reported} reported in {n_probes} probes, a change every {every} s"
        );
    }
}

#[test]
fn flicker_is_reported_again_once_it_has_stood_still() {
    let test_store = test_store();
    let mut web = Web::default();
    let in_a_rush: Vec<i64> = (0..5_000).collect();
    web.put(PAGE, Kind::Page, &[&in_a_rush[..], &[20_000, 30_000]].concat());
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(5_000));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "as good as noise");
    run.run_until(at(DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 3, "{reported:?}");
}

#[test]
fn a_page_that_has_moved_for_good_says_so() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    web.fail(PAGE, 0, DAY, Fault::Moved);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(3_600));
    let (health, reason) = state(&*test_store.store, source);
    assert_eq!(health, Health::Well);
    assert_eq!(reason, "moved permanently to http://a.example/page (edit its address)");
    run.run_until(at(2 * DAY));
    assert_eq!(state(&*test_store.store, source), (Health::Well, String::new()));
}

#[test]
fn pausing_stops_probes_and_another_address_starts_from_scratch() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[DAY, 4 * DAY]);
    web.put("http://c.example/other", Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(3_600));
    run.edit_source(source, SourceEdit { paused: Some(Some(at(3_600))), ..SourceEdit::default() }).unwrap();
    let before = run.world().probes().count();
    run.run_until(at(2 * DAY));
    assert_eq!(run.world().probes().count(), before, "a paused source is left alone");
    assert_eq!(run.explain(source).unwrap().status, SourceStatus::Paused);
    assert!(run.probe_now(source).is_err());

    run.edit_source(source, SourceEdit { paused: Some(None), ..SourceEdit::default() }).unwrap();
    run.run_until(at(3 * DAY));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "what changed in the meantime is reported");

    let url = Some("http://c.example/other".to_owned());
    run.edit_source(source, SourceEdit { url, ..SourceEdit::default() }).unwrap();
    run.run_until(at(5 * DAY));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "another page is not a change");
    assert!(!run.world().probes_of("/other").is_empty());
    run.remove_source(source).unwrap();
    let before = run.world().probes().count();
    run.run_until(at(6 * DAY));
    assert_eq!(run.world().probes().count(), before);
}

#[test]
fn invalid_configurations_are_refused_with_what_to_write() {
    let test_store = test_store();
    let mut run = simulation(&test_store.store, Web::default(), 0);
    let mut refused = |change: fn(&mut NewSource)| {
        let mut source = page(PAGE);
        change(&mut source);
        run.add_source(source).unwrap_err().to_string()
    };
    assert!(refused(|source| source.url = "ftp://a.example/".into()).contains("use http or https"));
    assert!(refused(|source| source.url = "http://127.0.0.1/".into()).contains("loopback"));
    assert!(refused(|source| source.url = "nonsense".into()).contains("https://host/path"));
    assert!(refused(|source| source.kind = "video".into()).contains("page, feed, json, text or auto"));
    assert!(refused(|source| source.life = "short".into()).contains("append, window:W"));
    assert!(refused(|source| source.urgency = "exp:2".into()).contains("decay factor"));
    for weight in [f64::NAN, -1.0, 1e308, 1e-300] {
        let mut source = page(PAGE);
        source.weight = weight;
        assert!(run.add_source(source).unwrap_err().to_string().contains("0.000001 to 1000000"));
    }
    let mut refused = |change: fn(&mut NewSource)| {
        let mut source = page(PAGE);
        change(&mut source);
        run.add_source(source).unwrap_err().to_string()
    };
    assert!(refused(|source| source.life = "window:0".into()).contains("at least 1"));
    assert!(refused(|source| source.recipe = "{\"recipie\":1}".into()).contains("recipie"));
    let css = refused(|source| {
        source.recipe = r#"{"recipe":{"kind":"html_selector","css":"p >> q"}}"#.into();
    });
    assert!(css.contains("css selector"), "{css}");
    assert!(refused(|source| source.recipe = r#"{"shortest_gap":0}"#.into()).contains("whole seconds"));
    let header = refused(|source| source.recipe = r#"{"headers":{"Host":"x"}}"#.into());
    assert!(header.contains("Host"), "{header}");
    assert_eq!(test_store.store.statistics().unwrap().sources, 0);
}
