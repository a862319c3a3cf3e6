//! The text after CONTAINS: words, or with `%` a pattern of wildcards. Not a regular expression; see [`super::Pattern`].

use std::fmt;

use crate::terms::Term;
use crate::words::{normalised, word_line, words};

/// Words in their order, or pieces of text between wildcards.
#[derive(Debug, Clone)]
pub struct Phrase {
    text: String,
    needle: Needle,
}

#[derive(Debug, Clone)]
enum Needle {
    /// Whole words, one after the other, with a space around each.
    Words(String),
    /// What stands between the wildcards; empty at an end where a wildcard stands.
    Pieces(Vec<String>),
}

/// Why a text is no phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPhrase {
    /// It has no letter and no digit.
    NoWord,
    /// It has wildcards only.
    Anything,
}

impl Phrase {
    pub(crate) fn new(text: &str) -> Result<Self, NoPhrase> {
        let needle = if text.contains('%') {
            let pieces: Vec<String> = text.split('%').map(normalised_piece).collect();
            if pieces.iter().all(|piece| piece.trim().is_empty()) {
                return Err(NoPhrase::Anything);
            }
            Needle::Pieces(pieces)
        } else {
            if words(text).next().is_none() {
                return Err(NoPhrase::NoWord);
            }
            Needle::Words(word_line(text))
        };
        Ok(Self { text: text.to_owned(), needle })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a text contains it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        match &self.needle {
            Needle::Words(line) => word_line(text).contains(line.as_str()),
            Needle::Pieces(pieces) => pieces_are_in(pieces, &normalised(text)),
        }
    }

    /// What a text has to contain for the phrase to be in it: the longest word.
    pub(crate) fn required(&self) -> Option<Term> {
        match &self.needle {
            Needle::Words(line) => longest(words(line)).map(Term::Word),
            Needle::Pieces(pieces) => longest(pieces.iter().flat_map(|piece| words(piece))).map(Term::Part),
        }
    }
}

/// The first of the longest.
pub(crate) fn longest(words: impl Iterator<Item = String>) -> Option<String> {
    words.fold(None, |best: Option<String>, word| match best {
        Some(best) if best.len() >= word.len() => Some(best),
        _ => Some(word),
    })
}

/// A space at the edge of a piece counts: `'% oil%'` is oil after a space.
fn normalised_piece(piece: &str) -> String {
    let middle = normalised(piece);
    if middle.is_empty() {
        return if piece.is_empty() { middle } else { " ".to_owned() };
    }
    let edge = |is_space: bool| if is_space { " " } else { "" };
    let before = edge(piece.starts_with(char::is_whitespace));
    let after = edge(piece.ends_with(char::is_whitespace));
    format!("{before}{middle}{after}")
}

/// Whether the pieces are in the text in their order, the first at its beginning and the last at its end. Taking each
/// piece as early as possible leaves most to the others, so nothing is tried twice.
fn pieces_are_in(pieces: &[String], text: &str) -> bool {
    let [first, middle @ .., last] = pieces else {
        return false;
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in middle {
        let Some(at) = rest.find(piece.as_str()) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last.as_str())
}

impl PartialEq for Phrase {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(phrase: &str, text: &str) -> bool {
        Phrase::new(phrase).unwrap().is_in(text)
    }

    #[test]
    fn without_wildcards_whole_words_count_and_nothing_between_them() {
        assert!(is_in("oil", "Crude OIL: up"));
        assert!(!is_in("oil", "turmoil"));
        assert!(is_in("oil price", "the oil-price\nrises"));
        assert!(!is_in("oil price", "oil and price"));
        assert!(is_in("ба ба", "ба. Ба ба"));
    }

    #[test]
    fn a_wildcard_stands_for_anything_and_an_end_without_one_is_an_end() {
        assert!(is_in("%oil%", "turmoil"));
        assert!(is_in("oil%", "Oil is up") && !is_in("oil%", "the oil"));
        assert!(is_in("%oil", "the oil") && !is_in("%oil", "oil is up"));
        assert!(is_in("o%l", "oil") && !is_in("o%l", "oily"));
        assert!(is_in("%a%ab%", "xaab") && !is_in("a%a", "a"));
        assert!(is_in("% oil%", "of  oil") && !is_in("% oil%", "turmoil"));
    }

    #[test]
    fn what_would_hold_for_nothing_or_anything_is_no_phrase() {
        assert_eq!(Phrase::new("$"), Err(NoPhrase::NoWord));
        assert_eq!(Phrase::new(""), Err(NoPhrase::NoWord));
        assert_eq!(Phrase::new("% %"), Err(NoPhrase::Anything));
    }
}
