//! Starting cargo and passing its verdict on. Knows nothing about what is being run, or why.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result};

/// The cargo that started this program, so that a chore never mixes two toolchains.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs cargo in `root` with its output passed through, and waits for it.
pub(crate) fn run_cargo<S: AsRef<str>>(root: &Path, args: &[S]) -> Result<ExitStatus> {
    run(Command::new(cargo()).args(args.iter().map(AsRef::as_ref)).current_dir(root))
}

/// Runs a command with its output passed through, and waits for it.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("cannot start {}", command.get_program().display()))
}

/// What cargo writes to its standard output in `root`; `None` when it fails.
pub(crate) fn output_of_cargo<S: AsRef<str>>(root: &Path, args: &[S]) -> Result<Option<String>> {
    let mut command = Command::new(cargo());
    command
        .args(args.iter().map(AsRef::as_ref))
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output =
        command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Whether a command can be started and succeeds, without a word on the terminal.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The exit code to end with after a child ended with `status`; a child killed by a signal is a failure.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code().map(u8::try_from) {
        Some(Ok(code)) => ExitCode::from(code),
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}
