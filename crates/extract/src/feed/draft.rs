//! An item while it is being read: of each part the best that was offered so far. Order does not matter, except between
//! equals.

use dunlin_core::Time;

use super::field::Stage;
use super::markup::Markup;
use crate::document::Diagnostic;
use crate::html::PageReader;
use crate::identity::RawItem;
use crate::text::one_line;

/// The best of several; the first of those that are as good.
#[derive(Debug)]
pub(super) struct Best<T>(Option<(u8, T)>);

impl<T> Default for Best<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Best<T> {
    /// Takes a value of this rank if there is none of a better one.
    pub(super) fn offer(&mut self, rank: u8, value: T) {
        if self.0.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.0 = Some((rank, value));
        }
    }

    pub(super) fn take(self) -> Option<T> {
        self.0.map(|(_, value)| value)
    }
}

/// The instants that are given. Of several for the same the last counts, as most readers have it.
#[derive(Debug, Default)]
pub(super) struct Dates {
    published: Option<Time>,
    created: Option<Time>,
    updated: Option<Time>,
}

impl Dates {
    pub(super) fn set(&mut self, stage: Stage, time: Time) {
        match stage {
            Stage::Published => self.published = Some(time),
            Stage::Created => self.created = Some(time),
            Stage::Updated => self.updated = Some(time),
        }
    }

    /// When an item appeared, else when it was last touched.
    pub(super) fn of_item(&self) -> Option<Time> {
        self.published.or(self.created).or(self.updated)
    }

    /// When a feed was last touched.
    pub(super) fn of_feed(&self) -> Option<Time> {
        self.updated.or(self.published).or(self.created)
    }
}

/// Ranks of links.
pub(super) mod link {
    /// The link of the item.
    pub(in crate::feed) const OWN: u8 = 0;
    /// Atom's link in a feed that has links of its own.
    pub(in crate::feed) const LENT: u8 = 1;
    /// An id that is an address and does not say that it is none.
    pub(in crate::feed) const PERMALINK: u8 = 2;
    /// A link to something else, which is better than none.
    pub(in crate::feed) const OTHER: u8 = 3;
}

/// Who wrote something: all names of the best rank.
#[derive(Debug, Default)]
pub(super) struct Authors {
    rank: u8,
    names: Vec<String>,
}

/// Nobody is told of more.
const MAX_AUTHORS: usize = 8;

impl Authors {
    pub(super) fn offer(&mut self, rank: u8, written: &str) {
        let name = author_name(written);
        if name.is_empty() || (!self.names.is_empty() && rank > self.rank) {
            return;
        }
        if rank < self.rank {
            self.names.clear();
        }
        self.rank = rank;
        if self.names.len() < MAX_AUTHORS && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    pub(super) fn joined(&self) -> Option<String> {
        (!self.names.is_empty()).then(|| self.names.join(", "))
    }
}

/// RSS wants an address of mail with the name in parentheses behind it.
fn author_name(written: &str) -> String {
    let named = written.trim().strip_suffix(')').and_then(|rest| rest.split_once('('));
    match named {
        Some((address, name)) if address.contains('@') && !name.trim().is_empty() => one_line(name),
        _ => one_line(written),
    }
}

/// An item, or what a feed says of itself.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) id: Best<String>,
    pub(super) link: Best<String>,
    pub(super) title: Best<Markup>,
    pub(super) text: Best<Markup>,
    pub(super) authors: Authors,
    pub(super) dates: Dates,
}

impl Draft {
    /// The item, with its texts as a reader sees them.
    pub(super) fn into_item(self, reader: &PageReader<'_>, problems: &mut Vec<Diagnostic>) -> RawItem {
        let published = self.dates.of_item();
        let mut plain = |text: Best<Markup>| text.take().map(|text| text.plain(reader, problems));
        let (title, text) = (plain(self.title), plain(self.text));
        RawItem {
            guid: self.id.take(),
            title: one_line(&title.unwrap_or_default()),
            link: self.link.take(),
            text: text.unwrap_or_default(),
            author: self.authors.joined(),
            published,
            ..RawItem::default()
        }
    }
}
