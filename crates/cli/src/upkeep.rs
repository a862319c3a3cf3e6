//! `dunlin store`: maintenance of the database of a data directory: is it sound, a copy of it, less of it. What is
//! removed is what the retention settings say.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use dunlin_engine::ageing::Ages;
use dunlin_engine::clock;
use dunlin_store::{Depth, SqliteStore, Statistics, Store};

use crate::backend::DirectoryArgs;
use crate::data_dir;
use crate::failure::Failure;
use crate::output::print_line;

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Read everything and compare it with its hashes; also beside a running service
    Check(DirectoryArgs),
    /// Copy the database to a new file; also beside a running service
    Backup(Backup),
    /// Remove what is older than the retention settings keep; a running service does this itself
    Prune(Prune),
    /// Give free space back to the disk; not while a service runs
    Compact(DirectoryArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Believe the clock even if it is far ahead of when the service last ran
    #[arg(long)]
    trust_clock: bool,
    #[command(flatten)]
    directory: DirectoryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The new file
    file: PathBuf,
    #[command(flatten)]
    directory: DirectoryArgs,
}

impl StoreCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Check(directory) => check(&to_read(directory)?),
            Self::Backup(Backup { file, directory }) => {
                to_read(directory)?.back_up(file)?;
                print_line(&format!("{}: written", file.display()))
            }
            Self::Prune(Prune { trust_clock, directory }) => {
                let config = directory.configuration()?.config;
                let (store, now) = (SqliteStore::open(&config.data)?, clock::now());
                let doubt = Ages::read(&store)?.believed_time(now, Duration::ZERO).doubt;
                if let Some(ahead) = doubt.filter(|_| !trust_clock) {
                    let days = ahead.as_secs() / 86_400;
                    return Err(Failure::No(format!(
                        "the clock is {days} days ahead of when the service last ran, so nothing was removed (set the \
                         clock if it is wrong; if it is right, add --trust-clock)"
                    )));
                }
                let pruned = store.prune(config.retention.at(now))?;
                print_line(&format!(
                    "removed: {} versions, {} changes, {} observations, {} decisions, {} items",
                    pruned.versions, pruned.changes, pruned.observations, pruned.decisions, pruned.items
                ))
            }
            Self::Compact(directory) => {
                let store = SqliteStore::open(&directory.configuration()?.config.data)?;
                let before = store.statistics()?;
                store.compact()?;
                print_line(&format!("{} before, {} now", size(&before), size(&store.statistics()?)))
            }
        }
    }
}

fn to_read(directory: &DirectoryArgs) -> Result<SqliteStore, Failure> {
    Ok(data_dir::open_to_read(&directory.configuration()?.config.data)?)
}

fn check(store: &SqliteStore) -> Result<(), Failure> {
    let findings = store.check(Depth::Everything)?;
    if !findings.is_sound() {
        return Err(Failure::No(format!("{} (restore a backup)", findings.problems.join("\n"))));
    }
    let statistics = store.statistics()?;
    print_line(&format!(
        "sound: {} contents read and compared, {} sources, {} versions, {} changes, {}",
        findings.contents_read,
        statistics.sources,
        statistics.versions,
        statistics.changes,
        size(&statistics)
    ))
}

fn size(statistics: &Statistics) -> String {
    match statistics.disk_bytes {
        bytes if bytes < 10 << 20 => format!("{} KiB on disk", bytes >> 10),
        bytes => format!("{} MiB on disk", bytes >> 20),
    }
}
