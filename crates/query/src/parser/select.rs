//! One SELECT: what, from where, and in which interval. Clauses may come in any order, each once.

use url::Url;

use super::cursor::quoted;
use super::{Parsed, Parser, Stop, ends_a_select};
use crate::claim::Claim;
use crate::error::Problem;
use crate::keyword::{Keyword, SELECT_CLAUSES};
use crate::lexer::Token;
use crate::limits::{MAX_INTERVAL, MAX_TIMES, PERIODS};
use crate::span::Span;
use crate::tree::{From, Length, Select, Start, TimesOfDay, What};

/// What the clauses of a SELECT said so far, and where.
#[derive(Default)]
struct Clauses {
    /// With the place of the text alone.
    pick: Option<((String, Span), Span)>,
    start: Option<(Start, Span)>,
    length: Option<(Length, Span)>,
    /// A clause could not be read, so that something seems to be missing that is not.
    is_broken: bool,
}

impl Parser<'_> {
    /// From behind SELECT on, whose place is `span`.
    pub(super) fn select(&mut self, span: Span, is_trigger: bool) -> Parsed<Select> {
        let what = self.what()?;
        self.expect(Keyword::As)?;
        let name_span = self.span();
        let name = self.name("a name for what is selected")?;
        if !self.scope.declare(&name, what) {
            self.note(name_span, &Problem::DuplicateName(name.clone()), None);
        }
        self.expect(Keyword::From)?;
        let (from_span, n_errors) = (self.span(), self.errors.len());
        let from = self.from()?;
        if self.errors.len() == n_errors {
            self.submit(self.last_span(), Claim::From(&from));
        }
        if what == What::Value && matches!(from, From::Feed(_)) {
            let hint = "write SELECT item, or name a page or JSON".to_owned();
            self.note(from_span, &Problem::NoValues("feed"), Some(hint));
        }
        let clauses = self.clauses(is_trigger);
        let Clauses { pick, start, length, is_broken } = clauses;
        if let Some(((text, text_span), pick_span)) = &pick {
            let (kind, hint) = match from {
                From::Feed(_) => ("feed", "a feed has items; ask for their fields in a predicate"),
                From::SourceId(_) | From::SourceName(_) => {
                    ("source", "what is picked of a source is part of the source")
                }
                From::Page(_) | From::Json(_) => ("", ""),
            };
            if !kind.is_empty() {
                self.note(*pick_span, &Problem::NoPick(kind), Some(hint.to_owned()));
            } else if !text.trim().is_empty() {
                self.submit(*text_span, Claim::Pick { from: &from, text });
            }
        }
        if is_trigger && start.is_none() && !is_broken {
            let hint = "add EVERY, AT or ON CHANGE to it".to_owned();
            self.note(span, &Problem::NoTrigger, Some(hint));
        }
        if let (Some((Start::Every(every), _)), Some((Length::Within(within), span))) = (&start, &length)
            && within > every
        {
            let [within, every] = [*within, *every].map(crate::format::duration);
            self.note(*span, &Problem::WithinLongerThanEvery { within, every }, None);
        }
        let (pick, start, length) = (pick.map(first).map(first), start.map(first), length.map(first));
        Ok(Select { what, name, from, pick, start, length })
    }

    fn what(&mut self) -> Parsed<What> {
        let word = if *self.token() == Token::Word { self.source(self.span()) } else { "" };
        let what = match word {
            word if word.eq_ignore_ascii_case("item") => What::Item,
            word if word.eq_ignore_ascii_case("value") => What::Value,
            _ => return Err(self.unexpected_word("item or value", &["item", "value"])),
        };
        self.at += 1;
        Ok(what)
    }

    fn from(&mut self) -> Parsed<From> {
        let word = if *self.token() == Token::Word {
            self.source(self.span()).to_ascii_lowercase()
        } else {
            String::new()
        };
        let from: fn(String) -> From = match word.as_str() {
            "feed" => From::Feed,
            "page" => From::Page,
            "json" => From::Json,
            "source" => {
                self.at += 1;
                return self.source_named();
            }
            _ if matches!(self.token(), Token::Text(_)) => {
                let hint =
                    "say what is there: feed, page or json, or source for one that is watched".to_owned();
                let found = quoted(self.source(self.span()));
                let problem = Problem::Expected { expected: "feed, page, json or source".to_owned(), found };
                return Err(self.fail(self.span(), &problem, Some(hint)));
            }
            _ => {
                return Err(
                    self.unexpected_word("feed, page, json or source", &["feed", "page", "json", "source"])
                );
            }
        };
        self.at += 1;
        let (url, span) = self.text("a URL in quotes")?;
        if let Err(reason) = check_url(&url) {
            self.note(span, &Problem::BadUrl { url: url.clone(), reason }, None);
        }
        Ok(from(url))
    }

    fn source_named(&mut self) -> Parsed<From> {
        if *self.token() == Token::Number {
            let span = self.span();
            let (text, number) = self.whole_number("the number of a source")?;
            let problem =
                || Problem::Expected { expected: "the number of a source".to_owned(), found: quoted(&text) };
            return number.ok_or(()).map_err(|()| self.fail(span, &problem(), None)).map(From::SourceId);
        }
        let (name, _) =
            self.some_text("the number of a source, or its name in quotes", "the name of the source")?;
        Ok(From::SourceName(name))
    }

    fn clauses(&mut self, is_trigger: bool) -> Clauses {
        let mut clauses = Clauses::default();
        loop {
            let span = self.span();
            let Some(keyword) = self.keyword().filter(|keyword| SELECT_CLAUSES.contains(keyword)) else {
                if *self.token() == Token::End || self.keyword().is_some_and(ends_a_select) {
                    return clauses;
                }
                // Something else: said once, and skipped.
                self.unexpected_clause();
                clauses.is_broken = true;
                self.skip_to(Keyword::begins_a_clause);
                if self.keyword().is_none_or(ends_a_select) || self.is(Keyword::Watch) {
                    return clauses;
                }
                continue;
            };
            self.at += 1;
            if self.clause(keyword, span, is_trigger, &mut clauses).is_err() {
                clauses.is_broken = true;
                self.skip_to(Keyword::begins_a_clause);
            }
        }
    }

    fn unexpected_clause(&mut self) {
        let others =
            [Keyword::Where, Keyword::Weight, Keyword::Until, Keyword::For, Keyword::Select, Keyword::Query];
        let Stop = self.unexpected(
            "a clause of the SELECT, an option, SELECT or QUERY",
            &[SELECT_CLAUSES, &others].concat(),
        );
    }

    fn clause(
        &mut self,
        keyword: Keyword,
        span: Span,
        is_trigger: bool,
        clauses: &mut Clauses,
    ) -> Parsed<()> {
        match keyword {
            Keyword::Pick => {
                let (pick, end) = self.some_text("a CSS selector or a JSON path, in quotes", "PICK")?;
                self.keep_once(&mut clauses.pick, (pick, end), span.to(end), "PICK");
            }
            Keyword::Within => {
                let (within, end) = self.duration()?;
                if within.is_zero() || within > MAX_INTERVAL {
                    let value = crate::format::duration(within);
                    self.note(
                        end,
                        &Problem::BadDuration {
                            what: "an interval",
                            value,
                            expected: "1 second to 366 days",
                        },
                        None,
                    );
                }
                self.keep_once(&mut clauses.length, Length::Within(within), span.to(end), "the length");
            }
            Keyword::Overwritten => {
                self.keep_once(&mut clauses.length, Length::Overwritten, span, "the length");
            }
            _ => {
                let start = self.start(keyword, is_trigger, span)?;
                self.keep_once(&mut clauses.start, start, span.to(self.last_span()), "the start");
            }
        }
        Ok(())
    }

    fn start(&mut self, keyword: Keyword, is_trigger: bool, span: Span) -> Parsed<Start> {
        match keyword {
            Keyword::Every => {
                let (every, span) = self.duration()?;
                if !(PERIODS.0..=PERIODS.1).contains(&every) {
                    let value = crate::format::duration(every);
                    self.note(
                        span,
                        &Problem::BadDuration { what: "a period", value, expected: "1 second to 366 days" },
                        None,
                    );
                    return Err(Stop);
                }
                Ok(Start::Every(every))
            }
            Keyword::At => self.times_of_day().map(Start::At),
            Keyword::On => self.expect(Keyword::Change).map(|_| Start::OnChange),
            _ => {
                if is_trigger {
                    let hint =
                        "begin with the source whose news decides, with EVERY, AT or ON CHANGE".to_owned();
                    return Err(self.fail(span, &Problem::TriggerWaits, Some(hint)));
                }
                self.scope.asks_from_the_last();
                self.predicate().map(Start::When)
            }
        }
    }

    fn times_of_day(&mut self) -> Parsed<TimesOfDay> {
        let span = self.span();
        let mut minutes = vec![self.time_of_day()?];
        while self.accept_sign(",").is_some() {
            minutes.push(self.time_of_day()?);
            if minutes.len() > MAX_TIMES {
                let problem =
                    Problem::TooMany { what: "times of the day", limit: MAX_TIMES, whole: "SELECT" };
                return Err(self.fail(span, &problem, None));
            }
        }
        minutes.sort_unstable();
        minutes.dedup();
        let offset = if self.accept(Keyword::In).is_some() { self.offset()? } else { 0 };
        Ok(TimesOfDay { minutes, offset })
    }

    /// Keeps the first of its kind.
    fn keep_once<T>(&mut self, place: &mut Option<(T, Span)>, value: T, span: Span, what: &'static str) {
        if place.is_some() {
            self.note(span, &Problem::Twice { what }, None);
        } else {
            *place = Some((value, span));
        }
    }
}

fn first<T>((value, _): (T, Span)) -> T {
    value
}

/// Whether requests can be made of a URL, as far as its text tells.
fn check_url(url: &str) -> Result<(), String> {
    let url = Url::parse(url).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => "it does not begin with https:// or http://".to_owned(),
        error => error.to_string(),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("expected http or https, not {}", url.scheme()));
    }
    Ok(())
}
