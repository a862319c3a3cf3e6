//! What is begun beyond what may be fetched at one time: it waits for its turn, and a budget is spent all the same.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::simulated::Simulation;
use dunlin_engine::{Engine, Pace, RobotsRule, Scope, Settings};
use dunlin_net::Guard;
use dunlin_store::NewSource;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::fixtures::{page, settings, test_store};
use crate::live::until;
use crate::web::{Kind, Web, at};

#[tokio::test]
async fn as_many_requests_are_open_as_the_settings_say_though_more_is_under_way() {
    let test_store = test_store();
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let mut settings = Settings {
        chronon: Duration::from_millis(20),
        budget: Pace { per_second: 1_000.0 },
        in_flight: 3,
        robots: RobotsRule::Ignore,
        ..Settings::default()
    };
    settings.politeness.scope = Scope::Url;
    settings.network.guard = Guard::public_internet().allowing_network("127.0.0.0/8".parse().unwrap());
    let engine = Engine::start(test_store.store.clone(), settings).await.unwrap();
    let handle = engine.handle();
    for n in 0..40 {
        let source = NewSource::page(format!("http://{address}/{n}"), Time::from_seconds(0));
        handle.add_source(source).await.unwrap();
    }
    // Three requests, and a chronon's worth of twenty.
    until("a full queue", || handle.stats().in_flight >= 23).await;
    assert_eq!(handle.budget().await.max_in_flight, 23);
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(server.accept().await.unwrap().0);
    }
    let fourth = tokio::time::timeout(Duration::from_millis(200), server.accept()).await;
    assert!(fourth.is_err(), "a fourth request");
    for mut stream in open {
        stream.read_u8().await.unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await.unwrap();
    }
    server.accept().await.expect("the next in line");
    drop(server);
    until("the others' turn", || handle.stats().failed_remote >= 10).await;
    engine.stop().await.unwrap();
}

#[test]
fn a_budget_of_more_than_is_fetched_at_one_time_is_spent() {
    let test_store = test_store();
    let mut web = Web::default();
    let urls: Vec<String> = (0..400).map(|n| format!("http://h{n}.example/page")).collect();
    for url in &urls {
        web.put(url, Kind::Page, &[]);
    }
    let mut settings = settings();
    settings.robots = RobotsRule::Ignore;
    settings.in_flight = 1;
    // Five in each chronon of ten seconds.
    settings.budget.per_second = 0.5;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    for url in &urls {
        run.add_source(page(url)).unwrap();
    }
    run.run_until(at(3_600));
    let n_probes = run.world().probes().count();
    assert!((1_780..=1_810).contains(&n_probes), "{n_probes} of 1800");
}
