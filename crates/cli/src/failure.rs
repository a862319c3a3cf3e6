//! Why a command stopped, and the exit code that says so to other programs.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// A reason to exit with something other than 0.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command ran, and the answer is "no".
    No(String),
    /// Bad input or usage.
    Input(String),
    /// Disk, permissions.
    Environment(String),
    /// Whoever read our output has had enough.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input(message.into())
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::No(_) => 1,
            Self::Input(_) => 2,
            Self::Environment(_) => 3,
            Self::ClosedPipe => 0,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No(message) | Self::Input(message) | Self::Environment(message) => f.write_str(message),
            Self::ClosedPipe => f.write_str("standard output was closed"),
        }
    }
}

impl From<dunlin_lab::Error> for Failure {
    fn from(error: dunlin_lab::Error) -> Self {
        let message = error.to_string();
        if let dunlin_lab::Error::Write { file, reason } = &error
            && file == "-"
            && reason.kind() == io::ErrorKind::BrokenPipe
        {
            return Self::ClosedPipe;
        }
        if error.is_environment() { Self::Environment(message) } else { Self::Input(message) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::Environment(format!("standard output: cannot be written: {error}"))
    }
}
