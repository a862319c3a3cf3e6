//! Which body gets room when, without a network.

use super::*;

const LONG: Duration = Duration::from_mins(10);
const SHORT: Duration = Duration::from_millis(20);

fn later() -> Instant {
    Instant::now() + LONG
}

/// Whether a share gets that many bytes at once.
fn gets(reservation: &MemoryReservation, bytes: u64) -> bool {
    reservation.ask(bytes).unwrap()
}

#[tokio::test]
async fn room_is_held_until_it_is_given_back_and_never_more_than_there_is() {
    let memory = BodyMemory::new(100, 10, LONG);
    let (mut a, b) = (memory.reserve(), memory.reserve());
    assert!(gets(&a, 60) && gets(&b, 30));
    assert_eq!(memory.held(), 90);
    assert_eq!(b.grow(71, later()).await, Err(NoMemory::TooLarge), "101 in all");
    a.arrive(50);
    assert_eq!(memory.held(), 80, "what unpacking took is free, the content is not");
    drop(b);
    assert_eq!(memory.held(), 50);
    drop(a);
    assert_eq!(memory.held(), 0);
}

#[tokio::test]
async fn free_room_goes_to_the_body_that_holds_least() {
    let memory = BodyMemory::new(100, 20, LONG);
    let [large, middle, small, other] = [40, 20, 5, 15].map(|bytes| {
        let reservation = memory.reserve();
        assert!(gets(&reservation, bytes));
        reservation
    });
    // The first one that waits gets the reserved part; then that is in use.
    assert!(gets(&large, 20));
    assert!(!gets(&middle, 15) && !gets(&small, 15));
    assert_eq!(memory.held(), 100);
    drop(other);
    // 85 are held: only the reserved part is free, so only the large one gets any.
    assert_eq!(memory.held(), 85);
    drop(large);
    // 25 are held: all that wait are served.
    assert_eq!(memory.held(), 25 + 30);
    assert_eq!(small.grow(1, later()).await, Ok(()));
    drop(middle);
    assert_eq!(memory.held(), 21);
}

#[tokio::test]
async fn of_two_that_wait_the_small_one_is_served_first() {
    let memory = BodyMemory::new(100, 20, LONG);
    let [busy, large, small] = [50, 20, 5].map(|bytes| {
        let reservation = memory.reserve();
        assert!(gets(&reservation, bytes));
        reservation
    });
    assert!(gets(&busy, 25), "is let into what is kept: 100 are held");
    assert!(!gets(&large, 25) && !gets(&small, 10));
    busy_shrinks(&memory, busy, 45);
    // 70 are held, and room for one of them is free below what is kept.
    assert!(memory.reservations().active[&small.id].requested.is_none(), "the small one is served");
    drop((large, small));
}

/// The body has arrived and takes that many bytes.
fn busy_shrinks(memory: &Arc<BodyMemory>, mut reservation: MemoryReservation, bytes: u64) {
    let before = memory.held();
    reservation.arrive(bytes);
    assert!(memory.held() <= before);
    // It is still being read for the rest of the test.
    std::mem::forget(reservation);
}

#[tokio::test]
async fn a_wait_that_times_out_fails_and_ends() {
    let memory = BodyMemory::new(100, 20, LONG);
    let (mut read, waits) = (memory.reserve(), memory.reserve());
    assert!(gets(&read, 80) && gets(&read, 20));
    read.arrive(100);
    assert_eq!(waits.grow(1, Instant::now() + SHORT).await, Err(NoMemory::TimedOut));
    drop(waits);
    assert_eq!(memory.reservations().n_waiting, 0);
    drop(read);
    assert_eq!(memory.held(), 0);
}

#[tokio::test]
async fn after_a_while_the_body_that_costs_most_is_ended_and_only_that() {
    let memory = BodyMemory::new(100, 20, SHORT);
    let [hog, other, waits] = [50, 25, 5].map(|bytes| {
        let reservation = memory.reserve();
        assert!(gets(&reservation, bytes));
        reservation
    });
    assert!(gets(&other, 20), "is let into what is kept: 100 are held");
    let ended = async {
        hog.ended().await;
        drop(hog);
    };
    let (granted, ()) = tokio::join!(waits.grow(5, later()), ended);
    assert_eq!(granted, Ok(()));
    let is_ended = |reservation: &MemoryReservation| memory.reservations().active[&reservation.id].is_ended;
    assert!(!is_ended(&other) && !is_ended(&waits));
    assert_eq!(memory.held(), 45 + 10);
}

#[tokio::test]
async fn the_cost_is_bytes_times_seconds() {
    let memory = BodyMemory::new(1_000, 10, SHORT);
    let (old, young) = (memory.reserve(), memory.reserve());
    assert!(gets(&old, 10));
    let mut reservations = memory.reservations();
    let now = Instant::now();
    let entry = reservations.active.get_mut(&old.id).unwrap();
    entry.counted_at = now.checked_sub(Duration::from_mins(1)).unwrap();
    drop(reservations);
    assert!(gets(&young, 500));
    let mut reservations = memory.reservations();
    memory.end_most_expensive(&mut reservations);
    assert!(reservations.active[&old.id].is_ended, "600 byte seconds, against next to none");
    memory.end_most_expensive(&mut reservations);
    assert!(!reservations.active[&young.id].is_ended, "one at a time");
}

/// All bodies come to an end in any order, within the bound.
#[tokio::test]
async fn bodies_that_grow_together_all_come_to_their_end() {
    for seed in 0..20_u64 {
        let memory = BodyMemory::new(1_000, 300, LONG);
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..100_u64 {
            let memory = Arc::clone(&memory);
            tasks.spawn(async move {
                let mut reservation = memory.reserve();
                let size = (n * 7919 + seed * 104_729) % 290 + 10;
                for _ in 0..10 {
                    reservation.grow(size / 10, later()).await.unwrap();
                    assert!(memory.held() <= 1_000);
                    tokio::task::yield_now().await;
                }
                reservation.arrive(size / 2);
                tokio::task::yield_now().await;
            });
        }
        let all = async { while tasks.join_next().await.transpose().unwrap().is_some() {} };
        assert!(tokio::time::timeout(Duration::from_mins(1), all).await.is_ok(), "seed {seed} is stuck");
        let reservations = memory.reservations();
        assert_eq!(
            (reservations.held, reservations.n_waiting, reservations.active.len(), reservations.favoured),
            (0, 0, 0, None)
        );
    }
}
