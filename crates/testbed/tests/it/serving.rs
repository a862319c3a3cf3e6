//! The site on a socket: the log, the truth, and the end.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{ask, get, send, start, start_with, until_asked};

#[tokio::test]
async fn the_log_tells_every_request_as_it_was() {
    let running = start().await;
    let page = get(&running, "/pages/b%20c").await;
    let etag = format!("If-None-Match: {}", page.header("etag").unwrap());
    assert_eq!(ask(&running, "GET", "/pages/b%20c", &[&etag]).await.status(), 304);
    let head = ask(&running, "HEAD", "/feeds/a.xml?x=1", &[]).await;
    assert_eq!((head.status(), head.body.len()), (200, 0));
    assert!(head.announced() > 0);
    get(&running, "/nothing").await;
    get(&running, "/faults/garbage/a").await;
    get(&running, "/_truth").await;
    assert_eq!(ask(&running, "PUT", "/pages/a", &["Content-Length: 0"]).await.status(), 405);

    let log = get(&running, "/_log").await;
    let lines: Vec<Value> = log.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let selection: Vec<String> = lines
        .iter()
        .map(|line| {
            let part = |name: &str| line[name].to_string();
            ["number", "method", "path", "source", "status", "conditional", "version", "fault"]
                .map(part)
                .join(" ")
        })
        .collect();
    assert_eq!(
        selection,
        [
            r#"1 "GET" "/pages/b%20c" "b c" 200 false 1 null"#,
            r#"2 "GET" "/pages/b%20c" "b c" 304 true 1 null"#,
            r#"3 "HEAD" "/feeds/a.xml?x=1" "a" 200 false 1 null"#,
            r#"4 "GET" "/nothing" null 404 false null null"#,
            r#"5 "GET" "/faults/garbage/a" "a" null false 1 "garbage""#,
            r#"6 "PUT" "/pages/a" null 405 false null null"#,
        ]
    );
    let mut before = 0.0;
    for line in &lines {
        let (received, answered) = (line["received"].as_f64().unwrap(), line["answered"].as_f64().unwrap());
        assert!(before <= received && received <= answered);
        before = received;
    }
    assert_eq!(get(&running, "/_log?after=4").await.text().lines().count(), 2);
    assert_eq!(get(&running, "/_log?after=x").await.status(), 400);
    assert_eq!(running.log().len(), 6);
    running.stop().await;
}

/// A fast site is asked again and again; each response must fit what the truth says of that very instant.
#[tokio::test]
async fn the_log_and_the_truth_agree() {
    let running = start_with(|plan| {
        plan.trace.times[0] = (0..2_000).collect();
        plan.speed = dunlin_testbed::Speed::new(20_000.0).unwrap();
    })
    .await;
    let mut served = Vec::new();
    let reading = async {
        while served.last() != Some(&2_000) {
            let page = get(&running, "/api/a.json").await;
            let state: Value = serde_json::from_slice(&page.body).unwrap();
            served.push(state["version"].as_u64().unwrap());
        }
    };
    tokio::time::timeout(Duration::from_mins(1), reading).await.expect("the trace ends in a moment");
    let truth: Value = serde_json::from_slice(&get(&running, "/_truth?source=a").await.body).unwrap();
    let changes: Vec<f64> = truth["sources"][0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["at"].as_f64().unwrap())
        .collect();
    for (logged, version) in running.log().iter().zip(served) {
        assert_eq!(logged.version, Some(version));
        let received = logged.received.micros() as f64 / 1_000_000.0;
        assert_eq!(changes.iter().filter(|&&at| at <= received).count() as u64, version);
    }
}

#[tokio::test]
async fn addresses_are_those_by_which_the_client_knows_the_site() {
    let running = start().await;
    assert!(get(&running, "/sources.txt").await.text().starts_with("http://site.test:81/pages/a\n"));
    let mut stream =
        send(running.address(), "GET /sources.txt HTTP/1.1\r\nHost: <evil>\r\nConnection: close\r\n\r\n")
            .await;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    assert!(reply.contains(&running.url("/pages/a")), "{reply}");
}

#[tokio::test]
async fn connections_are_kept_for_the_next_request_also_if_that_one_breaks_them() {
    let running = start().await;
    let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut stream = send(running.address(), &request("/robots.txt")).await;
    let mut bytes = [0; 4_096];
    let mut seen = String::new();
    while !seen.ends_with("Allow: /\n") {
        let read = stream.read(&mut bytes).await.unwrap();
        assert!(read > 0, "closed after {seen}");
        seen.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    stream.write_all(request("/faults/garbage/a").as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(!rest.starts_with(b"HTTP") && !rest.is_empty());
}

#[tokio::test]
async fn it_stops_in_good_order_even_with_someone_hanging() {
    let running = start().await;
    let address = running.address();
    let mut hanging = send(address, "GET /faults/hang/a HTTP/1.1\r\nHost: x\r\n\r\n").await;
    until_asked(&running).await;
    tokio::time::timeout(Duration::from_secs(30), running.stop()).await.expect("it stops");
    assert_eq!(hanging.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let running = start().await;
    let options = dunlin_testbed::Options {
        plan: dunlin_testbed::World::demo(1).into_plan(),
        listen: running.address(),
    };
    let error = dunlin_testbed::Testbed::start(options).await.unwrap_err();
    assert!(error.is_environment());
    assert!(error.to_string().starts_with(&format!("cannot listen on {}", running.address())), "{error}");
}
