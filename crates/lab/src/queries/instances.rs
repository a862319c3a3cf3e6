//! When the instances of a query begin in an epoch, and what each of them wants, in chronons.
//!
//! From moments to chronons: an interval covers the chronon in which it begins, and those after it that lie in it as a whole.
//! Changes of a source in one chronon count as one, and a probe of that chronon sees it.

use std::time::Duration;

use dunlin_core::{Chronon, ExecutionInterval, SourceIdx, Time};
use dunlin_query::plan::{CapturedBy, QueryPlan};
use dunlin_query::{Body, Need, Query, Start};

use super::conditions::{Conditions, may_hold};
use crate::files::{Epoch, TraceFile};

/// All there is to know for the instances of one query.
pub(super) struct Instances<'a> {
    pub(super) plan: &'a QueryPlan,
    pub(super) query: &'a Query,
    pub(super) trace: &'a TraceFile,
    /// By select, the index in the trace.
    pub(super) sources: &'a [usize],
    pub(super) epoch: Epoch,
}

/// An instance, of which all is known.
pub(super) struct Instance {
    pub(super) intervals: Vec<Wanted>,
    /// How many of them have to be captured.
    pub(super) need: u32,
}

/// An interval on a source of the trace.
pub(super) struct Wanted {
    pub(super) source: usize,
    start: Chronon,
    finish: Chronon,
}

impl Wanted {
    /// The same on a source that goes by another number.
    pub(super) fn interval(&self, source: SourceIdx) -> Result<ExecutionInterval, dunlin_core::Error> {
        ExecutionInterval::new(source, self.start, self.finish)
    }
}

/// What becomes of a select in an instance.
enum Part {
    /// Its WHEN does not hold.
    LeftOut,
    /// Its interval cannot be captured by anybody.
    Impossible,
    /// It has an interval, and what waits for it begins then.
    Wanted(Wanted, Time),
}

impl Instances<'_> {
    /// When instances begin, in order, each at another second.
    pub(super) fn starts(&self) -> Box<dyn Iterator<Item = Time> + '_> {
        let begin = Time::from_seconds(self.epoch.start);
        if let (Some(Start::OnChange), Some(source)) =
            (self.plan.selects().first().and_then(|select| select.start.as_ref()), self.sources.first())
        {
            let changes = self.changes(*source).filter(|change| self.plan.is_open(*change));
            return Box::new(changes);
        }
        let just_before = Time::from_micros(begin.micros().saturating_sub(1));
        let starts = std::iter::successors(self.plan.next_instance(just_before), |last| {
            self.plan.next_instance(*last)
        });
        Box::new(starts.take_while(|start| self.chronon(*start).is_some()))
    }

    /// An instance that begins then; none if nobody could meet it.
    pub(super) fn begin(&self, start: Time, conditions: &Conditions) -> Option<Instance> {
        let drawn = conditions.drawn(start.seconds());
        let mut parts: Vec<Part> = Vec::with_capacity(drawn.len());
        for (select, holds) in drawn.into_iter().enumerate() {
            parts.push(self.part(select, start, holds, &parts));
        }
        let n_impossible = parts.iter().filter(|part| matches!(part, Part::Impossible)).count();
        let wanted = |part| if let Part::Wanted(wanted, _) = part { Some(wanted) } else { None };
        let intervals: Vec<Wanted> = parts.into_iter().filter_map(wanted).collect();
        let planned = intervals.len() + n_impossible;
        let need = match &self.query.body {
            Body::Select(block) => match block.need {
                Need::All => planned,
                Need::Any(need) => need.min(planned),
            },
            Body::Watch(_) => return None,
        };
        let need_fits = (1..=intervals.len()).contains(&need);
        Some(Instance { intervals, need: u32::try_from(need).ok()? }).filter(|_| need_fits)
    }

    /// One select of an instance, when those before it are known. What a WHEN asks about is taken to be captured as its
    /// interval begins.
    fn part(&self, select: usize, start: Time, holds: bool, before: &[Part]) -> Part {
        let selects = self.plan.selects();
        let moment_of = |name: &str| {
            let position = selects.iter().position(|select| select.name == name)?;
            if let Some(Part::Wanted(_, moment)) = before.get(position) { Some(*moment) } else { None }
        };
        let event = match selects[select].condition() {
            None => start,
            Some(condition) if holds && may_hold(condition, &|name| moment_of(name).is_some()) => {
                condition.names().into_iter().filter_map(moment_of).max().unwrap_or(start)
            }
            Some(_) => return Part::LeftOut,
        };
        let planned = self.plan.interval(select, event);
        let Some(mut begin) = self.chronon(planned.start) else { return Part::Impossible };
        let source = self.sources[select];
        let mut moment = planned.start;
        // Its end counts from where the interval begins, also where only a later change can capture it.
        let by_the_clock = planned.finish.map(|finish| self.last_within(finish).max(begin));
        if planned.captured_by == CapturedBy::Change {
            let Some((chronon, change)) = self.change_from(source, begin) else { return Part::Impossible };
            (begin, moment) = (chronon, moment.max(change));
        }
        let finish = by_the_clock.unwrap_or_else(|| self.overwritten(source, begin));
        if finish < begin {
            return Part::Impossible;
        }
        Part::Wanted(Wanted { source, start: begin, finish }, moment)
    }

    /// The chronon of a moment, if it lies in the epoch.
    fn chronon(&self, time: Time) -> Option<Chronon> {
        self.chronon_of(time.seconds())
    }

    fn chronon_of(&self, second: i64) -> Option<Chronon> {
        let number = u32::try_from(self.epoch.chronon_of(second)).ok();
        number.filter(|number| *number <= self.epoch.chronons).and_then(Chronon::new)
    }

    /// The last chronon that is over when a moment is; it may lie behind the epoch. The first one if none is.
    fn last_within(&self, last_moment: Time) -> Chronon {
        let since = last_moment.since(Time::from_seconds(self.epoch.start)) + Duration::from_micros(1);
        let number = since.as_micros() / (u128::from(self.epoch.chronon_seconds.get()) * 1_000_000);
        Chronon::new(u32::try_from(number).unwrap_or(u32::MAX)).unwrap_or(Chronon::FIRST)
    }

    /// The changes of a source in the epoch: the first of each chronon.
    fn changes(&self, source: usize) -> impl Iterator<Item = Time> {
        let times = self.trace.times[source].iter();
        let mut last = None;
        times.filter_map(move |time| {
            let chronon = self.chronon_of(*time)?;
            (last.replace(chronon) != Some(chronon)).then(|| Time::from_seconds(*time))
        })
    }

    /// The first change of a source in a chronon or later.
    fn change_from(&self, source: usize, chronon: Chronon) -> Option<(Chronon, Time)> {
        let times = &self.trace.times[source];
        let first = times.partition_point(|time| self.epoch.chronon_of(*time) < i128::from(chronon.get()));
        let time = *times.get(first)?;
        Some((self.chronon_of(time)?, Time::from_seconds(time)))
    }

    /// The last chronon before a source changes again, or the last one of all.
    fn overwritten(&self, source: usize, begin: Chronon) -> Chronon {
        match self.change_from(source, begin.plus(1)) {
            Some((next, _)) => begin.plus(next.since(begin) - 1),
            None => begin.plus(self.epoch.chronons.saturating_sub(begin.get())),
        }
    }
}
