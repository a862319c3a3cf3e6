//! Killed at any moment, fifty times: no acknowledged change is lost, none is doubled, cursors have no holes, and
//! the politeness remembered is that of the last capture.
//!
//! The process that writes is this test binary once more. It prints each acknowledgement; the test reads a
//! pseudo-random number of them and then kills it, without any waiting for time to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dunlin_store::{
    Capture, Depth, Note, ObservationQuery, Politeness, Repeated, SourceId, SourceQuery, SqliteStore, Store,
};

use crate::fixtures::{self, Numbers};

const ROUNDS: u32 = 50;
const SOURCES: usize = 4;
const DIRECTORY: &str = "DUNLIN_STORE_CRASH_DIRECTORY";

/// Changes of a capture: from none to three, by its number.
const fn n_changes(number: u64) -> u64 {
    number % 4
}

fn scope(source: SourceId) -> String {
    format!("host-{source}")
}

/// The capture of that number, the same every time. Contents follow on each other, so that there are deltas.
fn capture(source: SourceId, number: u64) -> Capture {
    let mut content = Numbers(source.0.cast_unsigned() + 1).bytes(2000);
    content.splice(500..508, number.to_be_bytes());
    let mut capture = fixtures::news(source, number, &content);
    capture.changes = (0..n_changes(number))
        .map(|index| fixtures::change(&format!("{source} {number} {index}"), capture.at))
        .collect();
    capture.items = Some((number..number + 3).map(|key| fixtures::item(&key.to_string(), "item")).collect());
    capture.messages = vec![fixtures::message(&format!("{source} {number}"))];
    capture.notes = vec![Note { name: "last".to_owned(), value: number.to_be_bytes().to_vec() }];
    capture.politeness = vec![Politeness { scope: scope(source), state: number.to_be_bytes().to_vec() }];
    capture
}

/// The last capture of each source, by the politeness it left.
fn last_numbers(store: &SqliteStore) -> BTreeMap<SourceId, u64> {
    let remembered: BTreeMap<String, Vec<u8>> =
        store.politeness().unwrap().into_iter().map(|about| (about.scope, about.state)).collect();
    let sources = store.sources(&SourceQuery::first(100)).unwrap();
    let number = |source| {
        let state = remembered.get(&scope(source))?;
        Some((source, u64::from_be_bytes(state.as_slice().try_into().unwrap())))
    };
    sources.iter().filter_map(|source| number(source.id)).collect()
}

/// The process to be killed. As a test of its own it has nothing to do.
#[test]
fn writes_until_it_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let store = SqliteStore::open(Path::new(&directory)).unwrap();
    while store.sources(&SourceQuery::first(100)).unwrap().len() < SOURCES {
        store.add_source(fixtures::source("a")).unwrap();
    }
    let last = last_numbers(&store);
    std::thread::scope(|threads| {
        for source in (1..).map(SourceId).take(SOURCES) {
            let first = last.get(&source).copied();
            let store = &store;
            threads.spawn(move || write(store, source, first));
        }
    });
}

/// Goes on from the last capture that was stored, which it records once more: a process killed before the answer
/// cannot know whether it was stored, and has to.
fn write(store: &SqliteStore, source: SourceId, last: Option<u64>) {
    if let Some(last) = last {
        assert_eq!(store.record_capture(capture(source, last)).unwrap().repeated, Repeated::Yes);
    }
    for number in last.map_or(0, |last| last + 1).. {
        let recorded = store.record_capture(capture(source, number)).unwrap();
        let (first, last) = recorded.cursors.map_or((0, 0), |(first, last)| (first.0, last.0));
        // One write of a whole line, so that the lines of several threads do not mix.
        let line = format!("acknowledged {source} {number} {first} {last}\n");
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

#[derive(Clone, Copy)]
struct Acknowledged {
    source: SourceId,
    number: u64,
    first: i64,
    last: i64,
}

fn parse(line: &str) -> Option<Acknowledged> {
    // The test harness may have written something at the beginning of the line.
    let (_, fields) = line.strip_suffix('\n')?.split_once("acknowledged ")?;
    let fields: Vec<i64> = fields.split(' ').map(|field| field.parse().unwrap()).collect();
    let [source, number, first, last] = fields.try_into().ok()?;
    Some(Acknowledged { source: SourceId(source), number: number.cast_unsigned(), first, last })
}

/// Starts the writer, reads that many acknowledgements, kills it, and returns everything it printed.
fn run_and_kill(directory: &Path, after: u64) -> Vec<Acknowledged> {
    let mut writer: Child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::writes_until_it_is_killed", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(writer.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut killed = false;
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        acknowledged.extend(parse(&line));
        line.clear();
        if !killed && acknowledged.len() as u64 >= after {
            writer.kill().unwrap();
            killed = true;
        }
    }
    let status = writer.wait().unwrap();
    assert!(killed && !status.success(), "the writer ended by itself: {status}");
    acknowledged
}

/// Everything that must hold for a store whose writer was killed, given all that was ever acknowledged.
fn examine(store: &SqliteStore, acknowledged: &[Acknowledged]) {
    let findings = store.check(Depth::Sample(50)).unwrap();
    assert!(findings.is_sound(), "{findings:?}");

    let changes = fixtures::all_changes(store);
    let cursors = changes.iter().map(|change| change.cursor.0);
    assert!(cursors.eq((1..).take(changes.len())), "cursors have holes");
    let told: BTreeSet<&str> = changes.iter().map(|change| change.found.summary.as_str()).collect();
    assert_eq!(told.len(), changes.len(), "a change is doubled");

    // Captures are whole: up to the last one, each source has all changes, observations and messages of each.
    let last = last_numbers(store);
    let numbers = || last.iter().flat_map(|(source, last)| (0..=*last).map(|number| (*source, number)));
    for (source, number) in numbers() {
        for index in 0..n_changes(number) {
            assert!(
                told.contains(format!("{source} {number} {index}").as_str()),
                "{source} {number} {index}"
            );
        }
    }
    assert_eq!(changes.len() as u64, numbers().map(|(_, number)| n_changes(number)).sum::<u64>());
    let statistics = store.statistics().unwrap();
    let captures = numbers().count() as u64;
    assert_eq!(
        (statistics.observations, statistics.messages, statistics.versions),
        (captures, captures, captures)
    );
    for (source, last) in &last {
        let newest = store.newest_version(*source).unwrap().unwrap();
        let expected = capture(*source, *last).version.unwrap().content;
        assert!(store.content(newest.id).unwrap() == expected, "the content of {source} is not its last one");
        assert_eq!(store.notes(*source).unwrap(), capture(*source, *last).notes);
        let query = ObservationQuery { source: Some(*source), after: None, limit: u32::MAX };
        let probes = store.observations(&query).unwrap().into_iter().map(|seen| seen.probe.0);
        assert!(probes.eq(0..=*last), "observations of {source} are missing or doubled");
    }

    // What was acknowledged is there, under the cursors that were returned.
    for one in acknowledged {
        assert!(last[&one.source] >= one.number, "politeness of {} is older than acknowledged", one.source);
        for (index, cursor) in (one.first..=one.last).filter(|cursor| *cursor > 0).enumerate() {
            let summary = &changes[usize::try_from(cursor).unwrap() - 1].found.summary;
            assert_eq!(summary, &format!("{} {} {index}", one.source, one.number));
        }
    }
}

#[test]
fn killed_fifty_times_it_loses_and_doubles_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(2026);
    let mut acknowledged: Vec<Acknowledged> = Vec::new();
    for round in 0..ROUNDS {
        // Often early, to hit the opening and the first commits; sometimes late, to hit checkpoints.
        let after = 1 + if round % 5 == 0 { numbers.next() % 600 } else { numbers.next() % 60 };
        acknowledged.extend(run_and_kill(directory.path(), after));
        // A reader must find the same in what a killed writer left as the next writer does.
        if round % 2 == 0 {
            examine(&SqliteStore::open_read_only(directory.path()).unwrap(), &acknowledged);
        }
        examine(&SqliteStore::open(directory.path()).unwrap(), &acknowledged);
    }
    let store = SqliteStore::open(directory.path()).unwrap();
    assert!(store.check(Depth::Everything).unwrap().is_sound());
    println!(
        "killed {ROUNDS} times: {} captures acknowledged, {} stored, {} changes",
        acknowledged.len(),
        store.statistics().unwrap().observations,
        store.cursor_range().unwrap().newest
    );
}
