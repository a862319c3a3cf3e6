//! A service that is killed again and again under load, at moments that a seed decides. Everything it had announced is
//! still there, once; and it has not forgotten which hosts it must not fetch from.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_testbed::{Kind, Plan, Repeat, Speed};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::manners::gap_is_kept;
use crate::run::Desk;
use crate::service::{Event, Service};
use crate::stored_data::StoredData;
use crate::web::{Web, regular_trace, watching};

const KILLS: usize = 50;
const SOURCES: usize = 8;
/// Between two requests for one page. Without it, each would be asked for every few milliseconds.
const GAP: Duration = Duration::from_millis(40);

/// More than can be done, so that something is always under way: fetches, extraction, writes.
const SETTINGS: &str = "budget = \"1000/s\"\nchronon = \"10ms\"\nshortest_gap = \"1ms\"\nlongest_gap = \"1m\"\n\
    log = \"warn\"\n[politeness]\ngap = \"40ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n\
    [guard]\nnetworks = [\"127.0.0.1/32\"]\n";

/// The source that asks to be left alone for an hour.
const STRICT: &str = "page-000";

#[test]
fn nothing_announced_is_lost_or_doubled_and_politeness_is_remembered() {
    // A change every twentieth of a second on each page.
    let trace = regular_trace("page", &[5; SOURCES], 3_600);
    let speed = Speed::new(100.0).unwrap();
    let web = Web::start(Plan { speed, repeat: Repeat::Always, ..Plan::of(trace) });
    web.bed.set_fault(STRICT, Some("429:3600".parse().unwrap()), None).unwrap();
    let desk = Desk::new();
    let urls: Vec<String> = web.site().sources().iter().map(|id| web.bed.url(&Kind::Page.path(id))).collect();
    let data = watching(&desk, "data", SETTINGS, &urls);

    // Until the strict one has answered and that is stored, it may be asked.
    let mut service = Service::start(&data);
    service.until("the strict source is known to be strict", |service| {
        let explained = service.get("/api/v1/sources/1/explain");
        (explained["source"]["state"]["health"] != "new").then_some(())
    });
    service.kill();
    let asked_before = web.requests(STRICT).len();
    assert!(asked_before > 0);
    // Another source at the same address knows nothing of that itself.
    let twin = format!("add {} --data {}", web.bed.url(&Kind::Page.path(STRICT)), data.display());
    assert_eq!(desk.run(&twin).code, 0);

    let mut numbers = ChaCha8Rng::seed_from_u64(11);
    let mut reported: Vec<Event> = Vec::new();
    for _ in 0..KILLS {
        let service = Service::start(&data);
        let wanted = if numbers.random_bool(0.2) { 0 } else { numbers.random_range(1..60) };
        let last = reported.last().map_or(0, |event| event.cursor);
        reported.extend(service.stream(last).take(wanted));
        service.kill();
    }
    let service = Service::start(&data);
    let last = reported.last().map_or(0, |event| event.cursor);
    reported.extend(service.stream(last).take(100));
    let (status, messages) = service.interrupt();
    assert_eq!(status, Some(0), "{messages}");

    eprintln!(
        "{} changes were announced over {KILLS} kills, {} requests",
        reported.len(),
        web.bed.log().len()
    );
    assert_eq!(web.requests(STRICT).len(), asked_before, "it asked to be left alone for an hour");
    gap_is_kept(&web.requests("/pages/"), GAP);
    for (event, cursor) in reported.iter().zip(1..) {
        assert_eq!(event.cursor, cursor, "the stream went on where it was left");
    }
    let stored = StoredData::read(&data);
    let numbers_kept: BTreeMap<_, u64> =
        stored.captures.iter().map(|capture| (capture.version.id, capture.number)).collect();
    for (event, change) in reported.iter().zip(&stored.changes) {
        assert_eq!(event.cursor, change.cursor.0);
        assert_eq!(event.change["source"], change.source.0);
        assert_eq!(event.change["version"].as_i64(), change.version.map(|version| version.0));
        assert_eq!(event.change["summary"], change.found.summary);
        let number = numbers_kept[&change.version.unwrap()];
        assert!(
            change.found.summary.contains(&number.to_string()),
            "{} is not {number}",
            change.found.summary
        );
    }
    assert!(
        reported.len() <= stored.changes.len(),
        "{} reported, {} stored",
        reported.len(),
        stored.changes.len()
    );
}
