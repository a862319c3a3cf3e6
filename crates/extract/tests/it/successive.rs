//! Successive versions of a document, made here: what is reported of each step, against a truth found by crude means that
//! share nothing with the library. The same is asked of real pages in `reference`.

use std::collections::BTreeSet;

use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Change, Flicker, Item, detect};
use regex::Regex;

use crate::reading::read;

/// A feed of eight items, of which one is new in each version.
fn made_feed(version: usize) -> Vec<u8> {
    let item =
        |n: usize| format!("<item><title>Item {n}</title><link>https://made.example/{n}</link></item>");
    let items: String = (version..version + 8).rev().map(item).collect();
    format!("<rss version=\"2.0\"><channel><title>Made</title>{items}</channel></rss>").into_bytes()
}

/// A page with a story that changes every tenth time, and a counter in a script and a teaser that always flip.
fn made_page(version: usize) -> Vec<u8> {
    let (story, teaser) = (version / 10, ["red", "blue"][version % 2]);
    format!(
        "<html><body><script>n={version}</script><p>Teaser {teaser}</p><p>Story {story}</p></body></html>"
    )
    .into_bytes()
}

/// The words of a page, found by crude means.
fn crude_words(body: &[u8]) -> Vec<String> {
    let unseen = Regex::new(r"(?is)<!--.*?-->|<(script|style|noscript|iframe|object|svg)\b.*?</(script|style|noscript|iframe|object|svg)>").unwrap();
    let tags = Regex::new(r"<[^>]*>").unwrap();
    let text = String::from_utf8_lossy(body).replace("&nbsp;", " ").replace("&gt;", ">");
    let text = unseen.replace_all(&text, " ");
    let mut words: Vec<String> = tags.replace_all(&text, " ").split_whitespace().map(str::to_owned).collect();
    words.sort();
    words
}

/// In how many steps something was reported.
#[derive(Debug, Default)]
struct Alarms {
    steps: usize,
    /// Steps in which the words are not the same.
    true_steps: usize,
    /// Steps with changes before flicker is suppressed.
    loud: usize,
    reported: usize,
    /// Steps reported though the words are the same.
    groundless: usize,
    /// Changes of items reported, over all steps.
    changes: usize,
}

fn alarms(name: &str, recipe: &Recipe, bodies: &[Vec<u8>]) -> Alarms {
    let documents: Vec<Vec<Item>> = bodies.iter().map(|body| read(recipe, body).items).collect();
    let words: Vec<Vec<String>> = bodies.iter().map(|body| crude_words(body)).collect();
    let mut alarms = Alarms { steps: bodies.len() - 1, ..Alarms::default() };
    let mut flicker = Flicker::default();
    for (pair, words) in documents.windows(2).zip(words.windows(2)) {
        let is_true = words[0] != words[1];
        let (next, verdict) = flicker.observe(&pair[0], &pair[1]);
        flicker = next;
        let is_reported = !verdict.reported.is_empty();
        alarms.true_steps += usize::from(is_true);
        alarms.loud += usize::from(!detect(&pair[0], &pair[1]).is_empty());
        alarms.reported += usize::from(is_reported);
        alarms.groundless += usize::from(is_reported && !is_true);
        alarms.changes += verdict.reported.len();
    }
    println!("{name}: {alarms:?}");
    alarms
}

#[test]
fn new_items_of_a_news_feed_are_all_found_and_nothing_else() {
    news_are_all_found(&(0..40).map(made_feed).collect::<Vec<_>>());
}

/// Exactly the new links are reported as new, and the removed ones as gone.
pub(crate) fn news_are_all_found(bodies: &[Vec<u8>]) {
    let link = Regex::new(r"(?s)<item>.*?<link>(.*?)</link>").unwrap();
    let links = |body: &[u8]| -> BTreeSet<String> {
        link.captures_iter(&String::from_utf8_lossy(body)).map(|found| found[1].to_owned()).collect()
    };
    let documents: Vec<Vec<Item>> = bodies.iter().map(|body| read(&Recipe::Auto, body).items).collect();
    let (mut n_new, mut n_edited) = (0, 0);
    for (bodies, items) in bodies.windows(2).zip(documents.windows(2)) {
        let (before, after) = (links(&bodies[0]), links(&bodies[1]));
        let truly_new: BTreeSet<&str> = after.difference(&before).map(String::as_str).collect();
        let truly_gone: BTreeSet<&str> = before.difference(&after).map(String::as_str).collect();
        let (mut found_new, mut found_gone) = (BTreeSet::new(), BTreeSet::new());
        for change in detect(&items[0], &items[1]) {
            let link = change.item().link.as_deref().unwrap();
            match change {
                Change::Added(_) => assert!(found_new.insert(link), "{link}"),
                Change::Removed(_) => assert!(found_gone.insert(link), "{link}"),
                Change::Edited { .. } => n_edited += 1,
            }
        }
        assert_eq!((&found_new, &found_gone), (&truly_new, &truly_gone));
        n_new += found_new.len();
    }
    println!("news feed: {n_new} new items in {} versions, {n_edited} edited", bodies.len());
    assert!(n_new >= bodies.len() - 1);
}

#[test]
fn a_feed_that_flips_between_two_states_is_reported_a_handful_of_times() {
    flips_are_reported_a_handful_of_times(&(0..60).map(|version| made_feed(version % 2)).collect::<Vec<_>>());
}

/// Each state is reported when it is new, and hardly ever afterwards.
pub(crate) fn flips_are_reported_a_handful_of_times(bodies: &[Vec<u8>]) {
    let n_distinct = bodies.iter().collect::<BTreeSet<_>>().len();
    let alarms = alarms("flipping feed", &Recipe::Auto, bodies);
    // The first time each state is seen, and the first time items leave.
    assert!(alarms.reported <= n_distinct + 1, "{} of {n_distinct}", alarms.reported);
}

#[test]
fn a_page_of_scripts_and_frames_is_reported_when_its_words_change() {
    only_words_are_reported(&(0..60).map(made_page).collect::<Vec<_>>());
}

/// Nothing is reported while the words stay the same, and little of what always flips.
pub(crate) fn only_words_are_reported(bodies: &[Vec<u8>]) {
    let alarms = alarms("rendered page", &Recipe::Auto, bodies);
    assert_eq!(alarms.groundless, 0);
    assert!(alarms.reported * 5 <= alarms.steps, "{alarms:?}");
}

#[test]
fn a_page_of_offers_is_reported_when_its_words_change() {
    offers_are_reported(&(0..60).map(made_page).collect::<Vec<_>>());
}

/// Every change is noticed, and every report has a reason, except for a few when a page is only re-ordered.
pub(crate) fn offers_are_reported(bodies: &[Vec<u8>]) {
    let whole = alarms("offers, whole page", &Recipe::Auto, bodies);
    let cards = Recipe::HtmlSelector { css: ".card, p".to_owned() };
    let cards = alarms("offers, each card", &cards, bodies);
    // A page may be re-ordered, which is a change of the page but not of its words.
    assert!(whole.groundless <= 3, "{whole:?}");
    assert!(cards.groundless <= 3, "{cards:?}");
    assert!(whole.loud >= whole.true_steps, "{whole:?}");
}
