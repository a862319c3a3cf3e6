//! No module is named after nothing.
//!
//! A `utils` has no boundary, so everything ends up in it; a name that says what is inside keeps the rest out.

use std::path::Path;

use super::Problem;
use super::code::code_only;
use super::tree::Tree;

const EMPTY_NAMES: &[&str] =
    &["utils", "util", "common", "helpers", "helper", "manager", "managers", "types", "misc"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust() {
        if Path::new(file.path).file_name().is_some_and(|name| name == "mod.rs") {
            let remedy = "use `foo.rs` beside `foo/`, so that a tab in an editor says which module it is";
            problems.push(Problem::new(file.path, 1, "file named mod.rs", remedy));
        }
        let stem = Path::new(file.path).with_extension("");
        for part in stem.iter().filter_map(|part| part.to_str()) {
            problems.extend(empty_name(part).map(|what| problem(file.path, 1, &what)));
        }
        // `mod utils;` has a file and is found by its path; only a module written in place is left.
        for (index, line) in code_only(file.text).lines().enumerate() {
            let named = inline_module(line).and_then(empty_name);
            problems.extend(named.map(|what| problem(file.path, index + 1, &what)));
        }
    }
    problems
}

fn problem(path: &str, line: usize, what: &str) -> Problem {
    Problem::new(path, line, what, "name it after the concept inside")
}

fn empty_name(name: &str) -> Option<String> {
    EMPTY_NAMES.contains(&name).then(|| format!("module named `{name}`"))
}

/// The name of the module that this line opens, as in `pub(crate) mod name {`.
fn inline_module(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    (words.next() == Some("mod")).then(|| words.next()).flatten().map(|name| name.trim_end_matches('{'))
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    #[test]
    fn names_that_say_something_pass() {
        let files = [
            ("crates/core/src/interval.rs", "//! x\nmod tests {\n    // mod utils {\n}\n"),
            ("crates/core/src/typestate.rs", "//! x\nuse a::utils;\n"),
        ];
        assert_eq!(report(check, &files), [""; 0]);
    }

    #[test]
    fn empty_names_fail_as_file_directory_crate_or_module_in_place() {
        let files = [
            ("crates/common/src/lib.rs", "//! x\n"),
            ("crates/lab/src/helpers/csv.rs", "//! x\n"),
            ("crates/lab/src/run.rs", "//! x\npub(crate) mod misc {\n}\n"),
            ("crates/lab/src/types.rs", "//! x\n"),
        ];
        let remedy = "(name it after the concept inside)";
        let expected = [
            format!("crates/common/src/lib.rs:1: module named `common` {remedy}"),
            format!("crates/lab/src/helpers/csv.rs:1: module named `helpers` {remedy}"),
            format!("crates/lab/src/run.rs:2: module named `misc` {remedy}"),
            format!("crates/lab/src/types.rs:1: module named `types` {remedy}"),
        ];
        assert_eq!(report(check, &files), expected);
    }

    #[test]
    fn mod_rs_fails() {
        let found = report(check, &[("crates/lab/tests/it/mod.rs", "//! x\n")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/lab/tests/it/mod.rs:1: file named mod.rs"), "{found:?}");
    }
}
