//! The index of texts: which sources say certain words now. There is one only while somebody asks for words; it is made in
//! portions, kept by captures, and can be made again at any time.

use crate::SourceId;

/// The longest text of a source that is indexed.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// How far the index of texts is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextIndex {
    /// There is none.
    None,
    /// It has the sources up to this one, and those captured since it was begun.
    UpTo(SourceId),
    /// It has all.
    Complete,
}

/// What a source says now: words in lower case with a space between them, of which at most [`MAX_TEXT_BYTES`] are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Of which source.
    pub source: SourceId,
    /// Its words.
    pub words: String,
}

/// Among which sources words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextScope {
    /// Among all; at most so many are found, those that fit best.
    Best(u32),
    /// In one.
    Source(SourceId),
}

/// Sources that say at least one of some words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundTexts {
    /// How many sources are in the index.
    pub n_texts: u64,
    /// How many of them have each of the words.
    pub n_with: Vec<u64>,
    /// Those that fit best first, each with its score by BM25, which is larger the better it fits.
    pub scores: Vec<(SourceId, f64)>,
}
