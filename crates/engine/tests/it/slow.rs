//! Pages that take too long to read, and what else may stand still: a reading has a deadline, a later result is dropped,
//! and the health report says what keeps everything waiting.

use std::sync::Arc;
use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_engine::{Engine, ReaderLimits, Settings, Standstill};
use dunlin_store::{Health, NewSource, SourceId, Store as _};

use crate::fixtures::{
    Ailing, all_changes, feed, page as simulated_page, settings, state, summaries, test_store,
};
use crate::live::{Server, hasty, page, until, until_well};
use crate::web::{Kind, Web, at};

const HOUR: i64 = 3_600;

fn impatient() -> Settings {
    Settings { reading_time: Duration::from_millis(100), ..hasty() }
}

fn by_selector(url: String) -> NewSource {
    NewSource {
        recipe: r#"{"recipe":{"kind":"html_selector","css":"p:nth-of-type(1)"}}"#.to_owned(),
        ..page(url)
    }
}

#[tokio::test]
async fn a_reading_that_overruns_is_a_refusal_that_names_the_recipe_and_its_late_result_is_dropped() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    server.put("/page", "200 OK", "<p>One</p>");
    let engine = Engine::start(ailing.clone(), impatient()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(by_selector(server.url("/page"))).await.unwrap().id;
    until_well(&test_store, source).await;
    ailing.items.shut();
    ailing.held_at.lock().unwrap().push(source);
    server.put("/page", "200 OK", "<p>Two</p>");
    handle.probe_now(source).await.unwrap();
    until("a refusal", || state(&*test_store.store, source).0 == Health::Refused).await;
    let reason = state(&*test_store.store, source).1;
    assert!(
        reason.starts_with("reading it with the selector `p:nth-of-type(1)` took longer than 100ms ("),
        "{reason}"
    );
    assert!(reason.contains("try a simpler selector") && reason.contains("limits.reading"), "{reason}");
    let stats = handle.stats();
    assert_eq!((ailing.items.n_held(), stats.failed_user, stats.abandoned_readings), (1, 1, 1));
    assert_eq!(handle.standstill(), None, "there are others to read with");
    let paused = handle.explain(source).await.unwrap();
    assert!(paused.not_before.is_some(), "{paused:?}");

    // The next probe, while the abandoned reading still runs: it is read, and not mistaken for the other.
    ailing.held_at.lock().unwrap().clear();
    server.put("/page", "200 OK", "<p>Three</p>");
    handle.probe_now(source).await.unwrap();
    until("a change", || !summaries(&*test_store.store, source).is_empty()).await;
    assert_eq!((state(&*test_store.store, source).0, ailing.items.n_held()), (Health::Well, 1));
    ailing.items.open();
    until("the late end", || ailing.items.n_held() == 0).await;
    server.put("/page", "200 OK", "<p>Four</p>");
    handle.probe_now(source).await.unwrap();
    until("another change", || summaries(&*test_store.store, source).len() > 1).await;
    engine.stop().await.unwrap();
    let reported = format!(
        "{:?}",
        all_changes(&*test_store.store).iter().map(|change| &change.found).collect::<Vec<_>>()
    );
    assert!(!reported.contains("Two"), "{reported}");
    let entries =
        dunlin_engine::journal::read(&*test_store.store, None).collect::<Result<Vec<_>, _>>().unwrap();
    dunlin_sched::scheduler::journal::replay(entries).unwrap();
}

#[tokio::test]
async fn when_abandoned_readings_have_all_threads_that_is_reported_until_one_ends() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    let engine = Engine::start(ailing.clone(), impatient()).await.unwrap();
    let handle = engine.handle();
    let n_readers = ReaderLimits::for_this_machine(Settings::SPARE_READERS, 0).n_threads();
    let mut sources: Vec<SourceId> = Vec::new();
    for n in 0..=n_readers {
        server.put(&format!("/{n}"), "200 OK", "<p>One</p>");
        sources.push(handle.add_source(page(server.url(&format!("/{n}")))).await.unwrap().id);
    }
    for source in &sources {
        until_well(&test_store, *source).await;
    }
    ailing.items.shut();
    ailing.held_at.lock().unwrap().clone_from(&sources);
    for (n, source) in sources.iter().enumerate() {
        server.put(&format!("/{n}"), "200 OK", "<p>Two</p>");
        handle.probe_now(*source).await.unwrap();
    }
    until("a standstill", || handle.standstill() == Some(Standstill::Reading { n_readers })).await;
    assert_eq!(ailing.items.n_held(), i64::try_from(n_readers).unwrap());
    // What needs no reader goes on.
    assert_eq!(handle.budget().await.pace, impatient().budget);
    let added = handle.add_source(page(server.url("/0?more"))).await.unwrap();
    handle.remove_source(added.id).await.unwrap();
    ailing.items.open();
    until("an end of it", || handle.standstill().is_none()).await;
    until("the one that waited", || !all_changes(&*test_store.store).is_empty()).await;
    engine.stop().await.unwrap();
    assert_eq!(all_changes(&*test_store.store).len(), 1, "of the others nothing was taken");
}

/// Neither does the runtime, which waits for its own blocking threads.
#[test]
fn a_stop_waits_for_no_reader() {
    let (ended, has_ended) = std::sync::mpsc::channel();
    let test_store = test_store();
    let ailing = Ailing::new(&test_store.store);
    let reader = Arc::clone(&ailing);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            server.put("/page", "200 OK", "<p>One</p>");
            let (reading_time, stop_within) = (Duration::from_hours(1), Duration::from_millis(100));
            let settings = Settings { reading_time, stop_within, ..hasty() };
            let engine = Engine::start(ailing.clone(), settings).await.unwrap();
            let source = engine.handle().add_source(page(server.url("/page"))).await.unwrap().id;
            until_well(&test_store, source).await;
            ailing.items.shut();
            ailing.held_at.lock().unwrap().push(source);
            server.put("/page", "200 OK", "<p>Two</p>");
            engine.handle().probe_now(source).await.unwrap();
            until("a reader that waits", || ailing.items.n_held() == 1).await;
            engine.stop().await.unwrap();
        });
        drop(runtime);
        ended.send(()).unwrap();
    });
    has_ended.recv_timeout(Duration::from_mins(1)).expect("an end");
    assert_eq!(reader.items.n_held(), 1);
}

#[tokio::test]
async fn a_write_that_does_not_end_is_reported() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    server.put("/page", "200 OK", "<p>One</p>");
    let settings = Settings { patience: Duration::from_millis(200), ..hasty() };
    let engine = Engine::start(ailing.clone(), settings).await.unwrap();
    let handle = engine.handle();
    ailing.writes.shut();
    handle.add_source(page(server.url("/page"))).await.unwrap();
    until("a standstill", || matches!(handle.standstill(), Some(Standstill::Writing { .. }))).await;
    ailing.writes.open();
    until("an end of it", || handle.standstill().is_none()).await;
    engine.stop().await.unwrap();
}

#[test]
fn a_loop_that_hangs_is_reported_though_it_cannot_answer() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (test_store, engines, ours) = (test_store(), runtime(), runtime());
    let settings = Settings { patience: Duration::from_millis(200), ..hasty() };
    let engine = engines.block_on(Engine::start(test_store.store.clone(), settings)).unwrap();
    let handle = engine.handle();
    assert_eq!(handle.standstill(), None);
    // The engine's tasks do not run from here on.
    let stands_still = || matches!(handle.standstill(), Some(Standstill::Deciding { .. }));
    ours.block_on(until("a standstill", stands_still));
    engines.block_on(until("an end of it", || handle.standstill().is_none()));
    engines.block_on(engine.stop()).unwrap();
}

/// In virtual time: over days, and over a restart.
#[test]
fn a_page_that_is_always_slow_to_read_is_read_ever_less_often() {
    let (test_store, slow, good) = (test_store(), "http://slow.example/page", "http://good.example/feed");
    let mut web = Web::default();
    let hourly: Vec<i64> = (0..240).map(|hour| hour * HOUR + 1_800).collect();
    web.put(good, Kind::Feed(300), &hourly);
    web.put(slow, Kind::Page, &hourly);
    // From one of its changes on, so that the next probe has something to read.
    let slow_from = at(2 * HOUR + 1_800);
    web.slow.insert(slow.to_owned(), (slow_from, at(96 * HOUR)));
    let store: Arc<_> = test_store.store.clone();
    let mut run = Simulation::new(store.clone(), settings(), web, at(0)).unwrap();
    let watched = [run.add_source(feed(good)).unwrap(), run.add_source(simulated_page(slow)).unwrap()];
    run.run_until(at(40 * HOUR));
    let (health, reason) = state(&*store, watched[1]);
    assert_eq!(health, Health::Refused, "{reason}");
    assert!(reason.starts_with("reading it as a page took longer than 10s"), "{reason}");
    let mut run = Simulation::new(store.clone(), settings(), run.stop(), at(40 * HOUR)).unwrap();
    run.run_until(at(90 * HOUR));

    let tries: Vec<_> =
        run.world().probes_of("/page").into_iter().filter(|probe| *probe >= slow_from).collect();
    let pauses: Vec<u64> = tries.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
    // An hour, doubled each time up to the longest gap of six; a chronon or two more until it is its turn.
    let expected = [1, 2, 4].into_iter().chain(std::iter::repeat(6));
    for (pause, hours) in pauses.iter().zip(expected) {
        assert!((hours * 3_600..hours * 3_600 + 600).contains(pause), "{hours} h: {pauses:?}");
    }
    assert!(pauses.len() > 10, "{pauses:?}");
    assert!(summaries(&*store, watched[0]).len() > 80, "others go on");
    assert!(run.stats().failed_ours == 0 && run.health().network_trouble.is_none());

    // Once it can be read again, it is watched as ever.
    run.run_until(at(120 * HOUR));
    assert_eq!(state(&*store, watched[1]), (Health::Well, String::new()));
    assert!(store.source(watched[1]).unwrap().is_some() && !summaries(&*store, watched[1]).is_empty());
}
