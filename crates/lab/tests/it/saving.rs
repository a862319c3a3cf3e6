//! Outputs are complete or not there, compressed when the name says so, and never replace what is no file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use dunlin_core::{Chronon, Probe, Schedule, SourceIdx};
use dunlin_lab::Error;
use dunlin_lab::files::{ScheduleFile, TraceFile, save, save_schedule};

fn trace() -> TraceFile {
    TraceFile::read(&b"source,time\na,1\nb,2\na,3\n"[..], "f").unwrap()
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn plain_and_compressed() {
    let directory = tempfile::tempdir().unwrap();
    let (plain, packed) = (directory.path().join("t.csv"), directory.path().join("t.csv.gz"));
    trace().save(&plain).unwrap();
    trace().save(&packed).unwrap();
    assert_eq!(fs::read(&plain).unwrap(), b"source,time\na,1\nb,2\na,3\n");
    assert_eq!(fs::read(&packed).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(TraceFile::open(&packed).unwrap(), trace());
    assert_eq!(names_in(directory.path()), ["t.csv", "t.csv.gz"]);

    // The same content gives the same bytes: no time of writing inside.
    let again = directory.path().join("again.gz");
    trace().save(&again).unwrap();
    assert_eq!(fs::read(&again).unwrap(), fs::read(&packed).unwrap());

    let schedule = Schedule::from_probes(vec![Probe { chronon: Chronon::FIRST, source: SourceIdx(1) }]);
    let path = directory.path().join("s.csv.gz");
    save_schedule(&schedule, &trace().sources, &path).unwrap();
    assert_eq!(ScheduleFile::open(&path, &trace().sources, 1).unwrap().schedule, schedule);
}

#[test]
fn a_failure_leaves_what_was_there() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.csv.gz"] {
        let path = directory.path().join(name);
        let broken = |out: &mut dyn Write| {
            out.write_all("x".repeat(100_000).as_bytes())?;
            Err(io::Error::other("disk full"))
        };
        let error = save(&path, broken).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot be written: disk full", path.display()));
        assert!(error.is_environment());
        assert!(names_in(directory.path()).is_empty());
    }

    let path = directory.path().join("t.csv");
    fs::write(&path, "old").unwrap();
    save(&path, |_| Err(io::Error::other("disk full"))).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names_in(directory.path()), ["t.csv"]);
    trace().save(&path).unwrap();
    assert_eq!(TraceFile::open(&path).unwrap(), trace());
}

#[test]
fn places_that_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let error = trace().save(directory.path()).unwrap_err();
    assert!(matches!(error, Error::IsDirectory { .. }), "{error}");
    let error = trace().save(&directory.path().join("none/t.csv")).unwrap_err();
    assert!(matches!(error, Error::Write { .. }) && error.is_environment(), "{error}");
}

#[test]
#[cfg(unix)]
fn new_files_are_ordinary_and_old_ones_keep_their_rights() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (ordinary, new) = (directory.path().join("ordinary"), directory.path().join("new"));
    fs::write(&ordinary, "").unwrap();
    trace().save(&new).unwrap();
    assert_eq!(mode(&new), mode(&ordinary));
    fs::set_permissions(&new, PermissionsExt::from_mode(0o640)).unwrap();
    trace().save(&new).unwrap();
    assert_eq!(mode(&new), 0o640);
}

#[test]
#[cfg(unix)]
fn links_and_devices_stay_what_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("file"), directory.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink("file", &link).unwrap();
    trace().save(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(TraceFile::open(&file).unwrap(), trace());

    trace().save(Path::new("/dev/null")).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
