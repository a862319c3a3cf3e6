//! One instance of a query: which of its selects wait, are open, captured, missed or left out, and how it ends. Plain data,
//! so that it can be written down and go on after a restart; what was captured stays with the caller.

use dunlin_core::Time;
use serde::{Deserialize, Serialize};

use super::{PlannedInterval, QueryPlan};
use crate::evaluate::{Captures, Truth};
use crate::tree::{Need, Start};

/// An instance of a query, and what became of each of its selects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    start: Time,
    states: Vec<State>,
    outcome: Option<Outcome>,
}

/// Where one select of an instance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// Its WHEN cannot be decided yet.
    Waiting,
    /// It has an interval.
    Open,
    Captured,
    Missed,
    /// Its WHEN does not hold, so it is no part of the instance.
    LeftOut,
}

/// How an instance ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// All that is needed was captured, and WHERE holds: the result is told.
    Complete,
    /// All that is needed was captured, and WHERE does not hold.
    Filtered,
    /// No WHEN held, so there is nothing to tell.
    FellAway,
    /// Too much was missed.
    Missed,
}

/// What follows from a capture or a miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Intervals that extend the CEI.
    pub extend: Vec<PlannedInterval>,
    /// How many of the intervals that the CEI has by now have to be captured, those captured included.
    pub need: usize,
    /// How the instance ended, once it has. Intervals still open then are to be withdrawn.
    pub outcome: Option<Outcome>,
}

impl Instance {
    pub(super) fn begin(plan: &QueryPlan, start: Time) -> (Self, Vec<PlannedInterval>) {
        let waits = |select: &crate::tree::Select| matches!(select.start, Some(Start::When(_)));
        let state = |select| if waits(select) { State::Waiting } else { State::Open };
        let states: Vec<State> = plan.selects().iter().map(state).collect();
        let open = states.iter().enumerate().filter(|(_, state)| **state == State::Open);
        let intervals = open.map(|(select, _)| plan.interval(select, start)).collect();
        (Self { start, states, outcome: None }, intervals)
    }

    /// When it began.
    pub const fn start(&self) -> Time {
        self.start
    }

    /// How it ended, if it has.
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// How many of its intervals have to be captured, as far as is known: with a WHEN that is not decided, only what
    /// has an interval by now.
    pub fn need(&self, plan: &QueryPlan) -> usize {
        let planned = self.count(|state| matches!(state, State::Open | State::Captured | State::Missed));
        match plan.block.need {
            Need::All => planned,
            Need::Any(need) => need.min(planned),
        }
    }

    /// Whether a select of it has an interval that is neither captured nor missed.
    pub fn is_open(&self, select: usize) -> bool {
        self.outcome.is_none() && self.states.get(select) == Some(&State::Open)
    }

    /// The interval of a select was captured at an instant. `captures` is all that was captured for the instance, this
    /// included. A select without an open interval changes nothing.
    pub fn captured(&mut self, plan: &QueryPlan, select: usize, captures: &Captures<'_>, at: Time) -> Step {
        self.close(plan, select, State::Captured, captures, at)
    }

    /// The interval of a select is over and was not captured.
    pub fn missed(&mut self, plan: &QueryPlan, select: usize, captures: &Captures<'_>, at: Time) -> Step {
        self.close(plan, select, State::Missed, captures, at)
    }

    fn close(
        &mut self,
        plan: &QueryPlan,
        select: usize,
        state: State,
        captures: &Captures<'_>,
        at: Time,
    ) -> Step {
        let mut extend = Vec::new();
        if self.is_open(select) {
            self.states[select] = state;
            extend = self.decide(plan, captures, at);
            self.outcome = self.ending(plan, captures);
            if self.outcome.is_some() {
                extend.clear();
            }
        }
        Step { extend, need: self.need(plan), outcome: self.outcome }
    }

    /// Decides each WHEN for which everything it names is known by now. Names point back, so one pass is enough.
    fn decide(&mut self, plan: &QueryPlan, captures: &Captures<'_>, at: Time) -> Vec<PlannedInterval> {
        let mut extend = Vec::new();
        for (select, of_plan) in plan.selects().iter().enumerate() {
            let Some(condition) =
                of_plan.condition().filter(|_| self.states.get(select) == Some(&State::Waiting))
            else {
                continue;
            };
            let is_pending = |name: &str| {
                let state = plan.block.position(name).and_then(|position| self.states.get(position));
                matches!(state, Some(State::Waiting | State::Open))
            };
            if condition.names().into_iter().any(is_pending) {
                continue;
            }
            // What was missed or left out is unknown, and a WHEN may hold without it.
            self.states[select] = if condition.evaluate(captures) == Truth::True {
                extend.push(plan.interval(select, at));
                State::Open
            } else {
                State::LeftOut
            };
        }
        extend
    }

    fn ending(&self, plan: &QueryPlan, captures: &Captures<'_>) -> Option<Outcome> {
        let n_captured = self.count(|state| state == State::Captured);
        let n_undecided = self.count(|state| matches!(state, State::Waiting | State::Open));
        let n_missed = self.count(|state| state == State::Missed);
        let is_captured = match plan.block.need {
            Need::All if n_missed > 0 => return Some(Outcome::Missed),
            Need::All => n_undecided == 0,
            Need::Any(need) => n_captured >= need,
        };
        if !is_captured {
            return match plan.block.need {
                // What was left out could not be captured by anybody.
                Need::Any(need) if n_captured + n_undecided < need => {
                    Some(if n_missed > 0 { Outcome::Missed } else { Outcome::FellAway })
                }
                _ => None,
            };
        }
        if self.is_trigger_alone(plan) {
            return Some(Outcome::FellAway);
        }
        let is_told = plan.filter.as_ref().is_none_or(|filter| filter.evaluate(captures) == Truth::True);
        Some(if is_told { Outcome::Complete } else { Outcome::Filtered })
    }

    /// Whether all else that the query could have told was left out.
    fn is_trigger_alone(&self, plan: &QueryPlan) -> bool {
        let rest = self.states.get(1..).unwrap_or_default();
        plan.block.need == Need::All && !rest.is_empty() && rest.iter().all(|state| *state == State::LeftOut)
    }

    fn count(&self, is_meant: impl Fn(State) -> bool) -> usize {
        self.states.iter().filter(|state| is_meant(**state)).count()
    }
}
