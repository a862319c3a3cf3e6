//! Servers that are slow, wrong, cut off or endless: every one ends in an error that says so.
//!
//! Only the limit under test is short, and it is one that must strike: the server never goes on. So a busy
//! machine can make these tests slower but not wrong.

use std::sync::Arc;
use std::time::Duration;

use dunlin_net::{Client, Error, Fault, Phase, Request, ResolveError, Retry, Settings, Stage};

use crate::names::{Names, Silence, local_client};
use crate::origin::{Origin, Seen, Step, answer, raw};

const SHORT: Duration = Duration::from_millis(60);

async fn error_of(
    script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    change: impl FnOnce(&mut Settings),
) -> Error {
    let origin = Origin::start(script).await;
    let request = Request::parse(&origin.url("/page")).unwrap();
    let error = local_client(change).fetch(request).await.unwrap_err();
    assert_eq!(error.fault(), Fault::Remote, "{error}");
    assert_eq!(error.retry(), Retry::Backoff, "{error}");
    error
}

fn assert_phase(error: &Error, expected: Phase) {
    assert!(matches!(error, Error::TimedOut { phase, .. } if *phase == expected), "{error:?}");
}

#[tokio::test]
async fn no_answer_at_all() {
    let error = error_of(|_| vec![Step::Hang], |settings| settings.timeouts.first_byte = SHORT).await;
    assert_phase(&error, Phase::FirstByte);
    assert!(
        error.to_string().contains("waiting for the head of the answer took longer than 60ms"),
        "{error}"
    );
}

#[tokio::test]
async fn headers_that_never_end() {
    let script = |_: &Seen| vec![Step::Send(b"HTTP/1.1 200 OK\r\nX-A: 1\r\n".to_vec()), Step::Hang];
    let error = error_of(script, |settings| settings.timeouts.first_byte = SHORT).await;
    assert_phase(&error, Phase::FirstByte);
}

#[tokio::test]
async fn a_body_that_stops() {
    let script = |_: &Seen| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()), Step::Hang]
    };
    let error = error_of(script, |settings| settings.timeouts.idle = SHORT).await;
    assert_phase(&error, Phase::Body);
}

#[tokio::test]
async fn a_body_that_drips() {
    let script = |_: &Seen| vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Step::Drip(b".".to_vec())];
    let error = error_of(script, |settings| settings.timeouts.total = Duration::from_millis(300)).await;
    assert_phase(&error, Phase::Total);
}

#[tokio::test]
async fn endless_interim_answers() {
    let script = |_: &Seen| vec![Step::Drip(b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec())];
    let error = error_of(script, |settings| settings.timeouts.first_byte = Duration::from_millis(300)).await;
    assert_phase(&error, Phase::FirstByte);
}

#[tokio::test]
async fn name_servers_that_never_answer() {
    let mut settings = Settings::default();
    settings.timeouts.resolve = SHORT;
    let client = Client::with_resolver(settings, Arc::new(Silence)).unwrap();
    let error = client.fetch(Request::parse("http://example.com/").unwrap()).await.unwrap_err();
    assert_phase(&error, Phase::Resolve);
}

#[tokio::test]
async fn names_without_an_address() {
    for (reason, fault) in [
        (ResolveError::NoSuchHost, Fault::Remote),
        (ResolveError::NoAddress, Fault::Remote),
        (ResolveError::ServerFailure, Fault::Remote),
        (ResolveError::Unreachable, Fault::Ours),
    ] {
        let names = Names::new().failing("gone.test", reason.clone());
        let client = Client::with_resolver(Settings::default(), Arc::new(names)).unwrap();
        let error = client.fetch(Request::parse("http://gone.test/").unwrap()).await.unwrap_err();
        assert!(matches!(&error, Error::Resolve { reason: found, .. } if *found == reason), "{error:?}");
        assert_eq!((error.fault(), error.retry()), (fault, Retry::Backoff), "{error}");
    }
    let names = Names::new().with("empty.test", &[]);
    let client = Client::with_resolver(Settings::default(), Arc::new(names)).unwrap();
    let error = client.fetch(Request::parse("http://empty.test/").unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Resolve { reason: ResolveError::NoAddress, .. }), "{error:?}");
}

#[tokio::test]
async fn a_refused_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = local_client(|_| {}).fetch(Request::parse(&url).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert_eq!((error.fault(), error.retry()), (Fault::Remote, Retry::Backoff));
}

#[tokio::test]
async fn a_body_shorter_than_announced() {
    let script = |_: &Seen| raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    let error = error_of(script, |_| {}).await;
    assert!(matches!(error, Error::Truncated { received: 4, expected: Some(10), .. }), "{error:?}");
    assert!(error.to_string().contains("cut off after 4 bytes of 10"), "{error}");
}

#[tokio::test]
async fn chunks_that_end_too_early() {
    let script = |_: &Seen| raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\nw");
    let error = error_of(script, |_| {}).await;
    assert!(matches!(error, Error::Truncated { expected: None, .. }), "{error:?}");
}

#[tokio::test]
async fn chunks_that_make_no_sense() {
    let script = |_: &Seen| raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n");
    let error = error_of(script, |_| {}).await;
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn lengths_that_make_no_sense() {
    for head in [
        "Content-Length: -1",
        "Content-Length: ten",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 99999999999999999999999",
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nhello").into_bytes();
        let error = error_of(move |_| raw(&bytes), |_| {}).await;
        assert!(matches!(error, Error::Protocol { .. }), "{head}: {error:?}");
    }
}

#[tokio::test]
async fn something_that_is_not_http() {
    for bytes in
        [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"<html>hello</html>\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", b""]
    {
        let error = error_of(move |_| raw(bytes), |_| {}).await;
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_flood_of_headers() {
    let script = |_: &Seen| {
        vec![
            Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Step::Flood(b"X-A: aaaaaaaaaaaaaaaa\r\n".repeat(100)),
        ]
    };
    let error = error_of(script, |_| {}).await;
    assert!(matches!(error, Error::HeadTooLarge { limit: 65_536, .. }), "{error:?}");
    // Many lines, but short ones.
    let head = |n_lines| {
        let lines = "X-A: a\r\n".repeat(n_lines);
        format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{lines}\r\n").into_bytes()
    };
    let error = error_of(move |_| vec![Step::Send(head(260))], |_| {}).await;
    assert!(error.to_string().contains("or 256 lines"), "{error}");
    let origin = Origin::start(move |_| vec![Step::Send(head(250))]).await;
    let request = Request::parse(&origin.url("/page")).unwrap();
    assert!(local_client(|_| {}).fetch(request).await.is_ok());
    // Few lines, but long ones.
    let script = |_: &Seen| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\nX-A: ".to_vec()), Step::Flood(b"aaaaaaaaaaaaaaaa".repeat(100))]
    };
    let error = error_of(script, |_| {}).await;
    assert!(matches!(error, Error::HeadTooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_without_end() {
    let script = |_: &Seen| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Step::Flood(b"endless ".repeat(1000))]
    };
    let error = error_of(script, |settings| settings.sizes.sent = 100_000).await;
    assert!(matches!(error, Error::BodyTooLarge { limit: 100_000, stage: Stage::Sent, .. }), "{error:?}");
}

#[tokio::test]
async fn an_announced_length_over_the_limit_is_refused_unread() {
    // The body never comes: had it been waited for, this would be a time-out.
    let script = |_: &Seen| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n".to_vec()), Step::Hang]
    };
    let error = error_of(script, |settings| settings.sizes.sent = 100_000).await;
    assert!(matches!(error, Error::BodyTooLarge { stage: Stage::Sent, .. }), "{error:?}");
}

#[tokio::test]
async fn only_the_beginning_is_kept_where_that_is_enough() {
    let origin = Origin::start(|_| {
        vec![Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()), Step::Flood(b"endless ".repeat(1000))]
    })
    .await;
    let request = Request::parse(&origin.url("/")).unwrap().keeping_first(20);
    let fetched = local_client(|_| {}).fetch(request).await.unwrap();
    assert_eq!((&fetched.body[..], fetched.is_cut), (&b"endless endless endl"[..], true));
}

#[tokio::test]
async fn what_is_as_long_as_what_is_kept_is_whole() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"twenty bytes or less")).await;
    let request = |n_bytes| Request::parse(&origin.url("/")).unwrap().keeping_first(n_bytes);
    let client = local_client(|_| {});
    assert!(!client.fetch(request(20)).await.unwrap().is_cut);
    assert!(client.fetch(request(19)).await.unwrap().is_cut);
}

/// What a server says of the whole is no reason not to take its beginning.
#[tokio::test]
async fn the_beginning_is_kept_of_what_is_too_large_by_its_own_account() {
    let origin = Origin::start(|_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n";
        vec![Step::Send(head.to_vec()), Step::Flood(b"endless ".repeat(1000))]
    })
    .await;
    let client = local_client(|settings| settings.sizes.sent = 100_000);
    let request = || Request::parse(&origin.url("/")).unwrap();
    let error = client.fetch(request()).await.unwrap_err();
    assert!(matches!(error, Error::BodyTooLarge { stage: Stage::Sent, .. }), "{error:?}");
    let fetched = client.fetch(request().keeping_first(20)).await.unwrap();
    assert_eq!((&fetched.body[..], fetched.is_cut), (&b"endless endless endl"[..], true));
}

#[tokio::test]
async fn a_fetch_waits_for_a_free_slot() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"x")).await;
    let client = local_client(|settings| settings.pool.in_flight = 1);
    let fetches: Vec<_> = (0..8)
        .map(|n| {
            let request = Request::parse(&origin.url(&format!("/{n}"))).unwrap();
            let client = client.clone();
            tokio::spawn(async move { client.fetch(request).await })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap().unwrap().body, "x");
    }
    // One at a time means one connection for all.
    assert!(origin.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn a_body_may_be_as_long_as_the_limit_as_sent_and_not_a_byte_longer() {
    for (length, is_read) in [(50_000, true), (50_001, false)] {
        // Without a length, so that only counting tells.
        let mut bytes = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        bytes.resize(bytes.len() + length, b'x');
        let origin = Origin::start(move |_| raw(&bytes)).await;
        let client = local_client(|settings| settings.sizes.sent = 50_000);
        let fetched = client.fetch(Request::parse(&origin.url("/")).unwrap()).await;
        assert_eq!(fetched.is_ok(), is_read, "{length}");
    }
}

#[tokio::test]
async fn a_body_that_never_pauses_for_long_may_take_longer_than_the_longest_pause() {
    let script = |_: &Seen| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n".to_vec();
        vec![Step::Send(head), Step::Slowly(vec![b'x'; 60])]
    };
    let origin = Origin::start(script).await;
    let client = local_client(|settings| settings.timeouts.idle = Duration::from_secs(2));
    let fetched = client.fetch(Request::parse(&origin.url("/")).unwrap()).await.unwrap();
    assert!(fetched.timings.body > Duration::from_secs(2), "{:?}", fetched.timings);
}
