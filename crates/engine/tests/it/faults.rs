//! What goes wrong outside: servers, networks, the disk, the clock, our own code. One source's trouble is its own.

use std::sync::atomic::Ordering;
use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_store::{Health, NewSource, SourceEdit, Store};

use crate::fixtures::{
    Ailing, all_changes, feed, health_told, page, settings, simulation, state, summaries, test_store,
};
use crate::polite::assert_gaps;
use crate::web::{Fault, Kind, Web, at};

const DAY: i64 = 86_400;
const GOOD: &str = "http://good.example/feed";

/// A web with one feed that is well, and one page that is to be ill.
fn web_with(url: &str) -> Web {
    let mut web = Web::default();
    let hourly: Vec<i64> = (0..96).map(|hour| hour * 3600 + 1800).collect();
    web.put(GOOD, Kind::Feed(200), &hourly);
    web.put(url, Kind::Page, &[3 * DAY]);
    web
}

#[test]
fn every_kind_of_failure_is_reported_waited_out_and_forgotten() {
    let url = "http://bad.example/page";
    let faults = [
        (Fault::Status(404), Health::Refused, "the page is not there (404 Not Found)"),
        (Fault::Status(410), Health::Refused, "the page is gone for good (410 Gone)"),
        (Fault::Status(403), Health::Refused, "the server refuses access (403 Forbidden)"),
        (Fault::Status(500), Health::Failing, "the server fails (500 Internal Server Error)"),
        (Fault::Status(503), Health::Failing, "the server fails (503 Service Unavailable)"),
        (Fault::Status(302), Health::Failing, "the server redirects to nowhere (302 Found)"),
        (Fault::NoSuchHost, Health::Failing, "cannot look up bad.example: no such host (check the spelling)"),
        (Fault::ConnectionRefused, Health::Failing, "cannot connect to bad.example"),
        (Fault::Truncated, Health::Failing, "bad.example: body cut off after 10 bytes of 100"),
    ];
    for (fault, health, reason) in faults {
        let test_store = test_store();
        let mut web = web_with(url);
        web.sites.get_mut(url).unwrap().changes = vec![at(DAY + 40_000)];
        web.fail(url, 7_200, DAY, fault.clone());
        let mut run = simulation(&test_store.store, web, 0);
        let (good, bad) = (run.add_source(feed(GOOD)).unwrap(), run.add_source(page(url)).unwrap());
        run.run_until(at(3_600));
        assert_eq!(state(&*test_store.store, bad).0, Health::Well);
        run.run_until(at(DAY - 1));
        let (found, stated) = state(&*test_store.store, bad);
        assert_eq!(found, health, "{fault:?}: {stated}");
        assert!(stated.starts_with(reason), "{fault:?}: {stated}");
        let n_tried = run.world().probes_of("/page").iter().filter(|probe| **probe >= at(7_200)).count();
        assert!((2..80).contains(&n_tried), "{fault:?}: tried {n_tried} times in a day");
        run.run_until(at(2 * DAY));
        assert_eq!(state(&*test_store.store, bad), (Health::Well, String::new()), "{fault:?}");
        assert_eq!(summaries(&*test_store.store, bad).len(), 1, "{fault:?}: what changed later is reported");
        assert!(summaries(&*test_store.store, good).len() > 44, "{fault:?}: others go on");
        // Its owner is told once, after a grace time, and once when it is over.
        let told = health_told(&*test_store.store, bad);
        let kind = if health == Health::Failing { "failing" } else { "refused" };
        let kinds: Vec<&str> = told.iter().map(|(kind, ..)| kind.as_str()).collect();
        assert_eq!(kinds, [kind, "recovered"], "{fault:?}: {told:?}");
        assert!(told[0].1 >= at(7_200 + 600), "{fault:?}: {told:?}");
        assert!(told[0].2.contains(reason), "{fault:?}: {told:?}");
        assert!(told[1].2.starts_with("is well again after 2") && told[1].2.ends_with(" hours"), "{told:?}");
        assert_eq!(health_told(&*test_store.store, good), []);
        assert_gaps(&run.world().log, 10);
    }
}

#[test]
fn trouble_that_lasts_is_told_at_the_end_of_its_grace_time_without_another_probe() {
    let url = "http://bad.example/page";
    for (fault, kind) in
        [(Fault::Status(500), "failing"), (Fault::Status(404), "refused"), (Fault::Notice, "attention")]
    {
        let test_store = test_store();
        let mut web = web_with(url);
        web.fail(url, 7_200, 40_000, fault);
        let mut run = simulation(&test_store.store, web, 0);
        let bad = run.add_source(page(url)).unwrap();
        run.run_until(at(7_200));
        run.probe_now(bad).unwrap();
        run.run_until(at(7_500));
        let noticed = run.world().probes_of("/page").into_iter().find(|probe| *probe >= at(7_200)).unwrap();
        // Probes have nothing to do with it: this one is not made again for an hour.
        run.run_until(at(9_000));
        let told = health_told(&*test_store.store, bad);
        assert_eq!(told.len(), 1, "{kind}: {told:?}");
        assert_eq!(told[0].0, kind);
        let waited = told[0].1.since(noticed).as_secs();
        assert!((600..=620).contains(&waited), "{kind}: told after {waited} s");
        run.run_until(at(30_000));
        assert_eq!(health_told(&*test_store.store, bad).len(), 1, "{kind}: once");
        run.run_until(at(DAY));
        let told = health_told(&*test_store.store, bad);
        assert_eq!((told.len(), told[1].0.as_str()), (2, "recovered"), "{kind}: {told:?}");
        assert_eq!(summaries(&*test_store.store, bad), Vec::<String>::new());
    }
}

#[test]
fn trouble_that_an_earlier_run_saw_begin_is_told_too_and_that_of_a_paused_source_is_not() {
    let urls = ["http://bad.example/page", "http://worse.example/page"];
    let test_store = test_store();
    let mut web = web_with(urls[0]);
    web.put(urls[1], Kind::Page, &[]);
    urls.iter().for_each(|url| web.fail(url, 7_200, 40_000, Fault::Status(404)));
    let mut run = simulation(&test_store.store, web.clone(), 0);
    let ids = urls.map(|url| run.add_source(page(url)).unwrap());
    run.run_until(at(7_200));
    ids.iter().for_each(|id| run.probe_now(*id).unwrap());
    run.run_until(at(7_600));
    assert!(ids.iter().all(|id| state(&*test_store.store, *id).0 == Health::Refused));
    let edit = SourceEdit { paused: Some(Some(at(7_600))), ..SourceEdit::default() };
    run.edit_source(ids[1], edit).unwrap();
    drop(run.stop());
    let mut run = simulation(&test_store.store, web, 7_700);
    run.run_until(at(9_000));
    let told = ids.map(|id| health_told(&*test_store.store, id).len());
    assert_eq!(told, [1, 0]);
}

#[test]
fn trouble_that_is_over_soon_is_not_told_and_what_was_told_is_not_told_again_after_a_restart() {
    let url = "http://bad.example/page";
    let test_store = test_store();
    let mut web = web_with(url);
    let fails = Fault::Status(500);
    web.fail(url, 3_600, 3_900, fails.clone());
    web.fail(url, 40_000, 80_000, fails);
    let mut run = simulation(&test_store.store, web.clone(), 0);
    let bad = run.add_source(page(url)).unwrap();
    for seconds in (3_500..4_500).step_by(60) {
        run.run_until(at(seconds));
        run.probe_now(bad).unwrap();
    }
    let failed = run.world().log.iter().any(|logged| logged.status == 500);
    assert!(failed && health_told(&*test_store.store, bad).is_empty());
    run.run_until(at(60_000));
    let explained = run.explain(bad).unwrap();
    assert!(explained.last_failure.is_some_and(|at| Some(at) > explained.last_probe), "{explained:?}");
    drop(run.stop());
    let mut run = simulation(&test_store.store, web, 60_000);
    run.run_until(at(100_000));
    let kinds: Vec<String> =
        health_told(&*test_store.store, bad).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["failing", "recovered"]);
    assert_eq!(run.explain(bad).unwrap().last_failure, None);
}

#[test]
fn a_page_behind_a_notice_needs_attention_until_it_is_back() {
    let url = "http://bad.example/page";
    let test_store = test_store();
    let mut web = web_with(url);
    web.fail(url, 7_200, 8_600, Fault::Notice);
    let mut run = simulation(&test_store.store, web, 0);
    let (good, bad) = (run.add_source(feed(GOOD)).unwrap(), run.add_source(page(url)).unwrap());
    run.run_until(at(7_000));
    assert_eq!((state(&*test_store.store, bad).0, run.stats().attention), (Health::Well, 0));
    let noticed = (7_200..8_600).step_by(100).find(|seconds| {
        run.run_until(at(*seconds));
        state(&*test_store.store, bad).0 == Health::Attention
    });
    let noticed = noticed.expect("it was probed while it said to wait");
    let reason = state(&*test_store.store, bad).1;
    assert!(reason.contains("maintenance"), "{reason}");
    assert_eq!((run.stats().attention, run.stats().watched), (1, 2));
    // One that is paused needs none.
    let pause = |paused| SourceEdit { paused: Some(paused), ..SourceEdit::default() };
    run.edit_source(bad, pause(Some(at(noticed)))).unwrap();
    assert_eq!((run.stats().attention, run.stats().watched), (0, 1));
    run.edit_source(bad, pause(None)).unwrap();
    assert_eq!((run.stats().attention, run.stats().watched), (1, 2));
    run.run_until(at(2 * DAY));
    assert_eq!(state(&*test_store.store, bad), (Health::Well, String::new()));
    assert_eq!(run.stats().attention, 0);
    assert_eq!(summaries(&*test_store.store, bad), Vec::<String>::new());
    assert!(!summaries(&*test_store.store, good).is_empty());
}

#[test]
fn our_own_network_is_not_held_against_anyone() {
    let test_store = test_store();
    let mut web = Web::default();
    let urls: Vec<String> = (0..12).map(|n| format!("http://h{n}.example/page")).collect();
    for url in &urls {
        web.put(url, Kind::Page, &[]);
        web.fail(url, 7_200, 10_800, Fault::NoNetwork);
    }
    let mut settings = settings();
    settings.budget.per_second = 0.5;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let sources: Vec<_> = urls.iter().map(|url| run.add_source(page(url)).unwrap()).collect();
    run.run_until(at(10_000));
    assert!(run.health().network_trouble.unwrap().contains("no name server answered"));
    let n_tried = run.world().probes().filter(|logged| logged.at >= at(7_200)).count();
    assert!(n_tried < 150, "{n_tried} attempts in an hour without a network");
    for source in &sources {
        assert_eq!(state(&*test_store.store, *source), (Health::Well, String::new()));
    }
    run.run_until(at(14_400));
    assert_eq!(run.health().network_trouble, None);
    assert!(run.explain(sources[0]).unwrap().last_probe.unwrap() > at(10_800));
}

#[test]
fn a_panic_while_reading_one_source_stops_no_other() {
    let test_store = test_store();
    let ailing = Ailing::new(&test_store.store);
    let url = "http://bad.example/page";
    let mut web = web_with(url);
    web.sites.get_mut(url).unwrap().changes = (1..90).map(|hour| at(hour * 3600)).collect();
    let mut run = Simulation::new(ailing.clone(), settings(), web, at(0)).unwrap();
    let (good, bad) = (run.add_source(feed(GOOD)).unwrap(), run.add_source(page(url)).unwrap());
    run.run_until(at(1_800));
    ailing.panics_at.store(bad.0, Ordering::Relaxed);
    run.run_until(at(2 * DAY));
    let (health, reason) = state(&*test_store.store, bad);
    assert_eq!(health, Health::Failing);
    assert!(
        reason.contains("internal error while reading it") && reason.contains("told to panic"),
        "{reason}"
    );
    assert!(run.stats().crashed > 2 && run.stats().crashed < 60, "{:?}", run.stats());
    assert!(summaries(&*test_store.store, good).len() > 40, "others go on");
    ailing.panics_at.store(-1, Ordering::Relaxed);
    run.run_until(at(4 * DAY));
    assert_eq!(state(&*test_store.store, bad).0, Health::Well);
}

#[test]
fn a_full_disk_stops_probes_and_loses_nothing() {
    let test_store = test_store();
    let ailing = Ailing::new(&test_store.store);
    let mut run =
        Simulation::new(ailing.clone(), settings(), web_with("http://bad.example/page"), at(0)).unwrap();
    let good = run.add_source(feed(GOOD)).unwrap();
    run.add_source(page("http://bad.example/page")).unwrap();
    run.run_until(at(DAY));
    // During a probe, so that something is there to be lost.
    let n_before = run.world().probes().count();
    while run.world().probes().count() == n_before {
        let next = run.clock().plus(Duration::from_millis(20));
        assert!(next < at(2 * DAY), "another probe within a day");
        run.run_until(next);
    }
    ailing.is_full.store(true, Ordering::Relaxed);
    run.run_until(at(DAY + 7_200));
    assert!(run.health().store_trouble.unwrap().contains("no space left"));
    let n_probes = run.world().probes().count();
    let n_refused = run.stats().store_failures;
    run.run_until(at(2 * DAY));
    assert_eq!(run.world().probes().count(), n_probes, "nothing is asked for that cannot be kept");
    let n_more = run.stats().store_failures - n_refused;
    assert!((100..5_000).contains(&n_more), "tried {n_more} times in 22 hours");

    ailing.is_full.store(false, Ordering::Relaxed);
    run.run_until(at(4 * DAY));
    assert_eq!(run.health().store_trouble, None);
    let reported = summaries(&*test_store.store, good);
    let expected: Vec<String> = (1..=reported.len()).map(|n| format!("Entry {n}")).collect();
    assert_eq!(reported, expected, "each entry once, in order");
    assert!(reported.len() >= 94, "{}", reported.len());
    assert_eq!(run.stats().lost_captures, 0);
}

#[test]
fn a_clock_that_jumps_makes_no_burst_and_no_standstill() {
    for jump in [-6 * 3600, 6 * 3600, -40 * DAY, 40 * DAY] {
        let test_store = test_store();
        let mut web = Web::default();
        let urls: Vec<String> = (0..30).map(|n| format!("http://h{n}.example/page")).collect();
        for url in &urls {
            web.put(url, Kind::Page, &[]);
        }
        let mut settings = settings();
        settings.budget.per_second = 0.02;
        let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
        for url in &urls {
            let hourly = r#"{"longest_gap":3600}"#.to_owned();
            run.add_source(NewSource { recipe: hourly, ..page(url) }).unwrap();
        }
        run.run_until(at(4 * 3600));
        run.set_clock(jump);
        run.run_until(at(10 * 3600));
        let log = &run.world().log;
        assert_gaps(log, 9);
        let probes: Vec<_> = run.world().probes().map(|logged| logged.at).collect();
        for (from, first) in probes.iter().enumerate() {
            let within = first.plus(Duration::from_mins(10));
            let n_within = probes[from..].iter().take_while(|probe| **probe < within).count();
            assert!(n_within <= 14, "{jump}: {n_within} probes in ten minutes where 12 are allowed");
        }
        let late = run.world().probes().filter(|logged| logged.at >= at(5 * 3600));
        let mut seen: Vec<String> = late.map(|logged| logged.host.clone()).collect();
        assert!(seen.len() > 100, "{jump}: {} probes in the five hours after", seen.len());
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), urls.len(), "{jump}: sources that were not probed any more");
        assert!(all_changes(&*test_store.store).is_empty());
        drop(run.stop());
        let entries: Vec<_> =
            dunlin_engine::journal::read(&*test_store.store, None).collect::<Result<_, _>>().unwrap();
        dunlin_sched::scheduler::journal::replay(entries).unwrap();
    }
}

#[test]
fn a_source_that_is_removed_during_a_probe_leaves_nothing_behind() {
    let test_store = test_store();
    let mut run = simulation(&test_store.store, web_with("http://bad.example/page"), 0);
    let bad = run.add_source(page("http://bad.example/page")).unwrap();
    let good = run.add_source(feed(GOOD)).unwrap();
    while run.world().probes_of("/page").is_empty() {
        let next = run.clock().plus(Duration::from_millis(20));
        assert!(next < at(3_600), "a first probe within an hour");
        run.run_until(next);
    }
    run.remove_source(bad).unwrap();
    // Between two ticks, when no probe is active.
    run.run_until(at(DAY + 5));
    assert!(test_store.store.source(bad).unwrap().is_none());
    assert_eq!(run.world().probes_of("/page").len(), 1);
    assert!(summaries(&*test_store.store, good).len() > 10);
    assert_eq!((run.stats().in_flight, run.stats().sources), (0, 1));
}
