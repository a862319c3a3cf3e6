//! What a scorer of monitors is told.

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Plan, Request, Site, Speed};
use serde_json::{Value, json};

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn site() -> Site {
    let trace = TraceFile::read("source,time\nb,105\na,100\na,161\nb,400\n".as_bytes(), "ab").unwrap();
    Site::new(Plan { speed: Speed::new(60.0).unwrap(), ..Plan::of(trace) }, STARTED).unwrap()
}

fn selection(target: &str, micros: i64) -> Value {
    let now = Time::from_micros(STARTED.micros() + micros);
    serde_json::from_slice(&site().respond(&Request::get(target), now).body).unwrap()
}

#[test]
fn it_tells_what_has_happened_in_both_times() {
    assert_eq!(
        selection("/_truth", 2_000_000),
        json!({
            "speed": 60.0, "started": 1_800_000_000.0, "started_trace_time": 100,
            "now": 1_800_000_002.0, "now_trace_time": 220.0,
            "truncated": false, "complete_until": 1_800_000_002.0,
            "sources": [
                {"id": "a", "changes": [
                    {"at": 1_800_000_000.0, "trace_time": 100, "version": 1},
                    {"at": 1_800_000_001.016_667, "trace_time": 161, "version": 2},
                ]},
                {"id": "b", "changes": [{"at": 1_800_000_000.083_334, "trace_time": 105, "version": 1}]},
            ],
        })
    );
}

#[test]
fn it_can_be_asked_for_what_is_new_and_for_one_source() {
    let after = selection("/_truth?after=1800000000.083334", 2_000_000);
    assert_eq!(after["sources"][0]["changes"][0]["version"], 2);
    assert_eq!(after["sources"][1]["changes"], json!([]));
    let one = selection("/_truth?source=b", 2_000_000);
    assert_eq!(one["sources"].as_array().unwrap().len(), 1);
    for target in ["/_truth?after=soon", "/_truth?after=nan", "/_truth?source=c"] {
        assert_eq!(site().respond(&Request::get(target), STARTED).status, 400, "{target}");
    }
}

#[test]
fn as_a_file_it_is_the_trace_so_far() {
    let now = Time::from_micros(STARTED.micros() + 2_000_000);
    let response = site().respond(&Request::get("/_truth.csv"), now);
    assert_eq!(String::from_utf8(response.body).unwrap(), "source,time\na,100\nb,105\na,161\n");
}

#[test]
fn more_than_fits_is_told_in_parts_even_if_it_happened_all_at_once() {
    let n_sources = 150_000;
    let sources = (0..n_sources).map(|number| format!("s{number:06}")).collect();
    let times = (0..n_sources).map(|number| if number == 7 { vec![0, 1, 2] } else { vec![1] }).collect();
    let plan = Plan::of(TraceFile { sources, times, warnings: Vec::new() });
    let site = Site::new(plan, STARTED).unwrap();
    let now = Time::from_seconds(STARTED.seconds() + 2_000);
    let ask = |target: &str| -> (Value, usize) {
        let truth: Value = serde_json::from_slice(&site.respond(&Request::get(target), now).body).unwrap();
        let changes = |source: &Value| source["changes"].as_array().unwrap().len();
        let n_changes = truth["sources"].as_array().unwrap().iter().map(changes).sum();
        (truth, n_changes)
    };
    let (first, n_first) = ask("/_truth");
    assert_eq!((first["truncated"].as_bool(), n_first), (Some(true), n_sources + 1));
    let (second, n_second) = ask(&format!("/_truth?after={}", first["complete_until"]));
    assert_eq!((second["truncated"].as_bool(), n_second), (Some(false), 1));
}
