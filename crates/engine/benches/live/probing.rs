//! The whole service on the same pages: decide, fetch, read, compare, store; nothing switched off but waiting.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::{Engine, Pace, RobotsRule, Rules, Scope, Settings};
use dunlin_net::Guard;
use dunlin_store::{NewSource, SqliteStore, Store};

use crate::figures::{self, Stopwatch};
use crate::{AT_ONE_TIME, SECONDS};

/// Enough that one is not asked for again while it is under way.
const SOURCES: usize = 4_000;

pub(crate) fn pace(origin: SocketAddr, other_half: &str) -> figures::Pace {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path()).unwrap();
    let now = Time::from_micros(0).plus(std::time::UNIX_EPOCH.elapsed().unwrap());
    for number in 0..SOURCES {
        let half = if number % 2 == 0 { "304" } else { other_half };
        let page = NewSource::page(format!("http://{origin}/{half}/{number}"), now);
        // Without these words, what is different at every look would soon be taken for noise, and not be stored.
        let recipe = r#"{"flicker":"tell"}"#.to_owned();
        store.add_source(NewSource { recipe, ..page }).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::start(Arc::new(store), settings()).await.unwrap();
        let handle = engine.handle();
        // First looks are a baseline for each source, and no part of what goes on for ever after.
        until(|| handle.figures().versions >= SOURCES as u64).await;
        let (watch, already) = (Stopwatch::start(), handle.figures().probes);
        until(|| watch.elapsed() >= Duration::from_secs(SECONDS)).await;
        let pace = watch.pace_of(handle.figures().probes - already);
        engine.stop().await.unwrap();
        pace
    })
}

async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn settings() -> Settings {
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
