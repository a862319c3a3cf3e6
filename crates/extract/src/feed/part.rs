//! A part of an item or of a feed while it is open: a title, a text, a link, an id, an author, a date. When it ends, the item takes
//! from it what it has use for. Not which elements are parts: see `field`.

use super::dates;
use super::draft::{Best, Draft, link};
use super::field::Meaning;
use super::markup::{Markup, Writing, local_name};
use super::tokens::Tag;
use super::vocabulary::Vocabulary;
use crate::html::PageReader;

/// The part that is open.
#[derive(Debug)]
pub(super) struct Part {
    meaning: Meaning,
    vocabulary: Vocabulary,
    pub(super) markup: Markup,
    /// What the element `name` inside of it says, where a person is described by several.
    name: Option<String>,
    href: Option<String>,
    rel: Option<String>,
    is_permalink: bool,
}

impl Part {
    /// Begins with a tag, whose values `resolved` makes readable.
    pub(super) fn begin(
        meaning: Meaning,
        vocabulary: Vocabulary,
        of_atom: bool,
        tag: Tag<'_>,
        resolved: impl Fn(&str) -> String,
    ) -> Self {
        let [mut kind, mut mode, mut href, mut rel, mut permalink] = [const { None }; 5];
        for (name, value) in tag.attributes() {
            let slot = match name.to_ascii_lowercase().as_str() {
                "type" => &mut kind,
                "mode" => &mut mode,
                "href" => &mut href,
                "rel" => &mut rel,
                "ispermalink" => &mut permalink,
                _ => continue,
            };
            *slot = Some(resolved(value));
        }
        // Only Atom takes silence for plain text.
        let of_atom = of_atom && matches!(vocabulary, Vocabulary::Core | Vocabulary::Atom);
        let writing = match meaning {
            Meaning::Title(_) | Meaning::Text(_) => Writing::of(kind.as_deref(), mode.as_deref(), of_atom),
            Meaning::Link | Meaning::Id(_) | Meaning::Author(_) | Meaning::Date(_) => Writing::Plain,
        };
        Self {
            meaning,
            vocabulary,
            markup: Markup::new(writing),
            name: None,
            href,
            rel,
            is_permalink: permalink.is_none_or(|permalink| !permalink.trim().eq_ignore_ascii_case("false")),
        }
    }

    /// An element begins inside of it.
    pub(super) fn open(&mut self, tag: Tag<'_>) {
        if matches!(self.meaning, Meaning::Author(_)) {
            self.markup = Markup::new(Writing::Plain);
        } else {
            self.markup.open(tag);
        }
    }

    /// An element inside of it ends.
    pub(super) fn close(&mut self, name: &str) {
        if !matches!(self.meaning, Meaning::Author(_)) {
            self.markup.close(name);
        } else if self.name.is_none() && local_name(name).eq_ignore_ascii_case("name") {
            self.name = Some(self.markup.source().to_owned());
        }
    }

    /// Ends it. Links are relative to the address of `base`.
    pub(super) fn give_to(self, draft: &mut Draft, is_atom: bool, base: &PageReader<'_>) {
        match self.meaning {
            Meaning::Title(rank) => offer(&mut draft.title, rank, self.markup),
            Meaning::Text(rank) => offer(&mut draft.text, rank, self.markup),
            Meaning::Author(rank) => {
                draft.authors.offer(rank, self.name.as_deref().unwrap_or(self.markup.source()));
            }
            Meaning::Date(stage) => {
                if let Some(time) = dates::parse(self.markup.source()) {
                    draft.dates.set(stage, time);
                }
            }
            Meaning::Id(rank) => {
                let id = self.markup.source();
                // A `guid` of RSS, as opposed to Atom's id, is the link unless it says that it is none.
                let is_address = id.starts_with("http://") || id.starts_with("https://");
                if rank == 0 && self.is_permalink && is_address {
                    draft.link.offer(link::PERMALINK, base.absolute(id).unwrap_or_default());
                }
                if !id.is_empty() {
                    draft.id.offer(rank, id.to_owned());
                }
            }
            Meaning::Link => {
                let is_own =
                    self.rel.as_deref().is_none_or(|rel| rel.trim().is_empty() || rel == "alternate");
                let is_lent = self.vocabulary == Vocabulary::Atom && !is_atom;
                let rank = match (is_own, is_lent) {
                    (true, false) => link::OWN,
                    (true, true) => link::LENT,
                    (false, _) => link::OTHER,
                };
                let href = self.href.as_deref().unwrap_or(self.markup.source());
                if let Some(href) = base.absolute(href) {
                    draft.link.offer(rank, href);
                }
            }
        }
    }
}

/// An empty element says nothing; another one may.
fn offer(best: &mut Best<Markup>, rank: u8, markup: Markup) {
    if !markup.is_empty() {
        best.offer(rank, markup);
    }
}
