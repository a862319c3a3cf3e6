//! Every decision of the engine, as one synchronous state machine: what comes in are events with the time at which they
//! happened, what goes out are commands. No clock, no sockets, no store; both drivers run this same value.
//!
//! Its parts own their state: the scheduler (which resource now), [`admission`] (which host not yet, by robots.txt and
//! politeness), [`in_flight`] (the active probes), the sources, resources and hosts, the open CEIs, and what is learned and
//! not noted yet. Here is only the way from events to commands; `begin` goes from a choice to a request, `finish` from a
//! result to what is stored and learned.
//!
//! Invariants: a probe is active until its result is written, and its source is not probed again before that. No more
//! probes are active than the settings allow. While the store cannot be written, no probe is started.

mod admission;
mod announcing;
mod begin;
mod ceis;
mod choices;
mod explain;
mod finish;
mod hosts;
mod in_flight;
mod pending_notes;
mod queries;
mod redirect;
mod resources;
mod robots;
mod sources;
mod time;
mod trouble;
mod usage;
mod watches;

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::{CrossSiteRedirect, Error as NetError, Fetched};
use dunlin_sched::scheduler::journal::JournaledScheduler;
use dunlin_sched::scheduler::{self, Choice, HostIdx, Input, Pace};
use dunlin_store::{
    Capture, CeiId, CeiState, InstanceId, InstanceStep, NewDecision, Note, ObservationId, ProbeId, QueryId,
    Recorded, SourceId, StoredCei, StoredInstance, TextScope,
};
use url::Url;

use crate::capture::{ProbeResult, ProbeTask};
use crate::queries::{QueryConfig, WatchConfig};
use crate::source_config::SourceConfig;
use crate::{EngineStats, Health, Settings};

use admission::Admission;
use announcing::GraceTimes;
pub use announcing::is_about_health;
use ceis::Ceis;
use hosts::Hosts;
use in_flight::InFlight;
use pending_notes::PendingNotes;
use queries::Queries;
pub use queries::{OpenPart, QueryReport, ReadPart};
pub use redirect::SiteHop;
use resources::Resources;
use sources::Sources;
use trouble::Trouble;
use usage::Usage;
use watches::Watches;
pub use watches::{RelevantSource, WatchKey};

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// It is time to decide, for the chronon that began at `at`.
    Tick {
        /// A whole number of chronons, so that quiet times fill one entry of the journal.
        at: Time,
    },
    /// Sources to watch, or new configurations of watched sources.
    Configured(Vec<SourceConfig>),
    /// A source was removed.
    Removed(SourceId),
    /// A probe has been made and read.
    Probed(Box<ProbeResult>),
    /// A probe was redirected to another site, which has not been fetched from yet.
    Redirected {
        /// Which probe.
        probe: ProbeId,
        /// Where to.
        redirect: Box<CrossSiteRedirect>,
    },
    /// The connection of a probe was closed before the answer; the probe may be sent once more.
    ConnectionClosed {
        /// Which probe.
        probe: ProbeId,
    },
    /// A probe has no result that can be stored: the store could not be read, or the source is gone.
    Dropped {
        /// Which probe.
        probe: ProbeId,
        /// Why.
        reason: String,
    },
    /// The pipeline of a probe has panicked.
    Crashed {
        /// Which probe.
        probe: ProbeId,
        /// The panic message.
        reason: String,
    },
    /// A robots.txt has been fetched.
    Robots {
        /// Where.
        url: Url,
        /// The result.
        answer: Box<Result<Fetched, NetError>>,
    },
    /// Fetching a robots.txt has panicked.
    RobotsLost {
        /// Where.
        url: Url,
    },
    /// A capture is in the store, or never will be.
    Written {
        /// Its probe.
        probe: ProbeId,
        /// Of this source.
        source: SourceId,
        /// The store's result.
        result: Result<Recorded, dunlin_store::Error>,
    },
    /// The batch of the journal is in the store.
    JournalWritten,
    /// The store cannot be written, or can again.
    StoreTrouble(Option<String>),
    /// Open CEIs, new or from an earlier run.
    CeisAdded(Vec<StoredCei>),
    /// A CEI got further intervals in the store.
    CeiExtended(CeiId),
    /// A CEI that was extended, as it is in the store.
    CeiRead(StoredCei),
    /// The owner of a CEI no longer wants it.
    CeiWithdrawn(CeiId),
    /// A query is installed, edited, paused or resumed.
    QueryInstalled(Box<QueryConfig>),
    /// The same of one that watches for words.
    WatchInstalled(Box<WatchConfig>),
    /// A query is removed.
    QueryRemoved(QueryId),
    /// An instance of an earlier run.
    InstanceRestored(StoredInstance),
    /// An instance with its CEI, as they are in the store.
    InstanceRead(StoredInstance, Option<StoredCei>),
    /// A portion of the index of texts is in the store.
    TextsIndexed {
        /// Whether it has all sources now.
        is_complete: bool,
    },
    /// How relevant sources are to some words.
    TextsFound {
        /// Which sources were asked for.
        scope: TextScope,
        /// For each WATCH, those that say some of its words.
        found: Vec<(WatchKey, Vec<(SourceId, f64)>)>,
    },
    /// Another budget for all.
    Budget(Pace),
    /// No probe is started from now on.
    Stopping,
}

/// Something to do.
#[derive(Debug)]
pub enum Command {
    /// Probe a source: read what is stored about it, fetch, read; then [`Event::Probed`].
    Probe {
        /// Which probe.
        task: ProbeTask,
        /// The hop to fetch, and where it starts if not at the source's address.
        hop: SiteHop,
    },
    /// Fetch a robots.txt; then [`Event::Robots`].
    FetchRobots {
        /// Where.
        url: Url,
    },
    /// Write to the store, after all writes before it.
    Write(Write),
}

/// Something to write.
#[derive(Debug, Clone)]
pub enum Write {
    /// The capture of a probe; then [`Event::Written`].
    Capture(Arc<Capture>),
    /// A batch of the journal; then [`Event::JournalWritten`].
    Journal(Vec<NewDecision>),
    /// The state of politeness scopes.
    Politeness(Vec<dunlin_store::Politeness>),
    /// What was learned about sources.
    Notes {
        /// For each.
        notes: Vec<(SourceId, Note)>,
        /// With these, all that was learned up to here is noted.
        until: Option<ObservationId>,
    },
    /// Nothing, but reads this CEI after all writes before it; then [`Event::CeiRead`].
    ReadCei(CeiId),
    /// Steps of instances of queries that follow from no capture; then [`Event::InstanceRead`] for those that want something new.
    Steps {
        /// Which.
        steps: Vec<InstanceStep>,
        /// When.
        at: Time,
    },
    /// Nothing, but reads this instance after all writes before it; then [`Event::InstanceRead`].
    ReadInstance(InstanceId),
    /// The next portion of the index of texts; then [`Event::TextsIndexed`].
    IndexTexts,
    /// That there is no index of texts.
    DropTextIndex,
    /// Nothing, but asks after all writes before it how relevant sources are to the words of these WATCH clauses; then
    /// [`Event::TextsFound`].
    FindTexts {
        /// Which sources.
        scope: TextScope,
        /// The words.
        watches: Vec<(WatchKey, Vec<String>)>,
    },
    /// CEIs that have ended without being captured.
    CeisEnded {
        /// Which, and how.
        ended: Vec<(CeiId, CeiState)>,
        /// When.
        at: Time,
    },
}

/// Why a source cannot be probed on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotProbeable {
    /// It is not known.
    Unknown,
    /// It is paused, or cannot be used.
    Paused,
}

/// How often the journal is written, at the least, while something happens.
const JOURNAL_EVERY: Duration = Duration::from_secs(5);
/// About how many entries wait at most; more at a time only cost memory.
const FULL_JOURNAL: usize = 2_000;
/// How often at most it is written when nothing happens.
const QUIET_JOURNAL_EVERY: Duration = Duration::from_mins(10);
/// How often scopes that hold nothing back are forgotten.
const FORGET_EVERY: Duration = Duration::from_mins(10);

/// The state machine.
#[derive(Debug)]
pub struct Control {
    settings: Arc<Settings>,
    scheduler: JournaledScheduler,
    admission: Admission,
    in_flight: InFlight,
    sources: Sources,
    grace_times: GraceTimes,
    resources: Resources,
    ceis: Ceis,
    queries: Queries,
    watches: Watches,
    /// CEIs of instances that have ended, which the scheduler has not been told of.
    ended_ceis: Vec<CeiId>,
    hosts: Hosts,
    journal: JournalState,
    pending_notes: PendingNotes,
    trouble: Trouble,
    usage: Usage,
    stats: EngineStats,
    budget: Pace,
    price: f64,
    recent_choices: choices::RecentChoices,
    now: Option<Time>,
    last_tick: Option<Time>,
    forgot_at: Option<Time>,
    is_stopping: bool,
    choices: Vec<Choice>,
}

/// What of the journal is not written yet.
#[derive(Debug, Default)]
struct JournalState {
    rows: Vec<NewDecision>,
    /// Inputs and choices since the last batch, whose entries are still in the scheduler.
    n_new: usize,
    batch_at: Option<Time>,
    is_writing: bool,
}

impl Control {
    /// Watches nothing yet. `first_probe` is a number from which on no probe of an earlier run was counted.
    pub fn new(settings: Arc<Settings>, budget: Pace, first_probe: u64) -> Self {
        Self {
            scheduler: new_scheduler(&settings, budget),
            admission: Admission::new(&settings),
            in_flight: InFlight::new(first_probe),
            sources: Sources::default(),
            grace_times: GraceTimes::default(),
            resources: Resources::default(),
            ceis: Ceis::default(),
            queries: Queries::new(first_probe),
            watches: Watches::default(),
            ended_ceis: Vec::new(),
            hosts: Hosts::default(),
            journal: JournalState::default(),
            pending_notes: PendingNotes::default(),
            trouble: Trouble::default(),
            usage: Usage::default(),
            stats: EngineStats::default(),
            budget,
            price: 0.0,
            recent_choices: choices::RecentChoices::default(),
            now: None,
            last_tick: None,
            forgot_at: None,
            is_stopping: false,
            choices: Vec::new(),
            settings,
        }
    }

    /// Restores the scopes and sites that an earlier run stored. Unreadable ones are skipped.
    pub fn restore_politeness(&mut self, stored: &[dunlin_store::Politeness]) {
        self.admission.restore(stored);
    }

    /// Begins after an earlier run, which may have sent requests to any host up to now.
    pub fn resume(&mut self, now: Time) {
        self.admission.resume(now);
    }

    /// Handles an event, and appends the commands that follow from it.
    pub fn handle(&mut self, now: Time, event: Event, commands: &mut Vec<Command>) {
        self.notice_clock(now);
        match event {
            Event::Tick { at } => self.tick(now, at, commands),
            Event::Configured(config) => config.into_iter().for_each(|config| self.join(now, config)),
            Event::Removed(id) => self.leave(now, id),
            Event::Probed(result) => self.probed(now, *result, commands),
            Event::Redirected { probe, redirect } => self.redirected(now, probe, redirect, commands),
            Event::ConnectionClosed { probe } => self.connection_closed(now, probe),
            Event::Dropped { probe, reason } => self.dropped(now, probe, &reason),
            Event::Crashed { probe, reason } => self.crashed(now, probe, &reason, commands),
            Event::Robots { url, answer } => self.robots_answered(now, &url.into(), &answer, commands),
            Event::RobotsLost { url } => self.robots_lost(now, &url.into(), commands),
            Event::Written { probe, source, result } => {
                let host = self.in_flight.get(probe).map(|active| active.host);
                self.written(now, probe, source, result, commands);
                host.into_iter().for_each(|host| self.choose_again(now, host, commands));
            }
            Event::JournalWritten => self.journal.is_writing = false,
            Event::StoreTrouble(reason) => {
                self.stats.store_failures += u64::from(reason.is_some());
                self.trouble.store = reason;
            }
            Event::CeisAdded(ceis) => ceis.into_iter().for_each(|cei| self.cei_added(now, cei)),
            Event::CeiExtended(id) => self.cei_extended(id, commands),
            Event::CeiRead(cei) => self.cei_read(now, cei),
            Event::CeiWithdrawn(id) => self.cei_withdrawn(now, id),
            Event::QueryInstalled(config) => {
                self.watch_removed(now, config.id, commands);
                self.query_installed(now, *config);
            }
            Event::WatchInstalled(config) => {
                self.query_removed(now, config.id);
                self.watch_installed(now, *config, commands);
            }
            Event::QueryRemoved(id) => {
                self.query_removed(now, id);
                self.watch_removed(now, id, commands);
            }
            Event::TextsIndexed { is_complete } => self.texts_indexed(now, is_complete, commands),
            Event::TextsFound { scope, found } => self.texts_found(now, scope, found, commands),
            Event::InstanceRestored(instance) => self.instance_restored(&instance),
            Event::InstanceRead(instance, cei) => self.instance_read(now, &instance, cei),
            Event::Budget(pace) => {
                self.budget = pace;
                self.update_scheduler(now, Input::Budget(pace));
            }
            Event::Stopping => self.stop(now),
        }
        self.withdraw_ended(now);
        self.take_cei_events(now, commands);
    }

    /// Requests a probe of a source ahead of others.
    pub fn request_probe(&mut self, now: Time, id: SourceId) -> Result<(), NotProbeable> {
        let source = self.sources.find(id).ok_or(NotProbeable::Unknown)?;
        let resource = self.sources.resource(source).ok_or(NotProbeable::Paused)?;
        self.end_own_pause(now, source);
        self.update_scheduler(now, Input::ProbeRequested { resource });
        Ok(())
    }

    /// How many probes are active.
    pub fn n_active(&self) -> usize {
        self.in_flight.len()
    }

    /// Counters and gauges.
    pub fn stats(&self) -> EngineStats {
        EngineStats {
            sources: self.sources.len() as u64,
            watched: self.sources.n_watched() as u64,
            attention: self.sources.n_attention() as u64,
            hosts: self.hosts.len() as u64,
            ceis_open: self.ceis.len() as u64,
            queries: (self.queries.len() + self.watches.len()) as u64,
            in_flight: self.in_flight.len() as u64,
            journal_waiting: self.journal.n_new as u64,
            ..self.stats
        }
    }

    /// Whether it is alive, and what keeps it from working.
    pub fn health(&self) -> Health {
        Health {
            last_tick: self.last_tick,
            patience: self.settings.chronon * 10 + Duration::from_secs(30),
            store_trouble: self.trouble.store.clone(),
            network_trouble: self.trouble.network(),
            is_stopping: self.is_stopping,
        }
    }

    /// When a tick may next have something to decide, if nothing comes in before.
    pub fn next_due(&self, now: Time) -> Option<Time> {
        let chosen = self.scheduler.scheduler().next_due(now);
        let of_queries = [self.queries.next_due(), self.watches.next_due(now)];
        let waiting =
            [self.in_flight.next_delayed(), self.grace_times.next_end()].into_iter().chain(of_queries);
        chosen.into_iter().chain(waiting.flatten()).min()
    }

    fn update_scheduler(&mut self, now: Time, input: Input) {
        self.journal.n_new += 1;
        self.scheduler.apply(now, input);
    }

    fn tick(&mut self, now: Time, at: Time, commands: &mut Vec<Command>) {
        self.last_tick = Some(now);
        self.forget(now, commands);
        self.announce_lasting(now, commands);
        self.begin_delayed(now, commands);
        self.begin_instances(now, commands);
        self.miss_overdue_parts(now, commands);
        self.go_on_watching(now, commands);
        self.choose(now, at, self.room(now), commands);
        self.write_journal(now, commands);
        self.write_notes(now, commands);
    }

    /// A probe of a host has ended within a chronon: if the host may be fetched from again at once, and there is budget
    /// left, the next probe need not wait for the next chronon. A host without a gap is probed as fast as it answers.
    fn choose_again(&mut self, now: Time, host: HostIdx, commands: &mut Vec<Command>) {
        if self.room(now) > 0 && self.scheduler.scheduler().is_open(host, now) {
            self.choose(now, now, 1, commands);
        }
    }

    fn choose(&mut self, now: Time, at: Time, room: u32, commands: &mut Vec<Command>) {
        if room == 0 {
            return;
        }
        let mut choices = std::mem::take(&mut self.choices);
        choices.clear();
        self.scheduler.choose(at, room, &mut choices);
        for choice in &choices {
            self.journal.n_new += 1;
            self.begin(now, choice, commands);
        }
        self.choices = choices;
    }

    /// Whether even a chosen probe must not start.
    fn room_is_shut(&self, now: Time) -> bool {
        self.is_stopping || self.trouble.most(now) == 0
    }

    /// How many more probes may be active.
    fn room(&self, now: Time) -> u32 {
        if self.is_stopping {
            return 0;
        }
        let n_active = u32::try_from(self.n_active()).unwrap_or(u32::MAX);
        let most = self.settings.max_active(self.budget);
        self.trouble.most(now).min(most.saturating_sub(n_active))
    }

    /// Drops hosts without sources, and the state of scopes that hold nothing back, here and in the store.
    fn forget(&mut self, now: Time, commands: &mut Vec<Command>) {
        if self.forgot_at.is_some_and(|at| now.since(at) < FORGET_EVERY) || self.trouble.store.is_some() {
            return;
        }
        self.forgot_at = Some(now);
        self.drop_hosts(now);
        self.lose_overdue_ceis(now, commands);
        let names = self.admission.forget(now);
        if !names.is_empty() {
            let forgotten = |scope| dunlin_store::Politeness { scope, state: Vec::new() };
            let forgotten = names.into_iter().map(forgotten).collect();
            commands.push(Command::Write(Write::Politeness(forgotten)));
        }
    }

    /// Hands a batch of the journal to the writer, if it is time and the last one is written.
    fn write_journal(&mut self, now: Time, commands: &mut Vec<Command>) {
        let age = self.journal.batch_at.map_or(Duration::MAX, |at| now.since(at));
        let n_waiting = self.journal.n_new + self.journal.rows.len();
        let every = if n_waiting > 0 { JOURNAL_EVERY } else { QUIET_JOURNAL_EVERY };
        let is_due = age >= every || n_waiting >= FULL_JOURNAL;
        if is_due && !self.journal.is_writing && self.trouble.store.is_none() {
            self.flush_journal(now, commands);
        }
    }

    /// Hands everything unwritten to the writer, at the end of a run.
    pub fn flush(&mut self, now: Time, commands: &mut Vec<Command>) {
        self.flush_journal(now, commands);
        self.flush_notes(now, commands);
    }

    /// Hands the unwritten part of the journal to the writer.
    fn flush_journal(&mut self, now: Time, commands: &mut Vec<Command>) {
        let mut rows = crate::journal::rows_of(now, self.scheduler.take_entries());
        rows.append(&mut self.journal.rows);
        self.journal.n_new = 0;
        self.journal.batch_at = Some(now);
        if !rows.is_empty() {
            self.journal.is_writing = true;
            commands.push(Command::Write(Write::Journal(rows)));
        }
    }
}

fn new_scheduler(settings: &Settings, budget: Pace) -> JournaledScheduler {
    JournaledScheduler::new(scheduler::Settings {
        chronon: settings.chronon,
        strategy: settings.strategy,
        budget,
        initial_price: None,
    })
}
