//! The site on a socket. The only part that reads a clock; what is answered is decided by [`Site`].

mod connection;
mod raw;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use dunlin_core::{SourceIdx, Time};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::log::{Log, Logged};
use crate::{Error, Fault, Kind, Plan, Site};

/// The most connections at once; more wait to be accepted.
const CONNECTIONS: usize = 4_096;
/// How long answers under way may take to end once the test bed is told to stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// What to serve, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The trace and how to show it.
    pub plan: Plan,
    /// Where to listen; port 0 stands for any free one.
    pub listen: SocketAddr,
}

/// A web site to try monitors on.
#[derive(Debug)]
pub struct Testbed;

impl Testbed {
    /// Starts to listen and returns; the site starts now. Has to be called within a tokio runtime.
    pub async fn start(options: Options) -> Result<Running, Error> {
        let clock = Clock::start();
        let started = clock.started;
        Self::run(options, clock, started).await
    }

    /// The same with a site that started at an earlier time, so that one that was stopped goes on where it would be now.
    pub async fn resume(options: Options, started: Time) -> Result<Running, Error> {
        let clock = Clock::start();
        // A clock that was set back since must not lead to a time before the site's first.
        let started = started.min(clock.started);
        Self::run(options, clock, started).await
    }

    async fn run(options: Options, clock: Clock, started: Time) -> Result<Running, Error> {
        let site = Site::new(options.plan, started)?;
        let listening = |reason| Error::Listen { address: options.listen, reason };
        let listener = TcpListener::bind(options.listen).await.map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let shared = Arc::new(Shared {
            address,
            visits: site.sources().iter().map(|_| Default::default()).collect(),
            site: RwLock::new(site),
            log: Mutex::new(Log::new()),
            clock,
        });
        let (stop, stopped) = watch::channel(());
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared), stopped));
        Ok(Running { shared, stop, accepting })
    }
}

/// A test bed that answers. Dropping it stops it; [`Running::stop`] also waits for the end.
#[derive(Debug)]
pub struct Running {
    shared: Arc<Shared>,
    stop: watch::Sender<()>,
    accepting: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// The absolute address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// The site as it is set up now, faults included.
    pub fn site(&self) -> Site {
        self.shared.site.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The time by the test bed's clock.
    pub fn now(&self) -> Time {
        self.shared.clock.now()
    }

    /// Puts a fault on a source for some time, or until the next call; `None` removes it.
    pub fn set_fault(&self, id: &str, fault: Option<Fault>, lasts: Option<Duration>) -> Result<(), Error> {
        let until = lasts.map(|lasts| self.now().plus(lasts));
        self.shared.site.write().unwrap_or_else(PoisonError::into_inner).set_fault(id, fault, until)
    }

    /// The requests that are still in the log, oldest first.
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log().after(0).cloned().collect()
    }

    /// Accepts no more, lets answers under way end within two seconds, and returns when all is closed.
    pub async fn stop(self) {
        let Self { stop, accepting, .. } = self;
        drop(stop);
        // It ends by itself, and only a panic could keep it from saying so.
        let _ = accepting.await;
    }
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    site: RwLock<Site>,
    /// Requests per source and form.
    visits: Vec<[AtomicU64; Kind::COUNT]>,
    log: Mutex<Log>,
    clock: Clock,
}

impl Shared {
    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests for the source in this form came before this one.
    fn visit(&self, wanted: Option<(SourceIdx, Kind)>) -> u64 {
        let visits = wanted.map(|(source, kind)| &self.visits[source.index()][kind as usize]);
        visits.map_or(0, |visits| visits.fetch_add(1, Ordering::Relaxed))
    }
}

/// The real time at the start, carried on by a clock that is never set back.
#[derive(Debug)]
struct Clock {
    started: Time,
    since: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { started: Time::from(SystemTime::now()), since: Instant::now() }
    }

    fn now(&self) -> Time {
        self.started.plus(self.since.elapsed())
    }
}

/// Accepts until told to stop, then waits for the connections.
async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await.expect("the semaphore is never closed");
            (place, listener.accept().await)
        };
        tokio::select! {
            _ = stopped.changed() => break,
            // Taken off the list as they end, so that it does not grow for ever.
            Some(_) = connections.join_next() => {}
            (place, accepted) = accepted => match accepted {
                Ok((stream, _)) => {
                    let serving = connection::serve(stream, Arc::clone(&shared), stopped.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                }
                // Out of file descriptors, most likely: some will be given back.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    let all_closed = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(PATIENCE, all_closed).await;
    connections.shutdown().await;
}
