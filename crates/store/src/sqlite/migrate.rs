//! Bringing a database to the schema this release knows, one numbered step at a time.
//!
//! The number of steps taken is the database's `user_version`. A step and its number are one transaction, so an
//! interrupted migration goes on where it stopped. Steps are never edited once released, only added.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::resources;
use crate::Error;

/// All steps, oldest first.
pub(super) const STEPS: &[&str] = &[
    include_str!("0001_first.sql"),
    include_str!("0002_batches.sql"),
    include_str!("0003_compact.sql"),
    include_str!("0004_resources.sql"),
    include_str!("0005_names.sql"),
    include_str!("0006_queries.sql"),
    include_str!("0007_texts.sql"),
];

/// Marks a database as ours: "Dnln" in ASCII.
const APPLICATION_ID: i32 = 0x446e_6c6e;

/// Takes the steps that are missing.
pub(super) fn bring_up_to_date(
    connection: &mut Connection,
    steps: &[&str],
    file: &Path,
) -> Result<(), Error> {
    let done = schema_of(connection, file)?;
    check_not_newer(done, steps)?;
    resources::add_functions(connection)?;
    for (number, step) in (1_u32..).zip(steps).skip(done as usize) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Refuses a database that cannot be read as it is.
pub(super) fn check_current(connection: &Connection, steps: &[&str], file: &Path) -> Result<(), Error> {
    let found = schema_of(connection, file)?;
    check_not_newer(found, steps)?;
    let known = steps.len() as u32;
    if found < known { Err(Error::TooOld { found, known }) } else { Ok(()) }
}

fn check_not_newer(found: u32, steps: &[&str]) -> Result<(), Error> {
    let known = steps.len() as u32;
    if found > known { Err(Error::TooNew { found, known }) } else { Ok(()) }
}

/// How many steps a database has taken; 0 for a new file.
fn schema_of(connection: &Connection, file: &Path) -> Result<u32, Error> {
    let foreign = || Error::Foreign { file: file.to_owned() };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|failure| match failure.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
            _ => failure.into(),
        })?;
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION_ID && (tables > 0 || version != 0) {
        return Err(foreign());
    }
    u32::try_from(version).map_err(|_| Error::damaged(format!("schema number {version}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE a (x)";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (1, 2);";

    fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Error> {
        bring_up_to_date(connection, steps, Path::new("test.db"))
    }

    #[test]
    fn steps_are_taken_once_each() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[FIRST]).unwrap();
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
        let rows: i64 = connection.query_row("SELECT count(y) FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_step_that_fails_leaves_no_trace_and_is_taken_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        let broken = "INSERT INTO a VALUES (7); INSERT INTO nowhere VALUES (1);";
        migrate(&mut connection, &[FIRST, broken]).unwrap_err();
        assert_eq!(schema_of(&connection, Path::new("test.db")), Ok(1));
        let rows: i64 = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0);
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
    }

    #[test]
    fn a_newer_an_older_and_a_foreign_database_are_told_apart() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
        assert_eq!(migrate(&mut connection, &[FIRST]), Err(Error::TooNew { found: 2, known: 1 }));
        let checked = check_current(&connection, &[FIRST, SECOND, FIRST], Path::new("test.db"));
        assert_eq!(checked, Err(Error::TooOld { found: 2, known: 3 }));

        let mut other = Connection::open_in_memory().unwrap();
        other.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(migrate(&mut other, &[FIRST]), Err(Error::Foreign { file: "test.db".into() }));
    }
}
