//! Repository chores, run as `cargo xtask COMMAND`.
//!
//! This is the one place that says what "the tests pass" means; scripts and continuous integration only call
//! it. It is not part of the product: nothing under `crates/` may need it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who ran it")]

mod bench;
mod command;
mod fuzz;
mod gate;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, iter};

use anyhow::{Context, Result};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test              everything a change must pass: fmt, clippy, tidy, tests, doctests, deny
  test reference    only the tests that read the reference data in the folder DUNLIN_REFERENCE
  tidy              the house rules no compiler checks: crate graph, purity, sizes, names, links
  bench [FILTER...] the speed comparisons, as ratios between two ways of doing the same work
  bench-live [PART] the live service against the bare HTTP library with few and many sources (probes [SOURCES...]), what a
                    source takes in memory and a probe on disk (memory), what installed queries cost (queries), the
                    scheduler alone (scheduler); ten minutes in all
  fuzz [SECONDS [TARGET...]]  every fuzz target in turn, or those named, for SECONDS each (default 60)
  help              this text
";

/// What the shell convention calls "you typed it wrong", as opposed to "the check failed".
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    run(&args).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(args: &[String]) -> Result<ExitCode> {
    let root = workspace_root()?;
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        ["test"] => gate::run(&root),
        ["test", "reference"] => gate::run_reference(&root),
        ["tidy"] => tidy::run(&root),
        ["bench", filters @ ..] => bench::run(&root, bench::Bench::Lab, filters),
        ["bench-live", parts @ ..] => bench::run(&root, bench::Bench::Live, parts),
        ["fuzz"] => fuzz::run(&root, fuzz::DEFAULT_SECONDS, &[]),
        ["fuzz", seconds, targets @ ..] => match seconds.parse() {
            Ok(seconds) => fuzz::run(&root, seconds, targets),
            Err(_) => Ok(misused(&format!("fuzz takes a whole number of seconds, not `{seconds}`"))),
        },
        ["test" | "tidy" | "help" | "--help" | "-h", extra, ..] => {
            Ok(misused(&format!("unexpected argument `{extra}`")))
        }
        [unknown, ..] => Ok(misused(&format!("unknown command `{unknown}`"))),
    }
}

fn misused(problem: &str) -> ExitCode {
    eprintln!("error: {problem}\n\n{USAGE}");
    ExitCode::from(EXIT_USAGE)
}

/// The directory of the workspace manifest.
///
/// Cargo's variable at run time wins over the one at compile time, so that a checkout that was moved
/// together with its build directory is still found.
fn workspace_root() -> Result<PathBuf> {
    let compiled = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let at_run_time = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    at_run_time
        .into_iter()
        .chain(iter::once(compiled))
        .find_map(|manifest_dir| {
            let root = manifest_dir.parent()?;
            root.join("xtask/Cargo.toml").is_file().then(|| root.to_path_buf())
        })
        .context("cannot find the workspace: run this as `cargo xtask` inside the repository")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ExitCode` has no equality; its debug form distinguishes the codes.
    fn exit(args: &[&str]) -> String {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        format!("{:?}", run(&args).unwrap())
    }

    #[test]
    fn help_succeeds_and_a_typing_error_is_told_apart_from_a_failed_check() {
        let success = format!("{:?}", ExitCode::SUCCESS);
        let usage = format!("{:?}", ExitCode::from(EXIT_USAGE));
        assert_eq!(exit(&[]), success);
        assert_eq!(exit(&["help"]), success);
        assert_eq!(exit(&["tydi"]), usage);
        assert_eq!(exit(&["tidy", "now"]), usage);
        assert_eq!(exit(&["fuzz", "soon"]), usage);
    }
}
