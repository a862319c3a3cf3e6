//! Commands on sources and changes: the same answers from a running service as from its data directory.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::Phase;
use dunlin_store::{Capture, NewChange, NewSource, Outcome, ProbeId, SqliteStore, Store as _};
use serde_json::Value;

use crate::run::{Desk, Done, dunlin};
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
    let five = desk.json("changes --data data --json --limit 5");
    let (first, five) = (first_of(&five, "changes"), five["changes"].as_array().unwrap());
    let other = five.iter().find(|change| change["source"] != first["source"]).unwrap();
    let pieces = first["detail"]["pieces"].as_array().unwrap();
    let inserted = pieces.iter().find(|piece| piece["op"] == "insert").unwrap()["text"].as_str().unwrap();
    let shown = desk.run("changes --data data --diff --limit 1").stdout;
    assert!(shown.contains(&format!("{{+{}", inserted.lines().next().unwrap())), "{shown}");

    let diff = |flags: &str| desk.run(&format!("diff v{} --data data {flags}", first["version"])).stdout;
    assert!(diff("--form unified").contains("@@ -"), "{}", diff("--form unified"));
    let beside = diff("--form side-by-side");
    assert!(beside.lines().skip(1).any(|line| line.contains(" ~ ") || line.contains(" + ")), "{beside}");

    let refused =
        desk.run(&format!("diff v{} --against v{} --data data", first["version"], other["version"]));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("compare versions of one source"), "{}", refused.stderr);

    // Written through the service: paused, so that nothing is fetched.
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
    let table = desk.run("budget --data data").stdout;
    assert!(table.contains("http://127.0.0.1:"), "scopes are named by what people know them by: {table}");
    assert!(!desk.json("decisions --data data --json")["decisions"].as_array().unwrap().is_empty());
    let named = desk.json("sources --data data --json")["sources"].as_array().unwrap().clone();
    let named = named.iter().find_map(|source| source["name"].as_str().or(source["title"].as_str())).unwrap();
    let table = desk.run("decisions --limit 1000 --data data").stdout;
    assert!(table.contains(&named[..named.floor_char_boundary(10)]), "{named}: {table}");
    newest_ends(&desk);
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
    newest_ends(&desk);
    let done = desk.run("probe 1 --data data");
    assert_eq!(done.code, 3);
    assert!(done.stderr.contains("dunlin serve"), "{}", done.stderr);
    exports(&desk);
}

/// People see what is new, and lists are as long as was asked for.
fn newest_ends(desk: &Desk) {
    let ids = |args: &str, list: &str, id: &str| -> Vec<i64> {
        let page = desk.json(&format!("{args} --data data --json"));
        page[list].as_array().unwrap().iter().map(|row| row[id].as_i64().unwrap()).collect()
    };
    let first = ids("changes --limit 100000", "changes", "cursor");
    let last = ids("changes --last 2", "changes", "cursor");
    assert_eq!(last.len(), 2);
    assert!(last[0] < last[1] && &last[1] >= first.last().unwrap(), "{last:?} after {first:?}");
    assert_eq!(ids("decisions --limit 5", "decisions", "id").len(), 5);
    let first = ids("decisions --limit 1000", "decisions", "id");
    let last = ids("decisions --last 2", "decisions", "id");
    assert!(last[0] < last[1] && &last[1] >= first.last().unwrap(), "{last:?} after {first:?}");
    assert_eq!(desk.run("changes --last 2 --after 1 --data data").code, 2);
}

fn exports(desk: &Desk) {
    let opml = desk.run("export opml --data data");
    assert_eq!(opml.code, 0, "{}", opml.stderr);
    let desk_of_another = Desk::new().with("other.opml", &opml.stdout);
    // The made-up web is on this machine, which has to be allowed.
    let desk_of_another = desk_of_another.with("mine.toml", "[guard]\nnetworks = [\"127.0.0.0/8\"]\n");
    std::fs::create_dir(desk_of_another.path("data")).unwrap();
    std::fs::rename(desk_of_another.path("mine.toml"), desk_of_another.path("data/dunlin.toml")).unwrap();
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

/// Every setting of a source can be undone, and a header is never shown.
#[test]
fn settings_of_a_source_can_be_undone() {
    let desk = Desk::new();
    let mut add = dunlin(&desk.path(""), "add https://a.example/ --data data --selector .price --ignore .ad");
    add.args(["--ignore-pattern", "[0-9]+ views", "--header", "X-Key: s3cret", "--shortest-gap", "5m"]);
    let done = Done::of(add.args(["--longest-gap", "2h", "--json"]).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stdout.contains("s3cret"), "{}", done.stdout);
    let source = || desk.json("sources --data data --json")["sources"][0].clone();
    let before = source();
    assert_eq!((&before["selector"], &before["shortest_gap"]), (&".price".into(), &300.into()), "{before}");
    assert_eq!(before["ignore_patterns"], serde_json::json!(["[0-9]+ views"]));
    assert!(before.to_string().contains("X-Key") && !before.to_string().contains("s3cret"), "{before}");
    let mut edit = dunlin(&desk.path(""), "edit 1 --data data --shortest-gap none");
    let done = Done::of(edit.args(["--selector", "", "--ignore", "", "--header", ""]).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let after = source();
    assert_eq!((&after["selector"], &after["shortest_gap"]), (&Value::Null, &Value::Null), "{after}");
    assert_eq!((&after["ignore_selectors"], &after["longest_gap"]), (&serde_json::json!([]), &7200.into()));
    assert!(!after.to_string().contains("X-Key"), "{after}");
    for nonsense in ["--shortest-gap 1500ms", "--header nonsense", "--longest-gap soon"] {
        assert_eq!(desk.run(&format!("edit 1 --data data {nonsense}")).code, 2, "{nonsense}");
    }
    let done = desk.run("tail --count 0 --data data");
    assert_eq!(done.code, 2, "{}", done.stderr);
    let explained = desk.run("explain 1 --data data");
    assert!(explained.stderr.contains("no service runs"), "{}", explained.stderr);
}

/// A dry run says what the real one will do, with a service and without.
#[test]
fn a_dry_run_of_an_import_is_right() {
    let list =
        "https://a.example/\nhttp://10.0.0.1/\nhttp://10.0.0.1/\nhttps://a.example/\nhttps://b.example/\n";
    let desk = Desk::new().with("list.txt", list);
    let counted = |args: &str| {
        let done = desk.run(&format!("import list.txt --data data {args}"));
        assert_eq!(done.code, 2, "{}", done.stderr);
        done.stdout
    };
    assert_eq!(counted("--dry-run"), "2 would be added, 1 already there, 2 bad\n");
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0 --budget 1/day");
    running.line_with("Ctrl-C");
    assert_eq!(counted("--dry-run"), "2 would be added, 1 already there, 2 bad\n");
    assert_eq!(counted(""), "2 added, 1 already there, 2 bad\n");
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    assert_eq!(counted(""), "0 added, 3 already there, 2 bad\n");
}

#[test]
fn sources_go_by_their_names_and_keep_them_from_list_to_list() {
    let desk = Desk::new().with(
        "list.opml",
        "<opml><body><outline text='Harbour &amp; sea' xmlUrl='https://a.example/feed'/>\
         <outline text='https://b.example/' url='https://b.example/'/></body></opml>",
    );
    assert_eq!(desk.run("import list.opml --data data").stdout, "2 added, 0 already there, 0 bad\n");
    assert_eq!(desk.run("add https://c.example/ --name Tides --data data").code, 0);
    let names = || -> Vec<Value> {
        let sources = desk.json("sources --data data --json")["sources"].as_array().unwrap().clone();
        sources.into_iter().map(|source| source["name"].clone()).collect()
    };
    assert_eq!(names(), [Value::from("Harbour & sea"), Value::Null, Value::from("Tides")]);
    let exported = desk.run("export opml --data data").stdout;
    assert!(exported.contains("text=\"Harbour &amp; sea\""), "{exported}");
    for shown in ["sources", "explain 3"] {
        assert!(desk.run(&format!("{shown} --data data")).stdout.contains("Tides"), "{shown}");
    }
    let mut clear = dunlin(&desk.path("."), "edit 3 --data data --name");
    assert_eq!(Done::of(clear.arg("").output().unwrap()).code, 0);
    assert_eq!(names()[2], Value::Null);
    let mut bad = dunlin(&desk.path("."), "add https://d.example/ --data data --name");
    assert_eq!(Done::of(bad.arg("two\nlines").output().unwrap()).code, 2);
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

/// An address does not say which of two sources is meant, so nothing is done to either.
#[test]
fn an_address_of_two_sources_names_neither() {
    let desk = Desk::new();
    for kind in ["page", "text"] {
        assert_eq!(desk.run(&format!("add https://a.example/ --kind {kind} --data data")).code, 0);
    }
    for command in ["remove", "pause", "edit --weight 5"] {
        let done = desk.run(&format!("{command} https://a.example/ --data data"));
        assert_eq!(done.code, 2, "{command}: {}", done.stderr);
        assert!(done.stderr.contains("sources 1, 2 have this address (give the number)"), "{}", done.stderr);
    }
    let sources = desk.json("sources --data data --json")["sources"].clone();
    let left: Vec<_> =
        sources.as_array().unwrap().iter().map(|source| (&source["id"], &source["weight"])).collect();
    assert_eq!(left, [(&1.into(), &1.0.into()), (&2.into(), &1.0.into())]);
    assert_eq!(desk.run("remove 2 --data data").code, 0);
    assert_eq!(desk.run("remove https://a.example/ --data data").code, 0);
}

#[test]
fn the_kind_that_is_given_goes_before_the_kind_in_a_list() {
    let list =
        "<opml><body><outline xmlUrl='https://a.example/'/><outline url='https://b.example/'/></body></opml>";
    let desk = Desk::new().with("list.opml", list);
    for (data, flag, kinds) in [("one", "", ["feed", "auto"]), ("two", "--kind text", ["text", "text"])] {
        assert_eq!(desk.run(&format!("import list.opml {flag} --data {data}")).code, 0);
        let sources = desk.json(&format!("sources --data {data} --json"))["sources"].clone();
        let found: Vec<_> = sources.as_array().unwrap().iter().map(|source| source["kind"].clone()).collect();
        assert_eq!(found, kinds, "{flag}");
    }
}

#[test]
fn tags_that_are_given_and_those_of_a_list_all_count_once() {
    let list = "<opml><body><outline text='News'><outline xmlUrl='https://a.example/' category='News,deep'/></outline>\
                <outline url='https://b.example/'/></body></opml>";
    let desk = Desk::new().with("list.opml", list);
    assert_eq!(desk.run("import list.opml --tag later --data data").code, 0);
    let sources = desk.json("sources --data data --json")["sources"].clone();
    assert_eq!(sources[0]["tags"], serde_json::json!(["later", "News", "deep"]));
    assert_eq!(sources[1]["tags"], serde_json::json!(["later"]));
}

#[test]
fn a_trace_has_what_came_and_not_what_went_or_failed() {
    let desk = Desk::new();
    let at = Time::from_seconds;
    {
        std::fs::create_dir(desk.path("data")).unwrap();
        let store = SqliteStore::open(&desk.path("data")).unwrap();
        let source = store.add_source(NewSource::page("https://a.example/", at(0))).unwrap();
        for (number, kind) in (1..).zip(["added", "removed", "edited", "failing", "recovered"]) {
            let time = at(1_000 * number);
            let mut capture = Capture::bare(source, ProbeId(number.cast_unsigned()), time, Outcome::Changed);
            capture.changes.push(NewChange {
                kind: kind.to_owned(),
                item: Some("one".to_owned()),
                summary: kind.to_owned(),
                detail: Vec::new(),
                happened_after: None,
                happened_before: time,
            });
            store.record_capture(capture).unwrap();
        }
    }
    let trace = desk.run("export trace --data data");
    assert_eq!((trace.code, &*trace.stdout), (0, "source,time\n1,1000\n1,3000\n"), "{}", trace.stderr);
}

/// As the API does: a reader with the cursor of another store would silently miss changes.
#[test]
fn a_cursor_that_is_ahead_is_refused_without_a_service_too() {
    let desk = Desk::new();
    assert_eq!(desk.run("add https://a.example/ --data data").code, 0);
    for command in ["changes", "tail"] {
        let done = desk.run(&format!("{command} --after 7 --data data"));
        assert_eq!(done.code, 2, "{command}: {}", done.stderr);
        assert!(done.stderr.contains("ahead of the newest change, 0"), "{command}: {}", done.stderr);
    }
}

#[test]
fn a_page_that_changes_all_the_time_can_be_reported_every_time() {
    let desk = Desk::new();
    let rule = |args: &str| desk.json(&format!("{args} --data data --json"))["flicker"].clone();
    assert_eq!(rule("add https://a.example/"), "learn");
    assert_eq!(rule("edit 1 --flicker tell"), "tell");
    assert_eq!(rule("edit 1 --weight 2"), "tell");
    assert_eq!(rule("add https://b.example/ --flicker tell"), "tell");
    assert_eq!(desk.run("add https://c.example/ --flicker never --data data").code, 2);
}

/// What a hint says to set can be set.
#[test]
fn hints_name_settings_that_there_are() {
    let desk = Desk::new();
    let refused = desk.run("add http://192.168.1.1/ --data data");
    assert_eq!(refused.code, 2);
    let known = desk.run("config check --data data").stdout;
    for key in ["guard.networks", "guard.hosts"] {
        assert!(refused.stderr.contains(key), "{}", refused.stderr);
        assert!(known.contains(key), "{key}: {known}");
    }
    for phase in [Phase::Connect, Phase::Handshake, Phase::FirstByte, Phase::Body, Phase::Total] {
        let limit = Duration::from_secs(1);
        let error = dunlin_net::Error::TimedOut { host: "a.example".to_owned(), phase, limit }.to_string();
        let key = error.split_whitespace().find(|word| word.starts_with("limits.")).unwrap();
        assert!(known.contains(key), "{key}: {known}");
    }
}

/// A full disk below standard output is reported, and no change is silently skipped.
#[cfg(target_os = "linux")]
#[test]
fn following_ends_when_nothing_can_be_written() {
    let desk = Desk::new();
    let mut running = Running::start(&desk, DEMO);
    running.line_with("http://127.0.0.1:");
    running.line_with("Ctrl-C stops it");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut tail = dunlin(&desk.path(""), "tail --after 0 --data data");
    let done = Done::of(tail.stdout(full).stdin(std::process::Stdio::null()).output().unwrap());
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(done.stderr.contains("standard output"), "{}", done.stderr);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
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
    // What that service may reach is for it to say.
    std::fs::write(desk.path("list.txt"), "http://192.168.1.1/\nhttp://169.254.169.254/\n").unwrap();
    let imported = desk.run(&format!("import list.txt --dry-run {reach}"));
    assert_eq!(imported.stdout, "1 would be added, 0 already there, 1 bad\n", "{}", imported.stderr);
    let refused = desk.run(&format!("add https://a.example/ --life forever {reach}"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let refused = desk.run(&format!("sources --server {server} --token wrong"));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(!refused.stderr.contains("wrong"), "{}", refused.stderr);
    assert_eq!(desk.run("token revoke laptop --data data").code, 0);
    assert_eq!(desk.run(&format!("sources {reach}")).code, 2);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    // The service is gone.
    assert_eq!(desk.run(&format!("sources {reach}")).code, 3);
}
