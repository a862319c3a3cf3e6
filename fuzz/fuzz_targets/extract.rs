//! Any bytes are a document under any recipe: unique ids, limits kept, nothing changed against itself.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Flicker, Input, Limits, detect};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits =
    Limits { max_bytes: 1 << 16, max_items: 50, max_item_text: 1000, max_depth: 64, max_elements: 5000 };

static EXTRACTORS: LazyLock<Vec<Extractor>> = LazyLock::new(|| {
    let noise = NoiseRules {
        ignore_selectors: vec![".ad, script ~ p".to_owned()],
        ignore_patterns: vec![r"^\d+ views$".to_owned()],
    };
    let recipes = [
        Recipe::Auto,
        Recipe::Feed,
        Recipe::HtmlMain,
        Recipe::Text,
        Recipe::HtmlSelector { css: "li, p > a, div:not(.x)".to_owned() },
        Recipe::JsonPath { path: "$..[?@.id]".to_owned() },
    ];
    recipes.iter().map(|recipe| Extractor::new(recipe, &noise, LIMITS).expect("is valid")).collect()
});

// The first byte picks the recipe and the content type.
fuzz_target!(|bytes: &[u8]| {
    let Some((choice, body)) = bytes.split_first() else { return };
    let extractor = &EXTRACTORS[usize::from(*choice) % EXTRACTORS.len()];
    let content_type =
        [None, Some("text/html"), Some("application/rss+xml; charset=utf-8"), Some("application/json")];
    let content_type = content_type[usize::from(*choice >> 4) % 4];
    let document = extractor.extract(&Input { body, content_type, url: Some("https://x.example/y") });
    let ids: BTreeSet<_> = document.items.iter().map(|item| &item.id).collect();
    assert_eq!(ids.len(), document.items.len());
    assert!(document.items.len() <= LIMITS.max_items);
    assert!(document.items.iter().all(|item| item.text.len() <= LIMITS.max_item_text));
    assert!(detect(&document.items, &document.items).is_empty());
    let half = extractor.extract(&Input { body: &body[..body.len() / 2], content_type, url: None });
    let (_, verdict) = Flicker::default().observe(&half.items, &document.items);
    for change in &verdict.reported {
        change.words();
    }
});
