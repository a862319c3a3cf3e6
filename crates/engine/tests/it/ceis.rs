//! CEIs in the engine: probes capture their intervals, the ledger in the store says so, and fifty kills change nothing about
//! that, whether they are captured or lost.
//!
//! The process that is killed is this test binary once more. It prints what it was promised; the test reads a pseudo-random
//! number of promises and then kills it, without waiting for time to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::simulated::Simulation;
use dunlin_engine::{Engine, Settings, clock};
use dunlin_sched::scheduler::Input;
use dunlin_sched::scheduler::journal::{JournalEntry, replay};
use dunlin_store::{
    CeiId, CeiQuery, CeiState, Depth, NewCei, NewInterval, NewSource, ObservationQuery, SourceEdit, SourceId,
    SourceQuery, SqliteStore, Store, StoredCei,
};

use crate::fixtures::{TestStore, n_changes, page as watched_page, simulation, test_store};
use crate::live::{Server, hasty, page, until};
use crate::web::{Fault, Kind, Logged, Web, at, random_changes};

const A: &str = "http://a.test/";
const B: &str = "http://b.test/";

fn all(store: &dyn Store) -> Vec<StoredCei> {
    store.ceis(&CeiQuery { after: None, state: None, limit: 1_000_000 }).unwrap()
}

fn need(intervals: &[(SourceId, i64, i64)], need: u32) -> NewCei {
    let interval = |&(source, start, finish): &(SourceId, i64, i64)| NewInterval {
        source,
        start: at(start),
        finish: at(finish),
    };
    NewCei { intervals: intervals.iter().map(interval).collect(), need, weight: 5.0, created: at(0) }
}

/// The time of an observation.
fn observed_at(store: &dyn Store, source: SourceId, id: i64) -> Time {
    let query = ObservationQuery { source: Some(source), after: None, limit: 1_000_000 };
    store.observations(&query).unwrap().into_iter().find(|observation| observation.id.0 == id).unwrap().at
}

/// Ten minutes of watching these pages, none of which changes.
fn watching<const N: usize>(urls: [&str; N]) -> (TestStore, Simulation<Web>, [SourceId; N]) {
    let test_store = test_store();
    let mut web = Web::default();
    for url in urls {
        web.put(url, Kind::Page, &[]);
    }
    let mut run = simulation(&test_store.store, web, 0);
    let sources = urls.map(|url| run.add_source(watched_page(url)).unwrap());
    run.run_until(at(600));
    (test_store, run, sources)
}

#[test]
fn a_need_is_met_by_probes_within_its_intervals_and_lost_after_them() {
    let (test_store, mut run, [a, b]) = watching([A, B]);
    let both = run.add_cei(need(&[(a, 3_000, 3_600), (b, 5_000, 5_600)], 2)).unwrap();
    let too_late = run.add_cei(need(&[(a, 100, 500)], 1)).unwrap();
    run.run_until(at(4_000));
    let ceis = all(&*test_store.store);
    assert_eq!((ceis[0].id, ceis[0].state), (both, CeiState::Open));
    assert_eq!((ceis[1].id, ceis[1].state), (too_late, CeiState::Lost));
    let captured = ceis[0].intervals[0].captured.expect("the first interval");
    let first = observed_at(&*test_store.store, a, captured.0);
    assert!((at(3_000)..=at(3_700)).contains(&first), "{first:?}");
    run.run_until(at(7_000));
    let ceis = all(&*test_store.store);
    assert_eq!(ceis[0].state, CeiState::Captured);
    assert_eq!(run.stats().ceis_captured, 1);
    assert_eq!((run.stats().ceis_lost, run.stats().ceis_open), (1, 0));
}

/// Needs that are captured and lost, extended and withdrawn, with pages that change and hosts that have to be waited for.
#[test]
fn what_was_chosen_for_needs_is_chosen_again_in_a_replay() {
    let (test_store, mut run, [a, b]) = watching([A, B]);
    run.world().put("http://c.test/", Kind::Page, &random_changes(7, 900.0, 40_000));
    run.world().robots.insert("c.test".to_owned(), (200, "User-agent: *\nCrawl-delay: 120\n".to_owned()));
    let c = run.add_source(watched_page("http://c.test/")).unwrap();
    for number in 0..60 {
        let start = 600 + 600 * number;
        let of = |nth: i64| [a, b, c][usize::try_from((number + nth) % 3).unwrap()];
        // The budget has one probe in a hundred seconds, so no two of the brief ones.
        let lasts = if number % 3 == 0 { 40 } else { 300 };
        let id = run
            .add_cei(need(&[(of(0), start, start + lasts), (of(1), start + 20, start + 20 + lasts)], 2))
            .unwrap();
        run.run_until(at(start + 100));
        match number % 4 {
            0 => {
                let more = NewInterval { source: of(2), start: at(start + 200), finish: at(start + 500) };
                // It may have ended.
                if test_store.store.extend_cei(id, vec![more], 1).is_ok() {
                    run.cei_extended(id);
                }
            }
            1 => run.probe_now(of(2)).unwrap(),
            _ => {}
        }
        run.run_until(at(start + 500));
    }
    let (captured, lost) = (run.stats().ceis_captured, run.stats().ceis_lost);
    assert!(captured > 10 && lost > 5, "{captured} captured, {lost} lost");
    drop(run.stop());
    let entries: Vec<_> =
        dunlin_engine::journal::read(&*test_store.store, None).collect::<Result<_, _>>().unwrap();
    let late = entries
        .iter()
        .filter(|entry| matches!(entry, JournalEntry::Input { input: Input::ProbeBegan { .. }, .. }));
    assert!(late.count() > 0, "no host had to be waited for");
    let replayed = replay(entries).unwrap();
    assert!(replayed.starts == 1 && replayed.probes > 100, "{replayed:?}");
}

/// Its robots.txt is read first, and then asks for a pause that is longer than the interval.
#[test]
fn a_probe_that_begins_after_an_interval_does_not_capture_it_whenever_it_was_chosen() {
    for (delay, state) in [(200, CeiState::Lost), (20, CeiState::Captured)] {
        let (test_store, mut run, _) = watching([A]);
        let finish = 750;
        let rules = format!("User-agent: *\nCrawl-delay: {delay}\n");
        run.world().robots.insert("b.test".to_owned(), (200, rules));
        run.world().put(B, Kind::Page, &[]);
        let b = run.add_source(watched_page(B)).unwrap();
        run.add_cei(need(&[(b, 600, finish)], 1)).unwrap();
        run.run_until(at(1_500));
        let log = &run.world().log;
        let asked: Vec<Time> = log.iter().filter(|own| own.host == "b.test").map(|own| own.at).collect();
        let (chosen, probe) = (asked[0], asked[1]);
        assert!(chosen < at(finish), "its robots.txt is asked for at {chosen:?}");
        let cei = all(&*test_store.store).remove(0);
        assert_eq!(cei.state, state, "the request was sent at {probe:?}");
        assert_eq!(cei.intervals[0].captured.is_some(), probe <= at(finish), "{probe:?}");
        assert_eq!(run.stats().ceis_lost, u64::from(state == CeiState::Lost));
    }
}

#[test]
fn a_probe_that_fails_captures_nothing() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(A, Kind::Page, &[]);
    web.fail(A, 2_000, 4_000, Fault::Status(500));
    let mut run = simulation(&test_store.store, web, 0);
    let a = run.add_source(watched_page(A)).unwrap();
    run.run_until(at(600));
    run.add_cei(need(&[(a, 3_000, 3_600)], 1)).unwrap();
    run.add_cei(need(&[(a, 3_000, 20_000)], 1)).unwrap();
    run.run_until(at(20_000));
    let was_probed = |probe: &Logged| (at(3_000)..at(3_600)).contains(&probe.at) && probe.status == 500;
    assert!(run.world().probes().any(was_probed));
    let [lost, met] = &all(&*test_store.store)[..] else { panic!("two needs") };
    assert_eq!((lost.state, lost.intervals[0].captured), (CeiState::Lost, None));
    let captured = met.intervals[0].captured.expect("when the page was back");
    assert_eq!(met.state, CeiState::Captured);
    assert!(observed_at(&*test_store.store, a, captured.0) >= at(4_000));
}

#[test]
fn a_need_comes_back_after_a_kill_with_what_was_captured() {
    let (test_store, mut run, [a, b]) = watching([A, B]);
    run.add_cei(need(&[(a, 3_000, 3_600), (b, 9_000, 9_600)], 2)).unwrap();
    run.run_until(at(4_000));
    let first = all(&*test_store.store)[0].intervals[0].captured;
    assert!(first.is_some());
    let mut run = simulation(&test_store.store, run.kill(), 4_100);
    run.run_until(at(10_000));
    let cei = all(&*test_store.store).remove(0);
    assert_eq!((cei.state, cei.intervals[0].captured), (CeiState::Captured, first), "not captured twice");
}

#[test]
fn a_need_waits_for_a_paused_source_and_is_lost_when_it_stays_so() {
    let (test_store, mut run, [a]) = watching([A]);
    let pause = |paused| SourceEdit { paused: Some(paused), ..SourceEdit::default() };
    run.edit_source(a, pause(Some(at(600)))).unwrap();
    run.add_cei(need(&[(a, 1_000, 9_000)], 1)).unwrap();
    run.add_cei(need(&[(a, 1_000, 2_000)], 1)).unwrap();
    run.run_until(at(5_000));
    let states = |store: &dyn Store| all(store).iter().map(|cei| cei.state).collect::<Vec<_>>();
    assert_eq!(states(&*test_store.store), [CeiState::Open, CeiState::Lost]);
    run.edit_source(a, pause(None)).unwrap();
    run.run_until(at(9_000));
    assert_eq!(states(&*test_store.store), [CeiState::Captured, CeiState::Lost]);
}

#[test]
fn what_a_source_has_captured_counts_after_it_is_paused() {
    let (test_store, mut run, [a, b]) = watching([A, B]);
    run.add_cei(need(&[(a, 3_000, 3_600), (b, 9_000, 9_600)], 2)).unwrap();
    run.run_until(at(4_000));
    assert!(all(&*test_store.store)[0].intervals[0].captured.is_some());
    run.edit_source(a, SourceEdit { paused: Some(Some(at(4_000))), ..SourceEdit::default() }).unwrap();
    run.run_until(at(10_000));
    assert_eq!(all(&*test_store.store)[0].state, CeiState::Captured);
}

/// Two sources, and a need of an interval on each; the first is being probed for it now.
fn while_the_first_is_probed(need_of: u32) -> (TestStore, Simulation<Web>, [SourceId; 2], CeiId) {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(A, Kind::Page, &[]);
    web.put(B, Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    let [a, b] = [A, B].map(|url| run.add_source(watched_page(url)).unwrap());
    run.run_until(at(600));
    let id = run.add_cei(need(&[(a, 3_000, 3_120), (b, 5_000, 5_600)], need_of)).unwrap();
    for milli in 0..120_000 {
        run.run_until(at(2_999).plus(Duration::from_millis(milli)));
        if run.stats().in_flight > 0 {
            return (test_store, run, [a, b], id);
        }
    }
    panic!("no probe begins");
}

#[test]
fn a_probe_under_way_counts_when_another_source_of_the_need_is_edited_or_paused() {
    let pause = |paused| SourceEdit { paused: Some(paused), ..SourceEdit::default() };
    let weight = SourceEdit { weight: Some(2.0), ..SourceEdit::default() };
    for edits in [vec![weight], vec![pause(Some(at(3_000))), pause(None)]] {
        let (test_store, mut run, [_, b], _) = while_the_first_is_probed(2);
        edits.into_iter().for_each(|edit| run.edit_source(b, edit).unwrap());
        // The probe ends, and the budget has none for another one within the interval.
        run.run_until(at(3_120));
        assert!(all(&*test_store.store)[0].intervals[0].captured.is_some());
        run.run_until(at(7_000));
        assert_eq!(all(&*test_store.store)[0].state, CeiState::Captured);
    }
}

#[test]
fn a_need_can_be_extended_during_and_after_the_probe_that_would_have_met_it() {
    let more = |b| vec![NewInterval { source: b, start: at(8_000), finish: at(8_600) }];
    for told_at in [None, Some(3_120), Some(4_000)] {
        let (test_store, mut run, [_, b], id) = while_the_first_is_probed(1);
        test_store.store.extend_cei(id, more(b), 1).unwrap();
        told_at.into_iter().for_each(|second| run.run_until(at(second)));
        run.cei_extended(id);
        run.run_until(at(4_500));
        let cei = all(&*test_store.store).remove(0);
        assert_eq!((cei.state, cei.need), (CeiState::Open, 2), "{told_at:?}");
        assert!(cei.intervals[0].captured.is_some(), "{told_at:?}: {cei:?}");
        assert_eq!(run.stats().ceis_open, 1, "{told_at:?}");
        run.run_until(at(9_000));
        let cei = all(&*test_store.store).remove(0);
        assert_eq!(cei.state, CeiState::Captured, "{told_at:?}");
        assert_eq!(cei.intervals.iter().filter(|own| own.captured.is_some()).count(), 2, "{told_at:?}");
    }
}

#[test]
fn a_need_that_was_withdrawn_does_not_come_back_by_an_extension() {
    let (test_store, mut run, [_, b], id) = while_the_first_is_probed(2);
    let more = vec![NewInterval { source: b, start: at(8_000), finish: at(8_600) }];
    test_store.store.extend_cei(id, more, 1).unwrap();
    test_store.store.end_ceis(vec![(id, CeiState::Withdrawn)], at(3_000)).unwrap();
    run.cei_extended(id);
    run.run_until(at(9_000));
    assert_eq!(all(&*test_store.store)[0].intervals[1].captured, None);
}

#[tokio::test]
async fn a_need_is_extended_and_withdrawn_while_running() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/one", "200 OK", "<p>One</p>");
    let on_demand =
        Settings { shortest_gap: Duration::from_millis(50), longest_gap: Duration::from_hours(9), ..hasty() };
    let engine = Engine::start(test_store.store.clone(), on_demand).await.unwrap();
    let handle = engine.handle();
    let source = handle.add_source(page(server.url("/one"))).await.unwrap().id;
    let now = clock::now();
    let soon = NewInterval { source, start: now, finish: now.plus(Duration::from_mins(5)) };
    let never = NewInterval {
        source,
        start: now.plus(Duration::from_hours(5)),
        finish: now.plus(Duration::from_hours(6)),
    };
    let new = |intervals: Vec<NewInterval>| NewCei {
        need: intervals.len() as u32,
        intervals,
        weight: 1.0,
        created: now,
    };
    let met = handle.add_cei(new(vec![soon])).await.unwrap();
    let extended = handle.add_cei(new(vec![soon, never])).await.unwrap();
    handle.extend_cei(extended, vec![never], 1).await.unwrap();
    let state = |id: CeiId| all(&*test_store.store).into_iter().find(|cei| cei.id == id).unwrap();
    until("the first to be captured", || state(met).state == CeiState::Captured).await;
    until("an interval of the second", || state(extended).intervals[0].captured.is_some()).await;
    assert_eq!((state(extended).state, state(extended).need), (CeiState::Open, 3));
    handle.withdraw_cei(extended).await.unwrap();
    assert_eq!(state(extended).state, CeiState::Withdrawn);
    assert!(handle.extend_cei(met, vec![never], 1).await.is_err(), "it has ended");
    engine.stop().await.unwrap();
}

const DIRECTORY: &str = "DUNLIN_ENGINE_CRASH_DIRECTORY";
const ROUNDS: u32 = 50;
const SOURCES: usize = 6;
/// Of so many needs, one has intervals that are over at once: it is captured only if a probe happens to begin just then.
const BRIEF: usize = 4;

/// The process to be killed: watches a few pages of its own that change, and takes on more and more needs. As a test of its own
/// it has nothing to do.
#[tokio::test]
async fn takes_on_needs_until_it_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let is_last = std::env::var_os(LAST_ROUND).is_some();
    let store = Arc::new(SqliteStore::open(Path::new(&directory)).unwrap());
    let server = Server::start().await;
    let engine = Engine::start(Arc::clone(&store) as Arc<dyn Store>, hasty()).await.unwrap();
    let handle = engine.handle();
    let mut sources: Vec<SourceId> =
        store.sources(&SourceQuery::first(100)).unwrap().iter().map(|source| source.id).collect();
    for number in 0..SOURCES {
        // The port is another one in every run.
        let url = server.url(&format!("/{number}"));
        server.put(&format!("/{number}"), "200 OK", "<p>Nothing new</p>");
        if let Some(id) = sources.get(number) {
            let edit = SourceEdit { url: Some(url), ..SourceEdit::default() };
            handle.edit_source(*id, edit).await.unwrap();
        } else {
            // It says when it was edited last.
            let recipe = r#"{"flicker":"tell"}"#.to_owned();
            sources.push(handle.add_source(NewSource { recipe, ..page(url) }).await.unwrap().id);
        }
    }
    if is_last {
        let open = CeiQuery { after: None, state: Some(CeiState::Open), limit: 1 };
        let mut nth = 0;
        let is_all_over = || {
            // The pages go on changing, and are watched for that too.
            nth += 1;
            let edition = format!("<p>The edition of {}, no. {nth}</p>", clock::rfc3339(clock::now()));
            server.put(&format!("/{}", nth % SOURCES), "200 OK", &edition);
            store.ceis(&open).unwrap().is_empty() && n_changes(&*store) >= i64::try_from(SOURCES).unwrap()
        };
        until("all needs to end, and pages to change", is_all_over).await;
        engine.stop().await.unwrap();
        return;
    }
    for number in 0_usize.. {
        let now = clock::now();
        let is_brief = number % BRIEF == BRIEF - 1;
        let interval = |nth: usize| {
            let start = now.plus(Duration::from_millis(20 * nth as u64));
            let lasts = if is_brief { Duration::from_millis(1) } else { LONG };
            NewInterval { source: sources[(number + nth) % SOURCES], start, finish: start.plus(lasts) }
        };
        let edition = clock::rfc3339(now);
        server.put(&format!("/{}", number % SOURCES), "200 OK", &format!("<p>The edition of {edition}</p>"));
        let intervals: Vec<_> = (0..=number % 3).map(interval).collect();
        let cei = NewCei { need: intervals.len() as u32, intervals, weight: 1.0, created: now };
        let id = handle.add_cei(cei).await.unwrap();
        writeln!(std::io::stdout().lock(), "promised {id}").unwrap();
    }
}

/// Enough for all fifty rounds.
const LONG: Duration = Duration::from_mins(30);

const LAST_ROUND: &str = "DUNLIN_ENGINE_CRASH_LAST";

/// Runs the process until it has promised that much, kills it, and returns all it has promised.
fn run_and_kill(directory: &Path, after: usize) -> Vec<CeiId> {
    let mut child = process(directory).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let (mut promised, mut line, mut is_killed) = (Vec::new(), String::new(), false);
    while output.read_line(&mut line).unwrap() > 0 {
        let id = line.strip_suffix('\n').and_then(|line| line.split_once("promised ")?.1.parse().ok());
        promised.extend(id.map(CeiId));
        line.clear();
        if !is_killed && promised.len() >= after {
            child.kill().unwrap();
            is_killed = true;
        }
    }
    assert!(!child.wait().unwrap().success() && is_killed, "it ended by itself");
    promised
}

fn process(directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["ceis::takes_on_needs_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory);
    command
}

#[test]
fn fifty_kills_forget_no_need_and_end_none_twice() {
    let directory = tempfile::tempdir().unwrap();
    let mut promised = BTreeSet::new();
    // What was captured once stays captured by the same observation.
    let mut captured: BTreeMap<(CeiId, usize), i64> = BTreeMap::new();
    // What has ended stays as it is.
    let mut ended: BTreeMap<CeiId, CeiState> = BTreeMap::new();
    for round in 0..ROUNDS {
        promised.extend(run_and_kill(directory.path(), 1 + (round as usize * 7) % 23));
        let store = SqliteStore::open(directory.path()).unwrap();
        for cei in all(&store) {
            if cei.state != CeiState::Open || ended.contains_key(&cei.id) {
                assert_eq!(*ended.entry(cei.id).or_insert(cei.state), cei.state, "round {round}: {cei:?}");
            }
            for (position, interval) in cei.intervals.iter().enumerate() {
                let Some(by) = interval.captured else {
                    assert!(!captured.contains_key(&(cei.id, position)), "round {round}: {cei:?}");
                    continue;
                };
                assert_eq!(
                    *captured.entry((cei.id, position)).or_insert(by.0),
                    by.0,
                    "round {round}: {cei:?}"
                );
            }
        }
    }
    assert!(process(directory.path()).env(LAST_ROUND, "1").stdout(Stdio::null()).status().unwrap().success());
    let store = SqliteStore::open(directory.path()).unwrap();
    assert!(store.check(Depth::Everything).unwrap().is_sound());
    let ceis = all(&store);
    let known: BTreeSet<CeiId> = ceis.iter().map(|cei| cei.id).collect();
    assert!(promised.is_subset(&known), "a need that was promised is gone");
    let all_observations = ObservationQuery { source: None, after: None, limit: 10_000_000 };
    let observations: BTreeMap<i64, (SourceId, Time)> = store
        .observations(&all_observations)
        .unwrap()
        .into_iter()
        .map(|observation| (observation.id.0, (observation.source, observation.at)))
        .collect();
    let mut n_lost = 0;
    for cei in &ceis {
        let is_long = cei.intervals.iter().all(|own| own.interval.finish.since(own.interval.start) == LONG);
        for interval in cei.intervals.iter().filter(|interval| interval.captured.is_some()) {
            let (source, at) = observations[&interval.captured.unwrap().0];
            assert_eq!(source, interval.interval.source);
            assert!(at >= interval.interval.start, "captured by a probe before it began: {cei:?}");
        }
        let n_captured = cei.intervals.iter().filter(|interval| interval.captured.is_some()).count();
        if cei.state == CeiState::Lost {
            assert!(!is_long && n_captured < cei.need as usize, "half an hour was enough: {cei:?}");
            n_lost += 1;
        } else {
            assert_eq!((cei.state, n_captured), (CeiState::Captured, cei.need as usize), "{cei:?}");
        }
    }
    assert!(ceis.len() > 200 && n_lost > 20, "{} needs, {n_lost} of them lost", ceis.len());
    assert!(n_changes(&store) >= i64::try_from(SOURCES).unwrap(), "{} changes", n_changes(&store));
}
