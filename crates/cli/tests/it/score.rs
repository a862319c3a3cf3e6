//! `dunlin score`: any schedule, the same figures, and a verdict on its budget.

use crate::run::Desk;

#[test]
fn a_schedule_scores_what_its_simulation_scored() {
    let desk = Desk::new();
    desk.run("generate auctionwatch --profiles 30 --sources 60 --chronons 200 --seed 3 --out in.csv.gz");
    let common = "intervals --intervals in.csv.gz --chronons 200 --budget 0.75 --json";
    let simulated = desk.json(&format!("simulate {common} --policy m-edf --schedule-out plan.csv"));
    let scored = desk.json(&format!("score {common} --schedule plan.csv"));
    for figure in ["ceis", "captured", "gained_completeness", "weight_captured", "probes"] {
        assert_eq!(simulated[figure], scored[figure], "{figure}");
    }
    assert_eq!(scored["within_budget"], true);

    desk.run("generate daily --sources 20 --span 2d --seed 3 --out trace.csv");
    let common = "trace --trace trace.csv --chronon 10m --budget 1 --life window:3 --urgency poly:1 --json";
    let simulated = desk.json(&format!("simulate {common} --policy wic --schedule-out plan.csv"));
    let scored = desk.json(&format!("score {common} --schedule plan.csv"));
    for figure in ["changes", "captured", "utility", "mean_delay", "delay_histogram", "freshness", "mean_age"]
    {
        assert_eq!(simulated[figure], scored[figure], "{figure}");
    }
}

#[test]
fn a_broken_budget_is_an_answer_not_an_error() {
    let desk = Desk::new()
        .with("in.csv", "profile,cei,resource,start,finish\np,1,a,1,5\np,2,b,1,5\n")
        .with("plan.csv", "chronon,resource\n1,a\n2,a\n2,b\n");
    let args = "score intervals --intervals in.csv --chronons 5 --schedule plan.csv";
    assert_eq!(desk.run(args).code, 0, "nothing to check against");
    assert_eq!(desk.run(&format!("{args} --budget 2")).code, 0);
    let broken = desk.run(&format!("{args} --budget 1 --json"));
    assert_eq!(broken.code, 1);
    let report: serde_json::Value = serde_json::from_str(&broken.stdout).unwrap();
    assert_eq!((&report["captured"], &report["within_budget"]), (&2.into(), &false.into()));
    assert!(
        broken.stderr.contains("plan.csv: budget broken at chronon 2: a probe of \"b\" costs 1, 0 is left"),
        "{}",
        broken.stderr
    );
}

#[test]
fn a_schedule_for_something_else_is_bad_input() {
    let desk = Desk::new()
        .with("in.csv", "profile,cei,resource,start,finish\np,1,a,1,5\n")
        .with("plan.csv", "chronon,resource\n1,a\n2,z\n");
    let done = desk.run("score intervals --intervals in.csv --chronons 5 --schedule plan.csv");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("plan.csv:3: "), "{}", done.stderr);
}

/// A policy may know sources that never changed; its schedule is scored over the same sources.
#[test]
fn sources_that_only_the_policy_knew() {
    let desk = Desk::new()
        .with("in.csv", "source,time\na,0\na,120\n")
        .with("pi.csv", "source,chronon,probability\nzz,1,0.9\na,3,0.5\n");
    let common = "trace --trace in.csv --chronon 60s --budget 1 --probabilities pi.csv --json";
    let simulated =
        desk.json(&format!("simulate {common} --policy wic --knowledge file --schedule-out plan.csv"));
    let scored = desk.json(&format!("score {common} --schedule plan.csv"));
    assert_eq!(simulated["sources"], 2);
    for figure in ["sources", "captured", "freshness", "mean_age", "probes"] {
        assert_eq!(simulated[figure], scored[figure], "{figure}");
    }
}
