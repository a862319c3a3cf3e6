//! How often each place on a page was different, over the last contents. Bounded; what was longest the same is forgotten first.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::outline::Region;
use crate::parts::PartKind;

/// Places that are remembered: 10 bytes each as they are stored.
const MAX_PLACES: usize = 160;

/// Contents that are remembered.
const SPAN: u32 = 16;

/// The history of a page, and of its places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Places {
    /// Contents judged so far, as far as they are remembered.
    n_contents: u8,
    /// For each content, the latest in the lowest bit: whether the content before was gone within a short time, at the very next
    /// probe. Only then does a difference say that its place is restless: what is probed rarely is different every time.
    telling: u16,
    all: Vec<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    key: u32,
    /// For each content, the latest in the lowest bit: whether the place was different.
    different: u16,
    /// How many times something came that had been there before.
    n_returns: u8,
    /// How many times its figure turned around, and whether it last rose.
    turns: u8,
}

/// What is known of one place.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// Telling contents in which it was different.
    different: u32,
    /// Telling contents.
    telling: u32,
    /// All contents in which it was different, and all.
    changes: u32,
    contents: u32,
    pub(super) n_returns: u8,
    /// How many times its figure rose after it fell, or fell after it rose.
    n_turns: u8,
}

/// What kind of content a part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nature {
    pub(super) kind: PartKind,
    pub(super) region: Region,
    /// It is a heading, or about money or a version: what people watch pages for.
    pub(super) is_precious: bool,
    /// It says what is measured or counted at the moment: a temperature, a response time, so many thousand views.
    pub(super) is_measured: bool,
}

impl Record {
    /// Different in so many telling contents, and in so large a share of them.
    fn is_restless(self, n_different: u32, percent: u32) -> bool {
        self.different >= n_different && self.different * 100 >= self.telling * percent
    }

    /// The same of all contents.
    fn changes_often(self, n_changes: u32, percent: u32) -> bool {
        self.changes >= n_changes && self.changes * 100 >= self.contents * percent
    }

    /// Whether a part here is different so often that it is no news. A page that changes in one place only may be about that
    /// place; `n_restless` says how many there are.
    pub(super) fn is_volatile(self, nature: Nature, n_restless: usize) -> bool {
        if nature.region != Region::Content {
            return self.changes_often(2, 50) || self.n_returns > 0;
        }
        let is_one_of_many = nature.is_measured || n_restless > 2;
        match nature.kind {
            _ if self.is_convicted() => true,
            _ if nature.is_precious => false,
            // A figure that goes up and down is measured, whatever it is called; one that rises may be an edition.
            PartKind::Edited { only_values: true } => {
                (is_one_of_many || self.n_turns > 1) && self.is_restless(3, 60)
            }
            PartKind::Edited { only_values: false } => {
                is_one_of_many && self.is_restless(3, 60) || self.n_returns > 2
            }
            // News comes at every probe on a busy page; what only rotates is known by what returns.
            PartKind::Added | PartKind::Removed => false,
        }
    }

    /// Different at every probe of a burst, and hardly ever the same since.
    fn is_convicted(self) -> bool {
        self.n_returns == CONVICTED && self.changes_often(3, 60)
    }

    /// Whether entries come and go here, and the same ones again.
    pub(super) fn rotates(self, nature: Nature) -> bool {
        if self.is_convicted() {
            return true;
        }
        if nature.region == Region::Content {
            let mostly_returns = u32::from(self.n_returns) * 2 >= self.changes;
            self.n_returns >= 3 && mostly_returns && self.changes_often(3, 50)
        } else {
            self.n_returns > 0 || self.changes_often(2, 50)
        }
    }
}

/// Stands for "different at every probe of a burst" where returns are counted.
const CONVICTED: u8 = u8::MAX;

impl Places {
    pub(super) fn n_bytes(&self) -> usize {
        self.all.len() * size_of::<Place>()
    }

    pub(super) fn is_worth_keeping(&self) -> bool {
        !self.all.is_empty()
    }

    /// Begins a content.
    pub(super) fn begin(&mut self, is_telling: bool) {
        self.n_contents = self.n_contents.saturating_add(1).min(SPAN as u8);
        self.telling = self.telling << 1 | u16::from(is_telling);
        for place in &mut self.all {
            place.different <<= 1;
        }
        self.all.retain(|place| place.different != 0);
    }

    /// Something at a place is different in this content; `direction` is that of its figure, if it is one.
    pub(super) fn is_different(&mut self, key: u32, has_returned: bool, direction: Ordering) {
        let place = self.at(key);
        // The lowest bit: whether it last rose; the rest: how many times it turned, and one for the first direction.
        let has_risen = u8::from(direction == Ordering::Greater);
        if direction != Ordering::Equal && (place.turns == 0 || place.turns & 1 != has_risen) {
            place.turns = (place.turns & !1).saturating_add(2).min(0xfe) | has_risen;
        }
        place.different |= 1;
        place.n_returns =
            place.n_returns.saturating_add(u8::from(has_returned && place.n_returns < CONVICTED - 1));
    }

    /// A place was different at every probe of a burst.
    pub(super) fn convict(&mut self, key: u32) {
        self.n_contents = self.n_contents.max(8);
        let place = self.at(key);
        place.different |= 0xff;
        place.n_returns = CONVICTED;
    }

    /// The whole page stood still for a while: nothing on it is different every time.
    pub(super) fn acquit(&mut self) {
        for place in self.all.iter_mut().filter(|place| place.n_returns == CONVICTED) {
            (place.n_returns, place.different) = (0, 1);
        }
    }

    fn at(&mut self, key: u32) -> &mut Place {
        let found = self.all.iter().position(|place| place.key == key);
        let index = found.unwrap_or_else(|| {
            if self.all.len() == MAX_PLACES {
                // What was longest the same: the highest of its lowest bits.
                let quietest =
                    (0..MAX_PLACES).max_by_key(|index| self.all[*index].different.trailing_zeros());
                self.all.remove(quietest.unwrap_or_default());
            }
            self.all.push(Place { key, different: 0, n_returns: 0, turns: 0 });
            self.all.len() - 1
        });
        &mut self.all[index]
    }

    /// What is known of a place.
    pub(super) fn record(&self, key: u32) -> Record {
        let remembered = u16::MAX >> (SPAN - u32::from(self.n_contents).min(SPAN));
        let telling = self.telling & remembered;
        let place = self.all.iter().find(|place| place.key == key);
        place.map_or_else(Record::default, |place| Record {
            different: (place.different & telling).count_ones(),
            telling: telling.count_ones(),
            changes: place.different.count_ones(),
            contents: u32::from(self.n_contents),
            n_returns: place.n_returns,
            n_turns: (place.turns >> 1).saturating_sub(1),
        })
    }

    /// How many places are different nearly every time.
    pub(super) fn n_restless(&self) -> usize {
        self.all.iter().filter(|place| self.record(place.key).is_restless(3, 60)).count()
    }
}
