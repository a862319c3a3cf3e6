//! The one way this crate can fail: a recipe that means nothing. Pages never fail; see [`crate::Diagnostic`].

use std::fmt;

/// Which part of a recipe is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A CSS selector.
    Selector,
    /// A JSON path (RFC 9535).
    JsonPath,
    /// A regular expression.
    Pattern,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Selector => "css selector",
            Self::JsonPath => "json path",
            Self::Pattern => "regular expression",
        })
    }
}

/// Why a recipe cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text does not follow the grammar of its part.
    #[error("cannot read the {part} `{text}` at character {at}: {reason}")]
    Unreadable {
        /// What the text should have been.
        part: Part,
        /// The text as given.
        text: String,
        /// The position of the error, in characters from 1.
        at: usize,
        /// What is wrong, as the parser puts it.
        reason: String,
    },
    /// It is written well, and takes more memory than it may.
    #[error(
        "the {part} `{text}` is too large: it would take more than {limit} bytes of memory; repeat less often, or write \
         [a-z0-9] for \\w and [0-9] for \\d"
    )]
    TooLarge {
        /// What the text is.
        part: Part,
        /// The text as given.
        text: String,
        /// The bytes it may take.
        limit: usize,
    },
    /// The text is longer than any sensible one.
    #[error("the {part} has {length} bytes, and {limit} is the most")]
    TooLong {
        /// What the text should have been.
        part: Part,
        /// Its length in bytes.
        length: usize,
        /// The length allowed.
        limit: usize,
    },
}

/// Longest selector, path or pattern accepted.
pub(crate) const MAX_LENGTH: usize = 1000;

/// Parses one part of a recipe, and says up to where it could be read when it cannot.
pub(crate) fn parse_part<T, E: ToString>(
    part: Part,
    text: &str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<T, Error> {
    if text.len() > MAX_LENGTH {
        return Err(Error::TooLong { part, length: text.len(), limit: MAX_LENGTH });
    }
    parse(text).map_err(|error| {
        // The parsers below do not all give a position, but the longest readable beginning ends where it is.
        let readable = |cut: &usize| parse(text[..*cut].trim_end()).is_ok();
        let cut = text.char_indices().map(|(at, _)| at).rev().find(readable).unwrap_or(0);
        let at = text[..cut].chars().count() + 1;
        Error::Unreadable { part, text: text.to_owned(), at, reason: reason_line(&error.to_string()) }
    })
}

/// Parsers draw the position over several lines; the last line that says something is the reason.
fn reason_line(reason: &str) -> String {
    let mut lines = reason.lines().map(str::trim).filter(|line| line.contains(char::is_alphabetic));
    // Some reasons are but the name that the parser has for them in its own code, and what is in there, over many lines.
    let name = reason.split_once("Please report this to the developer\n");
    let name = name.and_then(|(_, name)| name.split(|letter: char| !letter.is_alphanumeric()).next());
    let line = name.or_else(|| lines.next_back()).unwrap_or("no reason given").trim_start_matches(['=', ' ']);
    let is_name = line.chars().all(char::is_alphanumeric);
    let mut words = String::new();
    for letter in line.chars() {
        if is_name && letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
