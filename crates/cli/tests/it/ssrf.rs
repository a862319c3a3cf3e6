//! Addresses that must not be reached, through the whole program: given by hand, or by a page that redirects to them. A real
//! listener waits at one of them, and must receive no connection. The table of all such addresses is tested where the guard is.

use std::io::ErrorKind;
use std::net::TcpListener;

use dunlin_testbed::{Kind, Plan, SourceFault};
use serde_json::Value;

use crate::run::Desk;
use crate::service::Service;
use crate::web::{Web, regular_trace, watching};

/// Only the web site itself may be reached, of all that is not public.
const SETTINGS: &str = "budget = \"50/s\"\nchronon = \"20ms\"\nshortest_gap = \"100ms\"\nlog = \"warn\"\n\
    [politeness]\ngap = \"10ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n[guard]\nnetworks = [\"127.0.0.1/32\"]\n";

#[test]
fn hostile_addresses_end_as_refused_with_the_reason() {
    let trap = TcpListener::bind("127.0.0.2:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    let targets = [
        format!("http://127.0.0.2:{port}/"),
        format!("http://[::ffff:127.0.0.2]:{port}/"),
        format!("http://0x7f000002:{port}/"),
        format!("http://2130706434:{port}/"),
        format!("http://0177.0.0.2:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://192.168.1.1/".to_owned(),
        "http://[::1]/".to_owned(),
        "http://[fd00::1]/".to_owned(),
        "http://0.0.0.0/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://127.0.0.2/".to_owned(),
        "gopher://127.0.0.2/".to_owned(),
    ];
    let trace = regular_trace("page", &vec![60; targets.len()], 600);
    let faults = trace.sources.iter().zip(&targets);
    let faults = faults.map(|(source, target)| {
        let fault = format!("redirect-to:{target}").parse().unwrap();
        SourceFault { source: source.clone(), fault }
    });
    let web = Web::start(Plan { faults: faults.collect(), ..Plan::of(trace.clone()) });
    let desk = Desk::new();
    let redirecting: Vec<String> = trace.sources.iter().map(|id| web.bed.url(&Kind::Page.path(id))).collect();
    let data = watching(&desk, "data", SETTINGS, &redirecting);
    let mut service = Service::start(&data);

    for target in &targets {
        let done = desk.run(&format!("add {target} --data {}", data.display()));
        assert_eq!(done.code, 2, "{target} was accepted: {}", done.stdout);
        assert!(done.stderr.contains("error: "), "{target}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{target}");
    }
    let states = service.until("every redirect is refused", |service| {
        let sources = service.get("/api/v1/sources?limit=1000")["sources"].clone();
        let states: Vec<Value> =
            sources.as_array().unwrap().iter().map(|source| source["state"].clone()).collect();
        states.iter().all(|state| state["health"] != "new").then_some(states)
    });
    assert_eq!(states.len(), targets.len(), "what was not accepted is not watched");
    for (state, target) in states.iter().zip(&targets) {
        assert_eq!(state["health"], "refused", "{target}: {state}");
        assert!(!state["reason"].as_str().unwrap().is_empty(), "{target}");
    }
    let listed = desk.run(&format!("sources --state refused --data {}", data.display()));
    assert!(listed.stdout.contains("refused: "), "{}", listed.stdout);
    let explained = desk.run(&format!("explain 1 --data {}", data.display()));
    assert!(explained.stdout.contains("refused: "), "{}", explained.stdout);
    assert!(service.is_alive());
    assert_eq!(service.interrupt().0, Some(0));
    assert_eq!(trap.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "someone called");
}
