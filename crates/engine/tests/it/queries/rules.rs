//! What captures a part, what misses it and why, and what becomes of a query that is edited, paused or removed.

use std::time::Duration;

use dunlin_engine::Settings;
use dunlin_engine::simulated::Simulation;
use dunlin_store::{CeiQuery, CeiState, SourceQuery, Store};

use super::{Texts, at, misses, results, service, started, told, two_that_change};
use crate::fixtures::{n_changes, page, settings, test_store};

const RATES: &str = "http://rates.test/brent";
const OTHER: &str = "http://other.test/";

const RATE: &str = "QUERY rate SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last'";

fn rates() -> Texts {
    Texts::default().page(RATES, &[(-10, "80.00"), (1_000, "78.00")])
}

/// Why the misses of a query happened.
fn reasons(misses: &[dunlin_store::StoredMiss]) -> Vec<(String, String)> {
    let parts = |miss: &dunlin_store::StoredMiss| -> Vec<serde_json::Value> {
        serde_json::from_str(&miss.miss.parts).unwrap()
    };
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    misses.iter().flat_map(parts).map(|part| (text(&part["name"]), text(&part["why"]))).collect()
}

#[test]
fn an_answer_that_is_the_same_as_before_captures_what_is_there_now() {
    let (test_store, mut run) = service(rates());
    let query = run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")).unwrap();
    run.run_until(at(1_570));
    let results = results(&test_store.store, query);
    let values: Vec<_> = results.iter().map(|result| told(result)[0].1[0].clone()).collect();
    assert_eq!(values, ["80.00", "80.00", "80.00", "78.00", "78.00"]);
    let status = run.world().log.iter().filter(|(_, url, _)| url == RATES).map(|(.., status)| *status);
    assert!(status.filter(|status| *status == 304).count() >= 3);
    let versions: Vec<_> = results.iter().map(|result| result.result.parts[0].version).collect();
    assert!(versions.iter().all(Option::is_some));
    assert_eq!((versions[0], versions[3]), (versions[2], versions[4]), "the same version, by each result");
    assert_ne!(versions[2], versions[3]);
    assert_eq!(n_changes(&*test_store.store), 0, "what a query reads is no news to a watcher");
}

#[test]
fn a_condition_compares_with_the_capture_before() {
    let (test_store, mut run) = service(rates());
    let query =
        run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE WHERE rate DROPS BY 2%")).unwrap();
    run.run_until(at(3_000));
    let results = results(&test_store.store, query);
    assert_eq!(
        results.iter().map(told).collect::<Vec<_>>(),
        [[("rate".to_owned(), vec!["78.00".to_owned()])]]
    );
    assert!((at(1_200)..=at(1_261)).contains(&results[0].result.at));
}

/// A price alert is not late by one change.
#[test]
fn the_first_change_is_compared_with_what_was_there_when_the_query_was_installed() {
    let (test_store, mut run) = service(rates());
    let drops = run.add_query(&format!("{RATE} ON CHANGE WHERE rate DROPS BY 2%")).unwrap();
    let rises =
        run.add_query(&format!("{} ON CHANGE WHERE rate RISES", RATE.replace("rate S", "up S"))).unwrap();
    run.run_until(at(500));
    let world = run.kill();
    let mut run = started(&test_store, world, 500);
    run.run_until(at(3_000));
    let results = results(&test_store.store, drops);
    assert_eq!(
        results.iter().map(told).collect::<Vec<_>>(),
        [[("rate".to_owned(), vec!["78.00".to_owned()])]]
    );
    assert_eq!(super::results(&test_store.store, rises), []);
}

#[test]
fn several_values_are_compared_one_by_one_unless_there_are_more_or_fewer_of_them() {
    let prices = |prices: &[&str]| {
        let rows: Vec<String> = prices.iter().map(|price| format!("{{\"p\": {price}}}")).collect();
        format!("{{\"rows\": [{}]}}", rows.join(","))
    };
    let states = [
        (-10, prices(&["50", "40"])),
        (1_000, prices(&["10", "50", "40"])),
        (2_000, prices(&["10", "50", "39"])),
    ];
    let states: Vec<(i64, &str)> = states.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let (test_store, mut run) = service(Texts::default().raw("http://shop.test/", &states));
    let query = run
        .add_query("QUERY q SELECT value AS p FROM json 'http://shop.test/' PICK '$.rows[*].p' ON CHANGE WHERE p DROPS")
        .unwrap();
    run.run_until(at(4_000));
    let results = results(&test_store.store, query);
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].result.at > at(2_000));
}

#[test]
fn a_watched_source_counts_with_the_weight_of_a_query_that_waits_for_its_changes() {
    let (_test_store, mut run, sources) = two_that_change([RATES, OTHER], 120);
    let text = format!("QUERY q SELECT item AS c FROM source {} ON CHANGE WEIGHT 20", sources[1]);
    let query = run.add_query(&text).unwrap();
    run.run_until(at(600));
    run.set_budget(dunlin_engine::Pace { per_second: 0.01 });
    let mut asked_until = |end: i64| {
        let before = [RATES, OTHER].map(|url| run.world().asked(url).len());
        run.run_until(at(end));
        let after = [RATES, OTHER].map(|url| run.world().asked(url).len());
        if end < 7_000 {
            run.pause_query(query, true).unwrap();
        }
        [after[0] - before[0], after[1] - before[1]]
    };
    let with_query = asked_until(6_600);
    assert!(with_query[1] >= 3 * with_query[0], "{with_query:?}");
    let while_paused = asked_until(12_600);
    assert!(while_paused[1] <= 2 * while_paused[0], "{while_paused:?}");
}

#[test]
fn a_condition_may_ask_who_wrote_an_item() {
    let feed = |items: &str| format!("<rss version='2.0'><channel><title>F</title>{items}</channel></rss>");
    let item = |name: &str, author: &str| {
        format!("<item><guid>{name}</guid><title>{name}</title><author>{author}</author></item>")
    };
    let first = item("First", "Jane");
    let states = [
        (-10, feed(&first)),
        (
            1_000,
            feed(&format!("{}{}{first}", item("Second", "Newsdesk"), item("Third", "j@x.test (Jane Doe)"))),
        ),
    ];
    let states: Vec<(i64, &str)> = states.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let (test_store, mut run) = service(Texts::default().raw("http://blog.test/feed", &states));
    let text = "QUERY q SELECT item AS post FROM feed 'http://blog.test/feed' ON CHANGE WHERE post.author = 'jane doe'";
    let query = run.add_query(text).unwrap();
    run.run_until(at(4_000));
    let results = results(&test_store.store, query);
    assert_eq!(results.len(), 1);
    assert!(results[0].result.parts[0].items.contains(r#""author":"Jane Doe""#), "{:?}", results[0]);
}

#[test]
fn a_missed_part_says_whose_fault_it_was() {
    let mut web = rates();
    web.broken.insert(RATES.to_owned(), at(400));
    let (test_store, mut run) = service(web);
    let query = run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")).unwrap();
    run.run_until(at(700));
    assert_eq!(results(&test_store.store, query).len(), 1);
    let missed = misses(&test_store.store, query);
    assert_eq!(reasons(&missed), [("rate".to_owned(), "failed".to_owned())]);
    assert_eq!((missed[0].miss.began, missed[0].miss.at > at(660)), (at(600), true));
    assert!(missed[0].miss.parts.contains("500"), "{}", missed[0].miss.parts);
}

/// What counts is when the probe began.
#[test]
fn an_answer_that_is_on_its_way_when_the_interval_ends_still_captures_the_part() {
    let mut web = rates();
    web.latency = Duration::from_secs(90);
    let (test_store, mut run) = service(web);
    let query = run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")).unwrap();
    run.run_until(at(800));
    assert_eq!(reasons(&misses(&test_store.store, query)), []);
    let results = results(&test_store.store, query);
    assert_eq!(results.len(), 2);
    assert!(results[0].result.at > at(360), "it came after the minute was over");
}

#[test]
fn a_part_for_which_there_is_no_budget_is_missed_for_that() {
    let (test_store, mut run) = service(rates().page(OTHER, &[(-10, "1")]));
    let query = run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")).unwrap();
    run.run_until(at(100));
    run.set_budget(dunlin_engine::Pace { per_second: 0.0 });
    run.run_until(at(700));
    let missed = misses(&test_store.store, query);
    // What was saved up has served the first one.
    assert_eq!(reasons(&missed), [("rate".to_owned(), "budget".to_owned())]);
    assert!(missed[0].miss.parts.contains("there is no budget"), "{}", missed[0].miss.parts);
}

/// Nobody else is asked meanwhile: what is missing is budget, although there is some again when the interval is over.
#[test]
fn in_a_shortage_the_hosts_are_not_to_blame() {
    let urls: Vec<String> = (0..5).map(|number| format!("http://host{number}.test/")).collect();
    let web = urls.iter().fold(Texts::default(), |web, url| web.page(url, &[(-10, "1")]));
    let (test_store, mut run) = service(web);
    let queries: Vec<_> = (1..).zip(&urls).map(|(weight, url)| {
        let text = format!(
            "QUERY q{weight} SELECT value AS v FROM page '{url}' PICK '.last' EVERY 10 SECONDS WITHIN 9 SECONDS WEIGHT {weight}"
        );
        run.add_query(&text).unwrap()
    }).collect();
    run.run_until(at(60));
    run.set_budget(dunlin_engine::Pace { per_second: 0.1 });
    run.run_until(at(120));
    let before: Vec<usize> = queries.iter().map(|query| misses(&test_store.store, *query).len()).collect();
    run.run_until(at(600));
    let missed =
        queries.iter().zip(before).flat_map(|(query, n)| misses(&test_store.store, *query).split_off(n));
    let missed: Vec<_> = missed.collect();
    assert!(missed.len() > 100, "{}", missed.len());
    assert!(reasons(&missed).iter().all(|(_, why)| why == "budget"), "{:?}", reasons(&missed));
    let says_more = |miss: &dunlin_store::StoredMiss| miss.miss.parts.contains("probes worth");
    assert!(missed.iter().any(says_more), "{}", missed[0].miss.parts);
}

/// A list may have more items than a result.
#[test]
fn what_is_new_comes_first_in_a_part() {
    let list = |n: usize| {
        let rows: Vec<String> = (0..n).map(|id| format!("{{\"id\": {id}, \"title\": \"T{id}\"}}")).collect();
        format!("[{}]", rows.join(","))
    };
    let states = [(-10, list(120)), (900, list(123))];
    let states: Vec<(i64, &str)> = states.iter().map(|(at, text)| (*at, text.as_str())).collect();
    let (test_store, mut run) = service(rates().raw("http://list.test/", &states));
    let text = format!(
        "{RATE} EVERY 10 MINUTES SELECT item AS row FROM json 'http://list.test/' PICK '$[*]' WITHIN 5 MINUTES"
    );
    let query = run.add_query(&text).unwrap();
    run.run_until(at(1_600));
    let results = results(&test_store.store, query);
    let items: Vec<serde_json::Value> = serde_json::from_str(&results[1].result.parts[1].items).unwrap();
    let is_new: Vec<bool> = items.iter().map(|item| item["new"] != false).collect();
    assert_eq!((&is_new[..4], is_new.len()), (&[true, true, true, false][..], 100), "{}", items[0]);
}

/// Each result needs a new bid in both auctions, seen in any order.
#[test]
fn parts_that_wait_for_a_change_are_captured_by_changes_alone() {
    let first = "http://auction.test/1";
    let second = "http://auction.test/2";
    let web = Texts::default()
        .page(first, &[(-10, "300"), (2_000, "310"), (6_000, "320")])
        .page(second, &[(-10, "290"), (4_000, "305")]);
    let (test_store, mut run) = service(web);
    let query = run
        .add_query(
            "QUERY auctions
               SELECT value AS first FROM page 'http://auction.test/1' PICK '.last' ON CHANGE OVERWRITTEN
               SELECT value AS second FROM page 'http://auction.test/2' PICK '.last' ON CHANGE WITHIN 1 HOUR",
        )
        .unwrap();
    run.run_until(at(9_000));
    let (results, missed) = (results(&test_store.store, query), misses(&test_store.store, query));
    assert_eq!(
        told(&results[0]),
        [("first".to_owned(), vec!["310".to_owned()]), ("second".to_owned(), vec!["305".to_owned()]),]
    );
    assert_eq!((results.len(), missed.len()), (1, 0));
    run.run_until(at(12_000));
    let missed = misses(&test_store.store, query);
    assert_eq!(reasons(&missed), [("second".to_owned(), "unchanged".to_owned())]);
}

#[test]
fn queries_of_several_owners_on_one_address_share_its_probes() {
    let (test_store, mut run) = service(rates());
    let queries: Vec<_> = (0..20)
        .map(|number| {
            let text = format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")
                .replace("rate S", &format!("rate{number} S"));
            run.add_query(&text).unwrap()
        })
        .collect();
    run.run_until(at(1_000));
    for query in &queries {
        assert_eq!(results(&test_store.store, *query).len(), 3);
    }
    let n_asked = run.world().asked(RATES).len();
    assert!(n_asked <= 5, "{n_asked} requests for what three and a first one tell");
    assert_eq!(test_store.store.sources(&SourceQuery::first(100)).unwrap().len(), 1);
}

/// The blog has been read and the rate has not: after the kill only the rate is asked for, and the result is told once.
#[test]
fn what_an_instance_has_captured_outlives_a_kill() {
    let blog = "http://blog.test/feed";
    let mut web = rates().feed(blog, &[(100, "Oil rises")]);
    web.broken.insert(RATES.to_owned(), at(0));
    let (test_store, mut run) = service(web);
    let query = run
        .add_query(
            "QUERY desk
               SELECT item AS post FROM feed 'http://blog.test/feed' EVERY 10 MINUTES WITHIN 2 MINUTES
               SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' WHEN post CONTAINS 'oil' WITHIN 20 MINUTES",
        )
        .unwrap();
    run.run_until(at(760));
    let store = &test_store.store;
    assert_eq!(store.instances(None, 9).unwrap().len(), 1);
    let mut web = run.kill();
    web.broken.clear();
    web.log.clear();
    let mut run = started(&test_store, web, 765);
    run.run_until(at(1_190));
    let results = results(store, query);
    assert_eq!(
        results.iter().map(told).collect::<Vec<_>>(),
        [[("post".to_owned(), vec!["Oil rises".to_owned()]), ("rate".to_owned(), vec!["80.00".to_owned()]),]]
    );
    assert_eq!(run.world().asked(blog), [], "the post was not asked for again");
    assert_eq!(misses(store, query), []);
    let open = CeiQuery { after: None, state: Some(CeiState::Open), limit: 9 };
    assert_eq!((store.ceis(&open).unwrap(), store.instances(None, 9).unwrap()), (vec![], vec![]));
}

#[test]
fn an_instance_that_should_have_begun_while_nothing_ran_begins_late_if_it_can() {
    let (test_store, mut run) = service(rates());
    let query = run.add_query(&format!("{RATE} EVERY 1 HOUR WITHIN 20 MINUTES")).unwrap();
    run.run_until(at(3_000));
    let web = run.kill();
    // In time for the second hour, and too late for the third.
    let mut run = started(&test_store, web, 3_900);
    run.run_until(at(7_000));
    assert_eq!(results(&test_store.store, query).len(), 1);
    let web = run.kill();
    let mut run = started(&test_store, web, 9_000);
    run.run_until(at(10_000));
    assert_eq!(results(&test_store.store, query).len(), 1);
}

#[test]
fn an_edited_query_goes_by_its_new_text_and_a_paused_one_not_at_all() {
    let (test_store, mut run) = service(rates().page(OTHER, &[(-10, "1")]));
    let query = run.add_query(&format!("{RATE} EVERY 5 MINUTES WITHIN 1 MINUTE")).unwrap();
    run.run_until(at(400));
    let other =
        "QUERY rate SELECT value AS other FROM page 'http://other.test/' PICK '.last' EVERY 10 MINUTES";
    run.edit_query(query, other).unwrap();
    run.run_until(at(1_300));
    let names = |from: usize| -> Vec<String> {
        results(&test_store.store, query)[from..].iter().map(|result| told(result)[0].0.clone()).collect()
    };
    assert_eq!(names(0), ["rate", "other", "other"]);
    run.pause_query(query, true).unwrap();
    run.run_until(at(3_000));
    assert_eq!(names(3), [""; 0]);
    assert_eq!(run.explain_query(query).unwrap().next_begin, None);
    run.pause_query(query, false).unwrap();
    assert_eq!(run.explain_query(query).unwrap().next_begin, Some(at(3_000)), "that interval is not over");
    run.run_until(at(4_000));
    assert_eq!(names(3), ["other", "other"]);
    run.remove_query(query).unwrap();
    run.run_until(at(9_000));
    assert_eq!(test_store.store.sources(&SourceQuery::first(9)).unwrap(), [], "they were there for it alone");
    assert_eq!(run.stats().queries, 0);
}

#[test]
fn a_text_with_errors_or_too_much_to_ask_is_refused_and_leaves_nothing() {
    let (test_store, mut run) = service(rates());
    let refused = |text: &str, run: &mut Simulation<Texts>| run.add_query(text).unwrap_err().to_string();
    let unread = refused("QUERY a SELECT value AS v FROM page 'http://x.test/' EVRY 1 HOUR", &mut run);
    assert!(unread.contains("line 1, column 54"), "{unread}");
    assert!(refused("QUERY a SELECT item AS v FROM source 77 EVERY 1 HOUR", &mut run).contains("77"));
    assert!(
        refused("QUERY a SELECT value AS v FROM page 'http://x.test/' PICK '..' EVERY 1 HOUR", &mut run)
            .contains("CSS")
    );
    let two = format!("{RATE} EVERY 1 HOUR {RATE} EVERY 1 HOUR").replacen("rate S", "other S", 1);
    assert!(refused(&two, &mut run).contains("expected one"));
    run.set_budget(dunlin_engine::Pace { per_second: 1.0 });
    let part =
        |number| format!(" SELECT value AS v{number} FROM page 'http://x.test/{number}' EVERY 1 SECOND");
    let parts = [0, 1, 2].map(part).concat();
    let fast = refused(&format!("QUERY fast{parts}"), &mut run);
    assert!(fast.contains("3.0") && fast.contains("1.0"), "{fast}");
    assert_eq!(test_store.store.sources(&SourceQuery::first(9)).unwrap(), []);
}

#[test]
fn what_may_just_be_asked_is_installed() {
    let (_test_store, mut run) = service(rates());
    run.set_budget(dunlin_engine::Pace { per_second: 1.0 });
    let words = |n: usize| (0..n).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let watch = |name: &str, n: usize| format!("QUERY {name} WATCH '{}' IMPORTANCE 1", words(n));
    run.add_query(&watch("sixteen", 16)).unwrap();
    let refused = run.add_query(&watch("seventeen", 17)).unwrap_err().to_string();
    assert!(refused.contains("17 different words") && refused.contains("at most 16"), "{refused}");
    // One source that is read twice wants one probe, and what depends on a capture wants none by the clock.
    let part = |name: &str, rest: &str| {
        format!(" SELECT value AS {name} FROM page 'http://rates.test/brent' {rest}")
    };
    let twice = format!("QUERY both{}{}", part("a", "EVERY 1 SECOND"), part("b", "EVERY 1 SECOND"));
    run.add_query(&twice).unwrap();
    let when = " SELECT value AS c FROM page 'http://other.test/' WHEN a > 1 WITHIN 10 SECONDS";
    run.add_query(&format!("QUERY dependent{}{when}", part("a", "EVERY 1 SECOND"))).unwrap();
    let other = " SELECT value AS c FROM page 'http://other.test/' WITHIN 10 SECONDS";
    assert!(run.add_query(&format!("QUERY fast{}{other}", part("a", "EVERY 1 SECOND"))).is_err());
    // One that ends now is over; the run begins at 2027-01-15T08:00.
    let until = |time: &str| format!("QUERY ends{} UNTIL {time}", part("a", "EVERY 1 HOUR"));
    assert!(run.add_query(&until("2027-01-15T08:00")).unwrap_err().to_string().contains("over"));
    run.add_query(&until("2027-01-15T08:01")).unwrap();
}

/// As no capture of it would be told.
#[test]
fn a_query_that_is_tried_by_its_words_passes_over_what_is_read_for_queries_only() {
    let posts = [(600, "Hurricane over Florida"), (1_200, "Florida after the hurricane")];
    let (test_store, mut run) = service(Texts::default().feed("http://weather.test/", &posts));
    run.add_query("QUERY posts SELECT item AS post FROM feed 'http://weather.test/' EVERY 5 MINUTES")
        .unwrap();
    run.run_until(at(2_000));
    let rehearsed = |run: &Simulation<Texts>| {
        let text = "QUERY storms WATCH 'hurricane florida' IMPORTANCE 1";
        let rehearsal =
            dunlin_engine::queries::rehearse(text, &*test_store.store, &settings(), run.clock()).unwrap();
        (rehearsal.n_results, rehearsal.span.is_some())
    };
    assert_eq!(rehearsed(&run), (0, false));
    run.add_source(crate::fixtures::feed("http://weather.test/")).unwrap();
    run.run_until(at(4_000));
    assert!(rehearsed(&run).1, "one that is watched counts");
}

/// A source that a query has added is nobody's, whatever it is called.
#[test]
fn a_source_that_is_there_for_queries_has_no_name_and_no_number_for_others() {
    let (_test_store, mut run) = service(rates());
    run.add_query(&format!("{RATE} EVERY 1 HOUR")).unwrap();
    let by_number =
        run.add_query("QUERY a SELECT item AS v FROM source 1 EVERY 1 HOUR").unwrap_err().to_string();
    assert!(by_number.contains("for queries only"), "{by_number}");
    let named = dunlin_store::SourceEdit { name: Some(Some("Rates".to_owned())), ..Default::default() };
    run.edit_source(dunlin_store::SourceId(1), named).unwrap();
    let by_name =
        run.add_query("QUERY a SELECT item AS v FROM source 'Rates' EVERY 1 HOUR").unwrap_err().to_string();
    assert!(by_name.contains("no source is called `Rates`"), "{by_name}");
}

#[test]
fn a_query_that_would_bring_too_many_sources_is_refused_with_the_figures() {
    let test_store = test_store();
    let settings = Settings { most_query_sources: 2, ..settings() };
    let mut run = Simulation::new(test_store.store.clone(), settings, rates(), at(0)).unwrap();
    let query = |name: &str, n_pages: usize| {
        let part = |number| {
            format!(" SELECT value AS v{number} FROM page 'http://{name}{number}.test/' EVERY 1 HOUR")
        };
        let parts: Vec<String> = (0..n_pages).map(part).collect();
        format!("QUERY {name}{}", parts.concat())
    };
    run.add_query(&query("one", 1)).unwrap();
    let refused = run.add_query(&query("two", 2)).unwrap_err().to_string();
    assert!(refused.contains("`two` adds up to 2 sources, and there are 1 of the 2"), "{refused}");
    run.add_query(&query("three", 1)).unwrap();
}

/// A user watches the page too: both are served, and its changes are told.
#[test]
fn a_source_that_is_watched_can_be_read_by_a_query() {
    let (test_store, mut run) = service(rates());
    let source = run.add_source(page(RATES)).unwrap();
    let text = format!("QUERY rate SELECT item AS rate FROM source {source} EVERY 5 MINUTES WITHIN 1 MINUTE");
    let query = run.add_query(&text).unwrap();
    run.run_until(at(3_000));
    // Probes in between found the page as it was, and there was nothing to tell.
    let results = results(&test_store.store, query);
    assert!(results.len() == 1 && results[0].result.parts[0].items.contains("78.00"), "{results:?}");
    assert_eq!(n_changes(&*test_store.store), 1);
    assert!(run.remove_source(source).unwrap_err().to_string().contains("`rate`"));
}

/// The desk's query was not installed when all this happened, but two people watched the blog and the rate.
#[test]
fn a_query_is_tried_on_what_is_stored() {
    let blog = "http://blog.test/feed";
    let posts = [(1_000, "Gold rises"), (2_000, "Crude oil rises"), (3_700, "Turmoil"), (4_000, "Oil falls")];
    let web = Texts::default().feed(blog, &posts).page(RATES, &[(-10, "80.00"), (3_000, "78.00")]);
    let (test_store, mut run) = service(web);
    run.add_source(crate::fixtures::feed(blog)).unwrap();
    run.add_source(page(RATES)).unwrap();
    run.run_until(at(6_000));
    let rehearse = |text: &str| {
        dunlin_engine::queries::rehearse(text, &*test_store.store, &settings(), at(6_000)).unwrap()
    };
    let desk = "QUERY desk
        SELECT item AS post FROM feed 'http://blog.test/feed' EVERY 10 MINUTES WITHIN 2 MINUTES
        SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' WHEN post CONTAINS 'oil' WITHIN 10 MINUTES";
    let tried = rehearse(desk);
    let told: Vec<_> = tried
        .results
        .iter()
        .map(|result| (result.parts[0].3[0]["title"].clone(), result.parts[1].3[0]["value"].clone()))
        .collect();
    assert_eq!(told, [("Crude oil rises".into(), "80.00".into()), ("Oil falls".into(), "78.00".into())]);
    assert_eq!((tried.n_results, tried.n_missed, tried.unknown.len()), (2, 0, 0));
    assert_eq!(tried.n_instances, tried.n_results + tried.n_silent);
    let changes = rehearse(
        "QUERY rate SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' ON CHANGE WHERE rate < 79",
    );
    assert_eq!((changes.n_instances, changes.n_results), (1, 1));
    let nowhere = rehearse("QUERY gone SELECT value AS x FROM page 'http://nowhere.test/' EVERY 10 MINUTES");
    assert_eq!((nowhere.span, nowhere.n_instances), (None, 0));
    assert_eq!(test_store.store.queries(&dunlin_store::QueryFilter { after: None, limit: 9 }).unwrap(), []);
}

/// The second of each pair asks the same in a way that no word of it can be looked up by.
#[test]
fn a_query_that_is_looked_up_by_its_words_tells_what_one_that_sees_every_change_tells() {
    let blog = "http://blog.test/feed";
    let titles = ["Oil rises", "Gold falls", "Turmoil in town", "Weather", "The oil of tomorrow"];
    let order = [1, 4, 4, 1, 0].iter().cycle();
    let posts: Vec<(i64, &str)> =
        (1..40).zip(order).map(|(number, title): (i64, &usize)| (number * 700, titles[*title])).collect();
    let words = ["sold out", "in stock", "few"].iter().cycle();
    let values: Vec<(i64, String)> =
        (0..30).zip(words).map(|(number, words)| (number * 900 - 10, format!("{number} {words}"))).collect();
    let values: Vec<(i64, &str)> = values.iter().map(|(at, value)| (*at, value.as_str())).collect();
    let (test_store, mut run) = service(Texts::default().feed(blog, &posts).page(OTHER, &values));
    let post = "SELECT item AS post FROM feed 'http://blog.test/feed' ON CHANGE";
    let stock = "SELECT value AS stock FROM page 'http://other.test/' PICK '.last' ON CHANGE";
    let more = "SELECT value AS stock FROM page 'http://other.test/' PICK '.last'";
    let hidden = "OR post.title MATCHES 'no such title'";
    let texts = [
        (
            format!("{post} WHERE post CONTAINS '%oil%'"),
            format!("{post} WHERE post CONTAINS '%oil%' {hidden}"),
        ),
        (
            format!("{post} {more} WHEN post CONTAINS 'oil' WITHIN 5 MINUTES"),
            format!("{post} {more} WHEN post CONTAINS 'oil' {hidden} WITHIN 5 MINUTES"),
        ),
        (
            format!("{stock} WHERE stock CONTAINS 'sold out'"),
            format!("{stock} WHERE stock CONTAINS 'sold out' OR stock MATCHES 'no such value'"),
        ),
    ];
    let mut pairs = Vec::new();
    for (number, (by_words, by_all)) in texts.iter().enumerate() {
        let one = run.add_query(&format!("QUERY by_words{number} {by_words}")).unwrap();
        pairs.push((one, run.add_query(&format!("QUERY by_all{number} {by_all}")).unwrap()));
    }
    run.run_until(at(29_000));
    for (by_words, by_all) in pairs {
        let all = |query| {
            results(&test_store.store, query)
                .iter()
                .map(|result| (result.result.at, told(result)))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(by_words), all(by_all));
        assert!((5..30).contains(&all(by_words).len()), "{}", all(by_words).len());
        assert_eq!(misses(&test_store.store, by_words).len(), misses(&test_store.store, by_all).len());
    }
}

/// A host takes one probe in two seconds here, which is enough for two parts in five.
#[test]
fn two_parts_on_one_host_are_captured_within_seconds() {
    let web = Texts::default()
        .raw("http://x.test/a", &[(-10, "{\"v\": 1}")])
        .raw("http://x.test/b", &[(-10, "{\"v\": 2}")]);
    let (test_store, mut run) = service(web);
    let query = run
        .add_query(
            "QUERY both
               SELECT value AS a FROM json 'http://x.test/a' PICK '$.v' EVERY 5 SECONDS
               SELECT value AS b FROM json 'http://x.test/b' PICK '$.v' WITHIN 5 SECONDS",
        )
        .unwrap();
    run.run_until(at(300));
    let (captured, missed) =
        (results(&test_store.store, query).len(), misses(&test_store.store, query).len());
    let log: Vec<_> = run
        .world()
        .log
        .iter()
        .skip(20)
        .take(20)
        .map(|(at, url, _)| (at.since(crate::web::at(0)), url.clone()))
        .collect();
    assert!(captured >= 9 * missed, "{captured} captured, {missed} missed: {log:?}");
}
