//! Calls that take long, because of what a site has written: they have threads, a queue and a deadline of their own, and no client
//! else waits for them.

use std::fmt::Write as _;
use std::time::Duration;

use dunlin_server::Options;
use dunlin_store::{Capture, NewSource, NewVersion, Outcome, ProbeId};
use serde_json::json;
use tokio::task::JoinSet;

use crate::changes::at;
use crate::client::{Answer, Client};
use crate::service::{Service, options};

/// A page on which the selector of its source visits all elements for each of them: minutes, unless it is stopped.
fn page(n: usize) -> String {
    let mut page = format!("<html><p>{n}</p>");
    for name in 0..200_000 {
        write!(page, "<x{name} class=price>1</x{name}>").unwrap();
    }
    page
}

/// Two versions of such a page; the path at which they are compared.
async fn hostile(service: &Service) -> String {
    let store = service.store.clone();
    let stored = tokio::task::spawn_blocking(move || {
        let recipe = json!({ "recipe": { "kind": "html_selector", "css": ".price:nth-of-type(2)" } });
        // Past the engine, so that it is not probed.
        let source = NewSource { recipe: recipe.to_string(), ..NewSource::page("http://127.0.0.1/", at(0)) };
        let source = store.add_source(source).unwrap();
        let mut last = None;
        for n in 1..=2_usize {
            let time = at(i64::try_from(n).unwrap());
            let mut capture = Capture::bare(source, ProbeId(n as u64), time, Outcome::Changed);
            let content = page(n).into_bytes();
            capture.version = Some(NewVersion { content, media_type: "text/html".to_owned() });
            last = store.record_capture(capture).unwrap().version;
        }
        last.unwrap()
    });
    format!("/versions/{}/diff", stored.await.unwrap())
}

fn ask_often(client: &Client, path: &str, n_times: usize) -> JoinSet<Answer> {
    let mut asked = JoinSet::new();
    for _ in 0..n_times {
        let (client, path) = (client.clone(), path.to_owned());
        asked.spawn(async move { client.get(&path).await });
    }
    asked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_comparisons_do_not_block_other_calls() {
    const N_TIMES: usize = 80;
    let service = Service::with(Options { heavy_time: Duration::from_secs(2), ..options() }).await;
    let path = hostile(&service).await;
    let mut asked = ask_often(&service.client, &path, N_TIMES);
    // Once one is answered, the others are running or queued.
    let mut answers = vec![asked.join_next().await.unwrap().unwrap()];
    for _ in 0..3 {
        for path in ["/sources", "/tokens", "/budget", "/healthz", "/changes"] {
            // The client gives up on what does not come.
            let answer = service.client.get(path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        }
    }
    while let Some(answer) = asked.join_next().await {
        answers.push(answer.unwrap());
    }
    assert_eq!(answers.len(), N_TIMES);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let (status, code) = answer.error();
        assert!(status == 503 && ["timed_out", "too_many_calls"].contains(&&*code), "{status} {code}");
        assert_eq!(answer.header("retry-after"), "5");
    }
    service.engine.stop().await.unwrap();
    service.running.stop().await;
}

#[tokio::test]
async fn one_comparison_too_many_is_refused_and_one_that_takes_too_long_is_given_up() {
    let (heavy_time, request_time) = (Duration::from_millis(1), Duration::from_secs(2));
    let options = Options { max_heavy_calls: 1, max_heavy_waiting: 0, heavy_time, request_time, ..options() };
    let service = Service::with(options).await;
    let path = hostile(&service).await;
    let answers = ask_often(&service.client, &path, 40).join_all().await;
    let codes: Vec<_> = answers.iter().map(Answer::error).collect();
    assert!(codes.contains(&(503, "timed_out".to_owned())), "{codes:?}");
    assert!(codes.contains(&(503, "too_many_calls".to_owned())), "{codes:?}");
}
