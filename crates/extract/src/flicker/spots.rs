//! Figures and words in which lines are different, with the places that their history is kept under. Judges nothing.

use std::collections::BTreeMap;

use super::difference::Difference;
use crate::hashing::mixed;
use crate::parts::{Line, Slot, columns_of};
use crate::work::Work;

/// A figure, or words, in which a line is different.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    /// The place that its history is kept under.
    pub(super) key: u32,
    /// The same with the words that led in the line before.
    pub(super) key_before: u32,
    /// The figures of a whole list that it is one of.
    pub(super) column: Option<u32>,
    /// Whether most of those are different.
    pub(super) column_moves: bool,
    /// What is different.
    pub(super) slot: Slot,
}

/// The bits of a key that say where in its line it is.
const WITHIN_LINE: u32 = 0xfff;

/// The line that a key is of.
pub(super) const fn line_of(key: u32) -> u32 {
    key & !WITHIN_LINE
}

impl Spot {
    /// `base` tells the places of one item from those of another.
    pub(super) fn of(slot: &Slot, base: u32) -> Self {
        let key = |line: u32| line_of(mixed(base, &line.to_string())) | slot.at & WITHIN_LINE;
        Self {
            key: key(slot.line),
            key_before: key(slot.line_before),
            column: slot.column.map(|column| mixed(base, &column.to_string())),
            column_moves: false,
            slot: *slot,
        }
    }

    /// Whether it is not known to be noise.
    pub(super) const fn is_open(&self) -> bool {
        self.slot.noise.is_none()
    }
}

/// Finds the columns of lists in which most figures are different.
pub(super) fn note_columns(differences: &mut [Difference<'_>], lines: &[Line<'_>], base: u32, work: &Work) {
    const FEWEST: usize = 3;
    let n_bytes: usize = lines.iter().map(|line| line.text.len()).sum();
    let mut columns =
        differences.iter().flat_map(|difference| &difference.slots).filter_map(|spot| spot.column);
    // All rows have to be read to tell most of them.
    if columns.next().is_none() || !work.take(n_bytes as u64) {
        return;
    }
    let mut n_rows: BTreeMap<u32, usize> = BTreeMap::new();
    for line in lines {
        for column in columns_of(line) {
            *n_rows.entry(mixed(base, &column.to_string())).or_default() += 1;
        }
    }
    let mut n_different: BTreeMap<u32, usize> = BTreeMap::new();
    for column in differences.iter().flat_map(|difference| &difference.slots).filter_map(|spot| spot.column) {
        *n_different.entry(column).or_default() += 1;
    }
    let moves = |column: u32| {
        let n = n_different.get(&column).copied().unwrap_or_default();
        n >= FEWEST && n * 2 >= n_rows.get(&column).copied().unwrap_or_default()
    };
    for spot in differences.iter_mut().flat_map(|difference| &mut difference.slots) {
        spot.column_moves = spot.column.is_some_and(moves);
    }
}
