//! One process per data directory. The lock is the system's and dies with the process, however that ends; the
//! file only carries it, and says which process holds it.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use super::private;
use crate::Error;

const FILE: &str = "dunlin.lock";

/// Holds a data directory for as long as it lives.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Takes the directory, creating it if necessary, or says which process holds it.
    pub(super) fn take(directory: &Path) -> Result<Self, Error> {
        let failed =
            |reason: std::io::Error| Error::system(format!("opening {}", directory.display()), &reason);
        private::create_directory(directory).map_err(failed)?;
        let path = directory.join(FILE);
        let mut options = private::file_options();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = file.read_to_string(&mut holder);
                let process = read.ok().and_then(|_| holder.trim().parse().ok());
                return Err(Error::InUse { directory: directory.to_owned(), process });
            }
            Err(TryLockError::Error(reason)) => return Err(failed(reason)),
        }
        // Only for the message above; a full disk must not keep the service from starting to prune.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

impl DirectoryLock {
    /// Keeps writers out of a directory that is only read, without writing there; `None` where there was never one.
    pub(super) fn share(directory: &Path) -> Result<Option<Self>, Error> {
        let path = directory.join(FILE);
        let failed = |reason: std::io::Error| Error::system(format!("opening {}", path.display()), &reason);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(reason) => return Err(failed(reason)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => {
                Err(Error::InUse { directory: directory.to_owned(), process: None })
            }
            Err(TryLockError::Error(reason)) => Err(failed(reason)),
        }
    }
}

/// Whether a running process holds the directory. Takes no lock; a missing directory is not held.
pub(super) fn is_held(directory: &Path) -> Result<bool, Error> {
    let path = directory.join(FILE);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(reason) => return Err(Error::system(format!("opening {}", path.display()), &reason)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(reason)) => {
            Err(Error::system(format!("locking {}", path.display()), &reason))
        }
    }
}
