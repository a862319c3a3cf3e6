//! Words that may not appear in code: ignored tests, unfinished bodies, silenced lints.
//!
//! Comments and literals may say them freely. Clippy knows some of these too, but not inside macros, and not on
//! a machine without clippy.

use super::Problem;
use super::code::code_only;
use super::tree::{File, Tree};

struct Rule {
    /// Whether a line of code breaks the rule.
    matches: fn(&str) -> bool,
    what: &'static str,
    remedy: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        matches: |code| code.contains("#[ignore") || (code.contains("cfg_attr") && code.contains(", ignore")),
        what: "ignored test",
        remedy: "assert what it does today with a FIXME that says what is wrong, or delete it",
    },
    Rule {
        matches: |code| code.contains("todo!(") || code.contains("unimplemented!("),
        what: "unfinished code",
        remedy: "finish it, or return an error that says what is not supported",
    },
    Rule {
        matches: |code| {
            let attribute = code.contains("#[allow(") || code.contains("#![allow(");
            attribute || (code.contains("cfg_attr") && code.contains(" allow("))
        },
        what: "`allow` attribute",
        remedy: "use `expect` with a reason: it complains once it is no longer needed",
    },
];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(|file| check_file(&file)).collect()
}

fn check_file(file: &File<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in code_only(file.text).lines().enumerate() {
        let broken = RULES.iter().filter(|rule| (rule.matches)(line));
        problems.extend(broken.map(|rule| Problem::new(file.path, index + 1, rule.what, rule.remedy)));
    }
    problems
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
}
