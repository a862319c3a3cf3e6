//! `dunlin simulate` on inputs small enough to know the answer.

use crate::run::Desk;

/// Three needs; one probe per chronon can capture the first and the third, or the second alone.
const INTERVALS: &str = "profile,cei,resource,start,finish,weight,colour\n\
    p,1,a,1,1,1,red\np,2,b,1,1,1,red\np,2,c,2,2,1,red\nq,3,a,3,9,4,red\n";

#[test]
fn intervals_as_json_and_as_a_table() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    let args = "simulate intervals --intervals in.csv --chronons 10 --budget 1 --policy s-edf";
    let report = desk.json(&format!("{args} --schedule-out out.csv --json"));
    assert_eq!((&report["policy"], &report["preemptive"]), (&"s-edf".into(), &true.into()));
    assert_eq!((&report["ceis"], &report["captured"]), (&3.into(), &2.into()));
    assert_eq!(report["weight_captured"], 5.0);
    assert!((report["gained_completeness"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert!(report["seconds"].is_f64());
    let schedule = std::fs::read_to_string(desk.path("out.csv")).unwrap();
    assert!(schedule.starts_with("chronon,resource\n1,a\n"), "{schedule}");
    assert_eq!(schedule.lines().count() as u64 - 1, report["probes"].as_u64().unwrap());

    let table = desk.run(args);
    assert!(table.stdout.contains("s-edf") && table.stdout.contains("0.6667"), "{}", table.stdout);
    assert_eq!(
        table.stderr.matches("warning").count(),
        1,
        "one warning for the extra column: {}",
        table.stderr
    );
}

#[test]
fn all_policies_at_once() {
    let desk = Desk::new().with("in.csv", INTERVALS);
    let report =
        desk.json("simulate intervals --intervals in.csv --chronons 10 --budget 1 --policy all --json");
    let runs = report["runs"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["policy"].as_str().unwrap()).collect();
    for name in ["round-robin", "random", "wic", "s-edf", "mrsf", "m-edf", "marginal", "live"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
}

#[test]
fn costs_and_budget_files_are_kept_to() {
    let desk = Desk::new()
        .with("in.csv", INTERVALS)
        .with("costs.csv", "resource,cost\na,5\n")
        .with("budget.txt", "1\n1\n1\n0\n0\n0\n0\n0\n5\n0\n");
    let args = "simulate intervals --intervals in.csv --chronons 10 --policy mrsf --costs costs.csv";
    let report = desk.json(&format!("{args} --budget-file budget.txt --schedule-out out.csv --json"));
    assert_eq!(report["captured"], 2);
    assert_eq!(std::fs::read_to_string(desk.path("out.csv")).unwrap(), "chronon,resource\n1,b\n2,c\n9,a\n");
    let warned = desk.run(&format!("{args} --budget 1"));
    assert!(
        warned.stderr.contains("\"a\" costs more than the 1 that a chronon can spend"),
        "{}",
        warned.stderr
    );
}

const TRACE: &str = "source,time\nb,1000\na,1070\nb,1075\nb,1130\n";

#[test]
fn a_trace_under_exact_knowledge() {
    let desk = Desk::new().with("in.csv", TRACE);
    let args = "simulate trace --trace in.csv --chronon 60s --start 960 --chronons 4 --budget 1 --json";
    // b changes in chronons 1, 2 and 3, a in chronon 2.
    let report =
        desk.json(&format!("{args} --policy wic --life overwrite --urgency uniform --knowledge exact"));
    assert_eq!((&report["sources"], &report["changes"]), (&2.into(), &4.into()));
    // b at 1; a and b tie at 2, a comes first; b at 3 has lost its change of chronon 2.
    assert_eq!((&report["captured"], &report["probes"]), (&3.into(), &3.into()));
    assert_eq!((&report["zero_delay"], &report["mean_delay"]), (&0.75.into(), &0.0.into()));
    assert_eq!(report["delay_histogram"], serde_json::json!({"0": 3}));
    let append = desk.json(&format!("{args} --policy wic --life append --urgency exp:0.5"));
    assert_eq!((&append["captured"], &append["utility"]), (&4.into(), &0.875.into()));
    for policy in ["s-edf", "mrsf", "m-edf", "round-robin", "random", "marginal"] {
        let report = desk.json(&format!("{args} --policy {policy}"));
        assert!(report["completeness"].as_f64().unwrap() <= 1.0);
    }
}

#[test]
fn noisy_knowledge_depends_on_its_seed_alone() {
    let desk = Desk::new();
    desk.run("generate poisson --sources 40 --span 1d --per-day 20 --seed 7 --out in.csv.gz");
    let args = "simulate trace --trace in.csv.gz --chronon 5m --budget 0.5 --policy wic --urgency sliding:0 --knowledge noisy --fpn 0.3 --json";
    let strip = |mut report: serde_json::Value| {
        report["seconds"] = serde_json::Value::Null;
        report
    };
    let first = strip(desk.json(&format!("{args} --seed 1")));
    assert_eq!(first, strip(desk.json(&format!("{args} --seed 1"))));
    assert_ne!(first, strip(desk.json(&format!("{args} --seed 2"))));
    let exact = desk.json(&args.replace("noisy --fpn 0.3", "exact"));
    assert!(exact["utility"].as_f64() > first["utility"].as_f64(), "noise must cost something");
}

#[test]
fn the_comparison_table() {
    let desk = Desk::new();
    let args = "simulate workload auctionwatch --seeds 3 --profiles 40 --chronons 200";
    let done = desk.run(args);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for name in
        ["round-robin", "random", "wic", "s-edf (P)", "s-edf (NP)", "mrsf (P)", "m-edf (NP)", "marginal"]
    {
        assert!(done.stdout.contains(name), "{name} in {}", done.stdout);
    }
    let runs = desk.json(&format!("{args} --json"));
    assert_eq!(runs["seeds"], 3);
}

#[test]
fn a_policy_that_learns_is_scored_after_its_warm_up() {
    let busy: Vec<_> = (0..400).map(|hour| format!("busy,{}\n", 1_700_000_000 + hour * 3_600)).collect();
    let trace = format!("source,time\n{}quiet,1700000000\n", busy.concat());
    let desk = Desk::new().with("in.csv", &trace);
    let args = "simulate trace --trace in.csv --chronon 10m --budget 0.3 --knowledge learned";
    let report = desk.json(&format!("{args} --warm-up 0.5 --policy wic,round-robin --json"));
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs[0]["changes"], 200);
    assert!(runs[0]["completeness"].as_f64() > runs[1]["completeness"].as_f64(), "{report}");
    let dated = desk.json(&format!("{args} --reveal last --rhythms hour --policy wic --json"));
    assert_eq!(dated["changes"], 300);

    let refused = |more: &str| desk.run(&format!("{args} {more}"));
    assert_eq!(refused("--policy marginal").code, 2);
    assert!(refused("--policy marginal").stderr.contains("try --policy live, cam or round-robin"));
    assert_eq!(refused("--policy wic --warm-up 1").code, 2);
    assert!(refused("--policy wic --reveal some").stderr.contains("changes, last or timestamps"));
    // The service's scheduler is that, under its own name and under the old one.
    let live = desk.json("simulate trace --trace in.csv --chronon 10m --budget 0.3 --policy live --json");
    let wic = desk.json(&format!("{args} --policy wic --json"));
    assert_eq!((&live["policy"], &live["ran"]), (&"live".into(), &wic["ran"]));
    assert_eq!(live["ran"], "the service's scheduler, strategy learned");
    assert_eq!((&live["captured"], &live["probes"]), (&wic["captured"], &wic["probes"]));
    // The table has no room for what ran, so a note says it; `all` runs each once.
    let table = desk.run(&format!("{args} --policy wic"));
    assert!(
        table.stderr.contains("wic ran as the service's scheduler, strategy learned"),
        "{}",
        table.stderr
    );
    let all = desk.json(&format!("{args} --policy all --json"));
    let ran: Vec<_> = all["runs"].as_array().unwrap().iter().map(|run| run["ran"].clone()).collect();
    assert_eq!(
        ran,
        ["round-robin", "cam", "learned"].map(|name| format!("the service's scheduler, strategy {name}"))
    );
    let exact =
        desk.run("simulate trace --trace in.csv --chronon 10m --budget 1 --policy live --knowledge exact");
    assert!(exact.code == 2 && exact.stderr.contains("try --knowledge learned"), "{}", exact.stderr);
    let reported =
        desk.run("simulate trace --trace in.csv --chronon 10m --budget 1 --policy wic --warm-up 0.1");
    assert!(reported.code == 2 && reported.stderr.contains("add --knowledge learned"), "{}", reported.stderr);
}

/// One scheduler gains more on both than either side gains with the whole budget, and says what fixed splits gain.
#[test]
fn changes_and_needs_under_one_budget() {
    let desk = Desk::new();
    desk.run("generate poisson --sources 20 --span 2d --per-day 12 --seed 3 --out trace.csv");
    desk.run("generate auctionwatch --profiles 20 --chronons 280 --seed 3 --out needs.csv");
    let args = "simulate mixed --trace trace.csv --intervals needs.csv --chronon 10m --budget 2";
    let report = desk.json(&format!("{args} --json"));
    let (live, best) = (&report["live"], &report["best_split"]);
    let figure = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(
        (figure(&live["changes_gain"]) + figure(&live["ceis_gain"]) - figure(&live["gain"])).abs() < 1e-9
    );
    assert!(live["probes"].as_u64().unwrap() <= 2 * 288, "{report}");
    let splits = report["splits"].as_array().unwrap();
    let shares: Vec<f64> = splits.iter().map(|split| figure(&split["share"])).collect();
    assert_eq!((shares.len(), shares[0], shares[10]), (11, 0.0, 1.0));
    assert!(splits.iter().all(|split| figure(&split["gain"]) <= figure(&best["gain"])), "{report}");
    for alone in [&splits[0], &splits[10]] {
        assert!(figure(&live["gain"]) > figure(&alone["gain"]), "{report}");
    }
    // Nothing that was added is ever lost here, and what is found late is worth less.
    let changes_gain = |urgency: &str| {
        let report = desk.json(&format!("{args} --life append --urgency {urgency} --json"));
        report["live"]["changes_gain"].as_f64().unwrap()
    };
    let (whenever, soon) = (changes_gain("uniform"), changes_gain("exp:0.8"));
    assert!(soon > 0.0 && soon < 0.9 * whenever, "{soon} of {whenever}");
    let table = desk.run(args);
    assert!(
        table.stdout.contains("one scheduler") && table.stdout.contains(", the best"),
        "{}",
        table.stdout
    );
    let refused = desk.run(&format!("{args} --warm-up 1"));
    assert!(refused.code == 2 && refused.stderr.contains("--warm-up"), "{}", refused.stderr);
}
