//! Which region of a page an element begins, by its name, its role and the words in its class and id. Guesses: what they
//! decide is how much of a change there is reported, never whether the page is read.

use scraper::node::Element;

use crate::outline::Region;

/// Words in names of elements that visitors are shown and editors do not write.
#[rustfmt::skip]
const EXTRA: [&str; 43] = [
    "ad", "ads", "adv", "advert", "adverts", "advertisement", "advertising", "adslot", "banner", "sponsor", "sponsored",
    "promo", "promotion", "cookie", "cookies", "consent", "gdpr", "newsletter", "subscribe", "signup", "paywall", "related",
    "recommend", "recommended", "recommendations", "recirc", "outbrain", "taboola", "trending", "mostread",
    "mostpopular", "share", "sharing", "social", "ticker", "breadcrumb", "breadcrumbs", "pagination", "pager", "toast",
    "modal", "popup", "skip",
];

/// Words in names of elements beside the content.
const ASIDE: [&str; 5] = ["sidebar", "aside", "widget", "widgets", "rail"];

/// The region that an element begins inside another; `is_in_main` if that is the main part of the page or an article.
pub(crate) fn region_of(element: &Element, outer: Region, is_in_main: bool) -> Region {
    let by_name = match element.name() {
        // Names such as `has-sidebar` say what is somewhere inside.
        "html" | "body" => return outer,
        "main" | "article" => {
            return if outer == Region::Extra { outer } else { Region::Content };
        }
        // An article has a header and a footer of its own.
        "footer" | "header" if is_in_main => Region::Content,
        "nav" | "footer" | "header" => Region::Frame,
        "aside" => Region::Aside,
        _ => Region::Content,
    };
    let by_role = match element.attr("role") {
        Some("navigation" | "banner" | "contentinfo" | "search") => Region::Frame,
        Some("complementary") => Region::Aside,
        Some("alertdialog" | "dialog") => Region::Extra,
        _ => Region::Content,
    };
    let named = names(element).map(by_word).max().unwrap_or_default();
    outer.max(by_name).max(by_role).max(named)
}

fn by_word(word: &str) -> Region {
    if word.len() < 2 {
        return Region::Content;
    }
    let is = |known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is(&EXTRA) {
        Region::Extra
    } else if is(&ASIDE) {
        Region::Aside
    } else {
        Region::Content
    }
}

/// The words of an element's id and classes: `most-read_box` has three. `with-sidebar` says what is inside.
fn names(element: &Element) -> impl Iterator<Item = &str> {
    let texts = element.attr("id").into_iter().chain(element.attr("class"));
    let names = texts.flat_map(str::split_ascii_whitespace).filter(|name| !is_about_something(name));
    names
        .filter(|name| !says_what_is_inside(name))
        .flat_map(|name| name.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// Whether a name says that it is what people watch pages for, whatever else it says: `promo-price`, `alert-banner`.
fn is_about_something(name: &str) -> bool {
    #[rustfmt::skip]
    const WATCHED: [&str; 20] = [
        "price", "prices", "pricing", "fee", "fees", "rate", "rates", "cost", "status", "alert", "alerts", "warning", "date", "title",
        "headline", "stock", "availability", "notice", "quote", "result",
    ];
    let is_watched = |word: &str| WATCHED.iter().any(|known| word.eq_ignore_ascii_case(known));
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2).any(is_watched)
}

/// Whether a name is `has-sidebar`, `no_ads` or `isModal`; `notification-banner` only begins with the same letters.
fn says_what_is_inside(name: &str) -> bool {
    let ends_here = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric());
    ["has", "with", "no", "is"].iter().any(|word| name.strip_prefix(word).is_some_and(ends_here))
}

/// The names that stay when a page is built anew: without those that tools make up, such as `css-1x2y3z`, and without what they
/// append, as in `title__cabfde`.
pub(super) fn stable_names(element: &Element) -> impl Iterator<Item = &str> {
    let texts = element.attr("id").into_iter().chain(element.attr("class"));
    let names = texts.flat_map(str::split_ascii_whitespace);
    names.map(|name| name.split("__").next().unwrap_or(name)).filter(|name| {
        let looks_written = |c: char| c.is_ascii_lowercase() || c == '-' || c == '_';
        (2..=32).contains(&name.len()) && name.chars().all(looks_written)
    })
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    fn region(attributes: &str) -> Region {
        let page = Html::parse_fragment(&format!("<div {attributes}>"));
        let mut elements = page.root_element().descendent_elements();
        let element = elements.find(|element| element.value().name() == "div").unwrap();
        region_of(element.value(), Region::Content, false)
    }

    #[test]
    fn names_say_what_an_element_is_and_some_what_is_inside() {
        for name in
            ["notification-banner", "note-modal", "island-ad", "issue_promo", "nordic ad", "hashtag-ticker"]
        {
            assert_eq!(region(&format!("class='{name}'")), Region::Extra, "{name}");
            assert_eq!(region(&format!("id='{name}'")), Region::Extra, "{name}");
        }
        for name in [
            "has-banner",
            "with_modal",
            "no-ads",
            "is-popup",
            "hasSidebar-ad",
            "isModal-toast",
            "no_cookie-banner",
        ] {
            assert_eq!(region(&format!("class='{name}'")), Region::Content, "{name}");
        }
        assert_eq!(region("class='island-sidebar'"), Region::Aside);
        for name in ["promo-price", "share-price", "alert-banner"] {
            assert_eq!(region(&format!("class='{name}'")), Region::Content, "{name}");
        }
        assert_eq!(region("class='price promo'"), Region::Extra, "each name is for itself");
    }
}
