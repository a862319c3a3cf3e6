//! Maintenance of the database: how large it is, whether it is sound, a copy of it.

use std::fs;
use std::path::{Path, PathBuf};

use dunlin_core::Time;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, params};

use super::{contents, private};
use crate::{Depth, Error, Findings, Statistics};

pub(super) fn statistics(connection: &Connection, file: &Path) -> Result<Statistics, Error> {
    let number = |sql: &str| -> Result<u64, Error> {
        let number: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(number.cast_unsigned())
    };
    let on_disk = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    Ok(Statistics {
        sources: number("SELECT count(*) FROM source")?,
        versions: number("SELECT count(*) FROM version")?,
        contents: number("SELECT count(*) FROM content")?,
        content_bytes: number("SELECT coalesce(sum(size), 0) FROM content")?,
        stored_bytes: number("SELECT coalesce(sum(length(body)), 0) FROM content")?,
        items: number("SELECT count(*) FROM item")?,
        changes: number("SELECT count(*) FROM change")?,
        observations: number("SELECT count(*) FROM observation")?
            + number("SELECT coalesce(sum(size), 0) FROM unchanged")?,
        unchanged_bytes: number("SELECT coalesce(sum(length(probes)), 0) FROM unchanged")?,
        decision_bytes: number("SELECT coalesce(sum(length(entry)), 0) FROM decision")?,
        decisions: number("SELECT coalesce(sum(max(size, 1)), 0) FROM decision")?,
        messages: number("SELECT count(*) FROM outbox")?,
        disk_bytes: on_disk(file) + on_disk(&beside(file, "-wal")) + on_disk(&beside(file, "-shm")),
        free_bytes: number("PRAGMA freelist_count")? * number("PRAGMA page_size")?,
    })
}

/// Each table has an index by time, so this reads three entries.
pub(super) fn newest_time(connection: &Connection) -> Result<Option<Time>, Error> {
    let mut newest = None;
    for table in ["observation", "unchanged", "decision"] {
        let latest: Option<i64> =
            connection.query_row(&format!("SELECT max(at) FROM {table}"), [], |row| row.get(0))?;
        newest = newest.max(latest);
    }
    Ok(newest.map(Time::from_micros))
}

pub(super) fn check(connection: &Connection, depth: Depth) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut structure = connection.prepare("PRAGMA integrity_check")?;
    for line in structure.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            findings.problems.push(line);
        }
    }
    let mut references = connection.prepare("PRAGMA foreign_key_check")?;
    let broken = references.query_map([], |row| {
        let (table, row_id, target): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("row {} of {table} refers to a row of {target} that is not there", row_id.unwrap_or(0)))
    })?;
    for problem in broken {
        findings.problems.push(problem?);
    }
    let every = match depth {
        Depth::Structure => return Ok(findings),
        Depth::Everything => 1,
        Depth::Sample(wanted) => {
            let contents: i64 = connection.query_row("SELECT count(*) FROM content", [], |row| row.get(0))?;
            (contents / i64::from(wanted.max(1))).max(1)
        }
    };
    let mut rows = connection.prepare("SELECT id FROM content ORDER BY id")?;
    for (index, row) in (0_i64..).zip(rows.query_map([], |row| row.get(0))?) {
        let row = row?;
        if index % every == 0 {
            findings.contents_read += 1;
            match contents::load(connection, row) {
                Ok(_) => {}
                Err(Error::Damaged { what }) => findings.problems.push(what),
                Err(failure) => return Err(failure),
            }
        }
    }
    Ok(findings)
}

pub(super) fn compact(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
    Ok(())
}

/// Copies the database beside the final name and renames it when it is complete and on disk.
pub(super) fn back_up(from: &Connection, to: &Path) -> Result<(), Error> {
    if to.exists() {
        let found = format!("{} exists", to.display());
        return Err(Error::BadValue { what: "backup", found, expected: "the name of a new file" });
    }
    let partial = beside(to, ".partial");
    let failed = |reason: std::io::Error| Error::system(format!("writing {}", to.display()), &reason);
    let result = copy(from, &partial).and_then(|()| {
        fs::File::open(&partial).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&partial, to).map_err(failed)?;
        // The new name is on disk when its directory is.
        let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
        fs::File::open(directory.unwrap_or(Path::new("."))).and_then(|file| file.sync_all()).map_err(failed)
    });
    if result.is_err() {
        // What is left of it is of no use; that it cannot be removed would only hide the first failure.
        let _ = fs::remove_file(&partial);
    }
    result
}

fn copy(from: &Connection, to: &Path) -> Result<(), Error> {
    // A partial copy that an earlier attempt left behind would be taken for a database.
    let failed = |reason: std::io::Error| Error::system(format!("writing {}", to.display()), &reason);
    if to.exists() {
        fs::remove_file(to).map_err(failed)?;
    }
    private::create_database(to).map_err(failed)?;
    let mut copy = Connection::open(to)?;
    {
        let backup = Backup::new(from, &mut copy)?;
        // All pages in one step: one state of the database, regardless of concurrent writes.
        match backup.step(-1)? {
            StepResult::Done => {}
            _ => return Err(Error::Busy),
        }
    }
    // A single file, which can be read from a medium that cannot be written.
    copy.pragma_update(None, "journal_mode", "DELETE")?;
    let schema: i64 = copy.query_row("SELECT count(*) FROM sqlite_schema", params![], |row| row.get(0))?;
    if schema == 0 {
        return Err(Error::damaged("the copy is empty"));
    }
    copy.close().map_err(|(_, failure)| failure.into())
}

/// The path with `suffix` added to its last part.
fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
