//! Recipes that mean nothing are refused, with the place; those that mean something survive being written down.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Error, Extractor, Limits, Part};

fn refusal(recipe: &Recipe, noise: &NoiseRules) -> (Part, usize) {
    match Extractor::new(recipe, noise, Limits::default()) {
        Err(Error::Unreadable { part, at, reason, .. }) => {
            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
            (part, at)
        }
        other => panic!("{recipe:?} {noise:?}: {other:?}"),
    }
}

#[test]
fn refusals_say_where() {
    let none = NoiseRules::default();
    let css = |css: &str| Recipe::HtmlSelector { css: css.to_owned() };
    assert_eq!(refusal(&css("div >> p"), &none), (Part::Selector, 5));
    assert_eq!(refusal(&css(".a, b["), &none), (Part::Selector, 6));
    assert_eq!(refusal(&css(""), &none), (Part::Selector, 1));
    assert_eq!(refusal(&Recipe::JsonPath { path: "$.a[?]".to_owned() }, &none), (Part::JsonPath, 4));
    let noise = NoiseRules { ignore_patterns: vec![r"\d+".to_owned(), "a(b".to_owned()], ..none.clone() };
    assert_eq!(refusal(&Recipe::Auto, &noise), (Part::Pattern, 2));
    let noise = NoiseRules { ignore_selectors: vec!["p".to_owned(), ":nope".to_owned()], ..none };
    assert_eq!(refusal(&Recipe::Auto, &noise), (Part::Selector, 1));
}

#[test]
fn a_pattern_that_would_fill_the_memory_is_refused() {
    let noise = NoiseRules { ignore_patterns: vec!["(a{1000}){1000}".to_owned()], ..NoiseRules::default() };
    let error = Extractor::new(&Recipe::Auto, &noise, Limits::default()).unwrap_err();
    assert!(error.to_string().contains("size limit"), "{error}");
}

#[test]
fn endless_recipes_are_refused() {
    let recipe = Recipe::HtmlSelector { css: "a ".repeat(1000) };
    let error = Extractor::new(&recipe, &NoiseRules::default(), Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the css selector has 2000 bytes, and 1000 is the most");
}

#[test]
fn recipes_are_written_down_in_one_way() {
    let recipe: Recipe = serde_json::from_str(r#"{"kind":"html_selector","css":".price"}"#).unwrap();
    assert_eq!(recipe, Recipe::HtmlSelector { css: ".price".to_owned() });
    assert_eq!(serde_json::to_string(&Recipe::HtmlMain).unwrap(), r#"{"kind":"html_main"}"#);
    assert!(serde_json::from_str::<NoiseRules>(r#"{"ignore":[]}"#).is_err());
}
