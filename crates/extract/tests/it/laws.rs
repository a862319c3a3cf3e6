//! What holds for any bytes and any items.

use std::collections::BTreeSet;

use dunlin_extract::detect::compare;
use dunlin_extract::flicker::everything;
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Change, Extractor, Flicker, Input, Item, Limits, Work, detect};
use proptest::prelude::*;

use crate::reading::item;

/// Pieces of all formats, so that random documents get past the first few bytes of the readers.
const PIECES: &[&str] = &[
    "<?xml version='1.0'?>",
    "<rss version='2.0'>",
    "<channel>",
    "<item>",
    "</item>",
    "<title>",
    "</title>",
    "<guid>1",
    "</guid>",
    "<link>",
    "<feed xmlns='http://www.w3.org/2005/Atom'>",
    "<entry>",
    "</entry>",
    "<id>",
    "</id>",
    "&amp;",
    "&#x41;",
    "&nbsp;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<html>",
    "<p>",
    "<table>",
    "<td>",
    "<b a='1'>",
    "</b>",
    "<script>",
    "</script>",
    "{",
    "}",
    "[",
    "]",
    "\"a\":",
    "\"https://jsonfeed.org/version/1\"",
    ",",
    "1",
    "null",
    "\n\n",
    "text",
    "ü",
    "東",
    "\0",
    "<svg>",
    "</svg>",
    "<a href=/x>",
    "</",
    "<",
    ">",
    "<li>",
    "<pubDate>2026-01-01",
];

fn documents() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..40);
    prop_oneof![
        pieces.prop_map(|pieces| pieces.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..200),
    ]
}

fn recipes() -> impl Strategy<Value = Recipe> {
    prop_oneof![
        Just(Recipe::Auto),
        Just(Recipe::Feed),
        Just(Recipe::HtmlMain),
        Just(Recipe::Text),
        Just(Recipe::HtmlSelector { css: "p, li, b:not(.x), item".to_owned() }),
        Just(Recipe::JsonPath { path: "$..*".to_owned() }),
    ]
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let fields = ("[a-e]", "[xy]", "[xy\n]{0,4}");
    prop::collection::vec(fields, 0..8).prop_map(|fields| {
        let mut seen = BTreeSet::new();
        let items = fields.iter().map(|(guid, title, text)| item(guid, title, text));
        items.filter(|item| seen.insert(item.id.clone())).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_document_with_unique_ids(
        body in documents(), recipe in recipes(), content_type in prop::option::of("text/(html|xml|plain)"),
    ) {
        let noise = NoiseRules {
            ignore_selectors: vec!["script, td".to_owned()], ignore_patterns: vec!["t.x".to_owned()],
        };
        let limits = Limits { max_items: 20, max_item_text: 100, ..Limits::default() };
        let extractor = Extractor::new(&recipe, &noise, limits).unwrap();
        let url = Some("https://x.example/y");
        let input = Input { body: &body, content_type: content_type.as_deref(), url, last_charset: None };
        let document = extractor.extract(&input);
        let ids: BTreeSet<_> = document.items.iter().map(|item| &item.id).collect();
        prop_assert_eq!(ids.len(), document.items.len());
        prop_assert!(document.items.len() <= 20);
        prop_assert!(document.items.iter().all(|item| item.text.len() <= 100));
        prop_assert_eq!(detect(&document.items, &document.items), []);
        prop_assert_eq!(extractor.extract(&input), document);
    }

    #[test]
    fn changes_account_for_every_item(old in items(), new in items()) {
        let changes = compare(&old, &new).changes;
        let added = changes.iter().filter(|change| matches!(change, Change::Added(_))).count();
        let removed = changes.iter().filter(|change| matches!(change, Change::Removed(_))).count();
        prop_assert_eq!(old.len() + added, new.len() + removed);
        for change in &changes {
            match change {
                Change::Added(item) => prop_assert!(new.contains(item) && !old.contains(item)),
                Change::Removed(item) => prop_assert!(old.contains(item) && !new.contains(item)),
                Change::Edited { old: before, new: after } => {
                    prop_assert!((&before.title, &before.text) != (&after.title, &after.text));
                }
            }
        }
    }

    #[test]
    fn changes_do_not_depend_on_the_order(old in items(), new in items()) {
        let sorted = |mut items: Vec<Item>| { items.sort_by(|a, b| a.id.cmp(&b.id)); items };
        let (old_sorted, new_sorted) = (sorted(old.clone()), sorted(new.clone()));
        // Of items that say the same, the one that stays is as good as the one that goes.
        let in_words = |change: &Change<'_>| match change {
            Change::Removed(item) => format!("removed {} {}", item.title, item.text),
            other => format!("{other:?}"),
        };
        let summaries = |changes: Vec<Change<'_>>| {
            let mut all: Vec<String> = changes.iter().map(in_words).collect();
            all.sort();
            all
        };
        prop_assert_eq!(summaries(detect(&old, &new)), summaries(detect(&old_sorted, &new_sorted)));
    }

    #[test]
    fn a_verdict_says_something_of_what_changed_and_nothing_of_what_did_not(
        versions in prop::collection::vec(items(), 2..6),
    ) {
        let mut flicker = Flicker::default();
        for pair in versions.windows(2) {
            let changes = detect(&pair[0], &pair[1]);
            let (next, verdict) = flicker.observe(&pair[0], &pair[1]);
            prop_assert_eq!(verdict.reported.is_empty() && verdict.suppressed.is_empty(), changes.is_empty());
            for reported in &verdict.reported {
                prop_assert!(changes.contains(&reported.change));
                prop_assert!(reported.kind != "edited" || reported.old != reported.new);
            }
            let all = everything(changes.clone(), &Work::default());
            for change in &changes {
                let is_said = all.reported.iter().any(|reported| reported.change == *change);
                prop_assert!(is_said || !all.suppressed.is_empty(), "{:?}", change);
            }
            flicker = next;
        }
    }
}
