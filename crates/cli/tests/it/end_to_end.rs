//! A day of reports in three quarters of a minute, watched by two services at once with the same budget: one that
//! learns, and one that takes turns. What they did is judged from the web's side.
//!
//! The budget is one probe per change, so no service can probe everything all the time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Kind, Logged, Plan, Site, Speed};

use crate::manners::{gap_is_kept, most_within};
use crate::run::Desk;
use crate::service::{Event, Service};
use crate::stored_data::StoredData;
use crate::web::{Web, regular_trace, watching};

const SPEED: f64 = 1_800.0;
const HOURS: i64 = 24;
/// Between two requests for one page, from the end of one to the beginning of the next.
const GAP: Duration = Duration::from_millis(250);
/// In which the services decide.
const STEP: Duration = Duration::from_millis(100);
/// How much later than others a request may arrive at the web site after it was decided on, on a busy machine: starting a
/// task, connecting, being scheduled. What arrives in some seconds was decided in so much more time.
const JITTER: f64 = 1.0;

/// One of the services, with the changes it reported.
struct Watcher {
    strategy: &'static str,
    service: Service,
}

#[test]
fn what_is_learned_pays_and_no_promise_is_broken() {
    let steps: Vec<i64> = (0..110).map(|number| if number % 5 == 0 { 1_200 } else { 3_600 }).collect();
    learning_pays(regular_trace("station", &steps, 3 * 86_400));
}

/// Watches the trace in both ways; every promise is kept in both, and learning captures more.
pub(crate) fn learning_pays(trace: TraceFile) {
    let budget = budget(&trace);
    let web = Web::start(Plan { speed: Speed::new(SPEED).unwrap(), ..Plan::of(trace) });
    let site = web.site();
    let desk = Desk::new();
    let watchers = ["learned", "round-robin"].map(|strategy| {
        let urls: Vec<String> = site.sources().iter().map(|id| web.bed.url(&address(id, strategy))).collect();
        let data = watching(&desk, strategy, &settings(strategy, budget), &urls);
        Watcher { strategy, service: Service::start(&data) }
    });
    let from = web.now();
    let until = from.plus(Duration::from_secs_f64(HOURS as f64 * 3_600.0 / SPEED));
    let reported: Vec<Vec<Event>> = std::thread::scope(|scope| {
        let follow = |watcher: &Watcher| {
            let events = watcher.service.stream(0);
            let web = &web;
            scope.spawn(move || events.take_while(|_| web.now() < until).collect())
        };
        let following: Vec<_> = watchers.iter().map(follow).collect();
        following.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let completeness: Vec<f64> = watchers
        .into_iter()
        .zip(reported)
        .map(|(watcher, reported)| {
            let Watcher { strategy, service } = watcher;
            assert!(web.now() >= until, "the stream of {strategy} broke off");
            let data = service.data().to_owned();
            let (status, messages) = service.interrupt();
            assert_eq!(status, Some(0), "{messages}");
            let log = web.requests(&address("", strategy)["/pages/".len()..]);
            let stored = StoredData::read(&data);
            announced_changes_are_stored(&reported, &stored);
            budget_is_kept(&log, &stored, budget);
            gap_is_kept(&log, GAP);
            replays(&desk, &data, &log);
            scored(&site, &stored, &log, (from, until), strategy)
        })
        .collect();
    // An hour passes in two seconds here, so only rates can be learned, from nothing, and all of the time counts: it is a
    // lead of a few hundredths.
    assert!(
        completeness[0] > completeness[1],
        "learned {} against round-robin {}",
        completeness[0],
        completeness[1]
    );
}

/// Probes per second of real time: one per change in the first hours.
fn budget(trace: &TraceFile) -> f64 {
    let first = trace.times.iter().flatten().min().unwrap();
    let end = first + HOURS * 3_600;
    let n_changes = trace.times.iter().flatten().filter(|time| **time < end).count();
    n_changes as f64 / (HOURS as f64 * 3_600.0 / SPEED)
}

/// The services fetch different addresses, so that the log distinguishes them.
fn address(id: &str, strategy: &str) -> String {
    format!("{}?for={strategy}", Kind::Page.path(id))
}

fn settings(strategy: &str, budget: f64) -> String {
    let (gap, step) = (GAP.as_millis(), STEP.as_millis());
    // The default assumption, four changes a day, is wrong by orders of magnitude in a world so fast.
    format!(
        "strategy = \"{strategy}\"\nbudget = \"{budget}/s\"\nchronon = \"{step}ms\"\nshortest_gap = \"{step}ms\"\n\
         longest_gap = \"1h\"\nlog = \"warn\"\nrobots = true\n\
         [politeness]\ngap = \"{gap}ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n\
         [guard]\nnetworks = [\"127.0.0.1/32\"]\n"
    )
}

/// Everything that the stream has sent is in the store, under the same cursor.
fn announced_changes_are_stored(reported: &[Event], stored: &StoredData) {
    assert!(!reported.is_empty());
    assert!(
        reported.len() <= stored.changes.len(),
        "{} reported, {} stored",
        reported.len(),
        stored.changes.len()
    );
    for (event, change) in reported.iter().zip(&stored.changes) {
        let version = change.version.map(|version| version.0);
        assert_eq!(event.cursor, change.cursor.0);
        assert_eq!(event.change["source"], change.source.0);
        assert_eq!(event.change["version"].as_i64(), version);
        assert_eq!(event.change["summary"], change.found.summary);
    }
}

/// In every window, whether counted at the decisions, which is exact, or at the web site.
fn budget_is_kept(log: &[Logged], stored: &StoredData, budget: f64) {
    // What one step of time grants, and one probe more, for what is left of a probe from the step before.
    let burst = budget * STEP.as_secs_f64() + 1.0;
    let mut decided: Vec<i64> = stored.decided.iter().map(|time| time.micros()).collect();
    // What is decided while robots.txt is being read waits for it, and is noted when it goes. At the web site it counts.
    let first = decided.iter().copied().min().unwrap();
    decided.retain(|at| *at > first + 1_000_000);
    let received: Vec<i64> = log.iter().map(|request| request.received.micros()).collect();
    for seconds in [1.0, 2.0, 5.0, 10.0, 20.0] {
        let most = most_within(&decided, seconds);
        // A step is taken up to its own length late, so what is granted for a window may be spread over one step less.
        let allowed = budget * (seconds + STEP.as_secs_f64()) + burst;
        assert!(most as f64 <= allowed, "{most} probes decided within {seconds} s, {allowed} allowed");
        let most = most_within(&received, seconds);
        let allowed = budget * (seconds + JITTER) + burst;
        assert!(most as f64 <= allowed, "{most} requests within {seconds} s, {allowed} allowed");
    }
}

/// All decisions can be taken again, and are those that the web site saw.
fn replays(desk: &Desk, data: &std::path::Path, log: &[Logged]) {
    let replayed = desk.json(&format!("replay --json --data {}", data.display()));
    let n_probes = replayed["probes"].as_u64().unwrap();
    assert_eq!(replayed["same"], true);
    // A probe that was chosen may have been given up at the end, before it reached the site.
    let n_requests = log.len() as u64;
    assert!(
        n_requests <= n_probes && n_probes <= n_requests + 64,
        "{n_probes} probes, {n_requests} requests"
    );
}

/// The share of what happened between two instants that was captured.
fn scored(site: &Site, stored: &StoredData, log: &[Logged], span: (Time, Time), strategy: &str) -> f64 {
    let mut happened = BTreeMap::new();
    for id in site.sources() {
        let changes = site.changes(site.source(id).unwrap(), Some(span.0), span.1);
        happened.extend(changes.map(|change| ((id.as_str(), change.version), change.at)));
    }
    let (mut captured, mut late) = (BTreeSet::new(), Duration::ZERO);
    for capture in &stored.captures {
        let key = (id_of(&stored.urls[&capture.source]), capture.number);
        if let Some(at) = happened.get(&key) {
            captured.insert(key);
            late += capture.version.at.since(*at);
        }
    }
    let with_content = log.iter().filter(|request| request.status == Some(200));
    let shown = with_content.filter_map(|request| Some((request.source.as_deref()?, request.version?)));
    for key in shown.filter(|key| happened.contains_key(key)) {
        assert!(
            captured.contains(&key),
            "{strategy} has seen version {} of {} and not stored it",
            key.1,
            key.0
        );
    }
    let completeness = captured.len() as f64 / happened.len() as f64;
    let minutes_late = late.as_secs_f64() * SPEED / 60.0 / captured.len() as f64;
    eprintln!(
        "{strategy}: {} of {} changes captured ({completeness:.3}), {minutes_late:.1} minutes late on average, {} requests",
        captured.len(),
        happened.len(),
        log.len(),
    );
    completeness
}

/// The id in an address of a page.
fn id_of(url: &str) -> &str {
    url.split("/pages/").nth(1).unwrap().split('?').next().unwrap()
}
