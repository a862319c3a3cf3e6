//! A regular expression that was read, and is matched in time linear in the text. Its size is limited. It is compiled when it is
//! first asked, so that queries that are only listed cost nothing, and in the form that takes the least memory: there may be
//! thousands, and the texts are short.

use std::sync::OnceLock;

use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{Compiler, Config, NFA};
use regex_automata::util::syntax;

use crate::limits::{MAX_COMPILED_PATTERNS, MAX_DEPTH, MAX_PATTERN};

/// The text after MATCHES.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    n_bytes: usize,
    compiled: OnceLock<Option<PikeVM>>,
}

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
        let parsed = regex_syntax::ParserBuilder::new().nest_limit(MAX_DEPTH as u32).build().parse(text);
        parsed.map_err(|error| {
            let (reason, span) = match &error {
                regex_syntax::Error::Parse(error) => (error.kind().to_string(), Some(error.span())),
                regex_syntax::Error::Translate(error) => (error.kind().to_string(), Some(error.span())),
                _ => (error.to_string(), None),
            };
            NoPattern { reason, place: span.map(|span| (span.start.offset, span.end.offset)) }
        })?;
        let n_bytes = compiled(text).map(|program| program.memory_usage()).ok_or_else(|| NoPattern {
            reason: "it is too large when repetitions are written out".to_owned(),
            place: None,
        })?;
        Ok(Self { text: text.to_owned(), n_bytes, compiled: OnceLock::new() })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many bytes it takes when compiled.
    pub(crate) const fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        // It was compiled before, so it can be again.
        let program = self.compiled.get_or_init(|| PikeVM::new_from_nfa(compiled(&self.text)?).ok());
        program.as_ref().is_some_and(|program| program.is_match(&mut program.create_cache(), text))
    }
}

/// None if it is too large.
fn compiled(text: &str) -> Option<NFA> {
    let config = Config::new().nfa_size_limit(Some(MAX_COMPILED_PATTERNS));
    let syntax = syntax::Config::new().nest_limit(MAX_DEPTH as u32);
    Compiler::new().configure(config).syntax(syntax).build(text).ok()
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
