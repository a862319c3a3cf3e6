//! Which id each item of a document gets, so that ids are unique and survive re-ordering.
//!
//! An id that several different items carry identifies none of them: all of them fall back to the link, then to
//! the content. Giving it to the first would make a re-ordered feed look edited.

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

/// Gives every item an id; items that are copies of another one are left out.
pub(crate) fn assign(raw_items: Vec<RawItem>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Item> {
    let n_raw = raw_items.len();
    let raw_items = without_copies(raw_items);
    let mut carriers: BTreeMap<ItemId, usize> = BTreeMap::new();
    let candidates: Vec<Vec<ItemId>> = raw_items.iter().map(candidates).collect();
    for id in candidates.iter().flatten() {
        *carriers.entry(id.clone()).or_default() += 1;
    }
    // One example says what is wrong; a feed with a thousand shared ids should not give a thousand messages.
    let shared = carriers.iter().find(|(id, n_items)| id.origin == IdOrigin::Guid && **n_items > 1);
    diagnostics
        .extend(shared.map(|(id, n_items)| Diagnostic::SharedId { id: id.value.clone(), n_items: *n_items }));
    let mut items = Vec::with_capacity(raw_items.len());
    for (raw, candidates) in raw_items.into_iter().zip(candidates) {
        let Some(id) = candidates.into_iter().find(|id| carriers.get(id) == Some(&1)) else {
            continue;
        };
        let RawItem { title, link, text, outline, author, published, .. } = raw;
        items.push(Item { id, title, link, text, outline, author, published });
    }
    if items.len() < n_raw {
        diagnostics.push(Diagnostic::Repeated { n_items: n_raw - items.len() });
    }
    items
}

/// What could identify an item, best first.
fn candidates(raw: &RawItem) -> Vec<ItemId> {
    let given = [
        (IdOrigin::Guid, raw.guid.as_deref()),
        (IdOrigin::Link, raw.link.as_deref()),
        (IdOrigin::Place, raw.place.as_deref()),
    ];
    let mut ids: Vec<ItemId> = given
        .into_iter()
        .filter_map(|(origin, value)| {
            let value = value.map(str::trim).filter(|value| !value.is_empty())?;
            let is_long = value.len() > LONGEST_VALUE;
            let value = if is_long { content_id(&[value]) } else { value.to_owned() };
            Some(ItemId { origin, value })
        })
        .collect();
    ids.push(ItemId { origin: IdOrigin::Content, value: fingerprint(raw) });
    ids
}

fn fingerprint(raw: &RawItem) -> String {
    content_id(&[&raw.title, raw.link.as_deref().unwrap_or_default(), &raw.text])
}

/// Items that agree in content, and in guid or in having no other, are one item that appears several times.
fn without_copies(raw_items: Vec<RawItem>) -> Vec<RawItem> {
    let mut seen = BTreeSet::new();
    let mut guid_uses: BTreeMap<String, usize> = BTreeMap::new();
    for guid in raw_items.iter().filter_map(|raw| raw.guid.clone()) {
        *guid_uses.entry(guid).or_default() += 1;
    }
    raw_items
        .into_iter()
        .filter(|raw| {
            // A shared guid cannot distinguish two equal items.
            let guid = raw.guid.clone().filter(|guid| guid_uses.get(guid) == Some(&1));
            seen.insert((guid, raw.place.clone(), fingerprint(raw)))
        })
        .collect()
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
