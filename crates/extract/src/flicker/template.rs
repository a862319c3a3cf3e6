//! What the pages of one site have in common that never rests: figures and codes at the same place behind the same words, lists that
//! rotate. Learned of pages that have shown it, for pages that had no time to: what a page has shown itself decides there. A value;
//! it is for its caller to keep one for each site.

use super::difference::Difference;
use super::{Flicker, Places};

/// Places that are remembered of a site, of each kind.
const MOST_PLACES: usize = 64;
/// The bytes of a place.
const BYTES_OF_PLACE: usize = 4;

/// Places that never rest on some page of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    /// Of figures, codes and words; the latest last.
    restless: Vec<u32>,
    /// Of lists whose entries take turns, and of lines whose texts do.
    rotating: Vec<u32>,
}

impl Template {
    /// Whether nothing is known.
    pub const fn is_empty(&self) -> bool {
        self.restless.is_empty() && self.rotating.is_empty()
    }

    /// Bytes that it takes, about.
    pub fn n_bytes(&self) -> usize {
        (self.restless.len() + self.rotating.len()) * BYTES_OF_PLACE
    }

    /// Learns from one page of the site. What does rest there does not belong to the template.
    pub fn learn(&mut self, page: &Flicker) {
        let places = &page.places;
        if !places.have_shown_themselves() {
            return;
        }
        let note = |known: &mut Vec<u32>, is_such: fn(&Places, u32) -> bool| {
            known.retain(|key| !places.knows(*key));
            known.extend(places.keys().filter(|key| is_such(places, *key)));
            let n_forgotten = known.len().saturating_sub(MOST_PLACES);
            known.drain(..n_forgotten);
        };
        note(&mut self.restless, |places, key| places.record(key).never_rests());
        note(&mut self.rotating, |places, key| places.record(key).takes_turns());
    }

    /// Whether all that is different of a part is so all the time on other pages. Money, versions and headings never are.
    pub(super) fn covers(&self, difference: &Difference<'_>) -> bool {
        if self.is_empty() || difference.nature.is_precious {
            return false;
        }
        let rotates = || difference.may_rotate && self.rotating.contains(&difference.container);
        let mut open = difference.slots.iter().filter(|spot| spot.is_open()).peekable();
        if open.peek().is_none() {
            return rotates();
        }
        open.all(|spot| {
            if spot.slot.shape.is_replaced() {
                rotates() || self.rotating.contains(&spot.key)
            } else {
                !spot.slot.is_precious && self.restless.contains(&spot.key)
            }
        })
    }
}
