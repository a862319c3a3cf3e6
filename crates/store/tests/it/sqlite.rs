//! The contract on `SQLite`, and what only `SQLite` has: a directory that one process owns, a file that can be read
//! beside it, damaged or foreign.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use dunlin_store::{
    Depth, Durability, Error, Fault, NewDecision, Retry, SourceId, SourceQuery, SqliteOptions, SqliteStore,
    Store,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::contract::Fresh;
use crate::fixtures::{self, Numbers};

contract_suite!(on_sqlite);

fn on_sqlite(promise: fn(Fresh<'_>)) {
    let directories: RefCell<Vec<TempDir>> = RefCell::default();
    promise(&|| {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path()).unwrap();
        directories.borrow_mut().push(directory);
        Box::new(store)
    });
}

fn database(directory: &Path) -> Connection {
    Connection::open(directory.join("dunlin.db")).unwrap()
}

#[test]
fn what_was_stored_is_there_after_reopening() {
    let directory = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let options = SqliteOptions { durability: Durability::Power, ..SqliteOptions::default() };
        let store = SqliteStore::open_with(directory.path(), options).unwrap();
        let source = match store.sources(&SourceQuery::first(1)).unwrap().pop() {
            Some(source) => source.id,
            None => store.add_source(fixtures::source("a")).unwrap(),
        };
        store.record_capture(fixtures::news(source, round, format!("content {round}").as_bytes())).unwrap();
        assert_eq!(fixtures::all_changes(&store).len() as u64, round);
    }
    let mut files: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["dunlin.db", "dunlin.lock"], "a closed store is one file and its lock");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // A directory that was created by hand lets everyone in; the secrets in the store stay secret all the same.
    let open_to_all = tempfile::tempdir().unwrap();
    fs::set_permissions(open_to_all.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let store = SqliteStore::open(open_to_all.path()).unwrap();
    store.add_source(fixtures::source("a")).unwrap();
    store.back_up(&open_to_all.path().join("backup.db")).unwrap();
    for file in ["dunlin.db", "dunlin.db-wal", "dunlin.db-shm", "dunlin.lock", "backup.db"] {
        assert_eq!(mode(&open_to_all.path().join(file)), 0o600, "{file}");
    }
    drop(store);
    // Permissions that a user gave to a group stay.
    let database = open_to_all.path().join("dunlin.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o640)).unwrap();
    drop(SqliteStore::open(open_to_all.path()).unwrap());
    assert_eq!(mode(&database), 0o640);

    let created = open_to_all.path().join("created");
    drop(SqliteStore::open(&created).unwrap());
    assert_eq!(mode(&created), 0o700);
}

#[test]
fn the_database_is_set_up_as_measured() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    let database = database(directory.path());
    let pragma = |name: &str| -> String {
        database.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0)).map_or_else(
            |failure| failure.to_string(),
            |value| match value {
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            },
        )
    };
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("page_size"), "Integer(16384)");
}

#[test]
fn one_process_owns_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let second = SqliteStore::open(directory.path()).unwrap_err();
    let process = Some(std::process::id());
    assert_eq!(second, Error::InUse { directory: directory.path().to_owned(), process });
    assert_eq!(SqliteStore::is_in_use(directory.path()), Ok(true));
    drop(store);
    SqliteStore::open(directory.path()).unwrap();
}

#[test]
fn others_may_read_beside_the_owner_and_never_write() {
    let directory = tempfile::tempdir().unwrap();
    let nothing = SqliteStore::open_read_only(directory.path()).unwrap_err();
    assert_eq!(nothing, Error::NoStore { directory: directory.path().to_owned() });

    let owner = SqliteStore::open(directory.path()).unwrap();
    let source = owner.add_source(fixtures::source("a")).unwrap();
    let reader = SqliteStore::open_read_only(directory.path()).unwrap();
    let recorded = owner.record_capture(fixtures::news(source, 1, b"fresh")).unwrap();
    assert_eq!(reader.content(recorded.version.unwrap()).unwrap(), b"fresh");
    let refused = reader.record_capture(fixtures::news(source, 2, b"mine")).unwrap_err();
    assert_eq!((&refused, refused.fault()), (&Error::ReadOnly, Fault::Ours));
    assert_eq!(reader.compact(), Err(Error::ReadOnly));
    drop(owner);
    // And after the owner has gone.
    assert_eq!(fixtures::all_changes(&reader).len(), 1);
    drop(reader);
    assert_eq!(fixtures::all_changes(&SqliteStore::open_read_only(directory.path()).unwrap()).len(), 1);
}

#[test]
fn a_reader_sees_one_state_while_others_write() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions { readers: 1, queue: 2, batch: 3, ..SqliteOptions::default() };
    let store = SqliteStore::open_with(directory.path(), options).unwrap();
    let source = store.add_source(fixtures::source("a")).unwrap();
    std::thread::scope(|scope| {
        // Each capture has two changes: an odd count would be half a capture.
        let writer = Arc::new(scope.spawn(|| {
            let captures = (0..300).map(|number| {
                let mut capture = fixtures::news(source, number, &number.to_be_bytes());
                capture.changes.push(capture.changes[0].clone());
                capture
            });
            assert!(store.record_captures(captures.map(Arc::new).collect()).iter().all(Result::is_ok));
        }));
        for _ in 0..2 {
            let (store, writer) = (&store, Arc::clone(&writer));
            scope.spawn(move || {
                let mut seen = 0;
                while seen < 600 {
                    // Before the check: what is missing once the writer has ended stays missing.
                    let is_over = writer.is_finished();
                    let changes = fixtures::all_changes(store).len();
                    assert!(changes >= seen && changes.is_multiple_of(2), "{changes} after {seen}");
                    assert!(!is_over || changes == 600, "{changes} when all is written");
                    seen = changes;
                }
            });
        }
    });
}

#[test]
fn a_newer_a_foreign_and_a_broken_database_are_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(directory.path()).unwrap());
    database(directory.path()).pragma_update(None, "user_version", 99).unwrap();
    let newer = Error::TooNew { found: 99, known: 7 };
    assert_eq!(SqliteStore::open(directory.path()).unwrap_err(), newer);
    assert_eq!(SqliteStore::open_read_only(directory.path()).unwrap_err(), newer);
    assert_eq!(newer.fault(), Fault::User);

    let directory = tempfile::tempdir().unwrap();
    database(directory.path()).execute_batch("CREATE TABLE theirs (x)").unwrap();
    let foreign = Error::Foreign { file: directory.path().join("dunlin.db") };
    assert_eq!(SqliteStore::open(directory.path()).unwrap_err(), foreign);

    // Another program may keep a number there too.
    let directory = tempfile::tempdir().unwrap();
    database(directory.path()).pragma_update(None, "user_version", 3).unwrap();
    let foreign = Error::Foreign { file: directory.path().join("dunlin.db") };
    assert_eq!(SqliteStore::open(directory.path()).unwrap_err(), foreign);

    let directory = tempfile::tempdir().unwrap();
    let text = "this is no database, whatever its name says\n".repeat(100);
    fs::write(directory.path().join("dunlin.db"), &text).unwrap();
    let foreign = Error::Foreign { file: directory.path().join("dunlin.db") };
    assert_eq!(SqliteStore::open(directory.path()).unwrap_err(), foreign);
    assert_eq!(fs::read_to_string(directory.path().join("dunlin.db")).unwrap(), text);
}

/// A row is read as a whole, so that a page of the journal reads little more than it shows.
#[test]
fn rows_of_the_journal_stay_small() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let of = |n_bytes: usize| NewDecision {
        at: fixtures::time(0),
        source: None,
        reason: "".into(),
        figures: Numbers(7).bytes(n_bytes),
    };
    store.append_decisions(&vec![of(4_096); 100]).unwrap();
    store.append_decisions(&vec![of(1); 300]).unwrap();
    store.append_decisions(&[of(100_000), of(1)]).unwrap();
    let database = database(directory.path());
    let mut sizes = database.prepare("SELECT size FROM decision ORDER BY id").unwrap();
    let sizes: Vec<i64> = sizes.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(sizes, [16, 16, 16, 16, 16, 16, 4, 255, 45, 1, 1]);
}

#[test]
fn a_directory_that_cannot_be_is_the_environments_fault() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let failure = SqliteStore::open(&file.join("data")).unwrap_err();
    assert!(matches!(failure, Error::System { .. }), "{failure:?}");
    assert_eq!((failure.fault(), failure.retry()), (Fault::Ours, Retry::Backoff));
}

#[test]
fn damage_is_found_and_named_and_does_not_spread() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let content = Numbers(3).bytes(3000);
    let bad = store.record_capture(fixtures::news(source, 1, &content)).unwrap().version.unwrap();
    drop(store);
    let flip = "UPDATE content SET body = CAST(x'a5' || substr(body, 2) AS BLOB)";
    assert_eq!(database(directory.path()).execute(flip, []).unwrap(), 1);

    let store = SqliteStore::open(directory.path()).unwrap();
    let failure = store.content(bad).map(|content| content.len()).unwrap_err();
    assert!(matches!(failure, Error::Damaged { .. }), "{failure:?}");
    assert_eq!(failure.retry(), Retry::No);
    assert!(store.check(Depth::Structure).unwrap().is_sound());
    assert_eq!(store.check(Depth::Everything).unwrap().problems.len(), 1);
    // The next version is not built on the bad one.
    let good = store.record_capture(fixtures::news(source, 2, &content[1..])).unwrap().version.unwrap();
    assert_eq!(store.content(good).unwrap(), content[1..]);
}

#[test]
fn a_dangling_reference_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let source = store.add_source(fixtures::source("a")).unwrap();
    store.record_capture(fixtures::news(source, 1, b"x")).unwrap();
    drop(store);
    let database = database(directory.path());
    database.pragma_update(None, "foreign_keys", false).unwrap();
    database.execute("DELETE FROM content", []).unwrap();
    drop(database);
    let store = SqliteStore::open(directory.path()).unwrap();
    let findings = store.check(Depth::Structure).unwrap();
    assert_eq!(findings.problems, ["row 1 of version refers to a row of content that is not there"]);
}

#[test]
fn a_backup_is_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let source = store.add_source(fixtures::source("a")).unwrap();
    let content = Numbers(5).bytes(3000);
    let version = store.record_capture(fixtures::news(source, 1, &content)).unwrap().version.unwrap();

    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("dunlin.db");
    fs::write(elsewhere.path().join("dunlin.db.partial"), "left by a backup that was killed").unwrap();
    store.back_up(&file).unwrap();
    assert!(matches!(store.back_up(&file), Err(Error::BadValue { what: "backup", .. })), "never overwrites");
    store.record_capture(fixtures::news(source, 2, b"after the backup")).unwrap();
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "one file, nothing beside it");

    let copy = SqliteStore::open(elsewhere.path()).unwrap();
    assert_eq!(fixtures::all_changes(&copy).len(), 1);
    assert_eq!(copy.content(version).unwrap(), content);
    assert!(copy.check(Depth::Everything).unwrap().is_sound());
    // It goes on by itself from where it was taken.
    let next = copy.record_capture(fixtures::news(SourceId(source.0), 3, b"another life")).unwrap();
    assert_eq!(next.cursors.unwrap().0.0, 2);
    let nowhere = elsewhere.path().join("no").join("such").join("place.db");
    assert_eq!(store.back_up(&nowhere).unwrap_err().fault(), Fault::Ours);
}

#[cfg(unix)]
/// A store as `kill -9` leaves it: the newest of it is in the log beside the database.
fn killed() -> TempDir {
    let (alive, left) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = SqliteStore::open(alive.path()).unwrap();
    let source = store.add_source(fixtures::source("a")).unwrap();
    store.record_capture(fixtures::news(source, 1, b"content")).unwrap();
    for name in ["dunlin.db", "dunlin.db-wal", "dunlin.lock"] {
        fs::copy(alive.path().join(name), left.path().join(name)).unwrap();
    }
    assert!(fs::metadata(left.path().join("dunlin.db-wal")).unwrap().len() > 0);
    left
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_all_can_still_be_read() {
    let directory = killed();
    // What readers and writers share cannot be created, as on a full or read-only disk, also for root.
    std::os::unix::fs::symlink("nowhere", directory.path().join("dunlin.db-shm")).unwrap();
    let store = SqliteStore::open_read_only(directory.path()).unwrap();
    assert!(store.is_read_alone());
    assert_eq!(fixtures::all_changes(&store).len(), 1, "the log is read too");
    assert!(store.check(Depth::Everything).unwrap().is_sound());
    assert_eq!(store.add_source(fixtures::source("b")), Err(Error::ReadOnly));
    // No writer may start while it is read without locks.
    assert!(matches!(SqliteStore::open(directory.path()), Err(Error::InUse { .. })));
    drop(store);

    // It is not read without locks while a writer could run.
    let held = fs::File::open(directory.path().join("dunlin.lock")).unwrap();
    held.lock().unwrap();
    assert!(matches!(SqliteStore::open_read_only(directory.path()), Err(Error::System { .. })));
    drop(held);
    fs::remove_file(directory.path().join("dunlin.lock")).unwrap();
    assert!(SqliteStore::open_read_only(directory.path()).unwrap().is_read_alone(), "a copy without a lock");
    fs::remove_file(directory.path().join("dunlin.db-shm")).unwrap();
    assert!(!SqliteStore::open_read_only(directory.path()).unwrap().is_read_alone());
}
