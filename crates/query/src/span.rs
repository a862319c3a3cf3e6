//! Where something stands in a text. Bytes inside, lines and characters for people.

/// A stretch of a text, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// From here to the end of another one.
    pub(crate) const fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// The line and the column of a byte, both from 1; columns count characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    // A character has one byte that does not continue another.
    let column = before[line_start..].iter().filter(|byte| (**byte & 0xc0) != 0x80).count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_start_again_on_each_line() {
        let text = "aé\nüb";
        assert_eq!(
            [0, 1, 3, 4, 6, 7].map(|at| line_and_column(text, at)),
            [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
        );
    }
}
