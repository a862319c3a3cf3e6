//! A few connections for reading, shared by all threads. In WAL mode readers neither wait for the writer nor keep
//! it waiting.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::open::keep_statements;
use crate::Error;

/// How the database is shared while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// Beside a writer, coordinated through a file beside the database.
    WithWriter,
    /// Without a writer: nothing is created and nothing locked, as where nothing can be written. What the writer
    /// left in its log is read from there.
    Exclusive,
}

/// The file access of `SQLite` that takes no locks.
const WITHOUT_LOCKS: &str = if cfg!(windows) { "win32-none" } else { "unix-none" };

/// The connections that are idle, and how many more may be opened.
#[derive(Debug)]
pub(super) struct Readers {
    file: PathBuf,
    mode: ReadMode,
    busy_timeout: Duration,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug)]
struct Pool {
    idle: Vec<Connection>,
    unopened: usize,
}

impl Readers {
    pub(super) fn new(file: PathBuf, mode: ReadMode, at_most: usize, busy_timeout: Duration) -> Self {
        let pool = Pool { idle: Vec::new(), unopened: at_most.max(1) };
        Self { file, mode, busy_timeout, pool: Mutex::new(pool), returned: Condvar::new() }
    }

    pub(super) const fn mode(&self) -> ReadMode {
        self.mode
    }

    /// Runs `work` on one state of the database: later writes are not visible.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.with_connection(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            let result = work(&snapshot)?;
            snapshot.finish()?;
            Ok(result)
        })
    }

    /// Runs `work` on a connection that is in no transaction.
    pub(super) fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let borrowed = Borrowed { readers: self, connection: Some(self.take()?) };
        let connection = borrowed.connection.as_ref().expect("it is taken out only by drop");
        work(connection)
    }

    fn take(&self) -> Result<Connection, Error> {
        let mut pool = self.pool();
        loop {
            if let Some(connection) = pool.idle.pop() {
                return Ok(connection);
            }
            if pool.unopened > 0 {
                pool.unopened -= 1;
                drop(pool);
                return self.open().inspect_err(|_| {
                    self.pool().unopened += 1;
                    self.returned.notify_one();
                });
            }
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self.mode {
            ReadMode::WithWriter => Connection::open_with_flags(&self.file, flags)?,
            ReadMode::Exclusive => {
                let connection = Connection::open_with_flags_and_vfs(&self.file, flags, WITHOUT_LOCKS)?;
                // The shared state is then in memory instead of the file beside the database.
                connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                connection.pragma_update(None, "temp_store", "MEMORY")?;
                connection
            }
        };
        connection.busy_timeout(self.busy_timeout)?;
        keep_statements(&connection)?;
        Ok(connection)
    }

    /// A panic while the lock is held leaves two counters as they were, so poison means nothing here.
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives the connection back even when the work panics.
struct Borrowed<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers.pool().idle.push(connection);
            self.readers.returned.notify_one();
        }
    }
}
