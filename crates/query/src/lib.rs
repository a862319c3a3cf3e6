//! Continuous queries: what somebody wants to be told, as a text, and what has to be probed for it.
//!
//! - [`parse`]: a text of queries to checked [`Query`] trees, or to all errors in it, each with its place; [`parse_with`] asks
//!   the caller about what only it can judge;
//! - [`format()`]: trees to their canonical text;
//! - [`Predicate::evaluate`]: whether a condition holds of what was captured;
//! - [`Predicate::required_terms`]: the words without which it cannot, for an index over many queries;
//! - [`TermIndex`]: which of many queries a text concerns;
//! - [`relevance`], [`words_needed`]: what is about the words of a WATCH;
//! - [`Fingerprint`]: whether two items tell the same story;
//! - [`plan`]: when an instance of a query begins, and which intervals it wants as captures come in;
//! - [`limits`]: what a text may ask for.
//!
//! The language is described in `docs/query-language.md`, whose examples are tests of this crate.
//!
//! ```
//! use dunlin_query::{Captures, Truth, Value, parse};
//!
//! let queries = parse("
//!     QUERY cheap_oil
//!       SELECT value AS brent FROM page 'https://rates.example/brent' PICK '.last' EVERY 10 MINUTES
//!       WHERE brent < 70
//! ")?;
//! let mut captures = Captures::new();
//! captures.insert("brent", vec![Value { text: "69.90", number: Some(69.9), ..Value::default() }]);
//! let holds = queries[0].filter.as_ref().map(|filter| filter.evaluate(&captures));
//! assert_eq!(holds, Some(Truth::True));
//!
//! let refused = parse("QUERY q SELECT item AS post FROM feed 'https://a.example/' EVERY 10 MINUETS").unwrap_err();
//! assert_eq!(refused.0[0].hint.as_deref(), Some("did you mean MINUTES?"));
//! # Ok::<(), dunlin_query::Refused>(())
//! ```
//!
//! Invariants: no text makes it panic, recurse deeper than [`limits::MAX_DEPTH`] or work more than in proportion to what
//! [`limits`] allow; a text with an error gives no query. Decisions are pure: no clock, files, sockets, randomness or
//! hash order.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod limits;
pub mod plan;

mod about;
mod calendar;
mod claim;
mod error;
mod evaluate;
mod format;
mod keyword;
mod lexer;
mod matching;
mod nearest;
mod parser;
mod render;
mod span;
mod story;
mod terms;
mod tree;
mod words;

pub use about::{IRRELEVANT, RELEVANT, relevance, words_needed};
pub use claim::{Claim, Objection};
pub use error::{QueryError, Refused};
pub use evaluate::{Before, Captures, Truth, Value};
pub use format::format;
pub use lexer::{first_comment, split};
pub use matching::TermIndex;
pub use nearest::nearest;
pub use parser::{parse, parse_with};
pub use span::Span;
pub use story::Fingerprint;
pub use terms::Term;
pub use tree::{
    Amount, Body, Comparison, Direction, End, Field, From, Length, Literal, Need, Operand, Pattern, Phrase,
    Predicate, Query, Select, SelectBlock, Start, Test, TimesOfDay, Watch, What,
};
pub use words::words;
