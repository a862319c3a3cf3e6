//! More than fits into one page of the API or of the store: commands go on until they have all, and no further.

use dunlin_core::Time;
use dunlin_store::{Capture, NewChange, NewSource, Outcome, ProbeId, SourceEdit, SqliteStore, Store};

use crate::run::Desk;
use crate::running::Running;

/// One and a bit pages of paused sources, and two and a bit of changes.
const N_SOURCES: i64 = 1_003;
const N_CHANGES: i64 = 2_005;

fn filled(desk: &Desk) {
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = Time::from_seconds(1_700_000_000);
    for n in 0..N_SOURCES {
        let id = store.add_source(NewSource::page(format!("https://{n}.example/"), at)).unwrap();
        let pause = SourceEdit { paused: Some(Some(at)), ..SourceEdit::default() };
        store.edit_source(id, pause).unwrap();
        if n == 0 {
            let mut capture = Capture::bare(id, ProbeId(1), at, Outcome::Changed);
            let change = |n| NewChange {
                kind: "added".to_owned(),
                item: None,
                summary: format!("change {n}"),
                detail: Vec::new(),
                happened_after: None,
                happened_before: at,
            };
            capture.changes = (1..=N_CHANGES).map(change).collect();
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
    let told = desk.run("changes --data data --last 7");
    assert!(told.stderr.contains("these are the newest"), "{}", told.stderr);
    let told = desk.run("changes --data data --last 1000 --source 2");
    assert!(!told.stderr.contains("these are the newest"), "{}", told.stderr);
}

#[test]
fn commands_read_page_after_page() {
    let desk = Desk::new();
    filled(&desk);
    all_is_listed(&desk);
    // By the address that stands for all addresses of this machine, commands reach it too.
    let mut running = Running::start(&desk, "serve --data data --listen 0.0.0.0:0");
    running.line_with("Ctrl-C stops it");
    all_is_listed(&desk);
    let reached = desk.run("doctor --data data");
    assert!(reached.stdout.contains("is well and answers on 127.0.0.1:"), "{}", reached.stdout);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}
