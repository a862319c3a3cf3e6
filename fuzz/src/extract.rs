//! Documents: any bytes are one under any recipe, with unique ids and limits kept, and unchanged against itself.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Document, Extractor, Input, Limits, detect};

/// Small, so that short inputs reach them.
pub(crate) const LIMITS: Limits = Limits {
    max_bytes: 1 << 16,
    max_items: 50,
    max_item_text: 1000,
    max_depth: 64,
    max_elements: 5000,
    max_steps: 200_000,
};

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
        Recipe::Page,
        Recipe::Json,
    ];
    recipes.iter().map(|recipe| Extractor::new(recipe, &noise, LIMITS).expect("is valid")).collect()
});

/// Reads any bytes as a document; the first picks the recipe and the content type.
pub fn extract(bytes: &[u8]) {
    let (choice, body) = crate::choice(bytes);
    let document = read(choice, body);
    assert!(detect(&document.items, &document.items).is_empty());
    assert!(document.evidence().is_sorted());
}

/// A document under the recipe and content type of `choice`.
pub(crate) fn read(choice: usize, body: &[u8]) -> Document {
    let extractor = &EXTRACTORS[choice % EXTRACTORS.len()];
    let content_type =
        [None, Some("text/html"), Some("application/rss+xml; charset=utf-8"), Some("application/json")];
    let content_type = content_type[(choice >> 4) % 4];
    let document = extractor.extract(&Input {
        body,
        content_type,
        url: Some("https://x.example/y"),
        last_charset: None,
    });
    sound(&document);
    document
}

/// What holds for every document.
pub(crate) fn sound(document: &Document) {
    let ids: BTreeSet<_> = document.items.iter().map(|item| &item.id).collect();
    assert_eq!(ids.len(), document.items.len(), "two items with one id");
    assert!(document.items.len() <= LIMITS.max_items);
    assert!(document.items.iter().all(|item| item.text.len() <= LIMITS.max_item_text));
}
