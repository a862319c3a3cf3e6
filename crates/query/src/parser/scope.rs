//! The names of one query: what is selected, and what predicates ask about. Whether these agree is checked when the whole
//! query was read, so that a name that comes later can be told from one that does not come at all.

use super::Parser;
use crate::error::Problem;
use crate::nearest::nearest;
use crate::span::Span;
use crate::tree::{Body, Field, Operand, What};

/// What was named so far.
#[derive(Default)]
pub(super) struct Scope {
    declared: Vec<(String, What)>,
    mentions: Vec<Mention>,
    /// The select whose predicate is being read; none for WHERE.
    asker: Option<usize>,
    /// Tests and operators read so far.
    pub(super) n_nodes: usize,
    pub(super) depth: usize,
}

/// An operand, where it stands, and what is asked about it.
struct Mention {
    operand: Operand,
    span: Span,
    asks: Asks,
    asker: Option<usize>,
}

/// What kind of thing a test asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// A text.
    Text(&'static str),
    /// A number.
    Number(&'static str),
    /// A date.
    Date,
    /// A value that had another one before.
    Before(&'static str),
}

impl Scope {
    /// Whether the name is new.
    pub(super) fn declare(&mut self, name: &str, what: What) -> bool {
        let is_new = self.declared.iter().all(|(other, _)| other != name);
        self.declared.push((name.to_owned(), what));
        is_new
    }

    pub(super) fn asks_from(&mut self, select: Option<usize>) {
        self.asker = select;
    }

    pub(super) fn asks_from_the_last(&mut self) {
        self.asker = self.declared.len().checked_sub(1);
    }

    pub(super) fn mention(&mut self, operand: Operand, span: Span, asks: Asks) {
        self.mentions.push(Mention { operand, span, asks, asker: self.asker });
    }
}

impl Parser<'_> {
    /// Checks each operand of the query against what is selected.
    pub(super) fn check_names(&mut self, body: &Body) {
        let mut scope = std::mem::take(&mut self.scope);
        let is_watch = matches!(body, Body::Watch(_));
        if is_watch {
            scope.declared.push(("item".to_owned(), What::Item));
        }
        for mention in &scope.mentions {
            // Looking for the nearest of many names, for each of many, is work that nobody would see.
            if self.has_enough_errors() {
                return;
            }
            let name = &mention.operand.name;
            let Some(position) = scope.declared.iter().position(|(other, _)| other == name) else {
                self.note_unknown(mention, &scope.declared, is_watch);
                continue;
            };
            match mention.asker {
                Some(asker) if asker == position => {
                    self.note(mention.span, &Problem::OwnName(name.clone()), None);
                }
                Some(asker) if asker < position => {
                    self.note(mention.span, &Problem::LaterName(name.clone()), None);
                }
                _ => self.check_use(mention, scope.declared[position].1),
            }
        }
    }

    fn note_unknown(&mut self, mention: &Mention, declared: &[(String, What)], is_watch: bool) {
        let name = &mention.operand.name;
        if is_watch {
            return self.note(mention.span, &Problem::WatchName, None);
        }
        let known =
            || declared.iter().take(mention.asker.unwrap_or(declared.len())).map(|(name, _)| name.as_str());
        let hint = match nearest(name, known()) {
            Some(near) => Some(format!("did you mean {near}?")),
            None if known().next().is_none() => None,
            None => Some(format!("known here: {}", known().take(8).collect::<Vec<_>>().join(", "))),
        };
        self.note(mention.span, &Problem::UnknownName(name.clone()), hint);
    }

    /// Whether what is selected has what a test asks about.
    fn check_use(&mut self, mention: &Mention, what: What) {
        let field = mention.operand.field;
        let kind = match what {
            What::Item => "an item",
            What::Value => "a value",
        };
        let has_field = match (what, field) {
            (_, None | Some(Field::Text)) => true,
            (What::Item, Some(field)) => field != Field::Value,
            (What::Value, Some(field)) => field == Field::Value,
        };
        if let (false, Some(field)) = (has_field, field) {
            let hint = match what {
                What::Item => "an item has title, link, author, published and text",
                What::Value => "a value has value and text",
            };
            let problem = Problem::NoSuchField { kind, field: field.name() };
            return self.note(mention.span, &problem, Some(hint.to_owned()));
        }
        let is_date = field == Some(Field::Published);
        let (fits, test, expected, hint) = match mention.asks {
            Asks::Text(test) => (!is_date, test, "texts", "compare a date: published > '2027-01-31'"),
            Asks::Date => (is_date, "", "dates", ""),
            Asks::Number(test) => (what == What::Value, test, "numbers", "SELECT value, and PICK the number"),
            Asks::Before(test) => {
                (what == What::Value, test, "values", "items are new, and have no value before")
            }
        };
        if !fits {
            let name = &mention.operand.name;
            let shown = field.map_or_else(|| name.clone(), |field| format!("{name}.{}", field.name()));
            let kind = if is_date { "a date" } else { kind };
            let problem = Problem::WrongTest { what: shown, kind, test, expected };
            self.note(mention.span, &problem, Some(hint.to_owned()));
        }
    }
}
