//! The crates that decide are pure: no clock, random source, environment, file, socket or hash order.
//!
//! Clippy enforces this call by call, in the crates that ask for it. This checks that they do ask, and that no
//! dependency of theirs, near or far, brings the outside world in.

use super::Problem;
use super::lockfile::Lockfile;
use super::manifest::{self, Crate, Kind};
use super::tree::Tree;

const PURE_CRATES: &[&str] = &["core", "sched", "query", "extract"];

/// The line that switches on the lists in clippy.toml.
const ATTRIBUTE: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";

/// A package no pure crate may reach, and what it would bring.
///
/// The system's random source (`getrandom`) is absent: generators that are only ever used with a seed offer it
/// as an option, and the lock file cannot distinguish an option that only tests switch on.
const IMPURE_PACKAGES: &[(&str, &str)] = &[
    ("async-std", "runs tasks on its own threads and clock"),
    ("curl", "opens sockets"),
    ("fastrand", "seeds its generator from the clock"),
    ("fs-err", "reads and writes files"),
    ("hyper", "opens sockets"),
    ("memmap2", "reads files"),
    ("mio", "opens sockets"),
    ("notify", "watches files"),
    ("postgres", "opens sockets"),
    ("rayon", "runs work on its own threads; the caller decides about threads"),
    ("reqwest", "opens sockets"),
    ("rusqlite", "reads and writes files"),
    ("smol", "runs tasks on its own threads and clock"),
    ("socket2", "opens sockets"),
    ("sqlx", "opens sockets"),
    ("tempfile", "writes files"),
    ("tokio", "has a clock, sockets, files and threads"),
    ("ureq", "opens sockets"),
    ("walkdir", "reads directories"),
];

/// Packages that run inside the compiler only: what they use does not become part of the program. These build the
/// tables of the HTML parsers, with a generator whose seed is fixed.
const COMPILE_TIME_PACKAGES: &[&str] = &["phf_codegen", "phf_macros", "string_cache_codegen"];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let lockfile = Lockfile::read(tree);
    let mut problems = Vec::new();
    for pure in manifest::crates(tree).iter().filter(|found| PURE_CRATES.contains(&found.name.as_str())) {
        problems.extend(missing_attribute(tree, pure));
        problems.extend(impure_dependencies(&lockfile, pure));
    }
    problems
}

fn missing_attribute(tree: &Tree, pure: &Crate) -> Option<Problem> {
    let path = format!("crates/{}/src/lib.rs", pure.name);
    let asks = tree.file(&path).is_some_and(|file| file.lines().any(|(_, line)| line.trim() == ATTRIBUTE));
    (!asks).then(|| {
        let what = format!("pure crate `{}` does not switch on the purity lints", pure.name);
        Problem::new(&path, 1, what, format!("add the line {ATTRIBUTE}"))
    })
}

fn impure_dependencies(lockfile: &Lockfile, pure: &Crate) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Our own crates are judged at home; tests may do what they like.
    let foreign = |package: &str| manifest::crate_of(package).is_none();
    let judged =
        pure.dependencies.iter().filter(|found| found.kind == Kind::Normal && foreign(&found.package));
    for dependency in judged {
        let ways = lockfile.ways_from(&dependency.package, COMPILE_TIME_PACKAGES);
        for (package, effect) in IMPURE_PACKAGES {
            if let Some(way) = ways.get(*package) {
                let what =
                    format!("pure crate `{}` reaches `{}`, which {effect}", pure.name, way.join(" -> "));
                let remedy = "take its result as an argument, or move this up to a crate that may do it";
                problems.push(Problem::new(&pure.manifest, dependency.line, what, remedy));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    const LIB: &str = "//! Pure.\n#![deny(clippy::disallowed_methods, clippy::disallowed_types)]\n";
    const LOCK: &str = "[[package]]\nname = \"client\"\ndependencies = [\n \"hyper\",\n]\n\
                        [[package]]\nname = \"proptest\"\ndependencies = [\n \"tempfile\",\n]\n\
                        [[package]]\nname = \"dunlin-core\"\ndependencies = [\n \"proptest\",\n]\n";

    fn reported(name: &str, lib: &str, tables: &str) -> Vec<String> {
        let manifest = format!("crates/{name}/Cargo.toml");
        let path = format!("crates/{name}/src/lib.rs");
        report(check, &[("Cargo.lock", LOCK), (manifest.as_str(), tables), (path.as_str(), lib)])
    }

    #[test]
    fn a_pure_crate_passes_whatever_its_tests_use() {
        let tables =
            "[dependencies]\ndunlin-core = {}\nthiserror = \"2\"\n[dev-dependencies]\nproptest = \"1\"\n";
        assert_eq!(reported("sched", LIB, tables), [""; 0]);
    }

    #[test]
    fn other_crates_may_do_as_they_like() {
        assert_eq!(reported("net", "//! x\n", "[dependencies]\ntokio = \"1\"\n"), [""; 0]);
    }

    #[test]
    fn a_pure_crate_that_does_not_ask_for_the_lints_fails() {
        let expected = format!(
            "crates/core/src/lib.rs:1: pure crate `core` does not switch on the purity lints (add the line {ATTRIBUTE})"
        );
        for lib in ["//! Pure.\n", "//! Pure.\n// #![deny(clippy::disallowed_methods)]\n"] {
            assert_eq!(reported("core", lib, ""), std::slice::from_ref(&expected));
        }
    }

    #[test]
    fn an_impure_dependency_fails_even_at_second_hand() {
        let remedy = "(take its result as an argument, or move this up to a crate that may do it)";
        let near = format!(
            "crates/sched/Cargo.toml:2: pure crate `sched` reaches `tokio`, which has a clock, sockets, files and \
             threads {remedy}"
        );
        assert_eq!(reported("sched", LIB, "[dependencies]\ntokio = \"1\"\n"), [near]);
        let far = format!(
            "crates/sched/Cargo.toml:2: pure crate `sched` reaches `client -> hyper`, which opens sockets {remedy}"
        );
        assert_eq!(reported("sched", LIB, "[dependencies]\nclient = \"1\"\n"), [far]);
    }
}
