//! A data directory where nothing can be written, after a sudden end: everything that only reads goes on, and says so.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dunlin_core::Time;
use dunlin_store::{Capture, NewChange, NewSource, NewVersion, Outcome, ProbeId, SqliteStore, Store};

use crate::run::{Desk, Done, dunlin};

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

const READING: [&str; 13] = [
    "sources",
    "changes",
    "show 1",
    "show v1",
    "diff 1",
    "explain 1",
    "budget",
    "decisions",
    "token list",
    "export opml",
    "export changes",
    "replay",
    "store check",
];

fn capture(store: &SqliteStore, source: dunlin_store::SourceId, number: u64) {
    let at = Time::from_seconds(1_700_000_000 + i64::try_from(number).unwrap());
    let mut capture = Capture::bare(source, ProbeId(number), at, Outcome::Changed);
    let content = format!("content {number}").into_bytes();
    capture.version = Some(NewVersion { content, media_type: "text/plain".to_owned() });
    capture.changes = vec![NewChange {
        kind: "edited".to_owned(),
        item: None,
        summary: format!("change {number}"),
        detail: Vec::new(),
        happened_after: None,
        happened_before: at,
    }];
    store.record_capture(capture).unwrap();
}

/// What `kill -9` leaves of a store with a source and two versions: the newest of it is in the log.
fn left_behind(desk: &Desk) -> PathBuf {
    let store = SqliteStore::open(&desk.path("alive")).unwrap();
    let source =
        store.add_source(NewSource::page("https://news.example/", Time::from_seconds(1_700_000_000)));
    let source = source.unwrap();
    (1..=2).for_each(|number| capture(&store, source, number));
    let data = desk.path("data");
    fs::create_dir(&data).unwrap();
    for name in ["dunlin.db", "dunlin.db-wal", "dunlin.lock"] {
        fs::copy(desk.path("alive").join(name), data.join(name)).unwrap();
    }
    data
}

fn done(mut command: Command) -> Done {
    Done::of(command.stdin(Stdio::null()).output().unwrap())
}

fn reads_everything(run: impl Fn(&str) -> Done) {
    for command in READING {
        let done = run(command);
        assert_eq!(done.code, 0, "{command}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains("cannot be written"), "{command}: {}", done.stderr);
    }
    assert!(run("changes").stdout.contains("change 2"), "what the log holds is read");
    assert!(run("show 1").stdout.contains("content 2"));
    let doctor = run("doctor");
    assert_eq!(doctor.code, 1, "{}{}", doctor.stdout, doctor.stderr);
    assert!(doctor.stdout.contains("cannot be written"), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("store         sound"), "{}", doctor.stdout);
    let refused = run("pause 1");
    assert_eq!(refused.code, 3, "{}", refused.stderr);
}

/// As another user where this one may do anything.
#[test]
fn a_directory_without_permission_can_be_read() {
    let desk = Desk::new();
    let data = left_behind(&desk);
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for entry in fs::read_dir(&data).unwrap() {
        mode(&entry.unwrap().path(), 0o444);
    }
    mode(&data, 0o555);
    mode(&desk.path(""), 0o755);
    let is_root = fs::metadata(&data).unwrap().uid() == 0;
    // Where the program was built may be for its owner only.
    let program = desk.path("dunlin");
    fs::hard_link(env!("CARGO_BIN_EXE_dunlin"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_dunlin"), &program).map(drop))
        .unwrap();
    reads_everything(|args| {
        let mut command = Command::new(&program);
        command.current_dir(desk.path("")).args(args.split_whitespace()).arg("--data").arg(&data);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        done(command)
    });
    mode(&data, 0o755);
}

/// No file may grow, which is what a full disk comes to.
#[test]
fn a_directory_on_a_full_disk_can_be_read() {
    let desk = Desk::new();
    let data = left_behind(&desk);
    reads_everything(|args| {
        let inner = dunlin(&desk.path(""), args);
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).arg("--data").arg(&data);
        done(command)
    });
}
