//! `cargo xtask fuzz`: every fuzz target in turn, each for the same time.
//!
//! Not part of the gate, which only replays the corpora: it needs cargo-fuzz, and finding nothing in a minute proves
//! nothing. What is found on the way is kept under the build directory, so that the corpora stay small and readable.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::command;

/// Long enough to catch a parser that panics on its first odd byte, short enough to run before a push.
pub(crate) const DEFAULT_SECONDS: u64 = 60;

const TARGETS: &str = "fuzz/fuzz_targets";

const INSTALL: &str = "\
fuzzing needs cargo-fuzz and a C++ compiler; install them with
    cargo install --locked cargo-fuzz
    apt-get install g++";

/// No input that we want to read takes this many seconds, even on a busy machine with everything instrumented.
const MOST_SECONDS_PER_INPUT: u64 = 20;

/// Runs the targets of these names, or all; stops at the first that finds something, with its exit code.
pub(crate) fn run(root: &Path, seconds: u64, wanted: &[&str]) -> Result<ExitCode> {
    let targets = chosen(targets(&root.join(TARGETS))?, wanted)?;
    if !command::succeeds(cargo_fuzz(root).arg("--version")) {
        bail!(INSTALL);
    }
    for target in &targets {
        eprintln!("\n== fuzz {target} for {seconds} s");
        let grown = root.join("target/fuzz/corpus").join(target);
        fs::create_dir_all(&grown).with_context(|| format!("cannot create {}", grown.display()))?;
        let status = command::run(cargo_fuzz(root).args(arguments(root, target, &grown, seconds)))?;
        if !status.success() {
            eprintln!(
                "\nfuzz: {target} found something; the input is under fuzz/artifacts/{target}, and \
                 `cargo run -p dunlin-fuzz --bin {target} FILE` shows it. Mended, it belongs into fuzz/corpus/{target}."
            );
            return Ok(command::exit_code(status));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// cargo-fuzz on the compiler that builds everything else. Instrumenting code is not stable yet; the variable lets this
/// compiler do it all the same, so that no second one is needed.
fn cargo_fuzz(root: &Path) -> Command {
    let mut command = Command::new(command::cargo());
    command.arg("fuzz").current_dir(root).env("RUSTC_BOOTSTRAP", "1");
    command
}

/// libFuzzer writes to the first corpus and reads the others.
fn arguments(root: &Path, target: &str, grown: &Path, seconds: u64) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["run", "--fuzz-dir", "fuzz", target].map(OsString::from).to_vec();
    args.push(grown.into());
    args.push(root.join("fuzz/corpus").join(target).into());
    args.push("--".into());
    args.push(format!("-max_total_time={seconds}").into());
    args.push(format!("-timeout={MOST_SECONDS_PER_INPUT}").into());
    args
}

/// The names of the targets in `directory`, sorted so that two runs do the same.
fn targets(directory: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(directory)
        .with_context(|| format!("no fuzz targets: cannot read {}", directory.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path: PathBuf = entry?.path();
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

/// Those of `targets` that are `wanted`, in that order; all when nothing is wanted in particular.
fn chosen(targets: Vec<String>, wanted: &[&str]) -> Result<Vec<String>> {
    if wanted.is_empty() {
        return Ok(targets);
    }
    if let Some(unknown) = wanted.iter().find(|name| !targets.iter().any(|target| target == *name)) {
        bail!("no fuzz target `{unknown}` (there are {})", targets.join(", "));
    }
    Ok(wanted.iter().map(ToString::to_string).collect())
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

    #[test]
    fn targets_can_be_named_and_a_wrong_name_is_told() {
        let targets = || vec!["robots".to_owned(), "trace".to_owned()];
        assert_eq!(chosen(targets(), &[]).unwrap(), targets());
        assert_eq!(chosen(targets(), &["trace"]).unwrap(), ["trace"]);
        let error = chosen(targets(), &["trace", "robot"]).unwrap_err().to_string();
        assert_eq!(error, "no fuzz target `robot` (there are robots, trace)");
    }

    #[test]
    fn what_is_found_on_the_way_stays_out_of_the_repository() {
        let args = arguments(Path::new("/r"), "trace", Path::new("/r/target/fuzz/corpus/trace"), 5);
        let args: Vec<_> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let corpora = args.iter().filter(|arg| arg.contains("corpus")).collect::<Vec<_>>();
        assert_eq!(corpora, ["/r/target/fuzz/corpus/trace", "/r/fuzz/corpus/trace"]);
        assert!(args.contains(&"-max_total_time=5".to_owned()));
    }
}
