//! Queries that watch for words: which sources are relevant to them, what that adds to the weight of those sources, and what is
//! told. Which source is probed when stays the scheduler's decision: relevance is part of the weight of a change demand.
//!
//! The index of texts is in the store. It is built portion by portion when the first such query begins, kept by captures while one
//! runs, and dropped with the last. Control asks it when a query begins, again now and then as the rarity of words changes,
//! and for one source after its text has changed.
//!
//! Invariant: the scheduler's weight of a source is its own plus what was last told here, and exactly its own again once no query
//! runs.

mod relevance;
mod report;
mod telling;
mod weighing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::{Predicate, Term, TermIndex};
use dunlin_store::{QueryId, SourceId, TextScope};

use super::{Command, Control, Write};
use crate::queries::{MOST_TOLD, Told, WatchConfig};
use weighing::{Demanded, Tracked};

pub use report::RelevantSource;

/// A WATCH of a query, by its position.
pub type WatchKey = (QueryId, u32);

/// How often the sources of a WATCH are looked up anew: how rare a word is changes slowly.
const FIND_AGAIN: Duration = Duration::from_hours(6);
/// The most sources that are relevant to one WATCH.
const MOST_RELEVANT: u32 = 1000;
/// The most stories that are remembered of all queries together; each has its share, but not less than the second.
const MOST_REMEMBERED: usize = 100_000;
const LEAST_REMEMBERED: usize = 64;

/// All installed queries with WATCH.
#[derive(Debug, Default)]
pub(super) struct Watches {
    installed: BTreeMap<QueryId, Installed>,
    /// The words of the WATCH clauses that run.
    terms: TermIndex<WatchKey>,
    running: BTreeMap<WatchKey, Running>,
    index: Index,
    /// When the sources of each WATCH are looked up.
    to_find: BTreeSet<(Time, WatchKey)>,
    is_finding: bool,
    /// When queries end.
    ends: BTreeSet<(Time, QueryId)>,
    /// What is demanded of sources because of words.
    demanded: BTreeMap<SourceId, Demanded>,
    /// Sources whose weight may be another one.
    to_weigh: BTreeSet<SourceId>,
    /// Sources that are newly relevant, and not tracked yet.
    to_track: BTreeSet<SourceId>,
    tracked: BTreeMap<SourceId, Tracked>,
    /// Changes seen, of all sources.
    n_changes: u64,
    /// What any source may be expected to become worth with its next change, all WATCH clauses together.
    expected: f64,
    /// When that was last estimated.
    estimated: Option<Time>,
}

/// How far the index of texts is, as far as it was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Index {
    #[default]
    None,
    Building,
    Complete,
}

#[derive(Debug)]
struct Installed {
    watches: Vec<(Vec<Term>, f64)>,
    filter: Option<Predicate>,
    end: Option<Time>,
    /// What it told last, newest first.
    told: VecDeque<Told>,
}

/// A WATCH of a query that is neither paused nor over.
#[derive(Debug)]
struct Running {
    weight: f64,
    relevant: BTreeSet<SourceId>,
    /// Whether all sources have been looked at since it began.
    is_found: bool,
    /// How many changes had been seen when it began, and how many of relevant sources since.
    since: u64,
    n_of_relevant: u64,
    /// How many of the others have made a source relevant.
    n_joined: u64,
    /// What it adds to the weight of a source that is not relevant.
    expected: f64,
}

impl Watches {
    pub(super) fn len(&self) -> usize {
        self.installed.len()
    }

    /// Whether something is looked for.
    pub(super) fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// When something next happens by the clock.
    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        let ends = self.ends.first().map(|(at, _)| *at);
        let finds = self.to_find.first().map(|(at, _)| *at).filter(|_| self.can_find());
        let weighs = (!self.to_weigh.is_empty()).then_some(now);
        let tracks = self.tracked.values().map(|tracked| tracked.until).min();
        [ends, finds, weighs, tracks].into_iter().flatten().min()
    }

    /// The weights of sources may be others.
    pub(super) fn weigh_again(&mut self, sources: impl IntoIterator<Item = SourceId>) {
        self.to_weigh.extend(sources);
    }

    fn can_find(&self) -> bool {
        self.index == Index::Complete && !self.is_finding
    }

    /// How many stories a query remembers.
    fn most_told(&self) -> usize {
        (MOST_REMEMBERED / self.installed.len().max(1)).clamp(LEAST_REMEMBERED, MOST_TOLD as usize)
    }

    fn words(&self, (query, position): WatchKey) -> Option<Vec<String>> {
        let (terms, _) = self.installed.get(&query)?.watches.get(position as usize)?;
        Some(terms.iter().map(|term| term.text().to_owned()).collect())
    }
}

impl Control {
    /// A query with WATCH is installed, edited, paused or resumed.
    pub(super) fn watch_installed(&mut self, now: Time, config: WatchConfig, commands: &mut Vec<Command>) {
        self.forget_watch(config.id);
        let WatchConfig { id, watches, filter, end, is_paused, told, .. } = config;
        let runs = !is_paused && end.is_none_or(|end| now < end);
        if runs {
            for (position, (terms, weight)) in (0..).zip(&watches) {
                let key = (id, position);
                self.watches.terms.insert(key, terms);
                self.watches.to_find.insert((now, key));
                let running = Running {
                    weight: *weight,
                    relevant: BTreeSet::new(),
                    is_found: false,
                    since: self.watches.n_changes,
                    n_of_relevant: 0,
                    n_joined: 0,
                    expected: 0.0,
                };
                self.watches.running.insert(key, running);
            }
            self.watches.ends.extend(end.map(|end| (end, id)));
        }
        self.watches.installed.insert(id, Installed { watches, filter, end, told: told.into() });
        let most = self.watches.most_told();
        self.watches.installed.values_mut().for_each(|installed| installed.told.truncate(most));
        self.keep_index(commands);
        self.find_next(now, commands);
    }

    /// A query is removed, or watches for nothing any more.
    pub(super) fn watch_removed(&mut self, now: Time, id: QueryId, commands: &mut Vec<Command>) {
        if self.watches.installed.contains_key(&id) {
            self.forget_watch(id);
            self.keep_index(commands);
            self.find_next(now, commands);
        }
    }

    fn forget_watch(&mut self, id: QueryId) {
        self.stop_watch(id);
        self.watches.installed.remove(&id);
    }

    /// Nothing is looked for by a query any more. What it added to the weights of sources goes.
    fn stop_watch(&mut self, id: QueryId) {
        let Some(installed) = self.watches.installed.get(&id) else { return };
        for (position, (terms, _)) in (0..).zip(&installed.watches) {
            let key = (id, position);
            let Some(running) = self.watches.running.remove(&key) else { continue };
            self.watches.terms.remove(key, terms);
            for source in running.relevant {
                if let Some(demanded) = self.watches.demanded.get_mut(&source) {
                    demanded.relevance.remove(&key);
                }
                self.watches.to_weigh.insert(source);
            }
        }
        let is_other = |key: &WatchKey| key.0 != id;
        self.watches.to_find.retain(|(_, key)| is_other(key));
        self.watches.ends.retain(|(_, query)| *query != id);
        // What any source may become is less now.
        self.watches.estimated = None;
    }

    /// Lets the index of texts be there exactly while something is looked for.
    fn keep_index(&mut self, commands: &mut Vec<Command>) {
        match (self.watches.are_running(), self.watches.index) {
            (true, Index::None) => {
                self.watches.index = Index::Building;
                commands.push(Command::Write(Write::IndexTexts));
            }
            (false, Index::Building | Index::Complete) => {
                self.watches.index = Index::None;
                commands.push(Command::Write(Write::DropTextIndex));
            }
            _ => {}
        }
    }

    /// A portion of the index is in the store.
    pub(super) fn texts_indexed(&mut self, now: Time, is_complete: bool, commands: &mut Vec<Command>) {
        if self.watches.index != Index::Building {
            return;
        }
        if is_complete {
            self.watches.index = Index::Complete;
            self.find_next(now, commands);
        } else {
            commands.push(Command::Write(Write::IndexTexts));
        }
    }

    /// Looks up the sources of the next WATCH whose turn it is. One at a time, so that captures are written in between.
    fn find_next(&mut self, now: Time, commands: &mut Vec<Command>) {
        let Some((at, key)) = self.watches.to_find.first().copied().filter(|(at, _)| *at <= now) else {
            return;
        };
        if !self.watches.can_find() {
            return;
        }
        self.watches.to_find.remove(&(at, key));
        self.watches.to_find.insert((now.plus(FIND_AGAIN), key));
        if let Some(words) = self.watches.words(key) {
            self.watches.is_finding = true;
            let scope = TextScope::Best(MOST_RELEVANT);
            commands.push(Command::Write(Write::FindTexts { scope, watches: vec![(key, words)] }));
        }
    }

    /// Does what the clock brings: queries end, sources are looked up, tracked and weighed.
    pub(super) fn go_on_watching(&mut self, now: Time, commands: &mut Vec<Command>) {
        while let Some((_, id)) = self.watches.ends.first().copied().filter(|(end, _)| *end <= now) {
            self.stop_watch(id);
            self.keep_index(commands);
        }
        self.find_next(now, commands);
        self.estimate(now);
        self.track(now);
        self.weigh(now);
    }
}
