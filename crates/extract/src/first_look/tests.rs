//! First looks at small documents, and at one that is made to be expensive.

use super::*;
use crate::Limits;
use crate::recipe::{NoiseRules, Recipe};

fn look_by(recipe: &Recipe, body: &str) -> FirstLook {
    let extractor = Extractor::new(recipe, &NoiseRules::default(), Limits::default()).unwrap();
    let input =
        Input { body: body.as_bytes(), url: Some("https://shop.example/tea/list"), ..Input::default() };
    extractor.first_look(&input, &extractor.extract(&input))
}

fn look(body: &str) -> FirstLook {
    look_by(&Recipe::Auto, body)
}

fn choices(look: &FirstLook) -> Vec<(&str, usize, &str)> {
    look.parts.iter().map(|part| (part.choice.as_str(), part.n_matches, part.sample.as_str())).collect()
}

#[test]
fn feeds_are_named_with_absolute_addresses() {
    let found = look(
        "<html><head><link rel='alternate' type='application/rss+xml' title=' All  news ' href='/feed'>\
         <link rel='ALTERNATE nofollow' type='Application/Atom+XML; charset=utf-8' href='atom.xml'>\
         <link rel='alternate' type='application/feed+json' href='https://other.example/f.json'>\
         <link rel='alternate' type='application/rss+xml' href='/feed'>\
         <link rel='alternate' type='application/rss+xml' href='javascript:alert(1)'>\
         <link rel='alternate' type='application/rss+xml' href=''>\
         <link rel='alternate' hreflang='de' href='/de'><link rel='stylesheet' type='application/rss+xml' href='/no'>\
         </head><body>Hello</body></html>",
    );
    let urls: Vec<_> = found.feeds.iter().map(|feed| (feed.url.as_str(), feed.title.as_str())).collect();
    assert_eq!(
        urls,
        [
            ("https://shop.example/feed", "All news"),
            ("https://shop.example/tea/atom.xml", ""),
            ("https://other.example/f.json", ""),
        ]
    );
    let based = look(
        "<html><head><base href='/news/'><link rel=alternate type=application/rss+xml href=rss></head></html>",
    );
    assert_eq!(based.feeds[0].url, "https://shop.example/news/rss");
}

#[test]
fn parts_are_the_main_text_lists_and_named_elements() {
    let offers = [1, 2, 3, 4].map(|n| format!("<li class='offer css-1x9'>Tea number {n}</li>")).concat();
    let rows = [1, 2, 3].map(|n| format!("<tr><td>Coffee {n}</td><td>€ {n}</td></tr>")).concat();
    let found = look(&format!(
        "<html><body><nav><ul><li class=item>Home page</li><li class=item>About this shop</li><li class=item>Contact us</li></ul>\
         </nav><main><h1>Offers</h1><ul>{offers}</ul><table id=prices>{rows}</table><p id=opening-hours>Open from nine to five</p>\
         <p id=x123456>Not a name that stays</p></main><footer id=foot>All rights reserved by us</footer></body></html>"
    ));
    assert_eq!(
        choices(&found),
        [
            ("main", 1, "Offers"),
            ("li.offer", 4, "Tea number 1"),
            ("#prices tr", 3, "Coffee 1 € 1"),
            ("#prices", 1, "Coffee 1 € 1"),
            ("#opening-hours", 1, "Open from nine to five"),
        ]
    );
    assert_eq!(found.doubts, []);
}

#[test]
fn a_selector_that_finds_something_needs_no_suggestion() {
    let page = "<html><body><main><ul class=list><li class=offer>Green tea<li class=offer>Black tea<li class=offer>White tea</ul></main>";
    let css = |css: &str| look_by(&Recipe::HtmlSelector { css: css.to_owned() }, page);
    let found = css(".offer");
    assert_eq!((found.parts, found.nearest), (vec![], None));
    let nearest = |css_text: &str| css(css_text).nearest.map(|part| (part.choice, part.n_matches));
    assert_eq!(nearest("main div.list li.offer"), Some(("li.offer".to_owned(), 3)));
    assert_eq!(nearest("main li.offer.new"), Some(("main li.offer".to_owned(), 3)));
    assert_eq!(nearest("main table"), Some(("main".to_owned(), 1)));
    assert_eq!(nearest("table"), None);
    assert!(css("table").parts.iter().any(|part| part.choice == "li.offer"));
}

#[test]
fn pages_that_wait_for_scripts_are_recognised() {
    let root = "<html><head><script src=a.js></script></head><body><div id=root></div></body></html>";
    assert_eq!(look(root).doubts, [Doubt::EmptyRoot { selector: "#root".to_owned() }]);
    let asks = "<html><body><noscript>Please enable JavaScript.</noscript><div id=app></div><script>x</script></body></html>";
    assert_eq!(look(asks).doubts, [Doubt::AsksForScripts]);
    let only =
        "<html><body><p>Loading</p><script>var text = 'a long text that nobody sees';</script></body></html>";
    assert_eq!(look(only).doubts, [Doubt::OnlyScripts]);
    assert_eq!(look("<html><body><p>A book about JavaScript</p></body></html>").doubts, []);
    // A page that can be read may have all of that.
    let text = "A page with words on it. ".repeat(30);
    let full = format!(
        "<html><body><noscript>Needs JavaScript</noscript><div id=root></div><p>{text}</p><script></script>"
    );
    assert_eq!(look(&full).doubts, []);
    assert_eq!(
        look("<html><body><p>A short page without scripts</p><div id=root></div></body></html>").doubts,
        []
    );
}

#[test]
fn pages_that_stand_in_for_another_are_recognised() {
    let login =
        "<html><body><form><p>Members</p><input name=u><input type=Password name=p></form></body></html>";
    assert_eq!(look(login).doubts, [Doubt::AsksForPassword]);
    let consent = "<html><body><h1>Before you continue</h1><p>We value your privacy.</p></body></html>";
    assert_eq!(look(consent).doubts, [Doubt::Notice { line: "Before you continue".to_owned() }]);
    assert_eq!(look("Service unavailable").doubts.len(), 1);
    let long = format!("<html><body>{}<p>This was not found</p></body></html>", "<p>A line</p>".repeat(20));
    assert_eq!(look(&long).doubts, []);
}

#[test]
fn lists_of_a_json_document_are_suggested() {
    let body = r#"{"meta": {"n": 2}, "data": {"items": [{"name": "Tea", "price": 5}, {"name": "Cake"}], "empty": []}, "odd key": [1]}"#;
    assert_eq!(choices(&look(body)), [("$.data.items[*]", 2, "name: Tea, price: 5")]);
    assert_eq!(choices(&look("[1, 2]")), [("$[*]", 2, "1")]);
    let path = |path: &str| {
        look_by(&Recipe::JsonPath { path: path.to_owned() }, body).nearest.map(|part| part.choice)
    };
    assert_eq!(path("$.data.items[*].title").as_deref(), Some("$.data.items[*]"));
    assert_eq!(path("$.data.list[*]").as_deref(), Some("$.data"));
    assert_eq!(path("$.nothing"), None);
    assert_eq!(path("$.data.items[*].name"), None);
}

#[test]
fn a_hostile_page_ends_within_the_work_allowed() {
    use std::fmt::Write as _;
    let mut page = "<html><body>".to_owned();
    for n in 0..30_000 {
        write!(page, "<div class='c{n} {}' id=i{n}><li class=a>x", "long-class ".repeat(20)).unwrap();
        if n % 100 == 99 {
            page.push_str(&"</li></div>".repeat(100));
        }
    }
    let limits = Limits { max_steps: 100_000, ..Limits::default() };
    let css = ":nth-last-child(2n+1) div ~ div".to_owned();
    let extractor = Extractor::new(&Recipe::HtmlSelector { css }, &NoiseRules::default(), limits).unwrap();
    let input = Input { body: page.as_bytes(), ..Input::default() };
    let found = extractor.first_look(&input, &extractor.extract(&input));
    assert_eq!((found.parts.len(), found.nearest), (0, None));
}

#[test]
fn what_a_service_doubts_is_clear_and_about_the_page_that_was_meant() {
    let doubt = |recipe: &Recipe, body: &str| {
        let extractor = Extractor::new(recipe, &NoiseRules::default(), Limits::default()).unwrap();
        let input = Input { body: body.as_bytes(), ..Input::default() };
        extractor.doubt(&input, &extractor.extract(&input))
    };
    let sign_in =
        "<html><body><h1>Welcome</h1><form><input name=user><input type=password></form></body></html>";
    let scripts = "<html><body><div id=root></div><script src=a.js></script></body></html>";
    let notice = "<html><body><h1>Maintenance</h1><p>Back at noon.</p></body></html>";
    let selector = |css: &str| Recipe::HtmlSelector { css: css.to_owned() };
    for recipe in [Recipe::Auto, Recipe::Page, Recipe::HtmlMain, selector(".price")] {
        assert_eq!(doubt(&recipe, sign_in), Some(Doubt::AsksForPassword), "{recipe:?}");
        assert_eq!(
            doubt(&recipe, scripts),
            Some(Doubt::EmptyRoot { selector: "#root".to_owned() }),
            "{recipe:?}"
        );
    }
    assert!(matches!(doubt(&Recipe::Auto, notice), Some(Doubt::Notice { .. })));
    // What a selector has found is what was meant; and what a page says of something else is no notice.
    for body in [sign_in, notice] {
        assert_eq!(doubt(&selector("h1"), body), None);
    }
    let lines = "<p>Opening hours</p><p>Lost, and not found: an umbrella</p><p>Offline on Mondays</p>";
    assert_eq!(doubt(&Recipe::Auto, &format!("<html><body>{lines}</body></html>")), None);
    assert!(!look(lines).doubts.is_empty(), "a person is told");
}
