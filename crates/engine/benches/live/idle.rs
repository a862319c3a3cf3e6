//! Memory per source that waits to be looked at: a process with many against one with none.

use std::process::Command;
use std::sync::Arc;

use dunlin_core::Time;
use dunlin_engine::{Engine, Pace, RobotsRule, Settings};
use dunlin_store::{NewSource, SqliteStore, Store};

use crate::figures::resident_bytes;

const SOURCES: u64 = 100_000;

pub(crate) fn report() {
    let (none, many) = (in_child(0), in_child(SOURCES));
    println!("memory of {SOURCES} idle sources");
    println!("    without any  {:>8.1} MiB resident", none / f64::from(1 << 20));
    println!(
        "    with them    {:>8.1} MiB resident, {:.0} bytes per source",
        many / f64::from(1 << 20),
        (many - none) / SOURCES as f64
    );
}

fn in_child(sources: u64) -> f64 {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).args(["--idle", &sources.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Fills a store, closes it, starts an engine over it, and prints what the process takes then.
pub(crate) fn in_this_process(sources: u64) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    for number in 0..sources {
        // One host for a hundred sources, as among a crawler's or a news reader's.
        let url = format!("https://site-{}.example/section/{number}/index.html", number / 100);
        store.add_source(NewSource::page(url, Time::from_seconds(1_700_000_000))).unwrap();
    }
    drop(store);
    let store = Arc::new(SqliteStore::open(directory.path()).unwrap());
    let settings =
        Settings { budget: Pace { per_second: 0.0 }, robots: RobotsRule::Ignore, ..Settings::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::start(store, settings).await.unwrap();
        println!("{}", resident_bytes());
        engine.stop().await.unwrap();
    });
}
