//! `dunlin simulate queries`: what queries get of a budget on a trace small enough to know the answer, and what is said beside it.

use serde_json::{Value, json};

use crate::run::Desk;

/// `cheap` and `dear` want another source in the same two chronons, and `both` each of them at its next change.
const QUERIES: &str = "
QUERY cheap SELECT item AS a FROM source 'a' EVERY 5 MINUTES WITHIN 1 MINUTE
QUERY dear SELECT item AS b FROM feed 'https://x.example/b' EVERY 5 MINUTES WITHIN 1 MINUTE WEIGHT 3
QUERY both
  SELECT value AS a FROM source 'a' ON CHANGE WITHIN 1 MINUTE
  SELECT value AS b FROM source 'b' ON CHANGE WITHIN 3 MINUTES
";

/// In chronons of a minute, `a` changes in 3 and 9, `b` in 4.
const TRACE: &str = "source,time\na,120\nb,190\na,490\n";

const RUN: &str =
    "simulate queries --queries in.q --trace in.csv --chronon 60s --start 0 --chronons 10 --budget 1";

#[test]
fn queries_over_a_trace_as_json() {
    let desk = Desk::new().with("in.q", QUERIES).with("in.csv", TRACE);
    // Chronons 1 and 6 have one probe for two queries; 3 and 4 bring `both` together, and after 9 no change of b comes.
    let report = desk.json(&format!("{RUN} --policy offline --json"));
    assert_eq!(
        (&report["policy"], &report["ceis"], &report["captured"]),
        (&"offline".into(), &5.into(), &3.into())
    );
    assert_eq!(
        (&report["weight_captured"], &report["bound"], &report["proven"]),
        (&7.0.into(), &7.0.into(), &true.into())
    );
    let queries = json!([
        {"name": "cheap", "instances": 2, "captured": 0, "left_out": 0},
        {"name": "dear", "instances": 2, "captured": 2, "left_out": 0},
        {"name": "both", "instances": 1, "captured": 1, "left_out": 1},
    ]);
    assert_eq!(report["queries"], queries);
    let marginal = desk.json(&format!("{RUN} --policy marginal --json"));
    assert_eq!(marginal["queries"], queries);
}

#[test]
fn queries_over_a_trace_as_a_table() {
    let desk = Desk::new().with("in.q", QUERIES).with("in.csv", TRACE);
    let done = desk.run(&format!("{RUN} --policy marginal"));
    let (runs, queries) = done.stdout.split_once("\n\n").unwrap();
    assert!(runs.contains("marginal") && runs.contains("0.6000") && done.code == 0, "{runs}");
    let cells: Vec<Vec<_>> = queries.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        cells,
        [
            vec!["query", "instances", "captured"],
            vec!["cheap", "2", "0"],
            vec!["dear", "2", "2"],
            vec!["both", "1", "1"]
        ]
    );
    assert!(
        done.stderr.contains("both: instances left out, as nobody could capture them: 1 ("),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("each WHEN"), "nothing is drawn: {}", done.stderr);
    let done = desk.run(&format!("{RUN} --policy marginal,round-robin"));
    let header: Vec<_> =
        done.stdout.lines().find(|line| line.contains("instances")).unwrap().split_whitespace().collect();
    assert_eq!(header, ["query", "instances", "marginal", "round-robin"]);
}

#[test]
fn the_intervals_that_are_written_give_the_same_result() {
    let desk = Desk::new();
    desk.run("generate poisson --sources 6 --span 1d --per-day 60 --seed 7 --out in.csv");
    let text = "QUERY desk ANY 2 OF
          SELECT item AS post FROM source 's0001' EVERY 10 MINUTES WITHIN 4 MINUTES
          SELECT item AS news FROM source 's0002' WHEN post CONTAINS 'oil' WITHIN 10 MINUTES
          SELECT item AS rate FROM source 's0003' WHEN post CONTAINS 'oil'
        QUERY bids WEIGHT 2.5"
        .replace(
            "bids",
            "bids SELECT value AS one FROM source 's0004' ON CHANGE SELECT value AS two FROM source 's0005' ON CHANGE",
        );
    let desk = desk.with("in.q", text);
    let args = "--chronons 1440 --budget 0.4 --seed 3 --policy all --json";
    let done = desk.run(&format!(
        "simulate queries --queries in.q --trace in.csv --chronon 1m --start 0 --intervals-out out.csv {args}"
    ));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("each WHEN holds with probability 0.5, drawn by --seed 3"),
        "{}",
        done.stderr
    );
    let mut queries: Value = serde_json::from_str(&done.stdout).unwrap();
    let mut intervals = desk.json(&format!("simulate intervals --intervals out.csv {args}"));
    let mut n_runs = 0;
    for runs in [&mut queries, &mut intervals] {
        for run in runs["runs"].as_array_mut().unwrap() {
            let run = run.as_object_mut().unwrap();
            run.remove("seconds");
            run.remove("queries");
            n_runs += 1;
        }
    }
    assert_eq!(queries, intervals);
    assert_eq!(n_runs, 16, "every policy for needs, twice");
}

#[test]
fn what_cannot_be_simulated_is_refused_at_its_place() {
    let refused = |queries: &str, args: &str, message: &str| {
        let desk = Desk::new().with("in.q", queries).with("in.csv", TRACE);
        let before = desk.files();
        let done = desk.run(&format!("{RUN} --intervals-out out.csv {args}"));
        assert!(done.stderr.contains(message), "{queries} {args}\nexpected: {message}\ngot: {}", done.stderr);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{queries} {args}");
        assert_eq!(desk.files(), before, "nothing is left behind");
    };
    let from = |id: &str| format!("QUERY q\n  SELECT item AS a FROM source '{id}' EVERY 1 HOUR");
    refused(&from("ab"), "--policy live", "in.q:2:32: the trace has no source `ab`\n");
    refused(
        "QUERY q WATCH 'oil' IMPORTANCE 1",
        "--policy live",
        "in.q:1:15: a WATCH finds its sources by their texts",
    );
    refused(&from("a"), "--policy cam", "cam plans for expected changes");
    refused(&from("a"), "--policy live --when 2", "when 2 (expected a probability from 0 to 1)");
    refused(
        &from("a").replace("EVERY", "AT 09:00 FOR"),
        "--policy live",
        "no instance that could be captured begins within",
    );
    refused(&from("a"), "--policy live --json --intervals-out -", "cannot be used multiple times");
    let desk = Desk::new().with("in.q", from("a")).with("in.csv", TRACE);
    assert_eq!(desk.run(&format!("{RUN} --policy live --json --intervals-out -")).code, 2);
    let done = desk.run(&format!("{RUN} --policy live --intervals-out -"));
    assert_eq!(done.stdout, "profile,cei,resource,start,finish\nq,0,a,1,60\n", "and no table");
}
