//! What a capture of a source means to the instances that want it: parts are captured, conditions decided, results told.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_query::plan::{CapturedBy, Outcome, Step};
use dunlin_query::{From, What};
use dunlin_store::{
    Capture, CapturedInterval, InstanceEnd, InstanceId, InstanceNext, InstanceStep, NewMiss, NewPart,
    NewResult, QueryId, SourceId, VersionId,
};

use super::{OpenInstance, waits_for_change};
use crate::control::Control;
use crate::queries::{CapturedPart, MissedPart, Newness, PartMemory, SeenItem, item_json};

/// How a part of an instance closed.
pub(super) enum Closed {
    Captured(CapturedPart),
    Missed(MissedPart),
}

impl Control {
    /// Takes the steps that follow from a capture; they are stored with it. `seen` is what is on the source now.
    pub(in crate::control) fn step_queries(&mut self, now: Time, capture: &mut Capture, seen: &[SeenItem]) {
        let (source, at) = (capture.source, capture.at);
        if !self.queries.reads(source) {
            return;
        }
        let has_changed = capture.outcome == dunlin_store::Outcome::Changed;
        let mut steps = if has_changed { Vec::new() } else { self.note_first(source, seen) };
        let mut hits: BTreeMap<InstanceId, BTreeSet<usize>> = BTreeMap::new();
        let mut wanted = BTreeMap::new();
        for interval in &capture.intervals {
            if let Some((instance, select)) = self.part_of(*interval, source) {
                hits.entry(instance).or_default().insert(select);
            }
        }
        if has_changed {
            for (query, select) in self.concerned_by_change(source, at, seen) {
                if let Some((instance, wants)) = self.begun_by_change(now, query, select, at, &mut steps) {
                    hits.entry(instance).or_default().insert(select);
                    wanted.insert(instance, wants);
                }
                for instance in self.waiting_for_change(query, select, at) {
                    hits.entry(instance).or_default().insert(select);
                }
            }
        }
        // What is new for a query is the same for all its instances.
        let mut parts: BTreeMap<(QueryId, usize), CapturedPart> = BTreeMap::new();
        for (instance, selects) in &hits {
            let Some(query) = self.queries.open.get(instance).map(|open| open.query) else { continue };
            for select in selects {
                if !parts.contains_key(&(query, *select))
                    && let Some(part) = self.captured_part(query, *select, at, seen)
                {
                    parts.insert((query, *select), part);
                }
            }
        }
        for (query, select) in parts.keys() {
            if let Some(installed) = self.queries.installed.get_mut(query)
                && let Some(of) = installed.config.plan.selects().get(*select)
            {
                let what = of.what;
                installed.config.memory.captured(*select, what, at, seen);
            }
        }
        for (instance, selects) in hits {
            let Some(query) = self.queries.open.get(&instance).map(|open| open.query) else { continue };
            let closed = selects.into_iter().filter_map(|select| {
                parts.get(&(query, select)).map(|part| (select, Closed::Captured(part.clone())))
            });
            let wants = wanted.remove(&instance).flatten();
            steps.extend(self.close_parts(now, instance, closed.collect(), wants));
        }
        capture.steps = steps;
    }

    /// Parts that wait for changes remember what they found, so that the first change can be compared with it.
    fn note_first(&mut self, source: SourceId, seen: &[SeenItem]) -> Vec<InstanceStep> {
        let Some(readers) = self.queries.by_source.get_mut(&source) else { return Vec::new() };
        if seen.is_empty() || readers.to_compare.is_empty() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (query, select) in std::mem::take(&mut readers.to_compare) {
            let Some(installed) = self.queries.installed.get_mut(&query) else { continue };
            let Some(of) = installed.config.plan.selects().get(select) else { continue };
            installed.config.memory.note_first(select, of.what, seen);
            let memory = Some(installed.config.memory.to_bytes());
            // No instance has begun, so none is stored under this number.
            let instance = self.queries.next_id();
            let next = InstanceNext::Ended(InstanceEnd::Silent);
            steps.push(InstanceStep { instance, query, next, memory });
        }
        steps
    }

    /// The selects that a change of a source may mean something to, in order: those that wait for changes, and triggers unless
    /// they ask for words that the change did not bring. An instance that they began would end at once, and silently.
    fn concerned_by_change(
        &self,
        source: SourceId,
        at: Time,
        seen: &[SeenItem],
    ) -> BTreeSet<(QueryId, usize)> {
        let Some(readers) = self.queries.by_source.get(&source) else { return BTreeSet::new() };
        let mut concerned = readers.of_any_change.clone();
        for (what, triggers) in [(What::Item, &readers.item_triggers), (What::Value, &readers.value_triggers)]
        {
            if !triggers.is_empty() {
                let blank = PartMemory::default();
                let words = CapturedPart::of(what, Newness::WithThisChange, at, seen, &blank).words();
                let asking = triggers.concerned(words.iter().map(String::as_str));
                concerned.extend(asking.into_keys().map(|query| (query, 0)));
            }
        }
        concerned
    }

    /// The version that holds what was captured of a source at a time is known.
    pub(in crate::control) fn note_version(&mut self, source: SourceId, at: Time, version: VersionId) {
        let Some(readers) = self.queries.by_source.get(&source) else { return };
        for instance in &readers.open {
            let Some(open) = self.queries.open.get_mut(instance) else { continue };
            let Some(installed) = self.queries.installed.get(&open.query) else { continue };
            for (select, part) in &mut open.state.parts {
                if part.at == at && installed.config.sources.get(*select) == Some(&source) {
                    part.version = Some(version);
                }
            }
        }
    }

    /// The part of an instance that an interval of the ledger stands for.
    fn part_of(&self, captured: CapturedInterval, source: SourceId) -> Option<(InstanceId, usize)> {
        let id = *self.queries.by_cei.get(&captured.cei)?;
        let interval = self.ceis.interval(captured)?;
        let open = self.queries.open.get(&id)?;
        let config = &self.queries.installed.get(&open.query)?.config;
        let is_it = |(select, part): &(&usize, &crate::queries::PartInterval)| {
            part.planned.captured_by == CapturedBy::AnyAnswer
                && config.sources.get(**select) == Some(&source)
                && (part.planned.start, part.finish) == (interval.start, interval.finish)
                && open.state.instance.is_open(**select)
        };
        open.state.intervals.iter().find(is_it).map(|(select, _)| (id, *select))
    }

    /// The instance that begins with a change of the source of its trigger.
    fn begun_by_change(
        &mut self,
        now: Time,
        query: QueryId,
        select: usize,
        at: Time,
        steps: &mut Vec<InstanceStep>,
    ) -> Option<(InstanceId, Option<dunlin_store::NewCei>)> {
        let config = &self.queries.installed.get(&query)?.config;
        let begins =
            select == 0 && waits_for_change(config, 0) && !config.is_paused && config.plan.is_open(at);
        if begins { self.begin_instance(now, query, at, steps) } else { None }
    }

    fn waiting_for_change(&self, query: QueryId, select: usize, at: Time) -> Vec<InstanceId> {
        let Some(installed) = self.queries.installed.get(&query) else { return Vec::new() };
        if !waits_for_change(&installed.config, select) {
            return Vec::new();
        }
        let is_waiting = |id: &&InstanceId| {
            self.queries.open.get(id).is_some_and(|open| {
                let interval = open.state.intervals.get(&select);
                open.state.instance.is_open(select)
                    && interval.is_some_and(|part| part.planned.start <= at && at <= part.finish)
            })
        };
        installed.open.iter().filter(is_waiting).copied().collect()
    }

    fn captured_part(
        &self,
        query: QueryId,
        select: usize,
        at: Time,
        seen: &[SeenItem],
    ) -> Option<CapturedPart> {
        let config = &self.queries.installed.get(&query)?.config;
        let what = config.plan.selects().get(select)?.what;
        let (memory, installed) = (config.memory.parts.get(select)?, config.installed);
        let newness = Newness::of(select, waits_for_change(config, select), memory.captured, installed);
        Some(CapturedPart::of(what, newness, at, seen, memory))
    }

    /// Closes parts of an instance, and what follows from that, as one step.
    pub(super) fn close_parts(
        &mut self,
        now: Time,
        id: InstanceId,
        closed: Vec<(usize, Closed)>,
        mut wants: Option<dunlin_store::NewCei>,
    ) -> Option<InstanceStep> {
        let query = self.queries.open.get(&id)?.query;
        let mut outcome = None;
        let mut memory = None;
        for (select, closing) in closed {
            if matches!(closing, Closed::Captured(_)) {
                memory = Some(());
            }
            let step = self.close_part(id, select, closing, now)?;
            outcome = step.outcome;
            if outcome.is_some() {
                break;
            }
            let more = self.add_intervals(now, id, step.extend);
            wants = joined(wants, more);
        }
        let memory =
            memory.and_then(|()| self.queries.installed.get(&query)).map(|own| own.config.memory.to_bytes());
        let Some(outcome) = outcome else { return self.open_step(id, wants, memory) };
        let end = self.instance_end(id, outcome, now)?;
        match &end {
            InstanceEnd::Missed(_) => self.stats.ceis_lost += 1,
            InstanceEnd::Result(_) | InstanceEnd::SeenAgain { .. } | InstanceEnd::Silent => {
                self.stats.ceis_captured += 1;
            }
        }
        if let Some(cei) = self.queries.forget(id) {
            self.ended_ceis.push(cei);
        }
        Some(InstanceStep { instance: id, query, next: InstanceNext::Ended(end), memory })
    }

    fn close_part(&mut self, id: InstanceId, select: usize, closing: Closed, now: Time) -> Option<Step> {
        let open = self.queries.open.get_mut(&id)?;
        let plan = &self.queries.installed.get(&open.query)?.config.plan;
        if let Some(interval) = open.state.intervals.get(&select) {
            self.queries.ends.remove(&(interval.finish, id, select));
        }
        // The instance is changed while what was captured is looked at.
        let mut instance = open.state.instance.clone();
        let step = match closing {
            Closed::Captured(part) => {
                let at = part.at;
                open.state.parts.insert(select, part);
                instance.captured(plan, select, &open.state.captures(plan), at)
            }
            Closed::Missed(missed) => {
                open.state.missed.push(missed);
                instance.missed(plan, select, &open.state.captures(plan), now)
            }
        };
        open.state.instance = instance;
        Some(step)
    }

    fn instance_end(&self, id: InstanceId, outcome: Outcome, now: Time) -> Option<InstanceEnd> {
        let open = self.queries.open.get(&id)?;
        let config = &self.queries.installed.get(&open.query)?.config;
        Some(match outcome {
            Outcome::Complete if open.state.has_nothing_new(&config.plan) => InstanceEnd::Silent,
            Outcome::Complete => {
                InstanceEnd::Result(NewResult { at: now, parts: told_parts(open, config), story: None })
            }
            Outcome::Missed => {
                let parts = serde_json::to_string(&open.state.missed).unwrap_or_default();
                InstanceEnd::Missed(NewMiss { began: open.state.instance.start(), at: now, parts })
            }
            Outcome::Filtered | Outcome::FellAway => InstanceEnd::Silent,
        })
    }
}

fn told_parts(open: &OpenInstance, config: &crate::queries::QueryConfig) -> Vec<NewPart> {
    let told = |(position, part): (&usize, &CapturedPart)| {
        let select = config.plan.selects().get(*position)?;
        let is_json = matches!(select.from, From::Json(_));
        let items: Vec<_> = part.items.iter().map(|item| item_json(item, select.what, is_json)).collect();
        Some(NewPart {
            name: select.name.clone(),
            source: *config.sources.get(*position)?,
            at: part.at,
            version: part.version,
            items: serde_json::Value::from(items).to_string(),
        })
    };
    open.state.parts.iter().filter_map(told).collect()
}

/// What an instance wants of its ledger by two steps in one.
fn joined(
    first: Option<dunlin_store::NewCei>,
    second: Option<dunlin_store::NewCei>,
) -> Option<dunlin_store::NewCei> {
    match (first, second) {
        (Some(mut first), Some(second)) => {
            first.intervals.extend(second.intervals);
            first.need += second.need;
            Some(first)
        }
        (first, second) => first.or(second),
    }
}
