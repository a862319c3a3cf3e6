//! Threads for work on untrusted content, which may take very long: pages to read, versions to compare. Each piece of work
//! has a deadline; work that overruns it is abandoned, and its late result is dropped. Knows nothing about what the work is.
//!
//! A thread cannot be killed, so an abandoned one runs on until its work ends by itself. There is a limited number of spare
//! threads for that: when all are taken, nothing new begins until one is free again.
//!
//! Invariant: no piece of work uses the tokio runtime's own threads, and the end of the process waits for none of these
//! threads.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use crate::probe::panic_message;

/// How long a piece of work keeps others waiting. Longer work continues beside them, until its deadline.
const TURN: Duration = Duration::from_secs(1);

/// How many readers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderLimits {
    /// Pieces of work that begin at one time: each takes a processor, and more than there are only cost memory.
    pub at_one_time: usize,
    /// Threads beyond these, for work that takes longer than its turn or was abandoned.
    pub spare: usize,
    /// The most that may wait for their turn; one more is refused.
    pub most_waiting: usize,
}

impl ReaderLimits {
    /// As many at one time as there are processors, at least two.
    pub fn for_this_machine(spare: usize, most_waiting: usize) -> Self {
        let at_one_time = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self { at_one_time, spare, most_waiting }
    }

    /// The most threads there ever are.
    pub const fn n_threads(self) -> usize {
        self.at_one_time + self.spare
    }
}

/// Why a piece of work has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// Too many wait already.
    #[error("too many wait already (try again later)")]
    Full,
    /// It was abandoned at its deadline.
    #[error("it took longer than {within:?}")]
    TooLong {
        /// The deadline.
        within: Duration,
    },
    /// It panicked with this message.
    #[error("{0}")]
    Panicked(String),
    /// No thread could be started for it.
    #[error("no thread could be started (raise the limit on processes)")]
    NoThread,
}

/// The threads and their queue. Cheap to clone; when the last clone is dropped, threads end as their work does.
#[derive(Debug, Clone)]
pub struct Readers {
    pool: Arc<ReaderPool>,
}

#[derive(Debug)]
struct ReaderPool {
    threads: Arc<ThreadQueue>,
    limits: ReaderLimits,
    turns: Semaphore,
    /// One for each thread; returned when the work has really ended.
    slots: Arc<Semaphore>,
    n_waiting: AtomicUsize,
    /// Work that has begun and that a caller still waits for.
    n_awaited: AtomicUsize,
}

impl Readers {
    /// Readers whose threads have this name. None is started before there is work.
    pub fn new(name: &'static str, limits: ReaderLimits) -> Self {
        let limits = ReaderLimits { at_one_time: limits.at_one_time.max(1), ..limits };
        let pool = ReaderPool {
            threads: Arc::new(ThreadQueue {
                name,
                n_kept: limits.at_one_time,
                state: Mutex::default(),
                called: Condvar::new(),
            }),
            turns: Semaphore::new(limits.at_one_time),
            slots: Arc::new(Semaphore::new(limits.n_threads())),
            limits,
            n_waiting: AtomicUsize::new(0),
            n_awaited: AtomicUsize::new(0),
        };
        Self { pool: Arc::new(pool) }
    }

    /// Runs work on a thread, when it is its turn, and abandons it when it takes longer than `within`. Dropping the future
    /// abandons it too.
    pub async fn run<T: Send + 'static>(
        &self,
        within: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let pool = &*self.pool;
        let waiting = Counted::one_more(&pool.n_waiting);
        if waiting.before >= pool.limits.most_waiting && pool.turns.available_permits() == 0 {
            return Err(WorkError::Full);
        }
        let turn = pool.turns.acquire().await.map_err(|_| WorkError::NoThread)?;
        let slot = Arc::clone(&pool.slots).acquire_owned().await.map_err(|_| WorkError::NoThread)?;
        drop(waiting);
        let _awaited = Counted::one_more(&pool.n_awaited);
        let (sender, mut outcome) = oneshot::channel();
        pool.threads.begin(Box::new(move || {
            // Nothing that a panic may leave half done is used again: the work owns what it works on.
            let done = catch_unwind(AssertUnwindSafe(work));
            drop(slot);
            // Abandoned work has no listener: the channel belongs to this one piece of work.
            let _ = sender.send(done);
        }));
        let deadline = Instant::now() + within;
        let ended = if let Ok(ended) = timeout(TURN.min(within), &mut outcome).await {
            ended
        } else {
            drop(turn);
            timeout_at(deadline, &mut outcome).await.map_err(|_| WorkError::TooLong { within })?
        };
        ended
            .map_err(|_| WorkError::NoThread)?
            .map_err(|panic: Box<dyn Any + Send>| WorkError::Panicked(panic_message(&*panic)))
    }

    /// How many abandoned pieces of work still run.
    pub fn n_abandoned(&self) -> usize {
        let n_taken = self.pool.limits.n_threads() - self.pool.slots.available_permits();
        n_taken.saturating_sub(self.pool.n_awaited.load(Ordering::Relaxed))
    }

    /// Whether abandoned work has all threads, so that nothing can begin.
    pub fn are_stuck(&self) -> bool {
        self.n_abandoned() >= self.pool.limits.n_threads()
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        self.threads.state().is_closed = true;
        self.threads.called.notify_all();
    }
}

/// Counts while it exists.
struct Counted<'c> {
    count: &'c AtomicUsize,
    before: usize,
}

impl<'c> Counted<'c> {
    fn one_more(count: &'c AtomicUsize) -> Self {
        Self { count, before: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// Where threads wait for work. Each piece of work holds a slot, so there are no more threads than slots.
#[derive(Debug)]
struct ThreadQueue {
    name: &'static str,
    /// How many idle threads stay; more end.
    n_kept: usize,
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Default)]
struct State {
    works: VecDeque<Work>,
    n_idle: usize,
    is_closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("n_idle", &self.n_idle).finish_non_exhaustive()
    }
}

impl ThreadQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives work to an idle thread, or to a new one.
    fn begin(self: &Arc<Self>, work: Work) {
        let mut state = self.state();
        if state.n_idle > state.works.len() {
            state.works.push_back(work);
            self.called.notify_one();
            return;
        }
        drop(state);
        let threads = Arc::clone(self);
        // Without a thread the work is dropped here, which the caller sees as a closed channel.
        let _ = std::thread::Builder::new().name(self.name.to_owned()).spawn(move || threads.work(work));
    }

    /// A thread's life.
    fn work(&self, first: Work) {
        let mut next = Some(first);
        while let Some(work) = next.take() {
            work();
            next = self.next();
        }
    }

    /// Waits for work; `None` when this thread is one too many.
    fn next(&self) -> Option<Work> {
        let mut state = self.state();
        if state.works.is_empty() && state.n_idle >= self.n_kept {
            return None;
        }
        state.n_idle += 1;
        loop {
            let work = state.works.pop_front();
            if work.is_some() || state.is_closed {
                state.n_idle -= 1;
                return work;
            }
            state = self.called.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests;
