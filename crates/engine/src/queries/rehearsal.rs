//! What a query would have captured of what is stored: its instances begin at their times in the past, and each part is captured
//! as soon as its interval begins, from the version that was the newest then. So it says what there was to capture with
//! probes to spare, and not what the budget would have allowed. Installs nothing, and fetches nothing.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_extract::ItemId;
use dunlin_query::plan::{CapturedBy, Instance, Outcome, PlannedInterval, QueryPlan};
use dunlin_query::{Body, From, Start};
use dunlin_store::{
    NewSource, QuerySource, Source, SourceId, SourceQuery, Store, Version, VersionId, VersionQuery,
};

use super::parts::{CapturedPart, Newness, QueryMemory, SeenItem};
use super::{item_json, text};
use crate::detection::{Content, Detection};
use crate::{Error, Settings};

/// The most versions of one source that are read.
const MOST_VERSIONS: usize = 1_000;
/// The most instances that are begun.
const MOST_INSTANCES: usize = 10_000;
/// The most results, and misses, that are kept; the others are counted.
const MOST_SHOWN: usize = 100;
/// Versions read at a time.
const PAGE: u32 = 200;

/// What a query would have captured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rehearsal {
    /// The span of stored history that was looked at; none if nothing is stored of the sources.
    pub span: Option<(Time, Time)>,
    /// Parts of whose sources nothing is stored.
    pub unknown: Vec<String>,
    /// How many instances began.
    pub n_instances: u64,
    /// How many results there would have been.
    pub n_results: u64,
    /// How many were captured, but not told: their WHERE did not hold, or none of their WHENs.
    pub n_silent: u64,
    /// How many could not have been captured.
    pub n_missed: u64,
    /// The first results.
    pub results: Vec<RehearsedResult>,
    /// The first misses.
    pub misses: Vec<RehearsedMiss>,
    /// Whether there was more history than is looked at.
    pub is_cut: bool,
}

/// A result that there would have been.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearsedResult {
    /// When its last part would have been captured.
    pub at: Time,
    /// Each part with its name, its source, its version and its items.
    pub parts: Vec<(String, SourceId, Option<VersionId>, serde_json::Value)>,
}

/// An instance that could not have been captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedMiss {
    /// When it would have begun.
    pub began: Time,
    /// The part that was missed first.
    pub name: String,
}

/// What a query would have captured of what is stored.
pub fn rehearse(text: &str, store: &dyn Store, settings: &Settings, now: Time) -> Result<Rehearsal, Error> {
    let query = text::parsed(text, store, settings)?;
    if matches!(query.body, Body::Watch(_)) {
        return Err(Error::NoInstances { name: query.name });
    }
    let mut rehearsal = Rehearsal::default();
    let mut histories = Vec::new();
    for source in text::sources_of(&query, store, now)? {
        let history = History::of(source, store, settings)?;
        rehearsal.is_cut |= history.is_cut;
        histories.push(history);
    }
    // What is there now lasts until now.
    let (first, until) = (histories.iter().filter_map(History::first).min(), now);
    // FOR would end it before all was looked at; and what matters is what is stored.
    let Some((from, plan)) = first.zip(QueryPlan::new(&query, now)) else { return Ok(rehearsal) };
    rehearsal.span = Some((from, until));
    let known = plan.selects().iter().zip(&histories);
    rehearsal.unknown =
        known.filter(|(_, own)| own.versions.is_empty()).map(|(select, _)| select.name.clone()).collect();
    let memory = QueryMemory::from_bytes(&[], plan.selects().len());
    let mut run = Run {
        store,
        plan,
        histories,
        memory,
        from,
        until,
        open: Vec::new(),
        due: BTreeSet::new(),
        rehearsal,
    };
    run.run()?;
    Ok(run.rehearsal)
}

/// The stored versions of what a part reads, and how far they have been read.
struct History {
    spec: NewSource,
    settings: Settings,
    source: Option<SourceId>,
    versions: Vec<Version>,
    n_read: usize,
    detection: Option<Detection>,
    first_seen: BTreeMap<ItemId, Time>,
    is_cut: bool,
}

impl History {
    fn of(part: QuerySource, store: &dyn Store, settings: &Settings) -> Result<Self, Error> {
        let (spec, sources) = match part {
            QuerySource::Own(spec) => {
                let by_url = SourceQuery { url: Some(spec.url.clone()), ..SourceQuery::first(PAGE) };
                (*spec, store.sources(&by_url)?)
            }
            QuerySource::Watched(id) => {
                let source = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
                (source.spec.clone(), vec![source])
            }
        };
        let settings = settings.clone();
        let mut history = Self {
            spec,
            settings,
            source: None,
            versions: Vec::new(),
            n_read: 0,
            detection: None,
            first_seen: BTreeMap::new(),
            is_cut: false,
        };
        for source in sources {
            let (versions, is_cut) = versions_of(&source, store)?;
            if history.source.is_none() || versions.len() > history.versions.len() {
                (history.source, history.versions, history.is_cut) = (Some(source.id), versions, is_cut);
            }
        }
        Ok(history)
    }

    fn first(&self) -> Option<Time> {
        self.versions.first().map(|version| version.at)
    }

    /// When it changes next, after a time.
    fn next_change(&self, after: Time) -> Option<Time> {
        // The first version is no change: nothing is known before it.
        let known = self.versions.get(1..).unwrap_or_default();
        let next = known.partition_point(|version| version.at <= after);
        known.get(next).map(|version| version.at)
    }

    /// What was on it at a time, with the version that says so. Times come in order.
    fn at(&mut self, at: Time, store: &dyn Store) -> Result<(Option<VersionId>, Vec<SeenItem>), Error> {
        let n_then = self.versions.partition_point(|version| version.at <= at);
        while self.n_read < n_then {
            let version = &self.versions[self.n_read];
            self.n_read += 1;
            let body = store.content(version.id)?;
            let content = Content { at: version.at, body: &body, media_type: &version.media_type };
            let detection = match &mut self.detection {
                Some(detection) => detection,
                none => none.insert(Detection::new(&self.spec, self.settings.clone())?),
            };
            detection.see(&content)?;
            for item in detection.present() {
                self.first_seen.entry(item.id.clone()).or_insert(version.at);
            }
        }
        let version =
            self.n_read.checked_sub(1).and_then(|last| self.versions.get(last)).map(|version| version.id);
        let present = self.detection.as_ref().map_or(&[][..], Detection::present);
        let seen = |item: &dunlin_extract::Item| SeenItem {
            item: item.clone(),
            first_seen: self.first_seen.get(&item.id).copied().unwrap_or(at),
        };
        Ok((version, present.iter().map(seen).collect()))
    }
}

/// The newest versions of a source, the oldest of them first, and whether there are more.
fn versions_of(source: &Source, store: &dyn Store) -> Result<(Vec<Version>, bool), Error> {
    let mut versions: Vec<Version> = Vec::new();
    while versions.len() < MOST_VERSIONS {
        let before = versions.last().map(|version| version.id);
        let page = store.versions(&VersionQuery { source: source.id, before, limit: PAGE })?;
        if page.is_empty() {
            break;
        }
        versions.extend(page);
    }
    let is_cut = versions.len() >= MOST_VERSIONS;
    versions.truncate(MOST_VERSIONS);
    versions.reverse();
    Ok((versions, is_cut))
}

/// An instance that is under way.
struct OpenInstance {
    instance: Instance,
    intervals: BTreeMap<usize, PlannedInterval>,
    state: super::InstanceState,
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
        let waits = self.plan.selects().first().is_some_and(|select| select.start == Some(Start::OnChange));
        let next =
            if waits { self.histories.first()?.next_change(after) } else { self.plan.next_instance(after) };
        next.filter(|at| *at <= self.until && self.plan.is_open(*at))
    }

    fn begin(&mut self, at: Time) {
        let (instance, intervals) = self.plan.begin(at);
        let number = self.open.len();
        let state = super::InstanceState {
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
                let waits = self.plan.selects()[select].start == Some(Start::OnChange);
                let newness = Newness::of(select, waits, part.captured, self.from);
                let mut captured = CapturedPart::of(what, newness, at, &seen, &part.values);
                captured.version = version;
                self.memory.captured(select, &captured, what);
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
