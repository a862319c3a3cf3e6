//! How much one client may have: sizes, numbers, times. Each refusal says which limit it was.

use std::time::Duration;

use bytes::Bytes;
use dunlin_server::Options;
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::changes::{store_changes, stored_source};
use crate::service::{Service, options};
use crate::stream::figure;

#[tokio::test]
async fn bodies_are_bounded_and_must_be_json() {
    let service = Service::start().await;
    let client = &service.client;
    let send = |body: Bytes| client.send(client.request(Method::POST, "/sources", body));
    let large = format!("{{\"url\":\"{}\"}}", "x".repeat(1 << 20));
    assert_eq!(send(large.into()).await.error(), (413, "too_large".to_owned()));
    assert_eq!(send("{\"url\":".into()).await.error(), (400, "bad_json".to_owned()));
    assert_eq!(send("{} {}".into()).await.error(), (400, "bad_json".to_owned()));
    assert_eq!(send(Bytes::from_static(b"\xff\xfe")).await.error(), (400, "bad_json".to_owned()));
    let deep = format!("{{\"url\":{}", "[".repeat(500_000));
    assert!(matches!(send(deep.into()).await.error().0, 400 | 422));
    let mut request = client.request(Method::POST, "/sources", "url=x".into());
    request.headers_mut().insert("content-type", "application/x-www-form-urlencoded".parse().unwrap());
    assert_eq!(client.send(request).await.error(), (415, "not_json".to_owned()));
}

#[tokio::test]
async fn a_bulk_call_has_a_most() {
    let service = Service::with(Options { max_bulk: 2, ..options() }).await;
    let sources = vec![json!({ "url": service.site.url("/a"), "paused": true }); 3];
    let answer = service.client.post("/sources/bulk", json!({ "sources": sources })).await;
    assert_eq!(answer.error(), (422, "bad_value".to_owned()));
    assert!(answer.text().contains("at most 2"), "{}", answer.text());
    assert_eq!(service.client.get("/sources").await.json()["sources"], json!([]));
}

#[tokio::test]
async fn one_stream_too_many_is_refused() {
    let service = Service::with(Options { max_streams: 1, ..options() }).await;
    let follower = service.client.follow("", None).await;
    let refused = service.client.get("/stream").await;
    assert_eq!(refused.error(), (503, "too_many_streams".to_owned()));
    assert_eq!(refused.header("retry-after"), "5");
    drop(follower);
    all_streams_are_closed(&service).await;
    service.client.follow("", None).await;
}

/// Waits until there is no stream.
async fn all_streams_are_closed(service: &Service) {
    let closing = async { while figure(&service.client, "dunlin_http_open_streams").await > 0 {} };
    tokio::time::timeout(Duration::from_mins(1), closing).await.expect("no stream is left");
}

#[tokio::test]
async fn unknown_routes_and_methods_are_errors_like_all_others() {
    let service = Service::start().await;
    assert_eq!(service.client.get("/nothing").await.error(), (404, "no_such_route".to_owned()));
    assert_eq!(service.client.put("/sources", json!({})).await.error(), (405, "wrong_method".to_owned()));
    assert_eq!(service.client.get("/sources/x").await.error(), (400, "bad_parameter".to_owned()));
    assert_eq!(service.client.get("/versions/1").await.error(), (404, "no_such_version".to_owned()));
}

/// Sends bytes and gives what comes back until the server closes.
pub(crate) async fn raw(service: &Service, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(service.client.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A server that closes while we still send may reset the connection.
    let _ = tokio::time::timeout(Duration::from_mins(1), stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_request_that_does_not_end_is_given_up() {
    let service = Service::with(Options { request_time: Duration::from_millis(50), ..options() }).await;
    let head = format!(
        "POST /api/v1/sources HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{{",
        service.client.token
    );
    let answer = raw(&service, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("timed_out"), "{answer}");
}

#[tokio::test]
async fn heads_are_bounded() {
    let service = Service::start().await;
    let head =
        format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: {}\r\n\r\n", "x".repeat(64 << 10));
    let answer = raw(&service, head.as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    let lines = "x: y\r\n".repeat(200);
    let answer =
        raw(&service, format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n").as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_stops_reading_loses_its_slot_in_the_end() {
    let service = Service::with(Options { stall_time: Duration::from_millis(50), ..options() }).await;
    let source = stored_source(&*service.store);
    store_changes(&*service.store, source, 4_000, &"x".repeat(8 << 10));
    let mut follower = service.client.follow("?after=0", None).await;
    // It was open, and has a slot for as long as the reader reads: on a slow machine that may be no longer than this.
    follower.event().await.unwrap();
    all_streams_are_closed(&service).await;
}

/// Connections that say nothing, from one address of this machine.
async fn silent(service: &Service, from: &str, n: usize) -> Vec<TcpStream> {
    let mut connections = Vec::new();
    for _ in 0..n {
        connections.push(connected(service, from).await);
    }
    connections
}

/// A connection from one of the many addresses that this machine has.
async fn connected(service: &Service, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    socket.connect(service.client.address).await.unwrap()
}

/// What comes back on a connection until the server closes it.
async fn said_on(mut stream: TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_mins(1), stream.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn listing(service: &Service) -> String {
    let token = &service.client.token;
    format!(
        "GET /api/v1/sources HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    )
}

/// With an hour for the first byte, only the slots decide: no test waits for a silent connection to time out.
#[tokio::test]
async fn silent_connections_do_not_keep_others_out() {
    let options = Options {
        head_time: Duration::from_hours(1),
        max_connections: 1_024,
        max_connections_of_one: 768,
        ..options()
    };
    let service = Service::with(options).await;
    service.eventually("/healthz", |answer| answer["status"] == "ok").await;
    let mut held = silent(&service, "127.0.0.1", 1_500).await;
    // Those that had to go for the later ones are closed, and not only forgotten.
    let mut byte = [0];
    let closed = tokio::time::timeout(Duration::from_mins(1), held[0].read(&mut byte)).await.unwrap();
    assert!(!matches!(closed, Ok(1)));
    for from in ["127.0.0.1", "127.0.0.2"] {
        let answer = said_on(connected(&service, from).await, &listing(&service)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{from}: {answer}");
        let answer = said_on(connected(&service, from).await, HEALTH).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{from}: {answer}");
    }
    let open = figure(&service.client, "dunlin_http_connections").await;
    assert!((700..=768).contains(&open), "{open} connections of one address");
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed_and_one_that_has_asked_is_not() {
    let (head_time, idle_time) = (Duration::from_millis(50), Duration::from_hours(1));
    let service = Service::with(Options { head_time, idle_time, ..options() }).await;
    assert_eq!(said_on(connected(&service, "127.0.0.1").await, "").await, "");
    assert_eq!(said_on(connected(&service, "127.0.0.1").await, "GET /healthz HT").await, "", "half a head");
    let mut follower = service.client.follow("", None).await;
    follower.block().await.unwrap();
    // Longer than a new connection has, as another one shows.
    assert_eq!(said_on(connected(&service, "127.0.0.1").await, "").await, "");
    service.add_growing("a").await;
    assert!(follower.event().await.is_some());
}

#[tokio::test]
async fn a_connection_may_wait_for_its_next_request_for_so_long() {
    let service = Service::with(Options { idle_time: Duration::from_millis(50), ..options() }).await;
    let keep = HEALTH.replace("connection: close\r\n", "");
    let answer = said_on(connected(&service, "127.0.0.1").await, &keep).await;
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
}

#[tokio::test]
async fn health_is_answered_when_all_connections_are_busy() {
    let options =
        Options { max_connections: 2, max_connections_of_one: 2, reserved_connections: 1, ..options() };
    let service = Service::with(options).await;
    service.eventually("/healthz", |answer| answer["status"] == "ok").await;
    let (first, second) = (service.client.follow("", None).await, service.client.follow("", None).await);
    let answer = said_on(connected(&service, "127.0.0.2").await, &listing(&service)).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("too_many_connections"), "{answer}");
    assert!(answer.to_lowercase().contains("retry-after: 5"), "{answer}");
    // It closes by itself: the slot is for the next one.
    let keep = HEALTH.replace("connection: close\r\n", "");
    for _ in 0..3 {
        let answer = said_on(connected(&service, "127.0.0.1").await, &keep).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    }
    drop((first, second));
    let room = async {
        while said_on(connected(&service, "127.0.0.2").await, &listing(&service)).await.contains("too_many") {
        }
    };
    tokio::time::timeout(Duration::from_mins(1), room).await.expect("room once the streams are gone");
}
