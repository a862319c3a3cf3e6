//! Commands of the service given nonsense: a message that says what to try, the right exit code, nothing written.

use crate::run::{Desk, Done};

#[test]
fn every_kind_of_nonsense() {
    let table = [
        ("add nonsense --data data", 2, "write it as https://host/path"),
        ("add ftp://a.example/ --data data", 2, "only http and https"),
        ("add http://127.0.0.1/ --data data", 2, "loopback"),
        ("add https://a.example/ --weight -1 --data data", 2, "at least 0"),
        ("add https://a.example/ --urgency soon --data data", 2, "urgency"),
        ("add https://a.example/ --selector ((( --data data", 2, "selector"),
        (
            "add https://a.example/ --kind feed --selector p --data data",
            2,
            "selector does not go with kind feed",
        ),
        ("sources --data nowhere", 2, "holds no store"),
        ("changes --data nowhere", 2, "holds no store"),
        ("sources --server http://127.0.0.1:1", 2, "dunlin token create"),
        ("sources --server http://127.0.0.1:9/ --token t", 2, "port 9"),
        ("import nowhere.txt --data data", 2, "nowhere.txt: no such file"),
        ("budget set lots --data data", 2, "is not a budget"),
        ("budget set --data data", 2, "PACE"),
        ("completions tcsh", 2, "possible values"),
        ("testbed --trace nowhere.csv", 2, "no such file"),
        ("testbed --speed 0", 2, "speed 0"),
        ("testbed --fault news=sleepy", 2, "fault"),
    ];
    for (args, code, message) in table {
        let desk = Desk::new();
        let done = desk.run(args);
        assert!(done.stderr.contains(message), "{args}\nexpected: {message}\ngot: {}", done.stderr);
        assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{args}");
        assert!(!done.stderr.contains("panicked"), "{args}: {}", done.stderr);
    }
}

#[test]
fn numbers_and_addresses_that_nothing_has() {
    let desk = Desk::new();
    assert_eq!(desk.run("add https://a.example/ --data data").code, 0);
    let table = [
        ("sources --state failing --data data", 0, "no source is failing"),
        ("sources --tag news --data data", 0, "no source has the tag news"),
        ("sources --tag news --state new --data data", 0, "no source with the tag news is new"),
        ("show 1 --data data", 1, "has no version yet"),
        ("show v9 --data data", 2, "no version 9 (`dunlin changes`"),
        ("diff 1 --data data", 1, "has no version yet"),
        ("explain 9 --data data", 2, "no source 9"),
        ("explain https://b.example/ --data data", 2, "no source has the address"),
        ("pause 1 9 --data data", 2, "no source 9"),
        ("remove x --data data", 2, "neither the number nor the address"),
        ("edit 1 --data data", 2, "nothing to change"),
        ("edit 1 --life forever --data data", 2, "unknown life"),
        ("token revoke nobody --data data", 2, "no token `nobody`"),
        ("token create a/b --data data", 2, "token name"),
    ];
    for (args, code, message) in table {
        let Done { code: found, stderr, .. } = desk.run(args);
        assert!(stderr.contains(message), "{args}\nexpected: {message}\ngot: {stderr}");
        assert_eq!(found, code, "{args}");
    }
    // The first was not paused, since the second is not there.
    assert_eq!(desk.json("sources --data data --json")["sources"][0]["paused"], false);
}

#[test]
fn completions_are_for_this_program() {
    let desk = Desk::new().with("complete.bash", "");
    for (shell, word) in [("bash", "_dunlin"), ("zsh", "#compdef dunlin"), ("fish", "complete -c dunlin")] {
        let done = desk.run(&format!("completions {shell}"));
        assert!(done.code == 0 && done.stdout.contains(word) && done.stdout.contains("explain"), "{shell}");
        if shell == "bash" {
            std::fs::write(desk.path("complete.bash"), &done.stdout).unwrap();
            let parsed =
                std::process::Command::new("bash").arg("-n").arg(desk.path("complete.bash")).status();
            assert!(parsed.unwrap().success());
        }
    }
}
