//! What is learned of a page's flicker, and what is suppressed for it.

use dunlin_extract::flicker::{BurstState, Suppression};
use dunlin_extract::{Flicker, Item, Work};

use crate::reading::{item, page};

/// Runs through the versions and says, for each step, how many changes were reported and how many suppressed.
fn counts(mut flicker: Flicker, versions: &[Vec<Item>]) -> Vec<(usize, usize)> {
    let mut counts = Vec::new();
    for pair in versions.windows(2) {
        let (next, verdict) = flicker.observe(&pair[0], &pair[1]);
        counts.push((verdict.reported.len(), verdict.suppressed.len()));
        flicker = next;
    }
    counts
}

#[test]
fn a_page_that_flips_between_two_states_is_reported_once() {
    let (a, b, c) = (page("<p>same<p>A"), page("<p>same<p>B"), page("<p>same<p>C"));
    let versions = [a.clone(), b.clone(), a.clone(), b, a, c];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (0, 1), (0, 1), (0, 1), (1, 0)]);
}

#[test]
fn two_parts_that_flip_independently_are_known_in_any_combination() {
    let state = |x: &str, y: &str| page(&format!("<p>top<p>{x}<p>middle<p>{y}<p>end"));
    let versions = [
        state("a", "c"),
        state("b", "c"),
        state("b", "d"),
        state("a", "d"),
        state("b", "c"),
        state("a", "e"),
    ];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (1, 0), (0, 1), (0, 1), (1, 0)]);
}

#[test]
fn an_item_that_comes_and_goes_is_reported_gone_once() {
    let (with, without) = (vec![item("1", "a", "x"), item("2", "b", "x")], vec![item("1", "a", "x")]);
    let versions = [without.clone(), with.clone(), without.clone(), with, without];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (1, 0), (0, 1), (0, 1)]);
}

fn news(views: u32, teaser: &str, story: &str) -> Vec<Item> {
    page(&format!("<h1>News</h1><p>{views} views<h2>Read also</h2><p>{teaser}<h2>Stories</h2><p>{story}"))
}

/// Compares the probes of a burst with the first of them until the burst is done.
fn run_burst(mut flicker: Flicker, probes: &[Vec<Item>]) -> (Flicker, usize) {
    for (n, probe) in (1..).zip(&probes[1..]) {
        let (next, state) = flicker.observe_burst(&probes[0], probe, &Work::default());
        if state == BurstState::Done {
            return (next, n);
        }
        flicker = next;
    }
    panic!("the burst never ends");
}

#[test]
fn a_part_that_differs_at_every_probe_of_a_burst_is_never_reported() {
    let probes = [
        news(1, "cats", "story one"),
        news(22, "dogs", "story one"),
        news(23, "pigs", "story one"),
        news(25, "hens", "story one"),
    ];
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 3);
    assert!(flicker.is_learned());
    let versions = [
        news(22, "dogs", "story one"),
        news(333, "birds", "story one"),
        news(4444, "fish", "story two"),
        news(4444, "mice", "story two"),
    ];
    assert_eq!(counts(flicker.clone(), &versions), [(0, 1), (1, 0), (0, 1)]);
    let (_, verdict) = flicker.clone().observe(&versions[0], &versions[1]);
    assert_eq!(verdict.suppressed[0].1, Suppression::Flickers);
    // It was no flicker after all.
    assert_eq!(counts(flicker.stayed_the_same(), &versions[..2]), [(1, 0)]);
}

#[test]
fn a_part_that_stays_for_two_probes_of_a_burst_is_a_change() {
    let probes = [
        news(1, "cats", "story one"),
        news(1, "cats", "story two"),
        news(1, "cats", "story two"),
        news(1, "cats", "story three"),
    ];
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 2);
    assert_eq!(counts(flicker, &[probes[0].clone(), probes[2].clone()]), [(1, 0)]);
    // Also beside something that flickers.
    let probes = [
        news(1, "cats", "story one"),
        news(2, "cats", "story one"),
        news(3, "cats", "story two"),
        news(4, "cats", "story two"),
    ];
    let (flicker, _) = run_burst(Flicker::default(), &probes);
    assert_eq!(counts(flicker.clone(), &[probes[0].clone(), probes[1].clone()]), [(0, 1)]);
    assert_eq!(counts(flicker, &[probes[0].clone(), probes[3].clone()]), [(1, 0)]);
}

#[test]
fn a_burst_ends_even_if_every_probe_shows_another_page() {
    let probes: Vec<Vec<Item>> =
        (0..9).map(|n| vec![item(&n.to_string(), "teaser", "buy"), item("s", "story", "news")]).collect();
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 4);
    // Teasers that came and went are known.
    assert_eq!(counts(flicker, &[probes[4].clone(), probes[2].clone()])[0].0, 1);
}

#[test]
fn one_line_that_returns_does_not_hide_another() {
    let probe = |first: &str, second: &str| page(&format!("<p>red boat<p>{first}<p>blue boat<p>{second}"));
    let versions = [probe("for sale", "for sale"), probe("sold", "for sale"), probe("sold", "sold")];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (1, 0)]);
}

#[test]
fn the_state_is_bounded_and_survives_storage() {
    let mut flicker = Flicker::default();
    let mut before = Vec::new();
    for round in 0..40 {
        let now: Vec<Item> = (0..100).map(|n| item(&format!("{round}-{n}"), "t", &n.to_string())).collect();
        flicker = flicker.observe(&before, &now).0.observe_burst(&before, &now, &Work::default()).0;
        before = now;
    }
    let stored = serde_json::to_string(&flicker).unwrap();
    assert!(stored.len() < 32 << 10, "{}", stored.len());
    assert_eq!(serde_json::from_str::<Flicker>(&stored).unwrap(), flicker);
    assert_eq!(serde_json::from_str::<Flicker>("{}").unwrap(), Flicker::default());
}
