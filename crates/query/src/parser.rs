//! Text to trees, by recursive descent; predicates by the strength of their operators. By hand, because the grammar has some
//! twenty rules and most of the work is what a parser library does not take off: good messages, and going on after an error.
//!
//! An error is noted where it is found, and reading goes on at the next clause. A text with any error gives no query.

mod cursor;
mod literal;
mod predicate;
mod scope;
mod select;

use crate::claim::{Claim, Judge, Objection};
use crate::error::{Problem, QueryError, Refused};
use crate::keyword::{Keyword, OPTIONS};
use crate::lexer::{Token, tokens};
use crate::limits::{MAX_LIFE, MAX_QUERIES, MAX_SELECTS, MAX_TEXT, MAX_WEIGHT};
use crate::span::Span;
use crate::tree::{Body, End, Need, Predicate, Query, SelectBlock, Watch};
use cursor::quoted;
use scope::Scope;

/// The error was noted; reading goes on at the next clause.
#[derive(Debug)]
struct Stop;

type Parsed<T> = Result<T, Stop>;

/// Reads and checks a text of queries.
///
/// All errors that can be told apart are reported at once. A text with an error gives no query.
pub fn parse(text: &str) -> Result<Vec<Query>, Refused> {
    parse_with(text, |_| Ok(()))
}

/// The same, and what `judge` objects to is an error at its place, among the others.
///
/// ```
/// use dunlin_query::{Claim, Objection, parse_with};
///
/// let text = "QUERY q SELECT item AS post FROM source 'blog' EVERY 1 HOUR";
/// let refused = parse_with(text, |claim| match claim {
///     Claim::From(from) => Err(Objection { message: format!("no {from} here"), hint: None }),
///     _ => Ok(()),
/// });
/// assert_eq!(refused.unwrap_err().to_string(), "line 1, column 41: no source 'blog' here");
/// ```
pub fn parse_with(
    text: &str,
    mut judge: impl FnMut(Claim<'_>) -> Result<(), Objection>,
) -> Result<Vec<Query>, Refused> {
    if text.len() > MAX_TEXT {
        let at = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let span = Span { start: at, end: at };
        return Err(Refused(vec![QueryError::new(text, span, &Problem::TextTooLong(text.len()), None)]));
    }
    let mut parser = Parser {
        text,
        tokens: tokens(text),
        at: 0,
        errors: Vec::new(),
        scope: Scope::default(),
        n_patterns: 0,
        compiled_bytes: 0,
        judge: &mut judge,
    };
    let queries = parser.file();
    let mut errors = parser.errors;
    errors.sort_by_key(|error| error.span);
    if errors.is_empty() { Ok(queries) } else { Err(Refused(errors)) }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    errors: Vec<QueryError>,
    scope: Scope,
    n_patterns: usize,
    /// What the regular expressions of this query take.
    compiled_bytes: usize,
    judge: &'t mut Judge<'t>,
}

impl Parser<'_> {
    fn file(&mut self) -> Vec<Query> {
        let mut queries: Vec<Query> = Vec::new();
        while *self.token() != Token::End || (queries.is_empty() && self.errors.is_empty()) {
            if self.has_enough_errors() {
                break;
            }
            if self.expect(Keyword::Query).is_err() {
                self.skip_to(|keyword| keyword == Keyword::Query);
                if *self.token() == Token::End {
                    break;
                }
                continue;
            }
            if queries.len() == MAX_QUERIES {
                let problem = Problem::TooMany { what: "queries", limit: MAX_QUERIES, whole: "text" };
                self.note(self.last_span(), &problem, None);
                break;
            }
            let name_span = self.span();
            let Ok(query) = self.query() else {
                self.skip_to(|keyword| keyword == Keyword::Query);
                continue;
            };
            if queries.iter().any(|other| other.name == query.name) {
                self.note(name_span, &Problem::DuplicateQuery(query.name.clone()), None);
            }
            queries.push(query);
        }
        queries
    }

    /// From behind QUERY on. What is broken inside is noted and left out.
    fn query(&mut self) -> Parsed<Query> {
        self.scope = Scope::default();
        self.compiled_bytes = 0;
        let name = self.name("a name for the query")?;
        let body = if self.is(Keyword::Watch) {
            let mut watches = Vec::new();
            while let Some(span) = self.accept(Keyword::Watch) {
                match self.watch() {
                    Ok(_) if watches.len() == MAX_SELECTS => {
                        let problem =
                            Problem::TooMany { what: "WATCHes", limit: MAX_SELECTS, whole: "query" };
                        self.note(span, &problem, None);
                    }
                    Ok(watch) => watches.push(watch),
                    Err(Stop) => self.skip_to(|word| word == Keyword::Watch || ends_a_select(word)),
                }
            }
            Body::Watch(watches)
        } else {
            Body::Select(self.select_block()?)
        };
        let mut query = Query { name, body, filter: None, weight: 1.0, end: None };
        self.options(&mut query);
        self.check_names(&query.body);
        if *self.token() != Token::End && !self.is(Keyword::Query) {
            return Err(self.out_of_place());
        }
        Ok(query)
    }

    fn select_block(&mut self) -> Parsed<SelectBlock> {
        let mut need = Need::All;
        let mut any = None;
        if self.accept(Keyword::All).is_some() {
            self.expect(Keyword::Of)?;
        } else if self.accept(Keyword::Any).is_some() {
            let span = self.span();
            any = Some((self.whole_number("how many of the selects suffice")?, span));
            self.expect(Keyword::Of)?;
        }
        if !self.is(Keyword::Select) {
            let starts = [Keyword::Select, Keyword::Watch, Keyword::All, Keyword::Any];
            return Err(self.unexpected("SELECT or WATCH", &starts));
        }
        let (mut selects, mut n_selects) = (Vec::new(), 0);
        while let Some(span) = self.accept(Keyword::Select) {
            n_selects += 1;
            if n_selects == MAX_SELECTS + 1 {
                let problem = Problem::TooMany { what: "SELECTs", limit: MAX_SELECTS, whole: "query" };
                self.note(span, &problem, None);
            }
            match self.select(span, n_selects == 1) {
                Ok(select) => selects.push(select),
                Err(Stop) => self.skip_to(ends_a_select),
            }
        }
        if let Some(((text, number), span)) = any {
            match number.and_then(|number| usize::try_from(number).ok()) {
                Some(number) if (1..=n_selects).contains(&number) => need = Need::Any(number),
                _ => self.note(span, &Problem::NeedOutOfRange { asked: text, there: n_selects }, None),
            }
        }
        Ok(SelectBlock { need, selects })
    }

    fn watch(&mut self) -> Parsed<Watch> {
        let (words, span) = self.text("the words to watch for, in quotes")?;
        if crate::words(&words).next().is_none() {
            self.note(span, &Problem::NoWord(words.clone()), None);
        }
        self.submit(span, Claim::Watch(&words));
        self.expect(Keyword::Importance)?;
        let importance = self
            .number_within("IMPORTANCE", "above 0 and at most 1", |number| number > 0.0 && number <= 1.0)?;
        Ok(Watch { words, importance })
    }

    fn options(&mut self, query: &mut Query) {
        let (mut weighed, mut filtered) = (false, false);
        while let Some(option) = OPTIONS.iter().copied().find(|option| self.is(*option)) {
            let span = self.span();
            self.at += 1;
            let read = match option {
                Keyword::Where => {
                    self.note_if_twice(&mut filtered, span, "WHERE");
                    self.filter().map(|filter| query.filter = Some(filter))
                }
                Keyword::Weight => {
                    self.note_if_twice(&mut weighed, span, "WEIGHT");
                    let expected = "above 0 and at most 1000000";
                    let weight =
                        self.number_within("WEIGHT", expected, |number| number > 0.0 && number <= MAX_WEIGHT);
                    weight.map(|weight| query.weight = weight)
                }
                _ => {
                    let end = self.end(option);
                    match (query.end, &end) {
                        (None, _) => {}
                        (Some(End::Until(_)), Ok(End::Until(_))) => {
                            self.note(span, &Problem::Twice { what: "UNTIL" }, None);
                        }
                        (Some(End::For(_)), Ok(End::For(_))) => {
                            self.note(span, &Problem::Twice { what: "FOR" }, None);
                        }
                        _ => self.note(span, &Problem::TwoEnds, Some("keep one of them".to_owned())),
                    }
                    end.map(|end| query.end = Some(end))
                }
            };
            if read.is_err() {
                self.skip_to(ends_a_select);
            }
        }
    }

    /// Something behind the options that is neither one nor the next query.
    fn out_of_place(&mut self) -> Stop {
        let expected = "WHERE, WEIGHT, UNTIL, FOR or QUERY";
        if !self.keyword().is_some_and(Keyword::begins_a_clause) {
            return self.unexpected(expected, &[OPTIONS, &[Keyword::Query]].concat());
        }
        let found = quoted(self.source(self.span()));
        let problem = Problem::Expected { expected: expected.to_owned(), found };
        let hint = "each SELECT comes with all its clauses before these, and a WATCH in a query of its own"
            .to_owned();
        self.fail(self.span(), &problem, Some(hint))
    }

    fn filter(&mut self) -> Parsed<Predicate> {
        self.scope.asks_from(None);
        self.predicate()
    }

    fn end(&mut self, option: Keyword) -> Parsed<End> {
        if option == Keyword::Until {
            return self.date().map(End::Until);
        }
        let (duration, span) = self.duration()?;
        if duration.is_zero() || duration > MAX_LIFE {
            let value = crate::format::duration(duration);
            self.note(
                span,
                &Problem::BadDuration { what: "a life", value, expected: "1 second to 3660 days" },
                None,
            );
        }
        Ok(End::For(duration))
    }

    fn note_if_twice(&mut self, seen: &mut bool, span: Span, what: &'static str) {
        if std::mem::replace(seen, true) {
            self.note(span, &Problem::Twice { what }, None);
        }
    }
}

/// Whether a keyword begins something that is no part of the SELECT before.
fn ends_a_select(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Query | Keyword::Select) || OPTIONS.contains(&keyword)
}
