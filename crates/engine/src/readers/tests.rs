//! Deadlines, spare threads and late results, with work that ends when the test says so.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(20);

fn readers(at_one_time: usize, spare: usize) -> Readers {
    Readers::new("test-reader", ReaderLimits { at_one_time, spare, most_waiting: usize::MAX })
}

/// Work that waits until it is released, and gives what it is released with; how it is released.
fn held() -> (Sender<u32>, impl FnOnce() -> u32 + Send + 'static) {
    let (release, released): (_, Receiver<u32>) = channel();
    // Not for ever, so that a test of a deadline that does not work fails.
    (release, move || released.recv_timeout(LONG).unwrap_or(0))
}

async fn until(mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(LONG, wait).await.is_ok(), "timed out");
}

#[tokio::test]
async fn work_that_ends_in_time_is_returned_and_a_panic_is_reported() {
    let readers = readers(1, 0);
    assert_eq!(readers.run(LONG, || 7).await, Ok(7));
    let panicked = readers.run(LONG, || -> u32 { panic!("a bug") }).await;
    assert_eq!(panicked, Err(WorkError::Panicked("a bug".to_owned())));
    assert_eq!(readers.run(LONG, || 8).await, Ok(8), "the thread goes on");
}

#[tokio::test]
async fn a_late_result_is_dropped_and_the_next_work_gets_its_own() {
    let readers = readers(1, 1);
    let (release, work) = held();
    assert_eq!(readers.run(SHORT, work).await, Err(WorkError::TooLong { within: SHORT }));
    assert_eq!((readers.n_abandoned(), readers.are_stuck()), (1, false));
    // The next one runs while the late one ends, and is not mistaken for it.
    let (release_next, next) = held();
    let next = tokio::spawn({
        let readers = readers.clone();
        async move { readers.run(LONG, next).await }
    });
    release.send(1).unwrap();
    until(|| readers.pool.slots.available_permits() == 1 && readers.n_abandoned() == 0).await;
    release_next.send(2).unwrap();
    assert_eq!(next.await.unwrap(), Ok(2));
}

#[tokio::test]
async fn when_abandoned_work_has_all_threads_nothing_begins_until_one_ends() {
    let readers = readers(1, 2);
    let releases: Vec<_> = {
        let mut releases = Vec::new();
        for _ in 0..3 {
            let (release, work) = held();
            assert!(readers.run(SHORT, work).await.is_err());
            releases.push(release);
        }
        releases
    };
    assert_eq!((readers.n_abandoned(), readers.are_stuck()), (3, true));
    let mut next = std::pin::pin!(readers.run(LONG, || 9));
    assert!(timeout(SHORT, &mut next).await.is_err(), "a fourth thread");
    releases[1].send(1).unwrap();
    assert_eq!(next.await, Ok(9));
    assert_eq!((readers.n_abandoned(), readers.are_stuck()), (2, false));
}

#[tokio::test]
async fn long_work_keeps_others_waiting_for_a_turn_only() {
    let readers = readers(1, 1);
    let (release, work) = held();
    let long = tokio::spawn({
        let readers = readers.clone();
        async move { readers.run(LONG, work).await }
    });
    until(|| readers.pool.n_awaited.load(Ordering::Relaxed) == 1).await;
    assert_eq!(readers.run(LONG, || 3).await, Ok(3), "beside it");
    assert_eq!(readers.n_abandoned(), 0);
    release.send(4).unwrap();
    assert_eq!(long.await.unwrap(), Ok(4), "it still has its result");
}

#[tokio::test]
async fn one_too_many_in_the_queue_is_refused() {
    let readers = Readers::new("test-reader", ReaderLimits { at_one_time: 1, spare: 0, most_waiting: 1 });
    let (release, work) = held();
    let run = |work: Box<dyn FnOnce() -> u32 + Send>| {
        let readers = readers.clone();
        tokio::spawn(async move { readers.run(LONG, work).await })
    };
    let first = run(Box::new(work));
    until(|| readers.pool.n_awaited.load(Ordering::Relaxed) == 1).await;
    let second = run(Box::new(|| 2));
    until(|| readers.pool.n_waiting.load(Ordering::Relaxed) == 1).await;
    assert_eq!(readers.run(LONG, || 3).await, Err(WorkError::Full));
    release.send(1).unwrap();
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (Ok(1), Ok(2)));
    assert_eq!(readers.run(LONG, || 3).await, Ok(3));
}

#[tokio::test]
async fn a_caller_that_stops_waiting_abandons_the_work_and_its_turn() {
    let readers = readers(1, 1);
    let (release, work) = held();
    let gone = tokio::spawn({
        let readers = readers.clone();
        async move { readers.run(LONG, work).await }
    });
    until(|| readers.pool.n_awaited.load(Ordering::Relaxed) == 1).await;
    gone.abort();
    until(|| readers.n_abandoned() == 1).await;
    assert_eq!(readers.run(LONG, || 5).await, Ok(5));
    release.send(1).unwrap();
    until(|| readers.n_abandoned() == 0).await;
}

#[tokio::test]
async fn threads_are_used_again_and_end_with_their_readers() {
    let readers = readers(2, 8);
    let first = readers.run(LONG, || std::thread::current().id()).await;
    // The thread counts as idle a moment after its result is there.
    until(|| readers.pool.threads.state().n_idle == 1).await;
    assert_eq!(readers.run(LONG, || std::thread::current().id()).await, first);
    let threads = Arc::clone(&readers.pool.threads);
    drop(readers);
    until(|| Arc::strong_count(&threads) == 1).await;
}

#[tokio::test]
async fn what_need_not_wait_is_never_refused() {
    let readers = Readers::new("test-reader", ReaderLimits { at_one_time: 1, spare: 0, most_waiting: 0 });
    assert_eq!(readers.run(LONG, || 1).await, Ok(1));
    assert_eq!(readers.run(LONG, || 2).await, Ok(2), "its thread and its slot are free again");
}
