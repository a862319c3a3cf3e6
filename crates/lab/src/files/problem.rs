//! What can be wrong with a line of a file. [`crate::Error::BadLine`] says where.

use std::fmt;

/// What is wrong with a line, and what was expected there.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Nothing but blank lines.
    #[error("empty file (expected a header line with {columns})")]
    EmptyFile {
        /// The columns the header must have.
        columns: String,
    },
    /// A header and nothing after it, in a file that is pointless without lines.
    #[error("no data lines (expected at least one after the header)")]
    NoDataLines,
    /// A header without a column that is needed.
    #[error("missing column {column} (expected a header line with {columns})")]
    MissingColumn {
        /// The column.
        column: &'static str,
        /// The columns the header must have.
        columns: String,
    },
    /// A header that names a column more than once.
    #[error("column {column} given twice (expected it once)")]
    DuplicateColumn {
        /// The column.
        column: &'static str,
    },
    /// More or fewer fields than the header has.
    #[error("{found} fields (expected {expected}, as in the header)")]
    WrongFieldCount {
        /// Fields on the line.
        found: usize,
        /// Fields in the header.
        expected: usize,
    },
    /// More than one value on a line of a budget file.
    #[error("{found} values (expected one budget per line)")]
    NotOneValue {
        /// Values on the line.
        found: usize,
    },
    /// A line that would take too much memory.
    #[error("line of more than {limit} bytes (expected at most {limit})")]
    LineTooLong {
        /// The longest line allowed.
        limit: usize,
    },
    /// A quoted field over several lines that would take too much memory.
    #[error("quoted field of more than {limit} bytes (expected a closing quote before that)")]
    QuoteTooLong {
        /// The longest record allowed.
        limit: usize,
    },
    /// More lines than any machine should be asked to hold.
    #[error("more than {limit} data lines (expected at most that many; split the file)")]
    TooManyLines {
        /// The largest number allowed.
        limit: u64,
    },
    /// Bytes in another encoding.
    #[error("bytes that are not UTF-8 (expected UTF-8 text)")]
    NotUtf8,
    /// Queries in another encoding, which no decoder here looks for.
    #[error("bytes that are not UTF-8 (expected UTF-8 text; save it as that, or convert it with iconv)")]
    NotUtf8Queries,
    /// More text than anybody writes.
    #[error(
        "a text of more than {limit} bytes (expected at most {limit}; split the queries over several files)"
    )]
    QueriesTooLong {
        /// The longest text allowed.
        limit: usize,
    },
    /// A gzip file cut off.
    #[error("gzip data end too early (expected a complete file; was it cut off?)")]
    TruncatedGzip,
    /// A damaged gzip file.
    #[error("damaged gzip data (expected an intact gzip file)")]
    DamagedGzip,
    /// No id where there must be one.
    #[error("empty {column} (expected a non-empty id)")]
    EmptyId {
        /// The column.
        column: &'static str,
    },
    /// An id that is an essay.
    #[error("{column} of {bytes} bytes (expected at most {limit})")]
    IdTooLong {
        /// The column.
        column: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest id allowed.
        limit: usize,
    },
    /// An id that a terminal would not show as it is.
    #[error("{column} {id} (expected an id without control characters)")]
    ControlInId {
        /// The column.
        column: &'static str,
        /// The id.
        id: Excerpt,
    },
    /// Text where an integer must be.
    #[error("{column} {value} (expected an integer)")]
    NotAnInteger {
        /// The column.
        column: &'static str,
        /// What was there.
        value: Excerpt,
    },
    /// An integer outside its range.
    #[error("{column} {value} (expected {least} to {most})")]
    OutOfRange {
        /// The column.
        column: &'static str,
        /// What was there.
        value: Excerpt,
        /// The smallest integer allowed.
        least: i64,
        /// The largest.
        most: i64,
    },
    /// Text where a number must be.
    #[error("{column} {value} (expected a number)")]
    NotANumber {
        /// The column.
        column: &'static str,
        /// What was there.
        value: Excerpt,
    },
    /// A probability outside [0, 1], or not a number.
    #[error("probability {0} (expected a number from 0 to 1)")]
    BadProbability(f64),
    /// A value the model refuses.
    #[error(transparent)]
    Model(#[from] dunlin_core::Error),
    /// Two lines of one CEI that do not agree.
    #[error(
        "{column} {value} but {earlier} on line {earlier_line} (expected the same on every line of a CEI)"
    )]
    Disagreement {
        /// The column they disagree on.
        column: &'static str,
        /// What this line says.
        value: f64,
        /// What the earlier line says.
        earlier: f64,
        /// The earlier line.
        earlier_line: u64,
    },
    /// A second line for what has one already.
    #[error("second line for {key} (expected one; the first is line {earlier_line})")]
    Repeated {
        /// What the two lines are for.
        key: String,
        /// The first of them.
        earlier_line: u64,
    },
    /// A resource nobody has heard of.
    #[error(
        "unknown resource {resource} (expected one of the {known} in the intervals or trace file; \
         do the two files belong together?)"
    )]
    UnknownResource {
        /// Its name.
        resource: Excerpt,
        /// How many resources there are.
        known: usize,
    },
    /// A budget file that ends before the epoch does.
    #[error("budgets for {found} chronons (expected {expected}, one line for each)")]
    TooFewBudgets {
        /// Lines found.
        found: usize,
        /// Chronons in the epoch.
        expected: u32,
    },
}

/// Text from a file, cut short and with its control characters escaped, so that it can be shown to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(String);

impl From<&str> for Excerpt {
    fn from(text: &str) -> Self {
        const SHOWN: usize = 40;
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self(shown)
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
