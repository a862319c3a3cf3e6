//! What came out of a page: items, and what could not be read. Not how they were found.

use std::fmt;

use dunlin_core::Time;
use serde::{Deserialize, Serialize};

use crate::outline::Outline;

/// How an item is recognised from one probe to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdOrigin {
    /// The publisher's own id: `guid`, `id`.
    Guid,
    /// The address it links to.
    Link,
    /// Its position in the document, where that identifies it: the whole page, a named JSON value.
    Place,
    /// A fingerprint of its content; an edited item has another one.
    Content,
}

/// The id of an item, unique in its document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemId {
    /// Where the value comes from.
    pub origin: IdOrigin,
    /// The id itself; a fingerprint of it when it was very long.
    pub value: String,
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            IdOrigin::Guid => "guid",
            IdOrigin::Link => "link",
            IdOrigin::Place => "place",
            IdOrigin::Content => "content",
        };
        write!(f, "{origin}:{}", self.value)
    }
}

/// One item of a page: an entry of a feed, a selected element, a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Identifies it from one probe to the next.
    pub id: ItemId,
    /// Its heading, as plain text; may be empty.
    pub title: String,
    /// The address it points to, absolute where the page's own address was given.
    pub link: Option<String>,
    /// Its content as plain text, one line per block, without empty lines.
    pub text: String,
    /// Where the lines of the text stand on the page.
    #[serde(default, skip_serializing_if = "Outline::is_empty")]
    pub outline: Outline,
    /// Who wrote it, as the feed says; several names are separated by commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When its publisher says it appeared, or was last touched.
    #[serde(with = "micros", default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Time>,
}

mod micros {
    //! Instants as whole microseconds, since the instant itself is not ours to serialise.
    use dunlin_core::Time;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(Time::micros).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Time::from_micros))
    }
}

/// What kind of document the bytes were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// RSS or Atom.
    Feed,
    /// A feed in JSON.
    JsonFeed,
    /// Any other JSON.
    Json,
    /// A page.
    Html,
    /// XML that is no feed.
    Xml,
    /// Plain text.
    Text,
    /// Nothing to read.
    Binary,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Feed => "a feed",
            Self::JsonFeed => "a JSON feed",
            Self::Json => "JSON",
            Self::Html => "HTML",
            Self::Xml => "XML",
            Self::Text => "text",
            Self::Binary => "binary data",
        })
    }
}

/// Something about a document that its reader should know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Diagnostic {
    /// The body was longer than the limit.
    #[error("read the first {limit} of {length} bytes")]
    TooManyBytes {
        /// Bytes given.
        length: usize,
        /// Bytes read.
        limit: usize,
    },
    /// There were more items than are kept.
    #[error("kept the first {limit} items")]
    TooManyItems {
        /// Items kept.
        limit: usize,
    },
    /// The text of some items was cut.
    #[error("cut the text of {n_items} items at {limit} bytes")]
    TextCut {
        /// Items whose text was cut.
        n_items: usize,
        /// Bytes kept of each.
        limit: usize,
    },
    /// Elements are nested deeper than a parser should follow; the page was read as plain text.
    #[error("elements are nested deeper than {limit} levels (byte {at}); read as plain text")]
    TooDeep {
        /// Levels allowed.
        limit: usize,
        /// The byte of the decoded text at which the limit was passed.
        at: usize,
    },
    /// A parser would build more elements than is sensible; the page was read as plain text.
    #[error("the page makes more than {limit} elements (byte {at}); read as plain text")]
    TooManyElements {
        /// Elements allowed.
        limit: usize,
        /// The byte of the decoded text at which the limit was passed.
        at: usize,
    },
    /// A parser would be busy for too long; the page was read as plain text.
    #[error("parsing the page would take more than {limit} steps; read as plain text")]
    TooMuchMarkup {
        /// Steps allowed.
        limit: u64,
    },
    /// The recipe and the page together would have kept a reader busy; what was found until then is there.
    #[error("reading took more than {limit} steps and was ended; try a simpler selector, path or pattern")]
    TooMuchWork {
        /// Steps allowed.
        limit: u64,
    },
    /// Finding the main text of the page would take too long; all of its text is read.
    #[error("finding the main text would take more than {limit} steps; read all text of the page")]
    NoMainText {
        /// Steps allowed.
        limit: u64,
    },
    /// Selectors cannot be applied to a page that is read as plain text.
    #[error("the page is too deep or too large for the selector `{selector}`")]
    NotSelectable {
        /// The selector.
        selector: String,
    },
    /// The declared character set does not fit the bytes.
    #[error("declared as {declared}, but read as {used}")]
    WrongCharset {
        /// What the header or the document says.
        declared: String,
        /// What the bytes were read as.
        used: String,
    },
    /// Some bytes mean nothing in the character set and were replaced.
    #[error("some bytes are not valid {charset} and were replaced")]
    BadBytes {
        /// The character set used.
        charset: String,
    },
    /// The content type says one thing and the content another.
    #[error("declared as `{declared}`, but it is {found}")]
    WrongType {
        /// The declared content type.
        declared: String,
        /// What the content is.
        found: Format,
    },
    /// The recipe wants another kind of document.
    #[error("expected {expected}, but it is {found}")]
    UnexpectedFormat {
        /// What the recipe reads.
        expected: &'static str,
        /// What the content is.
        found: Format,
    },
    /// The document is broken; what could be read of it is there.
    #[error("{format}, but broken: {reason}; {n_items} items could be read")]
    Broken {
        /// What it should have been.
        format: Format,
        /// What the parser stumbled over.
        reason: String,
        /// Items found nevertheless.
        n_items: usize,
    },
    /// Several items had the same id; link or content distinguishes them.
    #[error("the id `{id}` is used by {n_items} different items")]
    SharedId {
        /// The id.
        id: String,
        /// Items that carry it.
        n_items: usize,
    },
    /// Items that appear several times over were kept once.
    #[error("{n_items} items were repeated and kept once")]
    Repeated {
        /// Copies left out.
        n_items: usize,
    },
    /// There was no body, or nothing but white space in it. Failing servers do that.
    #[error("the document is empty")]
    Empty,
    /// The recipe found nothing.
    #[error("nothing found where the recipe looks")]
    NothingFound,
}

/// What was read of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What kind of document it was.
    pub format: Format,
    /// The title of the page or feed.
    pub title: Option<String>,
    /// The items, in the order of the document; their ids are unique.
    pub items: Vec<Item>,
    /// When the document itself says it was last changed: evidence, not truth.
    pub updated: Option<Time>,
    /// The character set it was read in: for [`crate::Input::last_charset`] of the next reading. None when any would do.
    pub charset: Option<&'static str>,
    /// What could not be read, or was read differently than declared.
    pub diagnostics: Vec<Diagnostic>,
    /// False when items may be missing at the end: then an item that is not here is not known to be gone.
    pub is_complete: bool,
    /// The end of the page was not found where pages have one: it may have been cut off.
    pub ends_early: bool,
}

impl Document {
    /// The instants the publisher attached to the document and its items, in rising order: evidence of when it
    /// changes, to be trusted as far as experience allows.
    pub fn evidence(&self) -> Vec<Time> {
        let mut times: Vec<Time> =
            self.items.iter().filter_map(|item| item.published).chain(self.updated).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}
