//! Pages that redirect to another site, and what is remembered of sites across restarts.

use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_store::{Health, SourceId};

use crate::given::{Shelf, page, settings, shelf, simulation, state};
use crate::polite::assert_gaps;
use crate::web::{Fault, Kind, Web, at};

const DAY: i64 = 86_400;

/// A page at `a.example` that leads to one at `b.example`, where another page is watched too.
fn led_elsewhere(shelf: &Shelf, mut web: Web) -> (Simulation<Web>, SourceId, SourceId) {
    let (old, new, other) = ("http://a.example/old", "http://b.example/new", "http://b.example/other");
    for url in [old, new, other] {
        web.put(url, Kind::Page, &[40_000, 90_000]);
    }
    web.fail(old, 0, 30 * DAY, Fault::SeeOther(new));
    let mut settings = settings();
    settings.budget.per_second = 1.0;
    let mut run = Simulation::new(shelf.store.clone(), settings, web, at(0)).unwrap();
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
    let shelf = shelf();
    let (mut run, old, _) = led_elsewhere(&shelf, Web::default());
    run.run_until(at(DAY));
    let log = &run.world().log;
    let first = |host: &str| log.iter().find(|logged| logged.host == host).unwrap();
    assert_eq!(first("b.example").path, "/robots.txt");
    assert_gaps(log, 10);
    assert_eq!(state(&*shelf.store, old), (Health::Well, String::new()));
    let (n_old, n_new) = (run.world().probes_of("/old").len(), run.world().probes_of("/new").len());
    assert!(n_new > 20 && n_old.abs_diff(n_new) <= 1, "{n_old} led to {n_new}");
}

#[test]
fn what_the_other_site_forbids_is_not_fetched() {
    let shelf = shelf();
    let web = robots("b.example", "User-agent: *\nDisallow: /new\n");
    let (mut run, old, other) = led_elsewhere(&shelf, web);
    run.run_until(at(DAY));
    assert!(run.world().probes_of("/new").is_empty());
    assert!(!run.world().probes_of("/other").is_empty());
    let (health, reason) = state(&*shelf.store, old);
    assert_eq!(health, Health::Refused);
    assert!(reason.starts_with("it redirects to http://b.example/new: robots.txt of that site"), "{reason}");
    assert_eq!(state(&*shelf.store, other), (Health::Well, String::new()));
    // A page that may not be read is not asked where it leads all day long.
    assert!(run.world().probes_of("/old").len() <= 3, "{:?}", run.world().probes_of("/old"));
}

#[test]
fn whoever_asks_to_wait_is_not_asked_by_way_of_others() {
    let shelf = shelf();
    let (mut run, ..) = led_elsewhere(&shelf, Web::default());
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
    assert!(asked.iter().all(|asked| *asked < refused || *asked > hour), "nor is the page that leads there");
}

#[test]
fn what_sites_ask_of_programs_outlasts_a_process_that_is_killed() {
    let shelf = shelf();
    let mut web = robots("a.example", "User-agent: *\nDisallow: /private\nCrawl-delay: 300\n");
    web.put("http://a.example/open", Kind::Page, &[]);
    web.put("http://a.example/private", Kind::Page, &[]);
    let mut run = simulation(&shelf.store, web, 0);
    run.add_source(page("http://a.example/open")).unwrap();
    let closed = run.add_source(page("http://a.example/private")).unwrap();
    for _ in 0..10 {
        let n_before = run.world().log.len();
        while run.world().log.len() == n_before {
            let next = run.clock().plus(Duration::from_secs(1));
            run.run_until(next);
        }
        // What is under way is not finished, so nothing of it is stored.
        let now = run.clock().plus(Duration::from_millis(1));
        let is_known = run.world().log.len() > 1;
        let web = run.kill();
        run = Simulation::new(shelf.store.clone(), settings(), web, now).unwrap();
        if !is_known {
            run.run_until(now.plus(Duration::from_mins(1)));
        }
    }
    let log = &run.world().log;
    let n_asked = log.iter().filter(|logged| logged.path == "/robots.txt").count();
    assert!(n_asked <= 2, "asked for {n_asked} times, once of them in vain");
    assert!(run.world().probes_of("/private").is_empty());
    assert_eq!(state(&*shelf.store, closed).0, Health::Refused);
    // The file itself comes before its crawl-delay is known.
    let pauses = run.world().probes_of("/open");
    assert!(pauses.len() >= 8, "{pauses:?}");
    assert!(pauses.windows(2).all(|pair| pair[1].since(pair[0]).as_secs() >= 300), "{pauses:?}");
}
