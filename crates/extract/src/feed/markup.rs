//! The text of one element of a feed, while it is being read: plain, HTML that was escaped, or elements in place. Its
//! pieces are put together as one piece of HTML, whichever it is. Not a parser of HTML.

use super::tokens::Tag;
use crate::document::Diagnostic;
use crate::html::PageReader;
use crate::text::tidy_lines;

/// How the text of an element is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Nobody says: RSS, where any text may be HTML, and mostly is.
    Unsaid,
    /// HTML, escaped.
    Html,
    /// Elements in place.
    Xhtml,
    Plain,
    /// No text at all, such as a picture.
    Data,
}

impl Writing {
    /// By what Atom 1.0 says in `type`, and Atom 0.3 in `type` and `mode`. Without `of_atom`, silence means nothing.
    pub(super) fn of(kind: Option<&str>, mode: Option<&str>, of_atom: bool) -> Self {
        let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        let mode = mode.map(|mode| mode.trim().to_ascii_lowercase());
        match (kind.as_deref(), mode.as_deref()) {
            (_, Some("base64")) => Self::Data,
            (Some("xhtml" | "application/xhtml+xml"), None)
            | (Some("html" | "xhtml" | "text/html" | "application/xhtml+xml"), Some("xml")) => Self::Xhtml,
            (Some("html" | "xhtml" | "text/html" | "application/xhtml+xml"), _) => Self::Html,
            (None | Some(""), _) if !of_atom => Self::Unsaid,
            (None | Some("" | "text" | "plain"), _) => Self::Plain,
            (Some(mime), _) if mime.ends_with("/xml") || mime.ends_with("+xml") => Self::Xhtml,
            (Some(mime), _) if mime.starts_with("text/") => Self::Plain,
            (Some(mime), _) if mime.contains('/') => Self::Data,
            _ => Self::Unsaid,
        }
    }
}

/// A text that is being put together.
#[derive(Debug, Clone)]
pub(super) struct Markup {
    writing: Writing,
    /// Plain until the first tag comes, unless it is HTML from the start.
    source: String,
    has_tags: bool,
}

impl Markup {
    pub(super) const fn new(writing: Writing) -> Self {
        Self { writing, source: String::new(), has_tags: false }
    }

    pub(super) const fn writing(&self) -> Writing {
        self.writing
    }

    /// Whether references to HTML's own names are for the reader of HTML to resolve.
    pub(super) const fn is_html_source(&self) -> bool {
        matches!(self.writing, Writing::Unsaid | Writing::Html)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.source.trim().is_empty() || self.writing == Writing::Data
    }

    /// The text itself, for what is no text to read: an address, an id, a date.
    pub(super) fn source(&self) -> &str {
        self.source.trim()
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.has_tags && !self.is_html_source() {
            push_escaped(&mut self.source, text);
        } else {
            self.source.push_str(text);
        }
    }

    pub(super) fn open(&mut self, tag: Tag<'_>) {
        if !self.has_tags && !self.is_html_source() {
            let text = std::mem::take(&mut self.source);
            push_escaped(&mut self.source, &text);
        }
        self.has_tags = true;
        for piece in ["<", local_name(tag.name), tag.attributes.trim_end(), ">"] {
            self.source.push_str(piece);
        }
        if tag.closes_itself {
            self.close(tag.name);
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if !is_void(local_name(name)) {
            for piece in ["</", local_name(name), ">"] {
                self.source.push_str(piece);
            }
        }
    }

    /// As a reader sees it.
    pub(super) fn plain(&self, reader: &PageReader<'_>, problems: &mut Vec<Diagnostic>) -> String {
        let is_html = match self.writing {
            Writing::Data => return String::new(),
            Writing::Html => true,
            Writing::Unsaid => self.has_tags || self.source.contains(['<', '&']),
            Writing::Xhtml | Writing::Plain => self.has_tags,
        };
        if is_html { reader.fragment(&self.source, problems) } else { tidy_lines(&self.source) }
    }
}

fn push_escaped(source: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => source.push_str("&lt;"),
            '&' => source.push_str("&amp;"),
            c => source.push(c),
        }
    }
}

/// A name without its prefix.
pub(super) fn local_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Elements that HTML does not close.
fn is_void(name: &str) -> bool {
    let void = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    ];
    void.iter().any(|known| name.eq_ignore_ascii_case(known))
}
