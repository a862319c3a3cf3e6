//! Invalid recipes are refused, with the position; valid ones survive serialization.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Document, Error, Extractor, Input, Limits, Part};

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
fn refusals_are_said_in_words() {
    for (css, words) in [
        ("p[1]", ": no qualified name in attribute selector"),
        ("p[a=1]", ": bad value in attr"),
        ("p[a b]", ": unexpected token in attribute selector"),
        ("p[", ": unexpected eol"),
    ] {
        let recipe = Recipe::HtmlSelector { css: css.to_owned() };
        let error = Extractor::new(&recipe, &NoiseRules::default(), Limits::default()).unwrap_err();
        assert!(error.to_string().ends_with(words), "{error}");
    }
}

#[test]
fn a_pattern_that_would_fill_the_memory_is_refused() {
    let noise = NoiseRules { ignore_patterns: vec!["(a{1000}){1000}".to_owned()], ..NoiseRules::default() };
    let error = Extractor::new(&Recipe::Auto, &noise, Limits::default()).unwrap_err();
    assert!(error.to_string().contains("too large"), "{error}");
    // It says what to try, and nobody looked for a position: there is none.
    let noise = NoiseRules { ignore_patterns: vec![r"\w{60}".repeat(140)], ..NoiseRules::default() };
    let error = Extractor::new(&Recipe::Auto, &noise, Limits::default()).unwrap_err();
    assert!(matches!(error, Error::TooLarge { part: Part::Pattern, .. }), "{error}");
    assert!(
        error.to_string().ends_with(r"repeat less often, or write [a-z0-9] for \w and [0-9] for \d"),
        "{error}"
    );
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

fn read(recipe: &Recipe, body: &[u8], content_type: &str) -> Document {
    let extractor = Extractor::new(recipe, &NoiseRules::default(), Limits::default()).unwrap();
    extractor.extract(&Input { body, content_type: Some(content_type), url: None, last_charset: None })
}

/// The diagnostics, and how many items there are.
fn said(recipe: &Recipe, body: &[u8], content_type: &str) -> (String, usize) {
    let document = read(recipe, body, content_type);
    let said: Vec<String> = document.diagnostics.iter().map(ToString::to_string).collect();
    (said.join("; "), document.items.len())
}

#[test]
fn a_document_of_another_kind_than_the_recipe_reads_is_said_to_be_one() {
    let (html, json) = (&b"<html><body><p>Sorry"[..], &br#"{"price": 12}"#[..]);
    let as_text = |text: &str, n| (text.to_owned(), n);
    assert_eq!(said(&Recipe::Json, json, "application/json"), as_text("", 1));
    assert_eq!(said(&Recipe::Json, html, "text/html"), as_text("expected JSON, but it is HTML", 0));
    assert!(said(&Recipe::Json, br#"{"price": "#, "application/json").0.contains("JSON, but broken"));
    assert_eq!(said(&Recipe::Page, html, "text/html"), as_text("", 1));
    assert!(said(&Recipe::Page, json, "application/json").0.contains("expected a page, but it is JSON"));
    let pdf = b"%PDF-1.7\x00\x01\x02\x03\x04\x05\xff\xfe\x00";
    assert_eq!(
        said(&Recipe::Auto, pdf, "application/pdf"),
        as_text("expected text, but it is binary data", 1)
    );
    assert_eq!(
        said(&Recipe::Feed, pdf, "application/pdf"),
        as_text("expected a feed, but it is binary data", 0)
    );
}

#[test]
fn a_feed_can_be_watched_as_a_page() {
    let feed = b"<rss version='2.0'><channel><title>News</title><item><title>One</title></item>\
        <item><title>Two</title></item></channel></rss>";
    assert_eq!(read(&Recipe::Auto, feed, "application/rss+xml").items.len(), 2);
    let page = read(&Recipe::Page, feed, "application/rss+xml");
    assert_eq!(page.items.len(), 1);
    assert!(page.items[0].text.contains("One") && page.items[0].text.contains("Two"), "{page:?}");
}
