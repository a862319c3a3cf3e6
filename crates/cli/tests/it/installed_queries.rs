//! `dunlin query` on what is installed: the same from a running service as from its data directory.

use serde_json::{Value, json};

use crate::run::Desk;
use crate::running::Running;
use crate::serve::DEMO;

const RATE: &str = "-- mine
QUERY rate SELECT value AS rate FROM page 'https://rates.example/brent' PICK '.last' EVERY 10 MINUTES
";
const TWO: &str = "QUERY a SELECT item AS x FROM feed 'https://a.example/' EVERY 1 HOUR
QUERY b SELECT item AS x FROM feed 'https://b.example/' EVERY 1 HOUR";

#[test]
fn of_a_file_with_a_query_that_is_refused_none_is_installed() {
    let mixed = format!(
        "-- the first\n{TWO}\n\n-- and another\nQUERY c SELECT item AS x FROM feed 'https://c.example/' EVERY 1 HOUR"
    );
    let desk = Desk::new()
        .with("mixed.q", mixed.replace("'https://b.example/'", "'http://127.0.0.1/'"))
        .with("mended.q", mixed);
    let done = desk.run("query add mixed.q --data data");
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("mixed.q:3:36: ") && done.stderr.contains("3 | QUERY b SELECT"),
        "{}",
        done.stderr
    );
    assert_eq!(desk.json("query list --data data --json")["queries"], json!([]));
    assert_eq!(desk.run("query add mended.q --data data").code, 0);
    assert_eq!(
        desk.run("query show c --data data").stdout,
        "-- and another\nQUERY c SELECT item AS x FROM feed 'https://c.example/' EVERY 1 HOUR\n"
    );
}

#[test]
fn queries_are_installed_edited_paused_and_removed_without_a_service() {
    let desk = Desk::new()
        .with("rate.q", RATE)
        .with("two.q", TWO)
        .with("broken.q", "QUERY c SELECT item AS x FROM source 9 EVERY 1 HOUR")
        .with("other.q", TWO.lines().next().unwrap());
    let done = desk.run("query add rate.q --data data");
    assert_eq!((done.code, done.stdout.as_str()), (0, "query 1: rate is installed\n"), "{}", done.stderr);
    assert!(done.stderr.contains("no service runs"), "{}", done.stderr);
    assert_eq!(
        desk.run("query add two.q --data data").stdout,
        "query 2: a is installed\nquery 3: b is installed\n"
    );
    let listed = desk.json("query list --data data --json");
    let names: Vec<&Value> =
        listed["queries"].as_array().unwrap().iter().map(|query| &query["name"]).collect();
    assert_eq!(names, ["rate", "a", "b"]);
    assert_eq!(desk.run("query show rate --data data").stdout, RATE, "as it was written, with comments");
    assert_eq!(desk.json("query show 1 --data data --json")["state"], "running");

    let done = desk.run("query add broken.q --data data");
    assert_eq!(done.code, 2);
    let caret = "\
broken.q:1:38: no source has the number 9
  1 | QUERY c SELECT item AS x FROM source 9 EVERY 1 HOUR
";
    assert!(done.stderr.contains(caret), "{}", done.stderr);
    let done = desk.run("query add other.q --data data");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("a query is called `a` already"), "{}", done.stderr);
    let done = desk.run("query show rat --data data");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("did you mean `rate`?"), "{}", done.stderr);

    assert_eq!(desk.run("query pause rate --data data").stdout, "query 1 (rate): paused\n");
    assert_eq!(desk.run("query resume 1 --data data").stdout, "query 1 (rate): running\n");
    assert_eq!(desk.run("query edit b two.q --data data").code, 2, "a text with two queries");
    assert_eq!(desk.run("query remove a --data data").stdout, "query 2 (a): removed\n");
    assert_eq!(desk.run("query edit b other.q --data data").stdout, "query 3 (a): edited\n");
    assert_eq!(desk.run("query remove b --data data").code, 2);
    assert!(desk.run("query results a --data data").stderr.contains("no results yet"));
    assert_eq!(desk.json("query results a --data data --json"), json!({ "results": [], "next": 0 }));
    assert_eq!(desk.json("query missed a --data data --json"), json!({ "missed": [], "next": 0 }));
    assert!(desk.run("query test rate.q --data data").stdout.contains("nothing is stored"));
    assert_eq!(
        desk.json("sources --data data --json")["sources"],
        json!([]),
        "nobody watches what queries read"
    );
}

#[test]
fn results_are_the_same_from_a_service_and_from_its_data_directory() {
    let desk = Desk::new()
        .with("post.q", "QUERY post SELECT item AS post FROM source 'News northern post' EVERY 2 SECONDS\n");
    let mut running = Running::start(&desk, DEMO);
    running.line_with("Ctrl-C stops it");
    assert!(desk.run("query add post.q --data data").stdout.contains("post is installed"));
    let mut tail = Running::start(&desk, "tail --query post --data data --after 0 --count 3 --json");
    let mut streamed: Vec<Value> = Vec::new();
    for _ in 0..3 {
        streamed.push(serde_json::from_str(&tail.line_with("\"cursor\"")).unwrap());
    }
    assert_eq!(tail.end().0, Some(0));
    let three = desk.json("query results post --limit 3 --data data --json");
    assert_eq!(three["results"], json!(streamed));
    let part = &streamed[0]["parts"]["post"];
    assert!(
        part["url"].as_str().unwrap().contains("news-northern-post") && part["version"].is_i64(),
        "{part}"
    );
    let explained = desk.json("query explain post --data data --json");
    assert_eq!(explained["reads"][0]["health"], "well", "{explained}");
    let demo = desk.json("query show harbour_desk --data data --json");
    assert_eq!((&demo["state"], demo["sources"].as_array().unwrap().len()), (&json!("running"), 3));
    let tried = desk.json("query test post.q --data data --json");
    assert!(tried["complete"].as_u64().unwrap() >= 1, "{tried}");
    let shown = desk.run("query results post --limit 1 --data data").stdout;
    assert!(shown.contains("= post  result "), "{shown}");
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    assert_eq!(desk.json("query results post --limit 3 --data data --json"), three);
    assert_eq!(desk.json("query test post.q --data data --json")["results"][0], tried["results"][0]);
}
