//! More than fits into one page of the API or of the store: commands go on until they have all, and no further.

use dunlin_core::Time;
use dunlin_store::{
    Capture, NewChange, NewSource, NewVersion, Outcome, ProbeId, Retention, SourceEdit, SqliteStore, Store,
};
use serde_json::json;

use crate::run::Desk;
use crate::running::Running;

/// One and a bit pages of paused sources, and two and a bit of changes.
const N_SOURCES: i64 = 1_003;
const N_CHANGES: i64 = 2_005;

fn change(n: i64, at: Time) -> NewChange {
    NewChange {
        kind: "added".to_owned(),
        item: None,
        summary: format!("change {n}"),
        detail: Vec::new(),
        happened_after: None,
        happened_before: at,
    }
}

fn filled(desk: &Desk) {
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = Time::from_seconds(1_700_000_000);
    for n in 0..N_SOURCES {
        let id = store.add_source(NewSource::page(format!("https://{n}.example/"), at)).unwrap();
        let pause = SourceEdit { paused: Some(Some(at)), ..SourceEdit::default() };
        store.edit_source(id, pause).unwrap();
        if n == 0 {
            let mut capture = Capture::bare(id, ProbeId(1), at, Outcome::Changed);
            capture.changes = (1..=N_CHANGES).map(|n| change(n, at)).collect();
            store.record_capture(capture).unwrap();
        }
    }
}

fn all_is_listed(desk: &Desk) {
    let sources = desk.json("sources --data data --json");
    assert_eq!(i64::try_from(sources["sources"].as_array().unwrap().len()), Ok(N_SOURCES));
    for (args, first, n) in [
        ("--limit 1500", 1, 1_500),
        ("--limit 1000", 1, 1_000),
        ("--limit 9999", 1, N_CHANGES),
        ("--after 1000 --limit 1002", 1_001, 1_002),
        ("--last 7", N_CHANGES - 6, 7),
    ] {
        let page = desk.json(&format!("changes --data data --json {args}"));
        let cursors: Vec<i64> = page["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| change["cursor"].as_i64().unwrap())
            .collect();
        assert_eq!(cursors, (first..first + n).collect::<Vec<_>>(), "{args}");
        assert_eq!(page["next"], first + n - 1, "{args}");
    }
    let exported = desk.run("export changes --data data").stdout;
    assert_eq!(i64::try_from(exported.lines().count()), Ok(N_CHANGES));
    let reported = desk.run("changes --data data --last 7");
    assert!(reported.stderr.contains("these are the newest"), "{}", reported.stderr);
    let reported = desk.run("changes --data data --last 1000 --source 2");
    assert!(!reported.stderr.contains("these are the newest"), "{}", reported.stderr);
}

/// What was removed before it was read is an error that says where to go on, from a service and from its directory.
#[test]
fn changes_that_were_removed_are_not_passed_over_in_silence() {
    let desk = Desk::new();
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = |seconds: i64| Time::from_seconds(1_700_000_000 + seconds);
    let id = store.add_source(NewSource::page("https://news.example/", at(0))).unwrap();
    store.edit_source(id, SourceEdit { paused: Some(Some(at(0))), ..SourceEdit::default() }).unwrap();
    for n in 1..=6_i64 {
        let mut capture = Capture::bare(id, ProbeId(n.cast_unsigned()), at(n), Outcome::Changed);
        capture.changes = vec![change(n, capture.at)];
        store.record_capture(capture).unwrap();
    }
    store.prune(Retention { changes_before: Some(at(4)), ..Retention::default() }).unwrap();
    drop(store);
    let is_told = |desk: &Desk| {
        let done = desk.run("changes --data data --after 1 --json");
        assert_eq!(done.code, 2, "{}", done.stdout);
        assert!(
            done.stderr.contains("have been removed") && done.stderr.contains("after=3"),
            "{}",
            done.stderr
        );
        let page = desk.json("changes --data data --after 3 --json");
        assert_eq!(page["changes"].as_array().unwrap().len(), 3);
        let reported = desk.run("tail --data data --after 1 --count 3 --json");
        assert_eq!((reported.code, reported.stdout.lines().count()), (0, 3), "{}", reported.stderr);
        assert!(reported.stderr.contains("some changes were removed"), "{}", reported.stderr);
    };
    is_told(&desk);
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("Ctrl-C stops it");
    is_told(&desk);
}

#[test]
fn commands_read_page_after_page() {
    let desk = Desk::new();
    filled(&desk);
    all_is_listed(&desk);
    // By the wildcard address, commands reach it too.
    let mut running = Running::start(&desk, "serve --data data --listen 0.0.0.0:0");
    running.line_with("Ctrl-C stops it");
    all_is_listed(&desk);
    let reached = desk.run("doctor --data data");
    assert!(reached.stdout.contains("is well and answers on 127.0.0.1:"), "{}", reached.stdout);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn a_version_is_compared_with_the_one_before_it_however_many_came_since() {
    let desk = Desk::new();
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = Time::from_seconds(1_700_000_000);
    let source = store.add_source(NewSource::page("https://a.example/", at)).unwrap();
    for n in 1..=40 {
        let mut capture = Capture::bare(source, ProbeId(n), at, Outcome::Changed);
        let content = format!("<p>Number {n}</p>").into_bytes();
        capture.version = Some(NewVersion { content, media_type: "text/html".to_owned() });
        store.record_capture(capture).unwrap();
    }
    drop(store);
    for (version, against) in [(40, Some(39)), (39, Some(38)), (20, Some(19)), (2, Some(1)), (1, None)] {
        let report = desk.json(&format!("diff v{version} --data data --json"));
        assert_eq!((&report["version"], &report["against"]), (&json!(version), &json!(against)));
    }
}
