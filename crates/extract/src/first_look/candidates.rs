//! Which parts of a page a person could choose to watch, with selectors that a person could write. Guesses: what is suggested is
//! counted and shown, and the person decides.

use std::collections::{BTreeMap, BTreeSet};

use scraper::ElementRef;
use scraper::node::Element;

use super::page::Surveyed;
use super::{CandidatePart, MOST_PARTS};
use crate::outline::Region;

/// Fewer of a kind are no list.
const FEWEST: usize = 3;
/// Kinds that are kept while counting, and classes of one element that are looked at.
const MOST_KINDS: usize = 10_000;
const MOST_CLASSES: usize = 4;
/// Lists that are suggested at most, so that there is room for something else.
const MOST_LISTS: usize = 3;
/// Less text, in bytes, is not worth a choice by itself.
const LEAST_TEXT: usize = 8;

/// Elements of a kind.
#[derive(Debug, Default)]
struct Kind {
    n: usize,
    n_text: usize,
    weight: usize,
}

/// At most five parts of the elements of a page with so much text, each `counted` on the page.
pub(super) fn of(
    elements: &[Surveyed<'_>],
    page_text: usize,
    counted: impl Fn(&str) -> Option<CandidatePart>,
) -> Vec<CandidatePart> {
    let content: Vec<&Surveyed<'_>> = elements
        .iter()
        .filter(|surveyed| surveyed.region == Region::Content && surveyed.n_text >= LEAST_TEXT)
        .collect();
    let mut chosen = Chosen::default();
    for (css, name) in [("main", "main"), ("article", "article")] {
        let mut named = content.iter().filter(|surveyed| surveyed.element.value().name() == name);
        if let (Some(only), None) = (named.next(), named.next()) {
            chosen.take(css.to_owned(), 1, only.n_text);
        }
    }
    for (css, kind) in lists(&content) {
        if chosen.n_lists == MOST_LISTS {
            break;
        }
        chosen.n_lists += usize::from(chosen.take(css, kind.n, kind.n_text));
    }
    // A part that is nearly all of the page is no part; the largest of the others say most.
    let has_id = |surveyed: &&&Surveyed<'_>| {
        surveyed.n_text * 10 <= page_text * 9 && id_of(surveyed.element.value()).is_some()
    };
    let mut by_id: Vec<_> = content.iter().filter(has_id).collect();
    by_id.sort_by_key(|surveyed| std::cmp::Reverse(surveyed.n_text));
    for surveyed in by_id.into_iter().take(4 * MOST_PARTS) {
        if let Some(id) = id_of(surveyed.element.value()) {
            chosen.take(format!("#{id}"), 1, surveyed.n_text);
        }
    }
    chosen.selectors.iter().filter_map(|css| counted(css)).take(MOST_PARTS).collect()
}

/// Selectors so far, and how much each holds: what holds the same is the same.
#[derive(Debug, Default)]
struct Chosen {
    selectors: Vec<String>,
    seen: BTreeSet<(usize, usize)>,
    n_lists: usize,
}

impl Chosen {
    fn take(&mut self, css: String, n: usize, n_text: usize) -> bool {
        let is_new = self.seen.insert((n, n_text));
        if is_new {
            self.selectors.push(css);
        }
        is_new
    }
}

/// Elements of which there are several, the most telling first.
fn lists(content: &[&Surveyed<'_>]) -> Vec<(String, Kind)> {
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for surveyed in content {
        let weight = match surveyed.element.value().name() {
            "article" => 8,
            "tr" | "li" => 6,
            "section" | "dd" => 2,
            "div" => 1,
            _ => continue,
        };
        for css in selectors_of(surveyed.element) {
            if kinds.len() < MOST_KINDS || kinds.contains_key(&css) {
                let kind = kinds.entry(css).or_default();
                *kind = Kind { n: kind.n + 1, n_text: kind.n_text + surveyed.n_text, weight };
            }
        }
    }
    let mut lists: Vec<_> = kinds.into_iter().filter(|(_, kind)| kind.n >= FEWEST).collect();
    // Of equal ones the shorter selector; the map has them in order.
    lists.sort_by_key(|(css, kind)| (std::cmp::Reverse(kind.n_text.saturating_mul(kind.weight)), css.len()));
    lists
}

/// How elements of this kind could be chosen: by a class, else by what they are in.
fn selectors_of(element: ElementRef<'_>) -> Vec<String> {
    let name = element.value().name();
    let own: Vec<String> = classes(element.value()).map(|class| format!("{name}.{class}")).collect();
    if !own.is_empty() {
        return own;
    }
    if matches!(name, "div" | "section" | "dd") {
        return Vec::new();
    }
    let around = element.ancestors().take(4).filter_map(ElementRef::wrap).find_map(|outer| {
        let outer = outer.value();
        let by_class = || classes(outer).next().map(|class| format!("{}.{class}", outer.name()));
        id_of(outer).map(|id| format!("#{id}")).or_else(by_class)
    });
    vec![around.map_or_else(|| name.to_owned(), |around| format!("{around} {name}"))]
}

/// Classes that someone has written, and not a tool.
fn classes(element: &Element) -> impl Iterator<Item = &str> {
    let all = element.attr("class").unwrap_or_default().split_ascii_whitespace().take(MOST_CLASSES);
    all.filter(|class| is_written(class))
}

fn id_of(element: &Element) -> Option<&str> {
    element.attr("id").filter(|id| is_written(id))
}

/// Whether a name needs no escapes and looks as if it stays when the page is built anew: tools put digits in theirs.
fn is_written(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    (2..=40).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_plain)
        && !name.starts_with("js-")
        && !name.starts_with("is-")
}
