//! What a text of queries may ask for. Every limit is a fixed number, so that a text is refused or read in work that is
//! proportional to its length.

use std::time::Duration;

/// Longest text read, in bytes.
pub const MAX_TEXT: usize = 64 << 10;
/// Most queries in one text.
pub const MAX_QUERIES: usize = 1000;
/// Most of SELECT, or of WATCH, in one query.
pub const MAX_SELECTS: usize = 32;
/// Most tests and operators in the predicates of one query.
pub const MAX_PREDICATE_NODES: usize = 1000;
/// How deep parentheses and NOTs may nest.
pub const MAX_DEPTH: usize = 64;
/// Longest text in quotes, in bytes.
pub const MAX_STRING: usize = 2000;
/// Longest name, in bytes.
pub const MAX_NAME: usize = 64;
/// Most times of the day after one AT.
pub const MAX_TIMES: usize = 48;
/// Longest regular expression, in bytes.
pub const MAX_PATTERN: usize = 1000;
/// Most regular expressions in one text: compiling one is the most costly thing a few bytes can ask for.
pub const MAX_PATTERNS: usize = 100;
/// Most memory that all regular expressions of one query may take when compiled, in bytes.
pub const MAX_COMPILED_PATTERNS: usize = 256 << 10;
/// Most errors reported at once.
pub const MAX_ERRORS: usize = 20;
/// Shortest and longest time between two instances of a query.
pub const PERIODS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_hours(366 * 24));
/// Longest interval.
pub const MAX_INTERVAL: Duration = Duration::from_hours(366 * 24);
/// Longest life of a query that is given as a duration.
pub const MAX_LIFE: Duration = Duration::from_hours(3660 * 24);
/// Largest weight of a query.
pub const MAX_WEIGHT: f64 = 1e6;
