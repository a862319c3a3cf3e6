//! Texts, numbers, durations, times and dates.

use std::time::Duration;

use dunlin_core::Time;

use super::{Parsed, Parser};
use crate::calendar;
use crate::error::Problem;
use crate::lexer::Token;
use crate::limits::MAX_STRING;
use crate::span::Span;

/// The units of durations: every way to write one, and its seconds.
const UNITS: &[(&str, f64)] = &[
    ("SECONDS", 1.0),
    ("SECOND", 1.0),
    ("s", 1.0),
    ("MINUTES", 60.0),
    ("MINUTE", 60.0),
    ("m", 60.0),
    ("HOURS", 3600.0),
    ("HOUR", 3600.0),
    ("h", 3600.0),
    ("DAYS", 86_400.0),
    ("DAY", 86_400.0),
    ("d", 86_400.0),
    ("WEEKS", 604_800.0),
    ("WEEK", 604_800.0),
    ("w", 604_800.0),
];

/// Longer durations are cut to this, which is beyond every limit.
const LONGEST: f64 = 1e12;

impl Parser<'_> {
    /// A text in quotes.
    pub(super) fn text(&mut self, expected: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        let Token::Text(text) = self.token() else {
            return Err(self.unexpected(expected, &[]));
        };
        let text = text.clone();
        self.at += 1;
        if text.len() > MAX_STRING {
            let problem = Problem::TooLong { what: "text in quotes", length: text.len(), limit: MAX_STRING };
            return Err(self.fail(span, &problem, None));
        }
        Ok((text, span))
    }

    /// A text in quotes that says something.
    pub(super) fn some_text(&mut self, expected: &str, what: &'static str) -> Parsed<(String, Span)> {
        let (text, span) = self.text(expected)?;
        if text.trim().is_empty() {
            self.note(span, &Problem::Empty(what), None);
        }
        Ok((text, span))
    }

    pub(super) fn number(&mut self, expected: &str) -> Parsed<(f64, Span)> {
        let span = self.span();
        let number = if *self.token() == Token::Number { self.source(span).parse().ok() } else { None };
        let Some(number) = number.filter(|number: &f64| number.is_finite()) else {
            return Err(self.unexpected(expected, &[]));
        };
        self.at += 1;
        Ok((number, span))
    }

    pub(super) fn number_within(
        &mut self,
        what: &'static str,
        expected: &'static str,
        is_within: impl Fn(f64) -> bool,
    ) -> Parsed<f64> {
        let (number, span) = self.number("a number")?;
        if !is_within(number) {
            self.note(span, &Problem::OutOfRange { what, value: number, expected }, None);
        }
        Ok(number)
    }

    /// A number as it was written, and its value if it is a whole one.
    pub(super) fn whole_number(&mut self, expected: &str) -> Parsed<(String, Option<u64>)> {
        let span = self.span();
        if *self.token() != Token::Number {
            return Err(self.unexpected(expected, &[]));
        }
        self.at += 1;
        let text = self.source(span).to_owned();
        let number = text.parse().ok();
        Ok((text, number))
    }

    /// A number of whole seconds, in any unit.
    pub(super) fn duration(&mut self) -> Parsed<(Duration, Span)> {
        let (number, span) = self.number("a duration, such as 10 MINUTES")?;
        let unit_span = self.span();
        let word = if *self.token() == Token::Word { self.source(unit_span) } else { "" };
        let Some((_, seconds)) = UNITS.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(word)) else {
            let units: Vec<&str> =
                UNITS.iter().map(|(unit, _)| *unit).filter(|unit| unit.len() > 1).collect();
            return Err(self.unexpected_word("SECONDS, MINUTES, HOURS, DAYS or WEEKS", &units));
        };
        self.at += 1;
        let span = span.to(unit_span);
        let seconds = number * seconds;
        if seconds < 0.0 || (seconds - seconds.round()).abs() > 1e-6 {
            let value = self.source(span).to_owned();
            let problem =
                Problem::BadDuration { what: "a duration", value, expected: "whole seconds, 0 or more" };
            return Err(self.fail(span, &problem, None));
        }
        Ok((Duration::from_secs_f64(seconds.round().min(LONGEST)), span))
    }

    /// A time of the day in minutes, bare or in quotes.
    pub(super) fn time_of_day(&mut self) -> Parsed<u16> {
        let span = self.span();
        let text = match self.token() {
            Token::Clock => self.source(span).to_owned(),
            Token::Text(text) => text.clone(),
            _ => return Err(self.unexpected("a time of the day, such as 09:30", &[])),
        };
        self.at += 1;
        calendar::minute_of_the_day(&text)
            .ok_or(())
            .map_err(|()| self.fail(span, &Problem::BadTime(text), None))
    }

    /// An offset from UTC in minutes.
    pub(super) fn offset(&mut self) -> Parsed<i16> {
        let (text, span) = self.text("an offset from UTC in quotes, such as '+02:00'")?;
        calendar::offset(&text).ok_or(()).map_err(|()| {
            let hint =
                "names of time zones are not known here: write the hours ahead of UTC, such as '+02:00'";
            self.fail(span, &Problem::BadOffset(text), Some(hint.to_owned()))
        })
    }

    /// A date, perhaps with a time of the day, in UTC; bare or in quotes.
    pub(super) fn date(&mut self) -> Parsed<Time> {
        let span = self.span();
        let text = match self.token() {
            Token::Date => self.source(span).to_owned(),
            Token::Text(text) => text.clone(),
            _ => return Err(self.unexpected("a date, such as 2027-01-31", &[])),
        };
        self.at += 1;
        calendar::instant(&text).ok_or(()).map_err(|()| self.fail(span, &Problem::BadDate(text), None))
    }
}
