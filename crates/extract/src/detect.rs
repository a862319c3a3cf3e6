//! Old items and new items to changes. Order and dates are not content: a re-ordered or re-dated item has not
//! changed. Recognising flicker is [`crate::flicker`]'s task.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{self, Piece};
use crate::document::{IdOrigin, Item, ItemId};
use crate::hashing::content_id;
use crate::links::{common_parameters, without_codes};
use crate::parts;
use crate::work::Work;

/// Something that a reader would notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'i> {
    /// A new item.
    Added(&'i Item),
    /// The same item with another title or text.
    Edited {
        /// As it was.
        old: &'i Item,
        /// As it is.
        new: &'i Item,
    },
    /// An item that is gone.
    Removed(&'i Item),
}

impl<'i> Change<'i> {
    /// The item as it is now, or as it last was.
    pub fn item(&self) -> &'i Item {
        match self {
            Self::Added(item) | Self::Removed(item) | Self::Edited { new: item, .. } => item,
        }
    }

    /// The texts before and after, word by word, as far as the work goes.
    pub fn words(&self, work: &Work) -> Vec<Piece<'i>> {
        match self {
            Self::Added(item) => diff::words("", &item.text, work),
            Self::Removed(item) => diff::words(&item.text, "", work),
            Self::Edited { old, new } => diff::words(&old.text, &new.text, work),
        }
    }
}

/// The result of comparing two versions of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison<'i> {
    /// Added and edited items in the order of the new document, then the removed ones in the order of the old.
    pub changes: Vec<Change<'i>>,
    /// Items, old and new, in which nothing but the date is different.
    pub redated: Vec<(&'i Item, &'i Item)>,
    /// Items, old and new, that are the same under another id.
    pub renamed: Vec<(&'i Item, &'i Item)>,
}

impl Comparison<'_> {
    /// For a feed: an entry that leaves it at its end has scrolled out. One that is gone while older ones stay, though `old` puts the
    /// newest first and dates every entry, was withdrawn; a feed in any other order drops entries wherever it likes.
    pub fn keep_withdrawals(&mut self, old: &[Item]) {
        const FEWEST_BELOW: usize = 2;
        let is_chronological = old.windows(2).all(|pair| match (pair[0].published, pair[1].published) {
            (Some(above), Some(below)) => above >= below,
            _ => false,
        });
        let removals = self.changes.iter().filter(|change| matches!(change, Change::Removed(_)));
        let gone: BTreeSet<ItemId> = removals.map(|change| change.item().id.clone()).collect();
        let mut n_below = 0;
        let mut withdrawn = BTreeSet::new();
        for item in old.iter().rev().filter(|_| is_chronological) {
            if !gone.contains(&item.id) {
                n_below += 1;
            } else if n_below >= FEWEST_BELOW {
                withdrawn.insert(&item.id);
            }
        }
        self.changes
            .retain(|change| !matches!(change, Change::Removed(_)) || withdrawn.contains(&change.item().id));
    }

    /// For a new document of which the end is missing: what is not in it is not known to be gone.
    pub fn drop_removals(&mut self) {
        self.changes.retain(|change| !matches!(change, Change::Removed(_)));
    }
}

/// The changes from `old` to `new`.
pub fn detect<'i>(old: &'i [Item], new: &'i [Item]) -> Vec<Change<'i>> {
    compare(old, new).changes
}

/// The changes from `old` to `new`, and what else is different.
///
/// Items belong together that have the same id, else the same link, else the same link but for what was made up for
/// this reader. Where none of them says anything, because there is no link or because not one of them has survived, they
/// belong together if the content is the same; and, where an id is only a fingerprint of the content, if the title is. At
/// each of these steps an item is only matched when no other one claims the same.
pub fn compare<'i>(old: &'i [Item], new: &'i [Item]) -> Comparison<'i> {
    let mut pairing = Pairing { old, new, partners: vec![None; new.len()], is_taken: vec![false; old.len()] };
    pairing.pair_by(|item| Some(item.id.to_string()));
    pairing.pair_by(|item| item.link.clone());
    pairing.pair_by_lasting_links();
    // The same story under another link is news, unless all links are different.
    let is_churned = !pairing.is_taken.contains(&true);
    // The old items may hold one several times, under each of the ids that it had: the first is the latest.
    pairing.pair_by_content(|item| {
        (is_churned || item.link.is_none()).then(|| content_id(&[&item.title, &item.text]))
    });
    pairing.pair_by(|item| {
        Some(item.title.clone()).filter(|title| !title.is_empty() && item.id.origin == IdOrigin::Content)
    });
    pairing.pair_by_likeness(&Work::default());
    pairing.into_comparison()
}

/// Of the items that are not left out, the first with each key; and the keys that several have.
fn firsts(
    items: &[Item],
    is_left_out: &[bool],
    key: impl Fn(&Item) -> Option<String>,
) -> (BTreeMap<String, usize>, BTreeSet<String>) {
    let (mut by_key, mut shared) = (BTreeMap::new(), BTreeSet::new());
    for (index, item) in items.iter().enumerate() {
        let key = if is_left_out.get(index) == Some(&true) { None } else { key(item) };
        if let Some(key) = key
            && *by_key.entry(key.clone()).or_insert(index) != index
        {
            shared.insert(key);
        }
    }
    (by_key, shared)
}

/// Which new item continues which old one.
struct Pairing<'i> {
    old: &'i [Item],
    new: &'i [Item],
    /// For each new item, the index of the old one.
    partners: Vec<Option<usize>>,
    is_taken: Vec<bool>,
}

impl<'i> Pairing<'i> {
    /// Pairs the items still unpaired that share a key which no other item has.
    fn pair_by(&mut self, key: impl Fn(&Item) -> Option<String>) {
        let (mut olds, old_shared) = firsts(self.old, &self.is_taken, &key);
        olds.retain(|key, _| !old_shared.contains(key));
        self.pair_with(&olds, key);
    }

    /// Likewise for a key that says all of an item: old ones that share it are the same.
    fn pair_by_content(&mut self, key: impl Fn(&Item) -> Option<String>) {
        let (olds, _) = firsts(self.old, &self.is_taken, &key);
        self.pair_with(&olds, key);
    }

    fn pair_with(&mut self, olds: &BTreeMap<String, usize>, key: impl Fn(&Item) -> Option<String>) {
        let is_paired: Vec<bool> = self.partners.iter().map(Option::is_some).collect();
        let (mut news, shared) = firsts(self.new, &is_paired, key);
        news.retain(|key, _| !shared.contains(key));
        for (key, new_index) in news {
            if let Some(old_index) = olds.get(&key) {
                self.partners[new_index] = Some(*old_index);
                self.is_taken[*old_index] = true;
            }
        }
    }

    /// Pairs what is still unpaired by links without what was made up for one reader. Only where those tell all new items
    /// apart: if two are the same without it, it is what they differ by.
    fn pair_by_lasting_links(&mut self) {
        let is_open = self.partners.iter().any(Option::is_none) && self.is_taken.contains(&false);
        if !is_open {
            return;
        }
        let common = common_parameters(self.new.iter().filter_map(|item| item.link.as_deref()));
        let lasting = |item: &Item| item.link.as_deref().map(|link| without_codes(link, &common));
        let is_made_up = |item: &Item| item.link.is_some() && item.link != lasting(item);
        if !self.new.iter().any(is_made_up) {
            return;
        }
        let (_, shared) = firsts(self.new, &[], lasting);
        if shared.is_empty() {
            let (olds, _) = firsts(self.old, &self.is_taken, lasting);
            self.pair_with(&olds, lasting);
        }
    }

    /// Pairs items that are known by nothing but their content and have most of their words in common, in their order: a row with
    /// another price is the same row.
    fn pair_by_likeness(&mut self, work: &Work) {
        const MOST: usize = 100;
        const LONGEST: usize = 4 << 10;
        let is_free = |item: &Item| {
            item.id.origin == IdOrigin::Content && item.link.is_none() && item.text.len() <= LONGEST
        };
        let olds: Vec<usize> =
            (0..self.old.len()).filter(|at| !self.is_taken[*at] && is_free(&self.old[*at])).collect();
        let news: Vec<usize> = (0..self.new.len())
            .filter(|at| self.partners[*at].is_none() && is_free(&self.new[*at]))
            .collect();
        if olds.is_empty() || news.is_empty() || olds.len().max(news.len()) > MOST {
            return;
        }
        let texts = |items: &'i [Item], indices: &[usize]| -> Vec<&'i str> {
            indices.iter().map(|at| items[*at].text.as_str()).collect()
        };
        for (old, new) in parts::alike(&texts(self.old, &olds), &texts(self.new, &news), work) {
            self.partners[news[new]] = Some(olds[old]);
            self.is_taken[olds[old]] = true;
        }
    }

    fn into_comparison(self) -> Comparison<'i> {
        let mut comparison = Comparison::default();
        for (new, partner) in self.new.iter().zip(&self.partners) {
            let Some(old) = partner.map(|index| &self.old[index]) else {
                comparison.changes.push(Change::Added(new));
                continue;
            };
            if old.title != new.title || old.text != new.text {
                comparison.changes.push(Change::Edited { old, new });
            } else if old.published != new.published {
                comparison.redated.push((old, new));
            }
            if old.id != new.id {
                comparison.renamed.push((old, new));
            }
        }
        let gone = self.old.iter().zip(&self.is_taken).filter(|(_, is_taken)| !**is_taken);
        comparison.changes.extend(gone.map(|(item, _)| Change::Removed(item)));
        comparison
    }
}
