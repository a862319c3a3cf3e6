//! The one thread that writes. Callers queue their work and wait; the thread takes all that is queued, does it in
//! one transaction, and answers all callers after the commit. So all of them share one sync of the disk.
//!
//! Invariant: an answer is sent only after the transaction that holds its work has been committed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::Error;

/// The queue to the writing thread. Dropping it finishes what is queued and closes the database.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// An answer that will come.
pub(super) struct Pending<T>(Receiver<Result<T, Error>>);

impl<T> Pending<T> {
    /// Waits until the work is on disk, or has failed.
    pub(super) fn wait(self) -> Result<T, Error> {
        self.0.recv().unwrap_or(Err(Error::Closed))
    }
}

impl Writer {
    /// Starts the thread. `queue` callers may wait before the next one has to wait for a place; `batch` is the
    /// most that goes into one transaction.
    pub(super) fn start(connection: Connection, queue: usize, batch: usize) -> Result<Self, Error> {
        let (sender, receiver) = sync_channel(queue.max(1));
        let batch = batch.max(1);
        let thread = std::thread::Builder::new()
            .name("dunlin-store".to_owned())
            .spawn(move || serve(&connection, &receiver, batch))
            .map_err(|reason| Error::system("starting the writing thread", &reason))?;
        Ok(Self { queue: Some(sender), thread: Some(thread) })
    }

    /// Queues work for the next transaction. It may be run a second time, after the first run was undone.
    pub(super) fn submit<T, W>(&self, work: W) -> Pending<T>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    {
        self.queue(work, TransactionMode::Shared)
    }

    /// Queues work that must not be inside a transaction.
    pub(super) fn submit_alone<T, W>(&self, work: W) -> Pending<T>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    {
        self.queue(work, TransactionMode::Exclusive)
    }

    fn queue<T, W>(&self, work: W, mode: TransactionMode) -> Pending<T>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    {
        let (answer, pending) = sync_channel(1);
        if let Some(queue) = &self.queue {
            // When the thread is gone, `answer` goes with the job and the wait below ends with `Closed`.
            let _ = queue.send(Box::new(Typed { work, result: None, answer, mode }));
        }
        Pending(pending)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has already been answered by `Closed`.
            let _ = thread.join();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransactionMode {
    Shared,
    Exclusive,
}

trait Job: Send {
    fn mode(&self) -> TransactionMode;
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;
    fn answer(self: Box<Self>, outcome: Result<(), Error>);
}

struct Typed<T, W> {
    work: W,
    result: Option<T>,
    answer: SyncSender<Result<T, Error>>,
    mode: TransactionMode,
}

impl<T: Send, W: FnMut(&Connection) -> Result<T, Error> + Send> Job for Typed<T, W> {
    fn mode(&self) -> TransactionMode {
        self.mode
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        self.result = Some((self.work)(connection)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), Error>) {
        let Self { result, answer, .. } = *self;
        // The caller may have stopped waiting.
        let _ = answer.send(outcome.and_then(|()| result.ok_or(Error::Closed)));
    }
}

fn serve(connection: &Connection, queue: &Receiver<Box<dyn Job>>, batch: usize) {
    let mut held_back = None;
    while let Some(first) = held_back.take().or_else(|| queue.recv().ok()) {
        if first.mode() == TransactionMode::Exclusive {
            run_alone(connection, first);
            continue;
        }
        let mut jobs = vec![first];
        while jobs.len() < batch
            && let Ok(job) = queue.try_recv()
        {
            if job.mode() == TransactionMode::Exclusive {
                held_back = Some(job);
                break;
            }
            jobs.push(job);
        }
        run_batch(connection, jobs, DiskSpace::Unchanged);
    }
    // The database is as good without these; they make the next opening quick and the directory tidy.
    let _ = connection.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
}

fn run_alone(connection: &Connection, mut job: Box<dyn Job>) {
    let outcome = run_guarded(job.as_mut(), connection);
    job.answer(outcome);
}

/// A job that panics fails like any other: what it wrote is taken back, and the store goes on for all other jobs.
/// The job is not used again, and the connection is left as a statement leaves it, so nothing broken can be seen.
fn run_guarded(job: &mut dyn Job, connection: &Connection) -> Result<(), Error> {
    catch_unwind(AssertUnwindSafe(|| job.run(connection)))
        .unwrap_or_else(|_| Err(Error::Bug { what: "a panic, described on standard error".to_owned() }))
}

/// Whether room has been made for a job that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskSpace {
    Unchanged,
    Freed,
}

/// All jobs in one transaction. When one of them fails, the transaction is taken back: those before it, it alone, and
/// those after it are run again, in this order. Failures are rare, and a savepoint for every job costs a copy of each
/// page it touches. If the transaction fails as a whole, each job gets one of its own, so that one that does not fit on
/// the disk does not take the others with it.
fn run_batch(connection: &Connection, mut jobs: Vec<Box<dyn Job>>, space: DiskSpace) {
    let Err(undone) = attempt(connection, &mut jobs) else {
        jobs.into_iter().for_each(|job| job.answer(Ok(())));
        return;
    };
    match undone.failure {
        Error::Full if space == DiskSpace::Unchanged => {
            // Much of the used space may be the log, and its pages may already be in the database.
            // That may be all it takes, and lets pruning begin on a full disk. If it fails, nothing is worse.
            let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            jobs.into_iter().for_each(|job| run_batch(connection, vec![job], DiskSpace::Freed));
        }
        // Another program has the database: waiting for it once for each would be no better.
        failure if jobs.len() == 1 || failure == Error::Busy => {
            jobs.into_iter().for_each(|job| job.answer(Err(failure.clone())));
        }
        _ => match undone.by {
            Some(index) => {
                let after = jobs.split_off(index + 1);
                let culprit = jobs.split_off(index);
                for part in [jobs, culprit, after].into_iter().filter(|part| !part.is_empty()) {
                    run_batch(connection, part, space);
                }
            }
            None => jobs.into_iter().for_each(|job| run_batch(connection, vec![job], space)),
        },
    }
}

/// Why nothing of a transaction was kept.
struct Undone {
    failure: Error,
    /// The job that failed, unless it was beginning or committing.
    by: Option<usize>,
}

impl From<rusqlite::Error> for Undone {
    fn from(failure: rusqlite::Error) -> Self {
        Self { failure: failure.into(), by: None }
    }
}

/// Runs and commits all jobs; an error when none of it is kept.
fn attempt(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), Undone> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let transaction = Transaction { connection };
    for (index, job) in jobs.iter_mut().enumerate() {
        run_guarded(job.as_mut(), connection).map_err(|failure| Undone { failure, by: Some(index) })?;
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    drop(transaction);
    Ok(())
}

/// Rolls back what was not committed, on every exit from the function.
struct Transaction<'a> {
    connection: &'a Connection,
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            // If even this fails the next BEGIN fails too, and says so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
mod tests;
