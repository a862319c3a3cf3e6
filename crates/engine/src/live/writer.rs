//! The task that writes: takes what has come in while it was writing, or comes within a moment, writes it together, reports
//! the results, and tries again after a pause when the store cannot be written. After the last sender is gone it tries one
//! last time.

use std::sync::Arc;
use std::time::Duration;

use dunlin_store::Store;
use tokio::sync::mpsc;

use crate::Error;
use crate::control::{Event, Write};
use crate::heartbeat::Heartbeat;
use crate::writing::Backlog;

/// How long to wait for more to write together: a commit costs much the same for one as for a hundred, and a few
/// milliseconds go unnoticed.
const GATHER_FOR: Duration = Duration::from_millis(2);

/// Runs until the last sender is gone. An error means that not everything is written.
pub(super) async fn run(
    store: Arc<dyn Store>,
    mut writes: mpsc::Receiver<Write>,
    events: mpsc::Sender<Vec<Event>>,
    heartbeat: Arc<Heartbeat>,
) -> Result<(), Error> {
    let mut backlog = Backlog::default();
    let mut is_last = false;
    loop {
        if backlog.is_empty() {
            match writes.recv().await {
                Some(write) => backlog.push(write),
                None => return Ok(()),
            }
        }
        tokio::time::sleep(GATHER_FOR).await;
        while let Ok(write) = writes.try_recv() {
            backlog.push(write);
        }
        let store = Arc::clone(&store);
        let attempt = tokio::task::spawn_blocking(move || {
            let events = backlog.attempt(&*store);
            (backlog, events)
        });
        let written = heartbeat.writing();
        let attempted = attempt.await;
        drop(written);
        let Ok((returned, happened)) = attempted else {
            // The store panicked; what it was given is lost, and nothing can be promised any more.
            tracing::error!("the store has failed for good");
            let reason = "internal error of the store (restart, and please report this)".to_owned();
            let _ = events.send(vec![Event::StoreTrouble(Some(reason))]).await;
            return Err(Error::Unwritten);
        };
        backlog = returned;
        if !happened.is_empty() && events.send(happened).await.is_err() {
            return if backlog.is_empty() { Ok(()) } else { Err(Error::Unwritten) };
        }
        if let Some(pause) = backlog.pause() {
            if is_last {
                return Err(Error::Unwritten);
            }
            is_last = wait(pause, &mut writes, &mut backlog).await == Sender::Gone;
        }
    }
}

#[derive(PartialEq)]
enum Sender {
    Here,
    Gone,
}

/// Waits before another attempt, and takes what is sent in the meantime. Stops waiting when the sender is gone.
async fn wait(pause: Duration, writes: &mut mpsc::Receiver<Write>, backlog: &mut Backlog) -> Sender {
    let pause = tokio::time::sleep(pause);
    tokio::pin!(pause);
    loop {
        tokio::select! {
            () = &mut pause => return Sender::Here,
            write = writes.recv() => match write {
                Some(write) => backlog.push(write),
                None => return Sender::Gone,
            }
        }
    }
}
