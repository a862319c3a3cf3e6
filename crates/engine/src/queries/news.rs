//! What a capture brings to queries that watch for words: the words of the source now, and its new items with what is needed to
//! judge them. Also how the index of texts is made from what is stored. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_extract::Item;
use dunlin_extract::document::IdOrigin;
use dunlin_query::{Fingerprint, words};
use dunlin_store::{
    Capture, InstanceId, ItemScope, MAX_TEXT_BYTES, NewChange, SourceId, SourceQuery, SourceText, Store,
    TextIndex,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::parts::{KeptItem, decode, encode};
use crate::capture::{ChangeDetail, DetailPiece};

/// The most new items of one capture that are looked at.
const MOST_ITEMS: usize = 50;
/// The most bytes of an item's text that are looked at.
const MOST_TEXT: usize = 16 << 10;
/// How many sources are put into the index at a time, and about how many bytes at the most.
const PORTION: u32 = 64;
const PORTION_BYTES: usize = 1 << 20;

/// What a capture brings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct News {
    /// The words of the source now.
    pub words: String,
    /// What is new on it.
    pub items: Vec<NewsItem>,
}

/// An item that was added or edited.
#[derive(Debug, Clone, PartialEq)]
pub struct NewsItem {
    /// What it says; of an edit, what came in.
    pub kept: KeptItem,
    /// The words of its title and its text.
    pub words: BTreeSet<String>,
    /// By what it is known again.
    pub story: Story,
}

/// By what something that a query told is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    /// Where it was told.
    pub source: i64,
    /// Which entry it was there; 0 for a part of a page, which may say something else tomorrow.
    pub entry: u64,
    /// Its text.
    pub text: Fingerprint,
}

/// A story that a query told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// With this result.
    pub instance: InstanceId,
    /// What it was.
    pub story: Story,
}

impl Story {
    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Reads what is stored; none where it cannot be read.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }

    /// Whether it was told before: by the same source as the same entry or in the same words, or by another one.
    pub const fn repeats(&self, before: &Self) -> bool {
        if self.source != before.source {
            return self.text.is_same_story(&before.text);
        }
        self.entry != 0 && self.entry == before.entry || self.text.is_repeated_by(&before.text)
    }
}

impl News {
    /// What a capture brings, of a source with this title; none if its items are the same.
    pub fn of(title: &str, capture: &Capture) -> Option<Self> {
        let stored = capture.items.as_ref()?;
        let items: BTreeMap<&str, Item> = stored
            .iter()
            .filter_map(|item| Some((item.key.as_str(), serde_json::from_slice(&item.body).ok()?)))
            .collect();
        let in_order = stored.iter().filter_map(|item| items.get(item.key.as_str()));
        let item_of = |change: &NewChange| items.get(change.item.as_deref()?);
        let news = capture.changes.iter().filter_map(|change| {
            let item = item_of(change)?;
            NewsItem::of(capture.source, item, change)
        });
        Some(Self { words: words_of(title, in_order), items: news.take(MOST_ITEMS).collect() })
    }
}

impl NewsItem {
    pub(super) fn of(source: SourceId, item: &Item, change: &NewChange) -> Option<Self> {
        let text = match change.kind.as_str() {
            "added" => item.text.clone(),
            "edited" => came_in(&ChangeDetail::read(&change.detail)?)?,
            _ => return None,
        };
        let text = &text[..text.floor_char_boundary(MOST_TEXT)];
        let is_entry = item.id.origin != IdOrigin::Place;
        let story = Story {
            source: source.0,
            entry: if is_entry { xxh3_64(item.id.to_string().as_bytes()).max(1) } else { 0 },
            text: Fingerprint::of(&item.title, text),
        };
        Some(Self {
            words: words(&item.title).chain(words(text)).collect(),
            kept: KeptItem::of(&Item { text: text.to_owned(), ..item.clone() }, text.len(), true),
            story,
        })
    }
}

/// What an edit brought in: the lines in which there are words that were not there before, or a new title; none if it only took
/// something away. Whole lines, since the next story may begin with the same words.
fn came_in(detail: &ChangeDetail) -> Option<String> {
    let (mut lines, mut line, mut is_new) = (Vec::new(), String::new(), false);
    let mut end = |line: &mut String, is_new: &mut bool| {
        let ended = std::mem::take(line);
        if std::mem::take(is_new) && !ended.trim().is_empty() {
            lines.push(ended);
        }
    };
    for piece in &detail.pieces {
        let (text, is_inserted) = match piece {
            DetailPiece::Inserted(text) => (text, true),
            DetailPiece::Kept(text) => (text, false),
            DetailPiece::Removed(_) => continue,
            DetailPiece::Gap => {
                end(&mut line, &mut is_new);
                continue;
            }
        };
        for (position, part) in text.split('\n').enumerate() {
            if position > 0 {
                end(&mut line, &mut is_new);
            }
            line.push_str(part);
            is_new |= is_inserted && !part.trim().is_empty();
        }
    }
    end(&mut line, &mut is_new);
    if lines.is_empty() && detail.old_title.is_none() {
        return None;
    }
    let heading = Some(detail.heading.clone()).filter(|heading| !heading.is_empty());
    Some(heading.into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

/// The words of a source, with a space between them, as many as are indexed.
fn words_of<'i>(title: &str, items: impl Iterator<Item = &'i Item>) -> String {
    let mut line = String::new();
    let texts = items.flat_map(|item| [item.title.as_str(), item.text.as_str()]);
    for text in std::iter::once(title).chain(texts) {
        let room = MAX_TEXT_BYTES.saturating_sub(line.len());
        if room == 0 {
            break;
        }
        for word in words(&text[..text.floor_char_boundary(room)]) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    line.truncate(line.floor_char_boundary(MAX_TEXT_BYTES));
    line
}

/// Puts the next portion of sources into the index of texts; whether it has all then.
pub(crate) fn index_portion(store: &dyn Store) -> Result<bool, dunlin_store::Error> {
    let after = match store.text_index()? {
        TextIndex::Complete => return Ok(true),
        TextIndex::None => None,
        TextIndex::UpTo(source) => Some(source),
    };
    let (mut portion, mut n_bytes, mut reached) = (Vec::new(), 0, TextIndex::Complete);
    for source in store.sources(&SourceQuery { after, ..SourceQuery::first(PORTION) })? {
        let stored = store.items(source.id, ItemScope::Present)?;
        let items: Vec<Item> =
            stored.iter().filter_map(|item| serde_json::from_slice(&item.body).ok()).collect();
        if !items.is_empty() {
            let words = words_of(source.shown_name(), items.iter());
            n_bytes += words.len();
            portion.push(SourceText { source: source.id, words });
        }
        reached = TextIndex::UpTo(source.id);
        if n_bytes >= PORTION_BYTES {
            break;
        }
    }
    store.build_text_index(portion, reached)?;
    Ok(reached == TextIndex::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_brings_in_the_lines_in_which_something_is_new() {
        let kept = |text: &str| DetailPiece::Kept(text.to_owned());
        let inserted = |text: &str| DetailPiece::Inserted(text.to_owned());
        let removed = |text: &str| DetailPiece::Removed(text.to_owned());
        let came = |pieces: Vec<DetailPiece>| came_in(&ChangeDetail { pieces, ..ChangeDetail::default() });
        let replaced =
            vec![kept("Weather\nHurricane "), removed("Ann"), inserted("Bob"), kept(" in Florida\nMore")];
        assert_eq!(came(replaced).as_deref(), Some("Hurricane Bob in Florida"));
        let added =
            vec![kept("One"), inserted("\nTwo\nThree"), DetailPiece::Gap, kept("Ten"), removed("\nEleven")];
        assert_eq!(came(added).as_deref(), Some("Two\nThree"));
        assert_eq!(came(vec![kept("One "), removed("two")]), None);
        let titled = ChangeDetail { old_title: Some("Before".to_owned()), ..ChangeDetail::default() };
        assert_eq!(came_in(&titled).as_deref(), Some(""), "another title is something new by itself");
        let below = ChangeDetail { heading: "Weather".to_owned(), pieces: vec![inserted("Rain")], ..titled };
        assert_eq!(came_in(&below).as_deref(), Some("Weather\nRain"));
    }

    #[test]
    fn an_entry_is_known_again_by_its_number_and_a_part_of_a_page_by_its_words() {
        let words = |salt: usize| {
            (0..40).map(|n| format!("word{}", n * 7 + salt * 1_000)).collect::<Vec<_>>().join(" ")
        };
        let story =
            |source, entry, salt| Story { source, entry, text: Fingerprint::of("Title", &words(salt)) };
        assert!(story(1, 5, 1).repeats(&story(1, 5, 2)), "the same entry, told anew");
        assert!(!story(1, 5, 1).repeats(&story(1, 6, 2)));
        assert!(!story(1, 0, 1).repeats(&story(1, 0, 2)), "a part of a page says something else tomorrow");
        assert!(story(1, 0, 1).repeats(&story(1, 0, 1)));
        assert!(!story(1, 5, 1).repeats(&story(2, 5, 2)), "entries are numbered by their own source");
        assert!(story(1, 5, 1).repeats(&story(2, 6, 1)));
        let read = Story::from_bytes(&story(1, 5, 1).to_bytes());
        assert_eq!(read, Some(story(1, 5, 1)));
    }
}
