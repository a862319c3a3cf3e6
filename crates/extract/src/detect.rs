//! Old items and new items to changes. Order and dates are not content: a re-ordered or re-dated item has not
//! changed. Recognising flicker is [`crate::flicker`]'s task.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{self, Piece};
use crate::document::{IdOrigin, Item};
use crate::hashing::content_id;
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
/// Items belong together that have the same id, else the same link. Where neither says anything, because there is
/// no link or because not one of them has survived, they belong together if the content is the same; and, where
/// an id is only a fingerprint of the content, if the title is. At each of these steps an item is only matched
/// when no other one claims the same.
pub fn compare<'i>(old: &'i [Item], new: &'i [Item]) -> Comparison<'i> {
    let mut pairing = Pairing { old, new, partners: vec![None; new.len()], is_taken: vec![false; old.len()] };
    pairing.pair_by(|item| Some(item.id.to_string()));
    pairing.pair_by(|item| item.link.clone());
    // The same story under another link is news, unless all links are different.
    let is_churned = !pairing.is_taken.contains(&true);
    pairing
        .pair_by(|item| (is_churned || item.link.is_none()).then(|| content_id(&[&item.title, &item.text])));
    pairing.pair_by(|item| {
        Some(item.title.clone()).filter(|title| !title.is_empty() && item.id.origin == IdOrigin::Content)
    });
    pairing.into_comparison()
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
        let alone = |items: &[Item], is_paired: &dyn Fn(usize) -> bool| {
            let mut by_key: BTreeMap<String, usize> = BTreeMap::new();
            let mut shared = BTreeSet::new();
            for (index, item) in items.iter().enumerate().filter(|(index, _)| !is_paired(*index)) {
                if let Some(key) = key(item)
                    && by_key.insert(key.clone(), index).is_some()
                {
                    shared.insert(key);
                }
            }
            by_key.retain(|key, _| !shared.contains(key));
            by_key
        };
        let olds = alone(self.old, &|index| self.is_taken[index]);
        let news = alone(self.new, &|index| self.partners[index].is_some());
        for (key, new_index) in news {
            if let Some(old_index) = olds.get(&key) {
                self.partners[new_index] = Some(*old_index);
                self.is_taken[*old_index] = true;
            }
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
