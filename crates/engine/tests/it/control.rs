//! What control decides, event by event, without a web and without a store.

use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_engine::capture::{Failure, ProbeOutcome};
use dunlin_engine::control::Event;
use dunlin_engine::source_config::{Activity, SourceConfig, WatchedSource};
use dunlin_engine::{RobotsRule, Settings};
use dunlin_net::politeness::{Outcome as PolitenessOutcome, Scope};
use dunlin_net::{Error as NetError, RetryAfter};
use dunlin_sched::model::Model;
use dunlin_sched::value::{Life, Urgency, ValueModel};
use dunlin_store::{
    CeiId, CeiState, Health, NewInterval, Outcome, ResourceId, SourceId, SourceState, StoredCei,
    StoredInterval,
};
use url::Url;

use crate::driver::ControlDriver;
use crate::web::at;

fn trouble(reason: &str) -> Event {
    Event::StoreTrouble(Some(reason.to_owned()))
}

fn wait(seconds: u64) -> PolitenessOutcome {
    PolitenessOutcome::Limited { retry_after: Some(RetryAfter::Delay(Duration::from_secs(seconds))) }
}

pub(crate) const ROBOTS: &str = "http://a.test/robots.txt";

/// A source whose robots.txt is known, and that has just been asked for the first time, at 20.
pub(crate) fn begun(change: impl FnOnce(&mut Settings)) -> ControlDriver {
    let mut driver = ControlDriver::new(change);
    driver.join(0, 1, "http://a.test/1");
    assert_eq!(driver.tick(0), [format!("robots {ROBOTS}")]);
    driver.robots(1, ROBOTS, 404, "");
    assert_eq!(driver.ticks(1, 20), [(11, "probe 1".to_owned())], "after the gap");
    driver
}

#[test]
fn after_a_restart_a_site_is_not_asked_for_its_robots_txt_before_the_gap() {
    let mut driver = ControlDriver::new(|_| ());
    driver.control.resume(at(0));
    driver.join(0, 1, "http://a.test/1");
    assert_eq!(driver.ticks(0, 20), [(10, format!("robots {ROBOTS}"))]);
}

#[test]
fn after_a_restart_a_host_is_not_chosen_in_vain_before_the_gap() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.control.resume(at(0));
    driver.join(0, 1, "http://a.test/1");
    assert_eq!(driver.ticks(0, 20), [(10, "probe 1".to_owned())]);
    assert_eq!(driver.control.stats().returned, 1);
}

#[test]
fn nothing_is_asked_for_any_more_once_the_service_stops() {
    let mut driver = ControlDriver::new(|settings| {
        settings.robots = RobotsRule::Ignore;
        settings.politeness.gap = Duration::ZERO;
    });
    (1..=3).for_each(|id| driver.join(0, id, &format!("http://a.test/{id}")));
    assert_eq!(driver.tick(0), ["probe 1"]);
    assert_eq!(driver.seen(1, 1), ["probe 2"], "without a gap, the next one follows at once");
    driver.happen(1, Event::Stopping);
    assert_eq!(driver.seen(2, 2), [""; 0]);
    assert_eq!((driver.ticks(2, 100), driver.control.n_active()), (Vec::new(), 0));
}

#[test]
fn a_probe_that_waits_for_robots_txt_is_given_back_when_the_service_stops() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    assert_eq!(driver.tick(0), [format!("robots {ROBOTS}")]);
    driver.happen(1, Event::Stopping);
    assert_eq!(driver.robots(2, ROBOTS, 404, ""), [""; 0]);
    assert_eq!(driver.control.n_active(), 0, "a service that stops waits for those that are under way");
}

#[test]
fn a_probe_that_waited_is_not_made_while_the_store_takes_nothing() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.robots(1, ROBOTS, 404, "");
    driver.happen(2, trouble("the disk is full"));
    assert_eq!(driver.ticks(2, 60), []);
    assert_eq!(driver.control.n_active(), 0, "it was given back");
    driver.happen(61, Event::StoreTrouble(None));
    assert_eq!(driver.ticks(61, 62), [(61, "probe 1".to_owned())]);
    assert_eq!(driver.control.health().store_trouble, None);
}

#[test]
fn a_probe_that_would_wait_long_for_its_host_is_given_back() {
    for (seconds, is_given_back) in [(240, false), (3_600, true)] {
        let mut driver = begun(|settings| settings.politeness.concurrent = 2);
        let other = "http://a.test:8080/robots.txt";
        driver.join(21, 2, "http://a.test:8080/2");
        assert_eq!(driver.tick(21), [format!("robots {other}")]);
        driver.robots(22, other, 404, "");
        driver.failed(23, 1, Fault::Remote, wait(seconds));
        assert_eq!(driver.ticks(24, 60), []);
        assert_eq!(driver.control.n_active(), usize::from(!is_given_back), "{seconds}");
    }
}

#[test]
fn with_several_at_a_time_no_probe_is_chosen_in_vain_within_the_gap() {
    let mut driver = ControlDriver::new(|settings| settings.politeness.concurrent = 2);
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.robots(1, ROBOTS, 404, "");
    assert_eq!(driver.next(1), (11, "probe 1".to_owned()));
    driver.join(12, 2, "http://a.test/2");
    assert_eq!(driver.next(12), (21, "probe 2".to_owned()));
    assert_eq!(driver.control.stats().returned, 0);
}

#[test]
fn a_redirected_probe_is_returned_while_the_store_takes_nothing() {
    let mut driver = begun(|_| ());
    driver.happen(21, trouble("the disk is full"));
    assert_eq!(driver.redirected(22, 1, "http://a.test/1", "http://b.test/"), Vec::<String>::new());
    assert_eq!(driver.control.n_active(), 0);
    driver.happen(23, Event::StoreTrouble(None));
    assert_eq!(driver.ticks(23, 40), [(32, "probe 1".to_owned())], "after the gap");
    assert_eq!(driver.control.stats().returned, 1, "and not chosen too early before");
}

#[test]
fn a_probe_whose_connection_was_closed_is_sent_again_on_a_new_one_after_the_gap() {
    let mut driver = begun(|_| ());
    let probe = driver.probe(1);
    assert_eq!(driver.happen(21, Event::ConnectionClosed { probe }), Vec::<String>::new());
    assert_eq!(driver.ticks(21, 40), [(31, "probe 1 anew".to_owned())]);
    assert_eq!(driver.control.stats().probes, 1, "it is one probe");
}

#[test]
fn a_redirected_probe_waits_minutes_for_that_host_and_not_hours() {
    for (seconds, is_waited_for) in [(240, true), (3_600, false)] {
        // Once with that site's robots.txt known, once without.
        for is_known in [true, false] {
            let mut driver = begun(|_| ());
            let robots = "http://b.test/robots.txt";
            driver.join(21, 2, "http://b.test/2");
            assert_eq!(driver.tick(21), [format!("robots {robots}")]);
            driver.robots(22, robots, 404, "");
            assert_eq!(driver.ticks(23, 40), [(32, "probe 2".to_owned())]);
            driver.failed(41, 2, Fault::Remote, wait(seconds));
            let to = if is_known { "http://b.test/" } else { "http://b.test:8080/" };
            assert_eq!(driver.redirected(42, 1, "http://a.test/1", to), Vec::<String>::new());
            assert_eq!(driver.control.n_active(), usize::from(is_waited_for), "{seconds} {is_known}");
            let asked = driver.ticks(43, 300);
            let goes_on = if is_known {
                "probe 1 on".to_owned()
            } else {
                "robots http://b.test:8080/robots.txt".to_owned()
            };
            assert_eq!(asked.contains(&(281, goes_on)), is_waited_for, "{asked:?}");
            if !is_waited_for {
                let failed = driver.captures.last().unwrap();
                assert!(
                    matches!(&failed.outcome, Outcome::Failed { fault: Fault::Remote, reason }
                    if reason == &format!("it redirects to {to}: that host may not receive requests now")),
                    "{failed:?}"
                );
            }
        }
    }
}

#[test]
fn three_failures_of_our_own_in_a_row_make_one_attempt_at_a_time_until_one_works() {
    let ours = || PolitenessOutcome::LocalFailure;
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    for id in 1..=9 {
        driver.join(0, id, &format!("http://h{id}.test/"));
    }
    assert_eq!(driver.tick(0).len(), 9);
    for id in 1..=2 {
        driver.failed(1, id, Fault::Ours, ours());
    }
    assert_eq!(driver.control.health().network_trouble, None);
    driver.join(1, 10, "http://h10.test/");
    assert_eq!(driver.tick(2), ["probe 10"], "two may be chance");
    driver.failed(3, 3, Fault::Ours, ours());
    assert_eq!(driver.control.health().network_trouble.as_deref(), Some("it fails"));
    for id in 11..=13 {
        driver.join(3, id, &format!("http://h{id}.test/"));
    }
    assert_eq!(driver.ticks(3, 7), [], "for five seconds nothing");
    assert_eq!(driver.tick(8), ["probe 11"], "then one");
    driver.failed(9, 11, Fault::Ours, ours());
    assert_eq!(driver.ticks(9, 18), [], "for ten seconds nothing");
    assert_eq!(driver.tick(19), ["probe 12"]);
    driver.seen(20, 12);
    assert_eq!(driver.control.health().network_trouble, None);
    let asked = driver.tick(21);
    assert!(asked.contains(&"probe 13".to_owned()), "{asked:?}");
    driver.join(21, 14, "http://h14.test/");
    driver.join(21, 15, "http://h15.test/");
    assert_eq!(driver.tick(22), ["probe 14", "probe 15"], "all of it is forgotten");
}

#[test]
fn a_network_that_stays_down_is_tried_once_a_minute() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    for id in 1..=40 {
        driver.join(0, id, &format!("http://h{id}.test/"));
    }
    let mut times = Vec::new();
    for second in 0..1_000 {
        for asked in driver.tick(second) {
            let id: i64 = asked.strip_prefix("probe ").unwrap().parse().unwrap();
            times.push(second);
            driver.failed(second, id, Fault::Ours, PolitenessOutcome::LocalFailure);
        }
    }
    let later: Vec<i64> =
        times.windows(2).map(|pair| pair[1] - pair[0]).skip_while(|pause| *pause < 60).collect();
    assert!(later.len() >= 5 && later.iter().all(|pause| *pause == 60), "{times:?}");
}

#[test]
fn when_the_clock_is_set_back_a_probe_that_waits_does_not_wait_for_the_old_time() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.join(0, 1, "http://a.test/1");
    assert_eq!(driver.tick(0), ["probe 1"]);
    let probe = driver.probe(1);
    driver.happen(1, Event::ConnectionClosed { probe });
    assert_eq!(driver.next(-1_000), (-990, "probe 1 anew".to_owned()));
}

#[test]
fn needs_outlive_a_clock_that_is_set_back() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.join(0, 1, "http://a.test/1");
    let interval = NewInterval { source: SourceId(1), start: at(100), finish: at(9_000) };
    let cei = StoredCei {
        id: CeiId(1),
        need: 1,
        weight: 5.0,
        state: CeiState::Open,
        created: at(0),
        ended: None,
        intervals: vec![StoredInterval { interval, captured: None }],
    };
    driver.happen(1, Event::CeisAdded(vec![cei]));
    let mut times = Vec::new();
    for second in -1_000..5_000 {
        if !driver.tick(second).is_empty() {
            times.push(second);
            driver.seen(second, 1);
        }
    }
    assert!(times.iter().any(|second| *second >= 100), "{times:?}");
    assert_eq!((driver.control.stats().ceis_captured, driver.control.stats().ceis_open), (1, 0));
}

#[test]
fn a_page_that_is_gone_is_not_tried_before_an_hour_however_short_the_longest_gap() {
    let mut driver = begun(|_| ());
    driver.failed(21, 1, Fault::User, PolitenessOutcome::Fine);
    let asked = driver.ticks(22, 7_300);
    assert_eq!(asked, [(3_621, "probe 1".to_owned())]);
}

#[test]
fn a_source_waits_for_as_long_as_its_server_asks_and_not_only_for_its_own_pause() {
    let mut driver = begun(|_| ());
    driver.failed(21, 1, Fault::Remote, wait(500));
    assert_eq!(driver.next(22), (521, "probe 1".to_owned()));
    // A failure by itself: 30 seconds, a minute, two.
    let mut now = 522;
    for pause in [60, 120, 240] {
        driver.failed(now, 1, Fault::Remote, PolitenessOutcome::Abandoned);
        assert_eq!(driver.next(now + 1), (now + pause, "probe 1".to_owned()));
        now += pause;
    }
    // One that works ends the series.
    driver.seen(now, 1);
    let (next, _) = driver.next(now + 1);
    driver.failed(next, 1, Fault::Remote, PolitenessOutcome::Abandoned);
    assert_eq!(driver.next(next + 1), (next + 30, "probe 1".to_owned()));
}

#[test]
fn failures_of_our_own_do_not_lengthen_the_pause() {
    let mut driver = begun(|_| ());
    let mut now = 21;
    for _ in 0..5 {
        driver.failed(now, 1, Fault::Ours, PolitenessOutcome::Abandoned);
        let (next, _) = driver.next(now + 1);
        // After a few of them in a row the network is given a rest of its own, of a minute at most.
        assert!((30..=60).contains(&(next - now)), "{}", next - now);
        now = next;
    }
}

#[test]
fn failures_of_our_own_do_not_lengthen_the_pause_after_one_of_the_page() {
    let mut driver = begun(|settings| settings.longest_gap = Duration::from_hours(24));
    let mut now = 21;
    for _ in 0..2 {
        driver.failed(now, 1, Fault::Ours, PolitenessOutcome::Abandoned);
        (now, _) = driver.next(now + 1);
    }
    driver.failed(now, 1, Fault::User, PolitenessOutcome::Fine);
    assert_eq!(driver.next(now + 1), (now + 3_600, "probe 1".to_owned()));
}

#[test]
fn a_probe_that_was_dropped_is_made_again_after_a_pause_that_doubles() {
    let mut driver = begun(|_| ());
    let mut now = 21;
    for pause in [30, 60, 120] {
        let probe = driver.probe(1);
        driver.happen(now, Event::Dropped { probe, reason: "the store could not be read".to_owned() });
        assert_eq!(driver.ticks(now + 1, now + pause), [(now + pause, "probe 1".to_owned())], "{pause}");
        now += pause;
    }
}

#[test]
fn a_probe_is_repeated_if_its_result_could_not_be_stored() {
    let mut driver = begun(|_| ());
    driver.is_store_slow = true;
    let mut now = 21;
    for pause in [30, 60, 120] {
        driver.seen(now, 1);
        assert_eq!(driver.ticks(now, now + 10), [], "it is under way until it is stored");
        let (probe, source) = (driver.probe(1), SourceId(1));
        now += 10;
        driver.happen(now, Event::Written { probe, source, result: Err(dunlin_store::Error::Full) });
        assert_eq!(driver.ticks(now + 1, now + pause), [(now + pause, "probe 1".to_owned())], "{pause}");
        now += pause;
    }
    assert_eq!(driver.control.stats().lost_captures, 3);
}

#[test]
fn a_state_counts_from_when_the_source_began_to_fare_so() {
    let mut driver = begun(|_| ());
    driver.failed(21, 1, Fault::Remote, PolitenessOutcome::Abandoned);
    assert_eq!(driver.captures.last().unwrap().state.as_ref().unwrap().since, at(21));
    let (next, _) = driver.next(22);
    driver.probed(
        next,
        1,
        PolitenessOutcome::Abandoned,
        ProbeOutcome::Failed(Failure::new(Fault::Remote, "otherwise")),
    );
    let state = driver.captures.last().unwrap().state.clone().unwrap();
    assert_eq!((state.since, state.reason.as_str()), (at(21), "otherwise"), "it still fails");
    let (next, _) = driver.next(next + 1);
    driver.seen(next, 1);
    let state = driver.captures.last().unwrap().state.clone().unwrap();
    assert_eq!((state.health, state.since), (Health::Well, at(next)));
}

#[test]
fn robots_rules_are_stored_unless_they_are_long_and_a_crawl_delay_is_kept() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.robots(1, ROBOTS, 200, "User-agent: *\nDisallow: /x\nCrawl-delay: 30\n");
    assert!(!driver.remembered["robots http://a.test"].is_empty());
    assert!(!driver.remembered["host a.test"].is_empty(), "its delay");
    assert_eq!(driver.ticks(1, 40), [(31, "probe 1".to_owned())]);

    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    let long: String = "Disallow: /a/page/with/a/long/name\n".repeat(5_000);
    driver.robots(1, ROBOTS, 200, &format!("User-agent: *\n{long}"));
    assert_eq!(driver.remembered["robots http://a.test"], Vec::<u8>::new(), "it is fetched again");
    assert_eq!(driver.ticks(1, 40), [(11, "probe 1".to_owned())]);
}

#[test]
fn a_robots_txt_that_fails_by_our_own_fault_counts_as_trouble_of_ours() {
    let mut driver = ControlDriver::new(|_| ());
    for id in 1..=3 {
        driver.join(0, id, &format!("http://h{id}.test/"));
    }
    assert_eq!(driver.tick(0).len(), 3);
    for id in 1..=3 {
        assert_eq!(driver.control.health().network_trouble, None);
        let url = Url::parse(&format!("http://h{id}.test/robots.txt")).unwrap();
        let reason = dunlin_net::ResolveError::Unreachable;
        let answer = Box::new(Err(NetError::Resolve { host: format!("h{id}.test"), reason }));
        driver.happen(1, Event::Robots { url, answer });
    }
    assert!(driver.control.health().network_trouble.is_some());
    // One that answers ends it.
    driver.join(1, 4, "http://h4.test/");
    assert_eq!(driver.ticks(2, 6), [(6, "robots http://h4.test/robots.txt".to_owned())]);
    driver.robots(7, "http://h4.test/robots.txt", 404, "");
    assert_eq!(driver.control.health().network_trouble, None);
}

#[test]
fn a_robots_txt_that_could_not_be_asked_for_holds_its_host_for_a_while() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.happen(1, Event::RobotsLost { url: Url::parse(ROBOTS).unwrap() });
    assert_eq!(driver.control.n_active(), 0);
    assert!(!driver.remembered["host a.test"].is_empty(), "also by the next process");
    let asked = driver.ticks(2, 60);
    assert_eq!(asked, [(31, format!("robots {ROBOTS}"))], "after a first pause");
}

#[test]
fn an_edit_while_a_probe_is_under_way_counts_when_it_has_ended() {
    let mut driver = begun(|_| ());
    driver.join(20, 1, "http://b.test/new");
    assert_eq!(driver.ticks(20, 30), [], "one at a time");
    driver.seen(31, 1);
    assert_eq!(driver.tick(32), ["robots http://b.test/robots.txt"]);
    // The same address again: what is known of it stays.
    let mut driver = begun(|_| ());
    driver.join(20, 1, "http://a.test/1");
    driver.failed(21, 1, Fault::User, PolitenessOutcome::Fine);
    assert_eq!(driver.ticks(22, 1_000), [], "it is still refused");
}

#[test]
fn a_requested_probe_waits_for_its_host_but_not_for_an_earlier_failure() {
    let mut driver = begun(|_| ());
    driver.failed(21, 1, Fault::User, PolitenessOutcome::Fine);
    assert_eq!(driver.ticks(22, 100), []);
    driver.control.request_probe(at(100), SourceId(1)).unwrap();
    assert_eq!(driver.ticks(101, 110), [(101, "probe 1".to_owned())]);
    driver.failed(111, 1, Fault::Remote, wait(300));
    driver.control.request_probe(at(112), SourceId(1)).unwrap();
    assert_eq!(driver.ticks(113, 420), [(411, "probe 1".to_owned())], "its host is another matter");
}

#[test]
fn a_stored_pause_that_a_clock_has_made_absurd_is_shortened() {
    let mut driver = ControlDriver::new(|settings| {
        settings.robots = RobotsRule::Ignore;
        settings.politeness.longest_wait = Duration::from_secs(100);
    });
    let watched = WatchedSource {
        url: Url::parse("http://a.test/").unwrap().into(),
        value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
        shortest_gap: Duration::from_secs(20),
        longest_gap: Duration::from_secs(40),
        is_for_queries: false,
        model: Model::new(driver.settings.prior),
        is_unnoted: false,
        last_probe: None,
        not_before: Some(Time::from_seconds(9_000_000_000)),
        failures: 3,
    };
    let state = SourceState { health: Health::Failing, reason: String::new(), since: at(0), announced: None };
    let config = SourceConfig {
        id: SourceId(1),
        resource: ResourceId(1),
        state,
        activity: Activity::Watch(Box::new(watched)),
    };
    driver.happen(0, Event::Configured(vec![config]));
    assert_eq!(driver.ticks(0, 200), [(100, "probe 1".to_owned())]);
}

#[test]
fn no_more_is_under_way_than_the_settings_allow() {
    let mut driver = ControlDriver::new(|settings| {
        settings.robots = RobotsRule::Ignore;
        settings.in_flight = 2;
        settings.budget.per_second = 3.0;
    });
    for id in 1..=50 {
        driver.join(0, id, &format!("http://h{id}.test/"));
    }
    let asked = driver.ticks(0, 30);
    // Two that are fetched, and a chronon's worth in the queue.
    assert_eq!(asked.len(), 5, "{asked:?}");
    driver.seen(31, 1);
    assert_eq!(driver.ticks(31, 40).len(), 1);
}

#[test]
fn the_journal_is_written_batch_by_batch() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.is_store_slow = true;
    for id in 1..=50 {
        driver.join(0, id, &format!("http://h{id}.test/"));
    }
    driver.ticks(0, 10);
    driver.join(11, 51, "http://h51.test/");
    driver.ticks(11, 60);
    assert_eq!(driver.n_journals, 1, "the next one waits until it is in the store");
    driver.happen(61, trouble("the disk is full"));
    driver.happen(61, Event::JournalWritten);
    driver.ticks(61, 70);
    assert_eq!(driver.n_journals, 1, "it is not written while the store takes nothing");
    driver.happen(71, Event::StoreTrouble(None));
    driver.ticks(71, 72);
    assert_eq!(driver.n_journals, 2);
    // A full one does not wait for its time.
    driver.happen(73, Event::JournalWritten);
    for id in 100..2_200 {
        driver.join(73, id, &format!("http://h{id}.test/"));
    }
    driver.tick(74);
    assert_eq!(driver.n_journals, 3);
}

#[test]
fn a_probe_that_robots_txt_forbids_sends_no_request() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    driver.tick(0);
    driver.robots(1, ROBOTS, 200, "User-agent: *\nDisallow: /1\n");
    assert_eq!(driver.ticks(1, 1_000), []);
    let capture = driver.captures.last().unwrap();
    assert!(matches!(capture.outcome, Outcome::Failed { fault: Fault::User, .. }), "{capture:?}");
    let stats = driver.control.stats();
    // The second capture only tells its owner, after the grace time.
    assert_eq!((driver.captures.len(), stats.probes, stats.failed_user), (2, 1, 1), "until it is read again");
    let told: Vec<&str> = capture.changes.iter().map(|change| change.kind.as_str()).collect();
    assert_eq!((told, driver.captures[0].changes.len()), (vec!["refused"], 0));
}

#[test]
fn a_host_that_rests_after_a_probe_is_not_chosen_in_vain() {
    let mut driver = begun(|_| ());
    for id in 2..=4 {
        driver.join(21, id, &format!("http://a.test/{id}"));
    }
    let (mut now, mut id) = (21, 1);
    for _ in 0..3 {
        driver.seen(now, id);
        let (next, asked) = driver.next(now + 1);
        assert_eq!(next, now + 10, "after the gap");
        (now, id) = (next, asked.strip_prefix("probe ").unwrap().parse().unwrap());
    }
    assert_eq!(driver.control.stats().returned, 0);
}

#[test]
fn a_host_that_is_held_does_not_leave_its_hold_to_another_that_comes_after_it() {
    let mut driver = begun(|_| ());
    driver.failed(21, 1, Fault::Remote, wait(3_600));
    driver.happen(22, Event::Removed(SourceId(1)));
    driver.ticks(22, 1_300);
    driver.join(1_301, 2, "http://b.test/2");
    assert_eq!(driver.tick(1_302), ["robots http://b.test/robots.txt"]);
}

#[test]
fn a_host_that_only_a_probe_under_way_is_at_is_not_given_to_another() {
    let mut driver = begun(|_| ());
    driver.happen(21, Event::Removed(SourceId(1)));
    driver.ticks(21, 1_300);
    driver.join(1_301, 2, "http://b.test/2");
    assert_eq!(driver.control.stats().hosts, 2, "the first is still being asked");
    driver.seen(1_302, 1);
    driver.ticks(1_302, 2_600);
    assert_eq!(driver.control.stats().hosts, 1);
}

#[test]
fn a_page_that_another_one_redirected_to_rests_and_is_not_chosen_early() {
    let mut driver = ControlDriver::new(|settings| {
        settings.robots = RobotsRule::Ignore;
        settings.politeness.scope = Scope::Url;
        settings.shortest_gap = Duration::from_secs(1);
        settings.longest_gap = Duration::from_secs(1);
    });
    let (from, to) = ("http://a.test/from", "http://a.test/to");
    driver.join(0, 1, from);
    assert_eq!(driver.tick(0), ["probe 1"]);
    driver.join(1, 2, to);
    driver.redirect_chain = vec![Url::parse(from).unwrap(), Url::parse(to).unwrap()];
    driver.seen(1, 1);
    let asked = driver.ticks(2, 20);
    assert_eq!(asked, [(11, "probe 1".to_owned()), (11, "probe 2".to_owned())]);
    assert_eq!(driver.control.stats().returned, 0);
}

#[test]
fn a_probe_requested_before_an_edit_counted_is_made_after_it() {
    let mut driver = begun(|settings| settings.shortest_gap = Duration::from_hours(9));
    driver.join(20, 1, "http://a.test/1");
    driver.control.request_probe(at(20), SourceId(1)).unwrap();
    driver.seen(31, 1);
    assert_eq!(driver.ticks(32, 60).len(), 1, "the shortest gap does not count for it");
}
