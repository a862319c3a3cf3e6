//! A page looked at once from top to bottom: how much text its elements hold, what its head names, what it cannot do without
//! scripts. Which parts are worth choosing is decided in `candidates`.

use ego_tree::iter::Edge;
use scraper::{ElementRef, Html, Node};
use url::Url;

use super::{CandidatePart, Doubt, FirstLook, NamedFeed, candidates, sample, shortened_selectors};
use crate::html::{CheckedSelector, PageReader, is_invisible, region_of};
use crate::outline::Region;
use crate::text::{cut, one_line};

/// Feeds that are listed at most.
const MOST_FEEDS: usize = 5;
/// Titles of feeds are cut here.
const LONGEST_TITLE: usize = 100;
/// Addresses that are longer lead nowhere.
const LONGEST_URL: usize = 2_000;

/// A page with less text than this, in bytes, may be waiting for its scripts.
const LITTLE_TEXT: usize = 400;
/// And one with less than this has none.
const NO_TEXT: usize = 40;
/// A page that asks for a password and has more text than this has something else to show.
const SIGN_IN_TEXT: usize = 1_500;
/// There is no doubt about a page with more text than this, in bytes.
pub(super) const MOST_DOUBTED: usize = SIGN_IN_TEXT;

/// Elements that frameworks fill in the browser.
#[rustfmt::skip]
const ROOTS: [&str; 12] = [
    "root", "app", "__next", "__nuxt", "__gatsby", "___gatsby", "app-root", "react-root", "application", "svelte", "q-app",
    "ember-app",
];

/// What is known of an element after its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surveyed<'p> {
    pub(super) element: ElementRef<'p>,
    /// Bytes of visible text in it.
    pub(super) n_text: usize,
    pub(super) region: Region,
}

/// The whole page.
#[derive(Debug, Default)]
struct Survey<'p> {
    elements: Vec<Surveyed<'p>>,
    n_text: usize,
    n_scripts: usize,
    /// A text that only those see who have no scripts asks for them; or a text that everyone sees.
    hidden_text_asks: bool,
    text_asks: bool,
    asks_for_password: bool,
    links: Vec<ElementRef<'p>>,
    base: Option<&'p str>,
}

/// Looks at a page; `selector` is one that finds nothing on it.
pub(super) fn look(text: &str, reader: &PageReader<'_>, selector: Option<&CheckedSelector>) -> FirstLook {
    let Ok(page) = reader.parse(text) else { return FirstLook::default() };
    let survey = Survey::of(&page, reader);
    let counted = |css: &str| counted(css, &page, reader);
    let nearest =
        selector.and_then(|selector| shortened_selectors(&selector.css).iter().find_map(|css| counted(css)));
    FirstLook {
        feeds: survey.feeds(reader.url),
        parts: candidates::of(&survey.elements, survey.n_text, counted),
        nearest,
        doubts: survey.doubts().into_iter().collect(),
    }
}

/// Why a page may not be what was meant.
pub(super) fn doubt(text: &str, reader: &PageReader<'_>) -> Option<Doubt> {
    Survey::of(&reader.parse(text).ok()?, reader).doubts()
}

/// What a selector finds; nothing if it finds nothing, or there is no time for it.
fn counted(css: &str, page: &Html, reader: &PageReader<'_>) -> Option<CandidatePart> {
    let selector = CheckedSelector::new(css).ok()?;
    let mut found = selector.matches(page, reader.work).take(reader.limits.max_items);
    let first = found.next()?;
    let n_matches = 1 + found.count();
    let text = reader.beginning_of(first);
    (!reader.work.is_used_up()).then(|| CandidatePart {
        choice: css.to_owned(),
        n_matches,
        sample: sample(text.lines().next().unwrap_or_default()),
    })
}

impl<'p> Survey<'p> {
    fn of(page: &'p Html, reader: &PageReader<'_>) -> Self {
        let mut survey = Self::default();
        // Of the open elements: the text before them, the region, whether they are in the main part.
        let mut open: Vec<(usize, Region, bool)> = Vec::new();
        // The element that is being skipped with all that is in it.
        let mut skipping = None;
        for edge in page.root_element().traverse() {
            if !reader.work.take(1) {
                break;
            }
            match edge {
                Edge::Open(node) => {
                    if let Some(element) = ElementRef::wrap(node) {
                        survey.note(element);
                        let value = element.value();
                        let (_, outer, was_in_main) = open.last().copied().unwrap_or_default();
                        let region = region_of(value, outer, was_in_main);
                        let is_in_main = was_in_main || matches!(value.name(), "main" | "article");
                        open.push((survey.n_text, region, is_in_main));
                        if skipping.is_none()
                            && (is_invisible(value.name()) || value.attr("hidden").is_some())
                        {
                            skipping = Some(node.id());
                        }
                    } else if let (Node::Text(piece), None) = (node.value(), skipping) {
                        reader.work.take(piece.len() as u64);
                        survey.take_text(piece);
                    }
                }
                Edge::Close(node) => {
                    let Some(element) = ElementRef::wrap(node) else { continue };
                    let (before, region, _) = open.pop().unwrap_or_default();
                    if skipping.is_none() {
                        survey.elements.push(Surveyed { element, n_text: survey.n_text - before, region });
                    }
                    skipping = skipping.filter(|skipped| *skipped != node.id());
                }
            }
        }
        survey
    }

    /// What an element says by being there.
    fn note(&mut self, element: ElementRef<'p>) {
        match element.value().name() {
            "script" => self.n_scripts += 1,
            "noscript" => {
                self.hidden_text_asks |= element.text().any(|text| mentions_scripts(cut(text, 2_000)));
            }
            "link" => self.links.push(element),
            "base" => self.base = self.base.or(element.attr("href")),
            "input" => {
                self.asks_for_password |=
                    element.attr("type").is_some_and(|kind| kind.eq_ignore_ascii_case("password"));
            }
            _ => {}
        }
    }

    fn take_text(&mut self, piece: &str) {
        let is_little = self.n_text < LITTLE_TEXT;
        self.n_text += piece.split_whitespace().map(|word| word.len() + 1).sum::<usize>();
        self.text_asks |= is_little && mentions_scripts(cut(piece, 2_000));
    }

    /// Feeds named in `link` elements, in the order of the page.
    fn feeds(&self, url: Option<&str>) -> Vec<NamedFeed> {
        let own = url.and_then(|url| Url::parse(url).ok());
        let base = match (&own, self.base) {
            (Some(own), Some(base)) => own.join(base).ok().or_else(|| Some(own.clone())),
            (Some(own), None) => Some(own.clone()),
            (None, base) => base.and_then(|base| Url::parse(base).ok()),
        };
        let mut feeds: Vec<NamedFeed> = Vec::new();
        for link in self.links.iter().filter(|link| is_feed(**link)) {
            let Some(href) = link.attr("href").map(str::trim).filter(|href| !href.is_empty()) else {
                continue;
            };
            let found = match &base {
                Some(base) => base.join(href),
                None => Url::parse(href),
            };
            let Ok(found) = found else { continue };
            let is_web = matches!(found.scheme(), "http" | "https") && found.as_str().len() <= LONGEST_URL;
            if is_web && feeds.iter().all(|feed| feed.url != found.as_str()) {
                let title = one_line(cut(link.attr("title").unwrap_or_default(), LONGEST_TITLE));
                feeds.push(NamedFeed { url: found.into(), title });
            }
            if feeds.len() == MOST_FEEDS {
                break;
            }
        }
        feeds
    }

    /// Why the page may not be what was meant.
    fn doubts(&self) -> Option<Doubt> {
        if self.asks_for_password && self.n_text < SIGN_IN_TEXT {
            return Some(Doubt::AsksForPassword);
        }
        if self.n_text >= LITTLE_TEXT {
            return None;
        }
        let is_empty_root = |surveyed: &&Surveyed<'_>| {
            let element = surveyed.element.value();
            surveyed.n_text == 0
                && (ROOTS.iter().any(|root| element.attr("id") == Some(root)) || element.name() == "app-root")
        };
        let root = self.elements.iter().find(is_empty_root).map(|root| root.element.value());
        match root {
            _ if self.hidden_text_asks || self.text_asks && self.n_scripts > 0 => Some(Doubt::AsksForScripts),
            Some(root) if self.n_scripts > 0 => {
                let selector = root.attr("id").map_or_else(|| root.name().to_owned(), |id| format!("#{id}"));
                Some(Doubt::EmptyRoot { selector })
            }
            _ if self.n_scripts > 0 && self.n_text < NO_TEXT => Some(Doubt::OnlyScripts),
            _ => None,
        }
    }
}

/// Whether a text is about JavaScript, as one is that asks for it.
fn mentions_scripts(text: &str) -> bool {
    text.to_lowercase().contains("javascript")
}

/// `rel="alternate"` with the type of a feed.
fn is_feed(link: ElementRef<'_>) -> bool {
    let is_kind = |word: &str| {
        link.attr("rel").unwrap_or_default().split_whitespace().any(|rel| rel.eq_ignore_ascii_case(word))
    };
    let essence = link.attr("type").unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let has_type =
        ["application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"]
            .iter()
            .any(|known| essence.eq_ignore_ascii_case(known));
    is_kind("alternate") && has_type
}
