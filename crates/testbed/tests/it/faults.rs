//! Every fault as a client sees it, over a real socket.

use std::io::{ErrorKind, Read as _};
use std::time::{Duration, Instant};

use dunlin_testbed::Fault;
use flate2::read::GzDecoder;
use tokio::io::AsyncReadExt;

use crate::client::{Reply, ask, get, send, start, start_with, until_asked};

async fn faulty(name: &str) -> Reply {
    get(&start().await, &format!("/faults/{name}/a")).await
}

async fn plain() -> Reply {
    get(&start().await, "/pages/a").await
}

#[tokio::test]
async fn slow_waits_before_the_head() {
    let asked = Instant::now();
    let reply = faulty("slow/80").await;
    assert!(asked.elapsed() >= Duration::from_millis(80));
    assert_eq!(reply.status(), 200);
}

#[tokio::test]
async fn drip_sends_byte_by_byte() {
    let running = start_with(|plan| plan.filler = 0).await;
    let mut stream =
        send(running.address(), "GET /faults/drip/1/a?kind=api HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut reads = 0;
    let mut bytes = [0; 8_192];
    let mut all = Vec::new();
    loop {
        let read = stream.read(&mut bytes).await.unwrap();
        if read == 0 {
            break;
        }
        reads += 1;
        all.extend_from_slice(&bytes[..read]);
    }
    assert!(all.ends_with(b"}"), "it arrives whole");
    assert!(reads > 10, "in {reads} pieces");
}

#[tokio::test]
async fn hang_takes_the_request_and_says_nothing() {
    let running = start().await;
    let mut stream = send(running.address(), "GET /faults/hang/a HTTP/1.1\r\nHost: x\r\n\r\n").await;
    until_asked(&running).await;
    let heard = tokio::time::timeout(Duration::from_millis(50), stream.read(&mut [0; 1])).await;
    assert!(heard.is_err(), "{heard:?}");
    assert_eq!((running.log()[0].status, running.log()[0].answered), (None, None));
}

#[tokio::test]
async fn refusals_have_their_status_and_say_when_to_come_back() {
    for (name, status, retry_after) in [
        ("status/500", 500, None),
        ("status/403", 403, None),
        ("404", 404, None),
        ("gone", 410, None),
        ("429/30", 429, Some("30")),
        ("429", 429, None),
        ("503/5", 503, Some("5")),
    ] {
        let reply = faulty(name).await;
        assert_eq!((reply.status(), reply.header("retry-after")), (status, retry_after), "{name}");
        assert_eq!(reply.header("etag"), None);
    }
    let dated = faulty("429-date/30").await;
    let date = dated.header("retry-after").unwrap();
    assert!(dated.status() == 429 && date.ends_with(" GMT") && date.len() == 29, "{date}");
}

#[tokio::test]
async fn lengths_are_wrong_in_both_directions() {
    let whole = plain().await;
    let short = faulty("truncated").await;
    assert_eq!((short.announced(), short.body.len()), (whole.body.len(), whole.body.len() / 2));
    let long = faulty("wrong-length").await;
    assert_eq!((long.announced(), long.body.len()), (whole.body.len() / 2, whole.body.len()));
}

#[tokio::test]
async fn redirects_lead_around_along_and_away() {
    let running = start().await;
    let mut at = "/faults/redirect-loop/a?kind=feed".to_owned();
    let mut seen = Vec::new();
    for _ in 0..6 {
        let reply = get(&running, &at).await;
        assert_eq!(reply.status(), 302);
        reply.header("location").unwrap().clone_into(&mut at);
        seen.push(at.clone());
    }
    assert_eq!(seen[0], seen[2]);
    assert_eq!(seen[1], seen[5]);

    let mut at = "/faults/redirect-chain/3/a?kind=feed".to_owned();
    for _ in 0..3 {
        let reply = get(&running, &at).await;
        assert_eq!(reply.status(), 302);
        reply.header("location").unwrap().clone_into(&mut at);
    }
    assert!(get(&running, &at).await.text().contains("<rss"));

    let away = get(&running, "/faults/redirect-to/http%3A%2F%2F169.254.169.254%2Fx/a").await;
    assert_eq!((away.status(), away.header("location")), (302, Some("http://169.254.169.254/x")));
}

#[tokio::test]
async fn a_bomb_is_small_until_it_is_unpacked() {
    let bomb = faulty("gzip-bomb/20").await;
    assert_eq!(bomb.header("content-encoding"), Some("gzip"));
    assert!(bomb.body.len() < 40_000, "{}", bomb.body.len());
    let unpacked = std::io::copy(&mut GzDecoder::new(&*bomb.body), &mut std::io::sink()).unwrap();
    assert_eq!(unpacked, 20_000_000);

    let broken = faulty("bad-gzip").await;
    assert_eq!(broken.header("content-encoding"), Some("gzip"));
    assert!(GzDecoder::new(&*broken.body).read_to_end(&mut Vec::new()).is_err());
}

#[tokio::test]
async fn flicker_differs_on_every_fetch_while_the_state_does_not() {
    let running = start().await;
    for kind in ["page", "feed", "api"] {
        let target = format!("/faults/flicker/a?kind={kind}");
        let (one, two) = (get(&running, &target).await, get(&running, &target).await);
        assert_ne!(one.text(), two.text(), "{kind}");
        assert!(one.text().contains("Update 1 of a") && two.text().contains("Update 1 of a"));
        assert_eq!(one.header("etag"), None);
    }
    assert!(running.log().iter().all(|logged| logged.version == Some(1)));
}

#[tokio::test]
async fn flip_flop_goes_back_and_forth() {
    let running = start_with(|plan| plan.from = Some(10_000)).await;
    let mut states = Vec::new();
    for _ in 0..4 {
        // Another form of the same source in between has its own turns.
        get(&running, "/faults/flip-flop/a?kind=api").await;
        let reply = get(&running, "/faults/flip-flop/a").await;
        states.push((reply.header("etag").unwrap().to_owned(), reply.body));
    }
    assert_eq!((&states[0], &states[1]), (&states[2], &states[3]));
    assert_ne!(states[0].0, states[1].0);
    assert_ne!(states[0].1, states[1].1);
    let versions: Vec<_> = running.log().iter().map(|logged| logged.version).collect();
    assert_eq!(versions, [2, 2, 1, 1, 2, 2, 1, 1].map(Some));
}

#[tokio::test]
async fn validators_can_be_missing_weak_or_useless() {
    let running = start().await;
    let etag = get(&running, "/pages/a").await.header("etag").unwrap().to_owned();
    let known = format!("If-None-Match: {etag}");

    let none = ask(&running, "GET", "/faults/no-validators/a", &[&known]).await;
    assert_eq!((none.status(), none.header("etag"), none.header("last-modified")), (200, None, None));

    let weak = ask(&running, "GET", "/faults/weak-etag/a", &[&known]).await;
    assert_eq!((weak.status(), weak.header("etag")), (304, Some(&*format!("W/{etag}"))));

    let one = get(&running, "/faults/always-new-etag/a").await;
    let known = format!("If-None-Match: {}", one.header("etag").unwrap());
    let two = ask(&running, "GET", "/faults/always-new-etag/a", &[&known]).await;
    assert_eq!(two.status(), 200);
    assert_eq!(one.body, two.body);
}

#[tokio::test]
async fn connections_break_before_an_answer() {
    let reset = faulty("reset").await;
    assert_eq!((reset.head.as_str(), reset.broken), ("", Some(ErrorKind::ConnectionReset)));
    let garbage = faulty("garbage").await;
    assert!(!garbage.head.is_empty() && !garbage.head.starts_with("HTTP"), "{}", garbage.head);
}

#[tokio::test]
async fn huge_is_as_long_as_it_says() {
    let reply = faulty("huge/3").await;
    let expected = plain().await.body.len() + 3_000_000;
    assert_eq!((reply.announced(), reply.body.len()), (expected, expected));
}

#[tokio::test]
async fn bodies_can_be_deep_undecodable_or_empty() {
    let running = start().await;
    for (kind, opening, levels) in [("page", "<div>", 100_000), ("feed", "<x>", 70_000), ("api", "[", 70_000)]
    {
        let fault =
            if levels == 100_000 { "deep-nesting".to_owned() } else { format!("deep-nesting/{levels}") };
        let reply = get(&running, &format!("/faults/{fault}/a?kind={kind}")).await;
        assert_eq!(reply.text().matches(opening).count(), levels, "{kind}");

        let reply = get(&running, &format!("/faults/bad-charset/a?kind={kind}")).await;
        assert!(reply.header("content-type").unwrap().ends_with("charset=utf-8"));
        assert!(std::str::from_utf8(&reply.body).is_err(), "{kind}");

        let reply = get(&running, &format!("/faults/empty/a?kind={kind}")).await;
        assert_eq!((reply.status(), reply.announced(), reply.body.len()), (200, 0, 0));
    }
}

#[tokio::test]
async fn a_fault_can_be_switched_on_for_a_source_in_all_its_forms() {
    let running = start_with(|plan| plan.faults.push("a=503:9".parse().unwrap())).await;
    let statuses = async || {
        let mut statuses = Vec::new();
        for target in ["/pages/a", "/feeds/a.xml", "/api/a.json", "/pages/b%20c", "/faults/gone/a"] {
            statuses.push(get(&running, target).await.status());
        }
        statuses
    };
    assert_eq!(statuses().await, [503, 503, 503, 200, 410]);
    let said = ask(&running, "POST", "/_fault?source=a&fault=none", &["Content-Length: 0"]).await;
    assert_eq!((said.status(), said.text()), (200, "a behaves\n"));
    assert_eq!(statuses().await, [200, 200, 200, 200, 410]);
    running.set_fault("b c", Some(Fault::Status(404)), Some(Duration::from_hours(1))).unwrap();
    assert_eq!(statuses().await, [200, 200, 200, 404, 410]);
    assert_eq!(
        get(&running, "/_fault?source=a&fault=hang").await.status(),
        404,
        "only POST changes anything"
    );
}
