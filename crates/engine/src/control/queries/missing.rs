//! Parts that were not captured in time, and why.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::plan::CapturedBy;
use dunlin_sched::scheduler::Hold;
use dunlin_store::{InstanceEnd, InstanceId, InstanceNext, InstanceStep, NewMiss, SourceId};

use super::capturing::Closed;
use super::{before, write_steps};
use crate::control::{Command, Control};
use crate::queries::{MissReason, MissedPart, PartInterval};

/// The end of an interval.
const LATELY: Duration = Duration::from_secs(10);

impl Control {
    /// Closes parts whose time is over. One whose source is being probed waits for the result.
    pub(in crate::control) fn miss_overdue_parts(&mut self, now: Time, commands: &mut Vec<Command>) {
        let mut steps = Vec::new();
        while let Some((finish, id, select)) = self.queries.ends.first().copied().filter(|(at, ..)| *at < now)
        {
            self.queries.ends.remove(&(finish, id, select));
            let Some(open) = self.queries.open.get(&id) else { continue };
            if !open.state.instance.is_open(select) {
                continue;
            }
            let Some(source) = self.source_of(id, select) else { continue };
            let index = self.sources.find(source);
            if index.and_then(|index| self.sources.get(index)).is_some_and(|source| source.is_being_probed) {
                self.queries.ends.insert((now.plus(self.settings.chronon), id, select));
                continue;
            }
            if let Some(missed) = self.missed_part(now, id, select, source) {
                steps.extend(self.close_parts(now, id, vec![(select, Closed::Missed(missed))], None));
            }
        }
        self.withdraw_ended(now);
        write_steps(now, steps, commands);
    }

    /// Gives up an instance, since its query has begun too many.
    pub(super) fn crowd_out(&mut self, now: Time, id: InstanceId) -> Option<InstanceStep> {
        let open = self.queries.open.get(&id)?;
        let (query, began) = (open.query, open.state.instance.start());
        let first = open.state.intervals.keys().find(|select| open.state.instance.is_open(**select)).copied();
        let mut missed = open.state.missed.clone();
        missed.extend(first.and_then(|select| {
            let source = self.source_of(id, select)?;
            let reason = MissReason::TooMany;
            let message = "too many instances of the query were open, and this was the oldest".to_owned();
            self.described(id, select, source, reason, message)
        }));
        let parts = serde_json::to_string(&missed).unwrap_or_default();
        if let Some(cei) = self.queries.forget(id) {
            self.ended_ceis.push(cei);
        }
        self.stats.ceis_lost += 1;
        let next = InstanceNext::Ended(InstanceEnd::Missed(NewMiss { began, at: now, parts }));
        Some(InstanceStep { instance: id, query, next, memory: None })
    }

    fn source_of(&self, id: InstanceId, select: usize) -> Option<SourceId> {
        let open = self.queries.open.get(&id)?;
        self.queries.installed.get(&open.query)?.config.sources.get(select).copied()
    }

    fn missed_part(&self, now: Time, id: InstanceId, select: usize, source: SourceId) -> Option<MissedPart> {
        let open = self.queries.open.get(&id)?;
        let interval = *open.state.intervals.get(&select)?;
        let weight = self.queries.installed.get(&open.query)?.config.weight;
        let (why, message) = self.why_missed(now, &interval, source, weight);
        self.described(id, select, source, why, message)
    }

    fn described(
        &self,
        id: InstanceId,
        select: usize,
        source: SourceId,
        why: MissReason,
        message: String,
    ) -> Option<MissedPart> {
        let open = self.queries.open.get(&id)?;
        let name = self.queries.installed.get(&open.query)?.config.plan.selects().get(select)?.name.clone();
        let interval = open.state.intervals.get(&select)?;
        let (from, until) = (interval.planned.start.micros(), interval.finish.micros());
        Some(MissedPart { name, source: source.0, from, until, why, message })
    }

    fn why_missed(
        &self,
        now: Time,
        interval: &PartInterval,
        source: SourceId,
        weight: f64,
    ) -> (MissReason, String) {
        if interval.planned.captured_by == CapturedBy::Change {
            return (MissReason::Unchanged, "no change of it was seen in time".to_owned());
        }
        let from = interval.planned.start;
        if let Some(started) = self.queries.started.filter(|started| *started > from) {
            let when = if started > interval.finish { "" } else { " for a part of the time" };
            return (MissReason::NotRunning, format!("the service was not running{when}"));
        }
        let known = self.sources.find(source).and_then(|index| self.sources.get(index));
        let Some((known, resource)) = known.and_then(|known| Some((known, known.resource?))) else {
            return (MissReason::NotWatched, "its source is paused, or cannot be used".to_owned());
        };
        if known.failures > 0 {
            return (MissReason::Failed, format!("the last probe failed: {}", known.state.reason));
        }
        let Some(explained) = self.scheduler.scheduler().explain(resource, now) else {
            return (MissReason::NotWatched, "its source is paused, or cannot be used".to_owned());
        };
        let is_of_host = |hold: &Hold| {
            matches!(
                hold,
                Hold::HostHeld { .. } | Hold::HostBusy | Hold::HostBudget { .. } | Hold::NotBefore { .. }
            )
        };
        if self.budget.per_second == 0.0 {
            return (MissReason::Budget, "there is no budget".to_owned());
        }
        let until = interval.finish;
        let host = self.resources.get(resource).map(|resource| resource.host);
        // Whether its host was busy with something else when it had to be asked at the latest.
        let late = from.max(before(until, LATELY));
        let is_spent = explained.holds.iter().any(|hold| matches!(hold, Hold::Budget { .. }));
        let was_busy = !is_spent && host.is_some_and(|host| self.recent_choices.was_asked(host, late, until));
        if was_busy || explained.holds.iter().any(is_of_host) {
            return (MissReason::Host, "its host could not be asked in time".to_owned());
        }
        let least = self.recent_choices.least_worth(from, until);
        let went = least.map_or_else(String::new, |least| format!(" to probes worth {least:.2} or more"));
        (MissReason::Budget, format!("the budget went{went}, and its result is worth {weight}"))
    }
}
