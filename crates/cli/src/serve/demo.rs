//! `dunlin serve --demo`: a made-up web inside the process, watched as any other, so that something is to be seen
//! within seconds and no stranger's site is bothered.
//!
//! Invariant: of this machine's own addresses, only the made-up web can be reached.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::Handle;
use dunlin_engine::clock;
use dunlin_net::politeness::Scope;
use dunlin_server::offline;
use dunlin_store::{
    ChangeQuery, Cursor, NewSource, QueryId, ResultCursor, ResultFilter, SourceEdit, SourceQuery, Store,
};
use dunlin_testbed::{Kind, Options, Running, Testbed, World};
use tracing::level_filters::LevelFilter;

use super::on_thread;
use crate::backend::records::{ChangeRecord, ResultPage};
use crate::config::units::Pace;
use crate::config::{Config, Effective};
use crate::failure::Failure;
use crate::output::print_line;
use crate::query::{order_of, result_lines};
use crate::terminal::Paint;
use crate::watching::tail;

/// The setting under which the port of the made-up web is kept, so that its addresses stay what they are.
const PORT: &str = "demo-port";

/// The setting under which its beginning is kept, in microseconds since 1970, so that it goes on and does not start over.
const BEGINNING: &str = "demo-beginning";

/// What its sources can be found by.
const TAG: &str = "demo";

/// Which of the made-up worlds.
const SEED: u64 = 7;

/// A need that spans three of its sources (ten minutes there are ten seconds here), and one that is only words.
const QUERIES: [&str; 2] = [
    "QUERY harbour_desk
  SELECT item AS post    FROM source 'News northern post' EVERY 10 SECONDS WITHIN 5 SECONDS
  SELECT item AS market  FROM source 'News market letter'
    WHEN post MATCHES '(?i)harbour|ferry|ship|oil' WITHIN 10 SECONDS
  SELECT item AS weather FROM source 'Bulletin harbour'
    WHEN post MATCHES '(?i)harbour|ferry|ship|oil' WITHIN 10 SECONDS
",
    "QUERY oldest_ship
  WATCH 'ferry oldest ship' IMPORTANCE 0.5
  WHERE item.title CONTAINS 'ship'
",
];

/// Settings that fit a web in which an hour takes a minute, where the user has not set others.
pub(super) fn hasten(effective: &mut Effective) {
    let origins = effective.origins.clone();
    let is_free = |key: &str| !origins.contains_key(key);
    let config = &mut effective.config;
    let mut set = |key: &'static str, value: &mut dyn FnMut(&mut Config)| {
        if is_free(key) {
            value(config);
        }
    };
    set("budget", &mut |config| config.budget = Pace::new(4.0, None));
    set("shortest_gap", &mut |config| config.shortest_gap = Duration::from_secs(1));
    set("longest_gap", &mut |config| config.longest_gap = Duration::from_mins(2));
    set("politeness.gap", &mut |config| config.politeness.gap = Duration::from_millis(500));
    set("politeness.scope", &mut |config| config.politeness.scope = Scope::Url);
    set("politeness.limit_scope", &mut |config| config.politeness.limit_scope = Scope::Url);
    set("politeness.first_backoff", &mut |config| config.politeness.first_backoff = Duration::from_secs(2));
    set("politeness.longest_backoff", &mut |config| {
        config.politeness.longest_backoff = Duration::from_secs(30);
    });
    set("log", &mut |config| config.log = LevelFilter::WARN);
    set("assumed_rate", &mut |config| config.assumed_rate.per_second *= 60.0);
}

/// The made-up web.
#[derive(Debug)]
pub(super) struct Demo {
    running: Running,
    paths: Vec<(String, &'static str)>,
}

impl Demo {
    /// Starts it where it was the last time, or anywhere if that is taken; its sources move along then. Time has passed
    /// there too since it first began.
    pub(super) async fn start(store: &Arc<dyn Store>, config: &mut Config) -> Result<Self, Failure> {
        let world = World::demo(SEED);
        let paths = world.trace.sources.iter().map(|source| {
            // News and bulletins are feeds, as they would be; what has a state is a page.
            let is_feed = source.starts_with("news") || source.starts_with("bulletin");
            let (kind, name) = if is_feed { (Kind::Feed, "feed") } else { (Kind::Page, "page") };
            (kind.path(source), name)
        });
        let paths = paths.collect();
        let before = stored_port(Arc::clone(store)).await?;
        let beginning = beginning(Arc::clone(store)).await?;
        let plan = world.into_plan();
        let at = |port: u16| Options { plan: plan.clone(), listen: SocketAddr::from(([127, 0, 0, 1], port)) };
        let running = match Testbed::resume(at(before.unwrap_or(0)), beginning).await {
            Err(_) if before.is_some() => Testbed::resume(at(0), beginning).await,
            started => started,
        };
        let running = running.map_err(|error| Failure::Environment(error.to_string()))?;
        let port = running.address().port();
        config.networks.push(ipnet::IpNet::from(running.address().ip()));
        config.ports = Some(vec![80, 443, port]);
        if before != Some(port) {
            move_sources(Arc::clone(store), before, port).await?;
        }
        Ok(Self { running, paths })
    }

    /// Watches all of it, unless that was done before.
    pub(super) async fn add_sources(&self, handle: &Handle) -> Result<(), Failure> {
        let store = Arc::clone(handle.store());
        let query = SourceQuery { tag: Some(TAG.to_owned()), ..SourceQuery::first(1) };
        if on_thread(move || Ok(!store.sources(&query)?.is_empty())).await? {
            return Ok(());
        }
        for (path, kind) in &self.paths {
            let source = NewSource {
                name: Some(name_of(path, kind)),
                kind: (*kind).to_owned(),
                tags: vec![TAG.to_owned()],
                ..NewSource::page(self.running.url(path), clock::now())
            };
            handle.add_source(source).await?;
        }
        for text in QUERIES {
            handle.add_query(text.to_owned()).await?;
        }
        Ok(())
    }

    pub(super) fn url(&self) -> String {
        self.running.url("/")
    }

    pub(super) fn n_sources(&self) -> usize {
        self.paths.len()
    }

    pub(super) async fn stop(self) {
        self.running.stop().await;
    }
}

/// What a source is called before it has been read: feeds by their titles. Titles of the pages say what is on them at the moment.
fn name_of(path: &str, kind: &str) -> String {
    let id = path.rsplit('/').next().unwrap_or(path);
    let words = id.split('.').next().unwrap_or(id).replace('-', " ");
    if kind != "feed" {
        return words;
    }
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

async fn stored_port(store: Arc<dyn Store>) -> Result<Option<u16>, Failure> {
    on_thread(move || Ok(store.setting(PORT)?.and_then(|text| text.parse().ok()))).await
}

/// When the made-up web first began in this store: now, if it never has.
async fn beginning(store: Arc<dyn Store>) -> Result<Time, Failure> {
    on_thread(move || {
        let stored = store.setting(BEGINNING)?.and_then(|text| text.parse().ok());
        if let Some(micros) = stored {
            return Ok(Time::from_micros(micros));
        }
        let now = clock::now();
        store.set_setting(BEGINNING, Some(now.micros().to_string()))?;
        Ok(now)
    })
    .await
}

/// Remembers the port, and gives sources of the old one their new address.
async fn move_sources(store: Arc<dyn Store>, before: Option<u16>, port: u16) -> Result<(), Failure> {
    on_thread(move || {
        store.set_setting(PORT, Some(port.to_string()))?;
        let Some(before) = before else { return Ok(()) };
        let (old, new) = (format!("http://127.0.0.1:{before}/"), format!("http://127.0.0.1:{port}/"));
        let query = SourceQuery { tag: Some(TAG.to_owned()), ..SourceQuery::first(1_000) };
        for source in store.sources(&query)? {
            if let Some(path) = source.spec.url.strip_prefix(&old) {
                let url = Some(format!("{new}{path}"));
                store.edit_source(source.id, SourceEdit { url, ..SourceEdit::default() })?;
            }
        }
        Ok(())
    })
    .await
}

/// Writes changes, and results of queries, to standard output as they are stored.
pub(super) async fn print_news(handle: Handle) -> Result<(), Failure> {
    let (mut newest, mut newest_result) = (handle.newest_cursor(), handle.newest_result());
    let mut after = (*newest.borrow_and_update(), *newest_result.borrow_and_update());
    let paint = Paint::stdout();
    loop {
        let (store, from) = (Arc::clone(handle.store()), after);
        after = on_thread(move || {
            let changes = print_changes(&*store, from.0, paint)?;
            Ok((changes, print_results(&*store, from.1, paint)?))
        })
        .await?;
        if after == from {
            let heard = tokio::select! {
                heard = newest.changed() => heard,
                heard = newest_result.changed() => heard,
            };
            if heard.is_err() {
                return Ok(());
            }
        }
    }
}

fn print_changes(store: &dyn Store, after: Cursor, paint: Paint) -> Result<Cursor, Failure> {
    let page = store.changes(&ChangeQuery { after, source: None, limit: 100 })?;
    let last = page.last().map_or(after, |change| change.cursor);
    for change in page {
        let record = serde_json::from_value(offline::change(change));
        let record: ChangeRecord = record.map_err(std::io::Error::from)?;
        print_line(&tail::line(&record, paint))?;
    }
    Ok(last)
}

fn print_results(store: &dyn Store, after: ResultCursor, paint: Paint) -> Result<ResultCursor, Failure> {
    let page = offline::results(store, &ResultFilter { after, query: None, limit: 100 })?;
    let page: ResultPage = serde_json::from_value(page).map_err(std::io::Error::from)?;
    for result in &page.results {
        let query = store.query(QueryId(result.query))?;
        let (name, text) = query.map_or_else(Default::default, |query| (query.name, query.text));
        result_lines(&name, result, &order_of(&text), paint).iter().try_for_each(|line| print_line(line))?;
    }
    Ok(ResultCursor(page.next))
}
