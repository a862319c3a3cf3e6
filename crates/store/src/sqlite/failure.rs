//! From what `SQLite` says to what a caller can act on.

use rusqlite::ErrorCode;

use crate::Error;

impl From<rusqlite::Error> for Error {
    fn from(failure: rusqlite::Error) -> Self {
        use rusqlite::Error as Sql;
        match &failure {
            // A value of a type that we never write.
            Sql::FromSqlConversionFailure(..)
            | Sql::InvalidColumnType(..)
            | Sql::IntegralValueOutOfRange(..) => Self::damaged(failure.to_string()),
            _ => match failure.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => Self::Full,
                Some(ErrorCode::ReadOnly) => Self::ReadOnly,
                Some(ErrorCode::PermissionDenied) => {
                    Self::Forbidden { doing: "using the database".to_owned() }
                }
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::damaged(failure.to_string())
                }
                Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::OutOfMemory) => {
                    Self::System { doing: "using the database".to_owned(), reason: failure.to_string() }
                }
                _ => Self::Bug { what: failure.to_string() },
            },
        }
    }
}

impl From<postcard::Error> for Error {
    fn from(failure: postcard::Error) -> Self {
        Self::damaged(format!("a record cannot be read: {failure}"))
    }
}
