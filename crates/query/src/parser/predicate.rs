//! Predicates: OR binds least, then AND, then NOT. How deep they nest and how many tests they have is limited, because what
//! comes after walks them recursively.

use super::scope::Asks;
use super::{Parsed, Parser, Stop};
use crate::error::Problem;
use crate::keyword::{Keyword, TESTS};
use crate::lexer::Token;
use crate::limits::{MAX_COMPILED_PATTERNS, MAX_DEPTH, MAX_PATTERNS, MAX_PREDICATE_NODES};
use crate::span::Span;
use crate::tree::{
    Amount, Comparison, Direction, Field, Literal, NoPattern, NoPhrase, Operand, Pattern, Phrase, Predicate,
    Test,
};

/// How strongly what is to the left holds on to an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Or,
    And,
    Not,
}

impl Parser<'_> {
    pub(super) fn predicate(&mut self) -> Parsed<Predicate> {
        self.scope.depth = 0;
        self.binding(Strength::Or)
    }

    /// What operators of at least that strength make of what comes next.
    fn binding(&mut self, least: Strength) -> Parsed<Predicate> {
        let first = self.prefix()?;
        let mut left = first;
        for (keyword, strength) in [(Keyword::And, Strength::And), (Keyword::Or, Strength::Or)] {
            if least > strength || !self.is(keyword) {
                continue;
            }
            let mut parts = vec![left];
            while let Some(span) = self.accept(keyword) {
                self.count(span)?;
                // Each part is made of what binds more strongly.
                let next = if strength == Strength::Or { Strength::And } else { Strength::Not };
                parts.push(self.binding(next)?);
            }
            left = if strength == Strength::And { Predicate::and(parts) } else { Predicate::or(parts) };
        }
        Ok(left)
    }

    /// A test, or a predicate behind NOT or in parentheses.
    fn prefix(&mut self) -> Parsed<Predicate> {
        let span = self.span();
        if self.accept(Keyword::Not).is_some() {
            self.count(span)?;
            let inner = self.deeper(span, Self::prefix)?;
            return Ok(Predicate::Not(Box::new(inner)));
        }
        if self.accept_sign("(").is_some() {
            let inner = self.deeper(span, |parser| parser.binding(Strength::Or))?;
            if self.accept_sign(")").is_none() {
                return Err(self.unexpected("`)`, AND or OR", &[Keyword::And, Keyword::Or]));
            }
            return Ok(inner);
        }
        self.count(span)?;
        self.test()
    }

    fn deeper<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.scope.depth == MAX_DEPTH {
            return Err(self.fail(span, &Problem::TooDeep, None));
        }
        self.scope.depth += 1;
        let result = read(self);
        self.scope.depth -= 1;
        result
    }

    fn count(&mut self, span: Span) -> Parsed<()> {
        self.scope.n_nodes += 1;
        if self.scope.n_nodes > MAX_PREDICATE_NODES {
            let problem =
                Problem::TooMany { what: "tests and operators", limit: MAX_PREDICATE_NODES, whole: "query" };
            // The rest of the query would only say the same again.
            if self.scope.n_nodes == MAX_PREDICATE_NODES + 1 {
                self.note(span, &problem, None);
            }
            return Err(Stop);
        }
        Ok(())
    }

    fn test(&mut self) -> Parsed<Predicate> {
        let (operand, span) = self.operand()?;
        let (test, asks) = self.test_of(&operand)?;
        self.scope.mention(operand.clone(), span, asks);
        Ok(Predicate::Test(operand, test))
    }

    fn operand(&mut self) -> Parsed<(Operand, Span)> {
        let span = self.span();
        if *self.token() != Token::Word || self.keyword().is_some() {
            return Err(self.unexpected("the name of a select, NOT or `(`", &[Keyword::Not]));
        }
        let name = self.name("the name of a select")?;
        if self.accept_sign(".").is_none() {
            return Ok((Operand { name, field: None }, span));
        }
        let field_span = self.span();
        let word = if *self.token() == Token::Word { self.source(field_span) } else { "" };
        let Some(field) = Field::ALL.into_iter().find(|field| field.name().eq_ignore_ascii_case(word)) else {
            let names = Field::ALL.map(Field::name);
            return Err(self.unexpected_word("title, link, author, published, text or value", &names));
        };
        self.at += 1;
        Ok((Operand { name, field: Some(field) }, span.to(field_span)))
    }

    fn test_of(&mut self, operand: &Operand) -> Parsed<(Test, Asks)> {
        let span = self.span();
        let comparison = Comparison::ALL.into_iter().find(|comparison| self.is_sign(comparison.sign()));
        if let Some(comparison) = comparison {
            self.at += 1;
            return self.comparison(operand, comparison);
        }
        let Some(keyword) = self.keyword().filter(|keyword| TESTS.contains(keyword)) else {
            return Err(self.no_test());
        };
        self.at += 1;
        let direction = match keyword {
            Keyword::Contains => return self.contains(),
            Keyword::Matches => return self.matches(span),
            Keyword::Changes => return Ok((Test::Changes, Asks::Before("CHANGES"))),
            Keyword::Rises => Direction::Rises,
            Keyword::Drops => Direction::Drops,
            _ => Direction::Moves,
        };
        let by = if self.accept(Keyword::By).is_some() { Some(self.amount()?) } else { None };
        Ok((Test::Moves(direction, by), Asks::Before(keyword.text())))
    }

    fn no_test(&mut self) -> Stop {
        let expected = "CONTAINS, MATCHES, RISES, DROPS, MOVES, CHANGES or a comparison";
        self.unexpected(expected, TESTS)
    }

    fn contains(&mut self) -> Parsed<(Test, Asks)> {
        let (text, span) = self.text("words in quotes")?;
        let phrase = Phrase::new(&text).map_err(|no_phrase| match no_phrase {
            NoPhrase::NoWord => {
                let hint =
                    "without %, only letters and digits count: write '%…%' to look for signs".to_owned();
                self.fail(span, &Problem::NoWord(text.clone()), Some(hint))
            }
            NoPhrase::Anything => self.fail(span, &Problem::AnyText(text.clone()), None),
        })?;
        Ok((Test::Contains(phrase), Asks::Text("CONTAINS")))
    }

    fn matches(&mut self, keyword: Span) -> Parsed<(Test, Asks)> {
        let (text, span) = self.text("a regular expression in quotes")?;
        self.n_patterns += 1;
        if self.n_patterns > MAX_PATTERNS {
            let problem =
                Problem::TooMany { what: "regular expressions", limit: MAX_PATTERNS, whole: "text" };
            if self.n_patterns == MAX_PATTERNS + 1 {
                self.note(keyword, &problem, None);
            }
            return Err(Stop);
        }
        let pattern = Pattern::new(&text).map_err(|NoPattern { reason, place }| {
            let at = place.map_or(span, |(start, end)| within_quotes(self.source(span), span, start, end));
            self.fail(at, &Problem::BadPattern(reason), None)
        })?;
        self.compiled_bytes += pattern.n_bytes();
        if self.compiled_bytes > MAX_COMPILED_PATTERNS {
            return Err(self.fail(span, &Problem::PatternsTooLarge(self.compiled_bytes), None));
        }
        Ok((Test::Matches(pattern), Asks::Text("MATCHES")))
    }

    fn comparison(&mut self, operand: &Operand, comparison: Comparison) -> Parsed<(Test, Asks)> {
        let sign = comparison.sign();
        let span = self.span();
        if operand.field == Some(Field::Published) && *self.token() != Token::Number {
            let date = self.date()?;
            return Ok((Test::Compares(comparison, Literal::Date(date)), Asks::Date));
        }
        if let Token::Text(text) = self.token() {
            let text = text.clone();
            if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
                let number = text.trim().parse::<f64>().is_ok();
                let hint = number.then(|| format!("write the number without quotes: {sign} {}", text.trim()));
                return Err(self.fail(span, &Problem::TextNotOrdered(sign), hint));
            }
            let (text, _) = self.text("a text")?;
            return Ok((Test::Compares(comparison, Literal::Text(text)), Asks::Text(sign)));
        }
        let (number, _) = self.number("a number, or a text in quotes")?;
        Ok((Test::Compares(comparison, Literal::Number(number)), Asks::Number(sign)))
    }

    fn amount(&mut self) -> Parsed<Amount> {
        let (number, span) = self.number("a number, perhaps with %")?;
        if number <= 0.0 {
            self.note(span, &Problem::OutOfRange { what: "BY", value: number, expected: "above 0" }, None);
        }
        Ok(if self.accept_sign("%").is_some() { Amount::Percent(number) } else { Amount::Absolute(number) })
    }
}

/// Bytes of the content of a text in quotes, as bytes of the whole text: each quote inside takes two.
fn within_quotes(source: &str, span: Span, start: usize, end: usize) -> Span {
    let content = &source.as_bytes()[1..source.len() - 1];
    let place = |wanted: usize| {
        let (mut read, mut at) = (0, 0);
        while read < wanted && at < content.len() {
            at += if content[at] == b'\'' { 2 } else { 1 };
            read += 1;
        }
        span.start + 1 + at
    };
    Span { start: place(start), end: place(end).max(place(start)) }
}
