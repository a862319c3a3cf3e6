//! The task that writes: takes what has come in while it was writing, writes it together, says what came of it, and tries
//! again after a pause when the store cannot be written.

use std::sync::Arc;

use dunlin_store::Store;
use tokio::sync::mpsc;

use crate::control::{Event, Write};
use crate::writing::Backlog;

/// Runs until nobody can send any more and all is written.
pub(super) async fn run(
    store: Arc<dyn Store>,
    mut writes: mpsc::Receiver<Write>,
    events: mpsc::Sender<Event>,
) {
    let mut backlog = Backlog::default();
    loop {
        if backlog.is_empty() {
            match writes.recv().await {
                Some(write) => backlog.push(write),
                None => return,
            }
        }
        while let Ok(write) = writes.try_recv() {
            backlog.push(write);
        }
        let store = Arc::clone(&store);
        let attempt = tokio::task::spawn_blocking(move || {
            let events = backlog.attempt(&*store);
            (backlog, events)
        });
        let Ok((returned, happened)) = attempt.await else {
            // The store panicked; what it was given is gone with it, and nothing can be promised any more.
            tracing::error!("the store has failed for good");
            let reason = "internal error of the store (restart, and please report this)".to_owned();
            let _ = events.send(Event::StoreTrouble(Some(reason))).await;
            return;
        };
        backlog = returned;
        for event in happened {
            if events.send(event).await.is_err() {
                return;
            }
        }
        if let Some(pause) = backlog.pause() {
            tokio::time::sleep(pause).await;
        }
    }
}
