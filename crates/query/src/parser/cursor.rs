//! Moving through the tokens of a text, and saying what was expected of them.

use super::{Parsed, Parser, Stop};
use crate::claim::Claim;
use crate::error::{Problem, QueryError};
use crate::keyword::Keyword;
use crate::lexer::Token;
use crate::limits::{MAX_ERRORS, MAX_NAME};
use crate::nearest::nearest;
use crate::span::Span;

impl<'t> Parser<'t> {
    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub(super) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(super) fn source(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    pub(super) fn keyword(&self) -> Option<Keyword> {
        if *self.token() == Token::Word { Keyword::of(self.source(self.span())) } else { None }
    }

    pub(super) fn is(&self, keyword: Keyword) -> bool {
        self.keyword() == Some(keyword)
    }

    /// Takes the keyword if it is next.
    pub(super) fn accept(&mut self, keyword: Keyword) -> Option<Span> {
        let span = self.span();
        self.is(keyword).then(|| {
            self.at += 1;
            span
        })
    }

    pub(super) fn expect(&mut self, keyword: Keyword) -> Parsed<Span> {
        self.accept(keyword).ok_or(()).map_err(|()| self.unexpected(keyword.text(), &[keyword]))
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        *self.token() == Token::Sign && self.source(self.span()) == sign
    }

    pub(super) fn accept_sign(&mut self, sign: &str) -> Option<Span> {
        let span = self.span();
        self.is_sign(sign).then(|| {
            self.at += 1;
            span
        })
    }

    pub(super) fn name(&mut self, expected: &str) -> Parsed<String> {
        let span = self.span();
        if *self.token() != Token::Word {
            return Err(self.unexpected(expected, &[]));
        }
        let name = self.source(span);
        if Keyword::of(name).is_some() {
            return Err(self.fail(span, &Problem::ReservedName(name.to_owned()), None));
        }
        self.at += 1;
        if name.len() > MAX_NAME {
            let problem = Problem::TooLong { what: "name", length: name.len(), limit: MAX_NAME };
            return Err(self.fail(span, &problem, None));
        }
        Ok(name.to_owned())
    }

    pub(super) fn note(&mut self, span: Span, problem: &Problem, hint: Option<String>) {
        if !self.has_enough_errors() {
            self.errors.push(QueryError::new(self.text, span, problem, hint));
        }
    }

    /// Asks the caller about something at a place, and notes an objection.
    pub(super) fn submit(&mut self, span: Span, claim: Claim<'_>) {
        // To judge may be work, of which nobody would see the result.
        if self.has_enough_errors() {
            return;
        }
        if let Err(objection) = (self.judge)(claim) {
            self.note(span, &Problem::Objection(objection.message), objection.hint);
        }
    }

    /// Whether more errors would not be shown.
    pub(super) fn has_enough_errors(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    pub(super) fn fail(&mut self, span: Span, problem: &Problem, hint: Option<String>) -> Stop {
        self.note(span, problem, hint);
        Stop
    }

    /// Says what was expected here, and which of the candidates is nearest to what was found.
    pub(super) fn unexpected(&mut self, expected: &str, candidates: &[Keyword]) -> Stop {
        self.unexpected_word(expected, &candidates.iter().map(|keyword| keyword.text()).collect::<Vec<_>>())
    }

    pub(super) fn unexpected_word(&mut self, expected: &str, candidates: &[&str]) -> Stop {
        let span = self.span();
        if *self.token() == Token::OpenText {
            let hint = "write a quote inside as two: ''".to_owned();
            return self.fail(span, &Problem::OpenString, Some(hint));
        }
        let found = match self.token() {
            Token::End => "the end of the text".to_owned(),
            _ => quoted(self.source(span)),
        };
        let hint = match self.token() {
            Token::Word => nearest(self.source(span), candidates.iter().copied())
                .filter(|word| !word.eq_ignore_ascii_case(self.source(span)))
                .map(|word| format!("did you mean {word}?")),
            Token::Odd if ["\"", "`", "‘", "’", "“", "”"].contains(&self.source(span)) => {
                Some("texts stand in single quotes: 'like this'".to_owned())
            }
            _ => None,
        };
        self.fail(span, &Problem::Expected { expected: expected.to_owned(), found }, hint)
    }

    /// Goes to the next keyword that is wanted, or the end.
    pub(super) fn skip_to(&mut self, wanted: impl Fn(Keyword) -> bool) {
        while *self.token() != Token::End && !self.keyword().is_some_and(&wanted) {
            self.at += 1;
        }
    }
}

/// A piece of the text in a message, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    let mut letters = text.chars();
    let shown: String = letters.by_ref().take(30).collect();
    if letters.next().is_some() { format!("`{shown}…`") } else { format!("`{shown}`") }
}
