//! The driver for the real world: the wall clock, sockets, threads. One task decides, a bounded set of workers fetch,
//! extraction has threads of its own, the store has blocking ones, one task writes. The number of active probes bounds
//! what waits in channels, and the task that decides never blocks on any.
//!
//! Decides nothing itself: every decision is in [`crate::control`].

mod fetching;
mod preparing;
mod probe_cache;
mod workers;
mod writer;

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::Client;
use dunlin_sched::scheduler::Pace;
use dunlin_store::{Cursor, Recorded, ResultCursor, Store};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use self::fetching::{Basis, Done, FetchTask, Fetching};
use self::preparing::{Preparing, Ready};
use self::probe_cache::ProbeCache;
use self::workers::Workers;
use crate::ageing::{Ages, BelievedTime};
use crate::control::{Command, Control, Event, Write};
use crate::handle::{Handle, LoopRequest, Published, stored_budget};
use crate::heartbeat::Heartbeat;
use crate::queries::load_needs;
use crate::source_config::{has_been_used, load_all};
use crate::{Error, Settings, clock};

/// Requests that wait while the loop is busy.
const ASKS: usize = 64;
/// The most ended tasks that one turn of the loop handles: ticks have to come in between.
const AT_ONE_TURN: usize = 128;
/// How long the last writes may take at the end, if `stop_within` is over by then.
const LAST_WRITES: Duration = Duration::from_secs(4);
/// How often old things are removed from the store.
const PRUNE_EVERY: Duration = Duration::from_hours(1);

/// A running engine. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Engine {
    handle: Handle,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), Error>>,
    upkeep: JoinHandle<()>,
}

impl Engine {
    /// Starts watching the sources in `store`. Returns when all of them are known.
    pub async fn start(store: Arc<dyn Store>, settings: Settings) -> Result<Self, Error> {
        let client = Client::new(settings.network.clone()).map_err(Error::Network)?;
        Self::start_with(store, settings, client).await
    }

    /// The same with a given client, for instance one with another resolver.
    pub async fn start_with(
        store: Arc<dyn Store>,
        settings: Settings,
        client: Client,
    ) -> Result<Self, Error> {
        let settings = Arc::new(settings);
        let Loaded { control, commands, newest, newest_result } = {
            let (store, settings) = (Arc::clone(&store), Arc::clone(&settings));
            let loading = tokio::task::spawn_blocking(move || load(&*store, &settings));
            loading.await.map_err(|_| Error::Stopped)??
        };
        let stats = control.stats();
        tracing::info!(sources = stats.sources, watched = stats.watched, "the engine starts");
        let published = Arc::new(Mutex::new(Published { stats, health: control.health() }));
        let (asks, asked) = mpsc::channel(ASKS);
        let (stop, stopped) = oneshot::channel();
        let (changes, newest) = watch::channel(newest);
        let (results, newest_result) = watch::channel(newest_result);
        let order = Arc::default();
        let fetching = Fetching::new(Arc::clone(&store), Arc::clone(&settings), client);
        let heartbeat = Arc::new(Heartbeat::new(settings.patience, fetching.readers()));
        let handle = Handle { store, settings, asks, newest, newest_result, published, heartbeat, order };
        let running = Running::new(&handle, control, commands, fetching, Announcing { changes, results });
        let task = tokio::spawn(running.run(asked, stopped));
        let upkeep = tokio::spawn(keep_up(handle.clone()));
        Ok(Self { handle, stop, task, upkeep })
    }

    /// A way to talk to it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Starts no more probes, finishes the active ones or abandons them after a while, and writes everything. An error when
    /// the store did not take everything.
    pub async fn stop(self) -> Result<(), Error> {
        self.upkeep.abort();
        let _ = self.stop.send(());
        self.task.await.map_err(|_| Error::Stopped)?
    }
}

/// What an engine starts from.
struct Loaded {
    control: Control,
    commands: Vec<Command>,
    newest: Cursor,
    newest_result: ResultCursor,
}

/// Everything control has to know before it begins.
fn load(store: &dyn Store, settings: &Arc<Settings>) -> Result<Loaded, Error> {
    let budget = stored_budget(store)?.unwrap_or(settings.budget);
    let entropy = std::collections::hash_map::RandomState::new().build_hasher().finish();
    let mut control = Control::new(Arc::clone(settings), budget, entropy);
    control.restore_politeness(&store.politeness()?);
    if has_been_used(store)? {
        control.resume(clock::now());
    }
    let mut commands = Vec::new();
    load_all(store, settings, |config| {
        control.handle(clock::now(), Event::Configured(config), &mut commands);
    })?;
    load_needs(store, |event| control.handle(clock::now(), event, &mut commands))?;
    let (newest, newest_result) = (store.cursor_range()?.newest, store.newest_result()?);
    Ok(Loaded { control, commands, newest, newest_result })
}

/// Where the newest of what is stored is announced.
struct Announcing {
    changes: watch::Sender<Cursor>,
    results: watch::Sender<ResultCursor>,
}

impl Announcing {
    fn written(&self, recorded: &Recorded) {
        if let Some((_, last)) = recorded.cursors {
            raise(&self.changes, last);
        }
        if let Some(last) = recorded.last_result {
            raise(&self.results, last);
        }
    }
}

fn raise<T: Ord + Copy>(newest: &watch::Sender<T>, last: T) {
    newest.send_if_modified(|newest| {
        let is_newer = last > *newest;
        *newest = last.max(*newest);
        is_newer
    });
}

/// Removes what is too old, at the start and now and then: a service that is often restarted must not keep everything.
async fn keep_up(handle: Handle) {
    let begun = Instant::now();
    let mut ages = None;
    loop {
        let (store, keep, run_for) = (Arc::clone(&handle.store), handle.settings.keep, begun.elapsed());
        let pruning = tokio::task::spawn_blocking(move || {
            let mut known = match ages {
                Some(known) => known,
                None => Ages::read(&*store)?,
            };
            let (_, believed) = known.prune(&*store, keep, clock::now(), run_for)?;
            Ok::<_, Error>((known, believed))
        });
        match pruning.await {
            Ok(Ok((known, BelievedTime { doubt, .. }))) => {
                ages = Some(known);
                if let Some(ahead) = doubt {
                    tracing::warn!(
                        days = ahead.as_secs() / 86_400,
                        "the clock is far ahead of when the service last ran; if that is so for a day, what is old by \
                         it will be removed (set the clock if it is wrong)"
                    );
                }
            }
            Ok(Err(error)) => tracing::warn!(%error, "old things could not be removed from the store"),
            Err(_) => tracing::error!("removing old things from the store has failed, and ends"),
        }
        tokio::time::sleep(PRUNE_EVERY).await;
    }
}

/// The state of the loop.
struct Running {
    control: Control,
    settings: Arc<Settings>,
    workers: Workers<Fetching>,
    probe_cache: ProbeCache,
    /// Probes of sources that are not cached.
    preparing: Preparing,
    /// What the writer has no room for yet.
    unsent: VecDeque<Write>,
    to_write: Option<mpsc::Sender<Write>>,
    written: mpsc::Receiver<Vec<Event>>,
    writer: JoinHandle<Result<(), Error>>,
    announcing: Announcing,
    published: Arc<Mutex<Published>>,
    heartbeat: Arc<Heartbeat>,
    commands: Vec<Command>,
}

impl Running {
    fn new(
        handle: &Handle,
        control: Control,
        commands: Vec<Command>,
        fetching: Fetching,
        announcing: Announcing,
    ) -> Self {
        let settings = Arc::clone(&handle.settings);
        // What the writer has no room for waits with the loop, and would not be written together with the rest.
        let capacity = settings.max_active(Pace { per_second: f64::MAX }) as usize + 16;
        let (to_write, handed_over) = mpsc::channel(capacity);
        // The writer waits until the loop has received its events, which come only now and then.
        let (events, written) = mpsc::channel(1);
        let heartbeat = Arc::clone(&handle.heartbeat);
        let writer = tokio::spawn(writer::run(Arc::clone(&handle.store), handed_over, events, heartbeat));
        Self {
            control,
            workers: Workers::new(fetching, settings.in_flight as usize),
            probe_cache: ProbeCache::new(settings.recall_bytes, capacity),
            preparing: Preparing::new(Arc::clone(&handle.store), Arc::clone(&settings)),
            settings,
            unsent: VecDeque::new(),
            to_write: Some(to_write),
            written,
            writer,
            announcing,
            published: Arc::clone(&handle.published),
            heartbeat: Arc::clone(&handle.heartbeat),
            commands,
        }
    }

    async fn run(
        mut self,
        mut asked: mpsc::Receiver<LoopRequest>,
        mut stopped: oneshot::Receiver<()>,
    ) -> Result<(), Error> {
        let mut ticks = tokio::time::interval(self.settings.chronon.max(Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut give_up_at: Option<Instant> = None;
        let mut ended = Vec::with_capacity(AT_ONE_TURN);
        // What followed from loading.
        std::mem::take(&mut self.commands).into_iter().for_each(|command| self.execute(command));
        loop {
            tokio::select! {
                _ = ticks.tick() => self.tick(),
                Some(events) = self.written.recv() => {
                    let now = clock::now();
                    events.into_iter().for_each(|event| self.take(now, event));
                }
                () = self.workers.ended(&mut ended, AT_ONE_TURN) => {
                    let now = clock::now();
                    ended.drain(..).for_each(|done| self.task_ended(now, done));
                }
                Some(ready) = self.preparing.ended() => {
                    let now = clock::now();
                    ready.into_iter().for_each(|ready| self.begin(now, ready));
                }
                Some(ask) = asked.recv(), if give_up_at.is_none() => self.answer(ask),
                _ = &mut stopped, if give_up_at.is_none() => {
                    give_up_at = Some(Instant::now() + self.settings.stop_within);
                    self.take(clock::now(), Event::Stopping);
                    asked.close();
                }
            }
            self.preparing.begin();
            self.send_writes();
            self.publish();
            let is_idle = self.control.n_active() == 0 && self.unsent.is_empty();
            // Further results would only wait for a store that takes nothing.
            let is_stuck = self.control.health().store_trouble.is_some();
            if give_up_at.is_some_and(|at| is_idle || is_stuck || Instant::now() >= at) {
                break;
            }
        }
        self.finish(give_up_at.unwrap_or_else(Instant::now)).await
    }

    fn tick(&mut self) {
        let now = clock::now();
        let chronon = i64::try_from(self.settings.chronon.as_micros()).unwrap_or(i64::MAX).max(1);
        let at = Time::from_micros(now.micros().div_euclid(chronon).saturating_mul(chronon));
        self.handle(now, Event::Tick { at });
        self.heartbeat.tick();
    }

    fn take(&mut self, now: Time, event: Event) {
        if let Event::Written { probe, source, result: Ok(recorded) } = &event {
            self.probe_cache.written(*source, *probe);
            self.announcing.written(recorded);
        }
        self.handle(now, event);
    }

    fn handle(&mut self, now: Time, event: Event) {
        let mut commands = std::mem::take(&mut self.commands);
        self.control.handle(now, event, &mut commands);
        for command in commands.drain(..) {
            self.execute(command);
        }
        self.commands = commands;
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Write(write) => self.unsent.push_back(write),
            Command::Probe { task, hop } => {
                let own = task.sources.iter();
                let kept: Vec<_> = own.map(|own| self.probe_cache.take(own.source, task.probe)).collect();
                match kept.into_iter().collect() {
                    Some(kept) => {
                        self.workers.begin(FetchTask::Probe { task, hop, basis: Basis::Cached(kept) });
                    }
                    None => self.preparing.push(task, hop),
                }
            }
            Command::FetchRobots { url } => self.workers.begin(FetchTask::Robots(url)),
        }
    }

    /// Fetches what is prepared.
    fn begin(&mut self, now: Time, ready: Ready) {
        match ready {
            Ready::Probe { task, hop, prepared } => {
                self.workers.begin(FetchTask::Probe { task, hop, basis: Basis::Read(prepared) });
            }
            Ready::Event(event) => self.take(now, event),
        }
    }

    fn task_ended(&mut self, now: Time, Done { event, next }: Done) {
        if let Event::Probed(result) = &event {
            for (source, kept) in next {
                self.probe_cache.leave(source, result.probe, kept);
            }
        }
        self.take(now, event);
    }

    /// Hands writes to the writer as far as it has room. The rest is bounded: each belongs to an active probe.
    fn send_writes(&mut self) {
        let Some(sender) = &self.to_write else { return };
        while let Some(write) = self.unsent.pop_front() {
            if let Err(error) = sender.try_send(write) {
                let (mpsc::error::TrySendError::Full(write) | mpsc::error::TrySendError::Closed(write)) =
                    error;
                self.unsent.push_front(write);
                return;
            }
        }
    }

    fn publish(&self) {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        published.stats = self.control.stats();
        published.health = self.control.health();
    }

    fn answer(&mut self, ask: LoopRequest) {
        let now = clock::now();
        // The caller may be gone; then the reply is not needed.
        match ask {
            LoopRequest::Configure(config, reply) => {
                self.probe_cache.forget(config.id);
                self.handle(now, Event::Configured(vec![*config]));
                let _ = reply.send(());
            }
            LoopRequest::Remove(id, reply) => {
                self.probe_cache.forget(id);
                self.handle(now, Event::Removed(id));
                let _ = reply.send(());
            }
            LoopRequest::Probe(id, reply) => {
                let _ = reply.send(self.control.request_probe(now, id));
            }
            LoopRequest::Explain(source, reply) => {
                let _ = reply.send(self.control.explain(*source, now));
            }
            LoopRequest::Take(events, reply) => {
                for event in events {
                    if let Event::Removed(id) = &event {
                        self.probe_cache.forget(*id);
                    }
                    self.handle(now, event);
                }
                let _ = reply.send(());
            }
            LoopRequest::ExplainQuery(id, reply) => {
                let _ = reply.send(self.control.explain_query(id));
            }
            LoopRequest::Budget(reply) => {
                let _ = reply.send(self.control.budget(now));
            }
            LoopRequest::SetBudget(pace, reply) => {
                self.handle(now, Event::Budget(pace));
                let _ = reply.send(());
            }
        }
    }

    /// Abandons active probes and writes the rest, within the time limit.
    async fn finish(mut self, give_up_at: Instant) -> Result<(), Error> {
        let abandoned = self.workers.len() + self.preparing.len();
        self.workers.abandon();
        let mut commands = Vec::new();
        self.control.flush(clock::now(), &mut commands);
        commands.into_iter().for_each(|command| self.execute(command));
        let sender = self.to_write.take();
        let unsent = std::mem::take(&mut self.unsent);
        let written = &mut self.written;
        let writing = async {
            if let Some(sender) = sender {
                for write in unsent {
                    if sender.send(write).await.is_err() {
                        break;
                    }
                }
            }
        };
        // The writer's events are not needed any more, but it must not wait for a receiver.
        let listening = async { while written.recv().await.is_some() {} };
        let limit = give_up_at.max(Instant::now() + LAST_WRITES);
        let writer = &mut self.writer;
        let all = async { tokio::join!(writing, listening, writer).2 };
        let ended = tokio::time::timeout_at(limit, all).await;
        self.writer.abort();
        let result = match ended {
            Ok(Ok(result)) => result,
            // Out of time, or the writer has panicked.
            Err(_) | Ok(Err(_)) => Err(Error::Unwritten),
        };
        match &result {
            Ok(()) => tracing::info!(abandoned, "the engine has stopped"),
            Err(error) => tracing::error!(abandoned, %error, "the engine has stopped"),
        }
        self.control.handle(clock::now(), Event::Stopping, &mut Vec::new());
        self.publish();
        result
    }
}
