//! Batches, failures within them, and the end.

use super::*;

fn writer(directory: &std::path::Path) -> (Writer, Connection) {
    let file = directory.join("test.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE row (number UNIQUE)").unwrap();
    (Writer::start(connection, 100, 10).unwrap(), Connection::open(&file).unwrap())
}

fn add(number: i64) -> impl FnMut(&Connection) -> Result<i64, Error> + Send + 'static {
    move |connection| {
        connection.execute("INSERT INTO row VALUES (?1)", [number])?;
        Ok(number)
    }
}

fn rows(reader: &Connection) -> Vec<i64> {
    let mut select = reader.prepare("SELECT number FROM row ORDER BY number").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn company_shares_a_transaction_and_failures_stay_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = writer(directory.path());
    let (go_on, waiting) = sync_channel::<()>(0);
    // While the first one waits, the others queue up behind it and become one batch. It may be run again when one of
    // them fails, and must not wait a second time.
    let first = writer.submit(move |connection| {
        let _ = waiting.recv();
        add(0)(connection)
    });
    let outcomes: Vec<_> = [1, 2, 1, 3].map(|number| writer.submit(add(number))).into();
    let panicking = writer.submit(|connection| -> Result<(), Error> {
        add(99)(connection)?;
        panic!("this panic is part of a test");
    });
    let half_done = writer.submit(|connection| {
        add(98)(connection)?;
        add(1)(connection)
    });
    let alone = writer.submit_alone(|connection| Ok(connection.is_autocommit()));
    let last = writer.submit(add(4));
    drop(go_on);

    assert_eq!(first.wait(), Ok(0));
    let outcomes: Vec<bool> = outcomes.into_iter().map(|pending| pending.wait().is_ok()).collect();
    assert_eq!(outcomes, [true, true, false, true]);
    assert!(matches!(panicking.wait(), Err(Error::Bug { .. })));
    assert!(half_done.wait().is_err());
    assert_eq!((alone.wait(), last.wait()), (Ok(true), Ok(4)));
    assert_eq!(rows(&reader), [0, 1, 2, 3, 4]);
}

#[test]
fn when_the_commit_fails_everybody_gets_a_transaction_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = writer(directory.path());
    let setup = "PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
                 CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);";
    writer.submit_alone(move |connection| Ok(connection.execute_batch(setup)?)).wait().unwrap();
    let (go_on, waiting) = sync_channel::<()>(0);
    // It may be run again when the commit fails, and must not wait a second time.
    let first = writer.submit(move |_| {
        let _ = waiting.recv();
        Ok(())
    });
    let orphan = writer.submit(|connection| Ok(connection.execute("INSERT INTO child VALUES (7)", [])?));
    let good = writer.submit(add(1));
    drop(go_on);
    first.wait().unwrap();
    // Only the commit finds out that the parent is missing.
    assert!(orphan.wait().is_err());
    assert_eq!(good.wait(), Ok(1));
    assert_eq!(rows(&reader), [1]);
}

#[test]
fn a_database_that_another_program_has_is_busy_for_all_and_then_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, other) = writer(directory.path());
    let no_waiting = |connection: &Connection| Ok(connection.busy_timeout(std::time::Duration::ZERO)?);
    writer.submit_alone(no_waiting).wait().unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused: Vec<_> = (0..5).map(|number| writer.submit(add(number))).collect();
    assert!(refused.into_iter().all(|pending| pending.wait() == Err(Error::Busy)));
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.submit(add(7)).wait(), Ok(7));
    assert_eq!(rows(&other), [7]);
}

#[test]
fn what_is_queued_is_finished_before_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = writer(directory.path());
    let pending: Vec<_> = (0..50).map(|number| writer.submit(add(number))).collect();
    drop(writer);
    assert!(pending.into_iter().all(|pending| pending.wait().is_ok()));
    assert_eq!(rows(&reader).len(), 50);
}
