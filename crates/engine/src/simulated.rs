//! The driver for a simulated world: time is a number, the web is a value, and weeks pass in seconds. The same control,
//! the same capture and a real store; the same seed and world give the same run, bit for bit.
//!
//! Not a model of the engine: what it finds about decisions, storage and failures holds for the live one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_net::{Error as NetError, Fetched, Request};
use dunlin_store::{CeiId, NewCei, NewSource, QueryId, SourceEdit, SourceId, Store};
use url::Url;

use crate::capture::{
    Answer, Failure, PreparedProbe, ProbeResult, ProbeTask, SourceEnd, Step, first_step, given_up,
    reading_timed_out,
};
use crate::control::{Command, Control, Event, NotProbeable, QueryReport, SiteHop};
use crate::handle::{stored_budget, stored_cei};
use crate::probe::{digest, panic_message, prepare};
use crate::queries::{self, Installed, load_needs};
use crate::recipe::Recipes;
use crate::source_config::{ProbesSinceNotes, SourceConfig, has_been_used, load_all};
use crate::templates::Templates;
use crate::writing::Backlog;
use crate::{EngineStats, Error, Health, Pace, Settings, SourceExplanation, recipe};

/// A web that answers at once, and says how long it would have taken.
pub trait World {
    /// The answer to a request that is sent at `now`.
    fn answer(&mut self, request: &Request, now: Time) -> Answered;

    /// How long it takes to read what this address shows at `now`.
    fn time_to_read(&mut self, _url: &Url, _now: Time) -> Duration {
        Duration::ZERO
    }
}

/// An answer of a simulated web.
#[derive(Debug)]
pub struct Answered {
    /// From the request to the end of the answer.
    pub latency: Duration,
    /// What came.
    pub result: Result<Fetched, NetError>,
}

/// Something that is scheduled to happen.
enum Scheduled {
    Tick,
    Answer { prepared: Box<PreparedProbe>, result: Result<Fetched, NetError> },
    Robots { url: Url, result: Result<Fetched, NetError> },
    Abandoned(Box<ProbeResult>),
    WriteAgain,
}

/// The longest time without a tick, so that housekeeping goes on.
const LONGEST_SLEEP: Duration = Duration::from_mins(10);

/// An engine over virtual time.
pub struct Simulation<W> {
    store: Arc<dyn Store>,
    settings: Arc<Settings>,
    control: Control,
    world: W,
    backlog: Backlog,
    /// The world's time. The engine's clock may show another one.
    now: Time,
    clock_ahead: i64,
    agenda: BTreeMap<(Time, u64), Scheduled>,
    n_planned: u64,
    next_tick: Option<(Time, u64)>,
    recipes: Recipes,
    templates: Templates,
}

impl<W> std::fmt::Debug for Simulation<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now).finish_non_exhaustive()
    }
}

impl<W: World> Simulation<W> {
    /// An engine that starts at `start` with what is in `store`.
    pub fn new(store: Arc<dyn Store>, settings: Settings, world: W, start: Time) -> Result<Self, Error> {
        let settings = Arc::new(settings);
        let budget = stored_budget(&*store)?.unwrap_or(settings.budget);
        // A run of the same store that began earlier has counted fewer probes than microseconds.
        let mut control = Control::new(Arc::clone(&settings), budget, start.micros().unsigned_abs());
        control.restore_politeness(&store.politeness()?);
        if has_been_used(&*store)? {
            control.resume(start);
        }
        load_all(&*store, &settings, |config| {
            control.handle(start, Event::Configured(config), &mut Vec::new());
        })?;
        let mut commands = Vec::new();
        load_needs(&*store, |event| control.handle(start, event, &mut commands))?;
        let mut simulation = Self {
            store,
            settings,
            control,
            world,
            backlog: Backlog::default(),
            now: start,
            clock_ahead: 0,
            agenda: BTreeMap::new(),
            n_planned: 0,
            next_tick: None,
            recipes: Recipes::default(),
            templates: Templates::default(),
        };
        simulation.execute(commands);
        simulation.plan_tick(start);
        Ok(simulation)
    }

    /// Adds a source, as a user would.
    pub fn add_source(&mut self, source: NewSource) -> Result<SourceId, Error> {
        recipe::check(&source, &self.settings)?;
        let id = self.store.add_source(source)?;
        self.join(id)?;
        Ok(id)
    }

    /// Edits a source, as a user would.
    pub fn edit_source(&mut self, id: SourceId, edit: SourceEdit) -> Result<(), Error> {
        self.store.edit_source(id, edit)?;
        self.join(id)
    }

    fn join(&mut self, id: SourceId) -> Result<(), Error> {
        let source = self.store.source(id)?.ok_or(Error::NoSuchSource(id))?;
        let config = SourceConfig::load(&*self.store, &source, &self.settings, &ProbesSinceNotes::default())?;
        self.happen(Event::Configured(vec![config]));
        self.plan_tick(self.now);
        Ok(())
    }

    /// Adds a CEI, as a query would.
    pub fn add_cei(&mut self, cei: NewCei) -> Result<CeiId, Error> {
        let (cei, id) = stored_cei(&*self.store, cei)?;
        self.happen(Event::CeisAdded(vec![cei]));
        self.plan_tick(self.now);
        Ok(id)
    }

    /// A CEI has been extended in the store.
    pub fn cei_extended(&mut self, id: CeiId) {
        self.happen(Event::CeiExtended(id));
        self.plan_tick(self.now);
    }

    /// Installs a query, as a user would.
    pub fn add_query(&mut self, text: &str) -> Result<QueryId, Error> {
        let installed = queries::install(&*self.store, &self.settings, text, self.clock())?;
        Ok(self.query_changed(installed))
    }

    /// Puts another text in the place of that of a query, as a user would.
    pub fn edit_query(&mut self, id: QueryId, text: &str) -> Result<(), Error> {
        let installed = queries::edit(&*self.store, &self.settings, id, text, self.clock())?;
        self.query_changed(installed);
        Ok(())
    }

    /// Pauses a query, or resumes it, as a user would.
    pub fn pause_query(&mut self, id: QueryId, is_paused: bool) -> Result<(), Error> {
        let paused = is_paused.then(|| self.clock());
        let installed = queries::pause(&*self.store, &self.settings, id, paused)?;
        self.query_changed(installed);
        Ok(())
    }

    fn query_changed(&mut self, installed: Installed) -> QueryId {
        installed.events.into_iter().for_each(|event| self.happen(event));
        self.plan_tick(self.now);
        installed.query.id
    }

    /// Removes a query, as a user would.
    pub fn remove_query(&mut self, id: QueryId) -> Result<(), Error> {
        let events = queries::remove(&*self.store, id, self.clock())?;
        events.into_iter().for_each(|event| self.happen(event));
        Ok(())
    }

    /// How a query is doing.
    pub fn explain_query(&self, id: QueryId) -> Option<QueryReport> {
        self.control.explain_query(id)
    }

    /// Removes a source, as a user would.
    pub fn remove_source(&mut self, id: SourceId) -> Result<(), Error> {
        self.store.remove_source(id)?;
        self.happen(Event::Removed(id));
        Ok(())
    }

    /// Requests a probe, as a user would.
    pub fn probe_now(&mut self, id: SourceId) -> Result<(), NotProbeable> {
        let result = self.control.request_probe(self.clock(), id);
        self.plan_tick(self.now);
        result
    }

    /// Sets the budget for as long as this run lasts.
    pub fn set_budget(&mut self, pace: Pace) {
        self.happen(Event::Budget(pace));
        self.plan_tick(self.now);
    }

    /// Lets everything happen up to `end`.
    pub fn run_until(&mut self, end: Time) {
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, number), scheduled) = entry.remove_entry();
            self.now = self.now.max(at);
            if self.next_tick == Some((at, number)) {
                self.next_tick = None;
            }
            self.run_scheduled(scheduled);
        }
        self.now = self.now.max(end);
    }

    fn run_scheduled(&mut self, scheduled: Scheduled) {
        match scheduled {
            Scheduled::Tick => {
                let at = self.clock();
                self.happen(Event::Tick { at });
                let due = self.control.next_due(at).map_or(Duration::MAX, |due| due.since(at));
                self.plan_tick(self.now.plus(due.clamp(self.settings.chronon, LONGEST_SLEEP)));
            }
            Scheduled::Answer { prepared, result } => self.read(*prepared, result),
            Scheduled::Robots { url, result } => self.happen(Event::Robots { url, answer: Box::new(result) }),
            Scheduled::Abandoned(result) => self.happen(Event::Probed(result)),
            Scheduled::WriteAgain => self.write(),
        }
        // A probe may now be due before the next planned tick.
        if let Some((next, _)) = self.next_tick
            && let Some(due) = self.control.next_due(self.clock())
        {
            let soonest = self.now.plus(due.since(self.clock()).max(self.settings.chronon));
            if soonest < next {
                self.plan_tick(soonest);
            }
        }
    }

    /// Plans a tick for the first whole chronon not before `at`, unless one is planned before.
    fn plan_tick(&mut self, at: Time) {
        let chronon = i64::try_from(self.settings.chronon.as_micros()).unwrap_or(i64::MAX).max(1);
        let steps = at.micros().saturating_add(chronon - 1).div_euclid(chronon);
        let at = Time::from_micros(steps.saturating_mul(chronon)).max(self.now);
        match self.next_tick {
            Some((planned, _)) if planned <= at => return,
            Some(planned) => drop(self.agenda.remove(&planned)),
            None => {}
        }
        self.next_tick = Some(self.plan(at, Scheduled::Tick));
    }

    fn plan(&mut self, at: Time, scheduled: Scheduled) -> (Time, u64) {
        self.n_planned += 1;
        let key = (at, self.n_planned);
        self.agenda.insert(key, scheduled);
        key
    }

    fn happen(&mut self, event: Event) {
        let mut commands = Vec::new();
        self.control.handle(self.clock(), event, &mut commands);
        self.execute(commands);
    }

    fn execute(&mut self, commands: Vec<Command>) {
        let mut has_writes = false;
        for command in commands {
            match command {
                Command::Write(write) => {
                    self.backlog.push(write);
                    has_writes = true;
                }
                Command::Probe { task, hop } => self.probe(task, hop),
                Command::FetchRobots { url } => {
                    let request = Request::new(url.clone());
                    let Answered { latency, result } = self.world.answer(&request, self.now);
                    self.plan(self.now.plus(latency), Scheduled::Robots { url, result });
                }
            }
        }
        if has_writes && self.backlog.pause().is_none() {
            self.write();
        }
    }

    fn probe(&mut self, task: ProbeTask, hop: SiteHop) {
        let probe = task.probe;
        let prepared = catch_unwind(AssertUnwindSafe(|| {
            let mut prepared = prepare(&*self.store, &self.settings, &mut self.recipes, &[task])?;
            prepared.pop().unwrap_or(Err(Error::Stopped))
        }));
        let prepared = match prepared {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) => return self.happen(Event::Dropped { probe, reason: error.to_string() }),
            Err(panic) => return self.happen(Event::Crashed { probe, reason: panic_message(&*panic) }),
        };
        match prepared.request() {
            Ok(request) => {
                let Answered { latency, result } = self.world.answer(&hop.of(request), self.now);
                let prepared = Box::new(prepared);
                self.plan(self.now.plus(latency), Scheduled::Answer { prepared, result });
            }
            Err(error) => {
                let failure = Failure::new(Fault::User, error.to_string());
                self.happen(Event::Probed(Box::new(given_up(&prepared, &failure, self.clock()))));
            }
        }
    }

    fn read(&mut self, mut prepared: PreparedProbe, result: Result<Fetched, NetError>) {
        let (probe, at) = (prepared.probe, self.clock());
        match result {
            Err(NetError::CrossSiteRedirect { redirect }) => {
                return self.happen(Event::Redirected { probe, redirect });
            }
            Err(NetError::Stale { .. }) => return self.happen(Event::ConnectionClosed { probe }),
            _ => {}
        }
        let answer = Answer::new(result, at, None);
        let within = self.settings.reading_time;
        let (mut ends, mut is_late) = (Vec::new(), false);
        for source in std::mem::take(&mut prepared.sources) {
            let needed = self.world.time_to_read(&source.target.url, self.now);
            let id = source.source;
            if needed > within && matches!(first_step(&source, &answer), Step::Read(_)) {
                // As in the live driver: it ends at the deadline, with any result.
                is_late = true;
                ends.push(reading_timed_out(&source, within, at).into());
                continue;
            }
            let read = catch_unwind(AssertUnwindSafe(|| {
                digest(&*self.store, &self.settings, &self.templates, source, &answer)
            }));
            ends.push(match read {
                Ok(Ok(result)) => result.into(),
                Ok(Err(error)) => SourceEnd::Dropped { source: id, reason: error.to_string() },
                Err(panic) => SourceEnd::Crashed { source: id, reason: panic_message(&*panic) },
            });
        }
        let result = Box::new(ProbeResult::of(&prepared, &answer, ends));
        if is_late {
            self.plan(self.now.plus(within), Scheduled::Abandoned(result));
        } else {
            self.happen(Event::Probed(result));
        }
    }

    fn write(&mut self) {
        for event in self.backlog.attempt(&*self.store) {
            self.happen(event);
        }
        if let Some(pause) = self.backlog.pause() {
            self.plan(self.now.plus(pause), Scheduled::WriteAgain);
        }
    }

    /// Sets the engine's clock forward, or back, by this many seconds. The world's time is not affected.
    pub fn set_clock(&mut self, seconds: i64) {
        self.clock_ahead = self.clock_ahead.saturating_add(seconds.saturating_mul(1_000_000));
    }

    /// What the engine's clock shows.
    pub fn clock(&self) -> Time {
        Time::from_micros(self.now.micros().saturating_add(self.clock_ahead))
    }

    /// Ends as a stopped engine does: no probe starts, active ones finish, everything is written.
    pub fn stop(mut self) -> W {
        self.happen(Event::Stopping);
        let end = self.now.plus(self.settings.stop_within);
        while self.control.n_active() > 0 && self.now < end {
            let Some((at, _)) = self.agenda.keys().next().copied() else { break };
            self.run_until(at);
        }
        let mut commands = Vec::new();
        self.control.flush(self.clock(), &mut commands);
        for command in commands {
            if let Command::Write(write) = command {
                self.backlog.push(write);
            }
        }
        self.write();
        self.world
    }

    /// Ends as a killed process does: what is not written is gone.
    pub fn kill(self) -> W {
        self.world
    }

    /// The simulated web.
    pub fn world(&mut self) -> &mut W {
        &mut self.world
    }

    /// What is known about a source.
    pub fn explain(&mut self, id: SourceId) -> Result<SourceExplanation, Error> {
        let source = self.store.source(id)?.ok_or(Error::NoSuchSource(id))?;
        let notes = self.store.notes(source.id)?;
        Ok(self.control.explain(source, self.clock()).with_notes(&notes))
    }

    /// Counters and gauges.
    pub fn stats(&self) -> EngineStats {
        self.control.stats()
    }

    /// Whether it is alive, and what keeps it from working.
    pub fn health(&self) -> Health {
        self.control.health()
    }
}
