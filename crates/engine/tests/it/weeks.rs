//! Long runs: what is captured of a web that changes unevenly, within the budget, without losing or doubling anything,
//! and in a way that can be replayed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use dunlin_engine::Strategy;
use dunlin_engine::journal::{ProbeFigures, read};
use dunlin_engine::simulated::Simulation;
use dunlin_sched::scheduler::Input;
use dunlin_sched::scheduler::journal::{JournalEntry, replay};
use dunlin_store::{DecisionQuery, Store};

use crate::fixtures::{TestStore, all_changes, feed, n_changes, page, settings, test_store};
use crate::polite::assert_gaps;
use crate::web::{Kind, Web, at, random_changes};

const DAY: i64 = 86_400;
const N_PAGES: u64 = 60;

/// Sixty pages on twenty hosts: a third changes every half hour, a third every day, a third nearly never.
fn uneven_web(days: i64) -> Web {
    let mut web = Web::default();
    for n in 0..N_PAGES {
        let every = [1_800.0, 86_400.0, 2_000_000.0][(n % 3) as usize];
        web.put(&url(n), Kind::Page, &random_changes(n + 1, every, days * DAY));
    }
    web
}

fn url(n: u64) -> String {
    format!("http://h{}.example/p{n}", n % 20)
}

fn run(test_store: &TestStore, strategy: Strategy, days: i64) -> Simulation<Web> {
    let mut settings = settings();
    settings.chronon = Duration::from_mins(1);
    settings.budget.per_second = 1.0 / 120.0;
    settings.longest_gap = Duration::from_hours(48);
    settings.strategy = strategy;
    let mut run = Simulation::new(test_store.store.clone(), settings, uneven_web(days), at(0)).unwrap();
    for n in 0..N_PAGES {
        run.add_source(page(&url(n))).unwrap();
    }
    run.run_until(at(days * DAY));
    run
}

#[test]
fn learning_captures_more_than_taking_turns_within_the_same_budget() {
    let days = 7;
    let mut captured = Vec::new();
    for strategy in [Strategy::Learned, Strategy::RoundRobin] {
        let (test_store, begin) = (test_store(), Instant::now());
        let mut run = run(&test_store, strategy, days);
        let changes = all_changes(&*test_store.store);
        let n_probes = run.world().probes().count();
        println!(
            "{strategy:?}: {} changes by {n_probes} probes, {:?} for {days} days",
            changes.len(),
            begin.elapsed()
        );
        // Reported once each: a page says which edition it is.
        let reported: BTreeSet<_> =
            changes.iter().map(|change| (change.source, change.found.summary.clone())).collect();
        assert_eq!(reported.len(), changes.len());
        n_changes(&*test_store.store);
        assert_gaps(&run.world().log, 10);
        let probes: Vec<_> = run.world().probes().map(|logged| logged.at).collect();
        assert_budget(&probes);
        captured.push((changes.len(), n_probes));
    }
    let [(learned, learned_probes), (turns, turns_probes)] = captured[..] else { unreachable!() };
    assert!(learned_probes <= turns_probes * 11 / 10, "{learned_probes} probes against {turns_probes}");
    assert!(learned * 10 >= turns * 12, "learned {learned}, in turns {turns}");
}

#[test]
fn planning_captures_more_than_taking_turns_within_the_same_budget() {
    let (days, cam) = (3, Strategy::Cam { epoch: Duration::from_hours(1) });
    let captured = [cam, Strategy::RoundRobin].map(|strategy| {
        let test_store = test_store();
        let mut run = run(&test_store, strategy, days);
        assert_gaps(&run.world().log, 10);
        let (n_changes, n_probes) = (all_changes(&*test_store.store).len(), run.world().probes().count());
        println!("{strategy:?}: {n_changes} changes by {n_probes} probes");
        drop(run.stop());
        assert_decided_within_budget(&read(&*test_store.store, None).collect::<Result<Vec<_>, _>>().unwrap());
        n_changes
    });
    let [planned, turns] = captured;
    assert!(planned * 10 >= turns * 12, "planned {planned}, in turns {turns}");
}

/// In every window at most what is granted in it and the burst: a chronon's half probe and one more. Counted where probes are
/// decided on: one for which robots.txt has to be read first reaches its host some chronons later, beside others.
fn assert_decided_within_budget(entries: &[JournalEntry]) {
    let mut decided = Vec::new();
    for entry in entries {
        match entry {
            JournalEntry::Chose { at, resources, .. } => {
                decided.extend(resources.iter().map(|resource| (*at, *resource)));
            }
            JournalEntry::Input {
                input: Input::ProbeReturned { resource } | Input::ProbePostponed { resource, .. },
                ..
            } => {
                let returned = decided.iter().rposition(|(_, chosen)| chosen == resource).unwrap();
                decided.remove(returned);
            }
            _ => {}
        }
    }
    assert!(decided.len() > 1_000, "{}", decided.len());
    for minutes in [2_u32, 10, 60, 600] {
        let window = Duration::from_mins(u64::from(minutes));
        for (first, (begin, _)) in decided.iter().enumerate() {
            let n_within = decided[first..].iter().take_while(|(at, _)| at.since(*begin) < window).count();
            assert!(n_within as u32 <= minutes / 2 + 1, "{n_within} probes decided on in {minutes} minutes");
        }
    }
}

/// At most one probe per 120 s and a burst of one, in every window.
fn assert_budget(probes: &[dunlin_core::Time]) {
    for minutes in [2_u32, 10, 60, 600] {
        let window = Duration::from_mins(u64::from(minutes));
        let mut first = 0;
        for (last, at) in probes.iter().enumerate() {
            while at.since(probes[first]) >= window {
                first += 1;
            }
            let n_within = last - first + 1;
            assert!(n_within as u32 <= minutes / 2 + 1, "{n_within} probes in {minutes} minutes");
        }
    }
}

#[test]
fn a_stored_journal_replays_to_the_same_probes() {
    replays(Strategy::Learned);
}

#[test]
fn a_journal_of_plans_replays_too() {
    replays(Strategy::Cam { epoch: Duration::from_mins(37) });
}

fn replays(strategy: Strategy) {
    let test_store = test_store();
    let mut simulation = run(&test_store, strategy, 3);
    let n_probes = simulation.stats().probes;
    let order: Vec<String> = simulation.world().probes().map(|logged| logged.path.clone()).collect();
    drop(simulation.stop());
    let entries: Vec<JournalEntry> = read(&*test_store.store, None).collect::<Result<_, _>>().unwrap();
    let replayed = replay(entries.clone()).unwrap();
    assert_eq!(replayed.starts, 1);
    assert!(replayed.probes >= n_probes, "{replayed:?}");
    // One row for each probe, in the order of the requests, each with a number of its own and a reason.
    let rows = test_store.store.decisions(&DecisionQuery::first(1_000_000)).unwrap();
    let rows: Vec<_> = rows.into_iter().filter(|row| row.decision.source.is_some()).collect();
    let paths: Vec<String> =
        rows.iter().map(|row| format!("/p{}", row.decision.source.unwrap().0 - 1)).collect();
    assert_eq!(paths, order);
    let probes: BTreeSet<_> =
        rows.iter().map(|row| ProbeFigures::read(&row.decision).unwrap().probe).collect();
    assert_eq!(probes.len() as u64, n_probes);
    assert!(rows.iter().all(|row| !row.decision.reason.is_empty()));

    // Without its beginning a run cannot be replayed, and that is not silent.
    let passed_over = replay(entries.iter().skip(1).cloned()).unwrap();
    assert_eq!((passed_over.starts, passed_over.probes), (0, 0));
    assert_eq!(passed_over.passed_over, replayed.probes);

    // A journal in which one thing is missing does not replay: the test would notice.
    let is_probed =
        |entry: &JournalEntry| matches!(entry, JournalEntry::Input { input: Input::Probed { .. }, .. });
    let mut damaged = entries;
    let first = damaged.iter().position(is_probed).unwrap();
    damaged.remove(first);
    assert!(replay(damaged).is_err());
}

#[test]
fn the_same_run_twice_is_the_same_run() {
    let (one, two) = (test_store(), test_store());
    let mut first = run(&one, Strategy::Learned, 1);
    let mut second = run(&two, Strategy::Learned, 1);
    assert_eq!(first.world().log, second.world().log);
    assert_eq!(all_changes(&*one.store), all_changes(&*two.store));
}

#[test]
fn killed_and_stopped_again_and_again_nothing_is_lost_or_doubled() {
    let test_store = test_store();
    let mut web = Web::default();
    for n in 0..8_u64 {
        web.put(&url(n), Kind::Feed(100), &random_changes(n + 1, 3_600.0, 5 * DAY));
    }
    let expected: usize = web
        .sites
        .values()
        .map(|site| site.changes.iter().filter(|at| **at > crate::web::at(7_200)).count())
        .sum();
    let mut run = Simulation::new(test_store.store.clone(), settings(), web, at(0)).unwrap();
    for n in 0..8 {
        run.add_source(feed(&url(n))).unwrap();
    }
    // The first probes are the baseline of later ones.
    run.run_until(at(7_200));
    let n_first = all_changes(&*test_store.store).len();
    let told_first: usize = run
        .world()
        .sites
        .values()
        .map(|site| site.changes.iter().filter(|time| **time <= at(7_200)).count())
        .sum();
    assert!(n_first <= told_first);
    let mut starts = 1;
    for n in 1..40_i64 {
        // At odd moments, so that some die during a probe.
        let moment = at(7_200 + n * 10_007);
        run.run_until(moment);
        let web = if n % 3 == 0 { run.stop() } else { run.kill() };
        let later = moment.plus(Duration::from_secs(30));
        run = Simulation::new(test_store.store.clone(), settings(), web, later).unwrap();
        starts += 1;
    }
    run.run_until(at(6 * DAY));
    let changes = all_changes(&*test_store.store);
    let reported: BTreeSet<_> =
        changes.iter().map(|change| (change.source, change.found.item.clone())).collect();
    assert_eq!(reported.len(), changes.len(), "reported twice");
    n_changes(&*test_store.store);
    assert!(changes.len() >= n_first + expected, "{} of {}", changes.len(), n_first + expected);
    assert_gaps(&run.world().log, 10);
    drop(run.stop());
    let entries: Vec<JournalEntry> = read(&*test_store.store, None).collect::<Result<_, _>>().unwrap();
    assert_eq!(replay(entries).unwrap().starts, starts);
}
