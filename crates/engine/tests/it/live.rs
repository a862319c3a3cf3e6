//! The real clock, real sockets, a real server on loopback: that the live driver does what the simulated one does.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dunlin_core::Time;
use dunlin_engine::{Engine, Error, Handle, Pace, Settings, SourceStatus, explain_stored};
use dunlin_net::Guard;
use dunlin_store::{Cursor, DecisionQuery, Health, NewDecision, NewSource, SourceEdit, SourceId, Store as _};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use crate::fixtures::{Ailing, TestStore, n_changes, state, summaries, test_store};

/// What a path answers: the head after the status line's version, and the body.
type Pages = Arc<Mutex<BTreeMap<String, (String, String)>>>;

pub(crate) struct Server {
    port: u16,
    pages: Pages,
    log: Arc<Mutex<Vec<String>>>,
    /// The heads of all requests, in lower case.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (pages, log) = (Pages::default(), Arc::new(Mutex::new(Vec::new())));
        let (shared, seen) = (Arc::clone(&pages), Arc::clone(&log));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let all_heads = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (pages, log) = (Arc::clone(&shared), Arc::clone(&seen));
                let heads = Arc::clone(&all_heads);
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = stream.read_u8().await else { return };
                        head.push(byte);
                    }
                    let head = String::from_utf8_lossy(&head);
                    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
                    let missing = ("404 Not Found".to_owned(), String::new());
                    let (status, body) = pages.lock().unwrap().get(&path).cloned().unwrap_or(missing);
                    heads.lock().unwrap().push(head.to_lowercase());
                    log.lock().unwrap().push(path);
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                    );
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { port, pages, log, heads }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn put(&self, path: &str, status: &str, body: &str) {
        self.pages.lock().unwrap().insert(path.to_owned(), (status.to_owned(), body.to_owned()));
    }

    /// The head of the last request, in lower case.
    pub(crate) fn last_head(&self) -> String {
        self.heads.lock().unwrap().last().cloned().unwrap_or_default()
    }

    pub(crate) fn n_asked(&self, path: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

pub(crate) fn hasty() -> Settings {
    let mut settings = Settings {
        chronon: Duration::from_millis(20),
        budget: Pace { per_second: 200.0 },
        shortest_gap: Duration::from_millis(50),
        ..Settings::default()
    };
    settings.politeness.gap = Duration::from_millis(5);
    settings.network.guard = Guard::public_internet().allowing_network("127.0.0.0/8".parse().unwrap());
    settings
}

pub(crate) fn page(url: String) -> NewSource {
    NewSource::page(url, Time::from_seconds(0))
}

pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let wait = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while !is_so() {
            ticks.tick().await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), wait).await.is_ok(), "timed out: {what}");
}

pub(crate) async fn until_well(test_store: &TestStore, source: SourceId) {
    until("first probe", || state(&*test_store.store, source).0 == Health::Well).await;
}

async fn next_cursor(handle: &Handle, after: Cursor) -> Cursor {
    let mut newest = handle.newest_cursor();
    let wait = newest.wait_for(|cursor| *cursor > after);
    *tokio::time::timeout(Duration::from_mins(1), wait).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_change_is_stored_before_it_is_announced_and_announced_once() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/page", "200 OK", "<p>One</p>");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/page"))).await.unwrap();
    until_well(&test_store, source.id).await;
    assert_eq!(server.n_asked("/robots.txt"), 1);
    server.put("/page", "200 OK", "<p>Two</p>");
    handle.probe_now(source.id).await.unwrap();
    let reported = next_cursor(&handle, Cursor::START).await;
    assert_eq!(n_changes(&*test_store.store), reported.0, "announced after it was stored");

    let explained = handle.explain(source.id).await.unwrap();
    assert!(matches!(explained.status, SourceStatus::Watched | SourceStatus::Probing), "{explained:?}");
    assert!(explained.forecast.rate > 0.0 && explained.forecast.ahead.len() == 24);
    let report = handle.budget().await;
    assert!(report.used.minute >= 2 && report.hosts[0].scope == "host 127.0.0.1", "{report:?}");
    assert!(handle.stats().changed >= 1 && handle.health().store_trouble.is_none());
    engine.stop().await.unwrap();
    assert!(matches!(handle.probe_now(source.id).await, Err(Error::Stopped)));

    // Started again, it knows what it knew: the same page is no news.
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let before = server.n_asked("/page");
    engine.handle().probe_now(source.id).await.unwrap();
    until("another probe", || server.n_asked("/page") > before).await;
    engine.stop().await.unwrap();
    assert_eq!(n_changes(&*test_store.store), reported.0);
    let stored =
        explain_stored(&*test_store.store, &hasty(), source.id, Time::from_seconds(2_000_000_000)).unwrap();
    assert!(stored.last_probe.is_some() && stored.forecast.evidence > 0.0);
    let entries =
        dunlin_engine::journal::read(&*test_store.store, None).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(dunlin_sched::scheduler::journal::replay(entries).unwrap().starts, 2);
}

#[tokio::test]
async fn failures_are_states_and_a_panic_is_one_of_them() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    server.put("/bad", "200 OK", "<p>One</p>");
    server.put("/good", "200 OK", "<p>One</p>");
    let engine = Engine::start(ailing.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let gone = handle.add_source(page(server.url("/gone"))).await.unwrap().id;
    let bad = handle.add_source(page(server.url("/bad"))).await.unwrap().id;
    let good = handle.add_source(page(server.url("/good"))).await.unwrap().id;
    until_well(&test_store, bad).await;
    until_well(&test_store, good).await;
    until("refused", || state(&*test_store.store, gone).0 == Health::Refused).await;
    ailing.panics_at.store(bad.0, Ordering::Relaxed);
    server.put("/bad", "200 OK", "<p>Two</p>");
    server.put("/good", "200 OK", "<p>Two</p>");
    handle.probe_now(bad).await.unwrap();
    until("a reported panic", || state(&*test_store.store, bad).1.contains("told to panic")).await;
    handle.probe_now(good).await.unwrap();
    until("others go on", || !summaries(&*test_store.store, good).is_empty()).await;
    assert_eq!(handle.stats().crashed, 1);
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_full_for_a_while_loses_nothing() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    server.put("/page", "200 OK", "<p>One</p>");
    let engine = Engine::start(ailing.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    until_well(&test_store, source).await;
    ailing.is_full.store(true, Ordering::Relaxed);
    server.put("/page", "200 OK", "<p>Two</p>");
    handle.probe_now(source).await.unwrap();
    until("reported trouble", || handle.health().store_trouble.is_some()).await;
    let n_asked = server.n_asked("/page");
    handle.probe_now(source).await.unwrap();
    assert!(summaries(&*test_store.store, source).is_empty());
    ailing.is_full.store(false, Ordering::Relaxed);
    next_cursor(&handle, Cursor::START).await;
    assert_eq!(summaries(&*test_store.store, source).len(), 1);
    until("trouble over", || handle.health().store_trouble.is_none()).await;
    until("probes go on", || server.n_asked("/page") > n_asked).await;
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn budgets_edits_and_removals_take_effect_and_stay() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/page", "200 OK", "<p>One</p>");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    for per_second in [f64::NAN, -1.0, 1e-300, 1e300] {
        assert!(matches!(handle.set_budget(Pace { per_second }).await, Err(Error::Number { .. })));
    }
    handle.set_budget(Pace { per_second: 3.5 }).await.unwrap();
    assert_eq!(handle.budget().await.pace, Pace { per_second: 3.5 });
    let source = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    let bad = SourceEdit { life: Some("never".to_owned()), ..SourceEdit::default() };
    assert!(matches!(handle.edit_source(source, bad).await, Err(Error::Value(_))));
    let pause = SourceEdit { paused: Some(Some(Time::from_seconds(1))), ..SourceEdit::default() };
    handle.edit_source(source, pause).await.unwrap();
    until("paused", || handle.stats().watched == 0).await;
    assert!(matches!(handle.probe_now(source).await, Err(Error::Paused(_))));
    engine.stop().await.unwrap();

    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    assert_eq!(handle.budget().await.pace, Pace { per_second: 3.5 });
    assert_eq!(handle.explain(source).await.unwrap().status, SourceStatus::Paused);
    handle.remove_source(source).await.unwrap();
    assert!(matches!(handle.remove_source(source).await, Err(Error::NoSuchSource(_))));
    assert!(matches!(handle.explain(source).await, Err(Error::NoSuchSource(_))));
    assert!(matches!(handle.probe_now(source).await, Err(Error::NoSuchSource(_))));
    assert_eq!(handle.stats().sources, 0);
    engine.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn store_and_watch_stay_the_same_in_any_order_of_edits() {
    let (test_store, server) = (test_store(), Server::start().await);
    let settings = Settings { budget: Pace { per_second: 0.0 }, ..hasty() };
    let engine = Engine::start(test_store.store.clone(), settings).await.unwrap();
    let handle = engine.handle();
    let mut sources = Vec::new();
    for n in 0..40 {
        sources.push(handle.add_source(page(server.url(&format!("/{n}")))).await.unwrap().id);
    }
    let mut speakers = tokio::task::JoinSet::new();
    for round in 0..4 {
        let (handle, sources) = (handle.clone(), sources.clone());
        speakers.spawn(async move {
            for (n, id) in (0..).zip(sources) {
                if round == 0 {
                    handle.remove_source(id).await.unwrap();
                } else {
                    let weight = Some(f64::from(round));
                    let edited = handle.edit_source(id, SourceEdit { weight, ..SourceEdit::default() }).await;
                    assert!(matches!(edited, Ok(_) | Err(Error::NoSuchSource(_))), "{edited:?}");
                }
                let pace = Pace { per_second: f64::from(round * 100 + n) / 1024.0 };
                handle.set_budget(pace).await.unwrap();
            }
        });
    }
    while let Some(ended) = speakers.join_next().await {
        ended.unwrap();
    }
    let (stored, used) =
        (dunlin_engine::stored_budget(&*test_store.store).unwrap(), handle.budget().await.pace);
    assert_eq!(stored, Some(used));
    assert_eq!((test_store.store.statistics().unwrap().sources, handle.stats().sources), (0, 0));
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn stopping_with_a_full_store_says_what_is_lost_without_long_waits() {
    let (test_store, server) = (test_store(), Server::start().await);
    let ailing = Ailing::new(&test_store.store);
    server.put("/page", "200 OK", "<p>One</p>");
    let settings = Settings { stop_within: Duration::from_hours(1), ..hasty() };
    let engine = Engine::start(ailing.clone(), settings.clone()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    until_well(&test_store, source).await;
    ailing.is_full.store(true, Ordering::Relaxed);
    server.put("/page", "200 OK", "<p>Two</p>");
    until("reported trouble", || handle.health().store_trouble.is_some()).await;
    let stopped = tokio::time::timeout(Duration::from_mins(1), engine.stop()).await.unwrap();
    assert!(matches!(stopped, Err(Error::Unwritten)), "{stopped:?}");

    // With room again by then, the last attempt works.
    ailing.is_full.store(false, Ordering::Relaxed);
    let engine = Engine::start(ailing.clone(), settings).await.unwrap();
    ailing.is_full.store(true, Ordering::Relaxed);
    until("reported trouble", || engine.handle().health().store_trouble.is_some()).await;
    ailing.is_full.store(false, Ordering::Relaxed);
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn an_edit_counts_from_the_next_probe_on_despite_the_cache() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/one", "200 OK", "<p>One</p>");
    server.put("/two", "200 OK", "<p>Two</p>");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/one"))).await.unwrap().id;
    until_well(&test_store, source).await;
    for n_asked in 2..5 {
        handle.probe_now(source).await.unwrap();
        until("another probe", || server.n_asked("/one") >= n_asked).await;
    }
    let edit = SourceEdit { url: Some(server.url("/two")), ..SourceEdit::default() };
    handle.edit_source(source, edit).await.unwrap();
    handle.probe_now(source).await.unwrap();
    until("a probe of the new address", || server.n_asked("/two") > 0).await;
    // The cache agrees with the store: a change is seen, and the first probe is a first one.
    server.put("/two", "200 OK", "<p>Three</p>");
    handle.probe_now(source).await.unwrap();
    next_cursor(&handle, Cursor::START).await;
    engine.stop().await.unwrap();
    assert_eq!(n_changes(&*test_store.store), 1);
}

/// A source that is probed on demand only, and was probed often enough that the next probe begins with what is recalled.
async fn known_well(server: &Server, handle: &Handle, source: NewSource) -> SourceId {
    let source = handle.add_source(source).await.unwrap().id;
    for n_probes in 1..=3 {
        until("a probe", || server.n_asked("/one") >= n_probes).await;
        handle.probe_now(source).await.unwrap();
    }
    until("the last probe", || server.n_asked("/one") >= 4).await;
    source
}

fn on_demand() -> Settings {
    Settings { shortest_gap: Duration::from_hours(9), longest_gap: Duration::from_hours(9), ..hasty() }
}

#[tokio::test]
async fn an_edited_selector_counts_from_the_next_probe_on() {
    let selecting = |css: &str| format!(r#"{{"recipe":{{"kind":"html_selector","css":"{css}"}}}}"#);
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/one", "200 OK", "<h1>Old head</h1><p>Old text</p>");
    let engine = Engine::start(test_store.store.clone(), on_demand()).await.unwrap();
    let handle = engine.handle();
    let source = NewSource { recipe: selecting("h1"), ..page(server.url("/one")) };
    let source = known_well(&server, &handle, source).await;
    let edit = SourceEdit { recipe: Some(selecting("p")), ..SourceEdit::default() };
    handle.edit_source(source, edit).await.unwrap();
    handle.probe_now(source).await.unwrap();
    until("a first probe", || server.n_asked("/one") >= 5).await;
    server.put("/one", "200 OK", "<h1>New head</h1><p>New text</p>");
    handle.probe_now(source).await.unwrap();
    next_cursor(&handle, Cursor::START).await;
    engine.stop().await.unwrap();
    let reported = summaries(&*test_store.store, source).join("; ");
    assert!(reported.contains("text") && !reported.contains("head"), "{reported}");
}

#[tokio::test]
async fn a_new_address_is_not_asked_with_what_the_old_one_said() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/one", "200 OK\r\nETag: \"old\"", "<p>One</p>");
    server.put("/two", "200 OK", "<p>Two</p>");
    let engine = Engine::start(test_store.store.clone(), on_demand()).await.unwrap();
    let handle = engine.handle();
    let source = known_well(&server, &handle, page(server.url("/one"))).await;
    let edit = SourceEdit { url: Some(server.url("/two")), ..SourceEdit::default() };
    handle.edit_source(source, edit).await.unwrap();
    handle.probe_now(source).await.unwrap();
    until("a probe of the new address", || server.n_asked("/two") >= 1).await;
    engine.stop().await.unwrap();
    let heads = server.heads.lock().unwrap();
    let mut old = heads.iter().filter(|head| head.starts_with("get /one "));
    let mut new = heads.iter().filter(|head| head.starts_with("get /two "));
    assert!(old.next_back().unwrap().contains("if-none-match: \"old\""), "{heads:?}");
    assert!(!new.next().unwrap().contains("if-none-match"), "{heads:?}");
    assert_eq!(n_changes(&*test_store.store), 0, "another page is no change");
}

#[tokio::test]
async fn a_page_that_leads_to_a_dead_port_of_a_host_does_not_silence_the_host() {
    let (test_store, server) = (test_store(), Server::start().await);
    // A port without a listener: it is bound, but not opened.
    let dead = tokio::net::TcpSocket::new_v4().unwrap();
    dead.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let dead = dead.local_addr().unwrap().port();
    server.put("/page", "200 OK", "<p>One</p>");
    server.put("/lure", &format!("302 Found\r\nLocation: http://127.0.0.1:{dead}/x"), "");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let lure = handle.add_source(page(server.url("/lure"))).await.unwrap().id;
    until("the lure fails", || state(&*test_store.store, lure).0 == Health::Failing).await;
    let reason = state(&*test_store.store, lure).1;
    assert!(reason.contains(&format!("127.0.0.1:{dead}/robots.txt cannot be read")), "{reason}");
    let other = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    until_well(&test_store, other).await;
    let before = server.n_asked("/page");
    handle.probe_now(other).await.unwrap();
    until("another probe of the same host", || server.n_asked("/page") > before).await;
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_page_without_validators_that_stayed_the_same_often_is_still_seen_to_change() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/page", "200 OK", "<p>One</p>");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    until_well(&test_store, source).await;
    let mut reported = Cursor::START;
    for body in ["<p>Two</p>", "<p>Three</p>", "<p>Four</p>"] {
        let before = handle.stats();
        // As often as it takes to know the body again without hashing it, and once more.
        for n_probes in 1..=3 {
            handle.probe_now(source).await.unwrap();
            until("another probe", || handle.stats().unchanged >= before.unchanged + n_probes).await;
        }
        server.put("/page", "200 OK", body);
        handle.probe_now(source).await.unwrap();
        reported = next_cursor(&handle, reported).await;
    }
    engine.stop().await.unwrap();
    assert_eq!(n_changes(&*test_store.store), 3);
}

#[tokio::test]
async fn the_reason_about_reading_a_page_stays_as_long_as_the_page_does() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/page", "200 OK", &format!("<p>Top</p>{}", "<ul><li>".repeat(5_000)));
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/page"))).await.unwrap().id;
    until("the reason", || !state(&*test_store.store, source).1.is_empty()).await;
    let stated = state(&*test_store.store, source);
    assert_eq!(stated.0, Health::Well);
    let before = handle.stats().unchanged;
    handle.probe_now(source).await.unwrap();
    until("another probe", || handle.stats().unchanged > before).await;
    assert_eq!(state(&*test_store.store, source), stated);
    server.put("/page", "200 OK", "<p>Top</p>");
    handle.probe_now(source).await.unwrap();
    until("a page that can be read", || state(&*test_store.store, source) == (Health::Well, String::new()))
        .await;
    engine.stop().await.unwrap();
}

/// Keeps connections, but hangs up on the first request for the page. When each path was asked for.
async fn hangs_up_once() -> (u16, Arc<Mutex<Vec<(String, Instant)>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut lines = BufReader::new(stream);
                let mut line = String::new();
                let mut path = String::new();
                while lines.read_line(&mut line).await.is_ok_and(|n_bytes| n_bytes > 0) {
                    if let Some(asked) = line.strip_prefix("GET ") {
                        path = asked.split(' ').next().unwrap_or_default().to_owned();
                    }
                    if line == "\r\n" {
                        let is_first = {
                            let mut seen = seen.lock().unwrap();
                            seen.push((path.clone(), Instant::now()));
                            seen.iter().filter(|(asked, _)| *asked == path).count() == 1
                        };
                        if path == "/page" && is_first {
                            return;
                        }
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOne";
                        lines.get_mut().write_all(answer).await.unwrap();
                    }
                    line.clear();
                }
            });
        }
    });
    (port, log)
}

#[tokio::test]
async fn a_kept_connection_that_is_closed_is_no_failure_and_no_reason_to_hurry() {
    let (test_store, (port, log)) = (test_store(), hangs_up_once().await);
    let mut settings = hasty();
    settings.politeness.gap = Duration::from_millis(400);
    let gap = settings.politeness.gap;
    let engine = Engine::start(test_store.store.clone(), settings).await.unwrap();
    let source = engine.handle().add_source(page(format!("http://127.0.0.1:{port}/page"))).await.unwrap().id;
    until_well(&test_store, source).await;
    assert_eq!(engine.handle().stats().failed_remote, 0);
    engine.stop().await.unwrap();
    let log = log.lock().unwrap().clone();
    let paths: Vec<&str> = log.iter().map(|(path, _)| path.as_str()).take(3).collect();
    assert_eq!(paths, ["/robots.txt", "/page", "/page"]);
    for pair in log.windows(2) {
        assert!(pair[1].1.duration_since(pair[0].1) >= gap, "{log:?}");
    }
}

#[tokio::test]
async fn another_site_is_asked_for_its_rules_before_a_redirect_is_followed_there() {
    let (test_store, server, other) = (test_store(), Server::start().await, Server::start().await);
    server.put("/old", &format!("302 Found\r\nLocation: {}", other.url("/new")), "");
    other.put("/new", "200 OK", "<p>Here it is</p>");
    server.put("/closed", &format!("302 Found\r\nLocation: {}", other.url("/private")), "");
    other.put("/private", "200 OK", "<p>Not for you</p>");
    other.put("/robots.txt", "200 OK", "User-agent: *\nDisallow: /private");
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let source = engine.handle().add_source(page(server.url("/old"))).await.unwrap();
    let closed = engine.handle().add_source(page(server.url("/closed"))).await.unwrap();
    until_well(&test_store, source.id).await;
    until("a refusal", || state(&*test_store.store, closed.id).0 == Health::Refused).await;
    engine.stop().await.unwrap();
    assert_eq!(other.log.lock().unwrap()[0], "/robots.txt");
    assert_eq!((other.n_asked("/robots.txt"), other.n_asked("/private")), (1, 0));
    assert!(state(&*test_store.store, closed.id).1.contains("robots.txt of that site forbids it"));
}

#[tokio::test]
async fn what_is_too_old_goes_when_the_service_starts() {
    let test_store = test_store();
    let decided = |at| NewDecision { at, source: None, reason: "entries".into(), figures: vec![1] };
    test_store.store.append_decisions(&[decided(Time::from_seconds(1_000_000))]).unwrap();
    // Without something that is not so old, the clock would not be believed at once.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs().cast_signed();
    test_store.store.append_decisions(&[decided(Time::from_seconds(now - 3600))]).unwrap();
    let engine = Engine::start(test_store.store.clone(), hasty()).await.unwrap();
    let is_gone = || {
        let oldest = test_store.store.decisions(&DecisionQuery::first(1)).unwrap();
        oldest.first().is_none_or(|row| row.decision.at > Time::from_seconds(1_000_000))
    };
    until("the old decision goes", is_gone).await;
    engine.stop().await.unwrap();
}
