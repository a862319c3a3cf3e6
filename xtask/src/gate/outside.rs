//! Tests that read reference data: those in modules called `reference`. The data are no part of the repository, so the
//! gate leaves these tests out, and says how many, unless a variable names the folder.

use std::path::Path;

use anyhow::Result;

use super::{Outcome, Step};
use crate::command;

/// Names the folder that holds `conformance/`, `fixtures/`, `noise/`, `traces/` and `versions/`.
pub(super) const VARIABLE: &str = "DUNLIN_REFERENCE";

pub(super) fn is_given() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|folder| !folder.is_empty())
}

/// Runs them, and no others.
pub(super) const fn tests(has_nextest: bool) -> Step {
    let args: &[&str] = if has_nextest {
        &["nextest", "run", "--workspace", "--no-fail-fast", "--profile", "reference"]
    } else {
        &["test", "--workspace", "--tests", "--no-fail-fast", "--", "reference::"]
    };
    Step::Cargo { name: "reference", args }
}

/// Counts them without running any; the test binaries are built by now.
pub(super) fn count(root: &Path) -> Result<Outcome> {
    let args = ["test", "--quiet", "--workspace", "--tests", "--", "--list", "reference::"];
    let Some(listed) = command::output_of_cargo(root, &args)? else {
        return Ok(Outcome::LeftOut(format!("reference tests ({VARIABLE} is not set)")));
    };
    Ok(match n_listed(&listed) {
        0 => Outcome::Passed,
        n_tests => {
            eprintln!(
                "\n== reference: SKIPPED, {n_tests} reference tests skipped: set {VARIABLE} to the folder of reference data"
            );
            Outcome::LeftOut(format!("{n_tests} reference tests skipped: set {VARIABLE}"))
        }
    })
}

/// How many tests a `--list` has.
fn n_listed(listed: &str) -> usize {
    listed.lines().filter(|line| line.ends_with(": test")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_tests_are_counted_and_nothing_else() {
        let listed = "reference::a: test\nreference::b::c: test\n\n2 tests, 0 benchmarks\nrunning: testing\n";
        assert_eq!(n_listed(listed), 2);
        assert_eq!(n_listed("0 tests, 0 benchmarks\n"), 0);
    }
}
