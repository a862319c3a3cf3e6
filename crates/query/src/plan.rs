//! From a query to the intervals it wants. A plan says when an instance of its query begins, and an instance, told what was
//! captured and what was missed, says which intervals come next and how it ends. One instance is one CEI.
//!
//! Not a scheduler: what is probed when, and which CEI is worth it, is decided elsewhere. No clock and no documents: times
//! and captured values are arguments.

mod instance;

use std::time::Duration;

use dunlin_core::Time;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::terms::{Term, distinct};
use crate::tree::{Body, End, Length, Need, Predicate, Query, Select, SelectBlock, Start};

pub use instance::{Instance, Outcome, Step};

/// How the instances of a query begin and go on.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPlan {
    block: SelectBlock,
    filter: Option<Predicate>,
    end: Option<Time>,
}

/// An interval that an instance wants: probe the source of the select from `start` to `finish`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedInterval {
    /// The position of the select in its query.
    pub select: usize,
    /// The first moment that counts.
    pub start: Time,
    /// The last moment that counts; none if only the next change of the source ends it.
    pub finish: Option<Time>,
    /// Which answers capture it.
    pub captured_by: CapturedBy,
}

/// Which answers capture an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapturedBy {
    /// Any good one, also "not modified": what is there now was asked for.
    AnyAnswer,
    /// Only one that is different from the capture before.
    Change,
}

impl QueryPlan {
    /// The plan of a query that was installed then. None for a query with WATCH, which has no instances: its finds are
    /// told one by one.
    pub fn new(query: &Query, installed: Time) -> Option<Self> {
        let Body::Select(block) = &query.body else {
            return None;
        };
        let end = query.end.map(|end| match end {
            End::Until(end) => end,
            End::For(life) => installed.plus(life),
        });
        Some(Self { block: block.clone(), filter: query.filter.clone(), end })
    }

    /// The selects of its query; the first is the trigger.
    pub fn selects(&self) -> &[Select] {
        &self.block.selects
    }

    /// How many of the selects of an instance have to be captured.
    pub const fn need(&self) -> Need {
        self.block.need
    }

    /// From when on no instance begins.
    pub const fn end(&self) -> Option<Time> {
        self.end
    }

    /// When the next instance after an instant begins by the clock: EVERY and AT. None after the end, and for ON CHANGE:
    /// then an instance begins with each change of the trigger's source, predicted or seen, which the caller knows.
    pub fn next_instance(&self, after: Time) -> Option<Time> {
        let next = next_event(self.block.selects.first()?, after)?;
        self.is_open(next).then_some(next)
    }

    /// Whether an instance may still begin then.
    pub fn is_open(&self, start: Time) -> bool {
        self.end.is_none_or(|end| start < end)
    }

    /// Terms of which at least one is in what a change of the trigger's source brought, if an instance that begins with this
    /// change does not end at once with nothing to tell. None if that cannot be said: then each change has to be looked at.
    ///
    /// So it is for a trigger ON CHANGE if it is the only select, and WHERE asks for a term; or if each other select waits for a
    /// term of the trigger. What compares with the capture before has to see them all.
    pub fn trigger_terms(&self) -> Option<Vec<Term>> {
        let (trigger, others) = self.block.selects.split_first()?;
        let name = trigger.name.as_str();
        let conditions = others.iter().filter_map(Select::condition);
        let looks_back = self.filter.iter().chain(conditions).any(|predicate| predicate.looks_back_at(name));
        if trigger.start != Some(Start::OnChange) || looks_back {
            return None;
        }
        if others.is_empty() {
            return self.filter.as_ref()?.required_terms_of(name);
        }
        if self.block.need != Need::All {
            return None;
        }
        let each: Option<Vec<Vec<Term>>> =
            others.iter().map(|select| select.condition()?.required_terms_of(name)).collect();
        each.map(|terms| distinct(terms.concat()))
    }

    /// An instance that begins then, and its first intervals.
    pub fn begin(&self, start: Time) -> (Instance, Vec<PlannedInterval>) {
        Instance::begin(self, start)
    }

    /// The interval of a select of an instance, when what it waits for happened: the beginning of the instance, or the moment
    /// at which its WHEN was found to hold.
    ///
    /// # Panics
    /// If there is no such select.
    pub fn interval(&self, select: usize, event: Time) -> PlannedInterval {
        let Select { start, length, .. } = &self.block.selects[select];
        let begin = match start {
            // The trigger begins with its instance, and others at their own next time, which may be the same.
            Some(Start::Every(_) | Start::At(_)) if select > 0 => {
                let just_before = Time::from_micros(event.micros().saturating_sub(1));
                next_event(&self.block.selects[select], just_before).unwrap_or(event)
            }
            _ => event,
        };
        let finish = match (length, start) {
            (Some(Length::Within(length)), _) => Some(begin.plus(*length)),
            // Until the next one: a moment captures one of the two, never both.
            (None, Some(Start::Every(period))) => {
                Some(begin.plus(period.saturating_sub(Duration::from_micros(1))))
            }
            (Some(Length::Overwritten) | None, _) => None,
        };
        let captured_by =
            if *start == Some(Start::OnChange) { CapturedBy::Change } else { CapturedBy::AnyAnswer };
        PlannedInterval { select, start: begin, finish, captured_by }
    }
}

/// The next time at which a select starts by the clock.
fn next_event(select: &Select, after: Time) -> Option<Time> {
    match select.start.as_ref()? {
        Start::Every(period) => calendar::next_multiple(after, *period),
        Start::At(times) => calendar::next_time_of_day(after, times),
        Start::OnChange | Start::When(_) => None,
    }
}
