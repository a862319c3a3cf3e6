//! Planners and bounds from the command line, on inputs small enough to know the answer.

use std::fmt::Write as _;

use crate::run::Desk;

/// One probe per chronon: 2 and 3 exclude 1; of 4's three intervals any two will do.
const INTERVALS: &str = "profile,cei,resource,start,finish,weight,need\n\
    p,1,a,1,1,3,2\np,1,b,2,2,3,2\np,2,c,1,1,2,1\np,3,d,2,2,2,1\nq,4,a,3,3,1,2\nq,4,b,3,4,1,2\nq,4,c,3,4,1,2\n";

const INPUT: &str = "--intervals in.csv --chronons 4 --budget 1";

#[test]
fn every_planner_reports_what_a_policy_reports_and_how_good_it_is() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    for planner in ["local-ratio", "offline", "exact"] {
        let report = desk.json(&format!(
            "simulate intervals {INPUT} --policy {planner} --time-limit 60s --schedule-out out.csv --json"
        ));
        assert_eq!((&report["policy"], &report["ceis"]), (&planner.into(), &4.into()));
        let checked = desk.json(&format!("score intervals {INPUT} --schedule out.csv --json"));
        assert_eq!(checked["weight_captured"], report["weight_captured"]);
        assert_eq!(checked["within_budget"], true);
        if planner == "local-ratio" {
            assert!(report.get("bound").is_none());
            continue;
        }
        // c, d, and two of the last three: 2 + 2 + 1.
        assert_eq!((&report["weight_captured"], &report["captured"]), (&5.0.into(), &3.into()));
        assert_eq!((&report["bound"], &report["proven"]), (&5.0.into(), &true.into()));
    }
}

#[test]
fn policies_and_planners_side_by_side() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    let done = desk.run(&format!("simulate intervals {INPUT} --policy s-edf,exact"));
    let lines: Vec<_> = done.stdout.lines().collect();
    assert!(lines[0].ends_with("bound  proven"), "{}", done.stdout);
    assert!(lines[1].contains("s-edf") && lines[1].ends_with('-'), "{}", done.stdout);
    assert!(lines[2].contains("exact") && lines[2].ends_with("5.00     yes"), "{}", done.stdout);
    let all = desk.json(&format!("simulate intervals {INPUT} --policy all --json"));
    assert!(all["runs"].as_array().unwrap().iter().all(|run| run.get("bound").is_none()));
}

/// Three needs of which each excludes the others, six times over: the relaxation captures half of each.
fn rings() -> String {
    let mut text = "profile,cei,resource,start,finish\n".to_owned();
    for first in (0..6).map(|copy| 3 * copy + 1) {
        for (cei, sources, [one, other]) in [(1, "ab", [0, 1]), (2, "cd", [1, 2]), (3, "ef", [2, 0])] {
            for (source, after) in sources.chars().zip([one, other]) {
                let at = first + after;
                writeln!(text, "p,{first}-{cei},{source},{at},{at}").unwrap();
            }
        }
    }
    text
}

#[test]
fn an_optimum_that_takes_a_solver() {
    let desk = Desk::new().with("in.csv", rings());
    let done =
        desk.run("simulate intervals --intervals in.csv --chronons 18 --budget 1 --policy exact --json");
    if cfg!(feature = "highs") {
        let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!((&report["captured"], &report["bound"]), (&6.into(), &6.0.into()));
        assert_eq!((&report["proven"], &report["method"]), (&true.into(), &"highs".into()));
    } else {
        assert_eq!((done.code, done.stdout.as_str()), (2, ""));
        let command = "cargo build --release -p dunlin --features highs";
        assert!(done.stderr.contains(command), "{}", done.stderr);
    }
}

#[test]
fn bounds_that_no_schedule_exceeds() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    let report = desk.json(&format!("bound intervals {INPUT} --json"));
    assert!((report["lp_bound"].as_f64().unwrap() - 5.0).abs() < 0.01, "{report}");
    // Four single intervals: 2 and 3 are worth 2 each, 1 is worth 1.5.
    assert_eq!((&report["single_eis"], &report["single_ei_bound"]), (&4.0.into(), &7.0.into()));
    let method = if cfg!(feature = "highs") { "highs" } else { "first-order" };
    assert!(report["seconds"].is_f64() && report["method"] == method, "{report}");
    let table = desk.run(&format!("bound intervals {INPUT}")).stdout;
    assert!(table.contains("linear relaxation") && table.contains("7.00"), "{table}");
}

#[test]
fn nonsense_is_refused() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    for (args, expected) in [
        ("bound intervals --intervals in.csv --chronons 4", "--budget"),
        ("bound intervals --intervals none.csv --chronons 4 --budget 1", "none.csv: no such file"),
        (
            "simulate intervals --intervals in.csv --chronons 4 --budget 1 --policy best",
            "local-ratio, offline, exact",
        ),
        (
            "simulate intervals --intervals in.csv --chronons 4 --budget 1 --policy exact --time-limit 0s",
            "duration",
        ),
        ("simulate trace --trace in.csv --chronon 1s --budget 1 --policy exact", "policy exact"),
    ] {
        let done = desk.run(args);
        assert_eq!(done.code, 2, "{args}: {}", done.stderr);
        assert!(done.stderr.contains(expected), "{args}: {}", done.stderr);
    }
}
