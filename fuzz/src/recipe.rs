//! Recipes: a `JSONPath`, a CSS selector, or what to ignore, and a document to use it on. A recipe is refused with its
//! text named, or it can be used on anything.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Input};

use crate::extract::{LIMITS, sound};

/// The first byte picks what the first line is; the rest is the document.
pub fn recipe(bytes: &[u8]) {
    let (choice, rest) = crate::choice(bytes);
    let (rule, body) = crate::halves(rest, b"\n");
    let rule = String::from_utf8_lossy(rule).into_owned();
    let ignoring = |ignore_selectors, ignore_patterns| NoiseRules { ignore_selectors, ignore_patterns };
    let (recipe, noise, content_type) = match choice % 4 {
        0 => (Recipe::JsonPath { path: rule }, NoiseRules::default(), "application/json"),
        1 => (Recipe::HtmlSelector { css: rule }, NoiseRules::default(), "text/html"),
        2 => (Recipe::Auto, ignoring(vec![rule], Vec::new()), "text/html"),
        _ => (Recipe::Text, ignoring(Vec::new(), vec![rule]), "text/plain"),
    };
    match Extractor::new(&recipe, &noise, LIMITS) {
        Ok(extractor) => {
            let input = Input { body, content_type: Some(content_type), url: None, last_charset: None };
            let document = extractor.extract(&input);
            sound(&document);
            assert_eq!(extractor.extract(&input).items, document.items, "read twice");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
