//! Days in virtual time, told line by line: a made-up web, what users do, and every probe, message, state and miss that follows.
//! Each is compared with a text in `tests/days`, so a change of any decision shows as a difference that can be read and judged.
//! The laws elsewhere say what must hold of any version; a day says that nothing has moved that nobody meant to move.
//!
//! `UPDATE_PINNED=1 cargo test -p dunlin-engine --test it days` writes the texts again after a change that is meant to change
//! them. Read the difference before you keep it. How to read a line is said at the head of each text.

mod by_hand; // control by itself: what each event leads to
mod diary; // a day, and the text that it becomes
mod noise; // what is told of pages that flicker, stand-ins and feeds
mod queries; // triggers, intervals, conditions, misses
mod restarts; // kills, stops, clocks and edits in the middle of things
mod town; // the made-up web
mod trouble; // errors, refusals, robots.txt, redirects, gaps and budgets of hosts
mod words; // queries that watch for words

use std::fs;
use std::path::Path;

/// How many lines before and after the first difference are shown.
const AROUND: usize = 6;

/// Compares with the text of that name, and shows the first lines that differ.
#[track_caller]
fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/days").join(name).with_extension("txt");
    if std::env::var_os("UPDATE_PINNED").is_some() {
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap();
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let Some(first) =
        (0..expected.len().max(found.len())).find(|line| expected.get(*line) != found.get(*line))
    else {
        return;
    };
    let shown = |lines: &[&str]| {
        let from = first.saturating_sub(AROUND).min(lines.len());
        let until = (first + AROUND).min(lines.len());
        let numbered = (from..until).map(|line| format!("{:>5}  {}", line + 1, lines[line]));
        numbered.collect::<Vec<_>>().join("\n")
    };
    panic!(
        "{} is another day from line {} on (see the head of days.rs)\nexpected:\n{}\nfound:\n{}",
        path.display(),
        first + 1,
        shown(&expected),
        shown(&found)
    );
}
