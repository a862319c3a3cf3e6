//! A few looks in quick succession, and the parts of the page that were different in each of them. Knows nothing of
//! clocks: whoever takes the looks sees to it that they are close.

use serde::{Deserialize, Serialize};

use super::traits::traits_of;
use crate::detect::{Change, Comparison};
use crate::work::Work;

/// A part that was different in so many close looks in a row flickers. What changes in earnest hardly ever does so
/// three times within seconds.
pub(super) const ENOUGH: u8 = 3;

/// The most close looks in a row.
const MAX_LOOKS: u8 = 4;

/// The most fingerprints that suspects have together; a page of which more than that differs is another page.
const MAX_MARKS: usize = 256;

/// The looks so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Burst {
    n_looks: u8,
    suspects: Vec<Suspect>,
}

/// A part that differs from the first look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Suspect {
    /// Which part.
    part: u64,
    /// What it was at the last look.
    content: u64,
    /// How many looks in a row it was different from the one before.
    pub(super) streak: u8,
    /// A whole item that has come or gone, not a place within one.
    pub(super) is_item: bool,
    /// What to know it by, should it flicker.
    pub(super) marks: Vec<u64>,
}

impl Burst {
    /// The burst with one more look, and the items that had come or gone at the look before and are back as they were.
    pub(super) fn with_look(self, since_first: &Comparison<'_>, work: &Work) -> (Self, Vec<Suspect>) {
        let mut suspects = suspects_of(since_first, work);
        for suspect in &mut suspects {
            if let Some(before) = self.suspects.iter().find(|before| before.part == suspect.part) {
                suspect.streak =
                    if before.content == suspect.content { 0 } else { before.streak.saturating_add(1) };
            }
        }
        let is_back = |before: &Suspect| suspects.iter().all(|now| now.part != before.part);
        let returned = self.suspects.into_iter().filter(|before| before.is_item && is_back(before)).collect();
        (Self { n_looks: self.n_looks.saturating_add(1), suspects }, returned)
    }

    /// The parts that were different every time.
    pub(super) fn convicted(&self) -> impl Iterator<Item = &Suspect> {
        self.suspects.iter().filter(|suspect| suspect.streak >= ENOUGH)
    }

    /// Whether another look can tell more.
    pub(super) fn is_open(&self) -> bool {
        let is_suspect = |suspect: &Suspect| suspect.streak > 0;
        self.n_looks < MAX_LOOKS && self.convicted().next().is_none() && self.suspects.iter().any(is_suspect)
    }
}

fn suspects_of(comparison: &Comparison<'_>, work: &Work) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    let mut n_marks = 0;
    for change in &comparison.changes {
        let traits = traits_of(change, work);
        if let Change::Added(item) | Change::Removed(item) = change {
            let marks = traits_of(&Change::Removed(item), work).leaves_behind;
            suspects.push(Suspect { part: traits.arrives_at, content: 0, streak: 1, is_item: true, marks });
        }
        for (run, place) in traits.places.iter().enumerate() {
            let lines = traits.lines.iter().filter(|(of, _)| *of == run).map(|(_, line)| *line);
            let content = lines.fold(0_u64, |content, line| content.rotate_left(7) ^ line);
            let shapes = &traits.shapes[traits.shape_bounds[run]..traits.shape_bounds[run + 1]];
            let marks = std::iter::once(*place).chain(shapes.iter().copied()).collect();
            suspects.push(Suspect { part: *place, content, streak: 1, is_item: false, marks });
        }
        n_marks = suspects.iter().map(|suspect| suspect.marks.len()).sum();
        if n_marks > MAX_MARKS {
            break;
        }
    }
    if n_marks > MAX_MARKS { Vec::new() } else { suspects }
}
