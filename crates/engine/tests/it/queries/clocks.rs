//! What becomes of queries when the clock is set.

use dunlin_engine::simulated::Simulation;

use super::{Texts, at, two_that_change};

const RATES: &str = "http://rates.test/brent";
const OTHER: &str = "http://other.test/";

#[test]
fn a_query_that_had_ended_counts_again_when_the_clock_is_set_back_before_its_end() {
    let (_test_store, mut run, sources) = two_that_change([RATES, OTHER], 240);
    run.add_query(&format!(
        "QUERY q SELECT item AS c FROM source {} ON CHANGE FOR 2 HOURS WEIGHT 20",
        sources[1]
    ))
    .unwrap();
    run.run_until(at(600));
    run.set_budget(dunlin_engine::Pace { per_second: 0.01 });
    let asked = |run: &mut Simulation<Texts>| [RATES, OTHER].map(|url| run.world().asked(url).len());
    run.run_until(at(7_300));
    let at_its_end = asked(&mut run);
    run.run_until(at(13_300));
    let after_it = asked(&mut run);
    let [one, other] = [after_it[0] - at_its_end[0], after_it[1] - at_its_end[1]];
    assert!(other <= 2 * one, "{other} and {one} once the query has ended");
    run.set_clock(-12_000);
    run.run_until(at(18_900));
    let again = asked(&mut run);
    let [one, other] = [again[0] - after_it[0], again[1] - after_it[1]];
    assert!(other > 9 && other >= 3 * one, "{other} and {one} once it has not");
}
