//! How fast captures are recorded and read back, printed for people. Absolute figures belong to the machine; the
//! ratios between the lines are what to quote.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use dunlin_core::Time;
use dunlin_store::{
    Capture, Durability, NewChange, NewSource, NewVersion, Outcome, ProbeId, SourceId, SqliteOptions,
    SqliteStore, Store,
};

const SOURCES: u64 = 1000;
const ROUNDS: u64 = 20;
const CONTENT_BYTES: usize = 2048;

/// A page in the given round: words in a fixed order, with a line that is new in each round.
fn page(source: u64, round: u64) -> Vec<u8> {
    let mut state = source + 1;
    let mut text = format!("edition {round} of page {source}\n");
    while text.len() < CONTENT_BYTES {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(
            ["lorem ", "ipsum ", "dolor ", "sit ", "amet, ", "<li>", "</li>\n", "2026 "]
                [(state >> 61) as usize],
        );
        write!(text, "{:x}", (state >> 40) & 0xfff).unwrap();
    }
    text.truncate(CONTENT_BYTES);
    text.into_bytes()
}

fn capture(source: u64, round: u64) -> Capture {
    let at = Time::from_seconds(1_700_000_000 + round.cast_signed());
    let id = SourceId(source.cast_signed() + 1);
    let mut capture = Capture::bare(id, ProbeId(round), at, Outcome::Changed);
    capture.version = Some(NewVersion { content: page(source, round), media_type: "text/html".into() });
    capture.changes = vec![NewChange {
        kind: "edited".into(),
        item: None,
        summary: format!("edition {round}"),
        detail: Vec::new(),
        happened_after: None,
        happened_before: at,
    }];
    capture
}

fn report(what: &str, units: u64, seconds: f64) {
    println!("{what:<66} {:>10.0} / s", units as f64 / seconds);
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

fn record_all(store: &SqliteStore, rounds: Vec<Vec<Capture>>) {
    for captures in rounds {
        assert!(
            store.record_captures(captures.into_iter().map(Arc::new).collect()).iter().all(Result::is_ok)
        );
    }
}

fn record(durability: Durability, name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions { durability, ..SqliteOptions::default() };
    let store = SqliteStore::open_with(directory.path(), options).unwrap();
    for source in 0..SOURCES {
        store
            .add_source(NewSource::page(format!("https://{source}.example/"), Time::from_seconds(0)))
            .unwrap();
    }
    let mut rounds: Vec<Vec<Capture>> =
        (0..ROUNDS).map(|round| (0..SOURCES).map(|source| capture(source, round)).collect()).collect();
    let later = rounds.split_off(1);
    let (seconds, ()) = timed(|| record_all(&store, rounds));
    report(&format!("{name}: first versions of 2 KB recorded, 1000 at a time"), SOURCES, seconds);
    let (seconds, ()) = timed(|| record_all(&store, later));
    report(
        &format!("{name}: later versions of 2 KB recorded, 1000 at a time"),
        SOURCES * (ROUNDS - 1),
        seconds,
    );
    let singles: Vec<Capture> = (0..500).map(|source| capture(source, ROUNDS)).collect();
    let (seconds, ()) = timed(|| assert!(singles.into_iter().all(|one| store.record_capture(one).is_ok())));
    report(&format!("{name}: later versions of 2 KB recorded, one after the other"), 500, seconds);
    let unchanged: Vec<Capture> = (0..SOURCES)
        .map(|source| {
            let id = SourceId(source.cast_signed() + 1);
            Capture::bare(id, ProbeId(1 << 20), Time::from_seconds(0), Outcome::Unchanged)
        })
        .collect();
    let (seconds, _) = timed(|| store.record_captures(unchanged.into_iter().map(Arc::new).collect()));
    report(&format!("{name}: unchanged probes recorded, 1000 at a time"), SOURCES, seconds);

    let versions: Vec<_> = (1..=i64::try_from(SOURCES).unwrap())
        .map(|source| store.newest_version(SourceId(source)).unwrap().unwrap().id)
        .collect();
    let (seconds, ()) = timed(|| versions.iter().for_each(|id| drop(store.content(*id).unwrap())));
    report(&format!("{name}: newest versions read back and verified"), SOURCES, seconds);
    let statistics = store.statistics().unwrap();
    println!(
        "{name}: {} versions, {} KB of content in {} KB compressed, {} KB on disk\n",
        statistics.versions,
        statistics.content_bytes / 1024,
        statistics.stored_bytes / 1024,
        statistics.disk_bytes / 1024,
    );
}

fn main() {
    record(Durability::Process, "process-safe");
    record(Durability::Power, "power-safe");
}
