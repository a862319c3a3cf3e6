//! `dunlin config check`: is the configuration sound, what is in force, and where does each value come from?

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dunlin_server::unit;
use dunlin_store::{SqliteStore, Store};
use serde::Serialize;

use super::units::Pace;
use super::{Effective, Flags, KEYS};
use crate::failure::Failure;
use crate::output::{print_json, print_table_left};

/// The budget in a data directory, if one was set there.
fn stored_budget(data: &Path) -> Result<Option<Pace>, Failure> {
    match SqliteStore::open_read_only(data) {
        Err(dunlin_store::Error::NoStore { .. }) => Ok(None),
        opened => in_store(&opened?),
    }
}

/// The budget that was set in a store, in the unit in which it was set.
pub(crate) fn in_store(store: &dyn Store) -> Result<Option<Pace>, Failure> {
    let Some(stored) = dunlin_engine::stored_budget(store)? else { return Ok(None) };
    Ok(Some(Pace::new(stored.per_second, unit::of(store, stored.per_second)?)))
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read the configuration as `serve` would, and show what is in force and why
    Check(ConfigCheck),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigCheck {
    /// The file [default: dunlin.toml in the data directory, if it is there]
    file: Option<PathBuf>,
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Setting {
    key: &'static str,
    value: String,
    origin: String,
    about: &'static str,
}

#[derive(Debug, Serialize)]
struct Report {
    settings: Vec<Setting>,
}

impl ConfigCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Self::Check(check) = self;
        let mut flags = Flags { file: check.file.clone(), ..Flags::default() };
        flags.set("--data", "data", check.data.clone());
        let mut effective = Effective::read(&flags)?;
        if let Some(stored) = stored_budget(&effective.config.data)? {
            effective.take_stored_budget(stored);
        }
        let settings = KEYS.iter().map(|key| Setting {
            key: key.name,
            value: (key.show)(&effective.config),
            origin: effective.origin(key.name).to_string(),
            about: key.about,
        });
        let settings: Vec<Setting> = settings.collect();
        if check.json {
            return print_json(&Report { settings });
        }
        let rows = settings.into_iter().map(|s| vec![s.key.to_owned(), s.value, s.origin]).collect();
        print_table_left(&["key", "value", "from"], rows)
    }
}
