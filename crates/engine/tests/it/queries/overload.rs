//! Queries that want twice the budget: the service captures nearly what the lab's best policy captures of the same CEIs, and what
//! is worth more is not starved by them.

use dunlin_core::{Budget, Chronon, Costs, ExecutionInterval, Need, SourceIdx, Workload};
use dunlin_sched::epoch::run_workload;
use dunlin_sched::policy::Marginal;
use dunlin_sched::score::score_intervals;
use dunlin_store::{CeiQuery, CeiState, NewSource, SqliteStore, Store, StoredCei};

use super::{Texts, at, service};
use crate::fixtures::{n_changes, page};
use crate::web::random_changes;

const SOURCES: usize = 40;
const QUERIES: usize = 24;
/// In seconds, which are chronons.
const END: i64 = 3_600;

fn url(source: usize) -> String {
    format!("http://s{}.test/", source % SOURCES)
}

/// Rates on sites of their own, and queries with two or three of them each, at periods of their own.
fn web() -> Texts {
    (0..SOURCES).fold(Texts::default(), |web, source| web.raw(&url(source), &[(-10, "{\"v\": 1}")]))
}

fn query(number: usize, weight: f64) -> String {
    let (every, within) = (40 + 7 * (number % 8), 8 + 3 * (number % 5));
    let part = |nth: usize, start: &str, within: usize| {
        let url = url(number * 7 + nth * 11);
        format!(" SELECT value AS p{nth} FROM json '{url}' PICK '$.v' {start} WITHIN {within} SECONDS")
    };
    let mut text = format!("QUERY q{number}{}", part(0, &format!("EVERY {every} SECONDS"), within));
    text.push_str(&part(1, "", within + 15));
    if number.is_multiple_of(3) {
        text.push_str(&part(2, "", within + 25));
    }
    format!("{text} WEIGHT {weight}")
}

fn ceis_ended_by(store: &SqliteStore, end: i64) -> Vec<StoredCei> {
    let all = store.ceis(&CeiQuery { after: None, state: None, limit: 100_000 }).unwrap();
    let is_over = |cei: &StoredCei| cei.intervals.iter().all(|own| own.interval.finish < at(end));
    all.into_iter().filter(is_over).collect()
}

fn chronon(time: dunlin_core::Time) -> Chronon {
    let seconds = time.since(at(0)).as_secs() + 1;
    Chronon::new(u32::try_from(seconds).unwrap()).unwrap()
}

/// What the lab's policy captures of the same.
fn captured_in_the_lab(ceis: &[StoredCei], per_second: f64) -> usize {
    let mut workload = Workload::new();
    for cei in ceis {
        let profile = workload.add_profile();
        let intervals: Vec<ExecutionInterval> = cei
            .intervals
            .iter()
            .map(|own| {
                let source = SourceIdx(u32::try_from(own.interval.source.0).unwrap());
                let (start, finish) = (chronon(own.interval.start), chronon(own.interval.finish));
                ExecutionInterval::new(source, start, finish).unwrap()
            })
            .collect();
        workload.push(profile, &intervals, Need::Any(cei.need), cei.weight).unwrap();
    }
    let budget = Budget::constant(per_second).unwrap();
    let mut policy = Marginal::new(&budget, Costs::uniform());
    let schedule = run_workload(&mut policy, &workload, u32::try_from(END).unwrap(), &budget, |_| ());
    score_intervals(&workload, &schedule).captured as usize
}

#[test]
fn the_service_captures_what_the_lab_would_of_the_same_needs() {
    let (test_store, mut run) = service(web());
    // Half of what they want, sharing considered.
    let per_second = 0.4;
    run.set_budget(dunlin_engine::Pace { per_second: 20.0 });
    for number in 0..QUERIES {
        run.add_query(&query(number, 1.0)).unwrap();
    }
    run.set_budget(dunlin_engine::Pace { per_second });
    run.run_until(at(END));
    let ceis = ceis_ended_by(&test_store.store, END);
    let captured = ceis.iter().filter(|cei| cei.state == CeiState::Captured).count();
    let in_the_lab = captured_in_the_lab(&ceis, per_second);
    let share = in_the_lab as f64 / ceis.len() as f64;
    assert!((0.3..0.8).contains(&share), "{in_the_lab} of {}: too much or too little to ask", ceis.len());
    let ratio = captured as f64 / in_the_lab as f64;
    assert!(ratio >= 0.97, "{captured} captured, and {in_the_lab} in the lab, of {}", ceis.len());
}

/// How many changes so many watches capture in an hour once they are known, and how many results queries of this weight have
/// beside them.
fn captured(n_watches: usize, weight: Option<f64>) -> (usize, usize) {
    let watched: Vec<String> = (0..n_watches).map(|number| format!("http://w{number}.test/")).collect();
    let web = watched.iter().zip(0..).fold(web(), |web, (url, seed)| {
        let times = random_changes(seed, 120.0, 2 * END);
        let values: Vec<String> = (0..=times.len()).map(|nth| format!("{nth}00")).collect();
        let shown = std::iter::once(-10).chain(times).zip(values.iter().map(String::as_str));
        web.page(url, &shown.collect::<Vec<_>>())
    });
    let (test_store, mut run) = service(web);
    for url in &watched {
        run.add_source(NewSource { recipe: r#"{"flicker":"tell"}"#.to_owned(), ..page(url) }).unwrap();
    }
    let n_changes = || usize::try_from(n_changes(&*test_store.store)).unwrap();
    run.set_budget(dunlin_engine::Pace { per_second: 0.2 });
    run.run_until(at(END));
    let before = n_changes();
    if let Some(weight) = weight {
        run.set_budget(dunlin_engine::Pace { per_second: 20.0 });
        for number in 0..QUERIES {
            run.add_query(&query(number, weight)).unwrap();
        }
        run.set_budget(dunlin_engine::Pace { per_second: 0.2 });
    }
    run.run_until(at(2 * END));
    let ceis = ceis_ended_by(&test_store.store, 2 * END);
    let n_results = ceis.iter().filter(|cei| cei.state == CeiState::Captured).count();
    (n_changes() - before, n_results)
}

#[test]
fn queries_that_are_worth_little_leave_simple_watches_their_share() {
    let (alone, _) = captured(10, None);
    let (beside, _) = captured(10, Some(0.001));
    assert!(alone > 150 && beside as f64 >= 0.9 * alone as f64, "{beside} beside queries, {alone} alone");
}

/// The queries alone want far more than the budget.
#[test]
fn queries_and_watches_that_are_worth_as_much_divide_the_budget_by_what_a_probe_brings() {
    let ((changes, _), (_, results)) = (captured(10, None), captured(0, Some(1.0)));
    let (changes_beside, results_beside) = captured(10, Some(1.0));
    let figures = format!("{changes} and {results} alone, {changes_beside} and {results_beside} together");
    assert!((changes_beside + results_beside) as f64 >= 1.05 * changes.max(results) as f64, "{figures}");
    assert!(changes_beside * 3 >= changes && results_beside * 3 >= results, "{figures}");
}
