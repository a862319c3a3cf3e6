//! `dunlin query`: what is said of good and of broken queries, and what becomes of a file.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::run::{Desk, Done, dunlin};

const GOOD: &str = "-- mine
query prices select value as brent from page 'https://rates.example/brent' pick '.last, #x > b'
  every 60m where brent drops by 2%
query paths select value as p from json 'https://rates.example/all' pick '$..rates[?@.name == ''Brent'']' every 1 h
query storms watch 'hurricane' importance 0.8";

const BROKEN: &str = "QUERY one
  SELECT value AS a FROM page 'https://a.example/' PICK 'p >' EVERY 1 HOUR
  SELECT value AS b FROM json 'https://a.example/' PICK 'price' WHEN ä > 1
  SELECT value AS c FROM page 'https://a.example/' PICK '$.price'
QUERY two SELECT item AS a FROM feed 'a.example' EVRY 1 HOUR
";

#[test]
fn good_queries_are_counted_and_named() {
    let desk = Desk::new().with("good.q", GOOD);
    let done = desk.run("query check good.q");
    assert_eq!((done.code, done.stdout.as_str()), (0, "3 queries: prices, paths, storms\n"));
    assert_eq!(done.stderr, "");
    let report = desk.json("query check good.q --json");
    assert_eq!(report, json!({"queries": ["prices", "paths", "storms"], "errors": []}));
}

#[test]
fn each_error_is_shown_with_its_line_a_caret_and_a_hint() {
    let desk = Desk::new().with("bad.q", BROKEN);
    let done = desk.run("query check bad.q");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let expected = "\
bad.q:2:57: cannot read the CSS selector at its character 3: dangling combinator
  2 |   SELECT value AS a FROM page 'https://a.example/' PICK 'p >' EVERY 1 HOUR
    |                                                         ^^^^^
";
    assert!(done.stderr.starts_with(expected), "{}", done.stderr);
    let caret = "\
  3 |   SELECT value AS b FROM json 'https://a.example/' PICK 'price' WHEN ä > 1
    |                                                         ^^^^^^^
  hint: a JSON path begins with $, as in $.price
";
    assert!(done.stderr.contains(caret), "{}", done.stderr);
    assert!(
        done.stderr.contains("hint: this looks like a JSON path: read the source as json"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("bad.q:5:38: `a.example` is no address"), "{}", done.stderr);
    assert!(done.stderr.contains("  hint: did you mean EVERY?\n"), "{}", done.stderr);
    assert!(
        done.stderr.ends_with("error: bad.q: 6 errors, so none of its queries is taken\n"),
        "{}",
        done.stderr
    );
}

#[test]
fn errors_as_one_object() {
    let desk = Desk::new().with("bad.q", BROKEN);
    let done = desk.run("query check --json bad.q");
    assert_eq!(done.code, 2);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let errors = report["errors"].as_array().unwrap();
    assert_eq!(report.as_object().unwrap().len(), 1, "errors and nothing else");
    let places: Vec<_> =
        errors.iter().map(|error| (error["line"].as_u64(), error["column"].as_u64())).collect();
    let expected = [(2, 57), (3, 57), (3, 70), (4, 57), (5, 38), (5, 50)];
    assert_eq!(places, expected.map(|(line, column)| (Some(line), Some(column))));
    let message = "expected a clause of the SELECT, an option, SELECT or QUERY, found `EVRY`";
    let last = json!({"line": 5, "column": 50, "message": message, "hint": "did you mean EVERY?"});
    assert_eq!(errors[5], last);
    assert_eq!(errors[0]["hint"], Value::Null);
    assert!(errors.iter().all(|error| error.as_object().unwrap().len() == 4));
}

#[test]
fn what_is_no_text_of_queries_is_refused_with_its_line() {
    let desk = Desk::new().with("latin.q", b"QUERY q\n-- caf\xe9\n").with("long.q", "-\n".repeat(40_000));
    let not_utf8 =
        "bytes that are not UTF-8 (expected UTF-8 text; save it as that, or convert it with iconv)";
    for command in ["query check latin.q", "query format latin.q"] {
        let done = desk.run(command);
        assert_eq!((done.code, done.stderr), (2, format!("error: latin.q:2: {not_utf8}\n")), "{command}");
    }
    let done = desk.run("query check --json latin.q");
    assert_eq!(done.code, 2);
    let expected = json!({"errors": [{"line": 2, "column": 1, "message": not_utf8, "hint": null}]});
    assert_eq!(serde_json::from_str::<Value>(&done.stdout).unwrap(), expected);
    let done = desk.run("query check long.q");
    assert!(done.stderr.contains("long.q:32769: a text of more than 65536 bytes"), "{}", done.stderr);
    let done = desk.run("query check none.q");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("none.q: no such file"), "{}", done.stderr);
}

#[test]
fn queries_come_from_standard_input_too() {
    let desk = Desk::new();
    let mut child = dunlin(&desk.path("."), "query check -")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"QUERY q SELCT").unwrap();
    let done = Done::of(child.wait_with_output().unwrap());
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("-:1:9: expected SELECT or WATCH, found `SELCT`\n"), "{}", done.stderr);
}

const CANONICAL: &str = "QUERY prices
  SELECT value AS brent FROM page 'https://rates.example/brent' PICK '.last, #x > b' EVERY 1 HOUR
  WHERE brent DROPS BY 2%

QUERY paths
  SELECT value AS p FROM json 'https://rates.example/all' PICK '$..rates[?@.name == ''Brent'']' EVERY 1 HOUR

QUERY storms
  WATCH 'hurricane' IMPORTANCE 0.8
";

#[test]
fn the_canonical_text_goes_out_or_into_the_file() {
    let desk =
        Desk::new().with("good.q", GOOD).with("plain.q", GOOD.replace("-- mine", "")).with("bad.q", BROKEN);
    let done = desk.run("query format good.q");
    assert_eq!((done.code, done.stdout.as_str()), (0, CANONICAL));
    assert_eq!(done.stderr, "good.q:1: comments are not part of the canonical text\n");
    assert_eq!(desk.run("query format plain.q").stderr, "");

    let read = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    let done = desk.run("query format plain.q --write");
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (0, "", ""));
    assert_eq!(read("plain.q"), CANONICAL);
    // Written again, it is the same text, and nothing is left beside it.
    assert_eq!(desk.run("query format plain.q --write").code, 0);
    assert_eq!(read("plain.q"), CANONICAL);
    assert_eq!(desk.files(), ["bad.q", "good.q", "plain.q"]);

    let done = desk.run("query format good.q --write");
    assert_eq!((done.code, read("good.q").as_str()), (2, GOOD), "comments are not thrown away");
    assert!(done.stderr.contains("good.q:1: a comment would be lost"), "{}", done.stderr);
    let done = desk.run("query format bad.q --write");
    assert_eq!((done.code, read("bad.q").as_str()), (2, BROKEN));
    assert!(done.stderr.contains("bad.q:2:57: "), "{}", done.stderr);
    assert_eq!(desk.run("query format - --write").code, 2);
}

#[test]
fn a_canonical_text_that_could_not_be_read_again_is_not_written() {
    // Each `a.value>1or` is four bytes longer in its canonical form.
    let tests = vec!["a.value>1"; 450].join("or ");
    let query = |n| format!("query q{n} select value as a from source 1 every 1h where {tests}\n");
    let many: String = (0..11).map(query).collect();
    assert!(many.len() <= dunlin_query::limits::MAX_TEXT);
    let desk = Desk::new().with("wide.q", &many);
    let done = desk.run("query format wide.q --write");
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("more than can be read again"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(desk.path("wide.q")).unwrap(), many);
}
