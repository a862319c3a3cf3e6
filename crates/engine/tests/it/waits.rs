//! How long sources wait, and what is counted once, event by event.

use std::time::Duration;

use dunlin_core::Fault;
use dunlin_engine::RobotsRule;
use dunlin_engine::control::Event;
use dunlin_engine::source_config::{Activity, SourceConfig, WatchedSource};
use dunlin_net::politeness::Outcome as PolitenessOutcome;
use dunlin_store::{
    Cursor, Health, ObservationId, Outcome, Recorded, Repeated, ResourceId, SourceId, SourceState,
};

use crate::control::{ROBOTS, begun};
use crate::driver::ControlDriver;
use crate::web::at;

#[test]
fn a_page_that_stays_gone_is_tried_ever_less_often_up_to_its_longest_gap() {
    let mut driver = begun(|settings| settings.longest_gap = Duration::from_mins(150));
    let mut now = 21;
    for pause in [3_600, 7_200, 9_000, 9_000] {
        driver.failed(now, 1, Fault::User, PolitenessOutcome::Fine);
        assert_eq!(driver.next(now + 1), (now + pause, "probe 1".to_owned()));
        now += pause;
    }
}

#[test]
fn a_robots_txt_that_could_not_be_read_is_no_failure_of_the_page() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.robots(1, ROBOTS, 503, "");
    let (again, asked) = driver.next(2);
    assert_eq!(asked, format!("robots {ROBOTS}"));
    driver.robots(again + 1, ROBOTS, 503, "");
    let (again, _) = driver.next(again + 2);
    driver.robots(again + 1, ROBOTS, 404, "");
    let (now, asked) = driver.next(again + 2);
    assert_eq!(asked, "probe 1");
    driver.failed(now, 1, Fault::Remote, PolitenessOutcome::Abandoned);
    assert_eq!(driver.next(now + 1), (now + 30, "probe 1".to_owned()), "its first failure");
}

#[test]
fn a_source_that_waits_after_a_failure_waits_for_the_same_time_when_the_clock_is_set_back() {
    let mut driver = begun(|settings| settings.longest_gap = Duration::from_hours(24));
    driver.ticks(21, 5_000);
    driver.failed(5_001, 1, Fault::User, PolitenessOutcome::Fine);
    // An hour back: what was an hour ahead still is.
    let (next, asked) = driver.next(1_401);
    assert!((5_001..=5_011).contains(&next) && asked == "probe 1", "{asked} at {next}");
}

#[test]
fn a_capture_of_a_source_that_was_removed_meanwhile_is_no_loss() {
    let mut driver = begun(|_| ());
    driver.is_store_slow = true;
    driver.seen(21, 1);
    let (probe, source) = (driver.probe(1), SourceId(1));
    let result = Err(dunlin_store::Error::NoSuchSource(source));
    driver.happen(22, Event::Written { probe, source, result });
    let stats = driver.control.stats();
    assert_eq!((stats.lost_captures, stats.in_flight), (0, 0));
}

#[test]
fn a_capture_that_was_stored_before_is_counted_once() {
    let mut driver = begun(|_| ());
    driver.is_store_slow = true;
    driver.seen(21, 1);
    let recorded = Recorded {
        observation: ObservationId(1),
        version: None,
        cursors: Some((Cursor(4), Cursor(6))),
        last_result: None,
        repeated: Repeated::Yes,
    };
    let (probe, source) = (driver.probe(1), SourceId(1));
    driver.happen(22, Event::Written { probe, source, result: Ok(recorded.clone()) });
    assert_eq!((driver.control.stats().captures, driver.control.stats().changes), (0, 0));
    let recorded = Recorded { repeated: Repeated::No, ..recorded };
    driver.happen(23, Event::Written { probe, source, result: Ok(recorded) });
    assert_eq!((driver.control.stats().captures, driver.control.stats().changes), (1, 3));
}

#[test]
fn signs_of_life_may_be_ten_decisions_and_half_a_minute_old() {
    let mut driver = ControlDriver::new(|_| ());
    assert!(!driver.control.health().is_alive(at(0)), "before the first decision");
    driver.tick(100);
    let health = driver.control.health();
    assert_eq!(health.patience, Duration::from_secs(40));
    assert!(health.is_alive(at(140)) && !health.is_alive(at(141)));
    assert!(health.is_well(at(140)));
    driver.happen(141, Event::StoreTrouble(Some("disk full".to_owned())));
    assert!(driver.control.health().is_alive(at(140)) && !driver.control.health().is_well(at(140)));
}

/// The new configuration was read from the store before the probe under way ended.
#[test]
fn an_edit_during_a_probe_does_not_forget_how_the_source_fares_after_it() {
    let mut driver = begun(|_| ());
    driver.join(20, 1, "http://a.test/1");
    driver.failed(21, 1, Fault::Remote, PolitenessOutcome::Abandoned);
    assert_eq!(driver.captures.last().unwrap().state.as_ref().unwrap().since, at(21));
    let (again, _) = driver.next(22);
    driver.failed(again, 1, Fault::Remote, PolitenessOutcome::Abandoned);
    assert_eq!(driver.captures.last().unwrap().state, None, "it fares as before");
    assert_eq!(driver.next(again + 1).0, again + 60, "it is its second failure");
}

#[test]
fn a_page_that_failed_by_itself_is_not_reached_through_others() {
    let mut driver = ControlDriver::new(|settings| {
        settings.robots = RobotsRule::Ignore;
        settings.politeness.gap = Duration::ZERO;
    });
    driver.join(0, 1, "http://a.test/");
    driver.join(0, 2, "http://b.test/page");
    assert_eq!(driver.tick(0).len(), 2);
    driver.failed(1, 2, Fault::Remote, PolitenessOutcome::Broken);
    assert!(driver.redirected(2, 1, "http://a.test/", "http://b.test/page").is_empty());
    let Outcome::Failed { fault, reason } = &driver.captures.last().unwrap().outcome else { panic!() };
    assert_eq!(*fault, Fault::Remote);
    assert_eq!(reason, "it redirects to http://b.test/page: that page has failed before");
}

/// As after a start with a clock that was ahead before.
#[test]
fn a_last_probe_that_is_still_to_come_counts_as_made_now() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    let watched = WatchedSource { last_probe: Some(at(50_000)), ..driver.watched("http://a.test/") };
    let state = SourceState { health: Health::Well, reason: String::new(), since: at(0), announced: None };
    let (id, resource) = (SourceId(1), ResourceId(1));
    let config = SourceConfig { id, resource, state, activity: Activity::Watch(Box::new(watched)) };
    driver.happen(100, Event::Configured(vec![config]));
    let (next, asked) = driver.next(101);
    assert!(asked == "probe 1" && (120..=150).contains(&next), "{asked} at {next}: it is due as any other");
}
