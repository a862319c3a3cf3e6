//! Store, engine, server and site in one, each real. The engine probes as often as it can.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::{Engine, Pace, RobotsRule, Rules, Settings};
use dunlin_server::{Options, Running, Server, tokens};
use dunlin_store::{SqliteStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;
use crate::site::Site;

pub(crate) struct Service {
    pub(crate) client: Client,
    pub(crate) site: Site,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) running: Running,
    pub(crate) engine: Engine,
    /// Removed with everything in it when the test ends.
    _directory: TempDir,
}

/// What the tests start from.
pub(crate) fn options() -> Options {
    Options { listen: "127.0.0.1:0".parse().unwrap(), ..Options::default() }
}

pub(crate) fn eager() -> Settings {
    let mut settings = Settings {
        chronon: Duration::from_millis(5),
        budget: Pace { per_second: 1_000.0 },
        politeness: Rules { gap: Duration::ZERO, concurrent: 8, ..Rules::default() },
        robots: RobotsRule::Ignore,
        shortest_gap: Duration::from_millis(5),
        longest_gap: Duration::from_millis(20),
        ..Settings::default()
    };
    let guard = std::mem::take(&mut settings.network.guard);
    settings.network.guard = guard.allowing_network("127.0.0.1/32".parse().unwrap());
    settings
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(options()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(directory.path()).unwrap());
        let token = tokens::create(&*store, "test", Time::from_seconds(1_700_000_000)).unwrap();
        let engine = Engine::start(Arc::clone(&store), eager()).await.unwrap();
        let running = Server::start(engine.handle(), options).await.unwrap();
        let client = Client { address: running.address(), token };
        Self { client, site: Site::start().await, store, running, engine, _directory: directory }
    }

    /// Adds a source and gives its number.
    pub(crate) async fn add(&self, source: Value) -> i64 {
        let answer = self.client.post("/sources", source).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_i64().unwrap()
    }

    /// Adds a feed that has one entry more each time it is probed.
    pub(crate) async fn add_growing(&self, name: &str) -> i64 {
        self.add(json!({ "url": self.site.url(&format!("/growing/{name}")), "kind": "feed" })).await
    }

    /// The first answer to `path` that is as it should be.
    pub(crate) async fn eventually(&self, path: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        let trying = async {
            loop {
                let answer = self.client.get(path).await.json();
                if is_right(&answer) {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), trying).await.expect("the right answer, some time")
    }

    /// Changes after `after`, at least `n` of them.
    pub(crate) async fn changes(&self, after: i64, n: usize) -> Vec<Value> {
        let (mut changes, mut after) = (Vec::new(), after);
        let reading = async {
            while changes.len() < n {
                let answer = self.client.get(&format!("/changes?after={after}&wait=60")).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                let page = answer.json();
                changes.extend(page["changes"].as_array().unwrap().iter().cloned());
                after = page["next"].as_i64().unwrap();
            }
        };
        tokio::time::timeout(Duration::from_mins(2), reading).await.expect("so many changes, some time");
        changes
    }
}
