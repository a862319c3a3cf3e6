//! The crate graph as ARCHITECTURE.md states it.
//!
//! It is the fenced block with the info string `crates`; each line names a crate by its directory and all the
//! crates of the workspace that it depends on:
//!
//! ```text
//! core ->
//! sched -> core
//! ```
//!
//! Reading the block says nothing about whether it is true; that is for [`super::graph`].

use std::collections::BTreeSet;

use super::Problem;
use super::tree::Tree;

pub(super) const PATH: &str = "ARCHITECTURE.md";

/// A crate and its documented dependencies.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) name: String,
    pub(super) dependencies: BTreeSet<String>,
    pub(super) line: usize,
}

/// Every line of the block, and what cannot be read in it.
pub(super) fn read(tree: &Tree) -> (Vec<Stated>, Vec<Problem>) {
    let mut stated: Vec<Stated> = Vec::new();
    let mut problems = Vec::new();
    let mut blocks = 0;
    let mut inside = false;
    let lines = tree.file(PATH).into_iter().flat_map(|file| file.lines().collect::<Vec<_>>());
    for (number, line) in lines {
        let line = line.trim();
        if let Some(info) = line.strip_prefix("```") {
            inside = !inside && info.trim() == "crates";
            blocks += usize::from(inside);
        } else if inside && !line.is_empty() {
            match parse(line, number) {
                Some(new) if stated.iter().any(|old| old.name == new.name) => {
                    let what = format!("second line for crate `{}`", new.name);
                    problems.push(Problem::new(PATH, number, what, "join the two"));
                }
                Some(new) => stated.push(new),
                None => {
                    let remedy =
                        "write `crate -> dependency dependency`, with nothing after `->` if there is none";
                    problems.push(Problem::new(PATH, number, format!("cannot read `{line}`"), remedy));
                }
            }
        }
    }
    if blocks == 0 {
        let remedy = "add a block fenced by ```crates with one line `crate -> dependencies` per crate";
        problems.push(Problem::new(PATH, 1, "no crate graph", remedy));
    }
    (stated, problems)
}

fn parse(line: &str, number: usize) -> Option<Stated> {
    let (name, dependencies) = line.split_once("->")?;
    let is_name =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let name = name.trim();
    let dependencies: BTreeSet<String> = dependencies.split_whitespace().map(str::to_owned).collect();
    let readable = is_name(name) && dependencies.iter().all(|word| is_name(word));
    readable.then(|| Stated { name: name.to_owned(), dependencies, line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Vec<Stated>, Vec<String>) {
        let (stated, problems) = read(&Tree::of(&[(PATH, text)]));
        (stated, problems.iter().map(|problem| format!("{}: {}", problem.line, problem.what)).collect())
    }

    #[test]
    fn a_well_formed_block_is_read_with_its_line_numbers() {
        let (stated, problems) =
            read_text("# A\n```text\nx\n```\n```crates\ncore ->\nlab -> sched core\n```\nx -> y\n");
        let crates: Vec<(usize, &str, Vec<&str>)> = stated
            .iter()
            .map(|s| (s.line, s.name.as_str(), s.dependencies.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(crates, [(6, "core", vec![]), (7, "lab", vec!["core", "sched"])]);
        assert_eq!(problems, [""; 0]);
    }

    #[test]
    fn unreadable_and_repeated_lines_are_reported_and_the_rest_is_kept() {
        let (stated, problems) =
            read_text("```crates\ncore ->\nlab: core\ncli -> lab, core\ncore -> x\n```\n");
        assert_eq!(stated.len(), 1);
        assert_eq!(
            problems,
            [
                "3: cannot read `lab: core`",
                "4: cannot read `cli -> lab, core`",
                "5: second line for crate `core`"
            ]
        );
    }

    #[test]
    fn a_missing_block_or_file_is_a_problem() {
        assert_eq!(read_text("# Architecture\n").1, ["1: no crate graph"]);
        assert_eq!(read(&Tree::of(&[])).1.len(), 1);
    }
}
