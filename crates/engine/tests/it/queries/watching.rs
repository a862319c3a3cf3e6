//! Queries that watch for words: which sources they find, how that shifts probes, and what they tell of what is new there.

use std::collections::BTreeMap;

use dunlin_engine::Pace;
use dunlin_engine::journal::read;
use dunlin_engine::simulated::Simulation;
use dunlin_sched::scheduler::Input;
use dunlin_sched::scheduler::journal::{JournalEntry, replay};
use dunlin_store::{NewSource, QueryId, SourceEdit, SourceId, SqliteStore, Store, StoredResult, TextIndex};

use super::{Texts, at, results, service, started, told};
use crate::fixtures::{TestStore, feed, page};

const HOUR: i64 = 3_600;
const N_SOURCES: usize = 20;
/// The sources that write about storms.
const STORMY: [usize; 3] = [3, 9, 15];

const STORMS: &str = "QUERY storms WATCH 'hurricane florida' IMPORTANCE 1";

fn url(number: usize) -> String {
    format!("http://site{number}.test/feed")
}

/// What a source writes about when nothing happens: each about something of its own.
fn habit(number: usize) -> String {
    if STORMY.contains(&number) {
        "The hurricane centre looks at the coast of Florida: how a hurricane over Florida grows.".to_owned()
    } else {
        format!(
            "Subject{number} again: matters{number} of gardens{number}, and a recipe{number} with onions."
        )
    }
}

/// Twenty feeds with an article of the usual kind every two hours, and others at certain times.
fn web(others: &[(usize, i64, &str, &str)]) -> Texts {
    (0..N_SOURCES).fold(Texts::default(), |web, number| {
        let usual = (-6..40_i64).map(|index| {
            let seconds = index * 2 * HOUR + i64::from(number as u32) * 61;
            (seconds, format!("Notes {index} of site {number}"), habit(number))
        });
        let own = others.iter().filter(|(at, ..)| *at == number);
        let own = own.map(|(_, seconds, title, text)| (*seconds, (*title).to_owned(), (*text).to_owned()));
        let mut articles: Vec<(i64, String, String)> = usual.chain(own).collect();
        articles.sort();
        let articles: Vec<(i64, &str, &str)> =
            articles.iter().map(|(at, title, text)| (*at, title.as_str(), text.as_str())).collect();
        web.articles(&url(number), &articles)
    })
}

/// All sources, of small weight, with a probe every half minute.
fn watched(web: Texts) -> (TestStore, Simulation<Texts>, Vec<SourceId>) {
    let (test_store, mut run) = service(web);
    run.set_budget(Pace { per_second: 1.0 / 30.0 });
    let source = |number| NewSource { weight: 0.02, ..feed(&url(number)) };
    let sources = (0..N_SOURCES).map(|number| run.add_source(source(number)).unwrap()).collect();
    (test_store, run, sources)
}

/// How often each of these sites was asked in a span of time.
fn n_probes(run: &mut Simulation<Texts>, from: i64, until: i64, is_meant: impl Fn(usize) -> bool) -> usize {
    let world = run.world();
    let asked =
        (0..N_SOURCES).filter(|number| is_meant(*number)).flat_map(|number| world.asked(&url(number)));
    asked.filter(|asked| (at(from)..at(until)).contains(asked)).count()
}

fn relevant(run: &Simulation<Texts>, query: QueryId) -> Vec<SourceId> {
    let mut sources: Vec<_> =
        run.explain_query(query).unwrap().relevant.iter().map(|own| own.source).collect();
    sources.sort_unstable();
    sources
}

/// The titles that were told, and how many other sources are noted at each.
fn finds(results: &[StoredResult]) -> Vec<(String, usize)> {
    let title = |result: &StoredResult| told(result)[0].1[0].clone();
    results.iter().map(|result| (title(result), result.also_at.len())).collect()
}

/// What is told of these sources but their usual notes.
fn news(store: &SqliteStore, query: QueryId) -> Vec<(String, usize)> {
    finds(&results(store, query)).into_iter().filter(|(title, _)| !title.starts_with("Notes")).collect()
}

const LANDFALL: &str = "The hurricane has reached the coast of Florida near Tampa this morning. Roofs were torn off in three \
    towns and two hundred thousand homes are without power. The governor asked people to stay where they are until \
    the water is gone, which may take until Thursday at the earliest.";

#[test]
fn probes_go_to_the_sources_that_are_about_the_words_and_back_when_the_query_goes() {
    let (test_store, mut run, sources) = watched(web(&[]));
    run.run_until(at(8 * HOUR));
    assert_eq!(test_store.store.text_index().unwrap(), TextIndex::None, "it costs nothing yet");
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(24 * HOUR));
    assert_eq!(relevant(&run, query), STORMY.map(|number| sources[number]));
    let is_stormy = |number: usize| STORMY.contains(&number);
    let before = n_probes(&mut run, 4 * HOUR, 8 * HOUR, is_stormy);
    let during = n_probes(&mut run, 20 * HOUR, 24 * HOUR, is_stormy);
    assert!(during > 2 * before, "{during} probes of relevant sources in four hours, {before} before");
    assert!(n_probes(&mut run, 20 * HOUR, 24 * HOUR, |number| !is_stormy(number)) > 0, "others go on");
    run.remove_query(query).unwrap();
    run.run_until(at(36 * HOUR));
    let after = n_probes(&mut run, 32 * HOUR, 36 * HOUR, is_stormy);
    assert!(after * 10 <= before * 13, "{after} probes after it was removed, {before} before");
    assert_eq!(test_store.store.text_index().unwrap(), TextIndex::None);
    drop(run.stop());
    let entries: Vec<JournalEntry> = read(&*test_store.store, None).collect::<Result<_, _>>().unwrap();
    let mut told: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for entry in &entries {
        if let JournalEntry::Input { input: Input::SourceAdded { source, terms, .. }, .. } = entry {
            told.entry(source.0).or_default().push(terms.value.weight);
        }
    }
    assert_eq!(told.len(), N_SOURCES);
    assert!(told.values().all(|weights| weights.first() == Some(&0.02) && weights.last() == Some(&0.02)));
    let most = |number: usize| told[&(number as u32)].iter().copied().fold(0.0, f64::max);
    assert!(STORMY.iter().all(|number| most(*number) > 0.4), "their own and how relevant they are");
    let late = |number: u32| told[&number].iter().rev().nth(1).copied();
    assert!(most(0) < 0.2, "a little for what it may become");
    assert!(late(0).unwrap() < 0.03, "and nearly nothing when no change of the others has brought anything");
    replay(entries).unwrap();
}

#[test]
fn each_find_is_told_once_and_the_same_story_of_others_is_noted_there() {
    let elsewhere = format!("(Agency) {LANDFALL}");
    let others = [
        (3, 10 * HOUR, "Hurricane hits Florida", LANDFALL),
        (9, 10 * HOUR + 900, "Storm reaches coast", &elsewhere),
        (15, 11 * HOUR, "Hurricane hits Florida", LANDFALL),
        (4, 12 * HOUR, "Football in Florida", "Florida has won by two goals to one."),
        (5, 13 * HOUR, "Hurricane lamps", "A lamp for the garden, with a wick, in three colours."),
    ];
    let (test_store, mut run, sources) = watched(web(&others));
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(16 * HOUR));
    let store = &test_store.store;
    assert_eq!(news(store, query), [("Hurricane hits Florida".to_owned(), 2)]);
    let all = results(store, query);
    let found = all.iter().find(|result| !result.also_at.is_empty()).unwrap();
    let part = &found.result.parts[0];
    let also: Vec<_> = found.also_at.iter().map(|also| (also.source, also.title.as_str())).collect();
    assert_eq!((part.name.as_str(), part.source), ("item", sources[3]), "where it was seen first");
    let expected = [(sources[9], "Storm reaches coast"), (sources[15], "Hurricane hits Florida")];
    assert_eq!(also, expected);
    assert!(found.result.at < found.also_at[0].at && found.also_at[0].at < found.also_at[1].at);
    assert!(found.also_at.iter().all(|also| also.version.is_some() && also.link.is_some()));
    assert!(part.items.contains("Roofs were torn off") && part.version.is_some());
}

#[test]
fn what_was_told_before_a_kill_is_not_told_again() {
    let others = [
        (3, 10 * HOUR, "Hurricane hits Florida", LANDFALL),
        (9, 12 * HOUR, "Hurricane hits Florida", LANDFALL),
        (9, 13 * HOUR, "Florida after the hurricane", "Many roads are still closed and schools are shut."),
    ];
    let (test_store, mut run, sources) = watched(web(&others));
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(11 * HOUR));
    let store = &test_store.store;
    assert_eq!(news(store, query), [("Hurricane hits Florida".to_owned(), 0)]);
    let web = run.kill();
    let mut run = started(&test_store, web, 11 * HOUR + 60);
    run.set_budget(Pace { per_second: 1.0 / 30.0 });
    run.run_until(at(15 * HOUR));
    let expected = [("Hurricane hits Florida".to_owned(), 1), ("Florida after the hurricane".to_owned(), 0)];
    assert_eq!(news(store, query), expected);
    assert_eq!(relevant(&run, query), STORMY.map(|number| sources[number]), "they are found again");
    assert_eq!(store.text_index().unwrap(), TextIndex::Complete);
}

/// A page gives its parts no ids: what tells one story from the next is what it says.
#[test]
fn what_a_page_says_next_is_another_story() {
    let town = "http://town.test/";
    let later =
        "Hurricane over: schools in Florida are open again, and most roads are clear of trees and water.";
    let both = format!("{LANDFALL}</b><p><b>{later}");
    let states = [(-60, "Nothing has happened in town."), (10 * HOUR, LANDFALL), (16 * HOUR, &both)];
    let (test_store, mut run, _) = watched(web(&[]).page(town, &states));
    let page = run.add_source(page(town)).unwrap();
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(22 * HOUR));
    let results = results(&test_store.store, query);
    let of_page = results.iter().map(|result| &result.result.parts[0]).filter(|part| part.source == page);
    let said: Vec<bool> = of_page.map(|part| part.items.contains("schools in Florida")).collect();
    assert_eq!(said, [false, true]);
}

#[test]
fn where_is_asked_of_each_find() {
    let others = [
        (3, 10 * HOUR, "Hurricane football", "The team of Florida lost against the hurricane."),
        (9, 11 * HOUR, "Hurricane hits Florida", LANDFALL),
    ];
    let (test_store, mut run, _) = watched(web(&others));
    let without =
        format!("{STORMS} WHERE NOT item.title CONTAINS 'football' AND NOT item.title CONTAINS 'notes'");
    let query = run.add_query(&without).unwrap();
    run.run_until(at(14 * HOUR));
    let expected = [("Hurricane hits Florida".to_owned(), 0)];
    assert_eq!(finds(&results(&test_store.store, query)), expected);
}

/// A source that writes about it for the first time is found, and is followed from then on.
#[test]
fn a_source_that_begins_to_write_about_it_joins_and_leaves_with_its_text() {
    let mut others = Vec::new();
    let titles: Vec<String> = (0..12).map(|number| format!("Storm diary {number}")).collect();
    for (hours, title) in (20..).zip(&titles) {
        others.push((
            7,
            hours * HOUR,
            title.as_str(),
            "A hurricane moves to Florida, and people in Florida leave.",
        ));
    }
    let (_test_store, mut run, sources) = watched(web(&others));
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(19 * HOUR));
    assert!(!relevant(&run, query).contains(&sources[7]));
    run.run_until(at(33 * HOUR));
    assert!(relevant(&run, query).contains(&sources[7]));
    let edited = SourceEdit { url: Some(url(2)), ..SourceEdit::default() };
    run.edit_source(sources[7], edited).unwrap();
    run.run_until(at(36 * HOUR));
    assert!(!relevant(&run, query).contains(&sources[7]), "it is about something else now");
}

/// A source of which little is known is probed often at first, but not more often than its owner allows.
#[test]
fn a_source_that_is_followed_closely_keeps_its_shortest_gap() {
    let web = (0..N_SOURCES).fold(Texts::default(), |web, number| {
        web.articles(&url(number), &[(-60, "Notes", &habit(number).repeat(2))])
    });
    let (test_store, mut run) = service(web);
    run.set_budget(Pace { per_second: 1.0 / 30.0 });
    for number in 0..N_SOURCES {
        let recipe = "{\"shortest_gap\":3600}".to_owned();
        run.add_source(NewSource { weight: 0.02, recipe, ..feed(&url(number)) }).unwrap();
    }
    run.add_query(STORMS).unwrap();
    run.run_until(at(6 * HOUR));
    drop(run.stop());
    let gaps = read(&*test_store.store, None).filter_map(|entry| match entry.unwrap() {
        JournalEntry::Input { input: Input::SourceAdded { terms, .. }, .. } => {
            Some((terms.shortest_gap.as_secs(), terms.longest_gap.as_secs()))
        }
        _ => None,
    });
    let gaps: Vec<(u64, u64)> = gaps.collect();
    assert!(gaps.contains(&(3_600, 3_600)), "one is followed closely");
    assert!(gaps.iter().all(|(shortest, longest)| shortest <= longest), "{gaps:?}");
}

#[test]
fn an_edit_of_a_relevant_source_outlives_the_query() {
    let (test_store, mut run, sources) = watched(web(&[]));
    let query = run.add_query(STORMS).unwrap();
    run.run_until(at(8 * HOUR));
    assert!(relevant(&run, query).contains(&sources[3]));
    run.edit_source(sources[3], SourceEdit { weight: Some(0.5), ..SourceEdit::default() }).unwrap();
    run.run_until(at(9 * HOUR));
    run.remove_query(query).unwrap();
    run.run_until(at(10 * HOUR));
    drop(run.stop());
    let weights = read(&*test_store.store, None).filter_map(|entry| match entry.unwrap() {
        JournalEntry::Input { input: Input::SourceAdded { source, terms, .. }, .. } if source.0 == 3 => {
            Some(terms.value.weight)
        }
        _ => None,
    });
    let weights: Vec<f64> = weights.collect();
    assert!(weights.iter().any(|weight| *weight > 1.0), "its own, and how relevant it is: {weights:?}");
    assert_eq!(weights.last(), Some(&0.5), "its own alone, as it was edited");
}

#[test]
fn a_paused_or_ended_query_looks_for_nothing() {
    let others = [(3, 10 * HOUR, "Hurricane hits Florida", LANDFALL)];
    let (test_store, mut run, _) = watched(web(&others));
    let query = run.add_query(&format!("{STORMS} FOR 20 HOURS")).unwrap();
    run.run_until(at(6 * HOUR));
    run.pause_query(query, true).unwrap();
    run.run_until(at(12 * HOUR));
    let store = &test_store.store;
    assert_eq!(
        (news(store, query), relevant(&run, query), store.text_index().unwrap()),
        (vec![], vec![], TextIndex::None)
    );
    run.pause_query(query, false).unwrap();
    run.run_until(at(19 * HOUR));
    assert_eq!((relevant(&run, query).len(), store.text_index().unwrap()), (3, TextIndex::Complete));
    let n_told = results(store, query).len();
    assert!(n_told > 0, "the usual notes are about it too");
    run.run_until(at(30 * HOUR));
    assert_eq!((relevant(&run, query), store.text_index().unwrap()), (vec![], TextIndex::None));
    assert!(results(store, query).len() <= n_told + 3, "nothing from the end on");
}

#[test]
fn a_source_of_another_query_is_not_probed_for_words_that_would_not_be_told_of_it() {
    const RATES: &str = "http://rates.test/brent";
    let n_asked = |is_watching: bool| {
        let (_test_store, mut run) = service(Texts::default().page(RATES, &[(-10, "80.40")]));
        let text = format!(
            "QUERY q SELECT value AS v FROM page '{RATES}' PICK '.last' EVERY 30 MINUTES WITHIN 5 MINUTES"
        );
        run.add_query(&text).unwrap();
        if is_watching {
            run.add_query(STORMS).unwrap();
        }
        run.run_until(at(7_200));
        run.world().asked(RATES).len()
    };
    assert_eq!(n_asked(true), n_asked(false));
}
