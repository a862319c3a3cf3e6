//! What is to be reported of a content, and what is not and why. Says nothing about how that is decided.

use std::collections::BTreeMap;
use std::fmt;

use crate::detect::Change;
use crate::document::Item;
use crate::parts::Recognised;

/// Something to report: a whole item, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<'i> {
    /// The item that is new, gone or edited.
    pub change: Change<'i>,
    /// What happened to this part of it: `added`, `edited` or `removed`.
    pub kind: &'static str,
    /// What stands above it: a heading, or the title of its item; may be empty.
    pub heading: &'i str,
    /// What it is the value of: the first line of its row or entry; may be empty.
    pub label: &'i str,
    /// What was there; empty for something new.
    pub old: String,
    /// What is there; empty for something that is gone.
    pub new: String,
    /// What matters most comes first: the content before what stands beside it, figures before words.
    pub(crate) rank: u8,
    /// Where in the new line figures and words are that changed and are no news, in bytes.
    pub(crate) quiet: Vec<(usize, usize)>,
}

impl<'i> Changed<'i> {
    /// What happened to the item as a whole.
    pub const fn kind_of_item(&self) -> &'static str {
        match self.change {
            Change::Added(_) => "added",
            Change::Edited { .. } => "edited",
            Change::Removed(_) => "removed",
        }
    }

    /// The item as it is now, or as it last was.
    pub fn item(&self) -> &'i Item {
        self.change.item()
    }
}

/// Why something is not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Only what is recognised as the work of a clock, a counter or a server is different.
    Recognised(Recognised),
    /// It is somewhere else now.
    Moved,
    /// It is advertising, a recommendation, consent or the like.
    Extra,
    /// It left a list at its end, or came from behind its end, as entries came or went elsewhere.
    ScrolledOut,
    /// It was here before, or was here only for a moment.
    Returned,
    /// It is different nearly every time.
    Volatile,
    /// It is so on another page of the site, and this one has not been read often enough to tell.
    VolatileElsewhere,
}

impl Reason {
    /// A stable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Recognised(Recognised::Formatting) => "formatting",
            Self::Recognised(Recognised::Clock) => "clock",
            Self::Recognised(Recognised::RelativeTime) => "relative_time",
            Self::Recognised(Recognised::Counter) => "counter",
            Self::Recognised(Recognised::Code) => "code",
            Self::Recognised(Recognised::Pleasantry) => "pleasantry",
            Self::Moved => "moved",
            Self::Extra => "extra",
            Self::ScrolledOut => "scrolled_out",
            Self::Returned => "returned",
            Self::Volatile => "volatile",
            Self::VolatileElsewhere => "volatile_elsewhere",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recognised(Recognised::Formatting) => "only its formatting is different",
            Self::Recognised(Recognised::Clock) => "it shows the time",
            Self::Recognised(Recognised::RelativeTime) => "it says how long ago something was",
            Self::Recognised(Recognised::Counter) => "it counts visitors, views, comments or the like",
            Self::Recognised(Recognised::Code) => {
                "it is a code that the server makes up, or the server's name"
            }
            Self::Recognised(Recognised::Pleasantry) => {
                "it greets the visitor, entertains or asks for consent"
            }
            Self::Moved => "it is only somewhere else now",
            Self::Extra => "it is advertising, a recommendation, a consent banner or the like",
            Self::ScrolledOut => "it left or entered its list at the end, as other entries came or went",
            Self::Returned => "it was here before",
            Self::Volatile => "it is different nearly every time",
            Self::VolatileElsewhere => "it is different nearly every time on other pages of the site",
        })
    }
}

/// Something that is not reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// Why.
    pub reason: Reason,
    /// What was there, shortened; may be empty.
    pub old: String,
    /// What is there, shortened; may be empty.
    pub new: String,
}

/// The differences of one content, divided into those to report and those that are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict<'i> {
    /// To report: whole items in their order, then parts of items, what matters most first.
    pub reported: Vec<Changed<'i>>,
    /// Not to report, and why; the first of very many.
    pub suppressed: Vec<Suppressed>,
}

impl<'i> Verdict<'i> {
    /// What is to be reported, item by item, each with at least one part.
    pub fn by_item(&self) -> Vec<Vec<&Changed<'i>>> {
        let mut items: Vec<Vec<&Changed<'i>>> = Vec::new();
        // Looked up only; the order is that of what is reported.
        let mut places: BTreeMap<*const Item, usize> = BTreeMap::new();
        for changed in &self.reported {
            let place = *places.entry(std::ptr::from_ref(changed.item())).or_insert(items.len());
            match items.get_mut(place) {
                Some(parts) => parts.push(changed),
                None => items.push(vec![changed]),
            }
        }
        items
    }
}
