//! What to extract from a page, as people write it in a configuration. Checked by [`crate::Extractor::new`].

use serde::{Deserialize, Serialize};

/// How to find the items of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Recipe {
    /// By what the document is: entries of a feed, the visible text of a page, the values of a JSON document,
    /// the lines of a text.
    #[default]
    Auto,
    /// The entries of an RSS, Atom or JSON feed.
    Feed,
    /// The visible text of a page, also of a feed that is to be watched as a page.
    Page,
    /// The values of a JSON document, and nothing of a document that is not JSON.
    Json,
    /// One item for each element of a page that the selector matches.
    HtmlSelector {
        /// A CSS selector.
        css: String,
    },
    /// The main text of a page, without menus, margins and footers, as one item.
    HtmlMain,
    /// One item for each value of a JSON document that the path selects.
    JsonPath {
        /// A path after RFC 9535.
        path: String,
    },
    /// All lines of a text, as one item.
    Text,
}

/// What to leave out before anything is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NoiseRules {
    /// Elements of pages (and of HTML inside feeds) that are not read.
    pub ignore_selectors: Vec<String>,
    /// Pieces of text that are removed from titles and texts; `^` and `$` match at lines.
    pub ignore_patterns: Vec<String>,
}
