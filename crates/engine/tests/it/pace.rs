//! How fast a host is asked that wants no gap: as fast as it answers, within the budget and its number at one time.

use std::time::Duration;

use dunlin_engine::simulated::Simulation;
use dunlin_sched::scheduler::journal::replay;

use crate::fixtures::{page, settings, test_store};
use crate::web::{Kind, Logged, Web, at};

/// It answers within 50 ms.
const FAST: &str = "fast8.example";

/// All requests of ten minutes to one host without a gap, for many pages, with 100 probes in a chronon of ten seconds.
fn log_of(concurrent: u32, host_budget: Option<f64>) -> Vec<Logged> {
    let test_store = test_store();
    let mut web = Web::default();
    let urls: Vec<String> = (0..1_500).map(|n| format!("http://{FAST}/{n}")).collect();
    urls.iter().for_each(|url| web.put(url, Kind::Page, &[]));
    let mut settings = settings();
    settings.budget.per_second = 10.0;
    settings.host_budget = host_budget.map(|per_second| dunlin_engine::Pace { per_second });
    settings.politeness.gap = Duration::ZERO;
    settings.politeness.concurrent = concurrent;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    for url in &urls {
        run.add_source(page(url)).unwrap();
    }
    run.run_until(at(600));
    let web = run.stop();
    let entries: Result<Vec<_>, _> = dunlin_engine::journal::read(&*test_store.store, None).collect();
    let replayed = replay(entries.unwrap()).unwrap();
    assert!(replayed.probes >= web.probes().count() as u64, "{replayed:?}");
    web.log
}

/// The most requests in flight at one time.
fn most_at_one_time(log: &[Logged]) -> usize {
    let n_active = |at| log.iter().filter(|logged| logged.at <= at && at < logged.until).count();
    log.iter().map(|logged| n_active(logged.at)).max().unwrap_or(0)
}

/// The most requests within a stretch of so many seconds.
fn most_within(log: &[Logged], seconds: u64) -> usize {
    let begins = log.iter().enumerate();
    let within = |(first, begin): (usize, &Logged)| {
        log[first..].iter().take_while(|logged| logged.at.since(begin.at).as_secs() < seconds).count()
    };
    begins.map(within).max().unwrap_or(0)
}

#[test]
fn a_host_without_a_gap_is_asked_as_fast_as_it_answers_and_the_budget_is_kept() {
    for concurrent in [1, 4] {
        let log = log_of(concurrent, None);
        assert!(log.iter().all(|logged| logged.until.since(logged.at) == Duration::from_millis(50)));
        let probes: Vec<Logged> = log.iter().filter(|logged| logged.path != "/robots.txt").cloned().collect();
        // 60 chronons of 100 probes each, where one probe per slot would be 60 or 240. What is probed only because there
        // is budget left is kept back a little where many wait for one host.
        assert!((5_000..=6_100).contains(&probes.len()), "{} with {concurrent} at a time", probes.len());
        assert!(most_at_one_time(&log) <= concurrent as usize, "{}", most_at_one_time(&log));
        for seconds in [1, 10, 60] {
            let most = most_within(&probes, seconds);
            assert!(most as u64 <= 10 * seconds + 100, "{most} in {seconds} s, with {concurrent} at a time");
        }
    }
}

#[test]
fn a_budget_of_its_own_binds_a_host_without_a_gap() {
    let log = log_of(4, Some(2.0));
    let probes: Vec<Logged> = log.iter().filter(|logged| logged.path != "/robots.txt").cloned().collect();
    assert!((800..=1_220).contains(&probes.len()), "{}", probes.len());
    // Those that waited for robots.txt were paid for before, and came beside the others.
    let probes: Vec<Logged> = probes.into_iter().filter(|logged| logged.at > at(60)).collect();
    for seconds in [1, 10, 60] {
        let most = most_within(&probes, seconds);
        assert!(most as u64 <= 2 * seconds + 20, "{most} in {seconds} s");
    }
}
