//! When control begins the instances of a query, event by event.

use dunlin_engine::control::Event;
use dunlin_engine::queries::{QueryConfig, QueryMemory};
use dunlin_query::parse;
use dunlin_query::plan::QueryPlan;
use dunlin_store::{QueryId, SourceId};

use crate::driver::ControlDriver;
use crate::web::at;

const QUERY: QueryId = QueryId(1);

/// A query that reads a source once a minute, installed at 0.
fn installed() -> ControlDriver {
    let mut driver = ControlDriver::new(|_| ());
    driver.join(0, 1, "http://a.test/1");
    let text = "QUERY rate SELECT value AS rate FROM page 'http://a.test/1' EVERY 1 MINUTE WITHIN 30 SECONDS";
    let query = parse(text).unwrap().remove(0);
    let config = QueryConfig {
        id: QUERY,
        name: query.name.clone(),
        plan: QueryPlan::new(&query, at(0)).unwrap(),
        weight: query.weight,
        installed: at(0),
        is_paused: false,
        sources: vec![SourceId(1)],
        memory: QueryMemory::from_bytes(&[], 1),
    };
    driver.happen(0, Event::QueryInstalled(Box::new(config)));
    driver
}

/// A machine that slept, or a store that stood still: nothing is asked for that is long over.
#[test]
fn of_the_instances_that_were_due_while_nobody_looked_one_begins() {
    let mut driver = installed();
    driver.tick(0);
    assert_eq!(driver.control.explain_query(QUERY).unwrap().next_begin, Some(at(60)));
    driver.tick(605);
    let report = driver.control.explain_query(QUERY).unwrap();
    assert_eq!(report.next_begin, Some(at(660)));
    let n_begun = driver.control.stats().ceis_lost + report.n_open as u64;
    assert_eq!(n_begun, 1, "{report:?}");
}
