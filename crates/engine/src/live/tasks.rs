//! Tasks that probe, as many as were begun. Each says how it ended over one channel, also when it panicked; none outlives
//! whoever listens. Decides nothing.

use std::panic::AssertUnwindSafe;
use std::pin::pin;

use dunlin_store::ProbeId;
use futures_util::FutureExt as _;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use url::Url;

use super::fetching::Done;
use crate::control::Event;
use crate::probe::panic_message;

/// What a task is for.
#[derive(Debug)]
pub(super) enum Work {
    Probe(ProbeId),
    Robots(Url),
}

impl Work {
    /// What to say when it panicked.
    fn lost(self, reason: String) -> Done {
        Done::from(match self {
            Self::Probe(probe) => Event::Crashed { probe, reason },
            Self::Robots(url) => Event::RobotsLost { url },
        })
    }
}

/// The tasks under way.
#[derive(Debug)]
pub(super) struct Tasks {
    /// Without a bound of its own, which would cost a lock for each: it holds no more than there are tasks, and of those
    /// control allows only so many.
    ended: UnboundedReceiver<Done>,
    end: UnboundedSender<Done>,
    n_under_way: usize,
}

impl Tasks {
    pub(super) fn new() -> Self {
        let (end, ended) = unbounded_channel();
        Self { ended, end, n_under_way: 0 }
    }

    /// How many have not been told of.
    pub(super) fn len(&self) -> usize {
        self.n_under_way
    }

    /// Begins one.
    pub(super) fn spawn(&mut self, work: Work, task: impl Future<Output = Done> + Send + 'static) {
        self.n_under_way += 1;
        let end = self.end.clone();
        // Boxed, because a task is moved several times before it is where it stays.
        tokio::spawn(Box::pin(async move {
            // Nothing that a panic may leave half done is used again: the task owns what it works on.
            let task = pin!(AssertUnwindSafe(task).catch_unwind());
            tokio::select! {
                biased;
                ended = task => {
                    let done = ended.unwrap_or_else(|panic| work.lost(panic_message(&*panic)));
                    let _ = end.send(done);
                }
                () = end.closed() => {}
            }
        }));
    }

    /// Waits for one or more to end, and takes in up to `limit` of them; for ever when none is under way.
    pub(super) async fn ended(&mut self, into: &mut Vec<Done>, limit: usize) {
        self.n_under_way -= self.ended.recv_many(into, limit).await;
    }

    /// Ends all that are under way.
    pub(super) fn abandon(&mut self) {
        self.ended.close();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    async fn next(tasks: &mut Tasks) -> Event {
        let mut ended = Vec::new();
        tasks.ended(&mut ended, 1).await;
        ended.remove(0).event
    }

    #[tokio::test]
    async fn a_panic_is_an_end_like_others_and_no_task_outlives_its_listener() {
        let mut tasks = Tasks::new();
        tasks.spawn(Work::Probe(ProbeId(1)), async { panic!("a bug") });
        let reason = "none".to_owned();
        tasks.spawn(Work::Probe(ProbeId(2)), async { Event::Dropped { probe: ProbeId(2), reason }.into() });
        assert!(
            matches!(next(&mut tasks).await, Event::Crashed { probe: ProbeId(1), reason } if reason == "a bug")
        );
        assert!(matches!(next(&mut tasks).await, Event::Dropped { probe: ProbeId(2), .. }));
        assert_eq!(tasks.len(), 0);

        let mut released = Vec::new();
        for number in 0..2 {
            let (hold, release) = oneshot::channel::<()>();
            released.push(release);
            tasks.spawn(Work::Probe(ProbeId(number)), async move {
                let _hold = hold;
                std::future::pending().await
            });
        }
        assert_eq!(tasks.len(), 2);
        tasks.abandon();
        assert!(released.remove(0).await.is_err(), "abandoned");
        drop(tasks);
        assert!(released.remove(0).await.is_err(), "dropped");
    }
}
