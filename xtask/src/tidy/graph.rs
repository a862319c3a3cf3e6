//! The crate graph in ARCHITECTURE.md is the one in the manifests, in both directions.
//!
//! Only dependencies of the code itself count; what tests need is not architecture. Which arrows are allowed
//! at all is for [`super::layers`].

use std::collections::BTreeMap;

use super::Problem;
use super::architecture::{self, PATH, Stated};
use super::manifest::{self, Crate, Kind};
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let crates = manifest::crates(tree);
    let (stated, mut problems) = architecture::read(tree);
    problems.extend(crates.iter().filter_map(misnamed));
    // Without a block, one problem says so; a problem per crate would add nothing.
    if stated.is_empty() {
        return problems;
    }
    for line in &stated {
        if let Some(found) = crates.iter().find(|found| found.name == line.name) {
            problems.extend(compare(line, found));
        } else {
            let what = format!("there is no crate `{}`", line.name);
            problems.push(Problem::new(PATH, line.line, what, "remove the line"));
        }
    }
    let unstated = crates.iter().filter(|found| stated.iter().all(|line| line.name != found.name));
    problems.extend(unstated.map(|found| {
        let what = format!("crate `{}` is missing from the crate graph", found.name);
        Problem::new(&found.manifest, 1, what, format!("add a line for it to {PATH}"))
    }));
    problems
}

fn misnamed(found: &Crate) -> Option<Problem> {
    let expected = manifest::package_of(&found.name);
    (found.package != expected).then(|| {
        let what = format!("package named `{}`", found.package);
        Problem::new(&found.manifest, 1, what, format!("name it `{expected}`, after its directory"))
    })
}

fn compare(line: &Stated, found: &Crate) -> Vec<Problem> {
    let mut problems = Vec::new();
    let normal = found.dependencies.iter().filter(|dependency| dependency.kind == Kind::Normal);
    let actual: BTreeMap<&str, usize> = normal
        .filter_map(|dependency| manifest::crate_of(&dependency.package).map(|name| (name, dependency.line)))
        .collect();
    for name in line.dependencies.iter().filter(|name| !actual.contains_key(name.as_str())) {
        let what = format!("`{} -> {name}` is stated, but {} does not say so", found.name, found.manifest);
        problems.push(Problem::new(PATH, line.line, what, "remove the arrow"));
    }
    for (name, number) in actual.iter().filter(|(name, _)| !line.dependencies.contains(**name)) {
        let what = format!("`{} -> {name}` is not in the crate graph", found.name);
        let remedy = format!("do without it, or add the arrow to {PATH} and say why");
        problems.push(Problem::new(&found.manifest, *number, what, remedy));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    const CORE: &str = "[package]\nname = \"dunlin-core\"\n";
    const SCHED: &str = "[package]\nname = \"dunlin-sched\"\n[dependencies]\ndunlin-core.workspace = true\n";
    const CLI: &str = "[package]\nname = \"dunlin\"\n[dependencies]\nanyhow = \"1\"\n\
                       [dev-dependencies]\ndunlin-sched.workspace = true\n";

    fn reported(block: &str) -> Vec<String> {
        let architecture = format!("# Architecture\n```crates\n{block}```\n");
        report(
            check,
            &[
                (PATH, architecture.as_str()),
                ("crates/cli/Cargo.toml", CLI),
                ("crates/core/Cargo.toml", CORE),
                ("crates/sched/Cargo.toml", SCHED),
            ],
        )
    }

    #[test]
    fn a_true_graph_passes() {
        assert_eq!(reported("core ->\nsched -> core\ncli ->\n"), [""; 0]);
    }

    #[test]
    fn an_arrow_only_in_the_document_fails() {
        assert_eq!(
            reported("core ->\nsched -> core\ncli -> sched\n"),
            [
                "ARCHITECTURE.md:5: `cli -> sched` is stated, but crates/cli/Cargo.toml does not say so (remove the arrow)"
            ]
        );
    }

    #[test]
    fn an_arrow_only_in_the_manifest_fails() {
        let expected = "crates/sched/Cargo.toml:4: `sched -> core` is not in the crate graph (do without it, or add \
                        the arrow to ARCHITECTURE.md and say why)";
        assert_eq!(reported("core ->\nsched ->\ncli ->\n"), [expected]);
    }

    #[test]
    fn a_crate_only_on_one_side_fails() {
        let expected = [
            "ARCHITECTURE.md:5: there is no crate `net` (remove the line)",
            "crates/cli/Cargo.toml:1: crate `cli` is missing from the crate graph (add a line for it to \
             ARCHITECTURE.md)",
        ];
        assert_eq!(reported("core ->\nsched -> core\nnet -> core\n"), expected);
    }

    #[test]
    fn a_package_not_named_after_its_directory_fails() {
        let files = [(PATH, "```crates\nlab ->\n```\n"), ("crates/lab/Cargo.toml", CORE)];
        let expected = "crates/lab/Cargo.toml:1: package named `dunlin-core` (name it `dunlin-lab`, after its directory)";
        assert_eq!(report(check, &files), [expected]);
    }
}
