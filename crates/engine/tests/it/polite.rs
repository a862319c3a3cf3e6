//! Towards hosts: gaps, Retry-After, robots.txt; also across restarts.

use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_net::politeness::Scope;
use dunlin_store::{Health, Politeness, Store};

use crate::fixtures::{page, settings, simulation, state, test_store};
use crate::web::{Fault, Kind, Logged, Web, at};

const DAY: i64 = 86_400;

/// No two requests to one host at one time, and none within `gap` seconds of the end of the one before.
pub(crate) fn assert_gaps(log: &[Logged], gap: u64) {
    let mut hosts: Vec<&str> = log.iter().map(|logged| logged.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    for host in hosts {
        let requests: Vec<&Logged> = log.iter().filter(|logged| logged.host == host).collect();
        for pair in requests.windows(2) {
            let pause = pair[1].at.since(pair[0].until);
            assert!(pause.as_secs() >= gap, "{pause:?} between {:?} and {:?}", pair[0], pair[1]);
        }
    }
}

#[test]
fn hosts_go_with_their_last_source_and_new_ones_reuse_their_index() {
    let test_store = test_store();
    let mut web = Web::default();
    let url = |n: i64| format!("http://h{n}.example/page");
    (0..20).for_each(|n| web.put(&url(n), Kind::Page, &[]));
    let mut run = simulation(&test_store.store, web, 0);
    let add = |run: &mut Simulation<Web>, n: i64| run.add_source(page(&url(n))).unwrap();
    let sources: Vec<_> = (0..10).map(|n| add(&mut run, n)).collect();
    run.run_until(at(3_600));
    assert_eq!(run.stats().hosts, 10);
    for source in &sources[1..] {
        run.remove_source(*source).unwrap();
    }
    run.run_until(at(7_200));
    assert_eq!(run.stats().hosts, 1);
    for n in 10..15 {
        add(&mut run, n);
    }
    run.run_until(at(14_400));
    assert_eq!(run.stats().hosts, 6);
    for n in 10..15 {
        let host = format!("h{n}.example");
        assert!(run.world().probes().any(|logged| logged.host == host), "{host} is probed");
    }
    assert_gaps(&run.world().log, 10);
}

#[test]
fn a_host_that_asks_to_wait_is_left_alone_for_so_long_even_by_the_next_process() {
    let test_store = test_store();
    let mut web = Web::default();
    let (limited, other) = ("http://a.example/limited", "http://a.example/other");
    web.put(limited, Kind::Page, &[]);
    web.put(other, Kind::Page, &[]);
    web.fail(limited, 0, 300, Fault::RetryAfter(429, 120));
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(limited)).unwrap();
    run.add_source(page(other)).unwrap();
    while !run.world().log.iter().any(|logged| logged.status == 429) {
        let next = run.clock().plus(Duration::from_secs(1));
        assert!(next < at(300), "refused while it refuses");
        run.run_until(next);
    }
    let refused = run.world().log.last().unwrap().until;
    run.run_until(refused);
    assert_eq!(
        state(&*test_store.store, source).1,
        "the server asks for fewer requests (429 Too Many Requests)"
    );
    let hold = run.explain(source).unwrap().hold.unwrap();
    assert_eq!(
        (hold.until, hold.reason.as_str()),
        (refused.plus(Duration::from_mins(2)), "the server asked to wait")
    );

    // Killed at once, started again at once.
    let now = run.clock();
    let web = run.kill();
    let n_before = web.log.len();
    let mut run = Simulation::new(test_store.store.clone(), settings(), web, now).unwrap();
    run.run_until(at(DAY));
    let next = run.world().log[n_before].at;
    assert!(next.since(refused).as_secs() >= 120, "asked again after {:?}", next.since(refused));
    assert_eq!(state(&*test_store.store, source), (Health::Well, String::new()));
    assert_gaps(&run.world().log, 10);
}

#[test]
fn robots_txt_is_asked_first_and_what_it_forbids_is_not_fetched() {
    let test_store = test_store();
    let mut web = Web::default();
    let (open, closed) = ("http://a.example/open", "http://a.example/private/page");
    web.put(open, Kind::Page, &[]);
    web.put(closed, Kind::Page, &[]);
    let rules = "User-agent: dunlin\nDisallow: /private\nCrawl-delay: 300\n";
    web.robots.insert("a.example".to_owned(), (200, rules.to_owned()));
    let mut run = simulation(&test_store.store, web, 0);
    let (open, closed) = (run.add_source(page(open)).unwrap(), run.add_source(page(closed)).unwrap());
    run.run_until(at(DAY));
    let log = &run.world().log;
    assert_eq!(log[0].path, "/robots.txt");
    assert!(log.iter().all(|logged| logged.path != "/private/page"));
    assert_gaps(log, 300);
    assert_eq!(state(&*test_store.store, open).0, Health::Well);
    let (health, reason) = state(&*test_store.store, closed);
    assert_eq!((health, reason.starts_with("robots.txt of the site forbids it")), (Health::Refused, true));

    // The rule goes away; it is noticed when the file is asked for again, within a day.
    run.world().robots.clear();
    run.run_until(at(3 * DAY));
    assert_eq!(state(&*test_store.store, closed).0, Health::Well);
    assert!(!run.world().probes_of("/private/page").is_empty());
}

#[test]
fn a_site_whose_robots_txt_cannot_be_read_is_not_fetched_until_it_can() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put("http://a.example/page", Kind::Page, &[]);
    web.put("http://b.example/page", Kind::Page, &[]);
    web.robots.insert("a.example".to_owned(), (503, String::new()));
    let mut run = simulation(&test_store.store, web, 0);
    let held = run.add_source(page("http://a.example/page")).unwrap();
    let other = run.add_source(page("http://b.example/page")).unwrap();
    run.run_until(at(DAY));
    assert!(run.world().probes().all(|logged| logged.host == "b.example"));
    let n_asked = run.world().log.iter().filter(|logged| logged.host == "a.example").count();
    assert!((2..=144).contains(&n_asked), "asked for {n_asked} times in a day");
    let (health, reason) = state(&*test_store.store, held);
    assert_eq!(health, Health::Failing);
    assert!(reason.contains("/robots.txt cannot be read: the server answers 503"), "{reason}");
    assert_eq!(state(&*test_store.store, other).0, Health::Well);
    assert!(run.explain(held).unwrap().hold.is_some());

    run.world().robots.clear();
    run.run_until(at(2 * DAY));
    assert_eq!(state(&*test_store.store, held), (Health::Well, String::new()));
}

#[test]
fn a_requested_probe_comes_soon_and_politely() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put("http://a.example/page", Kind::Page, &[]);
    let mut settings = settings();
    settings.budget.per_second = 0.5;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let source = run.add_source(page("http://a.example/page")).unwrap();
    run.run_until(at(600));
    for times in 1..20 {
        run.probe_now(source).unwrap();
        run.run_until(at(600 + 3 * times));
    }
    run.run_until(at(700));
    let probes = run.world().probes_of("/page");
    assert!(probes.iter().any(|probe| (at(600)..at(620)).contains(probe)), "{probes:?}");
    assert_gaps(&run.world().log, 10);
}

#[test]
fn the_gap_outlasts_a_process_that_is_killed_even_with_a_request_under_way() {
    let test_store = test_store();
    let mut web = Web::default();
    let urls = ["http://a.example/one", "http://a.example/two", "http://a.example/three"];
    urls.iter().for_each(|url| web.put(url, Kind::Page, &[]));
    let mut run = simulation(&test_store.store, web, 0);
    for url in urls {
        run.add_source(page(url)).unwrap();
    }
    for _ in 0..20 {
        let (n_before, latest) = (run.world().log.len(), run.clock().plus(Duration::from_hours(12)));
        while run.world().log.len() == n_before {
            let next = run.clock().plus(Duration::from_secs(1));
            assert!(next < latest, "another request within twice the longest gap");
            run.run_until(next);
        }
        // Killed when something has just been asked, started again at once.
        let now = run.clock();
        let web = run.kill();
        run = Simulation::new(test_store.store.clone(), settings(), web, now).unwrap();
    }
    run.run_until(run.clock().plus(Duration::from_hours(1)));
    // What was under way ended with its process, so the gap counts from its beginning at least.
    for pair in run.world().log.windows(2) {
        let pause = pair[1].at.since(pair[0].at);
        assert!(pause.as_secs() >= 10, "{pause:?} between {:?} and {:?}", pair[0], pair[1]);
    }
    let remembered = test_store.store.politeness().unwrap();
    let is_site = |remembered: &Politeness| remembered.scope == "robots http://a.example";
    assert!(remembered.iter().all(is_site), "there is nothing else to remember but the gap: {remembered:?}");
}

#[test]
fn scopes_that_hold_nothing_back_are_forgotten() {
    let test_store = test_store();
    let mut web = Web::default();
    for n in 0..40 {
        web.put(&format!("http://h{n}.example/page"), Kind::Page, &[]);
    }
    let mut run = simulation(&test_store.store, web, 0);
    let mut sources = Vec::new();
    for n in 0..40 {
        sources.push(run.add_source(page(&format!("http://h{n}.example/page"))).unwrap());
    }
    run.run_until(at(DAY));
    for source in &sources[5..] {
        run.remove_source(*source).unwrap();
    }
    run.run_until(at(DAY + 3_600));
    let n_stored = |what: &str| {
        let stored = test_store.store.politeness().unwrap();
        stored.iter().filter(|stored| stored.scope.starts_with(what)).count()
    };
    assert!(n_stored("host ") <= 5, "{}", n_stored("host "));
    run.run_until(at(9 * DAY));
    assert_eq!(n_stored("robots "), 5, "what sites ask is forgotten a week after it was last asked for");
}

#[test]
fn robots_txt_is_asked_for_no_faster_than_the_budget_allows_probes() {
    let test_store = test_store();
    let mut web = Web::default();
    let urls: Vec<String> = (0..200).map(|n| format!("http://h{n}.example/page")).collect();
    for url in &urls {
        web.put(url, Kind::Page, &[]);
    }
    let mut settings = settings();
    settings.budget.per_second = 0.001;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    for url in &urls {
        run.add_source(page(url)).unwrap();
    }
    run.run_until(at(DAY));
    let n_probes = run.world().probes().count();
    let n_robots = run.world().log.len() - n_probes;
    assert!((80..=88).contains(&n_probes), "{n_probes} probes");
    assert!(n_robots <= n_probes + 1, "{n_robots} for {n_probes} probes");
    assert_gaps(&run.world().log, 10);
}

#[test]
fn a_refused_page_is_tried_after_an_hour_then_two_up_to_the_longest_gap() {
    let test_store = test_store();
    let mut web = Web::default();
    for (path, status) in [("/gone", 410), ("/missing", 404), ("/closed", 403)] {
        let url = format!("http://a.example{path}");
        web.put(&url, Kind::Page, &[]);
        web.fail(&url, 0, 30 * DAY, Fault::Status(status));
    }
    let urls: Vec<String> = web.sites.keys().cloned().collect();
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let sources: Vec<_> = urls.iter().map(|url| run.add_source(page(url)).unwrap()).collect();
    run.run_until(at(2 * DAY));
    for (url, source) in urls.iter().zip(sources) {
        assert_eq!(state(&*test_store.store, source).0, Health::Refused, "{url}");
        let asked = run.world().probes_of(url.strip_prefix("http://a.example").unwrap());
        let hours = asked.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() / 3_600.0);
        let hours: Vec<f64> = hours.collect();
        assert!(hours.len() >= 6, "{url}: {hours:?}");
        // The longest gap is six hours. Others of the host and the chronon may be waited for, a minute at the most.
        for (pause, expected) in hours.iter().zip([1.0, 2.0, 4.0, 6.0, 6.0, 6.0]) {
            assert!((expected..expected + 0.02).contains(pause), "{url}: {hours:?}");
        }
    }
}

#[test]
fn a_page_that_is_reached_by_a_redirect_gets_its_gap_like_one_that_was_asked_for() {
    let test_store = test_store();
    let mut web = Web::default();
    let (from, to) = ("http://a.example/from", "http://a.example/to");
    web.put(from, Kind::Page, &[]);
    web.put(to, Kind::Page, &[]);
    web.fail(from, 0, 30 * DAY, Fault::SeeOther("http://a.example/to"));
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    settings.politeness.scope = Scope::Url;
    settings.politeness.gap = Duration::from_secs(100);
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    run.add_source(page(from)).unwrap();
    run.run_until(at(150));
    run.add_source(page(to)).unwrap();
    run.run_until(at(DAY));
    let log: Vec<&Logged> = run.world().probes().collect();
    let n_of = |path: &str| log.iter().filter(|logged| logged.path == path).count();
    assert!(n_of("/from") > 100 && n_of("/to") > 100, "{} and {}", n_of("/from"), n_of("/to"));
    // One that leads on asks both; the page where it ends is not asked again by itself for a while. While it is under way,
    // its end is not known.
    for (n, asked) in log.iter().enumerate().filter(|(_, logged)| logged.path == "/to") {
        let before = log[..n].iter().rfind(|logged| logged.path == "/from" && logged.until <= asked.at);
        let pause = before.map(|before| asked.at.since(before.until));
        assert!(
            pause.is_none_or(|pause| pause.as_secs() >= 100),
            "{pause:?} between {before:?} and {asked:?}"
        );
    }
}
