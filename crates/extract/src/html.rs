//! Pages: elements by selector, main text, visible text. All parsing is behind the nesting gate.

use std::borrow::Cow;

use scraper::{ElementRef, Html};

use crate::document::Diagnostic;
use crate::identity::RawItem;
use crate::limits::Limits;
use crate::nesting::{self, Gated};
use crate::text::{heading_of, one_line, tidy_lines};
use crate::work::Work;

mod block;
mod heading;
mod region;
mod selecting;
mod stripped;
mod visible;

pub(crate) use region::region_of;
pub(crate) use selecting::CheckedSelector;
pub(crate) use stripped::strip_tags;
use visible::Visible;
pub(crate) use visible::is_invisible;

/// Elements searched for the link and the heading of an item.
const MAX_SEARCHED: usize = 2_000;

/// What reading a page takes besides the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageReader<'r> {
    pub(crate) ignored: &'r [CheckedSelector],
    pub(crate) limits: &'r Limits,
    /// The address of the page, to make links absolute.
    pub(crate) url: Option<&'r str>,
    /// What reading may still cost.
    pub(crate) work: &'r Work,
}

/// What was found on a page.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) title: Option<String>,
    pub(crate) items: Vec<RawItem>,
}

/// The id of an item that is the whole page.
const WHOLE_PAGE: &str = "page";

impl PageReader<'_> {
    /// All visible text, as one item.
    pub(crate) fn whole(&self, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Found {
        match self.parse(text) {
            Ok(page) => {
                let visible = self.visible(page.root_element(), &self.ignored_ids(&page));
                one_item(title_of(&page), visible)
            }
            Err(problem) => {
                diagnostics.push(problem);
                one_item(None, without_outline(strip_tags(text)))
            }
        }
    }

    /// The main text, as one item; all visible text where no main text stands out.
    pub(crate) fn main(&self, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Found {
        let mut page = match self.parse(text) {
            Ok(page) => page,
            Err(problem) => {
                diagnostics.push(problem);
                return one_item(None, without_outline(strip_tags(text)));
            }
        };
        let title = title_of(&page);
        let ignored = self.ignored_ids(&page);
        for id in &ignored {
            if let Some(mut node) = page.tree.get_mut(*id) {
                node.detach();
            }
        }
        let html = if ignored.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(page.html()) };
        // What was written again is checked again: it is another text.
        let main = nesting::check(&html, self.limits).ok().and_then(|html| {
            if html.n_steps_up() < self.work.left() {
                self.work.take(html.n_steps_up());
                return readable(html);
            }
            diagnostics.push(Diagnostic::NoMainText { limit: self.limits.max_steps });
            None
        });
        let main = main.map(without_outline);
        one_item(title, main.unwrap_or_else(|| self.visible(page.root_element(), &ignored)))
    }

    /// One item for each element that `selector` matches.
    pub(crate) fn select(
        &self,
        text: &str,
        selector: &CheckedSelector,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Found {
        let page = match self.parse(text) {
            Ok(page) => page,
            Err(problem) => {
                diagnostics.push(problem);
                diagnostics.push(Diagnostic::NotSelectable { selector: selector.css.clone() });
                return Found::default();
            }
        };
        let ignored = self.ignored_ids(&page);
        let matched = selector.matches(&page, self.work).filter(|element| !ignored.contains(&element.id()));
        let items = matched.take(self.limits.max_items + 1).map(|element| self.item(element, &ignored));
        let mut items: Vec<RawItem> = items.collect();
        if let [only] = items.as_mut_slice() {
            // What is picked by itself, such as a price, stays itself when its text changes.
            only.place = Some(selector.css.clone());
        }
        Found { title: title_of(&page), items }
    }

    /// The text of a piece of HTML, such as the content of a feed's entry.
    pub(crate) fn fragment(&self, html: &str, diagnostics: &mut Vec<Diagnostic>) -> String {
        match self.parse(html) {
            Ok(page) => self.text_of(page.root_element(), &self.ignored_ids(&page)),
            Err(problem) => {
                diagnostics.push(problem);
                strip_tags(html)
            }
        }
    }

    fn item(&self, element: ElementRef<'_>, ignored: &visible::NodeIds) -> RawItem {
        let Visible { text, outline } = self.visible(element, ignored);
        let inside = || element.descendent_elements().take(MAX_SEARCHED).take_while(|_| self.work.take(1));
        let links = std::iter::once(element).chain(inside());
        let href = links.filter(|link| link.value().name() == "a").find_map(|link| link.attr("href"));
        // Elements around it have the same first link, and each keeps it.
        let href = href.filter(|href| self.work.take(href.len() as u64));
        let heading = inside()
            .find(|inner| matches!(inner.value().name(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6"))
            .map(|heading| one_line(&self.text_of(heading, ignored)))
            .filter(|heading| !heading.is_empty());
        RawItem {
            guid: element.attr("id").map(str::to_owned),
            title: heading.unwrap_or_else(|| heading_of(&text)),
            link: href.and_then(|href| self.absolute(href)),
            text,
            outline,
            ..RawItem::default()
        }
    }

    /// A link made absolute; anchors within the page and scripts are no links.
    pub(crate) fn absolute(&self, href: &str) -> Option<String> {
        let href = href.trim();
        let lower = crate::text::cut(href, 11).to_ascii_lowercase();
        if href.is_empty() || href.starts_with('#') || lower.starts_with("javascript:") {
            return None;
        }
        let joined = self.url.and_then(|url| url::Url::parse(url).ok()).and_then(|base| base.join(href).ok());
        Some(joined.map_or_else(|| href.to_owned(), String::from))
    }

    /// The beginning of the text of an element, for a look at it.
    pub(crate) fn beginning_of(&self, element: ElementRef<'_>) -> String {
        const MOST: usize = 2_000;
        visible::text_of(element, &visible::NodeIds::default(), MOST, self.work).text
    }

    pub(crate) fn parse(&self, text: &str) -> Result<Html, Diagnostic> {
        let gated = nesting::check(text, self.limits)?;
        // What is read as plain text instead still needs some.
        if gated.n_parser_steps() >= self.work.left() {
            return Err(Diagnostic::TooMuchMarkup { limit: self.limits.max_steps });
        }
        self.work.take(gated.n_parser_steps());
        Ok(Html::parse_document(gated.text()))
    }

    /// The text of an element as a reader sees it, within what is left of the work.
    fn text_of(&self, element: ElementRef<'_>, ignored: &visible::NodeIds) -> String {
        self.visible(element, ignored).text
    }

    /// Likewise, with where its lines stand.
    fn visible(&self, element: ElementRef<'_>, ignored: &visible::NodeIds) -> Visible {
        // More than will be kept, since white space is still in it.
        visible::text_of(element, ignored, self.limits.max_item_text.saturating_mul(2), self.work)
    }

    fn ignored_ids(&self, page: &Html) -> visible::NodeIds {
        self.ignored
            .iter()
            .flat_map(|ignored| ignored.matches(page, self.work))
            .map(|element| element.id())
            .collect()
    }
}

/// The text of XML that is no feed, one line per element, as one item.
pub(crate) fn elements(xml: &str) -> Found {
    let text = strip_tags(xml);
    let unescaped = quick_xml::escape::unescape(&text).map(Cow::into_owned);
    one_item(None, without_outline(unescaped.unwrap_or(text)))
}

/// A text of which it is not known where its lines stand.
fn without_outline(text: String) -> Visible {
    Visible { text, ..Visible::default() }
}

fn one_item(title: Option<String>, Visible { text, outline }: Visible) -> Found {
    let item = RawItem {
        place: Some(WHOLE_PAGE.to_owned()),
        title: title.clone().unwrap_or_default(),
        text,
        outline,
        ..RawItem::default()
    };
    Found { title, items: vec![item] }
}

fn title_of(page: &Html) -> Option<String> {
    let mut elements = page.root_element().descendent_elements();
    let title = elements.find(|element| element.value().name() == "title")?;
    Some(one_line(&title.text().collect::<String>())).filter(|title| !title.is_empty())
}

/// The main text after Mozilla's Readability rules.
fn readable(html: Gated<'_>) -> Option<String> {
    let config = dom_smoothie::Config {
        text_mode: dom_smoothie::TextMode::Formatted,
        disable_json_ld: true,
        ..dom_smoothie::Config::default()
    };
    let article = dom_smoothie::Readability::new(html.text(), None, Some(config)).ok()?.parse().ok()?;
    Some(tidy_lines(&article.text_content)).filter(|text| !text.is_empty())
}
