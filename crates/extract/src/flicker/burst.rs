//! A few probes in quick succession, and the parts of the page that differed in each of them. Knows no clock: the caller
//! makes sure that the probes are close.

use serde::{Deserialize, Serialize};

use super::traits::traits_of;
use crate::detect::{Change, Comparison};
use crate::work::Work;

/// A part that differed at this many probes of a burst in a row flickers. A real change hardly ever happens three times
/// within seconds.
pub(super) const ENOUGH: u8 = 3;

/// The most probes in a burst.
const MAX_PROBES: u8 = 4;

/// The most fingerprints that suspects have together; a page of which more than that differs is another page.
const MAX_MARKS: usize = 256;

/// The probes so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Burst {
    n_probes: u8,
    suspects: Vec<Suspect>,
}

/// A part that differs from the first probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Suspect {
    /// Which part.
    part: u64,
    /// Its content at the last probe.
    content: u64,
    /// For how many probes in a row it differed from the one before.
    pub(super) streak: u8,
    /// A whole item that has come or gone, not a position within one.
    pub(super) is_item: bool,
    /// Fingerprints to recognise it by, should it flicker.
    pub(super) marks: Vec<u64>,
}

impl Burst {
    /// The burst with one more probe, and the items that had come or gone at the last probe and are back as they were.
    pub(super) fn with_probe(self, since_first: &Comparison<'_>, work: &Work) -> (Self, Vec<Suspect>) {
        let mut suspects = suspects_of(since_first, work);
        for suspect in &mut suspects {
            if let Some(before) = self.suspects.iter().find(|before| before.part == suspect.part) {
                suspect.streak =
                    if before.content == suspect.content { 0 } else { before.streak.saturating_add(1) };
            }
        }
        let is_back = |before: &Suspect| suspects.iter().all(|now| now.part != before.part);
        let returned = self.suspects.into_iter().filter(|before| before.is_item && is_back(before)).collect();
        (Self { n_probes: self.n_probes.saturating_add(1), suspects }, returned)
    }

    /// The parts that were different every time.
    pub(super) fn convicted(&self) -> impl Iterator<Item = &Suspect> {
        self.suspects.iter().filter(|suspect| suspect.streak >= ENOUGH)
    }

    /// Whether another probe can show more.
    pub(super) fn is_open(&self) -> bool {
        let is_suspect = |suspect: &Suspect| suspect.streak > 0;
        self.n_probes < MAX_PROBES
            && self.convicted().next().is_none()
            && self.suspects.iter().any(is_suspect)
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
