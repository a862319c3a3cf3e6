//! Answers that are not what the owner of a source meant: a page in the place of a feed, a first look at a sign-in page, a notice.
//! And the value that a user has chosen, which is always what was meant.

use dunlin_core::Time;
use dunlin_engine::capture::{Failure, ProbeOutcome, Refusal};
use dunlin_engine::detection::{Content, Detected, Detection};
use dunlin_engine::{RobotsRule, Settings};
use dunlin_net::politeness::Outcome as PolitenessOutcome;
use dunlin_store::{Health, NewSource};

use crate::driver::ControlDriver;
use crate::fixtures::{all_changes, page, simulation, state, summaries, test_store};
use crate::web::{Fault, Kind, Web, at};

const HOUR: i64 = 3_600;
const NOTICE: &str = "<html><body><h1>Maintenance</h1><p>We will be back soon.</p></body></html>";
const SIGN_IN: &str = "<html><head><title>Shop</title></head><body><h1>Welcome</h1><form><input name=user>\
                       <input type=password name=word><button>Go</button></form></body></html>";
const SCRIPTS: &str = "<html><head><title>Shop</title><script src=app.js></script></head><body><div id=root></div></body></html>";

fn shop(price: &str) -> String {
    format!(
        "<html><head><title>Shop</title></head><body><main><h1>Teapot</h1><p>A pot of clay, made by hand.</p>\
         <p>Price: {price}</p><p>Glazed blue.</p></main></body></html>"
    )
}

fn feed(entries: usize) -> String {
    let items = (1..=entries).rev().map(|n| format!("<item><guid>{n}</guid><title>Entry {n}</title></item>"));
    format!("<rss version='2.0'><channel><title>News</title>{}</channel></rss>", items.collect::<String>())
}

fn watched(recipe: &str) -> NewSource {
    let recipe = format!(r#"{{"recipe":{recipe}}}"#);
    NewSource { kind: "auto".to_owned(), recipe, ..NewSource::page("http://shop.example/teapot", at(0)) }
}

/// A source that is shown contents at given seconds.
struct Shown(Detection);

impl Shown {
    fn new(source: &NewSource) -> Self {
        Self(Detection::new(source, Settings::default()).unwrap())
    }

    fn see(&mut self, seconds: i64, body: &str) -> Detected {
        self.0.see(&Content { at: at(seconds), body: body.as_bytes(), media_type: "" }).unwrap()
    }

    /// Its health, and what is told.
    fn found(&mut self, seconds: i64, body: &str) -> (Health, Vec<String>) {
        let found = self.see(seconds, body);
        (
            found.health,
            found.changes.iter().map(|change| format!("{} {}", change.kind, change.summary)).collect(),
        )
    }
}

const AUTO: &str = r#"{"kind":"auto"}"#;
const WELL: (Health, Vec<String>) = (Health::Well, Vec::new());
const ATTENTION: (Health, Vec<String>) = (Health::Attention, Vec::new());

#[test]
fn a_page_in_the_place_of_a_feed_or_of_data_is_waited_out() {
    let data = |n: usize| format!(r#"{{"stations":[{{"name":"Pier","boats":{n}}}],"open":true}}"#);
    for (before, after) in [(feed(3), feed(4)), (data(1), data(2))] {
        let mut shown = Shown::new(&watched(AUTO));
        assert_eq!(shown.found(0, &before), WELL);
        let held = shown.see(300, &shop("€ 5"));
        assert_eq!((held.health, held.changes.len()), (Health::Attention, 0));
        assert!(held.reason.starts_with("it was ") && held.reason.contains("HTML"), "{}", held.reason);
        assert_eq!(shown.found(600, NOTICE), ATTENTION);
        let (health, told) = shown.found(900, &after);
        assert_eq!((health, told.len()), (Health::Well, 1), "{told:?}");
    }
}

#[test]
fn a_page_that_stays_in_the_place_of_a_feed_is_what_it_has_become() {
    let mut shown = Shown::new(&watched(AUTO));
    shown.see(0, &feed(30));
    for hour in 1..=24 {
        assert_eq!(shown.found(hour * HOUR, &shop("€ 5")), ATTENTION, "hour {hour}");
    }
    let (health, told) = shown.found(26 * HOUR, &shop("€ 5"));
    assert_eq!((health, told.len()), (Health::Well, 1), "its entries were not removed: {told:?}");
    let (_, told) = shown.found(27 * HOUR, &shop("€ 7"));
    assert!(told.len() == 1 && told[0].contains("€ 7"), "{told:?}");
}

#[test]
fn notices_on_and_off_are_not_what_a_page_has_become() {
    let mut shown = Shown::new(&watched(AUTO));
    assert_eq!(shown.found(0, &shop("€ 5")), WELL);
    for night in 1..20 {
        assert_eq!(shown.found(night * 24 * HOUR, NOTICE), ATTENTION, "night {night}");
        assert_eq!(shown.found(night * 24 * HOUR + HOUR, &shop("€ 5")), WELL, "night {night}");
    }
}

#[test]
fn a_first_answer_that_is_not_the_page_is_no_baseline() {
    for (first, says) in [(NOTICE, "Maintenance"), (SIGN_IN, "--header"), (SCRIPTS, "JavaScript")] {
        let mut shown = Shown::new(&watched(AUTO));
        let held = shown.see(0, first);
        assert_eq!((held.health, held.changes.len()), (Health::Attention, 0), "{says}");
        assert!(held.reason.contains(says), "{}", held.reason);
        assert_eq!(shown.found(60, first), ATTENTION);
        assert_eq!(shown.found(120, &shop("€ 5")), WELL, "{says}: nothing of the page is new");
        let (_, told) = shown.found(600, &shop("€ 7"));
        assert!(told.len() == 1 && told[0].contains("€ 5 → € 7"), "{says}: {told:?}");
    }
}

#[test]
fn a_first_page_that_stays_as_it_is_is_watched_and_needs_attention_as_long_as_it_is_of_no_use() {
    for (body, health) in [(NOTICE, Health::Well), (SIGN_IN, Health::Attention), (SCRIPTS, Health::Attention)]
    {
        let mut shown = Shown::new(&watched(AUTO));
        (0..4).for_each(|n| assert_eq!(shown.found(n * 600, body), ATTENTION));
        assert_eq!(shown.found(2 * HOUR, body), (health, Vec::new()), "{body}");
        let other = body.replace("</body>", "<p>Something else</p></body>");
        assert_eq!(shown.found(3 * HOUR, &other).0, health, "{body}");
        assert_eq!(shown.found(4 * HOUR, &shop("€ 5")).0, Health::Well, "{body}");
    }
}

#[test]
fn a_page_that_becomes_a_sign_in_page_or_one_of_scripts_is_waited_out() {
    for (body, says) in [(SIGN_IN, "--header"), (SCRIPTS, "JavaScript")] {
        let mut shown = Shown::new(&watched(AUTO));
        shown.see(0, &shop("€ 5"));
        let held = shown.see(300, body);
        assert_eq!((held.health, held.changes.len()), (Health::Attention, 0), "{says}");
        assert!(held.reason.contains(says), "{}", held.reason);
        assert_eq!(shown.found(600, &shop("€ 5")), WELL);
    }
}

#[test]
fn a_document_of_another_kind_than_was_asked_for_needs_attention_and_is_watched_all_the_same() {
    let page = NewSource { kind: "page".to_owned(), ..watched(AUTO) };
    for source in [page, watched(r#"{"kind":"html_main"}"#)] {
        let mut shown = Shown::new(&source);
        let first = shown.see(0, r#"{"price": 5}"#);
        assert_eq!(first.health, Health::Attention);
        assert!(first.reason.contains("expected") && first.reason.contains("JSON"), "{}", first.reason);
        let (health, told) = shown.found(300, r#"{"price": 7}"#);
        assert_eq!((health, told.len()), (Health::Attention, 1), "{told:?}");
    }
}

#[test]
fn a_recipe_that_finds_nothing_says_why_and_what_to_try() {
    let css = r#"{"kind":"html_selector","css":".price"}"#;
    for (body, says) in [(shop("€ 5"), "dunlin try"), (SIGN_IN.to_owned(), "--header")] {
        let found = Shown::new(&watched(css)).see(0, &body);
        assert_eq!(found.health, Health::Attention);
        assert!(found.reason.contains("nothing found") && found.reason.contains(says), "{}", found.reason);
    }
}

#[test]
fn a_value_that_was_chosen_by_itself_is_always_told() {
    let votes = |n: i64| format!(r#"{{"votes": {n}, "token": "9f86d0818{n:07}"}}"#);
    let line = |n: i64| {
        format!(
            "<html><body><h1>Poll</h1><p class=views>{} views</p><p id=clock>Last updated 14:{:02}</p>\
             <p class=code>9f86d0818{n:07}c</p><p>Some words.</p><p>More words.</p></body></html>",
            1_204 + n * 17,
            n * 7 % 60
        )
    };
    let path = |path: &str| format!(r#"{{"kind":"json_path","path":"{path}"}}"#);
    let css = |css: &str| format!(r#"{{"kind":"html_selector","css":"{css}"}}"#);
    let cases: [(String, &dyn Fn(i64) -> String); 6] = [
        (path("$.votes"), &votes),
        (path("$.token"), &votes),
        (css(".views"), &line),
        (css("#clock"), &line),
        (css(".code"), &line),
        (css(".views, #clock"), &line),
    ];
    for (recipe, body) in cases {
        let mut shown = Shown::new(&watched(&recipe));
        shown.see(0, &body(0));
        for n in 1..8 {
            let (health, told) = shown.found(n * 300, &body(n));
            assert!(health == Health::Well && !told.is_empty(), "{recipe}: {n}");
        }
    }
    // On the page as a whole the same is noise.
    let mut shown = Shown::new(&watched(AUTO));
    let told: Vec<String> = (0..8).flat_map(|n| shown.found(n * 300, &line(n)).1).collect();
    assert!(told.len() <= 1, "{told:?}");
}

#[test]
fn a_chosen_value_may_say_what_else_would_be_a_notice() {
    let status = |word: &str| format!("<html><body><p>Pump</p><h1 id=status>{word}</h1></body></html>");
    let mut shown = Shown::new(&watched(r##"{"kind":"html_selector","css":"#status"}"##));
    assert_eq!(shown.found(0, &status("offline")), WELL);
    let told = shown.found(300, &status("online")).1;
    assert!(told.len() == 1 && told[0].contains("offline → online"), "{told:?}");
    assert_eq!(shown.found(600, &status("offline")).1.len(), 1);
}

#[test]
fn answers_that_are_not_the_page_teach_nothing_and_date_nothing() {
    let url = "http://bad.example/page";
    let test_store = test_store();
    let mut web = Web::default();
    web.put(url, Kind::Page, &[7_000]);
    web.fail(url, 7_000, 20_000, Fault::Notice);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(url)).unwrap();
    run.run_until(at(6_900));
    let before = run.explain(source).unwrap();
    run.probe_now(source).unwrap();
    run.run_until(at(6_990));
    run.run_until(at(7_000));
    run.probe_now(source).unwrap();
    run.run_until(at(19_990));
    assert_eq!(state(&*test_store.store, source).0, Health::Attention);
    let held = run.explain(source).unwrap();
    let last_good: Option<Time> =
        run.world().probes_of("/page").into_iter().rfind(|probe| *probe < at(7_000));
    assert!(
        held.last_probe.is_some_and(|at_end| at_end >= last_good.unwrap() && at_end < at(7_000)),
        "{held:?}"
    );
    assert!(held.last_failure > held.last_probe, "{held:?}");
    assert!((held.forecast.evidence - before.forecast.evidence).abs() < 0.1, "{held:?}");
    let n_held = run.world().probes_of("/page").iter().filter(|probe| **probe >= at(7_000)).count();
    assert!((5..40).contains(&n_held), "{n_held} probes in three hours and a half");
    run.run_until(at(60_000));
    assert_eq!(state(&*test_store.store, source).0, Health::Well);
    assert_eq!(summaries(&*test_store.store, source).len(), 1);
    let changes = all_changes(&*test_store.store);
    let told = changes.iter().find(|change| change.found.kind == "edited").unwrap();
    assert_eq!(told.found.happened_after, held.last_probe, "it may have changed before the notice came");
}

/// Its host is well, and what was there may be back any time.
#[test]
fn a_page_with_another_in_its_place_is_tried_every_hour_however_long_that_lasts() {
    let mut driver = ControlDriver::new(|settings| settings.robots = RobotsRule::Ignore);
    driver.join(0, 1, "http://a.test/1");
    let (mut seconds, _) = driver.next(0);
    for _ in 0..10 {
        let failure = Failure::new(dunlin_core::Fault::Remote, "another page");
        let failure = Failure { refusal: Refusal::Replaced, ..failure };
        driver.probed(seconds, 1, PolitenessOutcome::Fine, ProbeOutcome::Failed(failure));
        let (next, asked) = driver.next(seconds + 1);
        assert_eq!(
            (asked.as_str(), next - seconds <= 3_600),
            ("probe 1", true),
            "after {seconds}, at {next}"
        );
        seconds = next;
    }
}
