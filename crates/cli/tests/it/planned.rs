//! `dunlin serve` with `strategy = "cam"`: plans are made and followed, explained, and can be taken again.

use dunlin_testbed::{Kind, Plan, Speed};

use crate::run::Desk;
use crate::service::Service;
use crate::web::{Web, regular_trace, watching};

/// An epoch passes in two seconds.
const SETTINGS: &str = "strategy = \"cam\"\nepoch = \"2s\"\nbudget = \"40/s\"\nchronon = \"50ms\"\nshortest_gap = \"100ms\"\n\
    longest_gap = \"1h\"\nassumed_rate = \"1/s\"\nlog = \"warn\"\n\
    [politeness]\ngap = \"50ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n[guard]\nnetworks = [\"127.0.0.1/32\"]\n";

#[test]
fn a_service_that_plans_catches_changes_and_can_say_why() {
    // Thirty pages, of which every third changes a hundred times as often as the others.
    let steps: Vec<i64> = (0..30).map(|number| if number % 3 == 0 { 100 } else { 10_000 }).collect();
    let trace = regular_trace("page", &steps, 100_000);
    let web = Web::start(Plan { speed: Speed::new(100.0).unwrap(), ..Plan::of(trace) });
    let urls: Vec<String> = web.site().sources().iter().map(|id| web.bed.url(&Kind::Page.path(id))).collect();
    let desk = Desk::new();
    let data = watching(&desk, "cam", SETTINGS, &urls);
    let mut service = Service::start(&data);

    // Several plans are followed, and what they find is reported.
    let reported = service.stream(0).take(40).count();
    assert_eq!(reported, 40);
    let planned = |service: &Service| {
        let decisions = service.get("/api/v1/decisions?limit=1000");
        let reasons = decisions["decisions"].as_array().unwrap().iter().map(|row| row["reason"].clone());
        reasons.filter(|reason| reason == "planned").count()
    };
    service.until("a hundred planned probes are in the journal", |service| {
        (planned(service) >= 100).then_some(())
    });
    let explained = service.get("/api/v1/sources/1/explain");
    assert_eq!(explained["reason"], "planned", "{explained}");
    assert!(explained["next_probe"].is_string() || explained["standing"] == "in_flight", "{explained}");
    assert!(explained["because"].as_str().unwrap().contains("plan"), "{explained}");
    let shown = desk.run(&format!("explain 1 --data {}", data.display()));
    assert!(shown.code == 0 && shown.stdout.contains("next probe"), "{}{}", shown.stdout, shown.stderr);

    // Another budget is no reason to stop.
    let done = desk.run(&format!("budget set 60/s --data {}", data.display()));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let (status, messages) = service.interrupt();
    assert_eq!(status, Some(0), "{messages}");
    assert!(!messages.contains("panicked"), "{messages}");

    let replayed = desk.json(&format!("replay --json --data {}", data.display()));
    assert_eq!(replayed["same"], true, "{replayed}");
    assert!(replayed["probes"].as_u64().unwrap() >= 130, "{replayed}");

    // No source was left out.
    for url in &urls {
        let path = url.rsplit('/').next().unwrap();
        assert!(!web.requests(path).is_empty(), "{url}");
    }
}

#[test]
fn an_epoch_that_makes_no_sense_is_refused() {
    let desk = Desk::new();
    for (settings, messages) in [
        ("strategy = \"cam\"\nepoch = \"8d\"\n", "expected 1s to 7d"),
        ("strategy = \"oracle\"\n", "expected learned, cam or round-robin"),
    ] {
        std::fs::write(desk.path("dunlin.toml"), settings).unwrap();
        let done = desk.run("config check dunlin.toml");
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains(messages), "{}", done.stderr);
    }
}
