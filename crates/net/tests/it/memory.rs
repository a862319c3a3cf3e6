//! The memory that all bodies share: never more than the bound for any server, and healthy pages get through.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dunlin_net::politeness::Outcome;
use dunlin_net::{Client, Error, Fault, Fetched, Request, Stage};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::task::JoinSet;

use crate::names::local_client;
use crate::origin::{Origin, Seen, Step, answer};

const MIB: u64 = 1 << 20;

fn request(origin: &Origin, path: &str) -> Request {
    Request::parse(&origin.url(path)).unwrap()
}

/// What compresses about fivefold.
fn content(bytes: usize) -> Vec<u8> {
    let words = (0_u64..).flat_map(|n| format!("{:x} ", n.wrapping_mul(0x9e37_79b9) % 9973).into_bytes());
    words.take(bytes).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// The first two thirds of a packed body, and then a byte now and then.
fn dripping(packed: &[u8]) -> Vec<Step> {
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
    let (most, rest) = packed.split_at(packed.len() * 2 / 3);
    vec![Step::Send(head), Step::Send(most.to_vec()), Step::Drip(rest[..1].to_vec())]
}

/// The most that a client ever held, sampled all the time.
fn highest(client: &Client) -> Arc<AtomicU64> {
    let most = Arc::new(AtomicU64::new(0));
    let (client, seen) = (client.clone(), Arc::downgrade(&most));
    tokio::spawn(async move {
        while let Some(seen) = seen.upgrade() {
            seen.fetch_max(client.held_bytes(), Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    most
}

#[tokio::test]
async fn a_hundred_dripping_bodies_hold_no_more_than_the_bound_and_a_healthy_page_gets_through() {
    let packed = gzip(&content(3 << 19));
    let page = gzip(&content(200_000));
    let script = move |seen: &Seen| match seen.path.as_str() {
        "/page" => answer("200 OK", &["Content-Encoding: gzip"], &page),
        _ => dripping(&packed),
    };
    let origin = Origin::start(script).await;
    let client = local_client(|settings| {
        settings.memory = 8 * MIB;
        settings.sizes.decoded = 2 * MIB;
        settings.timeouts.idle = Duration::from_secs(1);
        settings.pool.idle_per_host = 0;
    });
    let most = highest(&client);
    let mut drips = JoinSet::new();
    for n in 0..100 {
        let (client, request) = (client.clone(), request(&origin, &format!("/drip{n}")));
        drips.spawn(async move { client.fetch(request).await });
    }
    // Until they have taken all that they are given.
    until_held(&client, 5 * MIB).await;
    for _ in 0..3 {
        let fetched = client.fetch(request(&origin, "/page")).await.unwrap();
        assert_eq!(fetched.body.len(), 200_000);
    }
    let first = drips.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(matches!(first, Error::CrowdsOut { .. }), "{first}");
    // The page is to blame, not its host.
    assert_eq!(first.fault(), Fault::Remote);
    assert_eq!(Outcome::of(&Err(first)), Outcome::Broken);
    let most = most.load(Ordering::Relaxed);
    assert!((5 * MIB..=8 * MIB).contains(&most), "{most}");
    // A body that was given up holds nothing any more.
    drips.shutdown().await;
    assert_eq!(client.held_bytes(), 0);
}

/// Waits until bodies take at least so much.
async fn until_held(client: &Client, bytes: u64) {
    let filling = async {
        while client.held_bytes() < bytes {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), filling).await.expect("bodies take what they are given");
}

#[tokio::test]
async fn healthy_bodies_that_need_more_than_the_bound_together_wait_for_each_other_and_all_arrive() {
    let packed = gzip(&content(1 << 20));
    let origin = Origin::start(move |_| answer("200 OK", &["Content-Encoding: gzip"], &packed)).await;
    let client = local_client(|settings| {
        settings.memory = 4 * MIB;
        settings.sizes.decoded = 3 * MIB / 2;
        // No body is given up in this test, however slow the machine.
        settings.timeouts.idle = Duration::from_mins(20);
        settings.timeouts.total = Duration::from_mins(10);
    });
    let most = highest(&client);
    let mut fetches = JoinSet::new();
    for n in 0..64 {
        let (client, request) = (client.clone(), request(&origin, &format!("/{n}")));
        fetches.spawn(async move { client.fetch(request).await.unwrap().body.len() });
    }
    while let Some(length) = fetches.join_next().await {
        assert_eq!(length.unwrap(), 1 << 20);
    }
    assert!(most.load(Ordering::Relaxed) <= 4 * MIB);
    assert_eq!(client.held_bytes(), 0);
}

#[tokio::test]
async fn a_body_counts_until_its_last_reader_lets_go_of_it() {
    let origin = Origin::start(|_| answer("200 OK", &[], &content(100_000))).await;
    let client = local_client(|_| ());
    let Fetched { body, .. } = client.fetch(request(&origin, "/")).await.unwrap();
    assert_eq!(client.held_bytes(), 100_001, "the content, and a byte to see its end");
    let part = body.slice(10..20);
    drop(body);
    assert_eq!(client.held_bytes(), 100_001, "a part keeps the whole");
    drop(part);
    assert_eq!(client.held_bytes(), 0);
}

#[tokio::test]
async fn an_abandoned_fetch_and_a_broken_one_hold_nothing() {
    let packed = gzip(&content(400_000));
    let script = move |seen: &Seen| match seen.path.as_str() {
        "/broken" => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nshort".to_vec();
            vec![Step::Send(head), Step::Close]
        }
        _ => dripping(&packed),
    };
    let origin = Origin::start(script).await;
    let client = local_client(|_| ());
    client.fetch(request(&origin, "/broken")).await.unwrap_err();
    assert_eq!(client.held_bytes(), 0);
    let (fetching, url) = (client.clone(), request(&origin, "/drip"));
    let fetch = tokio::spawn(async move { fetching.fetch(url).await });
    until_held(&client, 200_000).await;
    fetch.abort();
    assert!(fetch.await.unwrap_err().is_cancelled());
    assert_eq!(client.held_bytes(), 0);
}

#[tokio::test]
async fn a_fetch_that_finds_no_room_in_time_is_our_fault_and_one_too_large_for_all_of_it_is_not() {
    let script = |seen: &Seen| match seen.path.as_str() {
        "/large" => answer("200 OK", &[], &vec![b'x'; 2 << 20]),
        _ => answer("200 OK", &[], &vec![b'x'; 700_000]),
    };
    let origin = Origin::start(script).await;
    let client = local_client(|settings| {
        settings.memory = MIB;
        settings.timeouts.total = Duration::from_secs(2);
    });
    let error = client.fetch(request(&origin, "/large")).await.unwrap_err();
    assert!(matches!(error, Error::BodyTooLarge { stage: Stage::Held, limit: MIB, .. }), "{error}");
    assert_eq!(error.fault(), Fault::Remote);
    let held = client.fetch(request(&origin, "/page")).await.unwrap();
    let error = client.fetch(request(&origin, "/page")).await.unwrap_err();
    assert!(matches!(error, Error::NoRoom { limit: MIB, .. }), "{error}");
    assert_eq!(error.fault(), Fault::Ours);
    assert!(error.to_string().contains("limits.memory"), "{error}");
    drop(held);
    client.fetch(request(&origin, "/page")).await.unwrap();
}

#[test]
fn a_bound_with_which_nothing_could_be_fetched_is_refused() {
    let mut settings = dunlin_net::Settings::default();
    settings.memory = 1_000;
    let error = Client::with_resolver(settings, Arc::new(crate::names::Names::new())).unwrap_err();
    assert!(error.to_string().contains("limits.memory"), "{error}");
}
