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
    /// The reader of our output has closed it.
    ClosedPipe,
    /// The requested number was reached.
    Enough,
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
            Self::ClosedPipe | Self::Enough => 0,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No(message) | Self::Input(message) | Self::Environment(message) => f.write_str(message),
            Self::Enough => f.write_str("done"),
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

impl From<dunlin_store::Error> for Failure {
    fn from(error: dunlin_store::Error) -> Self {
        match error.fault() {
            dunlin_store::Fault::User => Self::Input(error.to_string()),
            _ => Self::Environment(error.to_string()),
        }
    }
}

impl From<dunlin_engine::Error> for Failure {
    fn from(error: dunlin_engine::Error) -> Self {
        match error.fault() {
            dunlin_net::Fault::User => Self::Input(error.to_string()),
            _ => Self::Environment(error.to_string()),
        }
    }
}

impl From<dunlin_server::Error> for Failure {
    fn from(error: dunlin_server::Error) -> Self {
        match error.fault() {
            dunlin_net::Fault::User => Self::Input(error.to_string()),
            _ => Self::Environment(error.to_string()),
        }
    }
}

impl From<dunlin_testbed::Error> for Failure {
    fn from(error: dunlin_testbed::Error) -> Self {
        match error {
            dunlin_testbed::Error::Listen { .. } => Self::Environment(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<dunlin_net::Error> for Failure {
    fn from(error: dunlin_net::Error) -> Self {
        match error.fault() {
            dunlin_net::Fault::User => Self::Input(error.to_string()),
            _ => Self::Environment(error.to_string()),
        }
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
