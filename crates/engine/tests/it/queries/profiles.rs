//! The other profiles of the guide to the language, through the service: what is captured of them, and what is missed.

use super::{Texts, at, misses, results, service, told};
use dunlin_store::StoredResult;

fn part(name: &str, value: &str) -> (String, Vec<String>) {
    (name.to_owned(), vec![value.to_owned()])
}

fn all_told(results: &[StoredResult]) -> Vec<Vec<(String, Vec<String>)>> {
    results.iter().map(told).collect()
}

/// When a price moves by half a percent, the other two are of use only if they are from the same half minute.
#[test]
fn arbitrage_is_told_if_all_three_prices_are_from_the_same_time() {
    let (here, there, rate) =
        ("http://here.test/quote", "http://there.test/quote", "http://rates.test/eurusd");
    let quotes = [
        (-10, r#"{"last": "100.00"}"#),
        (90, r#"{"last": "100.40"}"#),
        (150, r#"{"last": "100.95"}"#),
        (210, r#"{"last": "101.90"}"#),
    ];
    let mut web = Texts::default()
        .raw(here, &quotes)
        .raw(there, &[(-10, r#"{"price": 101.8}"#)])
        .page(rate, &[(-10, "1.1000")]);
    web.broken.insert(rate.to_owned(), at(230));
    let (test_store, mut run) = service(web);
    let query = run
        .add_query(
            "QUERY arbitrage
               SELECT value AS here FROM json 'http://here.test/quote' PICK '$.last' EVERY 1 MINUTE WITHIN 10 SECONDS
               SELECT value AS there FROM json 'http://there.test/quote' PICK '$.price'
                 WHEN here MOVES BY 0.5% WITHIN 30 SECONDS
               SELECT value AS rate FROM page 'http://rates.test/eurusd' PICK '.last'
                 WHEN here MOVES BY 0.5% WITHIN 30 SECONDS
               WEIGHT 5",
        )
        .unwrap();
    run.run_until(at(350));
    let results = results(&test_store.store, query);
    let expected = vec![part("here", "100.95"), part("there", "101.8"), part("rate", "1.1000")];
    assert_eq!(all_told(&results), [expected]);
    assert!(results[0].result.at <= at(222), "within half a minute of the move");
    let missed = misses(&test_store.store, query);
    assert_eq!(missed.len(), 1);
    assert!(
        missed[0].miss.began == at(240) && missed[0].miss.parts.contains(r#""name":"rate""#),
        "{missed:?}"
    );
}

fn auctions() -> Texts {
    Texts::default()
        .page("http://auctions.test/1", &[(-10, "300"), (2_000, "310"), (9_000, "315")])
        .page("http://auctions.test/2", &[(-10, "290"), (2_700, "301")])
        .page("http://auctions.test/3", &[(-10, "280"), (2_400, "295"), (9_300, "299")])
}

#[test]
fn a_new_bid_in_each_of_three_auctions_is_told_together() {
    let (test_store, mut run) = service(auctions());
    let query = run
        .add_query(
            "QUERY auction_watch
               SELECT value AS first FROM page 'http://auctions.test/1' PICK '.last' ON CHANGE OVERWRITTEN
               SELECT value AS second FROM page 'http://auctions.test/2' PICK '.last' ON CHANGE OVERWRITTEN
               SELECT value AS third FROM page 'http://auctions.test/3' PICK '.last' ON CHANGE WITHIN 20 MINUTES
               FOR 3 DAYS",
        )
        .unwrap();
    run.run_until(at(8_000));
    let told = results(&test_store.store, query);
    assert_eq!(all_told(&told), [vec![part("first", "310"), part("second", "301"), part("third", "295")]]);
    // The second auction has no other bid: in the end it is given up, as it is expected to have had two.
    run.run_until(at(400_000));
    assert_eq!(results(&test_store.store, query).len(), 1);
    let missed = misses(&test_store.store, query);
    assert_eq!(missed.len(), 1);
    assert!(missed[0].miss.began >= at(9_000) && missed[0].miss.parts.contains("second"), "{missed:?}");
}

#[test]
fn two_of_three_may_do() {
    let (test_store, mut run) = service(auctions());
    let query = run
        .add_query(
            "QUERY two_auctions ANY 2 OF
               SELECT value AS first FROM page 'http://auctions.test/1' PICK '.last' ON CHANGE OVERWRITTEN
               SELECT value AS second FROM page 'http://auctions.test/2' PICK '.last' ON CHANGE OVERWRITTEN
               SELECT value AS third FROM page 'http://auctions.test/3' PICK '.last' ON CHANGE OVERWRITTEN",
        )
        .unwrap();
    run.run_until(at(12_000));
    let told = all_told(&results(&test_store.store, query));
    let first = vec![part("first", "310"), part("third", "295")];
    assert_eq!(told, [first, vec![part("first", "315"), part("third", "299")]]);
}
