//! `dunlin plan polling` on inputs small enough to know the answer, and CAM on the command line.

use serde_json::json;

use crate::run::Desk;

/// A day of updates at :05 and :14 past every hour, as one source; another one at :30.
fn desk() -> Desk {
    let of_hour = |hour: i32| format!("news,{}\nnews,{}\n", hour * 3_600 + 300, hour * 3_600 + 840);
    let news: Vec<_> = (0..24).map(of_hour).collect();
    let blog: Vec<_> = (0..24).map(|hour| format!("blog,{}\n", hour * 3_600 + 1_800)).collect();
    let (news, blog) = (news.concat(), blog.concat());
    let (trace, both) = (format!("source,time\n{news}"), format!("source,time\n{news}{blog}"));
    Desk::new().with("one.csv", trace).with("two.csv", both)
}

const POLLING: &str = "plan polling --trace one.csv --period 1h --slot 1m --polls 2";

#[test]
fn the_papers_example() {
    let desk = desk();
    let exact = desk.json(&format!("{POLLING} --method exact --json"));
    assert_eq!(exact["slots"], json!([5, 14]));
    assert_eq!((&exact["missed"], &exact["updates"], &exact["recall"]), (&json!(0), &json!(48), &json!(1.0)));
    assert_eq!((&exact["freshness"], &exact["mean_age"]), (&json!(1.0), &json!(0.0)));
    assert!(exact["seconds"].is_f64());
    let uniform = desk.json(&format!("{POLLING} --method uniform --json"));
    assert_eq!((&uniform["slots"], &uniform["recall"]), (&json!([0, 30]), &json!(0.5)));
    assert_eq!(desk.json(&format!("{POLLING} --method modelled --json"))["recall"], 1.0);
    let table = desk.run(&format!("{POLLING},3 --method exact,uniform"));
    assert_eq!((table.code, table.stdout.lines().count()), (0, 5), "{}", table.stdout);
    assert_eq!(desk.json(&format!("{POLLING},3 --method exact --json"))["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn figures_are_of_the_part_after_training() {
    let report = desk().json(&format!("{POLLING} --method exact --train-until 43200 --json"));
    assert_eq!((&report["updates"], &report["missed"]), (&json!(24), &json!(0)));
    for objective in ["recall", "age", "freshness"] {
        let report = desk().json(&format!("{POLLING} --method exact --objective {objective} --json"));
        assert_eq!(report["slots"], json!([5, 14]), "{objective}");
    }
}

#[test]
fn several_sources_share_the_polls_and_one_can_be_picked() {
    let desk = desk();
    let polling = POLLING.replace("one.csv", "two.csv");
    let shared = desk.json(&format!("{} --method exact --json", polling.replace("--polls 2", "--polls 3")));
    assert_eq!(shared["slots"], json!({"blog": [30], "news": [5, 14]}));
    assert_eq!((&shared["updates"], &shared["missed"]), (&json!(72), &json!(0)));
    let picked = desk.json(&format!("{polling} --source blog --method exact --json"));
    assert_eq!((&picked["slots"], &picked["updates"]), (&json!([30]), &json!(24)));
}

#[test]
fn nonsense_is_refused_with_its_position() {
    let desk = desk();
    let exact = format!("{POLLING} --method exact");
    let table = [
        (exact.replace("--polls 2", "--polls 0"), "--polls"),
        (exact.replace("--polls 2", ""), "--polls"),
        (exact.replace("--method exact", "--method best"), "exact, modelled, uniform"),
        (
            exact.replace("--slot 1m", "--slot 7m"),
            "period of seconds 3600 (expected a whole number of slots of 420 s)",
        ),
        (exact.replace("--slot 1m", "--slot soon"), "expected a whole, positive duration"),
        (exact.replace("one.csv", "none.csv"), "none.csv: no such file"),
        (
            format!("{exact} --source nobody"),
            "source \"nobody\" (expected a source of the trace, such as \"news\")",
        ),
        (
            format!("{exact} --train-until 100"),
            "end of training 100 (expected a second after the first update, 300",
        ),
        (format!("{POLLING} --method uniform --objective age"), "try --method exact"),
        (exact.replace("1h --slot 1m", "20d --slot 1s"), "try longer slots"),
    ];
    for (args, message) in table {
        let done = desk.run(&args);
        assert!(done.stderr.contains(message), "{args}\nexpected: {message}\ngot: {}", done.stderr);
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{args}");
    }
}

#[test]
fn cam_plans_a_trace_by_what_is_known() {
    let desk = desk();
    let args = "simulate trace --trace two.csv --chronon 60s --budget 1 --policy cam";
    let exact = desk.json(&format!("{args} --knowledge exact --schedule-out out.csv --json"));
    assert_eq!(
        (&exact["policy"], &exact["completeness"], &exact["mean_delay"]),
        (&json!("cam"), &json!(1.0), &json!(0.0))
    );
    let scored = desk.json("score trace --trace two.csv --chronon 60s --schedule out.csv --budget 1 --json");
    assert_eq!((&scored["within_budget"], &scored["completeness"]), (&json!(true), &json!(1.0)));
    let noisy = desk.json(&format!("{args} --knowledge noisy --fpn 0.3 --json"));
    assert!(noisy["completeness"].as_f64() < exact["completeness"].as_f64());
    let needs = Desk::new().with("in.csv", "profile,cei,resource,start,finish\np,1,a,1,5\n");
    let refused = needs.run("simulate intervals --intervals in.csv --chronons 9 --budget 1 --policy cam");
    assert!(refused.stderr.contains("try simulate trace"), "{}", refused.stderr);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let all = needs.json("simulate intervals --intervals in.csv --chronons 9 --budget 1 --policy all --json");
    assert!(!all.to_string().contains("\"cam\""));
}

#[test]
fn the_headline_table() {
    let desk = Desk::new();
    let args = "simulate workload cam --sources 100 --chronons 100 --seeds 2";
    let table = desk.run(args);
    for name in ["uniform", "proportional", "cam, greedy times", "cam"] {
        assert!(table.stdout.contains(name), "{name} in {}", table.stdout);
    }
    let runs = desk.json(&format!("{args} --json"));
    assert_eq!((&runs["seeds"], runs["runs"].as_array().unwrap().len()), (&json!(2), 4));
    let refused = desk.run(&format!("{args} --weight-skew -1"));
    assert!(refused.stderr.contains("weight skew -1 (expected a number from 0 to 10)"), "{}", refused.stderr);
    assert_eq!(refused.code, 2);
}

#[test]
fn what_no_longer_holds_can_be_forgotten() {
    // Eight days of one habit, then two of another; three polls cannot do for both.
    let minutes = |hour: i32| if hour < 8 * 24 { [5, 14, 23] } else { [40, 45, 50] };
    let line =
        |hour: i32| minutes(hour).map(|minute| format!("news,{}\n", hour * 3_600 + minute * 60)).concat();
    let trace = format!("source,time\n{}", (0..240).map(line).collect::<String>());
    let desk = Desk::new().with("one.csv", trace);
    let polling = POLLING.replace("--polls 2", "--polls 3 --method exact --json");
    let slots = |flags: &str| desk.json(&format!("{polling} {flags}"))["slots"].clone();
    assert_eq!(slots("").as_array().unwrap()[..2], [5, 14]);
    for flags in ["--last 2d", "--half-life 12h", "--since-break"] {
        // The third may stand wherever it still does something for what was before.
        let slots = slots(flags);
        assert!(
            [40, 45].iter().all(|slot| slots.as_array().unwrap().contains(&json!(slot))),
            "{flags}: {slots}"
        );
    }
    let reported = desk.run(&format!("{POLLING} --method exact --since-break"));
    assert!(reported.stderr.contains("1 of 1 sources changed their habits"), "{}", reported.stderr);
}

#[test]
fn the_guarantee_beside_what_is_reached() {
    let desk = Desk::new();
    let args = "simulate workload guarantee --seeds 5 --sources 3 --chronons 5";
    assert_eq!(desk.run(args).code, 0);
    for run in desk.json(&format!("{args} --json"))["runs"].as_array().unwrap() {
        let figure = |name: &str| run[name].as_f64().unwrap();
        assert!(figure("promised") >= 0.5 && figure("least") >= figure("promised"), "{run}");
    }
    let refused = desk.run("simulate workload guarantee --sources 20 --chronons 100");
    assert!(refused.code == 2 && refused.stderr.contains("try fewer sources"), "{}", refused.stderr);
}
