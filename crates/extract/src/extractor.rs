//! A checked recipe at work: decode, sniff, find, clean, identify. The steps are elsewhere; the order is here.

use std::borrow::Cow;

use crate::charset;
use crate::document::{Diagnostic, Document, Format};
use crate::error::Error;
use crate::feed;
use crate::hashing::content_id;
use crate::html::{CheckedSelector, PageReader, elements, strip_tags};
use crate::identity::{self, RawItem};
use crate::json::{self, CheckedPath};
use crate::limits::Limits;
use crate::noise::CheckedPattern;
use crate::recipe::{NoiseRules, Recipe};
use crate::sniff::sniff;
use crate::text::{cut, heading_of, one_line, tidy_lines};
use crate::work::Work;

/// What was fetched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Input<'i> {
    /// The body, decompressed.
    pub body: &'i [u8],
    /// The value of the `Content-Type` header: a hint.
    pub content_type: Option<&'i str>,
    /// Where it was found, to make links absolute.
    pub url: Option<&'i str>,
    /// The [`Document::charset`] of the last reading that had one. What declares no character set is still in that one,
    /// unless the bytes say otherwise: else a few letters more or less could make all of it look edited.
    pub last_charset: Option<&'i str>,
}

/// Turns documents into items, by one recipe.
#[derive(Debug, Clone)]
pub struct Extractor {
    method: Method,
    pub(crate) ignored: Vec<CheckedSelector>,
    patterns: Vec<CheckedPattern>,
    pub(crate) limits: Limits,
    /// The path as it is written, if it reads by one.
    path: Option<String>,
}

#[derive(Debug, Clone)]
enum Method {
    Auto,
    Feed,
    Page,
    Json,
    Selector(CheckedSelector),
    Main,
    Path(CheckedPath),
    Text,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Found {
    title: Option<String>,
    updated: Option<dunlin_core::Time>,
    items: Vec<RawItem>,
    is_complete: bool,
}

/// Titles are shown in lists; a longer one is text.
const MAX_TITLE: usize = 1000;

impl Extractor {
    /// Checks a recipe and its noise rules.
    pub fn new(recipe: &Recipe, noise: &NoiseRules, limits: Limits) -> Result<Self, Error> {
        let method = match recipe {
            Recipe::Auto => Method::Auto,
            Recipe::Feed => Method::Feed,
            Recipe::Page => Method::Page,
            Recipe::Json => Method::Json,
            Recipe::HtmlSelector { css } => Method::Selector(CheckedSelector::new(css)?),
            Recipe::HtmlMain => Method::Main,
            Recipe::JsonPath { path } => Method::Path(CheckedPath::new(path)?),
            Recipe::Text => Method::Text,
        };
        let ignored =
            noise.ignore_selectors.iter().map(|css| CheckedSelector::new(css)).collect::<Result<_, _>>()?;
        let patterns =
            noise.ignore_patterns.iter().map(|text| CheckedPattern::new(text)).collect::<Result<_, _>>()?;
        let path = match recipe {
            Recipe::JsonPath { path } => Some(path.clone()),
            _ => None,
        };
        Ok(Self { method, ignored, patterns, limits, path })
    }

    /// What comparing two readings may cost: as much as reading one.
    pub fn work(&self) -> Work {
        Work::new(self.limits.max_steps)
    }

    /// The selector that it reads by.
    pub(crate) const fn selector(&self) -> Option<&CheckedSelector> {
        match &self.method {
            Method::Selector(selector) => Some(selector),
            _ => None,
        }
    }

    /// The path that it reads by, as it is written.
    pub(crate) fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Whether it reads the main text only.
    pub(crate) const fn is_main(&self) -> bool {
        matches!(self.method, Method::Main)
    }

    /// Reads a document. Its diagnostics say what could not be read.
    pub fn extract(&self, input: &Input<'_>) -> Document {
        let mut diagnostics = Vec::new();
        let max_bytes = self.limits.max_bytes;
        let body = &input.body[..input.body.len().min(max_bytes)];
        if body.len() < input.body.len() {
            diagnostics.push(Diagnostic::TooManyBytes { length: input.body.len(), limit: max_bytes });
        }
        let charset::Decoded { text, charset } =
            charset::decode(body, input.content_type, input.last_charset, &mut diagnostics);
        let format = sniff(&text, input.content_type, &mut diagnostics);
        let work = self.work();
        let reader = PageReader { ignored: &self.ignored, limits: &self.limits, url: input.url, work: &work };
        let mut found = if format == Format::Binary {
            diagnostics.push(Diagnostic::UnexpectedFormat { expected: self.expected(), found: format });
            if matches!(self.method, Method::Feed | Method::Json) { Found::default() } else { binary(body) }
        } else if text.trim().is_empty() {
            // Not complete: an empty answer does not mean that everything is gone.
            diagnostics.push(Diagnostic::Empty);
            Found::default()
        } else {
            self.find(&text, format, &reader, &mut diagnostics)
        };
        found.is_complete &= body.len() == input.body.len();
        if found.items.len() > self.limits.max_items {
            found.items.truncate(self.limits.max_items);
            found.is_complete = false;
            diagnostics.push(Diagnostic::TooManyItems { limit: self.limits.max_items });
        }
        // What a reader did not get to may still be there.
        found.is_complete &= !work.is_used_up();
        self.clean(&mut found.items, &work, &mut diagnostics);
        if work.is_used_up() {
            diagnostics.push(Diagnostic::TooMuchWork { limit: self.limits.max_steps });
        }
        let items = identity::assign(found.items, &mut diagnostics);
        // An empty feed is a feed without news; a selector that matches nothing has probably lost its page.
        let expects_items = matches!(self.method, Method::Selector(_) | Method::Path(_));
        if items.is_empty() && expects_items {
            diagnostics.push(Diagnostic::NothingFound);
        }
        let title = found.title.map(|title| cut(&title, MAX_TITLE).to_owned());
        let ends_early = format == Format::Html && !is_closed(&text);
        Document {
            format,
            title,
            items,
            updated: found.updated,
            charset,
            diagnostics,
            is_complete: found.is_complete,
            ends_early,
        }
    }

    fn find(
        &self,
        text: &str,
        format: Format,
        reader: &PageReader<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Found {
        let is_page = matches!(format, Format::Html | Format::Xml);
        let is_json = matches!(format, Format::Json | Format::JsonFeed);
        let is_expected = match &self.method {
            Method::Selector(_) | Method::Main => is_page,
            Method::Path(_) | Method::Json => is_json,
            Method::Feed => matches!(format, Format::Feed | Format::JsonFeed),
            Method::Page => !is_json,
            Method::Auto | Method::Text => true,
        };
        if !is_expected {
            diagnostics.push(Diagnostic::UnexpectedFormat { expected: self.expected(), found: format });
        }
        let feed = |diagnostics| {
            let feed::Found { title, updated, items, is_complete } =
                feed::read(text, format, reader, diagnostics);
            Found { title, updated, items, is_complete }
        };
        let page = |found: crate::html::Found| Found {
            title: found.title,
            items: found.items,
            is_complete: true,
            updated: None,
        };
        let plain = |items: Vec<RawItem>| Found { items, is_complete: true, ..Found::default() };
        match (&self.method, format) {
            (Method::Selector(selector), _) => page(reader.select(text, selector, diagnostics)),
            (Method::Main, Format::Html | Format::Xml) => page(reader.main(text, diagnostics)),
            (Method::Path(path), _) => plain(json::read(text, Some(path), reader, diagnostics)),
            (Method::Auto | Method::Feed, Format::Feed | Format::JsonFeed) => feed(diagnostics),
            (Method::Auto, Format::Json) | (Method::Json, Format::Json | Format::JsonFeed) => {
                plain(json::read(text, None, reader, diagnostics))
            }
            (Method::Auto | Method::Page, Format::Html) => page(reader.whole(text, diagnostics)),
            (Method::Auto | Method::Page, Format::Xml) | (Method::Page, Format::Feed) => page(elements(text)),
            // The text of an error page is no answer to a request for a feed or for data.
            (Method::Feed | Method::Json, _) => Found::default(),
            (Method::Text, Format::Html) => plain(vec![text_item(&strip_tags(text))]),
            _ => plain(vec![text_item(text)]),
        }
    }

    /// What the recipe reads.
    const fn expected(&self) -> &'static str {
        match &self.method {
            Method::Selector(_) | Method::Main => "HTML",
            Method::Path(_) | Method::Json => "JSON",
            Method::Feed => "a feed",
            Method::Page => "a page",
            Method::Auto | Method::Text => "text",
        }
    }

    /// Applies the noise patterns and the limits; afterwards what is equal is equal.
    fn clean(&self, items: &mut [RawItem], work: &Work, diagnostics: &mut Vec<Diagnostic>) {
        let limit = self.limits.max_item_text;
        let mut n_cut = 0;
        for item in items {
            let rest = self.without_noise(&item.text, work);
            item.outline.keep_lines_of(&rest, item.text.lines().count());
            let text = tidy_lines(&rest);
            n_cut += usize::from(text.len() > limit);
            cut(&text, limit).trim_end().clone_into(&mut item.text);
            item.outline.truncate(item.text.lines().count());
            let title = one_line(&self.without_noise(&item.title, work));
            cut(&title, MAX_TITLE).trim_end().clone_into(&mut item.title);
        }
        if n_cut > 0 {
            diagnostics.push(Diagnostic::TextCut { n_items: n_cut, limit });
        }
    }

    fn without_noise<'t>(&self, text: &'t str, work: &Work) -> Cow<'t, str> {
        let remove = |text: Cow<'t, str>, pattern: &CheckedPattern| match pattern.removed_from(&text, work) {
            Cow::Borrowed(_) => text,
            Cow::Owned(rest) => Cow::Owned(rest),
        };
        self.patterns.iter().fold(Cow::Borrowed(text), remove)
    }
}

/// A text is one item, as a page is: its lines are compared one by one.
fn text_item(text: &str) -> RawItem {
    let text = tidy_lines(text);
    RawItem { place: Some("text".to_owned()), title: heading_of(&text), text, ..RawItem::default() }
}

/// Whether a page has an end: `</html>` or `</body>`, if not at the very end, then near it.
fn is_closed(text: &str) -> bool {
    const NEAR_THE_END: usize = 2_000;
    let tail = &text.as_bytes()[text.len().saturating_sub(NEAR_THE_END)..];
    let has = |tag: &[u8]| {
        tail.windows(tag.len()).any(|window| window[0] == b'<' && window.eq_ignore_ascii_case(tag))
    };
    has(b"</html") || has(b"</body")
}

/// Data without text can still change.
fn binary(body: &[u8]) -> Found {
    let fingerprint = content_id(&[&String::from_utf8_lossy(body)]);
    let text = format!("{} bytes, fingerprint {fingerprint}", body.len());
    let item = RawItem {
        place: Some("body".to_owned()),
        title: "binary data".to_owned(),
        text,
        ..RawItem::default()
    };
    Found { items: vec![item], is_complete: true, ..Found::default() }
}
