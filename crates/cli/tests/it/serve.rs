//! The service from start to end, in its demonstration.

use std::fs;

use serde_json::Value;

use crate::run::Desk;
use crate::running::Running;

pub(crate) const DEMO: &str = "serve --demo --data data --listen 127.0.0.1:0";

/// A demonstration that has caught something.
fn demonstration(desk: &Desk) -> Running {
    let mut running = Running::start(desk, DEMO);
    running.line_with("listening on");
    running.line_with("Ctrl-C stops it");
    running.line_with("http://127.0.0.1");
    running
}

/// What the command says while something is true of it; tried until the deadline of the line that it waits for.
fn wait_for_cursor(desk: &Desk, at_least: i64) -> Value {
    let mut tail =
        Running::start(desk, &format!("tail --data data --after {} --count 1 --json", at_least - 1));
    let line = tail.line_with("\"cursor\"");
    assert_eq!(tail.end().0, Some(0));
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_demonstration_shows_changes_and_ends_and_goes_on() {
    let desk = Desk::new();
    let running = demonstration(&desk);
    let first = wait_for_cursor(&desk, 1);
    assert!(first["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{first}");
    running.signal("INT");
    let (code, told) = running.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    assert!(!desk.path("data").join("service.json").exists());

    let before = desk.json("changes --data data --json --limit 100000");
    let newest = before["next"].as_i64().unwrap();
    assert!(newest >= 1);
    let sources = desk.json("sources --data data --json");
    let doctor = desk.json("doctor --data data --json");
    assert_eq!(doctor["well"], true, "{doctor}");
    let replay = desk.json("replay --data data --json");
    assert_eq!((&replay["same"], &replay["runs"]), (&true.into(), &1.into()), "{replay}");

    // The second time it goes on with the same sources at the same addresses, and more changes come.
    let running = demonstration(&desk);
    wait_for_cursor(&desk, newest + 1);
    running.signal("TERM");
    assert_eq!(running.end().0, Some(0));
    let again = desk.json("sources --data data --json");
    let urls = |report: &Value| -> Vec<Value> {
        report["sources"].as_array().unwrap().iter().map(|source| source["url"].clone()).collect()
    };
    assert_eq!(urls(&again), urls(&sources));
    let replay = desk.json("replay --data data --json");
    assert_eq!((&replay["same"], &replay["runs"]), (&true.into(), &2.into()), "{replay}");
}

#[test]
fn what_a_killed_service_left_behind_is_ignored() {
    let desk = Desk::new();
    let running = demonstration(&desk);
    running.signal("KILL");
    assert_eq!(running.end().0, None);
    assert!(desk.path("data").join("service.json").exists());
    // The data directory answers by itself, for reading and for writing, and the service starts again.
    assert!(!desk.json("sources --data data --json")["sources"].as_array().unwrap().is_empty());
    let done = desk.run("pause 1 --data data");
    assert_eq!((done.code, done.stdout.as_str()), (0, "source 1: paused\n"), "{}", done.stderr);
    let running = demonstration(&desk);
    assert_eq!(desk.json("sources --data data --state paused --json")["sources"][0]["id"], 1);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn two_services_never_share_a_data_directory() {
    let desk = Desk::new();
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("Watch something");
    let second = desk.run("serve --data data --listen 127.0.0.1:0");
    assert_eq!(second.code, 3, "{}", second.stderr);
    assert!(second.stderr.contains("in use by process"), "{}", second.stderr);
    // The token is nobody else's to read.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(desk.path("data").join("cli-token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    running.signal("INT");
    let (code, told) = running.end();
    assert_eq!(code, Some(0), "{told}");
}

#[test]
fn a_port_that_is_taken_is_told_before_anything_is_watched() {
    let desk = Desk::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let done = desk.run(&format!("serve --data data --listen {}", taken.local_addr().unwrap()));
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(done.stderr.contains("cannot listen on") && done.stderr.contains("--listen"), "{}", done.stderr);
}

#[test]
fn a_test_bed_serves_and_ends() {
    let desk = Desk::new().with("trace.csv", "source,time\nnews,0\nnews,60\n");
    let mut running = Running::start(&desk, "testbed --trace trace.csv --listen 127.0.0.1:0");
    running.line_with("1 sources at http://127.0.0.1:");
    running.line_with("Ctrl-C");
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}

/// Each change once, in order, though the service was away in between.
#[test]
fn a_reader_goes_on_after_a_restart() {
    let desk = Desk::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let args = DEMO.replace("127.0.0.1:0", &free.to_string());
    let mut running = Running::start(&desk, &args);
    running.line_with("Ctrl-C stops it");
    let mut tail = Running::start(&desk, "tail --data data --after 0 --json");
    let mut next = || {
        let line = tail.line_with("\"cursor\"");
        serde_json::from_str::<Value>(&line).unwrap()["cursor"].as_i64().unwrap()
    };
    let mut cursors = vec![next(), next()];
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    let before = desk.json("changes --data data --json --limit 100000")["next"].as_i64().unwrap();
    let mut running = Running::start(&desk, &args);
    running.line_with("Ctrl-C stops it");
    while cursors.last() <= Some(&before) {
        cursors.push(next());
    }
    let expected: Vec<i64> = (1..=before + 1).collect();
    assert_eq!(cursors, expected);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
}
