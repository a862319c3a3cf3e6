//! Hostile bytes to items, and old and new items to changes.
//!
//! - [`recipe`]: what to extract from a page, and what in it is noise;
//! - [`Extractor`]: a checked recipe that turns an [`Input`] into a [`Document`];
//! - [`document`]: items with stable ids, and diagnostics about what could not be read;
//! - [`mod@detect`]: which items are new, edited or gone, regardless of order and dates;
//! - [`flicker`]: what a page changes all the time without news;
//! - [`diff`]: two texts word by word;
//! - [`FirstLook`]: what a person should know before watching a document;
//! - [`Work`]: what reading and comparing may cost, counted in steps.
//!
//! ```
//! use dunlin_extract::{Change, Extractor, Input, Limits, detect};
//! use dunlin_extract::recipe::{NoiseRules, Recipe};
//!
//! let extractor = Extractor::new(&Recipe::Auto, &NoiseRules::default(), Limits::default())?;
//! let read = |body: &str| extractor.extract(&Input { body: body.as_bytes(), content_type: None, url: None, last_charset: None });
//! let old = read("<rss version='2.0'><channel><item><guid>1</guid><title>One</title></item></channel></rss>");
//! let new = read("<rss version='2.0'><channel><item><guid>2</guid><title>Two</title></item>\
//!                 <item><guid>1</guid><title>One</title></item></channel></rss>");
//! let changes = detect(&old.items, &new.items);
//! assert!(matches!(changes[..], [Change::Added(item)] if item.title == "Two"));
//! # Ok::<(), dunlin_extract::Error>(())
//! ```
//!
//! Invariants: a document is never refused, only a recipe is; what could not be read is a [`Diagnostic`]. The
//! work done is bounded by [`Limits`], for any bytes. Decisions are pure: no clock, files, sockets,
//! randomness or hash order.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod recipe;

pub mod detect;
pub mod diff;
pub mod document;
pub mod flicker;
pub mod outline;
pub mod summary;

mod charset;
mod error;
mod extractor;
mod feed;
mod first_look;
mod hashing;
mod html;
mod identity;
mod json;
mod limits;
mod links;
mod nesting;
mod noise;
mod not_the_page;
mod parts;
mod sniff;
mod text;
mod tokens;
mod work;

pub use charset::decoded_xml;
pub use detect::{Change, detect};
pub use document::{Diagnostic, Document, Item, ItemId};
pub use error::{Error, Part};
pub use extractor::{Extractor, Input};
pub use first_look::{CandidatePart, Doubt, FirstLook, NamedFeed};
pub use flicker::Flicker;
pub use limits::Limits;
pub use not_the_page::{Likeness, NotThePage, likeness};
pub use parts::Recognised;
pub use tokens::{Amount, amounts};
pub use work::Work;
