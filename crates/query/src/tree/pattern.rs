//! A regular expression that was read, and is matched in time linear in the text. Its size is limited.

use regex::{Regex, RegexBuilder};

use crate::limits::{MAX_COMPILED_PATTERN, MAX_DEPTH, MAX_PATTERN};

/// The text after MATCHES.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// Why a text is no pattern, and the bytes of it that are wrong, if it is not the whole.
pub(crate) struct NoPattern {
    pub(crate) reason: String,
    pub(crate) place: Option<(usize, usize)>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, NoPattern> {
        if text.is_empty() {
            return Err(NoPattern { reason: "it is empty, and so in every text".to_owned(), place: None });
        }
        if text.len() > MAX_PATTERN {
            let reason = format!("it has {} bytes, and {MAX_PATTERN} is the most", text.len());
            return Err(NoPattern { reason, place: None });
        }
        let nest_limit = MAX_DEPTH as u32;
        let parsed = regex_syntax::ParserBuilder::new().nest_limit(nest_limit).build().parse(text);
        parsed.map_err(|error| {
            let (reason, span) = match &error {
                regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
                regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
                _ => (error.to_string(), None),
            };
            NoPattern { reason, place: span.map(|span| (span.start.offset, span.end.offset)) }
        })?;
        RegexBuilder::new(text)
            .nest_limit(nest_limit)
            .size_limit(MAX_COMPILED_PATTERN)
            .build()
            .map(Self)
            .map_err(|_| NoPattern {
                reason: "it is too large when repetitions are written out".to_owned(),
                place: None,
            })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
