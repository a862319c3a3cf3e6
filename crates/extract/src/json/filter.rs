//! The filters of a JSON path, `[?@.price < 10 && match(@.name, 'a.*')]`: true or false for one value. What they read is
//! counted, as in the walk that asks.

use std::ops::ControlFlow::{self, Break, Continue};

use jsonpath_rust::parser::model::{
    Comparable, Comparison, Filter, FilterAtom, FnArg, Segment, Selector, SingularQuery,
    SingularQuerySegment, Test, TestFunction,
};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::operand::Operand;
use super::path::{Walk, place_of};

/// What a filter says; nothing where the work is used up.
type Answer<T> = ControlFlow<(), T>;

/// What compiling a pattern counts for: some come from the document, another one for each value.
const STEPS_PER_PATTERN: u64 = 2_000;
/// Bytes that are scanned for a pattern in one step.
const BYTES_PER_STEP: usize = 16;

impl<'v> Walk<'v, '_> {
    /// Whether `value` passes the filter.
    pub(super) fn passes(&self, filter: &Filter, value: &'v Value) -> Answer<bool> {
        if !self.work.take(1) {
            return Break(());
        }
        match filter {
            Filter::Or(parts) => {
                for part in parts {
                    if self.passes(part, value)? {
                        return Continue(true);
                    }
                }
                Continue(false)
            }
            Filter::And(parts) => {
                for part in parts {
                    if !self.passes(part, value)? {
                        return Continue(false);
                    }
                }
                Continue(true)
            }
            Filter::Atom(FilterAtom::Filter { expr, not }) => Continue(self.passes(expr, value)? != *not),
            Filter::Atom(FilterAtom::Test { expr, not }) => Continue(self.holds(expr, value)? != *not),
            Filter::Atom(FilterAtom::Comparison(comparison)) => self.compares(comparison, value),
        }
    }

    fn holds(&self, test: &Test, value: &'v Value) -> Answer<bool> {
        match test {
            Test::RelQuery(segments) => Continue(self.n_nodes(segments, value, 1)? > 0),
            Test::AbsQuery(query) => Continue(self.n_nodes(&query.segments, self.root, 1)? > 0),
            Test::Function(function) => match &**function {
                TestFunction::Match(subject, pattern) => self.is_like(subject, pattern, Extent::Whole, value),
                TestFunction::Search(subject, pattern) => self.is_like(subject, pattern, Extent::Part, value),
                // The grammar allows no other function on its own.
                _ => Continue(false),
            },
        }
    }

    fn compares(&self, comparison: &Comparison, value: &'v Value) -> Answer<bool> {
        let (left, right) = comparison.vals();
        let (left, right) = (self.operand(left, value)?, self.operand(right, value)?);
        let is = match comparison {
            Comparison::Eq(..) => left.equals(right, self.work),
            Comparison::Ne(..) => !left.equals(right, self.work),
            Comparison::Lt(..) => left.is_less(right),
            Comparison::Gt(..) => right.is_less(left),
            Comparison::Lte(..) => left.is_less(right) || left.equals(right, self.work),
            Comparison::Gte(..) => right.is_less(left) || left.equals(right, self.work),
        };
        if self.work.is_used_up() { Break(()) } else { Continue(is) }
    }

    fn operand<'a>(&self, comparable: &'a Comparable, value: &'v Value) -> Answer<Operand<'a>>
    where
        'v: 'a,
    {
        match comparable {
            Comparable::Literal(literal) => Continue(literal.into()),
            Comparable::Function(function) => self.result(function, value),
            Comparable::SingularQuery(query) => {
                let (segments, from) = match query {
                    SingularQuery::Current(segments) => (segments, value),
                    SingularQuery::Root(segments) => (segments, self.root),
                };
                let there = segments.iter().try_fold(from, |value, segment| match (segment, value) {
                    (SingularQuerySegment::Name(name), Value::Object(fields)) => fields.get(name),
                    (SingularQuerySegment::Index(index), Value::Array(values)) => {
                        place_of(*index, values.len()).map(|at| &values[at])
                    }
                    _ => None,
                });
                Continue(there.map_or(Operand::Nothing, Operand::from))
            }
        }
    }

    /// What a function of values makes of them.
    fn result<'a>(&self, function: &'a TestFunction, value: &'v Value) -> Answer<Operand<'a>>
    where
        'v: 'a,
    {
        match function {
            TestFunction::Length(argument) => Continue(self.argument(argument, value)?.length()),
            TestFunction::Value(argument) => self.argument(argument, value),
            TestFunction::Count(FnArg::Test(test)) => {
                let (segments, from) = match &**test {
                    Test::RelQuery(segments) => (segments, value),
                    Test::AbsQuery(query) => (&query.segments, self.root),
                    Test::Function(_) => return Continue(Operand::Nothing),
                };
                Continue(Operand::count(self.n_nodes(segments, from, usize::MAX)?))
            }
            _ => Continue(Operand::Nothing),
        }
    }

    /// An argument that is to be one value: of a query, the only one it selects.
    fn argument<'a>(&self, argument: &'a FnArg, value: &'v Value) -> Answer<Operand<'a>>
    where
        'v: 'a,
    {
        let test = match argument {
            FnArg::Literal(literal) => return Continue(literal.into()),
            FnArg::Filter(_) => return Continue(Operand::Nothing),
            FnArg::Test(test) => test,
        };
        let (segments, from) = match &**test {
            Test::RelQuery(segments) => (segments, value),
            Test::AbsQuery(query) => (&query.segments, self.root),
            Test::Function(function) => return self.result(function, value),
        };
        let (mut only, mut n_found) = (Operand::Nothing, 0);
        let _ = self.walk(segments, from, &mut Vec::new(), &mut |found, _| {
            n_found += 1;
            only = found.into();
            if n_found > 1 { Break(()) } else { Continue(()) }
        });
        if self.work.is_used_up() {
            return Break(());
        }
        Continue(if n_found == 1 { only } else { Operand::Nothing })
    }

    /// How many values a query selects, counted up to `enough`.
    fn n_nodes(&self, segments: &[Segment], from: &'v Value, enough: usize) -> Answer<usize> {
        let mut n_nodes = 0;
        let _ = self.walk(segments, from, &mut Vec::new(), &mut |_, _| {
            n_nodes += 1;
            if n_nodes == enough { Break(()) } else { Continue(()) }
        });
        if self.work.is_used_up() { Break(()) } else { Continue(n_nodes) }
    }

    fn is_like(&self, text: &FnArg, pattern: &FnArg, extent: Extent, value: &'v Value) -> Answer<bool> {
        let (text, pattern) = (self.argument(text, value)?, self.argument(pattern, value)?);
        let (Operand::Text(text), Operand::Text(pattern)) = (text, pattern) else { return Continue(false) };
        let mut last = self.last_pattern.borrow_mut();
        if last.as_ref().is_none_or(|(known, of, _)| known != pattern || *of != extent) {
            if !self.work.take(STEPS_PER_PATTERN) {
                return Break(());
            }
            *last = Some((pattern.to_owned(), extent, compiled(pattern, extent)));
        }
        if !self.work.take(1 + (text.len() / BYTES_PER_STEP) as u64) {
            return Break(());
        }
        let regex = last.as_ref().and_then(|(_, _, regex)| regex.as_ref());
        Continue(regex.is_some_and(|regex| regex.is_match(text)))
    }
}

/// What of a text a pattern has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Part,
}

/// A pattern of RFC 9485 in the library's syntax: its `.` is neither end of line. `None` when it is no pattern.
fn compiled(pattern: &str, extent: Extent) -> Option<Regex> {
    let mut translated = String::with_capacity(pattern.len());
    let mut is_in_class = false;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                translated.push(letter);
                translated.extend(letters.next());
            }
            '.' if !is_in_class => translated.push_str(r"[^\n\r]"),
            _ => {
                is_in_class = (is_in_class || letter == '[') && letter != ']';
                translated.push(letter);
            }
        }
    }
    let translated = match extent {
        Extent::Whole => format!("^(?:{translated})$"),
        Extent::Part => translated,
    };
    RegexBuilder::new(&translated).size_limit(1 << 18).build().ok()
}

/// The library reads what the standard does not have: other functions, and values where tests belong.
pub(super) fn refuse_what_is_not_standard(segments: &[Segment]) -> Result<(), String> {
    segments.iter().try_for_each(|segment| match segment {
        Segment::Descendant(segment) => refuse_what_is_not_standard(std::slice::from_ref(segment)),
        Segment::Selector(selector) => in_selector(selector),
        Segment::Selectors(selectors) => selectors.iter().try_for_each(in_selector),
    })
}

fn in_selector(selector: &Selector) -> Result<(), String> {
    match selector {
        Selector::Filter(filter) => in_filter(filter),
        _ => Ok(()),
    }
}

fn in_filter(filter: &Filter) -> Result<(), String> {
    match filter {
        Filter::Or(parts) | Filter::And(parts) => parts.iter().try_for_each(in_filter),
        Filter::Atom(FilterAtom::Filter { expr, .. }) => in_filter(expr),
        Filter::Atom(FilterAtom::Test { expr, .. }) => match &**expr {
            Test::Function(function) if function.is_comparable() => {
                Err(format!("{function} is a value (expected a comparison with it)"))
            }
            test => in_test(test),
        },
        Filter::Atom(FilterAtom::Comparison(comparison)) => {
            let (left, right) = comparison.vals();
            [left, right].into_iter().try_for_each(|side| match side {
                Comparable::Function(function) => in_function(function),
                _ => Ok(()),
            })
        }
    }
}

fn in_test(test: &Test) -> Result<(), String> {
    match test {
        Test::RelQuery(segments) => refuse_what_is_not_standard(segments),
        Test::AbsQuery(query) => refuse_what_is_not_standard(&query.segments),
        Test::Function(function) => in_function(function),
    }
}

fn in_function(function: &TestFunction) -> Result<(), String> {
    let in_argument = |argument: &FnArg| match argument {
        FnArg::Literal(_) => Ok(()),
        FnArg::Test(test) => in_test(test),
        FnArg::Filter(filter) => in_filter(filter),
    };
    let in_value = |argument: &FnArg| match argument {
        FnArg::Test(test) if !is_single(test) => Err(format!("{argument} may be many (expected one value)")),
        argument => in_argument(argument),
    };
    match function {
        TestFunction::Custom(name, _) => {
            Err(format!("unknown function {name} (known are length, count, match, search and value)"))
        }
        TestFunction::Value(argument) | TestFunction::Count(argument) => in_argument(argument),
        TestFunction::Length(argument) => in_value(argument),
        TestFunction::Search(subject, pattern) | TestFunction::Match(subject, pattern) => {
            in_value(subject)?;
            in_value(pattern)
        }
    }
}

/// Whether a test is one value at most: a query of names and indices alone, or a function that gives one.
fn is_single(test: &Test) -> bool {
    let by_one =
        |segment: &Segment| matches!(segment, Segment::Selector(Selector::Name(_) | Selector::Index(_)));
    match test {
        Test::RelQuery(segments) => segments.iter().all(by_one),
        Test::AbsQuery(query) => query.segments.iter().all(by_one),
        Test::Function(function) => function.is_comparable(),
    }
}
