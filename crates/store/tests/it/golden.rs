//! Databases of every schema there has been, as texts of SQL. Each must open, be brought up to date, and read as it
//! did. A new schema adds a file and a row here, and leaves the old ones alone.

use dunlin_store::{
    CapturedInterval, CeiQuery, CeiState, Depth, FoundAs, Health, InstanceEnd, InstanceId, InstanceNext,
    InstanceStep, ItemScope, NewCei, NewInterval, NewMiss, NewPart, NewQuery, NewResult, ObservationQuery,
    QueryFilter, QuerySource, ResultCursor, ResultFilter, Sighting, SourceId, SourceQuery, SourceState,
    SqliteStore, Store, VersionQuery,
};
use rusqlite::Connection;

use crate::fixtures;

const GOLDEN: &[&str] = &[
    include_str!("golden/0001.sql"),
    include_str!("golden/0002.sql"),
    include_str!("golden/0003.sql"),
    include_str!("golden/0004.sql"),
    include_str!("golden/0005.sql"),
    include_str!("golden/0006.sql"),
    include_str!("golden/0007.sql"),
];

fn lay_out(sql: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    Connection::open(directory.path().join("dunlin.db")).unwrap().execute_batch(sql).unwrap();
    directory
}

#[test]
fn there_is_one_for_every_schema() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let database = Connection::open(directory.path().join("dunlin.db")).unwrap();
    let newest: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(newest as usize, GOLDEN.len(), "add tests/it/golden/{newest:04}.sql");
}

#[test]
fn every_one_opens_and_reads_as_it_did() {
    for (index, sql) in GOLDEN.iter().enumerate() {
        let directory = lay_out(sql);
        let store = SqliteStore::open(directory.path()).unwrap();
        assert!(store.check(Depth::Everything).unwrap().is_sound(), "schema {}", index + 1);
        let sources = store.sources(&SourceQuery::first(10)).unwrap();
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[0].spec.tags, ["oil", "desk"]);
        let versions =
            store.versions(&VersionQuery { source: SourceId(1), before: None, limit: 10 }).unwrap();
        let contents: Vec<String> = versions
            .iter()
            .map(|version| String::from_utf8(store.content(version.id).unwrap()).unwrap())
            .collect();
        assert_eq!(contents, [3, 2, 1].map(page));
        let changes = fixtures::all_changes(&store);
        assert_eq!(changes.iter().map(|change| change.cursor.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(changes[3].found.summary, "change 3");
        assert_eq!(store.items(SourceId(1), ItemScope::Remembered).unwrap().len(), 2);
        assert_eq!(store.notes(SourceId(1)).unwrap()[0].value, b"\"v3\"");
        assert_eq!(store.politeness().unwrap()[0].scope, "a.example");
        assert_eq!(store.setting("budget").unwrap().as_deref(), Some("{\"per_second\":1}"));
        let all = ObservationQuery { source: Some(SourceId(1)), after: None, limit: 10 };
        let probes: Vec<u64> = store.observations(&all).unwrap().iter().map(|seen| seen.probe.0).collect();
        assert_eq!(probes[..3], [1, 2, 3]);
        let decisions = store.decisions(&dunlin_store::DecisionQuery::first(10)).unwrap();
        assert_eq!(decisions[0].decision.reason, "the price was met");
        let message = crate::contract::outbox::lease(&store, 1000).pop().unwrap();
        assert_eq!((message.key.as_str(), message.cursor.unwrap().0), ("golden", 4));
        assert_ne!(sources[0].resource, sources[1].resource, "schema {}", index + 1);
        // And it takes new captures.
        let recorded = store.record_capture(fixtures::news(SourceId(1), 50, page(4).as_bytes())).unwrap();
        assert_eq!(recorded.cursors.unwrap().0.0, 5);
    }
}

#[test]
fn sources_of_an_older_schema_share_a_resource_where_their_requests_are_the_same() {
    for sql in &GOLDEN[..3] {
        let directory = lay_out(sql);
        let database = Connection::open(directory.path().join("dunlin.db")).unwrap();
        for (number, recipe) in [(3, r#"{"headers": {"A": "b"}}"#), (4, r#"{"longest_gap": 60}"#)] {
            let copy =
                "INSERT INTO source SELECT ?1, url, kind, ?2, weight, life, urgency, tags, created, health,
                        reason, since, paused FROM source WHERE id = 1";
            database.execute(copy, rusqlite::params![number, recipe]).unwrap();
        }
        drop(database);
        let store = SqliteStore::open(directory.path()).unwrap();
        let sources = store.sources(&SourceQuery::first(10)).unwrap();
        let [one, two, signed, other] = [0, 1, 2, 3].map(|index| sources[index].resource);
        assert_eq!(one, other);
        assert!(signed != one && signed != two && one != two);
        let again = store.add_source(sources[2].spec.clone()).unwrap();
        assert_eq!(store.source(again).unwrap().unwrap().resource, signed, "as new sources are matched");
    }
}

#[test]
fn names_and_what_was_announced_are_in_the_newest_one_and_missing_before() {
    for (index, sql) in GOLDEN.iter().enumerate() {
        let store = lay_out(sql);
        let store = SqliteStore::open(store.path()).unwrap();
        let source = store.source(SourceId(1)).unwrap().unwrap();
        let found = (source.spec.name.as_deref(), source.found.title.as_str(), source.state.announced);
        let is_there = index >= 4;
        let expected =
            if is_there { (Some("Oil desk"), "Oil today", Some(Health::Failing)) } else { (None, "", None) };
        assert_eq!(found, expected, "schema {}", index + 1);
        assert_eq!(fixtures::all_changes(&store)[0].name, if is_there { "Oil desk" } else { "" });
    }
}

#[test]
fn the_ledger_of_the_newest_one_is_open_where_it_was() {
    let directory = lay_out(GOLDEN.last().unwrap());
    let store = SqliteStore::open(directory.path()).unwrap();
    let basis = store.probe_bases(&[SourceId(1)], &[]).unwrap().remove(0).unwrap();
    assert_eq!(basis.fetch_state, b"validators");
    let ceis = store.ceis(&CeiQuery { after: None, state: None, limit: 10 }).unwrap();
    let shown: Vec<_> = ceis
        .iter()
        .map(|cei| {
            let captured: Vec<_> =
                cei.intervals.iter().map(|interval| interval.captured.map(|by| by.0)).collect();
            (cei.state, cei.need, captured)
        })
        .collect();
    let open = (CeiState::Open, 2, vec![Some(2), None]);
    let of_query = (CeiState::Open, 1, vec![None]);
    assert_eq!(shown, [open, (CeiState::Withdrawn, 1, vec![None]), of_query]);
}

fn page(number: u32) -> String {
    let lines = (0..40).map(|line| format!("line {line} of a page that hardly changes\n"));
    lines.chain([format!("edition {number}\n")]).collect()
}

/// Makes the next file of this kind: set the variable to its path and run this test. The result is dumped with
/// `sqlite3 PATH .dump`, with the two pragmas that a dump leaves out added by hand.
#[test]
fn what_the_newest_one_was_made_from() {
    let Some(directory) = std::env::var_os("DUNLIN_STORE_GOLDEN_DIRECTORY") else { return };
    let store = SqliteStore::open(std::path::Path::new(&directory)).unwrap();
    let mut new = fixtures::source("a");
    new.tags = vec!["oil".to_owned(), "desk".to_owned()];
    new.name = Some("Oil desk".to_owned());
    let source = store.add_source(new).unwrap();
    store.add_source(fixtures::source("b")).unwrap();
    let interval =
        |start| NewInterval { source, start: fixtures::time(start), finish: fixtures::time(start + 9) };
    let cei = |intervals: Vec<NewInterval>, need| NewCei {
        intervals,
        need,
        weight: 1.5,
        created: fixtures::time(0),
    };
    let open = store.add_cei(cei(vec![interval(0), interval(90)], 2)).unwrap();
    let withdrawn = store.add_cei(cei(vec![interval(90)], 1)).unwrap();
    store.end_ceis(vec![(withdrawn, CeiState::Withdrawn)], fixtures::time(1)).unwrap();
    for number in 1..=3 {
        let mut capture = fixtures::news(source, number, page(number as u32).as_bytes());
        if number == 1 {
            capture.changes.push(fixtures::change("first sight", capture.at));
        }
        if number == 3 {
            capture.messages = vec![fixtures::message("golden")];
            capture.messages[0].change = Some(0);
        }
        capture.items = Some(vec![fixtures::item(if number == 1 { "x" } else { "y" }, "item")]);
        let etag = format!("\"v{number}\"").into_bytes();
        capture.notes = vec![dunlin_store::Note { name: "etag".to_owned(), value: etag }];
        capture.politeness =
            vec![dunlin_store::Politeness { scope: "a.example".to_owned(), state: vec![1, 2, 3] }];
        if number == 1 {
            capture.found = Some(FoundAs { kind: "page".to_owned(), title: "Oil today".to_owned() });
        }
        if number == 3 {
            capture.state = Some(SourceState {
                health: Health::Failing,
                reason: "503".to_owned(),
                since: fixtures::time(3),
                announced: Some(Health::Failing),
            });
        }
        if number == 2 {
            capture.fetch_state = Some(b"validators".to_vec());
            capture.intervals = vec![CapturedInterval { cei: open, position: 0 }];
        }
        store.record_capture(capture).unwrap();
    }
    store.record_capture(fixtures::probe(source, 4)).unwrap();
    store.set_setting("budget", Some("{\"per_second\":1}".to_owned())).unwrap();
    let decision = dunlin_store::NewDecision {
        at: fixtures::time(3),
        source: Some(source),
        reason: "the price was met".into(),
        figures: vec![0, 255],
    };
    store.append_decisions(&[decision]).unwrap();
    let query = NewQuery {
        name: "desk".to_owned(),
        text: "QUERY desk …".to_owned(),
        installed: fixtures::time(5),
        sources: vec![QuerySource::Watched(source)],
    };
    let (query, _) = store.add_query(query).unwrap();
    let step =
        |number, next| InstanceStep { instance: InstanceId(number), query, next, memory: Some(vec![7, 8]) };
    let wants = Some(cei(vec![interval(200)], 1));
    let part = NewPart {
        name: "post".to_owned(),
        source,
        at: fixtures::time(6),
        version: None,
        items: "[]".to_owned(),
    };
    let result = NewResult { at: fixtures::time(6), parts: vec![part], story: Some(vec![9]) };
    let sighting = Sighting {
        source: SourceId(2),
        at: fixtures::time(7),
        version: None,
        title: "Oil".to_owned(),
        link: None,
    };
    let again = InstanceEnd::SeenAgain { first: InstanceId(2), sighting };
    let miss = NewMiss { began: fixtures::time(5), at: fixtures::time(7), parts: "[]".to_owned() };
    let steps = vec![
        step(1, InstanceNext::Open { state: vec![1, 2], wants }),
        step(2, InstanceNext::Ended(InstanceEnd::Result(result))),
        step(3, InstanceNext::Ended(InstanceEnd::Missed(miss))),
        step(4, InstanceNext::Ended(again)),
    ];
    store.step_instances(steps, fixtures::time(7)).unwrap();
}

#[test]
fn queries_of_the_newest_one_go_on() {
    let directory = lay_out(GOLDEN.last().unwrap());
    let store = SqliteStore::open(directory.path()).unwrap();
    let queries = store.queries(&QueryFilter { after: None, limit: 10 }).unwrap();
    assert_eq!(queries.len(), 1);
    let query = &queries[0];
    assert_eq!((query.name.as_str(), query.memory.as_slice()), ("desk", &[7, 8][..]));
    assert_eq!((query.sources.as_slice(), query.n_results, query.n_missed), (&[SourceId(1)][..], 1, 1));
    let instances = store.instances(None, 10).unwrap();
    assert_eq!((instances.len(), instances[0].state.as_slice()), (1, &[1, 2][..]));
    assert!(instances[0].cei.is_some());
    let all = ResultFilter { after: ResultCursor::START, query: None, limit: 10 };
    let results = store.results(&all).unwrap();
    assert_eq!((results.len(), results[0].result.parts[0].name.as_str()), (1, "post"));
    assert_eq!(
        (results[0].result.story.as_deref(), results[0].also_at[0].source),
        (Some(&[9][..]), SourceId(2))
    );
    assert_eq!(store.misses(&all).unwrap()[0].miss.began, fixtures::time(5));
}
