//! The whole service on the same pages: decide, fetch, read, compare, store; nothing switched off but waiting. What counts
//! is a probe whose capture is in the store.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dunlin_engine::{Engine, Handle, Pace, RobotsRule, Rules, Scope, Settings};
use dunlin_net::Guard;
use dunlin_store::SqliteStore;

use crate::figures::{self, Stopwatch};
use crate::{AT_ONE_TIME, WINDOW};

/// After this long something is wrong.
pub(crate) const AT_MOST: Duration = Duration::from_mins(3);

/// Probes the sources in `directory`: about once each before it counts, then for as long as the others, and at least
/// about once each again. All later work for these probes, such as notes of what was learned,
/// counts too.
pub(crate) fn pace(directory: &Path, n_sources: usize) -> figures::Pace {
    let store = Arc::new(SqliteStore::open(directory).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::start(store, settings()).await.unwrap();
        let handle = engine.handle();
        let n_sources = n_sources as u64;
        until(|| n_stored(&handle) >= n_sources).await;
        let (watch, already) = (Stopwatch::start(), n_stored(&handle));
        until(|| watch.elapsed() >= WINDOW && n_stored(&handle) - already >= n_sources).await;
        let (n_done, elapsed) = (n_stored(&handle) - already, watch.elapsed());
        engine.stop().await.unwrap();
        watch.pace_of(n_done, elapsed)
    })
}

/// Probes that are done: what came of them is stored.
fn n_stored(handle: &Handle) -> u64 {
    handle.stats().captures
}

/// Waits until it is so; not for ever.
async fn until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < AT_MOST, "the service is too slow for this benchmark");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn settings() -> Settings {
    let mut settings = Settings {
        chronon: Duration::from_millis(2),
        budget: Pace { per_second: 1e6 },
        politeness: Rules { gap: Duration::ZERO, concurrent: 1, scope: Scope::Url, ..Rules::default() },
        robots: RobotsRule::Ignore,
        in_flight: AT_ONE_TIME as u32,
        shortest_gap: Duration::ZERO,
        ..Settings::default()
    };
    settings.network = network();
    settings
}

/// As many connections as the yardstick has, none of them closed for being idle.
pub(crate) fn network() -> dunlin_net::Settings {
    let mut network = Settings::default().network;
    network.guard = Guard::public_internet().allowing_network("127.0.0.0/8".parse().unwrap());
    network.pool.idle_per_host = AT_ONE_TIME;
    network.pool.idle = AT_ONE_TIME;
    network.pool.in_flight = AT_ONE_TIME;
    network
}
