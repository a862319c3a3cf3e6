//! Files and directories that only their owner can read: what is watched, its content and the headers sent for it are
//! private. Sets permissions only on creation; later changes by a user stay.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the directory, and those above it that are not there.
pub(super) fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// How to open a file that may have to be created.
pub(super) fn file_options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates an empty database, unless it is there; `SQLite` gives the files beside it the permissions of this one.
pub(super) fn create_database(file: &Path) -> io::Result<()> {
    // A database that is there must not be opened and closed here: that would drop the locks that other connections of
    // this process have on it.
    match file_options().write(true).create_new(true).open(file) {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => Err(reason),
        _ => Ok(()),
    }
}
