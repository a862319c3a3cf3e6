//! The query library seen from outside, in one binary.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod docs; // every example of docs/query-language.md
mod errors; // what is wrong with a text, and where
mod hostile; // texts built to keep a parser busy
mod laws; // what holds for any text, any query and any capture
mod plan; // which intervals the instances of a query want, and how they end
mod predicates; // what holds of what was captured
mod trees; // any queries, for `laws` and `plan`
