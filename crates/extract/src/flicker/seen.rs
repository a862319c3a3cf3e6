//! Lines that came or went, so that they are known when they do again. Bounded; what was longest not touched is forgotten.

use serde::{Deserialize, Serialize};

/// Lines that are remembered.
const MAX_LINES: usize = 208;
/// The most bytes of a line as it is stored.
const BYTES_OF_LINE: usize = 8;
/// Contents after which a line is forgotten that did not come or go again.
const LONGEST: u8 = 64;
/// Likewise for an item that only came: it may be gone again in a moment, but most are there to stay.
const MOMENT: u8 = 2;

/// Lines that came or went, the latest last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    #[serde(deserialize_with = "super::at_most::<_, _, MAX_LINES>")]
    lines: Vec<Line>,
    /// Counts contents, round and round.
    now: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    fingerprint: u32,
    /// How many times it came or went.
    n_toggles: u8,
    /// How it last came or went.
    how: How,
    /// In which content it last did.
    at: u8,
}

/// How something came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    /// It went, or took the place of another.
    Otherwise,
    /// It came where nothing was before.
    Added,
    /// Likewise, and it is a whole item.
    AddedItem,
}

/// What is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) n_toggles: u8,
    pub(super) was_added: bool,
    /// Contents since it last came or went.
    pub(super) age: u8,
}

impl Seen {
    pub(super) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.lines.len() * BYTES_OF_LINE
    }

    pub(super) fn begin(&mut self) {
        self.now = self.now.wrapping_add(1);
        let now = self.now;
        self.lines.retain(|line| {
            let is_settled = line.how == How::AddedItem && line.n_toggles == 1;
            now.wrapping_sub(line.at) <= if is_settled { MOMENT } else { LONGEST }
        });
    }

    pub(super) fn sighting(&self, fingerprint: u32) -> Option<Sighting> {
        let line = self.lines.iter().find(|line| line.fingerprint == fingerprint)?;
        Some(Sighting {
            n_toggles: line.n_toggles,
            was_added: line.how != How::Otherwise,
            age: self.now.wrapping_sub(line.at),
        })
    }

    /// A line came or went.
    pub(super) fn toggled(&mut self, fingerprint: u32, how: How) {
        let known = self.lines.iter().position(|line| line.fingerprint == fingerprint);
        let before = known.map_or(0, |index| self.lines.remove(index).n_toggles);
        if self.lines.len() == MAX_LINES {
            self.lines.remove(0);
        }
        self.lines.push(Line { fingerprint, n_toggles: before.saturating_add(1), how, at: self.now });
    }
}
