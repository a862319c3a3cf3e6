//! Pages that redirect to another site, and what is remembered of sites across restarts.

use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_store::{Health, SourceId};

use crate::fixtures::{TestStore, page, settings, simulation, state, test_store};
use crate::polite::assert_gaps;
use crate::web::{Fault, Kind, Web, at};

const DAY: i64 = 86_400;

/// A page at `a.example` that leads to one at `b.example`, where another page is watched too.
fn redirected_elsewhere(test_store: &TestStore, mut web: Web) -> (Simulation<Web>, SourceId, SourceId) {
    let (old, new, other) = ("http://a.example/old", "http://b.example/new", "http://b.example/other");
    for url in [old, new, other] {
        web.put(url, Kind::Page, &[40_000, 90_000]);
    }
    web.fail(old, 0, 30 * DAY, Fault::SeeOther(new));
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let (old, other) = (run.add_source(page(old)).unwrap(), run.add_source(page(other)).unwrap());
    (run, old, other)
}

fn robots(host: &str, rules: &str) -> Web {
    let mut web = Web::default();
    web.robots.insert(host.to_owned(), (200, rules.to_owned()));
    web
}

#[test]
fn another_site_that_a_page_leads_to_is_asked_first_and_gets_its_gap() {
    let test_store = test_store();
    let (mut run, old, _) = redirected_elsewhere(&test_store, Web::default());
    run.run_until(at(DAY));
    let log = &run.world().log;
    let first = |host: &str| log.iter().find(|logged| logged.host == host).unwrap();
    assert_eq!(first("b.example").path, "/robots.txt");
    assert_gaps(log, 10);
    assert_eq!(state(&*test_store.store, old), (Health::Well, String::new()));
    let (n_old, n_new) = (run.world().probes_of("/old").len(), run.world().probes_of("/new").len());
    assert!(n_new > 20 && n_old.abs_diff(n_new) <= 1, "{n_old} redirected to {n_new}");
}

#[test]
fn what_the_other_site_forbids_is_not_fetched() {
    let test_store = test_store();
    let web = robots("b.example", "User-agent: *\nDisallow: /new\n");
    let (mut run, old, other) = redirected_elsewhere(&test_store, web);
    run.run_until(at(DAY));
    assert!(run.world().probes_of("/new").is_empty());
    assert!(!run.world().probes_of("/other").is_empty());
    let (health, reason) = state(&*test_store.store, old);
    assert_eq!(health, Health::Refused);
    assert!(reason.starts_with("it redirects to http://b.example/new: robots.txt of that site"), "{reason}");
    assert_eq!(state(&*test_store.store, other), (Health::Well, String::new()));
    // A page that may not be read is not asked where it leads all day long.
    assert!(run.world().probes_of("/old").len() <= 3, "{:?}", run.world().probes_of("/old"));
}

#[test]
fn a_host_that_asks_to_wait_is_not_reached_through_others() {
    let test_store = test_store();
    let (mut run, ..) = redirected_elsewhere(&test_store, Web::default());
    run.run_until(at(DAY));
    run.world().fail("http://b.example/new", DAY, DAY + 300, Fault::RetryAfter(429, 7_200));
    run.run_until(at(DAY + 300));
    let log = &run.world().log;
    let refused = log.iter().find(|logged| logged.status == 429).expect("it was asked in that time").until;
    run.run_until(at(2 * DAY));
    let log = &run.world().log;
    let next = log.iter().find(|logged| logged.host == "b.example" && logged.at > refused).unwrap().at;
    assert!(next.since(refused).as_secs() >= 7_200, "asked again after {:?}", next.since(refused));
    let hour = refused.plus(Duration::from_hours(1));
    let asked = run.world().probes_of("/old");
    assert!(
        asked.iter().all(|asked| *asked < refused || *asked > hour),
        "the page that redirects there is not fetched either"
    );
}

#[test]
fn a_redirected_source_that_waits_is_not_fetched_a_second_time() {
    let test_store = test_store();
    let web = robots("b.example", "User-agent: *\nCrawl-delay: 200\n");
    let (mut run, ..) = redirected_elsewhere(&test_store, web);
    // The clock is set back again and again, with a probe that waits for its turn.
    let mut seconds = 0;
    for _ in 0..20 {
        seconds += 3_600;
        run.run_until(at(seconds));
        let latest = seconds + 12 * 3_600;
        while run.world().probes_of("/old").len() == run.world().probes_of("/new").len() {
            seconds += 10;
            assert!(seconds < latest, "another probe within twice the longest gap");
            run.run_until(at(seconds));
        }
        run.set_clock(-60);
    }
    run.run_until(at(seconds + 36_000));
    let of_both = run.world().probes().filter(|logged| logged.path == "/old" || logged.path == "/new");
    let paths: Vec<&str> = of_both.map(|logged| logged.path.as_str()).collect();
    assert!(paths.len() > 40, "{}", paths.len());
    for (n, pair) in paths.windows(2).enumerate() {
        assert_ne!(pair[0], pair[1], "the {n}th request was not waited for");
    }
}

/// Pages at `victim.example`, and one elsewhere that leads to `to`, which does not work.
fn redirected_to_trouble(
    test_store: &TestStore,
    mut web: Web,
    to: &'static str,
) -> (Simulation<Web>, SourceId) {
    let paths = ["http://victim.example/one", "http://victim.example/two"];
    for url in paths.into_iter().chain(["http://evil.example/lure"]) {
        web.put(url, Kind::Page, &[]);
    }
    web.fail("http://evil.example/lure", 0, 30 * DAY, Fault::SeeOther(to));
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    for url in paths {
        run.add_source(page(url)).unwrap();
    }
    let lure = run.add_source(page("http://evil.example/lure")).unwrap();
    (run, lure)
}

/// How often `victim.example` is probed in a day without redirects to it.
fn undisturbed() -> usize {
    let test_store = test_store();
    let (mut run, lure) = redirected_to_trouble(&test_store, Web::default(), "http://victim.example/one");
    run.remove_source(lure).unwrap();
    run.run_until(at(DAY));
    n_probes(&mut run)
}

fn n_probes(run: &mut Simulation<Web>) -> usize {
    ["/one", "/two"].map(|path| run.world().probes_of(path).len()).iter().sum()
}

#[test]
fn a_page_that_leads_to_a_dead_port_holds_back_itself_and_not_the_site() {
    let test_store = test_store();
    let web = Web { dead_ports: vec![9_000], ..Web::default() };
    let (mut run, lure) = redirected_to_trouble(&test_store, web, "http://victim.example:9000/x");
    run.run_until(at(DAY));
    let (n_probes, usual) = (n_probes(&mut run), undisturbed());
    assert!(n_probes * 10 >= usual * 9, "{n_probes} probes instead of {usual}");
    assert_gaps(&run.world().log, 10);
    let (health, reason) = state(&*test_store.store, lure);
    assert_eq!(health, Health::Failing);
    assert!(reason.contains("http://victim.example:9000/robots.txt cannot be read"), "{reason}");
    // It is the lure that pays, ever more: 10 minutes at first, and hours in the end.
    let asked = run.world().probes_of("/lure");
    assert!((4..=30).contains(&asked.len()), "{asked:?}");
    let pauses: Vec<u64> = asked.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).collect();
    assert!(pauses.first().is_some_and(|pause| *pause < 1_200), "{pauses:?}");
    assert!(pauses.last().is_some_and(|pause| *pause > 3_600), "{pauses:?}");
}

#[test]
fn a_page_that_leads_to_where_nothing_works_holds_back_itself_and_not_the_site() {
    for fault in [Fault::ConnectionRefused, Fault::Truncated, Fault::Status(500), Fault::Status(503)] {
        let test_store = test_store();
        let mut web = Web::default();
        web.put("http://victim.example/x", Kind::Page, &[]);
        web.fail("http://victim.example/x", 0, 30 * DAY, fault.clone());
        let (mut run, lure) = redirected_to_trouble(&test_store, web, "http://victim.example/x");
        run.run_until(at(DAY));
        let (n_probes, usual) = (n_probes(&mut run), undisturbed());
        assert!(n_probes * 10 >= usual * 9, "{fault:?}: {n_probes} probes instead of {usual}");
        assert_gaps(&run.world().log, 10);
        assert_eq!(state(&*test_store.store, lure).0, Health::Failing, "{fault:?}");
        let asked = run.world().probes_of("/lure");
        assert!((5..=30).contains(&asked.len()), "{fault:?}: {asked:?}");
        assert!(asked[1].since(asked[0]).as_secs() < 120, "{fault:?}: {asked:?}");
    }
}

#[test]
fn a_source_at_a_dead_port_holds_back_nothing_else_of_its_host() {
    let test_store = test_store();
    let mut web = Web { dead_ports: vec![9_000], ..Web::default() };
    web.put("http://victim.example/one", Kind::Page, &[]);
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let dead: Vec<SourceId> =
        (0..20).map(|n| run.add_source(page(&format!("http://victim.example:9000/{n}"))).unwrap()).collect();
    let one = run.add_source(page("http://victim.example/one")).unwrap();
    run.run_until(at(DAY));
    assert_eq!(state(&*test_store.store, one), (Health::Well, String::new()));
    let n_probes = run.world().probes_of("/one").len();
    assert!(n_probes > 200, "{n_probes}");
    // Its robots.txt is asked for every ten minutes, by one of them for all.
    let n_asked = run.world().log.iter().filter(|logged| logged.status == 0).count();
    assert!((100..=145).contains(&n_asked), "{n_asked}");
    for source in dead {
        let explained = run.explain(source).unwrap();
        let hold = explained.hold.unwrap();
        assert!(hold.reason.contains("robots.txt cannot be read"), "{hold:?}");
        assert_eq!(explained.not_before, Some(hold.until));
    }
    // None of the budget is spent on what cannot be asked.
    let stats = run.stats();
    assert!(stats.probes <= n_probes as u64 + 20, "{stats:?}");
}

#[test]
fn robots_rules_survive_a_killed_process() {
    let test_store = test_store();
    let mut web = robots("a.example", "User-agent: *\nDisallow: /private\nCrawl-delay: 300\n");
    web.put("http://a.example/open", Kind::Page, &[]);
    web.put("http://a.example/private", Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    run.add_source(page("http://a.example/open")).unwrap();
    let closed = run.add_source(page("http://a.example/private")).unwrap();
    for _ in 0..10 {
        let (n_before, latest) = (run.world().log.len(), run.clock().plus(Duration::from_hours(12)));
        while run.world().log.len() == n_before {
            let next = run.clock().plus(Duration::from_secs(1));
            assert!(next < latest, "another request within twice the longest gap");
            run.run_until(next);
        }
        // What is under way is not finished, so nothing of it is stored.
        let now = run.clock().plus(Duration::from_millis(1));
        let is_known = run.world().log.len() > 1;
        let web = run.kill();
        run = Simulation::new(test_store.store.clone(), settings(), web, now).unwrap();
        if !is_known {
            run.run_until(now.plus(Duration::from_mins(1)));
        }
    }
    let log = &run.world().log;
    let n_asked = log.iter().filter(|logged| logged.path == "/robots.txt").count();
    assert!(n_asked <= 2, "asked for {n_asked} times, once without success");
    assert!(run.world().probes_of("/private").is_empty());
    assert_eq!(state(&*test_store.store, closed).0, Health::Refused);
    // The file itself comes before its crawl-delay is known.
    let pauses = run.world().probes_of("/open");
    assert!(pauses.len() >= 8, "{pauses:?}");
    assert!(pauses.windows(2).all(|pair| pair[1].since(pair[0]).as_secs() >= 300), "{pauses:?}");
}
