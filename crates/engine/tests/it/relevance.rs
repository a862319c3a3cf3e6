//! Which sources control takes to be relevant to a WATCH, by what the index of texts says, and which of them it follows
//! closely at first.

use dunlin_engine::RobotsRule;
use dunlin_engine::control::{Command, Event, Write};
use dunlin_engine::queries::WatchConfig;
use dunlin_query::Term;
use dunlin_store::{
    FoundAs, Health, NewSource, QueryId, ResourceId, Source, SourceId, SourceState, TextScope,
};

use crate::driver::ControlDriver;
use crate::web::at;

const QUERY: QueryId = QueryId(1);

/// Three sources, a query with one WATCH, and so small a budget that one source at a time can be followed closely.
fn watching() -> ControlDriver {
    let mut driver = ControlDriver::new(|settings| settings.budget.per_second = 1.0 / 30.0);
    for id in 1..=3 {
        driver.join(0, id, &format!("http://site{id}.test/"));
    }
    install(&mut driver, 0);
    driver
}

/// Installs the query.
fn storms() -> Event {
    Event::WatchInstalled(Box::new(WatchConfig {
        id: QUERY,
        name: "storms".to_owned(),
        watches: vec![(vec![Term::Word("storm".to_owned())], 1.0)],
        filter: None,
        end: None,
        is_paused: false,
        told: Vec::new(),
    }))
}

fn install(driver: &mut ControlDriver, seconds: i64) {
    driver.happen(seconds, storms());
    driver.happen(seconds, Event::TextsIndexed { is_complete: true });
}

/// The index has been asked again: how relevant each source is by its text.
fn found(driver: &mut ControlDriver, seconds: i64, scores: &[(i64, f64)]) {
    let scores = scores.iter().map(|(source, score)| (SourceId(*source), *score)).collect();
    let found = vec![((QUERY, 0), scores)];
    driver.happen(seconds, Event::TextsFound { scope: TextScope::Best(1_000), found });
    driver.tick(seconds);
}

/// The sources that are relevant, and those of them that are followed closely.
fn relevant(driver: &ControlDriver) -> (Vec<i64>, Vec<i64>) {
    let mut all = driver.control.explain_query(QUERY).unwrap().relevant;
    all.sort_by_key(|own| own.source);
    let followed = all.iter().filter(|own| own.tracked_until.is_some()).map(|own| own.source.0);
    (all.iter().map(|own| own.source.0).collect(), followed.collect())
}

#[test]
fn a_source_on_the_edge_does_not_come_and_go() {
    let mut driver = watching();
    found(&mut driver, 1, &[(1, 0.7), (2, 0.6)]);
    assert_eq!(relevant(&driver).0, [1]);
    found(&mut driver, 2, &[(1, 0.55), (2, 0.6)]);
    assert_eq!(relevant(&driver).0, [1], "it was relevant, the other was not");
    found(&mut driver, 3, &[(1, 0.45), (2, 0.6)]);
    assert_eq!(relevant(&driver).0, [0; 0]);
    found(&mut driver, 4, &[(1, 0.55)]);
    assert_eq!(relevant(&driver).0, [0; 0]);
}

#[test]
fn a_source_that_is_no_longer_found_is_no_longer_relevant() {
    let mut driver = watching();
    found(&mut driver, 1, &[(1, 0.9), (2, 0.8)]);
    assert_eq!(relevant(&driver).0, [1, 2]);
    found(&mut driver, 2, &[(2, 0.8)]);
    assert_eq!(relevant(&driver).0, [2]);
}

/// Which text is among the most relevant changes with those of all other sources.
#[test]
fn the_index_is_asked_again_every_six_hours() {
    let mut driver = watching();
    found(&mut driver, 1, &[(1, 0.9)]);
    let mut is_asked = |seconds| {
        let mut commands = Vec::new();
        driver.control.handle(at(seconds), Event::Tick { at: at(seconds) }, &mut commands);
        commands.iter().any(|command| matches!(command, Command::Write(Write::FindTexts { .. })))
    };
    assert_eq!([60, 21_000, 21_700].map(&mut is_asked), [false, false, true]);
}

#[test]
fn of_several_new_sources_the_most_relevant_is_followed_first() {
    let mut driver = watching();
    found(&mut driver, 1, &[(1, 0.7), (2, 0.9), (3, 0.8)]);
    assert_eq!(relevant(&driver), (vec![1, 2, 3], vec![2]));
}

/// What a probe of a source is worth.
fn worth(driver: &mut ControlDriver, id: i64, seconds: i64) -> f64 {
    let source = Source {
        id: SourceId(id),
        resource: ResourceId(id),
        spec: NewSource::page("http://a.test/", at(0)),
        found: FoundAs::default(),
        state: SourceState { health: Health::Well, reason: String::new(), since: at(0), announced: None },
        paused: None,
    };
    driver.control.explain(source, at(seconds)).value.unwrap()
}

#[test]
fn a_query_that_goes_before_the_index_has_answered_leaves_no_weight_behind() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    for id in [1, 2] {
        driver.join(0, id, &format!("http://site{id}.test/"));
    }
    assert_eq!(driver.tick(0).len(), 2);
    for id in [1, 2] {
        driver.seen(1, id);
    }
    install(&mut driver, 2);
    // The new text of a source is ranked at once.
    let found = vec![((QUERY, 0), vec![(SourceId(1), 0.9)])];
    driver.happen(3, Event::TextsFound { scope: TextScope::Source(SourceId(1)), found });
    driver.tick(3);
    assert!(worth(&mut driver, 1, 5) > 1.5 * worth(&mut driver, 2, 5));
    driver.happen(6, Event::QueryRemoved(QUERY));
    driver.tick(6);
    assert_eq!(worth(&mut driver, 1, 8), worth(&mut driver, 2, 8));
}

#[test]
fn a_query_that_watches_for_words_is_counted_until_it_is_removed() {
    let mut driver = watching();
    assert_eq!(driver.control.stats().queries, 1);
    driver.happen(1, Event::QueryRemoved(QUERY));
    assert_eq!(driver.control.stats().queries, 0);
}

/// The texts may be half indexed when nobody needs them any more.
#[test]
fn a_portion_of_an_index_that_was_dropped_does_not_complete_it() {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://site1.test/");
    driver.happen(0, Event::TextsIndexed { is_complete: true });
    let mut commands = Vec::new();
    driver.control.handle(at(1), storms(), &mut commands);
    let is_built = |command: &Command| matches!(command, Command::Write(Write::IndexTexts));
    let is_asked = |command: &Command| matches!(command, Command::Write(Write::FindTexts { .. }));
    assert!(commands.iter().any(is_built) && !commands.iter().any(is_asked), "{commands:?}");
    commands.clear();
    driver.control.handle(at(2), Event::TextsIndexed { is_complete: false }, &mut commands);
    assert!(commands.iter().any(is_built));
    commands.clear();
    driver.control.handle(at(3), Event::QueryRemoved(QUERY), &mut commands);
    assert!(matches!(commands[..], [Command::Write(Write::DropTextIndex)]), "{commands:?}");
}
