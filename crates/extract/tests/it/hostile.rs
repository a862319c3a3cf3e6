//! Pages built to keep a parser busy, or to fill the memory: each gives a diagnostic and what can be had cheaply.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Diagnostic, Document, Extractor, Input, Limits};

use crate::reading::read;

fn selector(css: &str) -> Recipe {
    Recipe::HtmlSelector { css: css.to_owned() }
}

fn with_limits(limits: Limits, recipe: &Recipe, body: &str) -> Document {
    let extractor = Extractor::new(recipe, &NoiseRules::default(), limits).unwrap();
    extractor.extract(&Input { body: body.as_bytes(), content_type: None, url: None })
}

#[test]
fn a_megabyte_of_nested_lists_never_reaches_a_parser() {
    // The parser would take minutes over this; a test that ends has not called it.
    let lists = format!("<html>{}<p>the end", "<ul><li>".repeat(131_072));
    for recipe in [Recipe::Auto, Recipe::HtmlMain, Recipe::Text] {
        let document = read(&recipe, lists.as_bytes());
        assert_eq!(document.items.last().unwrap().text, "the end");
        let is_deep = |diagnostic: &Diagnostic| matches!(diagnostic, Diagnostic::TooDeep { limit: 512, .. });
        assert!(
            recipe == Recipe::Text || document.diagnostics.iter().any(is_deep),
            "{:?}",
            document.diagnostics
        );
    }
    let document = read(&selector("li"), lists.as_bytes());
    assert!(document.diagnostics.contains(&Diagnostic::NotSelectable { selector: "li".to_owned() }));
}

#[test]
fn deep_html_inside_a_feed_is_stripped() {
    let lists = format!("{}bottom", "<ul><li>".repeat(10_000));
    let feed = format!(
        "<rss version='2.0'><channel><item><guid>1</guid><description><![CDATA[{lists}]]></description></item>\
         <item><guid>2</guid><description>fine</description></item></channel></rss>"
    );
    let document = read(&Recipe::Auto, feed.as_bytes());
    let texts: Vec<&str> = document.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, ["bottom", "fine"]);
    assert!(matches!(document.diagnostics[..], [Diagnostic::TooDeep { .. }]));
}

#[test]
fn a_costly_selector_is_not_tried_on_a_large_page() {
    let page = format!("<html>{}", "<p>x</p>".repeat(30_000));
    for css in ["h1 ~ p", "p:has(b)"] {
        let document = read(&selector(css), page.as_bytes());
        assert!(document.items.is_empty(), "{css}");
        assert!(
            document.diagnostics.contains(&Diagnostic::NotSelectable { selector: css.to_owned() }),
            "{css}"
        );
    }
    assert_eq!(read(&selector("p[class~=x], p:first-child"), page.as_bytes()).items.len(), 1);
}

#[test]
fn elements_inside_each_other_are_not_read_over_and_over() {
    let page = format!("<html>{}{}", "<div>".repeat(400), "<p>words</p>".repeat(2_000));
    let limits = Limits { max_elements: 3_000, ..Limits::default() };
    let document = with_limits(limits, &selector("div, p"), &page);
    // The first few contain all the rest; 400 of them would read it 400 times.
    assert!(document.items.len() < 20, "{}", document.items.len());
    assert!(
        matches!(document.diagnostics[0], Diagnostic::TooManyElements { .. }),
        "{:?}",
        document.diagnostics
    );
}

#[test]
fn entities_are_not_expanded() {
    let bomb = "<!DOCTYPE rss [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>\
                <rss version='2.0'><channel><item><guid>1</guid><title>&b;</title></item></channel></rss>";
    let document = read(&Recipe::Auto, bomb.as_bytes());
    assert!(document.items.iter().all(|item| item.title.len() < 20), "{:?}", document.items);
}

#[test]
fn deep_xml_and_json_do_not_exhaust_the_stack() {
    for body in
        ["<rss version='2.0'>".repeat(100_000), "<feed><entry>".repeat(100_000), "[".repeat(1_000_000)]
    {
        read(&Recipe::Auto, body.as_bytes());
        read(&Recipe::Feed, body.as_bytes());
    }
    let path = Recipe::JsonPath { path: "$..a".to_owned() };
    assert!(!read(&path, "{\"a\":".repeat(100_000).as_bytes()).diagnostics.is_empty());
}

#[test]
fn limits_are_kept_and_said() {
    let limits = Limits { max_bytes: 4000, max_items: 3, max_item_text: 5, ..Limits::default() };
    let item = |n: u32| format!("<item><guid>{n}</guid><description>some long text</description></item>");
    let feed: String = (0..10).map(item).collect();
    let document =
        with_limits(limits, &Recipe::Auto, &format!("<rss version='2.0'><channel>{feed}</channel></rss>"));
    assert_eq!(document.items.len(), 3);
    assert!(document.items.iter().all(|item| item.text == "some"), "{:?}", document.items);
    assert!(!document.is_complete);
    let said: Vec<String> = document.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["kept the first 3 items", "cut the text of 3 items at 5 bytes"]);
    let document = with_limits(limits, &Recipe::Text, &"x".repeat(5000));
    assert_eq!(document.diagnostics[0].to_string(), "read the first 4000 of 5000 bytes");
}
