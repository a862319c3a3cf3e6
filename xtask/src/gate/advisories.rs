//! Known faults of what we depend on, by the database of the Rust project. Where that cannot be fetched, an older copy
//! counts; where there is none, the check is left out, and the gate's last line says so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Outcome, passed};
use crate::command;

pub(super) fn check(root: &Path) -> Result<Outcome> {
    let fetched =
        command::run(Command::new(command::cargo()).args(["deny", "fetch", "db"]).current_dir(root))?;
    if fetched.success() {
        return Ok(passed(command::run_cargo(root, &["deny", "check", "advisories"])?));
    }
    if !database().is_some_and(|directory| holds_a_directory(&directory)) {
        eprintln!("advisories: SKIPPED, their database cannot be fetched and there is no older copy");
        return Ok(Outcome::LeftOut("advisories (their database cannot be fetched)".to_owned()));
    }
    let status = command::run_cargo(root, &["deny", "--offline", "check", "advisories"])?;
    Ok(match passed(status) {
        Outcome::Passed => Outcome::LeftOut("new advisories (their database cannot be updated)".to_owned()),
        failed => failed,
    })
}

/// Where cargo-deny keeps databases.
fn database() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cargo")))?;
    Some(home.join("advisory-dbs"))
}

/// A lock file alone is no database.
fn holds_a_directory(directory: &Path) -> bool {
    let Ok(entries) = directory.read_dir() else { return false };
    entries.flatten().any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_directory_among_the_databases() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(holds_a_directory(here));
        assert!(!holds_a_directory(&here.join("src/gate")), "files only");
        assert!(!holds_a_directory(&here.join("gone")));
    }
}
