//! Pages built to keep a parser busy, or to fill the memory: each gives a diagnostic and what can be had cheaply.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Diagnostic, Document, Extractor, Input, Limits, Work, detect};

use crate::reading::read;

mod comparing;

fn selector(css: &str) -> Recipe {
    Recipe::HtmlSelector { css: css.to_owned() }
}

fn with_limits(limits: Limits, recipe: &Recipe, body: &str) -> Document {
    let extractor = Extractor::new(recipe, &NoiseRules::default(), limits).unwrap();
    extractor.extract(&Input { body: body.as_bytes(), content_type: None, url: None, last_charset: None })
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
fn markup_that_keeps_a_parser_busy_is_read_as_plain_text() {
    let attributes = (0..100_000).rev().map(|n| format!("<html a{n}=1>")).collect::<Vec<_>>().concat();
    let closed = format!("{}{}", "<span>".repeat(500), "</p>".repeat(400_000));
    for page in [attributes, closed] {
        let page = format!("<!doctype html><title>t</title>{page}<p>the end");
        let document = with_limits(Limits::default(), &Recipe::Auto, &page);
        let [ref item] = document.items[..] else { panic!("{} items", document.items.len()) };
        assert!(item.text.ends_with("the end"));
        assert!(
            matches!(
                document.diagnostics[..],
                [Diagnostic::TooManyElements { .. } | Diagnostic::TooMuchMarkup { .. }]
            ),
            "{:?}",
            document.diagnostics
        );
    }
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

fn is_ended(document: &Document) -> bool {
    document.diagnostics.iter().any(|found| matches!(found, Diagnostic::TooMuchWork { .. }))
}

/// As a service would, but giving up sooner.
fn hurried(recipe: &Recipe, noise: &NoiseRules, body: &str) -> Document {
    let limits = Limits { max_steps: 1_000_000, ..Limits::default() };
    let extractor = Extractor::new(recipe, noise, limits).unwrap();
    extractor.extract(&Input { body: body.as_bytes(), content_type: None, url: None, last_charset: None })
}

/// Each of these would take minutes to hours; a test that ends has seen them ended.
#[test]
fn selectors_are_charged_for_the_nodes_they_visit() {
    let names = || (0..100_000).map(|n| format!("<x{n} class=price></x{n}>"));
    let distinct = format!("<html>{}", names().collect::<String>());
    let paragraphs = format!("<html>{}", "<p>x</p>".repeat(100_000));
    let commented = format!("<html>{}", format!("<p>{}", "<!---->".repeat(200)).repeat(2_000));
    let classes = format!("<html>{}", format!("<p class='{}'>", "a ".repeat(40_000)).repeat(90));
    let many = ["[class~=b]"; 90].join(",");
    for (page, css) in [
        (&distinct, ".price:nth-of-type(2)"),
        (&distinct, ".price:NTH-LAST-OF-TYPE(2)"),
        (&distinct, "x1 ~ .nothing, .price ~ .price ~ .nothing ~ *"),
        (&paragraphs, "p:not(:HAS(~ b))"),
        (&paragraphs, "p:\\68 as(~ b)"),
        (&paragraphs, ":is(p, i):not(i ~ p, :nth-child(3n) ~ b)"),
        (&commented, "p:empty, p:has(:empty + p:empty)"),
        (&classes, &many),
    ] {
        let document = hurried(&selector(css), &NoiseRules::default(), page);
        assert!(is_ended(&document) && !document.is_complete, "{css}: {:?}", document.diagnostics);
    }
    let noise = NoiseRules { ignore_selectors: vec!["p:not(:has(~ b))".to_owned()], ..NoiseRules::default() };
    assert!(is_ended(&hurried(&Recipe::Auto, &noise, &paragraphs)));
}

#[test]
fn a_selector_that_is_cheap_on_a_large_page_is_tried() {
    let page = format!("<html><h1>y</h1>{}<p id=last><b>z</b></p>", "<div><p>x</p></div>".repeat(30_000));
    for (css, n_items) in [
        ("p:has(b)", 1),
        ("h1 ~ p", 1),
        ("p:nth-of-type(1)#last", 1),
        ("p[class~=x], p:last-child:has(b)", 1),
    ] {
        let document = read(&selector(css), page.as_bytes());
        assert!(!is_ended(&document), "{css}: {:?}", document.diagnostics);
        assert_eq!(document.items.len(), n_items, "{css}");
    }
}

#[test]
fn the_main_text_is_not_searched_where_that_would_take_long() {
    let rest = "<span>x, y</span>".repeat(45_000);
    let deep =
        read(&Recipe::HtmlMain, format!("<html><title>t</title>{}{rest}", "<div>".repeat(500)).as_bytes());
    assert!(matches!(deep.diagnostics[0], Diagnostic::NoMainText { .. }), "{:?}", deep.diagnostics);
    assert!(deep.items[0].text.starts_with("x, y x, y"), "all text is read instead");
    assert_eq!(deep.items[0].title, "t");
    let flat =
        read(&Recipe::HtmlMain, format!("<html><p>some words</p>{}", "<p>x, y</p>".repeat(2_000)).as_bytes());
    assert_eq!(flat.diagnostics, []);
}

#[test]
fn patterns_are_charged_for_what_they_may_have_read() {
    let line = "12:34 ".repeat(100_000);
    for (pattern, is_dear) in [
        (r"\d\d:\d\d(?:.*ago)?", true),
        (r"(?s)\d\d:\d\d(?:.*ago)?", true),
        (r"(?:[^x]*x)?", true),
        (r"\d\d:\d\d(?: ago)?", false),
        (r"\d+$", false),
    ] {
        let noise = NoiseRules { ignore_patterns: vec![pattern.to_owned()], ..NoiseRules::default() };
        let document = hurried(&Recipe::Text, &noise, &line);
        assert_eq!(is_ended(&document), is_dear, "{pattern}: {:?}", document.diagnostics);
    }
}

/// In each of these, a search may be at very many places of the pattern at once, in more combinations than can be remembered.
#[test]
fn patterns_are_charged_for_the_places_a_search_may_be_at() {
    let mut random = 1_u64;
    let mut digit = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if random >> 63 == 0 { '0' } else { '1' }
    };
    // The letters at the end are looked for first: where there are none, there is nothing to search.
    let digits: String = (0..2 << 20).map(|_| digit()).chain("xyz".chars()).collect();
    let noise =
        |pattern: &str| NoiseRules { ignore_patterns: vec![pattern.to_owned()], ..NoiseRules::default() };
    let removed = |pattern: &str, text: &str| {
        let extractor = Extractor::new(&Recipe::Text, &noise(pattern), Limits::default()).unwrap();
        extractor.extract(&Input { body: text.as_bytes(), ..Input::default() })
    };
    for pattern in ["[01]*1[01]{800}x", "1[01]{900}x|1[01]{901}y|1[01]{903}z"] {
        let document = removed(pattern, &digits);
        assert!(is_ended(&document), "{pattern}: {:?}", document.diagnostics);
    }
    // What people write, on a text as long as is ever kept.
    let text = "Gelesen: 1.204 mal, 14:07:59 Uhr, 2026-03-14T12:00:01Z, updated just now.\n".repeat(1 << 12);
    for pattern in [
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z",
        r"\d\d:\d\d(:\d\d)?.{0,40}",
        r"(?i)\b(views|gelesen|aufrufe): [\d.]+ (mal|times)\b",
        r"\b\w+ly updated (just|right) now\b",
        "[0-9a-f]{64}",
    ] {
        let document = removed(pattern, &text);
        assert!(!is_ended(&document), "{pattern}: {:?}", document.diagnostics);
    }
}

#[test]
fn paths_are_charged_for_the_values_they_visit() {
    let nested = |depth: usize| format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
    let list = format!("[{}]", vec!["{\"a\":1}"; 20_000].join(","));
    let path = |path: &str| Recipe::JsonPath { path: path.to_owned() };
    for (recipe, body) in [
        // Every step doubles what the one before has selected; there is nothing at the end.
        (path(&format!("${}.nothing", "[*,*]".repeat(40))), nested(60)),
        (path("$..[*,*]..[*,*]..[*,*]..[*,*]..nothing"), nested(100)),
        (path("$[?count($..a) < 0]"), list.clone()),
        (path("$[?@..[?count($.*) < 0]]"), list.clone()),
        (path("$.z[?$.x == $.y]..nothing"), format!("{{\"x\":{list},\"y\":{list},\"z\":{list}}}")),
    ] {
        let document = hurried(&recipe, &NoiseRules::default(), &body);
        assert!(is_ended(&document) && document.items.is_empty(), "{recipe:?}: {:?}", document.diagnostics);
    }
    // There is something at the end, and enough is enough.
    let document = read(&path(&format!("${}", "[*,*]".repeat(40))), nested(60).as_bytes());
    assert!(!document.is_complete && document.items.len() == 1, "{:?}", document.diagnostics);
}

/// Values inside each other are written out once for each: all of it together is bounded.
#[test]
fn what_is_kept_of_a_document_is_bounded_over_all_its_items() {
    let value = format!("{}\"{}\"{}", "{\"a\":".repeat(120), "x".repeat(260_000), "}".repeat(120));
    let levels: Vec<String> = (0..400).map(|n| format!("<div>{n} ")).collect();
    let page = format!("<html>{}{}", levels.concat(), "words of a long text ".repeat(20_000));
    let path = Recipe::JsonPath { path: "$..a".to_owned() };
    for document in [read(&path, value.as_bytes()), read(&selector("div"), page.as_bytes())] {
        let n_bytes: usize = document.items.iter().map(|item| item.text.len()).sum();
        assert!((10 << 20..40 << 20).contains(&n_bytes), "{n_bytes}");
        assert!(is_ended(&document) && !document.is_complete, "{:?}", document.diagnostics);
    }
}

#[test]
fn elements_inside_each_other_are_not_read_over_and_over() {
    let page = format!("<html>{}{}", "<div>".repeat(400), "<p>words</p>".repeat(2_000));
    let limits = Limits { max_steps: 800_000, ..Limits::default() };
    // About half of it is what parsing takes.
    let document = with_limits(limits, &selector("div, p"), &page);
    // The first few contain all the rest; 400 of them would read it 400 times.
    assert!((1..40).contains(&document.items.len()), "{}", document.items.len());
    assert!(is_ended(&document) && !document.is_complete, "{:?}", document.diagnostics);
}

/// The names of an element are read for each element around it that is an item.
#[test]
fn names_of_elements_are_paid_for_by_their_length() {
    let names = "a ".repeat(200_000);
    for attribute in ["class", "id"] {
        let page = format!("<html>{}<p {attribute}='{names}'>words", "<div>".repeat(400));
        let document = hurried(&selector("div"), &NoiseRules::default(), &page);
        assert!(is_ended(&document) && !document.is_complete, "{attribute}: {:?}", document.diagnostics);
    }
    // So is the first link in each of them, which is kept with every one.
    let page = format!("<html>{}<a href='{names}'>words", "<div>".repeat(400));
    let document = read(&selector("div"), page.as_bytes());
    let n_bytes: usize = document.items.iter().filter_map(|item| item.link.as_ref()).map(String::len).sum();
    assert!(is_ended(&document) && n_bytes < 40 << 20, "{n_bytes}");
}

/// Thousands of changes, each of which alone may be compared word by word.
#[test]
fn comparing_is_paid_for_over_all_changes() {
    let feed = |salt: usize| {
        let words = |n: usize| -> Vec<String> {
            (0..700).map(|i| ((i * 7919 + n * salt) % 1000).to_string()).collect()
        };
        let item = |n: usize| {
            format!("<item><guid>{n}</guid><description>{}</description></item>", words(n).join(" "))
        };
        let items: String = (0..2_500).map(item).collect();
        read(&Recipe::Auto, format!("<rss version='2.0'><channel>{items}</channel></rss>").as_bytes())
    };
    let (old, new) = (feed(1), feed(2));
    let (changes, work) = (detect(&old.items, &new.items), Work::new(10_000_000));
    assert!(changes.len() > 2_000);
    let n_compared = changes.iter().filter(|change| change.words(&work).len() > 2).count();
    assert!(work.is_used_up());
    assert!((5..1_000).contains(&n_compared), "{n_compared}");
}

#[test]
fn entities_that_build_on_each_other_are_not_expanded() {
    let bomb = "<!DOCTYPE rss [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>\
                <rss version='2.0'><channel><item><guid>1</guid><title>&b;</title></item></channel></rss>";
    let document = read(&Recipe::Auto, bomb.as_bytes());
    assert!(document.items.iter().all(|item| item.title.len() < 20), "{:?}", document.items);
}

/// Each of these would be searched for a missing end again and again, or looked up among too many others.
#[test]
fn broken_feeds_are_not_read_over_and_over() {
    let xml = [
        "<![CDATA[",
        "<item><title><![CDATA[",
        "<a b=\"",
        "<",
        "<!--",
        "<!DOCTYPE [",
        "<?x ",
        "<a <",
        "<![CDATA[</a><![CDATA[",
    ];
    let declared: Vec<String> = (0..20_000).map(|n| format!("xmlns:a{n}='b'")).collect();
    let declared = declared.join(" ");
    let bodies = xml.map(|piece| format!("<rss><channel>{}", piece.repeat(400_000))).into_iter().chain([
        format!("<rss>{}{}", "<b>".repeat(500), "</a>".repeat(1_000_000)),
        format!("<rss {declared}>{}", "<b:c>".repeat(500_000)),
        format!("<rss><!DOCTYPE rss [{}]>", "<!ENTITY a 'b'>".repeat(200_000)),
        format!("<rss><channel><item><title>{}", "&".repeat(4_000_000)),
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{}", "{\"a\":".repeat(400_000)),
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{}", "{},".repeat(400_000)),
    ]);
    for body in bodies {
        let document = read(&Recipe::Feed, body.as_bytes());
        assert!(document.items.is_empty() && !document.is_complete, "{}", start(&body));
        assert!(!document.diagnostics.is_empty(), "{}", start(&body));
    }
}

fn start(body: &str) -> &str {
    &body[..60]
}

#[test]
fn what_entities_add_up_to_is_bounded() {
    let (value, uses) = ("x".repeat(4000), "&a;".repeat(100_000));
    let item = format!("<item><guid>1</guid><title>{uses}</title></item>");
    let bomb =
        format!("<!DOCTYPE rss [<!ENTITY a '{value}'>]><rss version='2.0'><channel>{item}</channel></rss>");
    let document = read(&Recipe::Auto, bomb.as_bytes());
    assert!(is_ended(&document) && !document.is_complete, "{:?}", document.diagnostics);
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
fn scripts_and_places_within_the_page_are_no_links() {
    let recipe = Recipe::HtmlSelector { css: "li".to_owned() };
    let links = |href: &str| {
        let page = format!("<ul><li><a href=\"{href}\">One</a><li><a href=\"/two\">Two</a></ul>");
        let input = Input {
            body: page.as_bytes(),
            content_type: Some("text/html"),
            url: Some("https://a.example/"),
            last_charset: None,
        };
        let found = crate::reading::extractor(&recipe).extract(&input).items;
        found.into_iter().map(|item| item.link).collect::<Vec<_>>()
    };
    let two = Some("https://a.example/two".to_owned());
    for href in ["javascript:alert(1)", " JavaScript:alert(1)", "JAVASCRIPT:x", "#top", ""] {
        assert_eq!(links(href), [None, two.clone()], "{href}");
    }
    assert_eq!(links("javascript.html"), [Some("https://a.example/javascript.html".to_owned()), two]);
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
    // However a document is read: one item more than may be kept, and those behind it may still be there.
    let limits = Limits { max_items: 3, ..Limits::default() };
    for (recipe, item) in
        [(selector("p"), "<p>"), (Recipe::JsonPath { path: "$[*]".to_owned() }, ","), (Recipe::Auto, ",")]
    {
        let document_of = |n_items: u32| {
            let values =
                (0..n_items).map(|n| if item == "," { format!("{{\"id\":{n}}}") } else { n.to_string() });
            let values: Vec<String> = values.collect();
            let body = match item {
                "<p>" => format!("<p>{}", values.join(item)),
                "," => format!("[{}]", values.join(item)),
                _ => values.join(item),
            };
            with_limits(limits, &recipe, &body)
        };
        let (all, most) = (document_of(3), document_of(4));
        assert_eq!((all.items.len(), all.is_complete), (3, true), "{recipe:?}");
        assert_eq!((most.items.len(), most.is_complete), (3, false), "{recipe:?}");
    }
    let limits = Limits { max_bytes: 4000, ..Limits::default() };
    for (length, is_complete) in [(4000, true), (5000, false)] {
        let document = with_limits(limits, &Recipe::Text, &"x\n".repeat(length / 2));
        let said = document.diagnostics.first().map(ToString::to_string).unwrap_or_default();
        assert_eq!(said == "read the first 4000 of 5000 bytes", !is_complete, "{said}");
        assert_eq!(document.is_complete, is_complete, "what is behind the cut may still be there");
    }
}
