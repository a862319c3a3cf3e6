//! What a person should know before watching a document: the feeds it names, parts of it to choose from, and what may be wrong with
//! it. Compares nothing and decides nothing for the service; its work is bounded like that of reading.

use std::fmt;
use std::time::Duration;

use crate::charset;
use crate::document::{Document, Format};
use crate::extractor::{Extractor, Input};
use crate::html::PageReader;
use crate::json;
use crate::not_the_page::{clear_notice_in, notice_in};

mod candidates;
mod page;
mod shortened;

pub(crate) use shortened::{shortened_paths, shortened_selectors};

/// Parts that are suggested at most.
pub(crate) const MOST_PARTS: usize = 5;

/// The longest sample, in bytes.
pub(crate) const LONGEST_SAMPLE: usize = 100;

/// What one look at a document shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstLook {
    /// Feeds that a page names.
    pub feeds: Vec<NamedFeed>,
    /// Parts that could be watched by themselves; none when the recipe has found its own.
    pub parts: Vec<CandidatePart>,
    /// When the recipe finds nothing, a shorter selector or path that finds something.
    pub nearest: Option<CandidatePart>,
    /// Why the document may not be what was meant.
    pub doubts: Vec<Doubt>,
}

/// A feed that a page names in its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFeed {
    /// Its address, absolute.
    pub url: String,
    /// What the page calls it; may be empty.
    pub title: String,
}

/// A part of a document and how to choose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidatePart {
    /// A CSS selector, or a path in a JSON document.
    pub choice: String,
    /// How many elements or values it finds.
    pub n_matches: usize,
    /// The beginning of the first.
    pub sample: String,
}

/// Why a document may not be what its reader meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// It has little text, and says that it needs scripts.
    AsksForScripts,
    /// It has little text, and an empty element that scripts usually fill.
    EmptyRoot {
        /// The element, as a selector.
        selector: String,
    },
    /// It has scripts and next to no text.
    OnlyScripts,
    /// It has little text, and a field for a password.
    AsksForPassword,
    /// It is short and says that something does not work, or asks to agree or to sign in first.
    Notice {
        /// The line that says so.
        line: String,
    },
}

impl Doubt {
    /// After so many contents in a row, and this long, the document is taken for what it is.
    pub const fn patience() -> (u8, Duration) {
        (3, Duration::from_hours(1))
    }

    /// Whether it stays after that: what is not there without scripts, or before signing in, will not come by itself. A page that
    /// says that something is not available may be about just that.
    pub const fn is_lasting(&self) -> bool {
        !matches!(self, Self::Notice { .. })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EMPTY: &str = "the page is empty without JavaScript, which is not run";
        const REMEDY: &str =
            "look for a feed of the site, or for the address from which its scripts fetch the data";
        match self {
            Self::AsksForScripts => write!(f, "{EMPTY}: it says so itself ({REMEDY})"),
            Self::EmptyRoot { selector } => {
                write!(f, "{EMPTY}: nothing is in {selector}, which its scripts fill ({REMEDY})")
            }
            Self::OnlyScripts => write!(f, "{EMPTY}: it has scripts and next to no text ({REMEDY})"),
            Self::AsksForPassword => f.write_str(
                "it looks like a sign-in page (if the site gives you a cookie or a key, send it along with --header)",
            ),
            Self::Notice { line } => write!(
                f,
                "it looks like an error, maintenance, consent or sign-in page: \"{line}\" (open it in a browser to see why)"
            ),
        }
    }
}

impl Extractor {
    /// Why a document may not be what its reader meant, for one that nobody looks at: only what is clear, and only about pages. What
    /// a selector or a path has found is what was meant.
    pub fn doubt(&self, input: &Input<'_>, document: &Document) -> Option<Doubt> {
        let is_chosen = self.selector().is_some() || self.path().is_some();
        let n_text: usize = document.items.iter().map(|item| item.text.len()).sum();
        if document.format != Format::Html
            || is_chosen && !document.items.is_empty()
            || n_text >= page::MOST_DOUBTED
        {
            return None;
        }
        let body = &input.body[..input.body.len().min(self.limits.max_bytes)];
        let text = charset::decode(body, input.content_type, input.last_charset, &mut Vec::new()).text;
        let work = self.work();
        let reader = PageReader { ignored: &self.ignored, limits: &self.limits, url: input.url, work: &work };
        let notice = || clear_notice_in(document).map(|line| Doubt::Notice { line: sample(line) });
        // A few words beside a script may be all that a page has to say.
        let is_clear = |doubt: &Doubt| !matches!(doubt, Doubt::OnlyScripts) || n_text == 0;
        page::doubt(&text, &reader).filter(is_clear).or_else(notice)
    }

    /// Looks at what it has read as `document`, for a person who considers watching it.
    pub fn first_look(&self, input: &Input<'_>, document: &Document) -> FirstLook {
        let body = &input.body[..input.body.len().min(self.limits.max_bytes)];
        let text = charset::decode(body, input.content_type, input.last_charset, &mut Vec::new()).text;
        let work = self.work();
        let finds_nothing = document.items.is_empty();
        let mut look = match document.format {
            Format::Html => {
                let reader =
                    PageReader { ignored: &self.ignored, limits: &self.limits, url: input.url, work: &work };
                page::look(&text, &reader, self.selector().filter(|_| finds_nothing))
            }
            Format::Json => {
                json::first_look(&text, self.path().filter(|_| finds_nothing), self.limits.max_items, &work)
            }
            _ => FirstLook::default(),
        };
        let is_chosen = self.selector().is_some() || self.path().is_some() || self.is_main();
        if is_chosen && !finds_nothing {
            look.parts.clear();
        }
        let is_feed = matches!(document.format, Format::Feed | Format::JsonFeed);
        if look.doubts.is_empty() && !is_feed {
            let notice = notice_in(document).map(|line| Doubt::Notice { line: sample(line) });
            look.doubts.extend(notice);
        }
        look
    }
}

/// The beginning of a text, on one line.
pub(crate) fn sample(text: &str) -> String {
    let line = crate::text::one_line(crate::text::cut(text, 4 * LONGEST_SAMPLE));
    if line.len() <= LONGEST_SAMPLE {
        return line;
    }
    format!("{}…", crate::text::cut(&line, LONGEST_SAMPLE).trim_end())
}

#[cfg(test)]
mod tests;
