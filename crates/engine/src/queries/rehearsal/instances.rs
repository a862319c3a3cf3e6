//! Instances of a query in the past: they begin at their times, and each part is captured as soon as its interval begins.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_query::plan::{CapturedBy, Instance, Outcome, PlannedInterval, QueryPlan};
use dunlin_query::{From, Start};
use dunlin_store::{SourceId, Store, VersionId};

use super::history::History;
use super::{MOST_SHOWN, Rehearsal, RehearsedMiss, RehearsedResult};
use crate::Error;
use crate::queries::item_json;
use crate::queries::parts::{CapturedPart, InstanceState, Newness, QueryMemory};

/// The most instances that are begun.
const MOST_INSTANCES: usize = 10_000;

/// Lets the instances of a query begin and end, from a time until another.
pub(super) fn rehearse(
    plan: QueryPlan,
    histories: Vec<History>,
    store: &dyn Store,
    (from, until): (Time, Time),
    rehearsal: Rehearsal,
) -> Result<Rehearsal, Error> {
    let memory = QueryMemory::from_bytes(&[], plan.selects().len());
    let (open, due) = (Vec::new(), BTreeSet::new());
    let mut run = Run { store, plan, histories, memory, from, until, open, due, rehearsal };
    run.note_first()?;
    run.run()?;
    Ok(run.rehearsal)
}

/// An instance that is under way.
struct OpenInstance {
    instance: Instance,
    intervals: BTreeMap<usize, PlannedInterval>,
    state: InstanceState,
}

/// Something that is due: for the instance of that number, the select that is captured or missed then.
type Due = (Time, usize, usize, End);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Captured,
    Missed,
}

struct Run<'s> {
    store: &'s dyn Store,
    plan: QueryPlan,
    histories: Vec<History>,
    memory: QueryMemory,
    from: Time,
    until: Time,
    open: Vec<Option<OpenInstance>>,
    due: BTreeSet<Due>,
    rehearsal: Rehearsal,
}

impl Run<'_> {
    /// What was there before the first change, as it would have been read when the query was installed.
    fn note_first(&mut self) -> Result<(), Error> {
        for (select, history) in self.histories.iter_mut().enumerate() {
            if let Some(first) = history.first().filter(|_| waits(&self.plan, select)) {
                let (_, seen) = history.at(first, self.store)?;
                self.memory.note_first(select, self.plan.selects()[select].what, &seen);
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut next = self.next_begin(self.from);
        loop {
            let due = self.due.first().copied();
            match (next, due) {
                (Some(begin), due) if due.is_none_or(|(at, ..)| begin <= at) => {
                    if self.rehearsal.n_instances as usize >= MOST_INSTANCES {
                        self.rehearsal.is_cut = true;
                        next = None;
                        continue;
                    }
                    self.begin(begin);
                    next = self.next_begin(begin);
                }
                (_, Some(due)) => {
                    self.due.remove(&due);
                    self.close(due)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn next_begin(&self, after: Time) -> Option<Time> {
        let next = if waits(&self.plan, 0) {
            self.histories.first()?.next_change(after)
        } else {
            self.plan.next_instance(after)
        };
        next.filter(|at| *at <= self.until && self.plan.is_open(*at))
    }

    fn begin(&mut self, at: Time) {
        let (instance, intervals) = self.plan.begin(at);
        let number = self.open.len();
        let state = InstanceState {
            instance: instance.clone(),
            intervals: BTreeMap::new(),
            parts: BTreeMap::new(),
            missed: Vec::new(),
            need: 0,
        };
        self.open.push(Some(OpenInstance { instance, intervals: BTreeMap::new(), state }));
        self.rehearsal.n_instances += 1;
        self.want(number, intervals);
    }

    /// Plans when each interval is captured, or missed.
    fn want(&mut self, number: usize, intervals: Vec<PlannedInterval>) {
        for interval in intervals {
            let history = &self.histories[interval.select];
            let captured = match interval.captured_by {
                // The trigger begins with its own change.
                CapturedBy::Change if interval.select == 0 => Some(interval.start),
                CapturedBy::Change => history.next_change(interval.start),
                CapturedBy::AnyAnswer => history.first().map(|first| first.max(interval.start)),
            };
            let in_time = captured.filter(|at| interval.finish.is_none_or(|finish| *at <= finish));
            let (at, end) = match in_time {
                Some(at) => (at, End::Captured),
                None => (interval.finish.unwrap_or(self.until).max(interval.start), End::Missed),
            };
            self.due.insert((at, number, interval.select, end));
            if let Some(open) = &mut self.open[number] {
                open.intervals.insert(interval.select, interval);
            }
        }
    }

    fn close(&mut self, (at, number, select, end): Due) -> Result<(), Error> {
        let Some(mut open) = self.open[number].take() else { return Ok(()) };
        if !open.instance.is_open(select) {
            self.open[number] = Some(open);
            return Ok(());
        }
        let what = self.plan.selects()[select].what;
        let step = match end {
            End::Captured => {
                let (version, seen) = self.histories[select].at(at, self.store)?;
                let part = self.memory.parts.get(select).cloned().unwrap_or_default();
                let newness = Newness::of(select, waits(&self.plan, select), part.captured, self.from);
                let mut captured = CapturedPart::of(what, newness, at, &seen, &part);
                captured.version = version;
                self.memory.captured(select, what, at, &seen);
                open.state.parts.insert(select, captured);
                open.instance.captured(&self.plan, select, &open.state.captures(&self.plan), at)
            }
            End::Missed => open.instance.missed(&self.plan, select, &open.state.captures(&self.plan), at),
        };
        if let Some(outcome) = step.outcome {
            self.ended(at, &open, select, outcome);
        } else {
            self.open[number] = Some(open);
            self.want(number, step.extend);
        }
        Ok(())
    }

    fn ended(&mut self, at: Time, open: &OpenInstance, select: usize, outcome: Outcome) {
        match outcome {
            Outcome::Complete if open.state.has_nothing_new(&self.plan) => self.rehearsal.n_silent += 1,
            Outcome::Complete => {
                self.rehearsal.n_results += 1;
                if self.rehearsal.results.len() < MOST_SHOWN {
                    let parts = self.parts(open);
                    self.rehearsal.results.push(RehearsedResult { at, parts });
                }
            }
            Outcome::Missed => {
                self.rehearsal.n_missed += 1;
                if self.rehearsal.misses.len() < MOST_SHOWN {
                    let name = self.plan.selects()[select].name.clone();
                    self.rehearsal.misses.push(RehearsedMiss { began: open.instance.start(), name });
                }
            }
            Outcome::Filtered | Outcome::FellAway => self.rehearsal.n_silent += 1,
        }
    }

    fn parts(&self, open: &OpenInstance) -> Vec<(String, SourceId, Option<VersionId>, serde_json::Value)> {
        let told = |(position, part): (&usize, &CapturedPart)| {
            let select = self.plan.selects().get(*position)?;
            let is_json = matches!(select.from, From::Json(_));
            let items: Vec<_> = part.items.iter().map(|item| item_json(item, select.what, is_json)).collect();
            let source = self.histories.get(*position)?.source?;
            Some((select.name.clone(), source, part.version, items.into()))
        };
        open.state.parts.iter().filter_map(told).collect()
    }
}

/// Whether a select captures changes only.
pub(super) fn waits(plan: &QueryPlan, select: usize) -> bool {
    plan.selects().get(select).is_some_and(|select| select.start == Some(Start::OnChange))
}
