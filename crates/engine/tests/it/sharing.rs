//! Sources that want something of the same resource: one request serves all of them, and each gets the result.

use std::time::Duration;

use dunlin_core::Fault;
use dunlin_engine::capture::{Failure, FollowUp, ProbeOutcome, ProbeTask, SourceEnd, SourceResult};
use dunlin_engine::control::SiteHop;
use dunlin_engine::memory::ProbeNote;
use dunlin_engine::{Engine, RobotsRule, Settings};
use dunlin_net::RetryAfter;
use dunlin_net::politeness::Outcome as PolitenessOutcome;
use dunlin_sched::model::Evidence;
use dunlin_store::{Capture, Health, NewSource, Outcome, ProbeId, SourceId};

use crate::driver::{ControlDriver, stored};
use crate::fixtures::{n_changes, state, summaries, test_store};
use crate::live::{Server, hasty, page, until, until_well};
use crate::web::at;

fn selecting(url: String, css: &str) -> NewSource {
    let recipe = format!(r#"{{"recipe":{{"kind":"html_selector","css":"{css}"}}}}"#);
    NewSource { recipe, ..page(url) }
}

/// Probes happen when they are asked for.
fn on_demand() -> Settings {
    Settings { shortest_gap: Duration::from_hours(9), longest_gap: Duration::from_hours(9), ..hasty() }
}

fn end(probe: ProbeId, id: i64, outcome: ProbeOutcome) -> SourceEnd {
    let health = match &outcome {
        ProbeOutcome::Observed { .. } => Some((Health::Well, String::new())),
        ProbeOutcome::Failed(failure) => failure.health(),
    };
    let capture = Capture::bare(SourceId(id), probe, at(1), Outcome::Unchanged);
    SourceResult {
        capture,
        outcome,
        note: ProbeNote::default(),
        is_noted: false,
        suppressed: Vec::new(),
        health,
        seen: Vec::new(),
        news: None,
    }
    .into()
}

const fn observed() -> ProbeOutcome {
    ProbeOutcome::Observed { evidence: Evidence::Unchanged, follow_up: FollowUp::None }
}

#[test]
fn a_probe_ends_when_the_captures_of_all_its_sources_are_written() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    (1..=3).for_each(|id| driver.join_resource(0, id, 7, "http://a.test/1"));
    driver.join_resource(0, 4, 8, "http://b.test/1");
    assert_eq!(driver.tick(0), ["probe 1+2+3", "probe 4"]);
    driver.seen(0, 4);
    driver.captures.clear();
    let probe = driver.probe_of(1);
    let unreadable = Failure::new(Fault::User, "its selector takes too long");
    let ends = vec![
        end(probe, 1, observed()),
        end(probe, 2, ProbeOutcome::Failed(unreadable)),
        end(probe, 3, observed()),
    ];
    driver.is_store_slow = true;
    let asks_to_wait = RetryAfter::Delay(Duration::from_mins(1));
    driver.ended(1, probe, PolitenessOutcome::Limited { retry_after: Some(asks_to_wait) }, ends);
    let captures = std::mem::take(&mut driver.captures);
    assert_eq!(captures.iter().map(|capture| capture.source.0).collect::<Vec<_>>(), [1, 2, 3]);
    let n_with_politeness = captures.iter().filter(|capture| !capture.politeness.is_empty()).count();
    assert_eq!(n_with_politeness, 1, "what is known of the host is stored once");
    driver.happen(2, stored(&captures[0]));
    driver.happen(2, stored(&captures[2]));
    assert_eq!(driver.control.n_active(), 1, "one of three is not written yet");
    driver.happen(3, stored(&captures[1]));
    assert_eq!(driver.control.n_active(), 0);
    assert_eq!(driver.control.stats().probes, 2, "two requests");
}

#[test]
fn a_source_that_comes_during_a_probe_has_one_of_its_own() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.join_resource(0, 1, 7, "http://a.test/1");
    assert_eq!(driver.tick(0), ["probe 1"]);
    driver.join_resource(1, 2, 7, "http://a.test/1");
    driver.seen(2, 1);
    assert_eq!(driver.next(3), (12, "probe 1+2".to_owned()), "the new one has seen nothing yet");
}

#[test]
fn a_source_that_leaves_during_a_probe_takes_nothing_from_the_others() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    (1..=2).for_each(|id| driver.join_resource(0, id, 7, "http://a.test/1"));
    assert_eq!(driver.tick(0), ["probe 1+2"]);
    let probe = driver.probe_of(1);
    driver.happen(1, dunlin_engine::control::Event::Removed(SourceId(1)));
    driver.ended(
        2,
        probe,
        PolitenessOutcome::Fine,
        vec![end(probe, 1, observed()), end(probe, 2, observed())],
    );
    assert_eq!(driver.captures.iter().map(|capture| capture.source.0).collect::<Vec<_>>(), [2]);
    assert_eq!(driver.control.n_active(), 0);
    assert_eq!(driver.next(3).1, "probe 2");
}

#[test]
fn a_failed_fetch_is_one_failure_however_many_sources_it_had() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    (1..=5).for_each(|id| driver.join_resource(0, id, 7, "http://a.test/1"));
    driver.tick(0);
    let probe = driver.probe_of(1);
    let ours = || ProbeOutcome::Failed(Failure::new(Fault::Ours, "no route to host"));
    driver.ended(
        1,
        probe,
        PolitenessOutcome::LocalFailure,
        (1..=5).map(|id| end(probe, id, ours())).collect(),
    );
    assert_eq!(driver.control.stats().failed_ours, 1);
    assert_eq!(driver.control.health().network_trouble, None, "one failure is not yet the network's");
    assert_eq!(driver.captures.len(), 5, "each source knows of it");
}

#[test]
fn what_a_fetcher_gets_can_be_sent_to_another_process() {
    const ROBOTS: &str = "http://a.test/robots.txt";
    let mut driver = ControlDriver::new(|_| ());
    (1..=2).for_each(|id| driver.join_resource(0, id, 7, "http://a.test/1?q=ä"));
    assert_eq!(driver.tick(0), [format!("robots {ROBOTS}")]);
    driver.robots(1, ROBOTS, 200, "User-agent: *\nDisallow: /private");
    assert_eq!(driver.next(2).1, "probe 1+2");
    driver.join(20, 3, "http://b.test/");
    driver.tick(20);
    driver.robots(21, "http://b.test/robots.txt", 404, "");
    driver.redirected(22, 1, "http://a.test/1?q=ä", "http://b.test/elsewhere");
    driver.ticks(23, 60);
    assert!(driver.probe_commands.len() >= 2, "the first hop and the second");
    assert!(driver.probe_commands.iter().any(|(_, hop)| hop.redirect.is_some()));
    assert!(driver.probe_commands[0].1.rules.is_some());
    for (task, hop) in &driver.probe_commands {
        let sent = serde_json::to_vec(&(task, hop)).unwrap();
        let received: (ProbeTask, SiteHop) = serde_json::from_slice(&sent).unwrap();
        assert_eq!((&received.0, &received.1), (task, hop));
    }
}

#[tokio::test]
async fn two_sources_of_one_page_cost_one_request_and_both_get_the_result() {
    let (test_store, server) = (test_store(), Server::start().await);
    server.put("/one", "200 OK\r\nETag: \"1\"", "<h1>Old head</h1><p>Old text</p>");
    let engine = Engine::start(test_store.store.clone(), on_demand()).await.unwrap();
    let handle = engine.handle();
    let head = handle.add_source(selecting(server.url("/one"), "h1")).await.unwrap().id;
    until_well(&test_store, head).await;
    let text = handle.add_source(selecting(server.url("/one#text"), "p")).await.unwrap().id;
    until_well(&test_store, text).await;
    let asked = server.last_head();
    assert!(!asked.contains("if-none-match"), "one of the two has not read the page yet: {asked}");
    let with_header =
        format!(r#"{{"headers":{{"X-Edition":"2"}},{}"#, &selecting(String::new(), "p").recipe[1..]);
    let other = NewSource { recipe: with_header, ..page(server.url("/one")) };
    let other = handle.add_source(other).await.unwrap().id;
    until_well(&test_store, other).await;
    assert_eq!(server.n_asked("/one"), 3, "each is new once");

    // One request for the first two; the third has a header of its own.
    server.put("/one", "200 OK\r\nETag: \"2\"", "<h1>New head</h1><p>New text</p>");
    handle.probe_now(head).await.unwrap();
    until("both reported", || n_changes(&*test_store.store) == 2).await;
    assert_eq!(summaries(&*test_store.store, head), ["Old head → New head"]);
    assert_eq!(summaries(&*test_store.store, text), ["Old text → New text"]);
    assert_eq!(summaries(&*test_store.store, other), Vec::<String>::new());

    // "Not changed" holds for both, and the request had what the server recognises the page by.
    server.put("/one", "304 Not Modified", "");
    let probed_at = |source| {
        let handle = handle.clone();
        async move { handle.explain(source).await.unwrap().last_probe }
    };
    let before = (probed_at(head).await, probed_at(text).await);
    let n_before = server.n_asked("/one");
    handle.probe_now(text).await.unwrap();
    until("a conditional request", || server.n_asked("/one") > n_before).await;
    let both_probed = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while probed_at(head).await <= before.0 || probed_at(text).await <= before.1 {
            ticks.tick().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), both_probed).await;
    assert!(in_time.is_ok(), "the answer counts for one of them only");
    engine.stop().await.unwrap();
    assert!(server.last_head().contains("if-none-match: \"2\""));
    // A line that was chosen by itself is told whatever it is: no probe in between had to show whether it flickers.
    assert_eq!((n_changes(&*test_store.store), server.n_asked("/one")), (2, 5));
    assert_eq!(state(&*test_store.store, other).0, Health::Well);
}
