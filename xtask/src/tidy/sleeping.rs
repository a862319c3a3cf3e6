//! Tests that sleep: on a busy machine too short, on any other a waste. A test waits for the event itself, or checks again
//! at each tick of a `tokio::time::interval` within a `timeout`, or moves a paused clock.
//!
//! Only test code is judged; the program may pause. This reads lines, not syntax: what it does not see is a call whose
//! name says nothing of time.

use super::Problem;
use super::code::code_only;
use super::tree::{File, Tree};

/// Functions that do nothing for a while, under any path.
const SLEEPERS: &[&str] = &[
    "sleep",
    "sleep_ms",
    "sleep_until",
    "sleep_for",
    "park_timeout",
    "park_timeout_ms",
    "nanosleep",
    "usleep",
];

/// Waits that end early when something happens; without a check of what did, they are sleeps.
const WAITS: &[&str] = &["recv_timeout(", "wait_timeout(", "wait_timeout_ms(", "recv_deadline(", "timeout("];

const REMEDY: &str = "wait for the event itself within a timeout, or pass the time as an argument";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(|file| check_file(&file)).collect()
}

fn check_file(file: &File<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut in_tests = is_test_file(file.path);
    let mut after_marker = false;
    let code = code_only(file.text);
    for ((number, raw), line) in file.lines().zip(code.lines()) {
        // The test module is the last item of a file here, so everything below its first line is test code.
        in_tests |= after_marker && line.trim_start().starts_with("mod ") && line.ends_with('{');
        after_marker = line.trim() == "#[cfg(test)]";
        if in_tests && sleeps(line, raw) {
            problems.push(Problem::new(file.path, number, "a test that sleeps", REMEDY));
        }
    }
    problems
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// Whether a line of code sleeps; `raw` is the same line with its literals.
fn sleeps(code: &str, raw: &str) -> bool {
    names_a_sleeper(code) || starts_a_sleeper(code, raw) || waits_for_nothing(code) || spins(code)
}

/// A call, an import or a renaming of a function that sleeps. A method may be called so for another reason.
fn names_a_sleeper(code: &str) -> bool {
    words(code).any(|(at, word)| SLEEPERS.contains(&word) && !code[..at].ends_with('.'))
}

/// A program that sleeps: `sleep` itself, or a shell that runs it.
fn starts_a_sleeper(code: &str, raw: &str) -> bool {
    if !["Command::new(", ".arg(", ".args("].iter().any(|start| code.contains(start)) {
        return false;
    }
    let is_program = |program: &str| raw.contains(&format!("Command::new({program}"));
    let told =
        raw.split("sleep ").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
    told || ["\"sleep\"", "\"/bin/sleep\"", "\"/usr/bin/sleep\"", "\"usleep\""].into_iter().any(is_program)
}

/// A wait whose result is ignored, or that waits for what never comes.
fn waits_for_nothing(code: &str) -> bool {
    let Some(wait) = WAITS.iter().find(|wait| code.contains(**wait)) else { return false };
    let statement = code.trim();
    let is_looked_at = ["let ", "assert", "match ", "if ", "while ", "return ", "=", "?", "unwrap", "expect"];
    let is_dropped = statement.starts_with("let _") && !statement.contains("unwrap")
        || statement.starts_with("drop(")
        || statement.ends_with(".ok();")
        || statement.ends_with(';') && !is_looked_at.iter().any(|look| statement.contains(look));
    // A setter, as in `set_read_timeout(…)`, is no wait.
    let is_call = code
        .find(wait)
        .is_some_and(|at| !code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    is_call && (is_dropped || code.contains("pending(") || code.contains("pending::<"))
}

/// A loop that burns its time by reading the clock.
fn spins(code: &str) -> bool {
    let statement = code.trim_start();
    let looks_at_clock = statement.contains("elapsed() <") || statement.contains("Instant::now() <");
    statement.starts_with("while ") && looks_at_clock && statement.ends_with("{}")
}

/// The words of a line and where they begin.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    code.split(move |c: char| !is_word(c)).filter_map(move |word| {
        let start = at;
        at += word.len();
        // The separator may take more than one byte.
        at += code[at..].chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    /// The numbers of the lines that are found in a test file.
    fn found(text: &str) -> Vec<usize> {
        let file = File { path: "crates/lab/tests/it/a.rs", text };
        check_file(&file).iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn every_way_to_sleep_is_found() {
        for text in [
            "std::thread::sleep(d);",
            "thread::sleep(d);",
            "use std::thread::sleep;",
            "use std::thread::{self, sleep};",
            "use std::thread::sleep as nap;",
            "    sleep,",
            "sleep(d);",
            "clock::sleep(d).await;",
            "tokio::time::sleep(Duration::from_millis(5)).await;",
            "tokio::time::sleep_until(at).await;",
            "() = sleep(d) => {}",
            "thread::park_timeout(d);",
            "std::thread::sleep_ms(5);",
            "unsafe { libc::usleep(5) };",
            "Command::new(\"sleep\").arg(\"1\").status();",
            "Command::new(\"/bin/sleep\")",
            "sh.arg(\"-c\").arg(\"true; sleep 0.2\");",
            "let _ = lines.recv_timeout(d);",
            "let _line = lines.recv_timeout(d);",
            "lines.recv_timeout(d).ok();",
            "lines.recv_timeout(d);",
            "let _ = condition.wait_timeout(guard, d);",
            "let _ = tokio::time::timeout(d, stream.read(&mut byte)).await;",
            "let end = timeout(d, std::future::pending::<()>()).await;",
            "while begin.elapsed() < d {}",
            "while Instant::now() < end {}",
        ] {
            assert_eq!(found(text), [1], "{text}");
        }
    }

    #[test]
    fn waiting_for_something_is_not_sleeping() {
        for text in [
            "let line = lines.recv_timeout(left).unwrap();",
            "match lines.recv_timeout(left) {",
            "let Ok(line) = lines.recv_timeout(left) else {",
            "tokio::time::timeout(PATIENCE, answered).await.expect(\"an answer\");",
            "let heard = tokio::time::timeout(d, stream.read(&mut [0; 1])).await;",
            "assert!(timeout(d, wait).await.is_ok());",
            "tokio::time::advance(d).await;",
            "ticks.tick().await;",
            "stream.set_read_timeout(Some(d)).unwrap();",
            "stream.set_read_timeout(Some(d));",
            "Box::pin(std::future::pending())",
            "// sleep(d)",
            "let text = \"sleep(d); sleep 5\";",
            "watch.sleep(source, at);",
            "assert_eq!(place, Place::Asleep(at));",
            "desk.run(\"testbed --fault news=sleepy\");",
        ] {
            assert_eq!(found(text), [0; 0], "{text}");
        }
    }

    #[test]
    fn only_test_code_is_judged() {
        let places = |path: &str, text: &str| -> Vec<String> {
            let place = |line: &String| line.split(" (").next().unwrap().to_owned();
            report(check, &[(path, text)]).iter().map(place).collect()
        };
        let text = "//! x\nuse std::thread::{self, sleep};\n#[cfg(test)]\nmod tests {\n    fn f() { \
                    std::thread::sleep(d); }\n}\n";
        assert_eq!(places("crates/lab/src/a.rs", text), ["crates/lab/src/a.rs:5: a test that sleeps"]);
        let elsewhere = "//! x\n#[cfg(test)]\nmod tests;\nfn f() { std::thread::sleep(d); }\n";
        assert_eq!(places("crates/lab/src/a.rs", elsewhere), [""; 0]);
        assert_eq!(places("crates/lab/src/a/tests.rs", text).len(), 2);
        assert_eq!(places("crates/lab/tests/it/a.rs", text).len(), 2);
        assert_eq!(places("fuzz/tests/it/main.rs", text).len(), 2);
    }
}
