//! What can be asked of what was captured: tests, joined by AND, OR and NOT.

use dunlin_core::Time;

use super::{Pattern, Phrase};

/// A condition on captured parts. `And` and `Or` hold at least two, none of the same kind; [`Predicate::and`] and
/// [`Predicate::or`] see to it, so that one meaning has one tree however the parentheses stood.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// Each holds.
    And(Vec<Predicate>),
    /// At least one holds.
    Or(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
    /// One question about one part.
    Test(Operand, Test),
}

/// What is asked about: a part of the result, or a field of its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The name of the select.
    pub name: String,
    /// The field; without one, an item stands for its title and its text, and a value for itself.
    pub field: Option<Field>,
}

/// A field of an item or a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// An item's title.
    Title,
    /// Where an item links to.
    Link,
    /// Who wrote an item.
    Author,
    /// When an item was published, as it says.
    Published,
    /// The text of an item or a value.
    Text,
    /// The value.
    Value,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 6] =
        [Self::Title, Self::Link, Self::Author, Self::Published, Self::Text, Self::Value];

    /// Its name in the language.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Link => "link",
            Self::Author => "author",
            Self::Published => "published",
            Self::Text => "text",
            Self::Value => "value",
        }
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Is the phrase in the text?
    Contains(Phrase),
    /// Is the regular expression somewhere in the text?
    Matches(Pattern),
    /// How does it compare?
    Compares(Comparison, Literal),
    /// Is the number another one than at the capture before, by enough?
    Moves(Direction, Option<Amount>),
    /// Is the text another one than at the capture before?
    Changes,
}

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// Every comparison.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::AtMost, Self::Equal, Self::NotEqual, Self::Greater, Self::AtLeast];

    /// Its sign in the language.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether it holds between two values. What cannot be ordered is not equal either.
    pub(crate) fn holds<T: PartialOrd + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// What something is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A number.
    Number(f64),
    /// A text, equal or not, without regard to case and white space.
    Text(String),
    /// A date.
    Date(Time),
}

/// Which way a number goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It is larger.
    Rises,
    /// It is smaller.
    Drops,
    /// Either.
    Moves,
}

/// How far a number goes; above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// By that much.
    Absolute(f64),
    /// By that many hundredths of what it was.
    Percent(f64),
}

impl Predicate {
    /// All of them, in order. With one, that one.
    #[must_use]
    pub fn and(parts: Vec<Self>) -> Self {
        let flat =
            parts.into_iter().flat_map(|part| if let Self::And(inner) = part { inner } else { vec![part] });
        Self::of_several(flat.collect(), Self::And)
    }

    /// Any of them, in order. With one, that one.
    #[must_use]
    pub fn or(parts: Vec<Self>) -> Self {
        let flat =
            parts.into_iter().flat_map(|part| if let Self::Or(inner) = part { inner } else { vec![part] });
        Self::of_several(flat.collect(), Self::Or)
    }

    fn of_several(mut parts: Vec<Self>, joined: impl FnOnce(Vec<Self>) -> Self) -> Self {
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                joined(parts)
            }
            None => joined(parts),
        }
    }

    /// Calls `visit` with every operand, in the order of the text.
    pub(crate) fn each_operand<'p>(&'p self, visit: &mut impl FnMut(&'p Operand)) {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.each_operand(visit)),
            Self::Not(inner) => inner.each_operand(visit),
            Self::Test(operand, _) => visit(operand),
        }
    }

    /// The names of the parts that it asks about, in order of name.
    pub fn names(&self) -> std::collections::BTreeSet<&str> {
        let mut names = std::collections::BTreeSet::new();
        self.each_operand(&mut |operand| {
            names.insert(operand.name.as_str());
        });
        names
    }
}
