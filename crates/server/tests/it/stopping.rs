//! The end: streams close, waits are cut short, nothing is accepted any more, and no client can hold it up.

use std::time::Duration;

use dunlin_server::{Options, Server};
use tokio::net::TcpStream;

use crate::changes::{store_changes, stored_source};
use crate::service::{Service, options};

#[tokio::test]
async fn streams_and_waits_end_and_no_new_client_gets_in() {
    // They end by themselves, before this time is over.
    let service = Service::with(Options { stop_within: Duration::from_hours(1), ..options() }).await;
    let mut follower = service.client.follow("", None).await;
    follower.block().await.unwrap();
    let client = service.client.clone();
    let waiting = tokio::spawn(async move { client.get("/changes?wait=60").await });
    // The wait has begun when the request counts as a connection; give it the chance.
    service.client.get("/budget").await;
    tokio::time::timeout(Duration::from_mins(1), service.running.stop()).await.expect("an end");
    assert_eq!(follower.block().await, None);
    assert_eq!(waiting.await.unwrap().json()["changes"], serde_json::json!([]));
    assert!(TcpStream::connect(service.client.address).await.is_err());
    service.engine.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_with_the_last_of_what_is_stored() {
    let service = Service::start().await;
    let source = stored_source(&*service.store);
    let mut follower = service.client.follow("?after=0", None).await;
    follower.block().await.unwrap();
    // As if by the engine in its last moments, when it announces nothing any more.
    store_changes(&*service.store, source, 300, "late");
    let stopping = tokio::spawn(service.running.stop());
    let mut n_told = 0;
    while follower.event().await.is_some() {
        n_told += 1;
    }
    stopping.await.unwrap();
    assert_eq!(n_told, 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_cannot_hold_it_up() {
    let stop_within = Duration::from_millis(100);
    let service = Service::with(Options { stop_within, ..options() }).await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 4_000, &"x".repeat(8 << 10));
    let mut follower = service.client.follow("?after=0", None).await;
    follower.event().await.unwrap();
    tokio::time::timeout(Duration::from_mins(1), service.running.stop()).await.expect("an end");
}

#[tokio::test]
async fn an_address_in_use_is_an_error_that_names_it() {
    let service = Service::start().await;
    let taken = Options { listen: service.client.address, ..options() };
    let error = Server::start(service.engine.handle(), taken).await.unwrap_err().to_string();
    assert!(error.contains(&service.client.address.to_string()) && error.contains("--listen"), "{error}");
}
