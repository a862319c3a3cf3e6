//! Pages as people meet them, through the service's own detection: one true change among clocks, counters and rotations.

use std::collections::BTreeSet;

use dunlin_core::Time;
use dunlin_engine::Settings;
use dunlin_engine::detection::{Content, Detected, Detection};
use dunlin_store::{Health, NewSource};

const START: i64 = 1_794_744_000;

/// What is noise on a page: a function of how many times it was made.
type Noise = fn(usize) -> String;

/// Words in an order that looks like chance and is the same every time.
fn picked(pool: &[&str], n: usize, salt: usize) -> String {
    pool[(n * 7 + n * n * 3 + salt * 5) % pool.len()].to_owned()
}

fn clock(n: usize) -> String {
    format!("<p>Last updated 14:{:02}</p>", n * 5 % 60)
}

fn posted(n: usize) -> String {
    format!("<p>posted {} minutes ago</p>", n * 5 + 3)
}

fn most_read(n: usize) -> String {
    let pool = ["Ships", "Birds", "Boats", "Tides", "Winds", "Sands", "Gulls", "Piers"];
    let items: Vec<String> = (0..3).map(|salt| picked(&pool, n, salt)).collect();
    format!("<aside><h3>Most read</h3><ol><li>{}</li></ol></aside>", items.join("</li><li>"))
}

fn advertisement(n: usize) -> String {
    let pool = ["Buy a boat", "Rent a pier", "Feed a gull", "Sail away", "New ropes"];
    format!("<div class=\"ad\">{}</div>", picked(&pool, n, 1))
}

fn counter(n: usize) -> String {
    format!("<p>{} views</p>", 1_204 + n * 17)
}

fn token(n: usize) -> String {
    format!("<p>Session {:08x}a{:04x}</p>", n * 2_654_435_761 % 0xffff_ffff, n * 40_503 % 0xffff)
}

const KINDS: [(&str, Noise); 6] = [
    ("clock", clock),
    ("posted", posted),
    ("most read", most_read),
    ("advertisement", advertisement),
    ("counter", counter),
    ("token", token),
];

/// A page with a price that changes at the eighth content.
fn page(n: usize, noises: &[Noise]) -> String {
    let price = if n < 8 { "€ 19.99" } else { "€ 17.49" };
    let noise: String = noises.iter().map(|noise| noise(n)).collect();
    format!(
        "<html><head><title>Shop</title></head><body><nav><a>Home</a></nav><main><h1>Teapot</h1>\
         <p>A pot of clay, made by hand.</p><p>Price: {price} incl. VAT</p></main>{noise}\
         <footer>Written by hand.</footer></body></html>"
    )
}

/// Shows contents, five minutes apart.
fn shown(source: &NewSource, bodies: impl IntoIterator<Item = String>) -> Vec<Detected> {
    let mut detection = Detection::new(source, Settings::default()).unwrap();
    let see = |(n, body): (i64, String)| {
        let at = Time::from_seconds(START + n * 300);
        detection.see(&Content { at, body: body.as_bytes(), media_type: "text/html" }).unwrap()
    };
    (0..).zip(bodies).map(see).collect()
}

fn watched() -> NewSource {
    NewSource::page("http://shop.example/teapot", Time::from_seconds(START))
}

/// The summaries of all changes, with the number of the content.
fn told(detected: &[Detected]) -> Vec<(usize, String)> {
    let all = detected.iter().enumerate();
    all.flat_map(|(n, found)| found.changes.iter().map(move |change| (n, change.summary.clone()))).collect()
}

#[test]
fn a_true_change_is_told_once_among_any_noise() {
    let truth = (8, "Teapot: Price: € 19.99 → € 17.49 incl. VAT".to_owned());
    let all: Vec<Noise> = KINDS.iter().map(|(_, noise)| *noise).collect();
    for (name, noises) in
        KINDS.iter().map(|(name, noise)| (*name, vec![*noise])).chain([("all of them", all)])
    {
        let told = told(&shown(&watched(), (0..13).map(|n| page(n, &noises))));
        let false_alarms: BTreeSet<usize> =
            told.iter().filter(|said| **said != truth).map(|(content, _)| *content).collect();
        assert!(false_alarms.len() <= 1, "{name}: {told:?}");
        assert_eq!(told.iter().filter(|said| **said == truth).count(), 1, "{name}: {told:?}");
    }
}

#[test]
fn every_silence_has_a_reason() {
    let found = shown(&watched(), (0..3).map(|n| page(n, &[clock, counter, token, advertisement])));
    let quiet = found.iter().flat_map(|found| &found.suppressed);
    let reasons: Vec<&str> = quiet.map(|quiet| quiet.reason.code()).collect();
    for reason in ["clock", "counter", "code", "extra"] {
        assert!(reasons.contains(&reason), "{reason}: {reasons:?}");
    }
}

#[test]
fn a_page_that_is_not_the_page_for_a_while_is_no_news_and_neither_is_its_return() {
    let good = |price: &str| page(0, &[]).replace("€ 19.99", price);
    let bad = "<html><body><h1>Maintenance</h1><p>We will be back soon.</p></body></html>".to_owned();
    let cut = good("€ 19.99")[..140].to_owned();
    let bodies = [good("€ 19.99"), bad.clone(), good("€ 19.99"), cut, bad, good("€ 15.00")];
    let found = shown(&watched(), bodies);
    assert_eq!(told(&found), [(5, "Teapot: Price: € 19.99 → € 15.00 incl. VAT".to_owned())]);
    let (well, attention) = (Health::Well, Health::Attention);
    let health: Vec<Health> = found.iter().map(|found| found.health).collect();
    assert_eq!(health, [well, attention, well, attention, attention, well]);
    assert!(found[1].reason.contains("maintenance"), "{}", found[1].reason);
}

#[test]
fn a_selector_that_finds_nothing_needs_attention() {
    let recipe = r#"{"recipe":{"kind":"html_selector","css":".price"}}"#.to_owned();
    let source = NewSource { recipe, ..watched() };
    let found = shown(&source, [page(0, &[]), page(0, &[]).replace("Price", "Cost")]);
    for found in found {
        assert_eq!((found.health, found.changes.len()), (Health::Attention, 0), "{}", found.reason);
    }
}
