//! What the filters of a JSON path compare: values of the document, of the path, and nothing at all (RFC 9535, section
//! 2.3.5.2.2).

use std::cmp::Ordering;

use jsonpath_rust::parser::model::Literal;
use serde_json::{Map, Number, Value};

use crate::work::Work;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operand<'a> {
    Number(Amount),
    Text(&'a str),
    Bool(bool),
    Null,
    Array(&'a [Value]),
    Object(&'a Map<String, Value>),
    /// A query that selects no value; it equals only itself.
    Nothing,
}

/// A number, whole where it can be: beyond 2^53 two of them may be one as floating point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    Whole(i128),
    Real(f64),
}

impl Amount {
    fn of(number: &Number) -> Self {
        match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Self::Whole(whole.into()),
            (None, Some(whole)) => Self::Whole(whole.into()),
            (None, None) => Self::Real(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => Some(left.cmp(&right)),
            (left, right) => left.real().partial_cmp(&right.real()),
        }
    }

    fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }
}

impl<'a> From<&'a Value> for Operand<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(is) => Self::Bool(*is),
            Value::Number(number) => Self::Number(Amount::of(number)),
            Value::String(text) => Self::Text(text),
            Value::Array(values) => Self::Array(values),
            Value::Object(fields) => Self::Object(fields),
        }
    }
}

impl<'a> From<&'a Literal> for Operand<'a> {
    fn from(literal: &'a Literal) -> Self {
        match literal {
            Literal::Int(whole) => Self::Number(Amount::Whole((*whole).into())),
            Literal::Float(real) => Self::Number(Amount::Real(*real)),
            Literal::String(text) => Self::Text(text),
            Literal::Bool(is) => Self::Bool(*is),
            Literal::Null => Self::Null,
        }
    }
}

impl Operand<'_> {
    /// A number that was counted.
    pub(super) const fn count(count: usize) -> Self {
        Self::Number(Amount::Whole(count as i128))
    }

    /// Letters of a text, values of a list, fields of an object; of anything else, nothing.
    pub(super) fn length(self) -> Self {
        match self {
            Self::Text(text) => Self::count(text.chars().count()),
            Self::Array(values) => Self::count(values.len()),
            Self::Object(fields) => Self::count(fields.len()),
            _ => Self::Nothing,
        }
    }

    /// Whether both are the same, all that is in them included; false when the remaining work does not suffice.
    pub(super) fn equals(self, other: Self, work: &Work) -> bool {
        if !work.take(1) {
            return false;
        }
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.compare(right) == Some(Ordering::Equal),
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Null, Self::Null) | (Self::Nothing, Self::Nothing) => true,
            (Self::Array(left), Self::Array(right)) => {
                let same = |(left, right): (&Value, &Value)| Operand::from(left).equals(right.into(), work);
                left.len() == right.len() && left.iter().zip(right).all(same)
            }
            (Self::Object(left), Self::Object(right)) => {
                let same = |(name, left): (&String, &Value)| {
                    right.get(name).is_some_and(|right| Operand::from(left).equals(right.into(), work))
                };
                left.len() == right.len() && left.iter().all(same)
            }
            _ => false,
        }
    }

    /// Whether it comes first: numbers by size, texts by their letters, anything else never.
    pub(super) fn is_less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.compare(right) == Some(Ordering::Less),
            (Self::Text(left), Self::Text(right)) => left < right,
            _ => false,
        }
    }
}
