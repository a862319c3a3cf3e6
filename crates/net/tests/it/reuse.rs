//! Kept connections and conditional requests: the same work with less asked of the server.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::{Client, Connections, Error, Guard, Request, Retry, RetryAfter, Settings, Validators};

use crate::names::{Names, local_client};
use crate::origin::{Origin, Step, answer, raw};

async fn fetch(client: &Client, url: &str) -> Result<dunlin_net::Fetched, Error> {
    client.fetch(Request::parse(url).unwrap()).await
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let origin = Origin::start(|seen| answer("200 OK", &[], seen.path.as_bytes())).await;
    let client = local_client(|_| {});
    for path in ["/a", "/b", "/c"] {
        assert_eq!(fetch(&client, &origin.url(path)).await.unwrap().body, path);
    }
    assert_eq!(origin.paths().iter().map(|(connection, _)| *connection).collect::<Vec<_>>(), [0, 0, 0]);
    assert_eq!(client.idle_connections(), 1);
}

#[tokio::test]
async fn a_connection_that_the_server_gave_up_is_replaced_once() {
    // The server closes its first connection just as the second request arrives on it.
    let origin = Origin::start(|seen| match (seen.connection, seen.path.as_str()) {
        (0, "/second") => vec![Step::Close],
        _ => answer("200 OK", &[], seen.path.as_bytes()),
    })
    .await;
    let client = local_client(|_| {});
    fetch(&client, &origin.url("/first")).await.unwrap();
    assert_eq!(fetch(&client, &origin.url("/second")).await.unwrap().body, "/second");
    let expected = [(0, "/first"), (0, "/second"), (1, "/second")];
    assert_eq!(origin.paths(), expected.map(|(connection, path)| (connection, path.to_owned())));
}

#[tokio::test]
async fn a_new_connection_that_is_closed_at_once_is_not_tried_again() {
    let origin = Origin::start(|_| vec![Step::Close]).await;
    let error = fetch(&local_client(|_| {}), &origin.url("/")).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    assert_eq!(origin.seen().len(), 1);
}

#[tokio::test]
async fn a_server_that_closes_between_requests_does_no_harm() {
    let origin = Origin::start(|_| raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")).await;
    let client = local_client(|_| {});
    for n in 0..5 {
        assert_eq!(fetch(&client, &origin.url(&format!("/{n}"))).await.unwrap().body, "ok");
    }
}

#[tokio::test]
async fn what_follows_a_body_is_never_taken_for_the_next_answer() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/first" => {
            let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
            let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood{surplus}");
            vec![Step::Send(bytes.into_bytes())]
        }
        _ => answer("200 OK", &[], b"fine"),
    })
    .await;
    let client = local_client(|_| {});
    assert_eq!(fetch(&client, &origin.url("/first")).await.unwrap().body, "good");
    assert_eq!(fetch(&client, &origin.url("/second")).await.unwrap().body, "fine");
}

#[tokio::test]
async fn no_more_connections_are_kept_than_allowed() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"x")).await;
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    settings.pool.idle = 3;
    settings.pool.idle_per_host = 2;
    let hosts = ["a.test", "b.test", "c.test"];
    let names = hosts.iter().fold(Names::new(), |names, host| names.with(host, &["127.0.0.1"]));
    let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
    for (host, at_most) in hosts.into_iter().zip([2, 3, 3]) {
        let url = origin.url_as(host, "/");
        let fetches: Vec<_> = (0..4)
            .map(|_| {
                let (client, url) = (client.clone(), url.clone());
                tokio::spawn(async move { fetch(&client, &url).await })
            })
            .collect();
        for fetch in fetches {
            fetch.await.unwrap().unwrap();
        }
        assert!((1..=at_most).contains(&client.idle_connections()), "{host}: {}", client.idle_connections());
    }
}

#[tokio::test]
async fn unused_connections_are_closed_after_a_while() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"x")).await;
    let client = local_client(|settings| settings.pool.idle_time = Duration::from_millis(20));
    for _ in 0..2 {
        fetch(&client, &origin.url("/")).await.unwrap();
        let closed = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(5));
            while client.idle_connections() > 0 {
                ticks.tick().await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_mins(1), closed).await;
        assert!(in_time.is_ok(), "{} connections are still kept", client.idle_connections());
    }
    assert_eq!(origin.paths().iter().map(|(connection, _)| *connection).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn validators_come_back_as_they_were_given() {
    let etag = "W/\"caf\u{e9} 1\"";
    let date = "Tue,  1 jan 2030 00:00:00 gmt";
    let origin = Origin::start(move |seen| {
        let headers =
            [&*format!("ETag: {etag}"), &format!("Last-Modified: {date}"), "Cache-Control: max-age=90"];
        let is_known =
            seen.header("if-none-match") == Some(etag) && seen.header("if-modified-since") == Some(date);
        if is_known {
            // Some servers describe, in a 304, the body that they do not send.
            let head = format!("HTTP/1.1 304 Not Modified\r\n{}\r\nContent-Length: 5\r\n\r\n", headers[0]);
            vec![Step::Send(head.into_bytes().into_iter().map(latin1).collect())]
        } else {
            answer("200 OK", &headers, b"hello")
        }
    })
    .await;
    let client = local_client(|_| {});
    let first = fetch(&client, &origin.url("/")).await.unwrap();
    assert_eq!((&first.body[..], first.is_unchanged()), (&b"hello"[..], false));
    assert_eq!(first.validators.etag.as_deref(), Some(etag));
    assert_eq!(first.cache.max_age, Some(Duration::from_secs(90)));
    for _ in 0..2 {
        let request = Request::parse(&origin.url("/")).unwrap().unless(first.validators.clone());
        let second = client.fetch(request).await.unwrap();
        assert_eq!((second.body.len(), second.is_unchanged()), (0, true));
    }
    let other = Validators { etag: Some("\"other\"".to_owned()), last_modified: None };
    let third = client.fetch(Request::parse(&origin.url("/")).unwrap().unless(other)).await.unwrap();
    assert_eq!(third.body, "hello");
    assert!(origin.seen().iter().all(|seen| seen.connection == 0), "{:?}", origin.paths());
}

/// The script's text is UTF-8; on the wire it only has to be ASCII here.
fn latin1(byte: u8) -> u8 {
    if byte.is_ascii() { byte } else { b'?' }
}

#[tokio::test]
async fn both_forms_of_retry_after_are_read() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/seconds" => answer("429 Too Many Requests", &["Retry-After: 120"], b"slow down"),
        "/date" => answer("503 Service Unavailable", &["Retry-After: Tue, 01 Jan 2030 00:02:00 GMT"], b""),
        _ => answer("503 Service Unavailable", &[], b""),
    })
    .await;
    let client = local_client(|_| {});
    let midnight = Time::from_seconds(1_893_456_000);
    let two_minutes = Duration::from_mins(2);
    let seconds = fetch(&client, &origin.url("/seconds")).await.unwrap();
    assert_eq!(seconds.retry_after, Some(RetryAfter::Delay(two_minutes)));
    let date = fetch(&client, &origin.url("/date")).await.unwrap();
    assert_eq!(date.retry_after, Some(RetryAfter::At(midnight.plus(two_minutes))));
    for fetched in [seconds, date] {
        assert_eq!(fetched.retry(midnight), Retry::After(two_minutes));
    }
    assert_eq!(fetch(&client, &origin.url("/")).await.unwrap().retry(midnight), Retry::Backoff);
}

#[tokio::test]
async fn a_request_that_is_sent_once_is_not_sent_again_over_another_connection() {
    let origin = Origin::start(|seen| match (seen.connection, seen.path.as_str()) {
        (0, "/second") => vec![Step::Close],
        _ => answer("200 OK", &[], seen.path.as_bytes()),
    })
    .await;
    let client = local_client(|_| {});
    fetch(&client, &origin.url("/first")).await.unwrap();
    let second = || Request::parse(&origin.url("/second")).unwrap();
    let error = client.fetch(second().over(Connections::Once)).await.unwrap_err();
    assert!(matches!(error, Error::Stale { .. }), "{error}");
    assert_eq!(origin.seen().len(), 2);
    // A request for a new connection gets one, even when one is kept.
    fetch(&client, &origin.url("/third")).await.unwrap();
    assert_eq!(client.idle_connections(), 1);
    client.fetch(second().over(Connections::New)).await.unwrap();
    assert_eq!(origin.seen().last().unwrap().connection, 2);
}

#[tokio::test]
async fn a_connection_whose_answer_was_not_read_to_its_end_is_not_used_again() {
    let origin = Origin::start(|_| answer("200 OK", &[], &vec![b'x'; 1 << 20])).await;
    let client = local_client(|_| {});
    let request = || Request::parse(&origin.url("/")).unwrap();
    assert!(client.fetch(request().keeping_first(20)).await.unwrap().is_cut);
    assert_eq!(client.idle_connections(), 0);
    client.fetch(request().over(Connections::Once)).await.unwrap();
    assert_eq!(origin.seen().last().unwrap().connection, 1);
}

#[tokio::test]
async fn a_connection_that_was_kept_too_long_is_not_used_again() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"x")).await;
    let client = local_client(|settings| settings.pool.idle_time = Duration::ZERO);
    for _ in 0..3 {
        fetch(&client, &origin.url("/")).await.unwrap();
    }
    assert_eq!(origin.paths().iter().map(|(connection, _)| *connection).collect::<Vec<_>>(), [0, 1, 2]);
}

#[tokio::test]
async fn a_host_that_breaks_off_an_answer_has_all_its_connections_forgotten() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/broken" => raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"),
        _ => answer("200 OK", &[], b"x"),
    })
    .await;
    let client = local_client(|_| {});
    let (url, other) = (origin.url("/a"), origin.url("/b"));
    let (first, second) = tokio::join!(fetch(&client, &url), fetch(&client, &other));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(client.idle_connections(), 2);
    fetch(&client, &origin.url("/broken")).await.unwrap_err();
    assert_eq!(client.idle_connections(), 0);
}
