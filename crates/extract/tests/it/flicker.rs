//! What is learned of a page's flicker, and what is kept quiet for it.

use dunlin_extract::flicker::Quiet;
use dunlin_extract::{Flicker, Item};

use crate::reading::{item, page};

/// Runs through the versions and says, for each step, how many changes were reported and how many kept quiet.
fn counts(mut flicker: Flicker, versions: &[Vec<Item>]) -> Vec<(usize, usize)> {
    let mut counts = Vec::new();
    for pair in versions.windows(2) {
        let (next, verdict) = flicker.observe(&pair[0], &pair[1]);
        counts.push((verdict.reported.len(), verdict.quiet.len()));
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
fn two_places_that_flip_independently_are_known_in_any_combination() {
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

#[test]
fn what_differs_between_two_looks_in_a_row_is_never_told() {
    let look = |views: u32, teaser: &str, story: &str| {
        page(&format!("<h1>News</h1><p>{views} views<h2>Read also</h2><p>{teaser}<h2>Stories</h2><p>{story}"))
    };
    let flicker = Flicker::default().learn(&look(1, "cats", "story one"), &look(22, "dogs", "story one"));
    let versions = [
        look(22, "dogs", "story one"),
        look(333, "birds", "story one"),
        look(4444, "fish", "story two"),
        look(4444, "mice", "story two"),
    ];
    assert_eq!(counts(flicker.clone(), &versions), [(0, 1), (1, 0), (0, 1)]);
    let (_, verdict) = flicker.observe(&versions[0], &versions[1]);
    assert_eq!(verdict.quiet[0].1, Quiet::Flickers);
}

#[test]
fn one_line_that_returns_does_not_hide_another() {
    let look = |first: &str, second: &str| page(&format!("<p>red boat<p>{first}<p>blue boat<p>{second}"));
    let versions = [look("for sale", "for sale"), look("sold", "for sale"), look("sold", "sold")];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (1, 0)]);
}

#[test]
fn the_state_is_bounded_and_survives_storage() {
    let mut flicker = Flicker::default();
    let mut before = Vec::new();
    for round in 0..40 {
        let now: Vec<Item> = (0..100).map(|n| item(&format!("{round}-{n}"), "t", &n.to_string())).collect();
        flicker = flicker.observe(&before, &now).0.learn(&before, &now);
        before = now;
    }
    let stored = serde_json::to_string(&flicker).unwrap();
    assert!(stored.len() < 32 << 10, "{}", stored.len());
    assert_eq!(serde_json::from_str::<Flicker>(&stored).unwrap(), flicker);
    assert_eq!(serde_json::from_str::<Flicker>("{}").unwrap(), Flicker::default());
}
