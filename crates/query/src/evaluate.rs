//! Whether a predicate holds of what was captured. The caller has read the documents: texts, numbers and dates come ready.
//!
//! A predicate about one select holds if it holds for one of its items, as a whole: `a.title CONTAINS 'x' AND a.author = 'y'`
//! asks for one item with both. Where a predicate names several selects, whatever an AND says about one of them has to
//! hold for the same item, and the rest is combined. NOT reaches down to the tests first, so that
//! `NOT (p AND q)` and `NOT p OR NOT q` are the same.

use dunlin_core::Time;

use crate::tree::{Amount, Comparison, Direction, Field, Literal, Operand, Predicate, Test};
use crate::words::normalised;

/// One item or value, as far as predicates see it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Value<'a> {
    /// The text of the item, or the value picked.
    pub text: &'a str,
    /// The number that a value is.
    pub number: Option<f64>,
    /// An item's title.
    pub title: Option<&'a str>,
    /// Where an item links to.
    pub link: Option<&'a str>,
    /// Who wrote an item.
    pub author: Option<&'a str>,
    /// When an item was published.
    pub published: Option<Time>,
    /// What a value was at the capture before, if there was one.
    pub before: Option<Before<'a>>,
}

/// A value at the capture before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Before<'a> {
    /// Its text.
    pub text: &'a str,
    /// The number that it was.
    pub number: Option<f64>,
}

/// What was captured so far, by the name of the select: the new items, or the values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Captures<'a>(Vec<(&'a str, Vec<Value<'a>>)>);

impl<'a> Captures<'a> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds what was captured for a select, in place of what was there.
    pub fn insert(&mut self, name: &'a str, values: Vec<Value<'a>>) {
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, values));
    }

    /// What was captured for a select; none while it is not captured.
    pub fn get(&self, name: &str) -> Option<&[Value<'a>]> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, values)| values.as_slice())
    }
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It does.
    True,
    /// It does not.
    False,
    /// What it asks about is not captured, or not there: a text that is no number, an item without an author.
    Unknown,
}

impl Truth {
    fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }

    /// False if one is, else unknown if one is.
    fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        Self::any(truths.into_iter().map(Self::not)).not()
    }

    /// True if one is, else unknown if one is.
    fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut result = Self::False;
        for truth in truths {
            match truth {
                Self::True => return Self::True,
                Self::Unknown => result = Self::Unknown,
                Self::False => {}
            }
        }
        result
    }
}

/// Whether a predicate is asked for, or its opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Holds,
    Fails,
}

impl Sense {
    const fn opposite(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
        }
    }
}

impl Predicate {
    /// Whether it holds of what was captured.
    pub fn evaluate(&self, captures: &Captures<'_>) -> Truth {
        self.holds_among(captures, Sense::Holds)
    }

    fn holds_among(&self, captures: &Captures<'_>, sense: Sense) -> Truth {
        if let Some(name) = self.sole_name() {
            return for_one_of(captures, name, |value| self.holds_for(value, sense));
        }
        match (self, sense) {
            (Self::Not(inner), sense) => inner.holds_among(captures, sense.opposite()),
            (Self::And(parts), Sense::Holds) | (Self::Or(parts), Sense::Fails) => {
                Self::all_hold_among(parts, captures, sense)
            }
            (Self::Or(parts) | Self::And(parts), _) => {
                Truth::any(parts.iter().map(|part| part.holds_among(captures, sense)))
            }
            // It has one name.
            (Self::Test(operand, _), _) => {
                for_one_of(captures, &operand.name, |value| self.holds_for(value, sense))
            }
        }
    }

    /// Whether all parts hold, those about one select for one of its items.
    fn all_hold_among(parts: &[Self], captures: &Captures<'_>, sense: Sense) -> Truth {
        let mut names: Vec<&str> = parts.iter().filter_map(Self::sole_name).collect();
        names.sort_unstable();
        names.dedup();
        let of_one = names.into_iter().map(|name| {
            let about = || parts.iter().filter(move |part| part.sole_name() == Some(name));
            for_one_of(captures, name, |value| Truth::all(about().map(|part| part.holds_for(value, sense))))
        });
        let of_several = parts.iter().filter(|part| part.sole_name().is_none());
        Truth::all(of_one.chain(of_several.map(|part| part.holds_among(captures, sense))))
    }

    /// Whether it holds for one item, if all of it is about its select.
    fn holds_for(&self, value: &Value<'_>, sense: Sense) -> Truth {
        let truth = match self {
            Self::And(parts) => Truth::all(parts.iter().map(|part| part.holds_for(value, Sense::Holds))),
            Self::Or(parts) => Truth::any(parts.iter().map(|part| part.holds_for(value, Sense::Holds))),
            Self::Not(inner) => inner.holds_for(value, Sense::Holds).not(),
            Self::Test(operand, test) => test.holds_for(operand, value),
        };
        if sense == Sense::Holds { truth } else { truth.not() }
    }

    /// The only select that it is about.
    fn sole_name(&self) -> Option<&str> {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                let name = parts.first()?.sole_name()?;
                parts[1..].iter().all(|part| part.sole_name() == Some(name)).then_some(name)
            }
            Self::Not(inner) => inner.sole_name(),
            Self::Test(operand, _) => Some(&operand.name),
        }
    }
}

fn for_one_of(captures: &Captures<'_>, name: &str, holds: impl Fn(&Value<'_>) -> Truth) -> Truth {
    captures.get(name).map_or(Truth::Unknown, |values| Truth::any(values.iter().map(holds)))
}

impl Test {
    fn holds_for(&self, operand: &Operand, value: &Value<'_>) -> Truth {
        let known = |holds: Option<bool>| holds.map_or(Truth::Unknown, Truth::of);
        match self {
            Self::Contains(phrase) => any_text(operand, value, |text| phrase.is_in(text)),
            Self::Matches(pattern) => any_text(operand, value, |text| pattern.is_in(text)),
            Self::Compares(comparison, Literal::Text(wanted)) => {
                let wanted = normalised(wanted);
                let is_equal = any_text(operand, value, |text| normalised(text) == wanted);
                if *comparison == Comparison::NotEqual { is_equal.not() } else { is_equal }
            }
            Self::Compares(comparison, Literal::Number(wanted)) => {
                known(value.number.map(|number| comparison.holds(&number, wanted)))
            }
            Self::Compares(comparison, Literal::Date(wanted)) => {
                known(value.published.map(|published| comparison.holds(&published, wanted)))
            }
            Self::Moves(direction, by) => known(moves(*direction, *by, value)),
            Self::Changes => known(value.before.map(|before| before.text != value.text)),
        }
    }
}

/// Whether something is so of one of the texts that an operand stands for.
fn any_text(operand: &Operand, value: &Value<'_>, is_so: impl Fn(&str) -> bool) -> Truth {
    let text = match operand.field {
        None => return Truth::of(value.title.is_some_and(&is_so) || is_so(value.text)),
        Some(Field::Text | Field::Value) => Some(value.text),
        Some(Field::Title) => value.title,
        Some(Field::Link) => value.link,
        Some(Field::Author) => value.author,
        // Not a text; the parser lets no such test through.
        Some(Field::Published) => None,
    };
    text.map_or(Truth::Unknown, |text| Truth::of(is_so(text)))
}

/// Whether a number went the right way by enough. Numbers such as 0.3 are not exact, so a billionth less is enough.
fn moves(direction: Direction, by: Option<Amount>, value: &Value<'_>) -> Option<bool> {
    let (before, now) = (value.before?.number?, value.number?);
    let way = match direction {
        Direction::Rises => now - before,
        Direction::Drops => before - now,
        Direction::Moves => (now - before).abs(),
    };
    let enough = match by {
        None => 0.0,
        Some(Amount::Absolute(amount)) => amount,
        Some(Amount::Percent(percent)) => before.abs() * percent / 100.0,
    };
    Some(way > 0.0 && way >= enough * (1.0 - 1e-9))
}
