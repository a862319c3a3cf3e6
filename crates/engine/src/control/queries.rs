//! Installed queries and their instances: which begin, what a capture or a miss means to them, and what they tell. Which source is
//! probed when is the scheduler's decision: an instance only wants intervals, as a CEI of the ledger.
//!
//! A part that waits for changes (ON CHANGE) has no interval there: its source is a change demand, and the first change that is
//! seen captures the part. All else is asked for within an interval.
//!
//! Invariant: a step of an instance is in memory before it is in the store, and it is stored in the transaction of the capture
//! that it follows from, in order. So a kill loses a step only together with its capture.

mod capturing;
mod missing;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::limits::MAX_INTERVAL;
use dunlin_query::plan::{CapturedBy, PlannedInterval};
use dunlin_query::{Need, Start, Term, TermIndex, What};
use dunlin_store::{
    CeiId, InstanceId, InstanceNext, InstanceStep, NewCei, NewInterval, QueryId, SourceId, StoredCei,
    StoredInstance,
};

use super::{Command, Control, Write};
use crate::queries::{InstanceState, PartInterval, PartMemory, QueryConfig};

pub use report::{OpenPart, QueryReport, ReadPart};

/// The most open instances of one query; another one is begun in the place of the oldest.
const MOST_OPEN: usize = 256;

/// A change that is wanted is overwritten by the one after it. There have been two with even odds when so many times as many are
/// expected as for one.
const SECOND_CHANGE: f64 = 2.42;

/// All installed queries.
#[derive(Debug, Default)]
pub(super) struct Queries {
    installed: BTreeMap<QueryId, Installed>,
    by_source: BTreeMap<SourceId, Readers>,
    /// When the next instance of each begins by the clock.
    begins: BTreeSet<(Time, QueryId)>,
    open: BTreeMap<InstanceId, OpenInstance>,
    by_cei: BTreeMap<CeiId, InstanceId>,
    /// When queries end that wait for changes, which are worth nothing to them from then on.
    over: BTreeSet<(Time, QueryId)>,
    /// When an open part is over.
    ends: BTreeSet<(Time, InstanceId, usize)>,
    last_id: i64,
    /// When this run began.
    started: Option<Time>,
}

/// The selects that read a source, by what a change of it may mean to them.
#[derive(Debug, Default)]
struct Readers {
    all: BTreeSet<(QueryId, usize)>,
    /// Those that wait for changes, and have to look at each.
    of_any_change: BTreeSet<(QueryId, usize)>,
    /// Those among them that have yet to be told what is there, to compare the first change with.
    to_compare: BTreeSet<(QueryId, usize)>,
    /// Triggers that a change means something to only if it brought certain words: of new items, or of values.
    item_triggers: TermIndex<QueryId>,
    value_triggers: TermIndex<QueryId>,
    /// The open instances that read it.
    open: BTreeSet<InstanceId>,
}

impl Readers {
    fn add(&mut self, config: &QueryConfig, select: usize) {
        self.all.insert((config.id, select));
        match self.triggers(config, select) {
            Some((triggers, terms)) => triggers.insert(config.id, &terms),
            None if waits_for_change(config, select) => {
                self.of_any_change.insert((config.id, select));
                if config.memory.parts.get(select).is_some_and(PartMemory::is_blank) {
                    self.to_compare.insert((config.id, select));
                }
            }
            None => {}
        }
    }

    fn remove(&mut self, config: &QueryConfig, select: usize) {
        self.all.remove(&(config.id, select));
        self.of_any_change.remove(&(config.id, select));
        self.to_compare.remove(&(config.id, select));
        if let Some((triggers, terms)) = self.triggers(config, select) {
            triggers.remove(config.id, &terms);
        }
    }

    /// The triggers to which a select belongs, with its terms.
    fn triggers(
        &mut self,
        config: &QueryConfig,
        select: usize,
    ) -> Option<(&mut TermIndex<QueryId>, Vec<Term>)> {
        let terms = config.plan.trigger_terms().filter(|_| select == 0)?;
        Some(match config.plan.selects().first()?.what {
            What::Item => (&mut self.item_triggers, terms),
            What::Value => (&mut self.value_triggers, terms),
        })
    }
}

#[derive(Debug)]
struct Installed {
    config: QueryConfig,
    open: BTreeSet<InstanceId>,
    next: Option<Time>,
}

#[derive(Debug)]
struct OpenInstance {
    query: QueryId,
    state: InstanceState,
    cei: Option<CeiId>,
}

impl Queries {
    /// `first` is a number from which on no instance of an earlier run was counted.
    pub(super) fn new(first: u64) -> Self {
        Self { last_id: first.cast_signed(), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.installed.len()
    }

    /// Whether what is on a source now is asked for by a query.
    pub(super) fn reads(&self, source: SourceId) -> bool {
        self.by_source.contains_key(&source)
    }

    /// Whether a CEI belongs to an instance, which then is what is counted.
    pub(super) fn owns(&self, cei: CeiId) -> bool {
        self.by_cei.contains_key(&cei)
    }

    /// When something next begins or is over.
    pub(super) fn next_due(&self) -> Option<Time> {
        let begins = self.begins.first().map(|(at, _)| *at);
        // An interval is over after its last moment.
        let ends = self.ends.first().map(|(at, ..)| at.plus(Duration::from_micros(1)));
        let over = self.over.first().map(|(at, _)| *at);
        begins.into_iter().chain(ends).chain(over).min()
    }

    /// What a change of a source is worth to the queries that wait for it.
    pub(super) fn weight_of(&self, source: SourceId, now: Time) -> f64 {
        let Some(readers) = self.by_source.get(&source) else { return 0.0 };
        let mut waiting: Vec<&QueryConfig> = Vec::new();
        for (query, select) in &readers.all {
            let Some(Installed { config, .. }) = self.installed.get(query) else { continue };
            let runs = !config.is_paused && config.plan.is_open(now);
            // One that reads it in two parts is worth no more.
            let is_counted = waiting.last().is_some_and(|last| last.id == *query);
            if runs && !is_counted && waits_for_change(config, *select) {
                waiting.push(config);
            }
        }
        waiting.iter().map(|config| config.weight).sum()
    }

    pub(super) const fn next_id(&mut self) -> InstanceId {
        self.last_id = self.last_id.wrapping_add(1);
        InstanceId(self.last_id)
    }

    /// Forgets an instance; the CEI that it had.
    fn forget(&mut self, id: InstanceId) -> Option<CeiId> {
        let open = self.open.remove(&id)?;
        if let Some(installed) = self.installed.get_mut(&open.query) {
            installed.open.remove(&id);
            for source in &installed.config.sources {
                self.by_source.get_mut(source).into_iter().for_each(|readers| {
                    readers.open.remove(&id);
                });
            }
        }
        for (select, interval) in &open.state.intervals {
            self.ends.remove(&(interval.finish, id, *select));
        }
        if let Some(cei) = open.cei {
            self.by_cei.remove(&cei);
        }
        open.cei
    }

    fn keep(&mut self, id: InstanceId, open: OpenInstance) {
        let Some(installed) = self.installed.get_mut(&open.query) else { return };
        installed.open.insert(id);
        for source in &installed.config.sources {
            self.by_source.get_mut(source).into_iter().for_each(|readers| {
                readers.open.insert(id);
            });
        }
        for (select, interval) in &open.state.intervals {
            if open.state.instance.is_open(*select) {
                self.ends.insert((interval.finish, id, *select));
            }
        }
        if let Some(cei) = open.cei {
            self.by_cei.insert(cei, id);
        }
        self.open.insert(id, open);
    }
}

impl Control {
    /// A query is installed, edited, paused or resumed. Instances that have begun go.
    pub(super) fn query_installed(&mut self, now: Time, config: QueryConfig) {
        self.query_removed(now, config.id);
        self.queries.started.get_or_insert(now);
        let id = config.id;
        for (select, source) in config.sources.iter().enumerate() {
            self.queries.by_source.entry(*source).or_default().add(&config, select);
        }
        let next = if config.is_paused { None } else { first_begin(&config, now) };
        self.queries.begins.extend(next.map(|at| (at, id)));
        let sources = config.sources.clone();
        self.watches.weigh_again(awaited(&config));
        self.queries.over.extend(end_of_waiting(&config).map(|end| (end, id)));
        self.queries.installed.insert(id, Installed { config, open: BTreeSet::new(), next });
        for source in sources {
            // What is new can be told from the second probe on.
            let never_seen =
                |index| self.sources.get(index).is_some_and(|source| source.last_probe.is_none());
            if self.sources.find(source).is_some_and(never_seen) {
                let _ = self.request_probe(now, source);
            }
        }
    }

    /// A query is removed, and its instances with it.
    pub(super) fn query_removed(&mut self, now: Time, id: QueryId) {
        let Some(installed) = self.queries.installed.get(&id) else { return };
        for instance in installed.open.clone() {
            if let Some(cei) = self.queries.forget(instance) {
                self.cei_withdrawn(now, cei);
            }
        }
        let Some(installed) = self.queries.installed.remove(&id) else { return };
        self.watches.weigh_again(awaited(&installed.config));
        if let Some(end) = installed.config.plan.end() {
            self.queries.over.remove(&(end, id));
        }
        for (select, source) in installed.config.sources.iter().enumerate() {
            if let Some(readers) = self.queries.by_source.get_mut(source) {
                readers.remove(&installed.config, select);
                if readers.all.is_empty() {
                    self.queries.by_source.remove(source);
                }
            }
        }
        if let Some(next) = installed.next {
            self.queries.begins.remove(&(next, id));
        }
    }

    /// An instance of an earlier run; its CEI comes on its own.
    pub(super) fn instance_restored(&mut self, stored: &StoredInstance) {
        let Some(state) = InstanceState::from_bytes(&stored.state) else {
            tracing::warn!(instance = %stored.id, "an instance of a query cannot be read, and is forgotten");
            return;
        };
        self.queries.keep(stored.id, OpenInstance { query: stored.query, state, cei: stored.cei });
    }

    /// An instance and its CEI, as they are in the store.
    pub(super) fn instance_read(&mut self, now: Time, stored: &StoredInstance, cei: Option<StoredCei>) {
        let Some(open) = self.queries.open.get_mut(&stored.id) else { return };
        let Some(cei) = cei else { return };
        if let Some(before) = open.cei.replace(cei.id).filter(|before| *before != cei.id) {
            self.queries.by_cei.remove(&before);
        }
        self.queries.by_cei.insert(cei.id, stored.id);
        self.cei_stored(now, cei);
    }

    /// Ends queries, and begins the instances whose time has come.
    pub(super) fn begin_instances(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some((end, id)) = self.queries.over.first().copied().filter(|(end, _)| *end <= now) {
            self.queries.over.remove(&(end, id));
            let ended = self.queries.installed.get(&id);
            self.watches.weigh_again(ended.into_iter().flat_map(|ended| awaited(&ended.config)));
        }
        let mut steps = Vec::new();
        while let Some((at, id)) = self.queries.begins.first().copied().filter(|(at, _)| *at <= now) {
            self.queries.begins.remove(&(at, id));
            let Some(installed) = self.queries.installed.get_mut(&id) else { continue };
            let plan = &installed.config.plan;
            // What would have begun while nobody looked is over, or about to be.
            let next = plan.next_instance(at).filter(|next| *next > now).or_else(|| plan.next_instance(now));
            installed.next = next;
            installed.config.memory.begun = Some(at);
            let memory = installed.config.memory.to_bytes();
            self.queries.begins.extend(next.map(|next| (next, id)));
            let instance = self.begin_instance(now, id, at, &mut steps);
            steps
                .extend(instance.and_then(|(instance, wants)| self.open_step(instance, wants, Some(memory))));
        }
        write_steps(now, steps, commands);
    }

    /// Begins an instance of a query, in the place of the oldest one if there are too many; what it wants of its ledger.
    fn begin_instance(
        &mut self,
        now: Time,
        id: QueryId,
        at: Time,
        steps: &mut Vec<InstanceStep>,
    ) -> Option<(InstanceId, Option<NewCei>)> {
        let open = &self.queries.installed.get(&id)?.open;
        if open.len() >= MOST_OPEN
            && let Some(oldest) = open.first().copied()
        {
            steps.extend(self.crowd_out(now, oldest));
        }
        let (instance, planned) = self.queries.installed.get(&id)?.config.plan.begin(at);
        let state = InstanceState {
            instance,
            intervals: BTreeMap::new(),
            parts: BTreeMap::new(),
            missed: Vec::new(),
            need: 0,
        };
        let instance = self.queries.next_id();
        self.queries.keep(instance, OpenInstance { query: id, state, cei: None });
        let wants = self.add_intervals(now, instance, planned);
        Some((instance, wants))
    }

    /// Gives an instance further intervals; what it wants of its CEI.
    fn add_intervals(&mut self, now: Time, id: InstanceId, planned: Vec<PlannedInterval>) -> Option<NewCei> {
        let query = self.queries.open.get(&id)?.query;
        let (sources, weight) = {
            let config = &self.queries.installed.get(&query)?.config;
            (config.sources.clone(), config.weight)
        };
        let mut intervals = Vec::new();
        for planned in planned {
            let source = *sources.get(planned.select)?;
            let finish = planned.finish.unwrap_or_else(|| match planned.captured_by {
                CapturedBy::AnyAnswer => self.expected_at(source, planned.start, 1.0),
                CapturedBy::Change => self.expected_at(source, planned.start, SECOND_CHANGE),
            });
            if planned.captured_by == CapturedBy::AnyAnswer {
                intervals.push(NewInterval { source, start: planned.start, finish });
            }
            self.queries.ends.insert((finish, id, planned.select));
            let open = self.queries.open.get_mut(&id)?;
            open.state.intervals.insert(planned.select, PartInterval { planned, finish });
        }
        if intervals.is_empty() {
            return None;
        }
        let need = self.ledger_need(id);
        let open = self.queries.open.get_mut(&id)?;
        let more = need.saturating_sub(open.state.need);
        open.state.need = need;
        Some(NewCei { need: more.min(intervals.len() as u32), intervals, weight, created: now })
    }

    /// How many intervals of the ledger an instance needs.
    fn ledger_need(&self, id: InstanceId) -> u32 {
        let Some(open) = self.queries.open.get(&id) else { return 0 };
        let Some(installed) = self.queries.installed.get(&open.query) else { return 0 };
        let of_ledger = open.state.intervals.values();
        let n = of_ledger.filter(|part| part.planned.captured_by == CapturedBy::AnyAnswer).count();
        match installed.config.plan.need() {
            Need::All => n as u32,
            Need::Any(need) => need.min(n) as u32,
        }
    }

    /// When a source is expected to have changed with even odds, or when as many more changes are expected by then.
    fn expected_at(&self, source: SourceId, from: Time, times: f64) -> Time {
        let longest = from.plus(MAX_INTERVAL);
        let index = self.sources.find(source);
        let place = index.and_then(|index| Some((self.sources.resource(index)?, index)));
        let forecast =
            place.and_then(|(resource, index)| self.scheduler.scheduler().forecast(resource, index));
        let at =
            forecast.map_or(longest, |forecast| forecast.reaches(from, times * forecast.changes_for(0.5)));
        at.clamp(from.plus(self.settings.chronon * 2), longest)
    }

    /// The step of an instance that goes on.
    fn open_step(
        &self,
        id: InstanceId,
        wants: Option<NewCei>,
        memory: Option<Vec<u8>>,
    ) -> Option<InstanceStep> {
        let open = self.queries.open.get(&id)?;
        let next = InstanceNext::Open { state: open.state.to_bytes(), wants };
        Some(InstanceStep { instance: id, query: open.query, next, memory })
    }

    /// Tells the scheduler of instances that have ended.
    pub(super) fn withdraw_ended(&mut self, now: Time) {
        for cei in std::mem::take(&mut self.ended_ceis) {
            self.cei_withdrawn(now, cei);
        }
    }

    /// The clock was set back: instances begin by the new time.
    pub(super) fn replan_queries(&mut self, now: Time) {
        self.queries.begins.clear();
        self.queries.over.clear();
        for (id, installed) in &mut self.queries.installed {
            let config = &installed.config;
            installed.next = if config.is_paused { None } else { config.plan.next_instance(now) };
            self.queries.begins.extend(installed.next.map(|at| (at, *id)));
            // One that had ended may not have yet.
            self.queries.over.extend(end_of_waiting(config).map(|end| (end, *id)));
            self.watches.weigh_again(awaited(config));
        }
    }
}

fn write_steps(now: Time, steps: Vec<InstanceStep>, commands: &mut Vec<Command>) {
    if !steps.is_empty() {
        commands.push(Command::Write(Write::Steps { steps, at: now }));
    }
}

/// When the next instance begins by the clock after a start. One that should have begun while nothing ran begins late, if the
/// interval of its trigger is not over.
fn first_begin(config: &QueryConfig, now: Time) -> Option<Time> {
    let plan = &config.plan;
    let trigger = plan.interval(0, now);
    let length = trigger.finish.map(|finish| finish.since(trigger.start));
    let earliest = length.and_then(|length| plan.next_instance(before(now, length)));
    let after = config.memory.begun.unwrap_or(config.installed);
    earliest.filter(|at| *at > after).or_else(|| plan.next_instance(now))
}

/// When a query stops waiting for changes, if it waits for any and ever does.
fn end_of_waiting(config: &QueryConfig) -> Option<Time> {
    let waits = !config.is_paused && awaited(config).next().is_some();
    config.plan.end().filter(|_| waits)
}

/// The sources of which a query waits for changes.
fn awaited(config: &QueryConfig) -> impl Iterator<Item = SourceId> {
    let sources = config.sources.iter().enumerate();
    sources.filter(|(select, _)| waits_for_change(config, *select)).map(|(_, source)| *source)
}

/// Whether a select captures changes only.
fn waits_for_change(config: &QueryConfig, select: usize) -> bool {
    config.plan.selects().get(select).is_some_and(|select| select.start == Some(Start::OnChange))
}

fn before(now: Time, length: Duration) -> Time {
    let micros = i64::try_from(length.as_micros()).unwrap_or(i64::MAX);
    Time::from_micros(now.micros().saturating_sub(micros))
}
