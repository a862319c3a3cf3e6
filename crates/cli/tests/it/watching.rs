//! Commands on sources and changes: the same answers from a running service as from its data directory.

use serde_json::Value;

use crate::run::Desk;
use crate::running::Running;
use crate::serve::DEMO;

fn first_of(report: &Value, name: &str) -> Value {
    report[name].as_array().unwrap().first().cloned().unwrap()
}

/// Everything that reads, as JSON, up to a cursor.
fn answers(desk: &Desk, last: i64) -> Vec<(String, Value)> {
    let changes = desk.json(&format!("changes --data data --json --limit {last}"));
    let change = first_of(&changes, "changes");
    let (version, source) = (change["version"].as_i64().unwrap(), change["source"].as_i64().unwrap());
    let mut answers = vec![("changes".to_owned(), changes)];
    for args in [
        format!("changes --data data --json --source {source} --limit 1"),
        format!("show v{version} --data data --json"),
        format!("diff v{version} --data data --json"),
        "sources --data data --tag demo --json".to_owned(),
        "token list --data data --json".to_owned(),
    ] {
        answers.push((args.clone(), desk.json(&args)));
    }
    answers
}

#[test]
fn a_service_and_its_data_directory_say_the_same() {
    let desk = Desk::new().with("list.txt", "# mine\nhttps://a.example/\nhttps://a.example/\nnonsense\n");
    let mut running = Running::start(&desk, DEMO);
    running.line_with("Ctrl-C stops it");
    let mut tail = Running::start(&desk, "tail --data data --after 0 --count 5 --json");
    for _ in 0..5 {
        tail.line_with("\"cursor\"");
    }
    assert_eq!(tail.end().0, Some(0));

    // Written through the service: paused, so that nobody is asked.
    assert_eq!(desk.run("token create laptop --data data").code, 0);
    let added = desk
        .json("add https://b.example/feed?key=s3cret --kind feed --tag mine --weight 2 --data data --json");
    let id = added["id"].as_i64().unwrap();
    assert_eq!(desk.run(&format!("pause {id} --data data")).code, 0);
    let imported = desk.run("import list.txt --data data --dry-run");
    assert_eq!(imported.code, 2);
    assert!(imported.stderr.contains("list.txt:4: "), "{}", imported.stderr);
    assert_eq!(imported.stdout, "1 would be added, 1 already there, 1 bad\n");
    let explained = desk.json("explain 1 --data data --json");
    assert!(explained["forecast"]["curve"].is_array(), "{explained}");
    assert_eq!(desk.run("probe 1 --data data").code, 0);
    assert_eq!(desk.run("budget set 3/s --data data").code, 0);
    let budget = desk.json("budget --data data --json");
    assert_eq!(budget["per_second"], 3.0);
    assert!(budget["used"]["day"].as_u64().unwrap() >= 1, "{budget}");
    assert!(!desk.json("decisions --data data --json")["decisions"].as_array().unwrap().is_empty());
    let table = desk.run("sources --data data").stdout;
    assert!(table.contains("https://b.example/feed?…") && !table.contains("s3cret"), "{table}");

    let while_running = answers(&desk, 5);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    for ((what, then), (_, now)) in while_running.into_iter().zip(answers(&desk, 5)) {
        if what.starts_with("sources") {
            assert_eq!(then["sources"].as_array().unwrap().len(), now["sources"].as_array().unwrap().len());
        } else {
            assert_eq!(then, now, "{what}");
        }
    }
    assert_eq!(desk.json("budget --data data --json")["per_second"], 3.0);
    let done = desk.run("probe 1 --data data");
    assert_eq!(done.code, 3);
    assert!(done.stderr.contains("dunlin serve"), "{}", done.stderr);
    exports(&desk);
}

fn exports(desk: &Desk) {
    let opml = desk.run("export opml --data data");
    assert_eq!(opml.code, 0, "{}", opml.stderr);
    let desk_of_another = Desk::new().with("other.opml", &opml.stdout);
    let imported = desk_of_another.json("import other.opml --data data --dry-run --json");
    let n_sources = desk.json("sources --data data --json")["sources"].as_array().unwrap().len();
    assert_eq!(imported["added"], n_sources, "{imported}");
    let lines = desk.run("export changes --data data").stdout;
    assert!(lines.lines().count() >= 5);
    for line in lines.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    assert_eq!(desk.run("export trace --data data --out trace.csv").code, 0);
    let simulated = desk.json("simulate trace --trace trace.csv --chronon 1s --budget 1 --policy wic --json");
    assert!(simulated["changes"].as_u64().unwrap() >= 1, "{simulated}");
}

#[test]
fn a_data_directory_needs_no_service() {
    let desk = Desk::new().with("list.txt", "https://a.example/ # news\nhttps://b.example/\n");
    let added =
        desk.run("add https://a.example/ --selector .price --ignore .ad --urgency exp:0.9 --data data");
    assert_eq!(
        (added.code, added.stdout.as_str()),
        (0, "source 1: https://a.example/\n"),
        "{}",
        added.stderr
    );
    let imported = desk.run("import list.txt --tag later --data data");
    assert_eq!(imported.stdout, "1 added, 1 already there, 0 bad\n", "{}", imported.stderr);
    let sources = desk.json("sources --data data --json");
    let source = &sources["sources"][0];
    assert_eq!((&source["selector"], &source["urgency"]), (&".price".into(), &"exp:0.9".into()), "{source}");
    assert_eq!(source["state"]["health"], "new");
    assert_eq!(desk.run("edit 1 --weight 5 --data data").code, 0);
    assert_eq!(desk.run("pause 1 2 --data data").code, 0);
    assert_eq!(
        desk.json("sources --state paused --data data --json")["sources"].as_array().unwrap().len(),
        2
    );
    assert_eq!(desk.run("resume https://b.example/ --data data").code, 0);
    let explained = desk.run("explain 2 --data data");
    assert!(explained.stdout.contains("never"), "{}{}", explained.stdout, explained.stderr);
    assert_eq!(desk.run("remove 1 --data data").code, 0);
    assert_eq!(desk.json("sources --data data --json")["sources"].as_array().unwrap().len(), 1);
    let none = desk.json("changes --data data --json");
    assert_eq!(none, serde_json::json!({ "changes": [], "next": 0 }));
}

#[test]
fn a_service_elsewhere_is_asked_with_a_token() {
    let desk = Desk::new();
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    let line = running.line_with("listening on");
    let server = line.split_whitespace().last().unwrap().trim_end_matches("api/v1/").to_owned();
    running.line_with("Ctrl-C");
    let token = desk.run("token create laptop --data data").stdout.trim().to_owned();
    assert!(token.starts_with("dunlin_laptop_"), "{token}");
    let reach = format!("--server {server} --token {token}");
    assert_eq!(desk.run(&format!("add https://a.example/ {reach}")).code, 0);
    assert_eq!(desk.json(&format!("sources --json {reach}"))["sources"][0]["url"], "https://a.example/");
    let refused = desk.run(&format!("add https://a.example/ --life forever {reach}"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let refused = desk.run(&format!("sources --server {server} --token wrong"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(!refused.stderr.contains("wrong"), "{}", refused.stderr);
    assert_eq!(desk.run("token revoke laptop --data data").code, 0);
    assert_eq!(desk.run(&format!("sources {reach}")).code, 2);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    // Nobody is there any more.
    assert_eq!(desk.run(&format!("sources {reach}")).code, 3);
}
