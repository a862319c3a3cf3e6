//! What can go wrong in the lab, and whose fault it is.

use std::io;

use crate::files::Problem;

/// A refusal or failure of any function of this crate. Messages stand alone: they name the file and line, or
/// the parameter, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of a file that cannot be what it should be.
    #[error("{file}:{line}: {problem}")]
    BadLine {
        /// The file, as the caller named it.
        file: String,
        /// The line, from 1; for a record over several lines, its first.
        line: u64,
        /// What is wrong with it.
        problem: Problem,
    },
    /// An input file that does not exist.
    #[error("{file}: no such file (expected an existing file, or - for standard input)")]
    NoSuchFile {
        /// The file, as the caller named it.
        file: String,
    },
    /// A directory where a file was expected.
    #[error("{file}: is a directory (expected a file)")]
    IsDirectory {
        /// The directory, as the caller named it.
        file: String,
    },
    /// The system failed to read a file that is there.
    #[error("{file}: cannot be read: {reason}")]
    Read {
        /// The file, as the caller named it.
        file: String,
        /// What the system said.
        reason: io::Error,
    },
    /// The system failed to write a file; whatever was there before is untouched.
    #[error("{file}: cannot be written: {reason}")]
    Write {
        /// The file, as the caller named it.
        file: String,
        /// What the system said.
        reason: io::Error,
    },
    /// A parameter of a generator or of the noise that is invalid.
    #[error("{parameter} {value} (expected {expected})")]
    BadParameter {
        /// Its name.
        parameter: &'static str,
        /// What was given.
        value: String,
        /// What would do.
        expected: String,
    },
    /// Something there is no plan for.
    #[error(transparent)]
    Plan(#[from] dunlin_sched::plan::Error),
    /// An instance that no planner can hold.
    #[error(transparent)]
    TooLarge(#[from] dunlin_sched::plan::intervals::TooLarge),
    /// Too many schedules to try them all, in a build that has no other way to the optimum.
    #[error(
        "the best schedule takes an integer solver to find, which this build lacks (build with: cargo build \
         --release -p dunlin --features highs; or try --policy offline, a good schedule and a bound without it)"
    )]
    NoSolver,
    /// The integer solver gave up on a program that it should have taken.
    #[error("the integer solver failed: {reason} (try --policy offline)")]
    Solver {
        /// What it said.
        reason: String,
    },
    /// A value the model refuses.
    #[error(transparent)]
    Model(#[from] dunlin_core::Error),
}

impl Error {
    /// Whether the environment failed (disk, permissions, a broken pipe) rather than the input being bad.
    pub const fn is_environment(&self) -> bool {
        matches!(self, Self::Read { .. } | Self::Write { .. })
    }

    /// Refuses a parameter.
    pub(crate) fn parameter(
        parameter: &'static str,
        value: &impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::BadParameter { parameter, value: value.to_string(), expected: expected.into() }
    }
}
