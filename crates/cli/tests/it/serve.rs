//! The service from start to end, in its demonstration.

use std::fs;
use std::process::Stdio;

use dunlin_store::{NewDecision, SqliteStore, Store};
use serde_json::Value;

use crate::run::{Desk, dunlin};
use crate::running::Running;

pub(crate) const DEMO: &str = "serve --demo --data data --listen 127.0.0.1:0";

/// A demonstration that has caught something.
fn demonstration(desk: &Desk) -> Running {
    let mut running = Running::start(desk, DEMO);
    running.line_with("listening on");
    running.line_with("Ctrl-C stops it");
    running.line_with(" + ");
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
    let (code, reported) = running.end();
    assert_eq!(code, Some(0), "{reported}");
    assert!(!reported.contains("panicked"), "{reported}");
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

/// A bid in an auction only grows; a made-up web that started over would take some of them back.
#[test]
fn the_made_up_web_goes_on_over_a_restart() {
    let desk = Desk::new();
    let began = || {
        let mut running = Running::start(&desk, DEMO);
        let web = running.line_with("made-up web");
        running.line_with("Ctrl-C stops it");
        let address = web.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        let mut socket = std::net::TcpStream::connect(&address).unwrap();
        let request = format!("GET /_truth HTTP/1.0\r\nHost: {address}\r\n\r\n");
        std::io::Write::write_all(&mut socket, request.as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut socket, &mut answer).unwrap();
        running.signal("INT");
        assert_eq!(running.end().0, Some(0));
        let truth: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        truth["started"].as_f64().unwrap()
    };
    assert_eq!(began().to_bits(), began().to_bits());
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
    // Only the owner can read the token.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(desk.path("data").join("cli-token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    running.signal("INT");
    let (code, reported) = running.end();
    assert_eq!(code, Some(0), "{reported}");
}

#[test]
fn a_port_that_is_taken_is_reported_before_anything_is_watched() {
    let desk = Desk::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let done = desk.run(&format!("serve --data data --listen {}", taken.local_addr().unwrap()));
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(done.stderr.contains("cannot listen on") && done.stderr.contains("--listen"), "{}", done.stderr);
    assert!(!desk.path("data").exists(), "nothing was made");
}

/// What reads the log as JSON reads all of it, and a closed terminal ends the service like any other request to.
#[test]
fn a_log_in_json_is_all_json() {
    let desk = Desk::new();
    let mut running =
        Running::start(&desk, "serve --data data --listen localhost:0 --log-format json --budget 5/min");
    let line: Value = serde_json::from_str(&running.line_with("listening on")).unwrap();
    assert_eq!(line["fields"]["budget"], "5/min", "{line}");
    running.signal("HUP");
    let (code, reported) = running.end();
    assert_eq!(code, Some(0), "{reported}");
    for line in reported.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

/// A reader that closes the pipe after two lines ends the command.
#[test]
fn a_demonstration_without_a_reader_ends() {
    let desk = Desk::new();
    let mut command = dunlin(&desk.path(""), DEMO);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn commands_that_read_the_directory_ask_no_service_elsewhere() {
    let desk = Desk::new();
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("Ctrl-C");
    for command in ["doctor", "replay", "store check"] {
        let done = desk.run(&format!("{command} --data data --server http://127.0.0.1:1/"));
        assert_eq!(done.code, 2, "{command}: {}", done.stderr);
    }
    let doctor = desk.json("doctor --data data --json");
    let service = doctor["findings"].as_array().unwrap().iter().find(|f| f["check"] == "service").unwrap();
    assert!(service["found"].as_str().unwrap().contains("is well"), "{service}");
    let done = desk.run("token revoke local-cli --data data");
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert_eq!(desk.run("sources --data data").code, 0, "it still lets commands in");

    assert_eq!(desk.run("store check --data data").code, 0);
    assert_eq!(desk.run("store backup copy.db --data data").code, 0);
    assert!(desk.path("copy.db").exists());
    let done = desk.run("store compact --data data");
    assert!(done.code != 0 && done.stderr.contains("in use by process"), "{}", done.stderr);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    for command in ["prune", "compact"] {
        let done = desk.run(&format!("store {command} --data data"));
        assert_eq!(done.code, 0, "{command}: {}", done.stderr);
    }
}

#[test]
fn a_clock_that_is_far_ahead_removes_nothing_unless_it_is_confirmed() {
    let desk = Desk::new();
    let at = dunlin_core::Time::from_seconds(1_000_000_000);
    let decision = NewDecision { at, source: None, reason: "".into(), figures: Vec::new() };
    SqliteStore::open(&desk.path("data")).unwrap().append_decisions(&[decision]).unwrap();
    let done = desk.run("store prune --data data");
    assert!(
        done.code == 1 && done.stderr.contains("days ahead of when the service last ran"),
        "{}",
        done.stderr
    );
    let done = desk.run("doctor --data data --json");
    assert!(done.stdout.contains("days after the service last ran"), "{}", done.stdout);
    // Nor does the service when it starts, which says why: it is asked to do so first of all.
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("the clock is far ahead of when the service last ran");
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    let done = desk.run("store prune --trust-clock --data data");
    assert!(done.code == 0 && done.stdout.contains("1 decisions"), "{} {}", done.stdout, done.stderr);
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
