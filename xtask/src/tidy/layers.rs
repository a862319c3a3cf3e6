//! Arrows between crates point down: a crate depends only on crates of lower layers.
//!
//! Tests may reach sideways, for instance to compare two crates, but never up: a crate whose tests need the
//! layer above cannot be understood or published without it. The one exception is the test bed, which is made for
//! tests and knows nothing of the engine.

use super::Problem;
use super::manifest::{self, Crate, Dependency, Kind};
use super::tree::Tree;

/// Index = layer. Crates of one layer never depend on each other.
const LAYERS: &[&[&str]] = &[
    &["core"],
    &["sched", "query", "extract", "net", "store"],
    &["lab", "engine"],
    &["server", "testbed"],
    &["cli"],
];

/// Arrows from tests that may point up.
const TESTS_MAY: &[(&str, &str)] = &[("engine", "testbed")];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for found in manifest::crates(tree) {
        let Some(layer) = layer_of(&found.name) else {
            let what = format!("crate `{}` has no layer", found.name);
            let remedy = "add it to the layers in xtask/src/tidy/layers.rs and to ARCHITECTURE.md";
            problems.push(Problem::new(&found.manifest, 1, what, remedy));
            continue;
        };
        problems
            .extend(found.dependencies.iter().filter_map(|dependency| wrong_way(&found, layer, dependency)));
    }
    problems
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&name))
}

fn wrong_way(from: &Crate, layer: usize, dependency: &Dependency) -> Option<Problem> {
    let to = manifest::crate_of(&dependency.package)?;
    // A dependency without a layer is reported where it lives.
    let below = layer_of(to)?;
    let (allowed, remedy) = match dependency.kind {
        Kind::Normal => (below < layer, "move what both need down, or the code that needs it up"),
        Kind::Dev => {
            let excepted = TESTS_MAY.contains(&(from.name.as_str(), to));
            (below <= layer || excepted, "move the test to the higher crate")
        }
    };
    (!allowed).then(|| {
        let what = format!("`{} -> {to}` goes from layer {layer} to layer {below}", from.name);
        Problem::new(&from.manifest, dependency.line, what, remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    fn reported(name: &str, tables: &str) -> Vec<String> {
        report(check, &[(format!("crates/{name}/Cargo.toml").as_str(), tables)])
    }

    #[test]
    fn arrows_that_point_down_pass() {
        assert_eq!(reported("lab", "[dependencies]\ndunlin-sched = {}\ndunlin-core = {}\n"), [""; 0]);
        assert_eq!(reported("cli", "[dependencies]\ndunlin-lab = {}\ncsv = \"1\"\n"), [""; 0]);
    }

    #[test]
    fn an_arrow_up_or_sideways_fails() {
        let remedy = "(move what both need down, or the code that needs it up)";
        let up = format!("crates/core/Cargo.toml:2: `core -> sched` goes from layer 0 to layer 1 {remedy}");
        assert_eq!(reported("core", "[dependencies]\ndunlin-sched = {}\n"), [up]);
        let sideways =
            format!("crates/net/Cargo.toml:2: `net -> store` goes from layer 1 to layer 1 {remedy}");
        assert_eq!(reported("net", "[build-dependencies]\ndunlin-store = {}\n"), [sideways]);
    }

    #[test]
    fn tests_may_reach_sideways_but_not_up() {
        assert_eq!(reported("engine", "[dev-dependencies]\ndunlin-lab = {}\n"), [""; 0]);
        assert_eq!(reported("engine", "[dev-dependencies]\ndunlin-testbed = {}\n"), [""; 0]);
        assert_eq!(reported("engine", "[dependencies]\ndunlin-testbed = {}\n").len(), 1);
        let up = "crates/sched/Cargo.toml:2: `sched -> lab` goes from layer 1 to layer 2 (move the test to the \
                  higher crate)";
        assert_eq!(reported("sched", "[dev-dependencies]\ndunlin-lab = {}\n"), [up]);
    }

    #[test]
    fn a_crate_without_a_layer_fails() {
        assert_eq!(
            reported("plot", "[dependencies]\n"),
            ["crates/plot/Cargo.toml:1: crate `plot` has no layer (add it to the layers in \
              xtask/src/tidy/layers.rs and to ARCHITECTURE.md)"]
        );
    }
}
