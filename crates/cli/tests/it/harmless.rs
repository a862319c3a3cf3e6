//! A site's content cannot harm a terminal, in any form in which a command prints it.

use dunlin_core::Time;
use dunlin_store::{Capture, NewChange, NewSource, NewVersion, Outcome, ProbeId, SqliteStore, Store};

use crate::run::Desk;

/// An escape sequence in two spellings, text that reads backwards, and a title for the window.
const HARM: &str =
    "a\u{9b}31mb\u{1b}[2Jc\u{202e}gpj.exe\u{2066}d\u{200b}\u{7f}e\u{1b}]0;title\u{7}f\u{e0041}g";

fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

#[test]
fn no_command_repeats_what_could_do_harm() {
    let desk = Desk::new();
    let store = SqliteStore::open(&desk.path("data")).unwrap();
    let at = Time::from_seconds(1_700_000_000);
    let tags = vec![HARM.to_owned()];
    let source =
        store.add_source(NewSource { tags, ..NewSource::page("https://news.example/", at) }).unwrap();
    let mut capture = Capture::bare(source, ProbeId(1), at, Outcome::Changed);
    capture.version = Some(NewVersion { content: HARM.into(), media_type: format!("text/plain; {HARM}") });
    capture.changes = vec![NewChange {
        kind: HARM.to_owned(),
        item: Some(HARM.to_owned()),
        summary: HARM.to_owned(),
        detail: Vec::new(),
        happened_after: None,
        happened_before: at,
    }];
    store.record_capture(capture).unwrap();
    drop(store);
    for command in [
        "sources",
        "sources --json",
        "changes",
        "changes --json",
        "tail --after 0 --count 1",
        "tail --after 0 --count 1 --json",
        "show 1 --json",
        "show 1 --text",
        "diff 1",
        "diff 1 --json",
        "explain 1",
        "explain 1 --json",
        "export changes",
        "doctor --json",
        "show \u{9b}31m\u{202e}",
        "token create \u{9b}31m\u{202e}",
    ] {
        let done = desk.run(&format!("{command} --data data"));
        for (name, messages) in [("output", &done.stdout), ("errors", &done.stderr)] {
            let found = messages.chars().find(|c| is_harmful(*c));
            assert_eq!(found, None, "{command}: {name}: {messages:?}");
        }
        if command.contains("--json") {
            serde_json::from_str::<serde_json::Value>(&done.stdout).unwrap();
        }
    }
    let page = desk.json("changes --data data --json");
    assert_eq!(page["changes"][0]["summary"], HARM, "it means the same");
}
