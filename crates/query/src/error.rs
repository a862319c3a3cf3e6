//! What is wrong with a text of queries, and where. Every message is made here, so that they read alike; how an error is
//! shown is in `render.rs`.

use std::fmt;

use crate::span::{Span, line_and_column};

/// Something wrong in a text of queries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryError {
    /// Where it is, from 1.
    pub line: usize,
    /// Where in the line it is, in characters from 1.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
    /// What may have been meant, or what to try.
    pub hint: Option<String>,
    /// The bytes concerned.
    pub span: Span,
}

/// A text that was refused, with all that is wrong with it, in the order of the text; at least one error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refused(pub Vec<QueryError>);

impl fmt::Display for Refused {
    /// The first error, and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = self.0.first() {
            write!(f, "line {}, column {}: {}", first.line, first.column, first.message)?;
        }
        match self.0.len() {
            0 | 1 => Ok(()),
            n => write!(f, " (and {} more)", n - 1),
        }
    }
}

impl Refused {
    /// The errors of a text that is a part of another one, from this byte on, at their places in that one.
    #[must_use]
    pub fn moved_into(self, whole: &str, start: usize) -> Self {
        let moved = |QueryError { span, message, hint, .. }| {
            QueryError::at(whole, Span { start: start + span.start, end: start + span.end }, message, hint)
        };
        Self(self.0.into_iter().map(moved).collect())
    }
}

impl QueryError {
    /// An error that another program found in a text, at these bytes of it.
    pub fn at(text: &str, span: Span, message: String, hint: Option<String>) -> Self {
        let start = span.start.min(text.len());
        let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let span = Span { start, end: span.end.clamp(start, text.len()) };
        let (line, column) = line_and_column(text, span.start);
        Self { line, column, message, hint, span }
    }

    pub(crate) fn new(text: &str, span: Span, problem: &Problem, hint: Option<String>) -> Self {
        let (line, column) = line_and_column(text, span.start);
        Self { line, column, message: problem.to_string(), hint, span }
    }
}

/// Everything that can be wrong. Crate-internal: callers show the message and the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("the text has {0} bytes, and {limit} is the most", limit = crate::limits::MAX_TEXT)]
    TextTooLong(usize),
    #[error("more than {limit} {what} in one {whole}")]
    TooMany { what: &'static str, limit: usize, whole: &'static str },
    #[error("parentheses and NOTs nest more than {limit} deep", limit = crate::limits::MAX_DEPTH)]
    TooDeep,
    #[error("the {what} has {length} bytes, and {limit} is the most")]
    TooLong { what: &'static str, length: usize, limit: usize },
    #[error("expected {expected}, found {found}")]
    Expected { expected: String, found: String },
    #[error("the text in quotes has no end on its line")]
    OpenString,
    #[error("{what} is given twice")]
    Twice { what: &'static str },
    #[error("`{0}` is a word of the language and cannot be a name")]
    ReservedName(String),
    #[error("a select named `{0}` is there already")]
    DuplicateName(String),
    #[error("a query named `{0}` is there already")]
    DuplicateQuery(String),
    #[error("no select is named `{0}`")]
    UnknownName(String),
    #[error("`{0}` is selected later, and only earlier selects are known here")]
    LaterName(String),
    #[error("`{0}` asks about itself")]
    OwnName(String),
    #[error("a WATCH has no selects; its finds are called `item`")]
    WatchName,
    #[error("{kind} has no field `{field}`")]
    NoSuchField { kind: &'static str, field: &'static str },
    #[error("{what} is {kind}, and {test} asks about {expected}")]
    WrongTest { what: String, kind: &'static str, test: &'static str, expected: &'static str },
    #[error("the query has no trigger: its first SELECT does not say when it begins")]
    NoTrigger,
    #[error("the first SELECT is the trigger and cannot wait for a predicate")]
    TriggerWaits,
    #[error("ANY {asked} OF {there}: expected a number from 1 to {there}")]
    NeedOutOfRange { asked: String, there: usize },
    #[error("`{url}` is no address that can be watched: {reason}")]
    BadUrl { url: String, reason: String },
    #[error("{what} {value}: expected a number {expected}")]
    OutOfRange { what: &'static str, value: f64, expected: &'static str },
    #[error("{what} of {value}: expected {expected}")]
    BadDuration { what: &'static str, value: String, expected: &'static str },
    #[error("WITHIN {within} is longer than EVERY {every}, so that intervals of one source would overlap")]
    WithinLongerThanEvery { within: String, every: String },
    #[error("`{0}` is no time of the day from 00:00 to 23:59")]
    BadTime(String),
    #[error("`{0}` is no offset from UTC from -14:00 to +14:00")]
    BadOffset(String),
    #[error("`{0}` is no date from 1970 to 9999, such as 2027-01-31 or 2027-01-31T18:00Z")]
    BadDate(String),
    #[error("UNTIL and FOR both say when the query ends")]
    TwoEnds,
    #[error("a {0} is read as items, not as values")]
    NoValues(&'static str),
    #[error("PICK cannot be used with a {0}")]
    NoPick(&'static str),
    #[error("{0} is empty")]
    Empty(&'static str),
    #[error("the regular expressions of this query take {kib} KiB in memory, and {most} is the most", kib = .0 >> 10, most = crate::limits::MAX_COMPILED_PATTERNS >> 10)]
    PatternsTooLarge(usize),
    #[error("cannot read the regular expression: {0}")]
    BadPattern(String),
    #[error("`{0}` has no word to look for")]
    NoWord(String),
    #[error("`{0}` would be in every text")]
    AnyText(String),
    #[error("texts are not ordered: after `{0}`, expected a number")]
    TextNotOrdered(&'static str),
    /// Somebody else's words.
    #[error("{0}")]
    Objection(String),
}
