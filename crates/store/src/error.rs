//! What can go wrong with a store, whose fault it is, and whether to try again.

use std::path::PathBuf;
use std::time::Duration;

use crate::{CeiId, Fault, QueryId, Retry, SourceId, VersionId};

/// A refusal or failure of a store. After any of these the store holds what it held before the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A source that does not exist, or no longer.
    #[error("no source {0} (list the sources to see which there are)")]
    NoSuchSource(SourceId),
    /// A CEI that does not exist, or has ended.
    #[error("no open CEI {0} (one that was captured, lost or withdrawn cannot be extended)")]
    NoSuchCei(CeiId),
    /// A query that does not exist, or no longer.
    #[error("no query {0} (list the queries to see which there are)")]
    NoSuchQuery(QueryId),
    /// Another query has that name.
    #[error("a query is called `{0}` already (edit that one, or choose another name)")]
    NameTaken(String),
    /// A source that a query reads cannot be removed before it.
    #[error("source {id} is read by the query `{query}` (remove or edit that query first)")]
    NeededByQuery {
        /// The source.
        id: SourceId,
        /// The name of one such query.
        query: String,
    },
    /// A version that does not exist, or was removed by retention.
    #[error("no version {0} (list the versions of its source; old ones may have been pruned)")]
    NoSuchVersion(VersionId),
    /// A value that the store does not take.
    #[error("{what}: {found} (expected {expected})")]
    BadValue {
        /// What it was for.
        what: &'static str,
        /// What was given.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// The directory belongs to a process that is running.
    #[error(
        "{} is in use by {} (stop it, or choose another directory)",
        directory.display(),
        process.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
    )]
    InUse {
        /// The data directory.
        directory: PathBuf,
        /// The process that holds it, if that could be read.
        process: Option<u32>,
    },
    /// There is nothing to read.
    #[error("{} holds no store (start the service once, or correct the path)", directory.display())]
    NoStore {
        /// The data directory.
        directory: PathBuf,
    },
    /// A database of some other program.
    #[error("{} is not a database of this program (move it away, or choose another directory)", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A database that a newer release has written.
    #[error(
        "the store has schema {found} and this release knows up to {known} (use the newer release again)"
    )]
    TooNew {
        /// The schema found.
        found: u32,
        /// The newest one known here.
        known: u32,
    },
    /// A database that an older release has written, opened for reading only.
    #[error(
        "the store has schema {found}, older than {known} (start the service once to bring it up to date)"
    )]
    TooOld {
        /// The schema found.
        found: u32,
        /// The one needed.
        known: u32,
    },
    /// The database library is one that is known to damage databases.
    #[error("SQLite {found} is not safe to use (build with the bundled one, {expected} or newer)")]
    UnsafeLibrary {
        /// Its version.
        found: String,
        /// The oldest good one.
        expected: &'static str,
    },
    /// No room, on the disk or under the store's own limit. Nothing was written.
    #[error("no space left for the store (free some, or prune old versions); it goes on by itself then")]
    Full,
    /// The system does not let this user at the directory or a file in it.
    #[error(
        "{doing}: this user may not do that (run it as the owner of the directory, or change its permissions)"
    )]
    Forbidden {
        /// What was being done.
        doing: String,
    },
    /// The store was opened for reading, or lies where nothing can be written.
    #[error(
        "the store can only be read here (check that its disk can be written, and go through the service if one runs)"
    )]
    ReadOnly,
    /// Another connection kept the database locked for longer than the store waits.
    #[error("the store is busy (try again)")]
    Busy,
    /// The system failed to read or write.
    #[error("{doing}: {reason} (check the disk and its permissions)")]
    System {
        /// What was being done.
        doing: String,
        /// The system's message.
        reason: String,
    },
    /// What is on disk is not what was written.
    #[error("the store is damaged: {what} (check the disk, then restore a backup)")]
    Damaged {
        /// Where, and how it shows.
        what: String,
    },
    /// The writing thread is gone; the outcome of the call is unknown.
    #[error("the store has been closed (open it again)")]
    Closed,
    /// This crate did something wrong. The call had no effect, and others are not affected.
    #[error("internal error of the store: {what} (please report this)")]
    Bug {
        /// What happened.
        what: String,
    },
}

impl Error {
    /// Whose fault it is. Never a remote server's: a store uses no network.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::NoSuchSource(_)
            | Self::NoSuchVersion(_)
            | Self::NoSuchQuery(_)
            | Self::NameTaken(_)
            | Self::NeededByQuery { .. }
            | Self::BadValue { .. }
            | Self::InUse { .. }
            | Self::NoStore { .. }
            | Self::Foreign { .. }
            | Self::TooNew { .. }
            | Self::TooOld { .. } => Fault::User,
            _ => Fault::Ours,
        }
    }

    /// Whether the same call may succeed later. A capture may always be recorded again: it counts once.
    pub const fn retry(&self) -> Retry {
        match self {
            Self::Busy => Retry::After(Duration::from_millis(100)),
            Self::Full | Self::Forbidden { .. } | Self::ReadOnly | Self::System { .. } => Retry::Backoff,
            _ => Retry::No,
        }
    }

    /// Whether a location that cannot be written may be the cause.
    pub(crate) const fn is_about_writing(&self) -> bool {
        matches!(self, Self::Full | Self::Forbidden { .. } | Self::ReadOnly | Self::System { .. })
    }

    pub(crate) fn system(doing: impl Into<String>, reason: &std::io::Error) -> Self {
        match reason.kind() {
            std::io::ErrorKind::StorageFull => Self::Full,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            std::io::ErrorKind::PermissionDenied => Self::Forbidden { doing: doing.into() },
            _ => Self::System { doing: doing.into(), reason: reason.to_string() },
        }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_who_and_what_to_try() {
        let in_use = Error::InUse { directory: "data".into(), process: Some(7) };
        assert_eq!(in_use.to_string(), "data is in use by process 7 (stop it, or choose another directory)");
        assert_eq!((in_use.fault(), in_use.retry()), (Fault::User, Retry::No));
        assert_eq!((Error::Full.fault(), Error::Full.retry()), (Fault::Ours, Retry::Backoff));
    }

    #[test]
    fn a_full_or_forbidden_disk_is_told_from_other_failures() {
        let of = |kind: std::io::ErrorKind| Error::system("writing", &kind.into());
        assert_eq!(of(std::io::ErrorKind::StorageFull), Error::Full);
        assert_eq!(of(std::io::ErrorKind::ReadOnlyFilesystem), Error::ReadOnly);
        let forbidden = of(std::io::ErrorKind::PermissionDenied);
        assert!(forbidden.to_string().starts_with("writing: this user may not do that"), "{forbidden}");
        assert_eq!(forbidden.fault(), Fault::Ours);
        assert!(matches!(of(std::io::ErrorKind::NotADirectory), Error::System { .. }));
    }
}
