//! Several sources on one page of the test bed: one request serves those that ask alike, as the web's own log says, and each is told
//! what it watches.

use std::collections::BTreeSet;

use dunlin_store::{ObservationQuery, ProbeId, SourceId, SqliteStore, Store};
use dunlin_testbed::{Kind, Plan, Speed};
use serde_json::Value;

use crate::run::{Desk, dunlin};
use crate::service::Service;
use crate::web::{Web, regular_trace};

const SETTINGS: &str = "budget = \"20/s\"\nchronon = \"50ms\"\nshortest_gap = \"200ms\"\nlongest_gap = \"1s\"\n\
    assumed_rate = \"1/s\"\nlog = \"warn\"\nrobots = false\n\
    [politeness]\ngap = \"50ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n[guard]\nnetworks = [\"127.0.0.1/32\"]\n";

/// More than any of these sources is probed.
const MOST_PROBES: u32 = 10_000;

/// The probes that a source was served by.
fn probes_of(store: &SqliteStore, source: i64) -> BTreeSet<ProbeId> {
    let query = ObservationQuery { source: Some(SourceId(source)), after: None, limit: MOST_PROBES };
    let stored = store.observations(&query).unwrap();
    assert!(stored.len() < MOST_PROBES as usize);
    stored.into_iter().map(|stored| stored.probe).collect()
}

#[test]
fn sources_that_ask_alike_share_each_request_and_one_with_another_header_has_its_own() {
    let trace = regular_trace("page", &[100], 1_000_000);
    let web = Web::start(Plan { speed: Speed::new(100.0).unwrap(), ..Plan::of(trace) });
    let path = Kind::Page.path("page-000");
    let desk = Desk::new();
    let data = desk.path("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("dunlin.toml"), SETTINGS).unwrap();
    let add = |args: &[&str]| {
        let mut command = dunlin(&desk.path(""), "add --data data --flicker tell --json");
        let done = command.arg(web.bed.url(&path)).args(args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let added: Value = serde_json::from_slice(&done.stdout).unwrap();
        added["id"].as_i64().or_else(|| added["sources"][0]["id"].as_i64()).unwrap()
    };
    let title = add(&["--selector", "h1"]);
    let version = add(&["--selector", ".version b"]);
    let other = add(&["--selector", ".version b", "--header", "X-Reader: other"]);

    let mut service = Service::start(&data);
    for source in [title, version, other] {
        service.until("three changes of each source", |service| {
            let page = service.get(&format!("/api/v1/changes?source={source}"));
            (page["changes"].as_array().unwrap().len() >= 3).then_some(())
        });
    }
    let (status, messages) = service.interrupt();
    assert_eq!(status, Some(0), "{messages}");

    let store = SqliteStore::open_read_only(&data).unwrap();
    let [of_title, of_version, of_other] = [title, version, other].map(|source| probes_of(&store, source));
    assert_eq!(of_title, of_version, "each probe serves both");
    assert!(of_title.is_disjoint(&of_other), "and never the one that asks otherwise");
    assert!(of_title.len() >= 3 && of_other.len() >= 3);
    let n_requests = web.requests(&path).len();
    assert_eq!(n_requests, of_title.len() + of_other.len(), "one request for each probe");
}
