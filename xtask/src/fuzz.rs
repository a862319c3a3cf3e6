//! `cargo xtask fuzz`: every fuzz target in turn, each for the same time.
//!
//! Not part of the gate: it needs a nightly compiler, and finding nothing in a minute proves nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::command;

/// Long enough to catch a parser that panics on its first odd byte, short enough to run before a push.
pub(crate) const DEFAULT_SECONDS: u64 = 60;

const TARGETS: &str = "fuzz/fuzz_targets";

const INSTALL: &str = "\
fuzzing needs cargo-fuzz and a nightly compiler; install them with
    rustup toolchain install nightly --profile minimal
    cargo install --locked cargo-fuzz";

/// Runs all targets; stops at the first that finds something, with its exit code.
pub(crate) fn run(root: &Path, seconds: u64) -> Result<ExitCode> {
    let targets = targets(&root.join(TARGETS))?;
    if !command::succeeds(nightly(root).args(["fuzz", "--version"])) {
        bail!(INSTALL);
    }
    for target in &targets {
        eprintln!("\n== fuzz {target} for {seconds} s");
        let limit = format!("-max_total_time={seconds}");
        let status = command::run(nightly(root).args(["fuzz", "run", target, "--", &limit]))?;
        if !status.success() {
            eprintln!("\nfuzz: {target} found something; the input is under fuzz/artifacts/{target}");
            return Ok(command::exit_code(status));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Cargo by its plain name: only rustup's front end understands `+nightly`, and the `CARGO` variable names
/// the program behind it.
fn nightly(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").current_dir(root);
    command
}

/// The names of the targets in `directory`, sorted so that two runs do the same.
fn targets(directory: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("no fuzz targets: cannot read {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    if names.is_empty() {
        bail!("no fuzz targets in {}", directory.display());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_targets_is_an_error_and_not_a_silent_success() {
        let error = targets(Path::new("/nonexistent/fuzz_targets")).unwrap_err();
        assert!(error.to_string().starts_with("no fuzz targets"), "{error}");
    }

    #[test]
    fn rust_files_are_targets_in_order_of_name() {
        let names = targets(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
        assert!(names.is_sorted());
        assert!(names.contains(&"fuzz".to_owned()));
        assert_eq!(names.iter().filter(|name| *name == "tidy").count(), 1, "the directory is not a target");
    }
}
