//! A regular expression that was read, and is matched in time linear in the text. Its size is limited. What it takes to match it is
//! kept from the first time on that it is asked, and little of it: there may be thousands, and the texts are short.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{Compiler, Config, NFA};
use regex_automata::util::syntax;

use crate::limits::{MAX_COMPILED_PATTERNS, MAX_DEPTH, MAX_PATTERN};

/// The text after MATCHES.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    n_bytes: usize,
    matcher: OnceLock<Option<Arc<Matcher>>>,
}

/// What matches it: an automaton that is made as texts are read, and a slower machine for where that does not do.
#[derive(Debug)]
struct Matcher {
    automaton: Option<(DFA, Mutex<Cache>)>,
    machine: PikeVM,
}

/// Bytes of the automaton that are kept at the most.
const AUTOMATON: usize = 32 << 10;
/// After being thrown away so often in one text, it is no use for that.
const CLEARED: usize = 4;

impl Matcher {
    fn of(text: &str) -> Option<Self> {
        let program = compiled(text)?;
        let config = DFA::config()
            .cache_capacity(AUTOMATON)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(CLEARED))
            .unicode_word_boundary(true);
        let automaton = DFA::builder().configure(config).build_from_nfa(program.clone()).ok();
        let automaton = automaton.map(|dfa| {
            let cache = Mutex::new(dfa.create_cache());
            (dfa, cache)
        });
        Some(Self { automaton, machine: PikeVM::new_from_nfa(program).ok()? })
    }

    fn is_in(&self, text: &str) -> bool {
        let found = self.automaton.as_ref().and_then(|(dfa, cache)| {
            let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
            dfa.try_search_fwd(&mut cache, &Input::new(text).earliest(true)).ok()
        });
        let by_machine = || self.machine.is_match(&mut self.machine.create_cache(), text);
        found.map_or_else(by_machine, |end| end.is_some())
    }
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
        Ok(Self { text: text.to_owned(), n_bytes, matcher: OnceLock::new() })
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
        let matcher = self.matcher.get_or_init(|| Matcher::of(&self.text).map(Arc::new));
        matcher.as_ref().is_some_and(|matcher| matcher.is_in(text))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Also where the automaton gives up: word boundaries beside letters beyond ASCII, and many states.
        #[test]
        fn the_automaton_finds_what_the_machine_finds(
            pattern in prop::sample::select(vec![
                r"(?i)oil|gas", r"\bäh\b", r"^a.*b$", r"[a-c]{2,4}x", r"(?:a|b|ab)*c", r"\w+\s\d", r"(?m)^ä$", r"[ab]*a[ab]{9}",
            ]),
            text in "[abcxäOIL oil1\n]{0,60}",
        ) {
            let machine = PikeVM::new(pattern).unwrap();
            let expected = machine.is_match(&mut machine.create_cache(), &text);
            let asked = Pattern::new(pattern).unwrap_or_else(|_| panic!("{pattern}"));
            prop_assert_eq!(asked.is_in(&text), expected);
        }
    }
}
