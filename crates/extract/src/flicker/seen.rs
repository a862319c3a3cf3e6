//! Lines that came or went, so that they are known when they do again. Bounded; what was longest not touched is forgotten.

use serde::{Deserialize, Serialize};

/// Lines that are remembered: seven bytes each as they are stored.
const MAX_LINES: usize = 320;

/// Lines that came or went, the latest last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    lines: Vec<Line>,
    /// Counts contents, round and round.
    now: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    fingerprint: u32,
    /// How many times it came or went.
    n_toggles: u8,
    /// Whether it last came where nothing was before.
    was_added: bool,
    /// In which content it last did.
    at: u8,
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
        self.lines.len() * size_of::<Line>()
    }

    pub(super) fn begin(&mut self) {
        self.now = self.now.wrapping_add(1);
    }

    pub(super) fn sighting(&self, fingerprint: u32) -> Option<Sighting> {
        let line = self.lines.iter().find(|line| line.fingerprint == fingerprint)?;
        Some(Sighting {
            n_toggles: line.n_toggles,
            was_added: line.was_added,
            age: self.now.wrapping_sub(line.at),
        })
    }

    /// A line came or went; `was_added` if it came where nothing was before.
    pub(super) fn toggled(&mut self, fingerprint: u32, was_added: bool) {
        let known = self.lines.iter().position(|line| line.fingerprint == fingerprint);
        let before = known.map_or(0, |index| self.lines.remove(index).n_toggles);
        if self.lines.len() == MAX_LINES {
            self.lines.remove(0);
        }
        self.lines.push(Line { fingerprint, n_toggles: before.saturating_add(1), was_added, at: self.now });
    }
}
