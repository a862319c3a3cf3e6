//! An error for people: the message, the line it is about and a caret under the place. For a terminal, so nothing of the
//! text gets through that could move its cursor, hide or turn round what follows.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use crate::error::{QueryError, Refused};

/// Characters shown before the place, and from its beginning on.
const SHOWN: (usize, usize) = (72, 48);

impl QueryError {
    /// The error with its line and a caret under the place. `text` is what was parsed.
    ///
    /// ```
    /// let text = "QUERY q SELECT item AS post FORM feed 'https://a.example/' EVERY 1 HOUR";
    /// let refused = dunlin_query::parse(text).unwrap_err();
    /// assert_eq!(refused.0[0].render(text), "\
    /// line 1, column 29: expected FROM, found `FORM`
    ///   1 | QUERY q SELECT item AS post FORM feed 'https://a.example/' EVERY 1 HOUR
    ///     |                             ^^^^
    ///   hint: did you mean FROM?
    /// ");
    /// ```
    pub fn render(&self, text: &str) -> String {
        self.shown(&format!("line {}, column {}", self.line, self.column), text)
    }

    /// The same with the place as tools write and find it, `FILE:LINE:COLUMN`.
    pub fn render_in(&self, file: &str, text: &str) -> String {
        self.shown(&format!("{file}:{}:{}", self.line, self.column), text)
    }

    fn shown(&self, place: &str, text: &str) -> String {
        let line: Vec<char> = text.split('\n').nth(self.line - 1).unwrap_or_default().chars().collect();
        let column = (self.column - 1).min(line.len());
        let from = column.saturating_sub(SHOWN.0);
        let to = line.len().min(column + SHOWN.1);
        let mut shown = String::new();
        let (cut_before, cut_after) = (from > 0, to < line.len());
        if cut_before {
            shown.push('…');
        }
        shown.extend(line[from..to].iter().map(|letter| harmless(*letter)));
        if cut_after {
            shown.push('…');
        }
        let marked = text.get(self.span.start..self.span.end).unwrap_or_default();
        let marked = marked.split('\n').next().unwrap_or_default().chars().count();
        let carets = "^".repeat(marked.min(to - column).max(1));
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let before = " ".repeat(column - from + usize::from(cut_before));
        let mut message: String = place.chars().map(harmless).collect();
        message.push_str(": ");
        message.extend(self.message.chars().map(harmless));
        let _ = writeln!(message, "\n  {number} | {}", shown.trim_end());
        let _ = writeln!(message, "  {margin} | {before}{carets}");
        if let Some(hint) = &self.hint {
            let _ = writeln!(message, "  hint: {}", hint.chars().map(harmless).collect::<String>());
        }
        message
    }
}

impl Refused {
    /// All errors as [`QueryError::render`] shows them, with an empty line between.
    pub fn render(&self, text: &str) -> String {
        self.0.iter().map(|error| error.render(text)).collect::<Vec<_>>().join("\n")
    }

    /// All errors as [`QueryError::render_in`] shows them.
    pub fn render_in(&self, file: &str, text: &str) -> String {
        self.0.iter().map(|error| error.render_in(file, text)).collect::<Vec<_>>().join("\n")
    }
}

/// What is not seen, turns the direction of writing, or is combined with the letter before, so that the carets would not
/// stand under the place.
const NOT_SEEN: &[RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{300}'..='\u{36f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff0}'..='\u{fffb}',
    '\u{e0000}'..='\u{e0fff}',
];

/// The character, or one that stands for it and takes one place: white space as a space, what is not seen as a mark.
fn harmless(letter: char) -> char {
    if letter.is_whitespace() {
        ' '
    } else if letter.is_control() || NOT_SEEN.iter().any(|range| range.contains(&letter)) {
        '\u{fffd}'
    } else {
        letter
    }
}
