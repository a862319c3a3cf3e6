//! Which id each item of a document gets, so that ids are unique and survive re-ordering.
//!
//! An id that several different items carry identifies none of them: all of them fall back to the link, then to
//! the content. Giving it to the first would make a re-ordered feed look edited.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;

use crate::document::{Diagnostic, IdOrigin, Item, ItemId};
use crate::hashing::content_id;
use crate::outline::Outline;

/// An item as its format describes it, before it has an id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RawItem {
    pub(crate) guid: Option<String>,
    /// Set where the position in the document identifies it.
    pub(crate) place: Option<String>,
    pub(crate) title: String,
    pub(crate) link: Option<String>,
    pub(crate) text: String,
    /// Where the lines of the text stand.
    pub(crate) outline: Outline,
    pub(crate) author: Option<String>,
    pub(crate) published: Option<Time>,
}

/// Longer values are replaced by their fingerprint: an id is a key in every table.
const LONGEST_VALUE: usize = 512;

/// An item with a fingerprint of its content, which is made when it is asked for: what has a place of its own needs none.
struct Candidate {
    raw: RawItem,
    fingerprint: OnceCell<String>,
}

impl Candidate {
    fn new(raw: RawItem) -> Self {
        Self { raw, fingerprint: OnceCell::new() }
    }

    fn fingerprint(&self) -> &str {
        let RawItem { title, link, text, .. } = &self.raw;
        self.fingerprint.get_or_init(|| content_id(&[title, link.as_deref().unwrap_or_default(), text]))
    }

    /// What could identify it, best first; its content comes after all of these.
    fn given_ids(&self) -> impl Iterator<Item = ItemId> {
        let given = [
            (IdOrigin::Guid, self.raw.guid.as_deref()),
            (IdOrigin::Link, self.raw.link.as_deref()),
            (IdOrigin::Place, self.raw.place.as_deref()),
        ];
        given.into_iter().filter_map(|(origin, value)| {
            let value = value.map(str::trim).filter(|value| !value.is_empty())?;
            let is_long = value.len() > LONGEST_VALUE;
            let value = if is_long { content_id(&[value]) } else { value.to_owned() };
            Some(ItemId { origin, value })
        })
    }
}

/// Gives every item an id; items that are copies of another one are left out.
pub(crate) fn assign(raw_items: Vec<RawItem>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let n_raw = raw_items.len();
    let candidates = without_copies(raw_items);
    let given: Vec<Vec<ItemId>> =
        candidates.iter().map(|candidate| candidate.given_ids().collect()).collect();
    let carriers = counted(given.iter().flatten());
    // One example says what is wrong; a feed with a thousand shared ids should not give a thousand messages.
    let shared = carriers.iter().find(|(id, n_items)| id.origin == IdOrigin::Guid && **n_items > 1);
    diagnostics
        .extend(shared.map(|(id, n_items)| Diagnostic::SharedId { id: id.value.clone(), n_items: *n_items }));
    let own = |ids: &Vec<ItemId>| ids.iter().find(|id| carriers[id] == 1).cloned();
    let own: Vec<Option<ItemId>> = given.iter().map(own).collect();
    let by_content = if own.contains(&None) {
        counted(candidates.iter().map(Candidate::fingerprint))
    } else {
        BTreeMap::new()
    };
    let mut ids = Vec::with_capacity(candidates.len());
    for (candidate, own) in candidates.iter().zip(own) {
        let content = || {
            let value = candidate.fingerprint();
            let is_own = by_content.get(value) == Some(&1);
            is_own.then(|| ItemId { origin: IdOrigin::Content, value: value.to_owned() })
        };
        ids.push(own.or_else(content));
    }
    drop(by_content);
    let items: Vec<Item> = candidates
        .into_iter()
        .zip(ids)
        .filter_map(|(Candidate { raw, .. }, id)| {
            let RawItem { title, link, text, outline, author, published, .. } = raw;
            Some(Item { id: id?, title, link, text, outline, author, published })
        })
        .collect();
    if items.len() < n_raw {
        diagnostics.push(Diagnostic::Repeated { n_items: n_raw - items.len() });
    }
    items
}

/// How often each is there.
fn counted<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}

/// Items that agree in content, and in guid or in having no other, are one item that appears several times.
fn without_copies(raw_items: Vec<RawItem>) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = raw_items.into_iter().map(Candidate::new).collect();
    if candidates.len() < 2 {
        return candidates;
    }
    let guids = candidates.iter().filter_map(|candidate| candidate.raw.guid.clone());
    let guid_uses = counted(guids);
    let mut seen = BTreeSet::new();
    candidates.retain(|candidate| {
        // A shared guid cannot distinguish two equal items.
        let guid = candidate.raw.guid.clone().filter(|guid| guid_uses.get(guid) == Some(&1));
        seen.insert((guid, candidate.raw.place.clone(), candidate.fingerprint().to_owned()))
    });
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(guid: &str, link: &str, title: &str) -> RawItem {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        RawItem { guid: some(guid), link: some(link), title: title.to_owned(), ..RawItem::default() }
    }

    fn ids(raw_items: Vec<RawItem>) -> Vec<String> {
        assign(raw_items, &mut Vec::new()).iter().map(|item| item.id.to_string()).collect()
    }

    #[test]
    fn guid_before_link_before_content() {
        let found = ids(vec![raw("g", "l", "a"), raw("", "m", "b"), raw(" ", "", "c")]);
        assert_eq!(found[..2], ["guid:g", "link:m"]);
        assert!(found[2].starts_with("content:"), "{found:?}");
    }

    #[test]
    fn a_shared_guid_identifies_nobody_whatever_the_order() {
        let (a, b) = (raw("g", "l", "a"), raw("g", "m", "b"));
        assert_eq!(ids(vec![a.clone(), b.clone()]), ["link:l", "link:m"]);
        assert_eq!(ids(vec![b, a]), ["link:m", "link:l"]);
    }

    #[test]
    fn copies_are_kept_once() {
        let mut diagnostics = Vec::new();
        let items = assign(vec![raw("g", "l", "a"), raw("g", "l", "a")], &mut diagnostics);
        assert_eq!(items.len(), 1);
        assert_eq!(items[0].id.to_string(), "guid:g");
        assert_eq!(diagnostics, [Diagnostic::Repeated { n_items: 1 }]);
    }

    #[test]
    fn endless_ids_are_shortened() {
        let found = ids(vec![raw(&"g".repeat(10_000), "", "a")]);
        assert_eq!(found[0].len(), "guid:".len() + 32);
    }
}
