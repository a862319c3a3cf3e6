//! How often each place on a page was different, over the last contents. Bounded; what was longest the same is forgotten first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::spots::{Spot, line_of};
use crate::outline::Region;
use crate::parts::{PartKind, Shape};

/// Places that are remembered.
const MAX_PLACES: usize = 128;
/// The most bytes of a place as it is stored.
const BYTES_OF_PLACE: usize = 10;

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
    /// Likewise, whether the content before stood for several probes.
    stood: u16,
    #[serde(deserialize_with = "super::at_most::<_, _, MAX_PLACES>")]
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

/// How long the content before was there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// It was gone within a short time, at the very next probe.
    pub(super) is_telling: bool,
    /// It stood for several probes.
    pub(super) has_stood: bool,
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
    /// Changes in the latest ten contents, and how many of those had stood.
    lately: u32,
    stood_lately: u32,
    /// Whether it was different in this content and the one before, and that one was gone at the very next probe.
    twice_in_a_row: bool,
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
    pub(super) fn changes_often(self, n_changes: u32, percent: u32) -> bool {
        self.changes >= n_changes && self.changes * 100 >= self.contents * percent
    }

    /// Whether whole lines come and go here so often that it is no news.
    pub(super) fn is_volatile(self, nature: Nature) -> bool {
        if nature.region != Region::Content {
            return self.changes_often(2, 50) || self.n_returns > 0;
        }
        // News comes at every probe on a busy page; what only rotates is known by what returns.
        self.is_convicted()
    }

    /// Whether a figure or words at this place are different so often that it is no news. `is_one_of_many` if other lines of the
    /// page are restless as well: a page that changes in one place only may be about that place.
    pub(super) fn is_restless_spot(self, spot: &Spot, nature: Nature, is_one_of_many: bool) -> bool {
        if self.is_convicted() {
            return true;
        }
        if nature.region != Region::Content && (self.changes_often(2, 50) || self.n_returns > 0) {
            return true;
        }
        // Hardly ever the same, and never for several probes, however far those are apart.
        let never_rests = self.lately >= LONG && self.hardly_stands();
        // A figure that goes on and on in one direction may be an edition, but not for ever.
        let goes_on = self.lately >= OFTEN && self.hardly_stands();
        if spot.slot.is_precious || nature.is_precious {
            // A ticker shows money as well: hardly ever the same, now up, now down, by little or not alone in that.
            return spot.slot.shape == Shape::Figure
                && self.n_turns >= 2
                && (is_one_of_many && self.changes_often(6, 95)
                    || spot.slot.is_slight && self.changes_often(6, 60));
        }
        if spot.slot.shape == Shape::Figure {
            // What is measured or counted; a figure that goes up and down; one that rises may be an edition.
            return nature.is_measured && (self.is_restless(2, 60) || self.changes_often(3, 50))
                || (is_one_of_many || self.n_turns > 1)
                    && (self.is_restless(3, 60) || self.changes_often(4, 60))
                || goes_on;
        }
        is_one_of_many && (self.is_restless(3, 60) || self.changes_often(5, 60))
            || matches!(spot.slot.shape, Shape::Code | Shape::LongWord) && never_rests
            || spot.slot.shape == Shape::Code && (self.is_restless(3, 80) || self.changes_often(4, 80))
            || spot.slot.shape == Shape::Passage && self.twice_in_a_row
    }

    /// Different at every probe of a burst, and hardly ever the same since.
    pub(super) fn is_convicted(self) -> bool {
        self.n_returns == CONVICTED && self.changes_often(3, 60)
    }

    /// Different nearly every time, and never the same for several probes.
    pub(super) fn never_rests(self) -> bool {
        self.is_convicted() || self.lately >= OFTEN && self.hardly_stands()
    }

    /// Whether what was here lately was mostly gone within a few probes.
    pub(super) fn hardly_stands(self) -> bool {
        self.stood_lately * 4 <= self.lately
    }

    /// Whether what comes here was mostly here before.
    pub(super) fn takes_turns(self) -> bool {
        let mostly_returns = u32::from(self.n_returns) * 2 >= self.changes;
        self.n_returns >= 3 && mostly_returns && self.changes_often(3, 50)
    }

    /// Whether entries come and go here, and the same ones again.
    pub(super) fn rotates(self, nature: Nature) -> bool {
        if self.is_convicted() {
            return true;
        }
        if nature.region == Region::Content {
            self.takes_turns()
        } else {
            self.n_returns > 0 || self.changes_often(2, 50)
        }
    }
}

/// So many changes in the latest ten contents are nearly all.
const LONG: u32 = 8;
const LATEST: u16 = 0x3ff;
/// So many of them are most.
const OFTEN: u32 = 6;

/// Stands for "different at every probe of a burst" where returns are counted.
const CONVICTED: u8 = u8::MAX;

impl Places {
    pub(super) fn n_bytes(&self) -> usize {
        self.all.len() * BYTES_OF_PLACE
    }

    pub(super) fn is_worth_keeping(&self) -> bool {
        !self.all.is_empty()
    }

    /// Begins a content.
    pub(super) fn begin(&mut self, pace: Pace) {
        let Pace { is_telling, has_stood } = pace;
        self.n_contents = self.n_contents.saturating_add(1).min(SPAN as u8);
        self.telling = self.telling << 1 | u16::from(is_telling);
        self.stood = self.stood << 1 | u16::from(has_stood);
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

    /// Whether anything is remembered of a place.
    pub(super) fn knows(&self, key: u32) -> bool {
        self.all.iter().any(|place| place.key == key)
    }

    /// The places that are remembered.
    pub(super) fn keys(&self) -> impl Iterator<Item = u32> {
        self.all.iter().map(|place| place.key)
    }

    /// Whether there were enough contents to tell what rests on this page.
    pub(super) fn have_shown_themselves(&self) -> bool {
        u32::from(self.n_contents) >= LONG
    }

    /// A place goes on under another key.
    pub(super) fn rename(&mut self, before: u32, now: u32) {
        let known = self.all.iter().find(|place| place.key == before).copied();
        if let Some(place) = known.filter(|_| before != now && !self.knows(now)) {
            *self.at(now) = Place { key: now, ..place };
        }
    }

    /// Whether a place has been the same for as long as can be told, on a page that has changed often.
    pub(super) fn has_rested(&self, key: u32) -> bool {
        self.have_shown_themselves() && !self.knows(key)
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
            lately: (place.different & LATEST).count_ones(),
            stood_lately: (place.different & self.stood & LATEST).count_ones(),
            twice_in_a_row: place.different & telling & 0b11 == 0b11,
            n_returns: place.n_returns,
            n_turns: (place.turns >> 1).saturating_sub(1),
        })
    }

    /// How many lines are different nearly every time, or how many figures of one of them.
    pub(super) fn n_restless(&self) -> usize {
        let is_restless = |place: &&Place| {
            let record = self.record(place.key);
            record.is_restless(3, 60) || record.changes_often(4, 75)
        };
        let mut n_of_line: BTreeMap<u32, usize> = BTreeMap::new();
        for place in self.all.iter().filter(is_restless) {
            *n_of_line.entry(line_of(place.key)).or_default() += 1;
        }
        n_of_line.len().max(n_of_line.into_values().max().unwrap_or_default())
    }
}
