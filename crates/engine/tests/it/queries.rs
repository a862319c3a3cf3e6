//! Continuous queries in virtual time: what is captured, told and missed, what a kill leaves, and what they cost others.

mod business_portal;
mod clocks;
mod overload;
mod profiles;
mod rules;
mod texts;
mod watching;

use dunlin_engine::simulated::Simulation;
use dunlin_store::{
    NewSource, QueryId, ResultCursor, ResultFilter, SourceId, SqliteStore, Store, StoredMiss, StoredResult,
};

use crate::fixtures::{TestStore, page, settings, test_store};
use crate::web::at;
use texts::Texts;

/// Enough for any test.
const MOST: u32 = 10_000;

/// A service on this web, with a probe a second.
fn service(web: Texts) -> (TestStore, Simulation<Texts>) {
    let test_store = test_store();
    let run = started(&test_store, web, 0);
    (test_store, run)
}

/// Two pages that are watched, each of which says something else every two minutes, so many times.
fn two_that_change(urls: [&str; 2], n_times: usize) -> (TestStore, Simulation<Texts>, [SourceId; 2]) {
    let values: Vec<String> = (0..n_times).map(|number| format!("{number} entries")).collect();
    let shown: Vec<(i64, &str)> =
        (0..).step_by(120).zip(&values).map(|(at, value)| (at - 10, value.as_str())).collect();
    let (test_store, mut run) =
        service(urls.into_iter().fold(Texts::default(), |web, url| web.page(url, &shown)));
    let sources = urls.map(|url| {
        let recipe = r#"{"flicker":"tell"}"#.to_owned();
        run.add_source(NewSource { recipe, ..page(url) }).unwrap()
    });
    (test_store, run, sources)
}

fn started(test_store: &TestStore, web: Texts, seconds: i64) -> Simulation<Texts> {
    let mut settings = settings();
    settings.chronon = std::time::Duration::from_secs(1);
    settings.budget.per_second = 1.0;
    settings.politeness.gap = std::time::Duration::from_secs(1);
    Simulation::new(test_store.store.clone(), settings, web, at(seconds)).unwrap()
}

fn results(store: &SqliteStore, query: QueryId) -> Vec<StoredResult> {
    store.results(&ResultFilter { after: ResultCursor::START, query: Some(query), limit: MOST }).unwrap()
}

fn misses(store: &SqliteStore, query: QueryId) -> Vec<StoredMiss> {
    store.misses(&ResultFilter { after: ResultCursor::START, query: Some(query), limit: MOST }).unwrap()
}

/// What a result says, part by part: the titles or values in it.
fn told(result: &StoredResult) -> Vec<(String, Vec<String>)> {
    let words = |items: &str| -> Vec<String> {
        let items: Vec<serde_json::Value> = serde_json::from_str(items).unwrap();
        let word = |item: &serde_json::Value| {
            item.get("title").or_else(|| item.get("value")).and_then(|word| word.as_str()).unwrap().to_owned()
        };
        items.iter().map(word).collect()
    };
    result.result.parts.iter().map(|part| (part.name.clone(), words(&part.items))).collect()
}
