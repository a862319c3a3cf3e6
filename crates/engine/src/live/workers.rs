//! Tasks and the workers that run them. A fixed number of workers fetch at one time, each one task after the other; the
//! remaining tasks wait in a queue, which costs nothing. As many tasks again may be past the network, with their content
//! in memory until it is read: the queue moves on without them, but no further ahead than that. Every task ends with one
//! message over one channel, also after a panic; no worker outlives the receiver. Decides nothing.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use dunlin_store::ProbeId;
use futures_util::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use url::Url;

use super::fetching::Done;
use crate::control::Event;
use crate::probe::panic_message;

/// Which task.
#[derive(Debug, Clone)]
pub(super) enum TaskId {
    Probe(ProbeId),
    Robots(Url),
}

impl TaskId {
    /// The event of a panic.
    fn lost(self, reason: String) -> Done {
        Done::from(match self {
            Self::Probe(probe) => Event::Crashed { probe, reason },
            Self::Robots(url) => Event::RobotsLost { url },
        })
    }
}

/// How far a task has come with its fetch.
pub(super) enum Progress<R> {
    /// To its end.
    Done(Done),
    /// The rest needs no network; it runs by itself, so that the queue moves on.
    Rest(R),
}

/// What a task consists of.
pub(super) trait Run: Clone + Send + Sync + 'static {
    type Task: Send + 'static;
    type Rest: Send + 'static;

    fn id(task: &Self::Task) -> TaskId;
    fn fetch(&self, task: Self::Task) -> impl Future<Output = Progress<Self::Rest>> + Send;
    fn finish(&self, rest: Self::Rest) -> impl Future<Output = Done> + Send;
}

/// The active tasks.
#[derive(Debug)]
pub(super) struct Workers<R: Run> {
    run: R,
    queue: Arc<Queue<R::Task>>,
    /// Without a bound of its own, which would cost a lock for each: it holds at most one message per task, and control
    /// bounds the tasks.
    ended: UnboundedReceiver<Done>,
    end: UnboundedSender<Done>,
    n_active: usize,
}

impl<R: Run> Workers<R> {
    pub(super) fn new(run: R, at_one_time: usize) -> Self {
        let (end, ended) = unbounded_channel();
        let at_one_time = at_one_time.clamp(1, Semaphore::MAX_PERMITS);
        Self { run, queue: Arc::new(Queue::new(at_one_time)), ended, end, n_active: 0 }
    }

    /// How many have not ended.
    pub(super) fn len(&self) -> usize {
        self.n_active
    }

    /// Starts a task, or queues it.
    pub(super) fn begin(&mut self, task: R::Task) {
        self.n_active += 1;
        if let Some(task) = self.queue.push(task) {
            let worker =
                Worker { run: self.run.clone(), queue: Arc::clone(&self.queue), end: self.end.clone() };
            tokio::spawn(worker.run(task));
        }
    }

    /// Waits for one or more to end, and takes up to `limit` of them; for ever when none is active.
    pub(super) async fn ended(&mut self, into: &mut Vec<Done>, limit: usize) {
        self.n_active -= self.ended.recv_many(into, limit).await;
    }

    /// Ends all active tasks.
    pub(super) fn abandon(&mut self) {
        self.ended.close();
    }
}

/// The tasks that wait for a worker.
#[derive(Debug)]
struct Queue<E> {
    waiting: Mutex<QueueState<E>>,
    at_one_time: usize,
    /// Slots for tasks that are past the network.
    rests: Arc<Semaphore>,
}

#[derive(Debug)]
struct QueueState<E> {
    tasks: VecDeque<E>,
    n_workers: usize,
}

impl<E> Queue<E> {
    fn new(at_one_time: usize) -> Self {
        let waiting = Mutex::new(QueueState { tasks: VecDeque::new(), n_workers: 0 });
        Self { waiting, at_one_time, rests: Arc::new(Semaphore::new(at_one_time)) }
    }

    /// Queues a task; returns it when there is room for one more worker, which then starts with it.
    fn push(&self, task: E) -> Option<E> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.n_workers < self.at_one_time {
            waiting.n_workers += 1;
            return Some(task);
        }
        waiting.tasks.push_back(task);
        None
    }

    /// The next task; when there is none, the worker ends.
    fn next(&self) -> Option<E> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = waiting.tasks.pop_front();
        waiting.n_workers -= usize::from(next.is_none());
        next
    }
}

/// Runs tasks as long as there are any.
struct Worker<R: Run> {
    run: R,
    queue: Arc<Queue<R::Task>>,
    end: UnboundedSender<Done>,
}

impl<R: Run> Worker<R> {
    async fn run(self, first: R::Task) {
        let running = async {
            let mut next = Some(first);
            // No task starts once the receiver is gone.
            while let Some(task) = next.filter(|_| !self.end.is_closed()) {
                self.fetch(task).await;
                next = self.queue.next();
            }
        };
        tokio::select! {
            biased;
            () = running => {}
            () = self.end.closed() => {}
        }
    }

    async fn fetch(&self, task: R::Task) {
        let id = R::id(&task);
        // Nothing that a panic may leave half done is used again: a task owns what it works on.
        let done = match AssertUnwindSafe(self.run.fetch(task)).catch_unwind().await {
            Ok(Progress::Done(done)) => done,
            Ok(Progress::Rest(rest)) => {
                let place = Arc::clone(&self.queue.rests).acquire_owned().await;
                let (run, end) = (self.run.clone(), self.end.clone());
                tokio::spawn(async move {
                    finish(run, rest, id, end).await;
                    drop(place);
                });
                return;
            }
            Err(panic) => id.lost(panic_message(&*panic)),
        };
        let _ = self.end.send(done);
    }
}

async fn finish<R: Run>(run: R, rest: R::Rest, id: TaskId, end: UnboundedSender<Done>) {
    tokio::select! {
        biased;
        ended = AssertUnwindSafe(run.finish(rest)).catch_unwind() => {
            let _ = end.send(ended.unwrap_or_else(|panic| id.lost(panic_message(&*panic))));
        }
        () = end.closed() => {}
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;
    use tokio::sync::oneshot;

    use super::*;

    /// Probe tasks that do what the test says.
    #[derive(Clone)]
    struct Scripted;

    struct Script {
        probe: ProbeId,
        fetch: BoxFuture<'static, Progress<Rest>>,
    }

    type Rest = BoxFuture<'static, Done>;

    impl Run for Scripted {
        type Task = Script;
        type Rest = Rest;

        fn id(script: &Script) -> TaskId {
            TaskId::Probe(script.probe)
        }

        async fn fetch(&self, script: Script) -> Progress<Rest> {
            script.fetch.await
        }

        async fn finish(&self, rest: Rest) -> Done {
            rest.await
        }
    }

    fn dropped(probe: ProbeId) -> Done {
        Event::Dropped { probe, reason: "none".to_owned() }.into()
    }

    fn probe_of(event: &Event) -> (u64, Option<&str>) {
        match event {
            Event::Dropped { probe, .. } => (probe.0, None),
            Event::Crashed { probe, reason } => (probe.0, Some(reason)),
            other => panic!("{other:?}"),
        }
    }

    impl Workers<Scripted> {
        fn script(&mut self, number: u64, fetch: impl Future<Output = Progress<Rest>> + Send + 'static) {
            self.begin(Script { probe: ProbeId(number), fetch: Box::pin(fetch) });
        }

        /// A task that fetches until it is released; a channel that says it has begun, and one that releases it.
        fn held(&mut self, number: u64) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
            let ((begun, has_begun), (release, released)) = (oneshot::channel(), oneshot::channel());
            self.script(number, async move {
                let _ = begun.send(());
                let _ = released.await;
                Progress::Done(dropped(ProbeId(number)))
            });
            (has_begun, release)
        }

        async fn next(&mut self) -> Event {
            let mut ended = Vec::new();
            self.ended(&mut ended, 1).await;
            ended.remove(0).event
        }
    }

    #[tokio::test]
    async fn a_panic_ends_its_task_and_the_next_task_runs() {
        let mut tasks = Workers::new(Scripted, 1);
        tasks.script(1, async { panic!("a bug") });
        tasks.script(2, async { Progress::Rest(async { panic!("another") }.boxed()) });
        tasks.script(3, async { Progress::Done(dropped(ProbeId(3))) });
        assert_eq!(probe_of(&tasks.next().await), (1, Some("a bug")));
        let mut last = [tasks.next().await, tasks.next().await];
        last.sort_by_key(|event| probe_of(event).0);
        assert_eq!(last.each_ref().map(probe_of), [(2, Some("another")), (3, None)]);
        assert_eq!(tasks.len(), 0);
    }

    #[tokio::test]
    async fn as_many_fetch_as_may_and_the_others_follow_in_order() {
        let mut tasks = Workers::new(Scripted, 2);
        let mut held: Vec<_> = (0..5).map(|number| Some(tasks.held(number))).collect();
        for (number, now) in [(0, [0, 1]), (1, [1, 2]), (2, [2, 3]), (3, [3, 4]), (4, [4, 4])] {
            for begun in now {
                if let Some((begun, _)) = &mut held[begun]
                    && !begun.is_terminated()
                {
                    begun.await.unwrap();
                }
            }
            for (begun, _) in held[now[1] + 1..].iter_mut().flatten() {
                assert!(begun.try_recv().is_err(), "more than two at one time");
            }
            let (_, release) = held[number].take().unwrap();
            release.send(()).unwrap();
            assert_eq!(probe_of(&tasks.next().await).0, number as u64);
        }
    }

    #[tokio::test]
    async fn reading_does_not_keep_others_from_fetching() {
        let mut tasks = Workers::new(Scripted, 1);
        let (release, released) = oneshot::channel();
        let reading = released.map(|_| dropped(ProbeId(1))).boxed();
        tasks.script(1, async { Progress::Rest(reading) });
        tasks.script(2, async { Progress::Done(dropped(ProbeId(2))) });
        assert_eq!(probe_of(&tasks.next().await).0, 2);
        release.send(()).unwrap();
        assert_eq!(probe_of(&tasks.next().await).0, 1);
    }

    #[tokio::test]
    async fn no_more_waits_to_be_read_than_fetches() {
        let mut tasks = Workers::new(Scripted, 1);
        let mut releases: Vec<_> = (0..2)
            .map(|number| {
                let (release, released) = oneshot::channel::<()>();
                let reading = released.map(move |_| dropped(ProbeId(number))).boxed();
                tasks.script(number, async { Progress::Rest(reading) });
                Some(release)
            })
            .collect();
        let (mut begun, third) = tasks.held(2);
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        assert!(begun.try_recv().is_err(), "the second is fetched, and has no slot to wait in");
        releases[0].take().unwrap().send(()).unwrap();
        assert_eq!(probe_of(&tasks.next().await).0, 0);
        begun.await.unwrap();
        third.send(()).unwrap();
        assert_eq!(probe_of(&tasks.next().await).0, 2);
        releases[1].take().unwrap().send(()).unwrap();
        assert_eq!(probe_of(&tasks.next().await).0, 1);
    }

    #[tokio::test]
    async fn no_task_outlives_its_listener() {
        for is_abandoned in [true, false] {
            let mut tasks = Workers::new(Scripted, 2);
            let mut held: Vec<_> = (0..3).map(|number| tasks.held(number)).collect();
            let (_, mut waiting) = held.pop().unwrap();
            for (begun, _) in &mut held {
                begun.await.unwrap();
            }
            assert_eq!(tasks.len(), 3);
            if is_abandoned {
                tasks.abandon();
            } else {
                drop(tasks);
            }
            for (_, mut release) in held {
                release.closed().await;
            }
            // What waited goes with the last of those that could have fetched it.
            if !is_abandoned {
                waiting.closed().await;
            }
        }
    }
}
