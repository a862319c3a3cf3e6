//! What a query says that only somebody else can judge: whether there is such a source, whether a selector can be read. This crate
//! knows where it stands in the text, so it asks, and reports the answer like its own errors. Not the judging.

use crate::tree::From;

/// Something a query says that its grammar cannot judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<'q> {
    /// A SELECT reads from there.
    From(&'q From),
    /// A SELECT picks that of a page or of JSON.
    Pick {
        /// Where it is picked from.
        from: &'q From,
        /// A CSS selector for a page, a path for JSON.
        text: &'q str,
    },
    /// A query watches for these words.
    Watch(&'q str),
}

/// What is wrong with a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// What is wrong, and what was expected.
    pub message: String,
    /// What may have been meant, or what to try.
    pub hint: Option<String>,
}

/// Answers whether a claim is right.
pub(crate) type Judge<'j> = dyn FnMut(Claim<'_>) -> Result<(), Objection> + 'j;
