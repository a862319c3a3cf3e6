//! Opening a data directory: the lock, the settings of the database, its schema.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::lock::DirectoryLock;
use super::migrate;
use super::private;
use super::readers::{ReadMode, Readers};
use super::writer::Writer;
use super::{Access, SqliteStore};
use crate::Error;

/// The database inside the data directory.
const FILE: &str = "dunlin.db";

/// Versions of a page or two with their neighbours fit in one page; measured as the best size for such rows.
const PAGE_BYTES: u64 = 16_384;

/// Through `SQLite` 3.51.2, a checkpoint at the wrong moment could damage a database in WAL mode.
const OLDEST_SAFE_LIBRARY: (i32, &str) = (3_051_003, "3.51.3");

/// What a write has survived when it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of the process, however sudden. After a power failure the last moments may be missing; what is there
    /// is whole. Much faster on disks that take long to sync.
    #[default]
    Process,
    /// A power failure too: every commit waits for the disk.
    Power,
}

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    /// What a write has survived when it is answered.
    pub durability: Durability,
    /// The most bytes the database may take; beyond that, writing fails as on a full disk.
    pub size_limit: Option<u64>,
    /// How many threads may read at once; more have to wait.
    pub readers: usize,
    /// How many writes may be queued; more have to wait.
    pub queue: usize,
    /// The most writes that share a transaction.
    pub batch: usize,
    /// How long to wait for a database that another program has locked, such as a backup tool.
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Process,
            size_limit: None,
            readers: 4,
            queue: 1024,
            batch: 1000,
            busy_timeout: Duration::from_secs(10),
        }
    }
}

impl SqliteStore {
    /// Opens or creates the store in `directory`, and keeps others out until it is dropped.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        Self::open_with(directory, SqliteOptions::default())
    }

    /// Opens or creates the store in `directory`, and keeps others out until it is dropped.
    pub fn open_with(directory: &Path, options: SqliteOptions) -> Result<Self, Error> {
        check_library()?;
        let lock = DirectoryLock::take(directory)?;
        let file = directory.join(FILE);
        private::create_database(&file)
            .map_err(|reason| Error::system(format!("creating {}", file.display()), &reason))?;
        let mut connection = Connection::open(&file)?;
        connection.busy_timeout(options.busy_timeout)?;
        // Only a new file takes the page size, and only before any other statement.
        connection.pragma_update(None, "page_size", PAGE_BYTES.cast_signed())?;
        migrate::bring_up_to_date(&mut connection, migrate::STEPS, &file)?;
        configure(&connection, options)?;
        Ok(Self {
            readers: Readers::new(file.clone(), ReadMode::WithWriter, options.readers, options.busy_timeout),
            access: Access::Write(Writer::start(connection, options.queue, options.batch)?),
            file,
            _lock: Some(lock),
        })
    }

    /// Whether a running process has the store in `directory` open for writing.
    pub fn is_in_use(directory: &Path) -> Result<bool, Error> {
        super::lock::is_held(directory)
    }

    /// Opens the store in `directory` for reading only, beside a service that is running or when none is; also where
    /// nothing can be written, for want of space or permission, unless a service is running there.
    pub fn open_read_only(directory: &Path) -> Result<Self, Error> {
        check_library()?;
        let file = existing(directory)?;
        let failure = match Self::read_in(ReadMode::WithWriter, &file, None) {
            Err(failure) if failure.is_about_writing() => failure,
            opened => return opened,
        };
        // The lock keeps writers out in the meantime.
        match DirectoryLock::share(directory) {
            Ok(lock) => Self::read_in(ReadMode::Exclusive, &file, lock).map_err(|_| failure),
            Err(_) => Err(failure),
        }
    }

    fn read_in(mode: ReadMode, file: &Path, lock: Option<DirectoryLock>) -> Result<Self, Error> {
        let options = SqliteOptions::default();
        let readers = Readers::new(file.to_owned(), mode, options.readers, options.busy_timeout);
        readers.with_connection(|connection| migrate::check_current(connection, migrate::STEPS, file))?;
        Ok(Self { readers, access: Access::Read, file: file.to_owned(), _lock: lock })
    }

    /// Whether the store was opened for reading where nothing can be written.
    pub fn is_read_alone(&self) -> bool {
        self.readers.mode() == ReadMode::Exclusive
    }
}

fn configure(connection: &Connection, options: SqliteOptions) -> Result<(), Error> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        let reason = format!("journal mode {mode} instead of wal: the file system may not support it");
        return Err(Error::System { doing: "opening the database".to_owned(), reason });
    }
    let synchronous = match options.durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // After a burst the log is cut back to this, instead of keeping its largest size for ever.
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    if let Some(bytes) = options.size_limit {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
        // Answers with the limit in force.
        connection.pragma_update_and_check(None, "max_page_count", pages.max(1), |_| Ok(()))?;
    }
    keep_statements(connection)
}

/// Compiled statements are kept: without the guarantee, they are compiled again for every other
/// value that might call for another plan. Where one does (decisions since a time), a page takes longer, but not long.
pub(super) fn keep_statements(connection: &Connection) -> Result<(), Error> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn existing(directory: &Path) -> Result<PathBuf, Error> {
    let file = directory.join(FILE);
    match file.try_exists() {
        Ok(true) => Ok(file),
        Ok(false) => Err(Error::NoStore { directory: directory.to_owned() }),
        Err(reason) => Err(Error::system(format!("opening {}", file.display()), &reason)),
    }
}

fn check_library() -> Result<(), Error> {
    let (number, expected) = OLDEST_SAFE_LIBRARY;
    if rusqlite::version_number() < number {
        return Err(Error::UnsafeLibrary { found: rusqlite::version().to_owned(), expected });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `SQLite` calls FULL is 2, and NORMAL 1: nothing less survives the end of a process.
    #[test]
    fn each_durability_is_what_it_says() {
        for (durability, level) in [(Durability::Process, 1), (Durability::Power, 2)] {
            let directory = tempfile::tempdir().unwrap();
            let connection = Connection::open(directory.path().join(FILE)).unwrap();
            configure(&connection, SqliteOptions { durability, ..SqliteOptions::default() }).unwrap();
            let number =
                |name: &str| -> i64 { connection.pragma_query_value(None, name, |row| row.get(0)).unwrap() };
            assert_eq!(number("synchronous"), level);
            assert_eq!(number("foreign_keys"), 1);
        }
    }
}
