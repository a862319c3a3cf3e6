//! Two versions of a document: every item is accounted for, the differences make up both texts, and what flickers is
//! learned within its bounds.

use std::collections::BTreeSet;

use dunlin_extract::detect::compare as compare_items;
use dunlin_extract::diff::{Piece, unified};
use dunlin_extract::flicker::BurstState;
use dunlin_extract::summary::{LONGEST_SUMMARY, summary};
use dunlin_extract::{Change, Flicker, Item, Work};

use crate::extract::read;

/// The bytes that a [`Flicker`] may take.
pub(crate) const MOST_BYTES: usize = 6 << 10;

/// The first byte picks the recipe; `\n---\n` separates the documents.
pub fn compare(bytes: &[u8]) {
    let (choice, rest) = crate::choice(bytes);
    let (old, new) = crate::halves(rest, b"\n---\n");
    let (old, new) = (read(choice, old), read(choice, new));
    accounted_for(&old.items, &new.items);
    let mut flicker = Flicker::default();
    for (before, after) in [(&old, &new), (&new, &old), (&old, &new)] {
        let (next, verdict) = flicker.observe(&before.items, &after.items);
        let is_silent = verdict.reported.is_empty() && verdict.suppressed.is_empty();
        assert_eq!(is_silent, compare_items(&before.items, &after.items).changes.is_empty());
        let work = Work::default();
        for changed in &verdict.reported {
            assert!(summary(changed, &work).chars().count() <= LONGEST_SUMMARY);
        }
        flicker = next;
    }
    // The first document twice: nothing flickers now, so the burst ends.
    let (mut n_probes, work) = (0, Work::default());
    loop {
        let (next, state) =
            flicker.observe_burst(&old.items, if n_probes == 0 { &new.items } else { &old.items }, &work);
        (flicker, n_probes) = (next, n_probes + 1);
        if state == BurstState::Done {
            break;
        }
        assert!(n_probes < 100, "a burst without end");
    }
    assert!(flicker.n_bytes() <= MOST_BYTES);
}

/// Each old item is kept, edited or removed, each new one kept, edited or added; and the words say how.
fn accounted_for(old: &[Item], new: &[Item]) {
    let changes = compare_items(old, new).changes;
    let (mut n_added, mut n_removed) = (0, 0);
    let work = Work::default();
    let mut reported = BTreeSet::new();
    for change in &changes {
        let (before, after) = match change {
            Change::Added(item) => ("", item.text.as_str()),
            Change::Removed(item) => (item.text.as_str(), ""),
            Change::Edited { old, new } => (old.text.as_str(), new.text.as_str()),
        };
        n_added += usize::from(matches!(change, Change::Added(_)));
        n_removed += usize::from(matches!(change, Change::Removed(_)));
        assert!(reported.insert(std::ptr::from_ref(change.item())), "reported twice");
        let words = change.words(&work);
        let joined = |left_out: fn(&Piece<'_>) -> bool| -> String {
            words.iter().filter(|piece| !left_out(piece)).map(|piece| piece.text()).collect()
        };
        assert_eq!(joined(|piece| matches!(piece, Piece::Insert(_))), before);
        assert_eq!(joined(|piece| matches!(piece, Piece::Delete(_))), after);
        assert_eq!(unified(before, after).is_empty(), before == after);
    }
    assert_eq!(old.len() - n_removed, new.len() - n_added, "an item got lost");
}
