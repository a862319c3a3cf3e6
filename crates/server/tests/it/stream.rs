//! The stream: each change once, in order, despite failures in between; slow readers cost nothing; gaps are reported.

use std::time::Duration;

use dunlin_server::Options;
use dunlin_store::Retention;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::changes::{at, store_changes, stored_source};
use crate::client::{Client, Event};
use crate::service::{Service, options};

/// Follows the stream until `n` changes have come, breaking the connection at random points and going on from the last
/// cursor seen. Gives the cursor it began after, and the events.
async fn follow_with_breaks(client: Client, seed: u64, n: usize) -> (i64, Vec<Event>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut events: Vec<Event> = Vec::new();
    let mut follower = client.follow("", None).await;
    let begun = follower.block().await.unwrap();
    assert!(begun.data.is_empty());
    let mut last = begun.id.expect("a stream from now on says where that is");
    let begun = last;
    while events.len() < n {
        for _ in 0..random.random_range(0..30) {
            let event = follower.event().await.unwrap();
            last = event.id.unwrap();
            events.push(event);
        }
        follower = client.follow("", Some(last)).await;
    }
    (begun, events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_repeated_by_readers_that_come_and_go_while_changes_come() {
    let service = Service::start().await;
    for name in ["a", "b", "c", "d", "e"] {
        service.add_growing(name).await;
    }
    let readers = (0..6).map(|seed| tokio::spawn(follow_with_breaks(service.client.clone(), seed, 120)));
    let readers: Vec<_> = readers.collect();
    for reader in readers {
        let (begun, events) = reader.await.unwrap();
        let listed: Vec<Value> = service.changes(begun, events.len()).await;
        let streamed: Vec<Value> = events.iter().map(Event::json).collect();
        assert_eq!(streamed, listed[..streamed.len()]);
        assert!(events.iter().all(|event| event.name == "change"));
        assert!(events.iter().all(|event| event.id == event.json()["cursor"].as_i64()));
    }
}

#[tokio::test]
async fn a_stream_begins_at_the_requested_position() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    let other = stored_source(&*service.store);
    store_changes(&*service.store, other, 5, "other");
    store_changes(&*service.store, source, 250, "new");
    let client = &service.client;
    let first = |query: &'static str, last| async move {
        client.follow(query, last).await.event().await.unwrap().id.unwrap()
    };
    assert_eq!(first("?after=0", None).await, 1);
    assert_eq!(first("?after=7", None).await, 8);
    assert_eq!(first("", Some(100)).await, 101);
    assert_eq!(first("?after=3", Some(100)).await, 101, "the reader's own memory goes before the address");
    let mut of_one = client.follow(&format!("?after=0&source={source}"), None).await;
    let mut cursors = Vec::new();
    while cursors.len() < 250 {
        cursors.push(of_one.event().await.unwrap().id.unwrap());
    }
    assert_eq!(cursors, (6..=255).collect::<Vec<_>>(), "over several pages");
    for (query, code) in
        [("?after=256", "cursor_ahead"), ("?after=x", "bad_parameter"), ("?limit=1", "bad_parameter")]
    {
        assert_eq!(client.get(&format!("/stream{query}")).await.error(), (400, code.to_owned()), "{query}");
    }
}

#[tokio::test]
async fn a_last_event_that_is_no_cursor_is_refused() {
    let service = Service::start().await;
    for (last, is_refused) in
        [("-1", true), ("x", true), ("1.5", true), ("1", true), (" ", false), ("0", false)]
    {
        let mut request = service.client.request(hyper::Method::GET, "/stream?source=9", bytes::Bytes::new());
        request.headers_mut().insert("last-event-id", last.parse().unwrap());
        // Without a source of that number no stream begins, and the first error is reported.
        let status = service.client.send(request).await.status;
        assert_eq!(status, 404, "{last}");
        let mut request = service.client.request(hyper::Method::GET, "/stream", bytes::Bytes::new());
        request.headers_mut().insert("last-event-id", last.parse().unwrap());
        if is_refused {
            assert_eq!(service.client.send(request).await.error().0, 400, "{last}");
        }
    }
}

#[tokio::test]
async fn a_stream_from_now_on_tells_nothing_old() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 5, "old");
    let mut follower = service.client.follow("", None).await;
    assert_eq!(follower.block().await.unwrap(), Event { id: Some(5), ..Event::default() });
    service.add_growing("a").await;
    assert_eq!(follower.event().await.unwrap().id, Some(6));
}

#[tokio::test]
async fn removed_changes_are_reported_as_a_gap_and_the_stream_goes_on() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 10, "new");
    service.store.prune(Retention { changes_before: Some(at(6)), ..Retention::default() }).unwrap();
    let mut follower = service.client.follow("", Some(2)).await;
    let gap = follower.event().await.unwrap();
    assert_eq!((&*gap.name, gap.id), ("gap", Some(5)));
    assert_eq!(gap.json(), json!({ "after": 2, "resume_after": 5 }));
    assert_eq!(follower.event().await.unwrap().id, Some(6));
}

/// The value of a figure without labels.
pub(crate) async fn figure(client: &Client, name: &str) -> u64 {
    let text = client.get("/metrics").await.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_holds_nothing_up_and_loses_nothing() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    // Far more than sockets buffer.
    let n = 4_000;
    store_changes(&*service.store, source, n, &"x".repeat(8 << 10));
    let mut follower = service.client.follow("?after=0", None).await;
    follower.event().await.unwrap();
    // Time enough for a server that does not wait for its reader to read everything.
    for _ in 0..300 {
        figure(&service.client, "dunlin_http_open_streams").await;
    }
    let streamed = figure(&service.client, "dunlin_http_streamed_changes_total").await;
    assert!(
        streamed < u64::from(n) * 3 / 4,
        "{streamed} of {n} changes were read for a reader that took one"
    );
    for cursor in 2..=i64::from(n) {
        assert_eq!(follower.event().await.unwrap().id, Some(cursor));
    }
}

/// Another token, and a client that has it.
async fn with_token(service: &Service, name: &str) -> Client {
    let made = service.client.post("/tokens", json!({ "name": name })).await;
    Client { token: made.json()["token"].as_str().unwrap().to_owned(), ..service.client.clone() }
}

#[tokio::test]
async fn a_stream_and_a_wait_end_when_their_token_is_revoked() {
    // No sign of life is due within this test, so nothing but the word of the revocation can end them.
    let service = Service::with(Options { keep_alive: Duration::from_hours(1), ..options() }).await;
    let (phone, laptop) = (with_token(&service, "phone").await, with_token(&service, "laptop").await);
    let (mut followed, mut kept) = (phone.follow("", None).await, laptop.follow("", None).await);
    followed.block().await.unwrap();
    kept.block().await.unwrap();
    let waiting = tokio::spawn({
        let phone = phone.clone();
        async move { phone.get("/changes?wait=60").await.error() }
    });
    // It waits once its token has been checked; until then, it is refused for the same reason.
    figure(&service.client, "dunlin_http_open_streams").await;
    assert_eq!(service.client.delete("/tokens/phone").await.status, 204);
    assert_eq!(followed.block().await, None, "the stream has ended");
    assert_eq!(waiting.await.unwrap(), (401, "bad_token".to_owned()));
    assert_eq!(phone.get("/stream").await.error(), (401, "bad_token".to_owned()));
    // Someone else's goes on.
    service.add_growing("a").await;
    assert!(kept.event().await.is_some());
}

#[tokio::test]
async fn a_token_of_the_same_name_does_not_keep_an_old_stream_alive() {
    let service = Service::with(Options { keep_alive: Duration::from_hours(1), ..options() }).await;
    let phone = with_token(&service, "phone").await;
    let mut followed = phone.follow("", None).await;
    followed.block().await.unwrap();
    service.client.delete("/tokens/phone").await;
    let again = with_token(&service, "phone").await;
    assert_eq!(followed.block().await, None);
    assert_eq!(again.get("/sources").await.status, 200);
}
