//! Running the binary in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory with files, in which commands run.
pub(crate) struct Desk(TempDir);

impl Desk {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `dunlin` with arguments separated by blanks.
    pub(crate) fn run(&self, args: &str) -> Done {
        Done::of(dunlin(self.0.path(), args).stdin(Stdio::null()).output().unwrap())
    }

    /// The same, expecting success and one JSON object.
    pub(crate) fn json(&self, args: &str) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args}: {}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }
}

pub(crate) fn dunlin(directory: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dunlin"));
    // The user who runs the tests may run a service.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("DUNLIN_")) {
        command.env_remove(name);
    }
    command.env("XDG_DATA_HOME", directory);
    command.current_dir(directory).args(args.split_whitespace());
    command
}

pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
