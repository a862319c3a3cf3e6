//! Two texts word by word, for people: a short list of kept, removed and inserted pieces.
//!
//! The work is bounded without a clock: what is common at both ends is set aside, the rest is compared word by
//! word if it is small, line by line with words inside if it is not, and not at all beyond that, or when the [`Work`] that all
//! comparisons of a document share is used up.

mod side_by_side;
mod unified;

pub use side_by_side::{Row, side_by_side};
pub use unified::unified;

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::text::cut;
use crate::work::Work;

/// A piece of a comparison. Kept and removed pieces make the old text, kept and inserted ones the new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// In both texts.
    Equal(&'t str),
    /// In the new text only.
    Insert(&'t str),
    /// In the old text only.
    Delete(&'t str),
}

impl<'t> Piece<'t> {
    /// The text of the piece.
    pub fn text(self) -> &'t str {
        let (Self::Equal(text) | Self::Insert(text) | Self::Delete(text)) = self;
        text
    }
}

/// Lines shown around what differs.
const CONTEXT: usize = 3;

/// Bytes of each text that are compared; the rest is left out.
const MAX_BYTES: usize = 1 << 20;

/// Most cells of the table of all pairs that a comparison may visit: some milliseconds.
const MAX_CELLS: usize = 4_000_000;

/// Cells that are visited in one step.
const CELLS_PER_STEP: usize = 4;

/// Compares two texts word by word.
///
/// ```
/// use dunlin_extract::{Work, diff::{Piece, words}};
/// let pieces = words("the old price is 12", "the new price is 12", &Work::default());
/// assert_eq!(pieces, [
///     Piece::Equal("the "), Piece::Delete("old"), Piece::Insert("new"), Piece::Equal(" price is 12"),
/// ]);
/// ```
pub fn words<'t>(old: &'t str, new: &'t str, work: &Work) -> Vec<Piece<'t>> {
    let (old, new) = (cut(old, MAX_BYTES), cut(new, MAX_BYTES));
    let mut pieces = Vec::new();
    let by_words = by_words(old, new, work, &mut pieces);
    if by_words.is_none() {
        let lines = [Tokens::lines(old), Tokens::lines(new)];
        let Some(operations) = operations(&lines[0].tokens(), &lines[1].tokens(), work) else {
            return both(old, new).collect();
        };
        for operation in operations {
            let old = lines[0].slice(operation.old_range());
            let new = lines[1].slice(operation.new_range());
            if matches!(operation, DiffOp::Equal { .. }) {
                pieces.push(Piece::Equal(new));
            } else if by_words_of_part(old, new, work, &mut pieces).is_none() {
                pieces.extend(both(old, new));
            }
        }
    }
    pieces
}

/// Appends the comparison of two texts, or nothing when it would take too long.
fn by_words<'t>(old: &'t str, new: &'t str, work: &Work, pieces: &mut Vec<Piece<'t>>) -> Option<()> {
    let words = [Tokens::words(old), Tokens::words(new)];
    for operation in operations(&words[0].tokens(), &words[1].tokens(), work)? {
        let new = words[1].slice(operation.new_range());
        if matches!(operation, DiffOp::Equal { .. }) {
            pieces.push(Piece::Equal(new));
        } else {
            pieces.extend(both(words[0].slice(operation.old_range()), new));
        }
    }
    Some(())
}

/// Likewise for a part of a text that was already too long: a part must be small, since there may be many.
fn by_words_of_part<'t>(old: &'t str, new: &'t str, work: &Work, pieces: &mut Vec<Piece<'t>>) -> Option<()> {
    let is_small = old.len().min(new.len()) > 0 && old.len() + new.len() < 10_000;
    is_small.then(|| by_words(old, new, work, pieces))?
}

fn both<'t>(old: &'t str, new: &'t str) -> impl Iterator<Item = Piece<'t>> {
    [Piece::Delete(old), Piece::Insert(new)].into_iter().filter(|piece| !piece.text().is_empty())
}

/// Which lines of two texts are the same, in their order; `None` when finding out would take too long.
pub(crate) fn same<T: Eq + Hash + Ord>(old: &[T], new: &[T], work: &Work) -> Option<Vec<(usize, usize)>> {
    let operations = operations(old, new, work)?;
    let equal = operations.iter().filter(|operation| matches!(operation, DiffOp::Equal { .. }));
    Some(equal.flat_map(|operation| operation.old_range().zip(operation.new_range())).collect())
}

/// The operations that turn `old` into `new`, or `None` when finding them would take too long.
fn operations<T: Eq + Hash + Ord>(old: &[T], new: &[T], work: &Work) -> Option<Vec<DiffOp>> {
    let n_before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - n_before;
    let n_after =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let n_cells = (old.len() - n_before - n_after).checked_mul(new.len() - n_before - n_after)?;
    let n_steps = 1 + (n_cells / CELLS_PER_STEP) as u64;
    (n_cells <= MAX_CELLS && work.take(n_steps)).then(|| capture_diff_slices(Algorithm::Myers, old, new))
}

/// A text without lines is cut into one empty token.
fn without_empty_end<'s, 't>(lines: &'s [&'t str]) -> &'s [&'t str] {
    match lines {
        [rest @ .., ""] => rest,
        lines => lines,
    }
}

/// A text cut into tokens that together are the text.
#[derive(Debug)]
struct Tokens<'t> {
    text: &'t str,
    /// Where each token begins, and the end of the text.
    bounds: Vec<usize>,
}

impl<'t> Tokens<'t> {
    fn lines(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self::with_bounds(text, ends.collect())
    }

    /// Words and what is between them; a number with its marks is one word, and so is a date or a time in figures. In scripts without
    /// spaces every character is a word.
    fn words(text: &'t str) -> Self {
        let class = |c: char| match c {
            // Most texts are mostly these, and the tables of all other scripts are slow.
            '0'..='9' | 'A'..='Z' | 'a'..='z' => 1,
            ' ' | '\n' => 0,
            c if c.is_whitespace() => 0,
            '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => 2,
            c if c.is_alphanumeric() => 1,
            _ => 2,
        };
        let mut bounds = Vec::new();
        let mut before: Option<(u8, char)> = None;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let is_within_number = matches!(c, '.' | ',' | ':' | '\'' | '’' | '-' | '/')
                && before.is_some_and(|(_, before)| before.is_ascii_digit())
                && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
            let class = if is_within_number { 1 } else { class(c) };
            if before.is_some_and(|(before, _)| before != class || class == 2) {
                bounds.push(at);
            }
            before = Some((class, c));
        }
        Self::with_bounds(text, bounds)
    }

    fn with_bounds(text: &'t str, mut bounds: Vec<usize>) -> Self {
        bounds.insert(0, 0);
        bounds.push(text.len());
        bounds.dedup();
        Self { text, bounds }
    }

    fn tokens(&self) -> Vec<&'t str> {
        self.bounds.windows(2).map(|bounds| &self.text[bounds[0]..bounds[1]]).collect()
    }

    fn slice(&self, tokens: Range<usize>) -> &'t str {
        &self.text[self.bounds[tokens.start]..self.bounds[tokens.end]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rebuilt(pieces: &[Piece<'_>], side: fn(&Piece<'_>) -> bool) -> String {
        pieces.iter().filter(|piece| side(piece)).map(|piece| piece.text()).collect()
    }

    fn check(old: &str, new: &str) -> usize {
        let pieces = words(old, new, &Work::default());
        assert_eq!(rebuilt(&pieces, |piece| !matches!(piece, Piece::Insert(_))), old);
        assert_eq!(rebuilt(&pieces, |piece| !matches!(piece, Piece::Delete(_))), new);
        assert!(pieces.iter().all(|piece| !piece.text().is_empty()), "{pieces:?}");
        pieces.len()
    }

    proptest! {
        #[test]
        fn pieces_make_both_texts(old in "[ab \n東.]{0,40}", new in "[ab \n東.]{0,40}") {
            check(&old, &new);
        }
    }

    #[test]
    fn what_is_written_without_spaces_is_compared_letter_by_letter() {
        let pieces = [Piece::Equal("東京の"), Piece::Delete("雨"), Piece::Insert("雪")];
        assert_eq!(words("東京の雨", "東京の雪", &Work::default()), pieces);
    }

    #[test]
    fn numbers_dates_and_times_are_not_cut() {
        for (old, new) in
            [("19.99", "17.49"), ("1.299,00", "1.199,00"), ("14:07", "15:07"), ("2026-03-14", "2026-03-15")]
        {
            let (before, now) = (format!("Now {old}."), format!("Now {new}."));
            let expected = [Piece::Equal("Now "), Piece::Delete(old), Piece::Insert(new), Piece::Equal(".")];
            assert_eq!(words(&before, &now, &Work::default()), expected);
        }
        let pieces = [Piece::Insert("1.1 second\n"), Piece::Equal("1.0 first")];
        assert_eq!(words("1.0 first", "1.1 second\n1.0 first", &Work::default()), pieces);
    }

    #[test]
    fn equal_texts_are_one_piece_and_empty_ones_none() {
        assert_eq!(words("same same", "same same", &Work::default()), [Piece::Equal("same same")]);
        assert_eq!(words("", "", &Work::default()), []);
        assert_eq!(words("", "new", &Work::default()), [Piece::Insert("new")]);
    }

    #[test]
    fn large_texts_are_compared_by_lines_and_larger_ones_not_at_all() {
        let text = |n: usize, salt: usize| -> String {
            let word = |i: usize| if i.is_multiple_of(3) { i * salt } else { i };
            let lines: Vec<String> = (0..n).map(|i| format!("word{} of line {i}\n", word(i))).collect();
            lines.concat()
        };
        // Too many words for the table of all pairs, but not too many lines.
        let n_pieces = check(&text(1_500, 1), &text(1_500, 7));
        assert!(n_pieces > 1_000, "{n_pieces}");
        let (old, new) = (text(6_000, 1), text(6_000, 7).replace("line", "row"));
        assert_eq!(words(&old, &new, &Work::default()), [Piece::Delete(&old[..]), Piece::Insert(&new[..])]);
    }
}
