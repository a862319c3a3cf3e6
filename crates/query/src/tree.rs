//! What a query says, checked. A tree holds no places in the text, so two texts that say the same give equal trees.

mod pattern;
mod phrase;
mod predicate;

use std::time::Duration;

use dunlin_core::Time;

pub use pattern::Pattern;
pub use phrase::Phrase;
pub use predicate::{Amount, Comparison, Direction, Field, Literal, Operand, Predicate, Test};

pub(crate) use pattern::NoPattern;
pub(crate) use phrase::{NoPhrase, longest};

/// A continuous query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What its owner calls it.
    pub name: String,
    /// What is wanted.
    pub body: Body,
    /// What has to hold of a result for it to be told.
    pub filter: Option<Predicate>,
    /// What one result is worth, compared with those of other queries.
    pub weight: f64,
    /// When it ends, if ever.
    pub end: Option<End>,
}

/// What a query wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Parts of named sources, together.
    Select(SelectBlock),
    /// Whatever is about these words, wherever it appears.
    Watch(Vec<Watch>),
}

/// Selects whose results belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectBlock {
    /// How many of them have to be captured.
    pub need: Need,
    /// In the order of the text; the first one is the trigger.
    pub selects: Vec<Select>,
}

/// How many of the selects of an instance have to be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Each one that belongs to the instance.
    All,
    /// That many.
    Any(usize),
}

/// One part of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// Items or values.
    pub what: What,
    /// The name of the part.
    pub name: String,
    /// Where it comes from.
    pub from: From,
    /// Which part of the document: a CSS selector for a page, a path for JSON.
    pub pick: Option<String>,
    /// When its interval begins; with the instance if nothing is said.
    pub start: Option<Start>,
    /// When its interval ends; see [`Length`] for what nothing means.
    pub length: Option<Length>,
}

/// What is selected of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The new items.
    Item,
    /// The values picked.
    Value,
}

/// Where a part comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// A feed, by its URL.
    Feed(String),
    /// A web page, by its URL.
    Page(String),
    /// A JSON document, by its URL.
    Json(String),
    /// A source that is already watched, by its number.
    SourceId(u64),
    /// A source that is already watched, by its name.
    SourceName(String),
}

/// The event with which an interval begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Every multiple of a period since 1970.
    Every(Duration),
    /// At times of the day.
    At(TimesOfDay),
    /// The source changes. Only a changed answer captures the interval.
    OnChange,
    /// Something holds of what was captured for the selects before.
    When(Predicate),
}

/// Times of the day in one offset from UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimesOfDay {
    /// Minutes since midnight there, ascending, each once.
    pub minutes: Vec<u16>,
    /// Minutes by which the clocks there are ahead of UTC.
    pub offset: i16,
}

/// When an interval ends. If nothing is said, that of an EVERY lasts until the next one begins, and any other until
/// the source is overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// That long after it began.
    Within(Duration),
    /// With the next change of the source.
    Overwritten,
}

/// Words that something has to be about.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The words.
    pub words: String,
    /// How much they matter, above 0 and up to 1.
    pub importance: f64,
}

/// When a query ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At an instant.
    Until(Time),
    /// That long after it was installed.
    For(Duration),
}

impl SelectBlock {
    /// The position of the select of that name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.selects.iter().position(|select| select.name == name)
    }
}

impl Select {
    /// What has to hold before its interval begins, if anything.
    pub fn condition(&self) -> Option<&Predicate> {
        match &self.start {
            Some(Start::When(predicate)) => Some(predicate),
            _ => None,
        }
    }
}
