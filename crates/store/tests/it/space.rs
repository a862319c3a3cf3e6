//! What is written for every probe takes little of the disk: the decisions, of which there may be thousands per second.

use std::path::Path;

use dunlin_store::{DecisionQuery, NewDecision, SourceId, SqliteStore, Store};

use crate::fixtures::{self, time};

const DECISIONS: u32 = 20_000;
/// As many as the engine hands over at one time when it is busy.
const AT_ONE_TIME: usize = 100;
const SOURCES: u32 = 4_000;
/// As rows of their own they took 200 bytes each.
const MOST_BYTES_EACH: f64 = 40.0;

/// Decisions as the engine makes them: a few milliseconds apart, of sources in no order, with the number of the probe, its worth and
/// the price in sixteen bytes.
fn decisions() -> Vec<NewDecision> {
    let mut state = 7_u64;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(((state >> 32) * u64::from(below)) >> 32).unwrap()
    };
    let mut micros = time(0).micros();
    let decision = |number: u32| {
        micros += i64::from(random(5_000));
        let reason =
            ["worth", "worth", "worth", "worth", "spare", "overdue", "requested"][random(7) as usize];
        let probe = 1_000_000 + u64::from(number);
        let price = 0.01 + number as f32 * 1e-7;
        let value = price * (1.0 + random(1 << 20) as f32 / 1e6);
        NewDecision {
            at: dunlin_core::Time::from_micros(micros),
            source: Some(SourceId(i64::from(1 + random(SOURCES)))),
            reason: reason.into(),
            figures: [&probe.to_le_bytes()[..], &value.to_le_bytes(), &price.to_le_bytes()].concat(),
        }
    };
    (0..DECISIONS).map(decision).collect()
}

/// The size of a database that nobody has open.
fn size(directory: &Path) -> u64 {
    std::fs::metadata(directory.join("dunlin.db")).unwrap().len()
}

#[test]
fn a_decision_takes_a_few_bytes_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    for number in 0..SOURCES {
        store.add_source(fixtures::source(&number.to_string())).unwrap();
    }
    drop(store);
    let before = size(directory.path());
    let store = SqliteStore::open(directory.path()).unwrap();
    let written = decisions();
    for batch in written.chunks(AT_ONE_TIME) {
        store.append_decisions(batch).unwrap();
    }
    let read = store.decisions(&DecisionQuery::first(DECISIONS)).unwrap();
    assert!(read.into_iter().map(|row| row.decision).eq(written), "they are all there");
    drop(store);
    let each = (size(directory.path()) - before) as f64 / f64::from(DECISIONS);
    println!("{each:.1} bytes per decision");
    assert!(each < MOST_BYTES_EACH, "{each:.1} bytes per decision");
}
