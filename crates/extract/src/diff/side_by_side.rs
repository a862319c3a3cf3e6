//! Two texts side by side: rows of one line of each, with the words that differ in them. How they are laid out is up to the
//! caller.

use similar::DiffOp;

use super::{CONTEXT, MAX_BYTES, Piece, Tokens, both, by_words_of_part, operations, without_empty_end};
use crate::text::cut;
use crate::work::Work;

/// A line of each text, or of one of them. Lines are without their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row<'t> {
    /// The same in both.
    Equal(&'t str),
    /// One that became another, in pieces of both.
    Edited(Vec<Piece<'t>>),
    /// In the new text only.
    Inserted(&'t str),
    /// In the old text only.
    Deleted(&'t str),
    /// So many equal lines are left out here.
    Gap(usize),
}

/// Compares two texts line by line, the lines that differ word by word. Equal texts give no row; of many equal lines in a row only
/// those near a difference are given.
///
/// ```
/// use dunlin_extract::{Work, diff::{Piece, Row, side_by_side}};
/// let rows = side_by_side("Teapot\nnow 19 €", "New\nTeapot\nnow 17 €", &Work::default());
/// assert_eq!(rows[..2], [Row::Inserted("New"), Row::Equal("Teapot")]);
/// let pieces = vec![Piece::Equal("now "), Piece::Delete("19"), Piece::Insert("17"), Piece::Equal(" €")];
/// assert_eq!(rows[2], Row::Edited(pieces));
/// ```
pub fn side_by_side<'t>(old: &'t str, new: &'t str, work: &Work) -> Vec<Row<'t>> {
    let (old, new) =
        (Tokens::lines(cut(old, MAX_BYTES)).tokens(), Tokens::lines(cut(new, MAX_BYTES)).tokens());
    let line = |line: &'t str| line.strip_suffix('\n').unwrap_or(line);
    let old: Vec<&str> = without_empty_end(&old).iter().map(|text| line(text)).collect();
    let new: Vec<&str> = without_empty_end(&new).iter().map(|text| line(text)).collect();
    let operations = operations(&old, &new, work).unwrap_or_else(|| {
        vec![DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() }]
    });
    let mut rows = Vec::new();
    let last = operations.len().saturating_sub(1);
    for (index, operation) in operations.iter().enumerate() {
        let (before, after) = (&old[operation.old_range()], &new[operation.new_range()]);
        if matches!(operation, DiffOp::Equal { .. }) {
            let (head, tail) =
                (if index == 0 { 0 } else { CONTEXT }, if index == last { 0 } else { CONTEXT });
            equal(after, head, tail, &mut rows);
        } else {
            different(before, after, work, &mut rows);
        }
    }
    if rows.iter().all(|row| matches!(row, Row::Gap(_))) {
        rows.clear();
    }
    rows
}

/// The first and last of lines that are the same in both.
fn equal<'t>(lines: &[&'t str], head: usize, tail: usize, rows: &mut Vec<Row<'t>>) {
    let shown = head + tail;
    if lines.len() <= shown + 1 && shown > 0 {
        rows.extend(lines.iter().map(|line| Row::Equal(line)));
        return;
    }
    rows.extend(lines[..head].iter().map(|line| Row::Equal(line)));
    rows.push(Row::Gap(lines.len() - shown));
    rows.extend(lines[lines.len() - tail..].iter().map(|line| Row::Equal(line)));
}

/// Lines that became others, in their order; what is left over came or went.
fn different<'t>(old: &[&'t str], new: &[&'t str], work: &Work, rows: &mut Vec<Row<'t>>) {
    let n_pairs = old.len().min(new.len());
    for (old, new) in old.iter().zip(new) {
        let mut pieces = Vec::new();
        if by_words_of_part(old, new, work, &mut pieces).is_none() {
            pieces.extend(both(old, new));
        }
        rows.push(Row::Edited(pieces));
    }
    rows.extend(old[n_pairs..].iter().map(|line| Row::Deleted(line)));
    rows.extend(new[n_pairs..].iter().map(|line| Row::Inserted(line)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_hold_both_texts_in_their_order(
            old in proptest::collection::vec("[ab]{0,2}( [cd])?", 0..12),
            new in proptest::collection::vec("[ab]{0,2}( [cd])?", 0..12),
        ) {
            let (whole_old, whole_new) = (old.join("\n"), new.join("\n"));
            let rows = side_by_side(&whole_old, &whole_new, &Work::default());
            let (mut left, mut right): (Vec<String>, Vec<String>) = Default::default();
            for row in &rows {
                let side = |pieces: &[Piece<'_>], is_old: bool| -> String {
                    let other = |piece: &&Piece<'_>| match piece {
                        Piece::Equal(_) => true,
                        Piece::Delete(_) => is_old,
                        Piece::Insert(_) => !is_old,
                    };
                    pieces.iter().filter(other).map(|piece| piece.text()).collect()
                };
                match row {
                    Row::Equal(line) => {
                        left.push((*line).to_owned());
                        right.push((*line).to_owned());
                    }
                    Row::Edited(pieces) => {
                        left.push(side(pieces, true));
                        right.push(side(pieces, false));
                    }
                    Row::Inserted(line) => right.push((*line).to_owned()),
                    Row::Deleted(line) => left.push((*line).to_owned()),
                    Row::Gap(n) => {
                        let at = left.len();
                        let gap: Vec<String> = whole_old.lines().skip(at).take(*n).map(str::to_owned).collect();
                        left.extend(gap.clone());
                        right.extend(gap);
                    }
                }
            }
            if rows.is_empty() {
                prop_assert_eq!(whole_old.lines().collect::<Vec<_>>(), whole_new.lines().collect::<Vec<_>>());
            } else {
                prop_assert_eq!(left, whole_old.lines().collect::<Vec<_>>());
                prop_assert_eq!(right, whole_new.lines().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn of_long_equal_stretches_only_what_is_near_a_difference_is_given() {
        let text = |first: &str| format!("{first}\n{}end\n", "same\n".repeat(20));
        let (old, new) = (text("old"), text("new"));
        let rows = side_by_side(&old, &new, &Work::default());
        let pieces = vec![Piece::Delete("old"), Piece::Insert("new")];
        assert_eq!(rows[..2], [Row::Edited(pieces), Row::Equal("same")]);
        assert_eq!(rows[4..], [Row::Gap(18)]);
        assert_eq!(side_by_side(&old, &old, &Work::default()), []);
    }

    #[test]
    fn a_single_line_is_given_rather_than_left_out() {
        let text = |first: &str, n_between: usize, last: &str| {
            format!("{first}\n{}{last}\n", "same\n".repeat(n_between))
        };
        let n_gaps = |n_between: usize| {
            let (old, new) = (text("old", n_between, "before"), text("new", n_between, "after"));
            let rows = side_by_side(&old, &new, &Work::default());
            rows.iter().filter(|row| matches!(row, Row::Gap(_))).count()
        };
        assert_eq!((n_gaps(2 * CONTEXT), n_gaps(2 * CONTEXT + 1), n_gaps(2 * CONTEXT + 2)), (0, 0, 1));
    }

    #[test]
    fn lines_on_top_are_new_and_no_line_below_is_touched() {
        let rows = side_by_side("b 1\nc 2", "a 0\nb 1\nc 2", &Work::default());
        assert_eq!(rows, [Row::Inserted("a 0"), Row::Equal("b 1"), Row::Equal("c 2")]);
    }
}
