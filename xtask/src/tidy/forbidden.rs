//! Words that may not appear in code: ignored tests, unfinished bodies, sleeping tests, silenced lints.
//!
//! Comments and literals may say them freely. Clippy knows some of these too, but not inside macros, and not on
//! a machine without clippy.

use super::Problem;
use super::code::code_only;
use super::tree::{File, Tree};

struct Rule {
    /// Whether a line of code breaks the rule.
    matches: fn(&str) -> bool,
    tests_only: bool,
    what: &'static str,
    remedy: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        matches: |code| code.contains("#[ignore") || (code.contains("cfg_attr") && code.contains(", ignore")),
        tests_only: false,
        what: "ignored test",
        remedy: "assert what it does today with a FIXME that says what is wrong, or delete it",
    },
    Rule {
        matches: |code| code.contains("todo!(") || code.contains("unimplemented!("),
        tests_only: false,
        what: "unfinished code",
        remedy: "finish it, or return an error that says what is not supported",
    },
    Rule {
        matches: |code| code.contains("thread::") && code.contains("sleep"),
        tests_only: true,
        what: "a test that sleeps",
        remedy: "pass the time as an argument, or wait for the event itself",
    },
    Rule {
        matches: |code| {
            let attribute = code.contains("#[allow(") || code.contains("#![allow(");
            attribute || (code.contains("cfg_attr") && code.contains(" allow("))
        },
        tests_only: false,
        what: "`allow` attribute",
        remedy: "use `expect` with a reason: it complains once it is no longer needed",
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(|file| check_file(&file)).collect()
}

fn check_file(file: &File<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut in_tests = is_test_file(file.path);
    let mut after_marker = false;
    for (index, line) in code_only(file.text).lines().enumerate() {
        // The test module is the last item of a file here, so everything below its first line is test code.
        in_tests |= after_marker && line.trim_start().starts_with("mod ") && line.ends_with('{');
        after_marker = line.trim() == "#[cfg(test)]";
        let broken = RULES.iter().filter(|rule| (in_tests || !rule.tests_only) && (rule.matches)(line));
        problems.extend(broken.map(|rule| Problem::new(file.path, index + 1, rule.what, rule.remedy)));
    }
    problems
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    fn places(path: &str, text: &str) -> Vec<String> {
        report(check, &[(path, text)])
            .iter()
            .map(|line| line.split(" (").next().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn clean_code_passes_even_when_it_talks_about_the_forbidden() {
        let text = "//! No todo!( here.\n#[expect(dead_code, reason = \"#[allow(x)]\")]\nfn a() {\n    \
                    std::thread::sleep(d);\n}\nfn ignore() {}\nfn b() { is_allow(1); }\n";
        assert_eq!(places("crates/lab/src/run.rs", text), [""; 0]);
    }

    #[test]
    fn ignored_tests_fail_however_they_are_spelt() {
        let text = "//! x\n#[ignore]\n#[ignore = \"slow\"]\n#[cfg_attr(unix, ignore)]\n";
        let expected = [2, 3, 4].map(|line| format!("crates/lab/tests/it/main.rs:{line}: ignored test"));
        assert_eq!(places("crates/lab/tests/it/main.rs", text), expected);
    }

    #[test]
    fn unfinished_code_and_silenced_lints_fail() {
        let text = "//! x\n#![allow(dead_code)]\n#[allow(dead_code)]\nfn a() { todo!() }\n\
                    fn b() { unimplemented!(\"later\") }\n#[cfg_attr(test, allow(dead_code))]\n";
        let expected = [
            "xtask/src/a.rs:2: `allow` attribute",
            "xtask/src/a.rs:3: `allow` attribute",
            "xtask/src/a.rs:4: unfinished code",
            "xtask/src/a.rs:5: unfinished code",
            "xtask/src/a.rs:6: `allow` attribute",
        ];
        assert_eq!(places("xtask/src/a.rs", text), expected);
    }

    #[test]
    fn sleeping_fails_in_test_files_and_below_the_test_marker() {
        let text = "//! x\nuse std::thread::{self, sleep};\n#[cfg(test)]\nmod tests {\n    fn f() { \
                    std::thread::sleep(d); }\n}\n";
        assert_eq!(places("crates/lab/src/a.rs", text), ["crates/lab/src/a.rs:5: a test that sleeps"]);
        let elsewhere = "//! x\n#[cfg(test)]\nmod tests;\nfn f() { std::thread::sleep(d); }\n";
        assert_eq!(places("crates/lab/src/a.rs", elsewhere), [""; 0]);
        assert_eq!(places("crates/lab/src/a/tests.rs", text).len(), 2);
        assert_eq!(places("crates/lab/tests/it/a.rs", text).len(), 2);
    }
}
