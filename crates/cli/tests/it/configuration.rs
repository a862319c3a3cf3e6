//! Settings from four sources, and every kind of mistake in them.

use std::process::Stdio;

use crate::run::{Desk, Done, dunlin};
use crate::running::Running;

fn origin_of(report: &serde_json::Value, key: &str) -> (String, String) {
    let settings = report["settings"].as_array().unwrap();
    let setting = settings.iter().find(|setting| setting["key"] == key).unwrap();
    let text = |name: &str| setting[name].as_str().unwrap().to_owned();
    (text("value"), text("origin"))
}

#[test]
fn the_nearest_source_of_a_setting_wins() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    let file = "budget = \"2/s\"\nlisten = \"127.0.0.1:9\"\n[politeness]\ngap = \"7s\"\n";
    std::fs::write(desk.path("data/dunlin.toml"), file).unwrap();
    let mut command = dunlin(&desk.path(""), "config check --data data --json");
    command.env("DUNLIN_BUDGET", "10/min").env("DUNLIN_GUARD_NETWORKS", "10.0.0.0/8, ::1/128");
    let done = Done::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = serde_json::from_str(&done.stdout).unwrap();
    let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(origin_of(&report, "budget"), pair("10/min", "DUNLIN_BUDGET"));
    assert_eq!(origin_of(&report, "listen"), pair("127.0.0.1:9", "data/dunlin.toml:2"));
    assert_eq!(origin_of(&report, "politeness.gap"), pair("7s", "data/dunlin.toml:4"));
    assert_eq!(origin_of(&report, "data"), pair("data", "--data"));
    assert_eq!(origin_of(&report, "guard.networks"), pair("10.0.0.0/8,::1/128", "DUNLIN_GUARD_NETWORKS"));
    assert_eq!(origin_of(&report, "robots"), pair("true", "default"));
}

#[test]
fn mistakes_are_located_and_all_of_them_reported() {
    let table = [
        ("bugdet = \"2/s\"\n", "c.toml:1:1: unknown key `bugdet` (did you mean `budget`?)"),
        (
            "[politeness]\n\n  gaap = \"2s\"\n",
            "c.toml:3:3: unknown key `politeness.gaap` (did you mean `politeness.gap`?)",
        ),
        ("gap = \"2s\"\n", "c.toml:1:1: unknown key `gap` (did you mean `politeness.gap`?)"),
        ("budget = \"lots\"\n", "c.toml:1:1: budget: `lots` is not a budget (expected"),
        ("budget = 3\n", "c.toml:1:1: budget: "),
        ("listen = \"here\"\n", "c.toml:1:1: listen: "),
        ("[guard]\nnetworks = [\"10.0.0.0/8\", \"all\"]\n", "c.toml:2:1: guard.networks: `all`"),
        ("chronon = \"0ms\"\n", "c.toml:1:1: chronon: `0ms` (expected 1ms to 1m)"),
        ("chronon = \"61s\"\n", "c.toml:1:1: chronon: `61s` (expected 1ms to 1m)"),
        ("assumed_rate = \"often\"\n", "c.toml:1:1: assumed_rate: "),
        ("[limits]\ntotal = \"0s\"\n", "c.toml:2:1: limits.total: "),
        ("[defaults]\nlife = \"forever\"\n", "c.toml:2:1: defaults.life: unknown life `forever`"),
        ("when = 2026-11-15\n", "c.toml:1:1: "),
        ("a = 1\nb = [\n", "c.toml:2:"),
        (
            "shortest_gap = \"2h\"\nlongest_gap = \"1h\"\n",
            "shortest_gap is 2h (c.toml:1) and longest_gap is 1h (c.toml:2)",
        ),
    ];
    for (text, message) in table {
        let desk = Desk::new().with("c.toml", text);
        for args in ["config check c.toml", "serve --config c.toml --data data"] {
            let Done { code, stdout, stderr } = desk.run(args);
            assert!(stderr.contains(message), "{args}\nexpected: {message}\ngot: {stderr}");
            assert_eq!((code, stdout.as_str()), (2, ""), "{args}");
        }
        assert!(!desk.path("data").exists());
    }
    let desk = Desk::new().with("c.toml", "x = 1\nbudget = \"2/s\"\ny = 2\n");
    let stderr = desk.run("config check c.toml").stderr;
    assert!(stderr.contains("c.toml:1:1: ") && stderr.contains("c.toml:3:1: "), "{stderr}");
}

#[test]
fn the_file_inside_the_data_directory_does_not_lead_to_another_one() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::write(desk.path("data/dunlin.toml"), "budget = \"2/s\"\ndata = \"other\"\n").unwrap();
    for args in ["config check --data data", "sources --data data"] {
        let done = desk.run(args);
        assert_eq!(done.code, 2, "{args}: {}", done.stderr);
        let message = "data/dunlin.toml:2:1: `data` cannot be set in the file inside the data directory";
        assert!(done.stderr.contains(message), "{args}: {}", done.stderr);
    }
    assert!(!desk.path("other").exists());
    let named = desk.run("config check data/dunlin.toml");
    assert_eq!(named.code, 0, "a file that is named may say where: {}", named.stderr);
}

#[test]
fn gaps_and_pauses_of_one_length_are_allowed() {
    let text = "shortest_gap = \"1h\"\nlongest_gap = \"1h\"\n[politeness]\nfirst_backoff = \"2m\"\nlongest_backoff = \"2m\"\n";
    let done = Desk::new().with("c.toml", text).run("config check c.toml");
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn flags_and_the_environment_are_checked_too() {
    let desk = Desk::new();
    let done = desk.run("serve --data data --budget often");
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("--budget: budget: `often` is not a budget"), "{}", done.stderr);
    let mut command = dunlin(&desk.path(""), "config check --data data");
    let done = Done::of(command.env("DUNLIN_LISTEN", "x").stdin(Stdio::null()).output().unwrap());
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("DUNLIN_LISTEN: listen: "), "{}", done.stderr);
    assert_eq!(desk.run("config check missing.toml").code, 2);
}

#[test]
fn a_pace_is_shown_in_the_unit_in_which_it_was_given() {
    let desk = Desk::new();
    let toml = "budget = \"120/min\"\nhost_budget = \"3600/h\"\nassumed_rate = \"0.5/s\"\n";
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::write(desk.path("data/dunlin.toml"), toml).unwrap();
    let report = desk.json("config check --data data --json");
    for (key, value) in [("budget", "120/min"), ("host_budget", "3600/h"), ("assumed_rate", "0.5/s")] {
        assert_eq!(origin_of(&report, key).0, value);
    }
    let shown = |what: &str| desk.run(&format!("budget {what} --data data")).stdout;
    let set_and_shown = || {
        assert!(shown("set 180/min").contains("budget: 180/min"));
        assert!(shown("").contains("180/min"), "{}", shown(""));
        assert_eq!(origin_of(&desk.json("config check --data data --json"), "budget").0, "180/min");
        assert!(shown("set 7200/h").contains("7200/h") && shown("").contains("7200/h"));
        assert!(shown("reset").contains("120/min") && shown("").contains("120/min"));
    };
    desk.run("add https://news.example/ --data data");
    set_and_shown();
    let mut running = Running::start(&desk, "serve --data data --listen 127.0.0.1:0");
    running.line_with("listening on");
    assert!(running.line_with("  budget ").contains("120/min"));
    running.line_with("Ctrl-C");
    set_and_shown();
}

/// What was set while a service ran goes before file and environment, says so, and can be undone; a flag is newer.
#[test]
fn a_stored_budget_is_no_secret() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::write(desk.path("data/dunlin.toml"), "budget = \"7/min\"\n").unwrap();
    assert_eq!(desk.run("budget set 3/h --data data").code, 0);
    let budget = || origin_of(&desk.json("config check --data data --json"), "budget");
    assert_eq!(budget(), ("3/h".to_owned(), "`dunlin budget set`".to_owned()));
    let serve = |args: &str| {
        let mut running = Running::start(&desk, &format!("serve --data data --listen 127.0.0.1:0 {args}"));
        running.line_with("Ctrl-C");
        running
    };
    let end = |running: Running| {
        running.signal("INT");
        running.end().1
    };
    let reported = end(serve(""));
    assert!(reported.contains("the budget is 3/h") && reported.contains("dunlin.toml:1"), "{reported}");
    let running = serve("");
    assert!(desk.run("budget reset --data data").stdout.contains("7/min"));
    assert!(
        budget().1.ends_with("dunlin.toml:1"),
        "another budget in the file counts from the next start on"
    );
    assert_eq!(desk.run("budget set 3/h --data data").code, 0);
    end(running);

    let running = serve("--budget 5/min");
    assert!(
        running.messages().contains("--budget 5/min replaces the budget of 3/h"),
        "{}",
        running.messages()
    );
    assert!(desk.run("budget --data data").stdout.contains("5/min"));
    end(running);
    assert_eq!(budget().0, "7/min");
    assert_eq!(desk.run("budget set 3/h --data data").code, 0);
    assert!(desk.run("budget reset --data data").stdout.contains("7/min"));
    assert!(budget().1.ends_with("dunlin.toml:1"));
}

#[test]
fn issuers_of_ones_own_come_from_pem_files() {
    let issuer = rcgen::generate_simple_self_signed(vec!["intranet.example".to_owned()]).unwrap();
    let desk = Desk::new().with("mine.pem", issuer.cert.pem()).with("empty.pem", "nothing\n");
    let check = |file: &str| {
        let mut command = dunlin(&desk.path(""), "config check --data data --json");
        command.env("DUNLIN_GUARD_EXTRA_ROOTS", file).stdin(Stdio::null());
        Done::of(command.output().unwrap())
    };
    let done = check("mine.pem");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(origin_of(&report, "guard.extra_roots").0, "mine.pem");
    for (file, why) in [("empty.pem", "no certificate"), ("nowhere.pem", "cannot be read")] {
        let done = check(file);
        assert_eq!(done.code, 2, "{}", done.stdout);
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
}
