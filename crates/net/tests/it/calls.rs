//! Calls with a body, and answers that are read line by line.

use std::time::Duration;

use dunlin_net::{
    Call, Client, Error, Event, Events, Guard, Method, Phase, Refusal, Request, Settings, Stage,
};

use crate::names::local_client;
use crate::origin::{Origin, Step, answer, redirect};

const PATIENCE: Duration = Duration::from_secs(20);

fn call(method: Method, url: &str) -> Call {
    Call::new(method, url.parse().unwrap())
}

fn request(url: &str) -> Request {
    Request::parse(url).unwrap()
}

#[tokio::test]
async fn method_headers_and_body_arrive_and_any_status_is_an_answer() {
    let origin = Origin::start(|_| answer("422 Unprocessable Content", &[], b"{\"error\":1}")).await;
    let call = call(Method::POST, &origin.url("/api/v1/sources"));
    let call = call.header("Authorization", "Bearer t").unwrap();
    let call = call.body("application/json", "{\"url\":\"x\"}").unwrap();
    let fetched = local_client(|_| {}).call(call).await.unwrap();
    assert_eq!((fetched.status.as_u16(), &fetched.body[..]), (422, &b"{\"error\":1}"[..]));
    let seen = &origin.seen()[0];
    assert!(seen.head.starts_with("POST /api/v1/sources HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer t"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.body, b"{\"url\":\"x\"}");
}

#[tokio::test]
async fn a_call_is_never_sent_elsewhere_or_twice() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/moved" => redirect("/elsewhere"),
        "/lost" => vec![Step::Close],
        _ => answer("200 OK", &[], b"ok"),
    })
    .await;
    let client = local_client(|_| {});
    // A kept connection is there to be used; a call must not rely on it, since it might have to be sent again.
    client.fetch(request(&origin.url("/first"))).await.unwrap();
    let moved = client.call(call(Method::DELETE, &origin.url("/moved"))).await.unwrap();
    assert_eq!(moved.status.as_u16(), 302);
    assert!(client.call(call(Method::POST, &origin.url("/lost"))).await.is_err());
    let paths: Vec<String> = origin.paths().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["/first", "/moved", "/lost"]);
}

#[tokio::test]
async fn the_guard_and_the_limits_bind_calls_and_lines_too() {
    let origin = Origin::start(|_| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Step::Flood(vec![b'x'; 9_000])]
    })
    .await;
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet();
    let guarded = Client::new(settings).unwrap();
    let refused = guarded.call(call(Method::POST, &origin.url("/"))).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { refusal: Refusal::Address { .. }, .. }), "{refused:?}");
    let refused = guarded.lines(request(&origin.url("/")), PATIENCE).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
    assert_eq!(origin.seen().len(), 0);

    let client = local_client(|settings| settings.sizes.sent = 100_000);
    let flooded = client.call(call(Method::PUT, &origin.url("/"))).await.unwrap_err();
    assert!(matches!(flooded, Error::BodyTooLarge { stage: Stage::Sent, .. }), "{flooded:?}");
    let mut lines = client.lines(request(&origin.url("/")), PATIENCE).await.unwrap();
    let endless = lines.next().await.unwrap_err();
    assert!(matches!(endless, Error::BodyTooLarge { stage: Stage::Line, .. }), "{endless:?}");
}

#[tokio::test]
async fn headers_that_frame_the_body_are_ours() {
    for name in ["Content-Length", "Transfer-Encoding", "Host", "a b"] {
        let call = call(Method::POST, "https://example.org/").header(name, "7");
        assert!(matches!(call, Err(Error::BadHeader { .. })), "{name}");
    }
    assert!(call(Method::POST, "https://example.org/").body("text/plain\r\nx: y", "").is_err());
}

/// A server that stops in the middle of an event: a client that comes back with the last id it has seen whole gets
/// every event once.
#[tokio::test]
async fn events_go_on_after_a_broken_connection() {
    let origin = Origin::start(|seen| {
        let text = match seen.header("last-event-id") {
            None => ": hello\n\nid: 1\r\nevent: change\r\ndata: one\r\n\r\nid: 2\ndata: tw",
            Some("1") => "id: 2\ndata: two\n\n",
            Some(other) => panic!("asked from {other}"),
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        vec![Step::Send(format!("{head}{text}").into_bytes()), Step::Close]
    })
    .await;
    let client = local_client(|_| {});
    let (mut parsed, mut last): (Vec<Event>, Option<String>) = (Vec::new(), None);
    for _ in 0..2 {
        let mut request = request(&origin.url("/stream"));
        if let Some(last) = &last {
            request = request.header("Last-Event-ID", last).unwrap();
        }
        let mut events = Events::default();
        let mut lines = client.lines(request, PATIENCE).await.unwrap();
        assert_eq!(lines.status().as_u16(), 200);
        while let Some(line) = lines.next().await.unwrap() {
            parsed.extend(events.line(&line));
        }
        last = parsed.last().and_then(|event| event.id.clone());
    }
    let parsed: Vec<_> = parsed.iter().map(|event| (event.name.as_str(), event.data.as_str())).collect();
    assert_eq!(parsed, [("change", "one"), ("message", "two")]);
}

#[tokio::test]
async fn silence_ends_in_an_error_and_an_error_page_can_be_read() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/silent" => vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n: hello\n".to_vec()), Step::Hang],
        _ => answer("401 Unauthorized", &[], b"no token"),
    })
    .await;
    let client = local_client(|_| {});
    let mut lines = client.lines(request(&origin.url("/silent")), Duration::from_millis(50)).await.unwrap();
    assert_eq!(lines.next().await.unwrap().as_deref(), Some(": hello"));
    let silence = lines.next().await.unwrap_err();
    assert!(matches!(silence, Error::TimedOut { phase: Phase::Body, .. }), "{silence:?}");
    let refused = client.lines(request(&origin.url("/")), PATIENCE).await.unwrap();
    assert_eq!(refused.status().as_u16(), 401);
    assert_eq!(refused.rest().await.unwrap(), b"no token");
}
