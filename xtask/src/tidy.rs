//! `cargo xtask tidy`: the house rules that neither the compiler nor clippy checks.
//!
//! Each check is a function from a [`Tree`] to the problems in it, in a file of its own. No check stops at
//! its first problem and none reads a file: one run says everything there is to repair.

mod architecture;
mod code;
mod forbidden;
mod graph;
mod layers;
mod links;
mod lockfile;
mod manifest;
mod names;
mod opening;
mod purity;
mod sections;
mod size;
mod sleeping;
mod tree;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use tree::Tree;

/// Something that breaks a house rule. The order of the fields is the order of the report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    /// Relative to the workspace root, with forward slashes.
    path: String,
    /// Counted from 1; 1 as well when the whole file is meant.
    line: usize,
    what: String,
    /// What the reader should do about it.
    remedy: String,
}

impl Problem {
    fn new(path: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} ({})", self.path, self.line, self.what, self.remedy)
    }
}

const CHECKS: &[fn(&Tree) -> Vec<Problem>] = &[
    opening::check,
    size::check,
    names::check,
    forbidden::check,
    sleeping::check,
    graph::check,
    layers::check,
    purity::check,
    links::check,
    sections::check,
];

/// Checks the repository at `root` and prints every problem; exit code 1 when there is one.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let tree = Tree::load(root)?;
    let problems = all_problems(&tree);
    for problem in &problems {
        println!("{problem}");
    }
    let n_rust_files = tree.rust().count();
    if problems.is_empty() {
        eprintln!("tidy: {n_rust_files} Rust files, nothing to repair");
        Ok(ExitCode::SUCCESS)
    } else {
        eprintln!("tidy: {n_rust_files} Rust files, {} to repair", problems.len());
        Ok(ExitCode::FAILURE)
    }
}

fn all_problems(tree: &Tree) -> Vec<Problem> {
    let mut problems: Vec<Problem> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    problems.sort();
    problems.dedup();
    problems
}

/// The report of one check as its reader sees it; what the tests of the checks compare.
#[cfg(test)]
fn report(check: fn(&Tree) -> Vec<Problem>, files: &[(&str, &str)]) -> Vec<String> {
    check(&Tree::of(files)).iter().map(Problem::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCHITECTURE: (&str, &str) = ("ARCHITECTURE.md", "```crates\ncore ->\n```\n");
    const MANIFEST: (&str, &str) = ("crates/core/Cargo.toml", "[package]\nname = \"dunlin-core\"\n");

    #[test]
    fn a_tidy_repository_has_no_problem() {
        let lib = "//! Nouns.\n#![deny(clippy::disallowed_methods, clippy::disallowed_types)]\n";
        let tree = Tree::of(&[ARCHITECTURE, MANIFEST, ("crates/core/src/lib.rs", lib)]);
        assert_eq!(all_problems(&tree), []);
    }

    #[test]
    fn problems_of_all_checks_come_at_once_sorted_by_place() {
        let tree = Tree::of(&[
            ("README.md", "see [x](gone.md)\n"),
            ARCHITECTURE,
            MANIFEST,
            ("crates/core/src/lib.rs", "fn a() { todo!() }\n"),
        ]);
        let places: Vec<String> =
            all_problems(&tree).iter().map(|p| format!("{}:{}", p.path, p.line)).collect();
        assert_eq!(
            places,
            [
                "README.md:1",
                "crates/core/src/lib.rs:1",
                "crates/core/src/lib.rs:1",
                "crates/core/src/lib.rs:1"
            ]
        );
    }
}
