//! Which body gets room when, without a network.

use super::*;

const LONG: Duration = Duration::from_mins(10);
const SHORT: Duration = Duration::from_millis(20);

fn later() -> Instant {
    Instant::now() + LONG
}

/// Whether a share gets that many bytes at once.
fn gets(share: &Share, bytes: u64) -> bool {
    share.ask(bytes).unwrap()
}

#[tokio::test]
async fn room_is_held_until_it_is_given_back_and_never_more_than_there_is() {
    let room = Room::new(100, 10, LONG);
    let (mut a, b) = (room.share(), room.share());
    assert!(gets(&a, 60) && gets(&b, 30));
    assert_eq!(room.held(), 90);
    assert_eq!(b.grow(71, later()).await, Err(NoRoom::TooLarge), "101 in all");
    a.arrive(50);
    assert_eq!(room.held(), 80, "what unpacking took is free, the content is not");
    drop(b);
    assert_eq!(room.held(), 50);
    drop(a);
    assert_eq!(room.held(), 0);
}

#[tokio::test]
async fn free_room_goes_to_the_body_that_holds_least() {
    let room = Room::new(100, 20, LONG);
    let [large, middle, small, other] = [40, 20, 5, 15].map(|bytes| {
        let share = room.share();
        assert!(gets(&share, bytes));
        share
    });
    // The first one that waits gets the reserved part; then that is in use.
    assert!(gets(&large, 20));
    assert!(!gets(&middle, 15) && !gets(&small, 15));
    assert_eq!(room.held(), 100);
    drop(other);
    // 85 are held: only the reserved part is free, so only the large one gets any.
    assert_eq!(room.held(), 85);
    drop(large);
    // 25 are held: all that wait are served.
    assert_eq!(room.held(), 25 + 30);
    assert_eq!(small.grow(1, later()).await, Ok(()));
    drop(middle);
    assert_eq!(room.held(), 21);
}

#[tokio::test]
async fn of_two_that_wait_the_small_one_is_served_first() {
    let room = Room::new(100, 20, LONG);
    let [busy, large, small] = [50, 20, 5].map(|bytes| {
        let share = room.share();
        assert!(gets(&share, bytes));
        share
    });
    assert!(gets(&busy, 25), "is let into what is kept: 100 are held");
    assert!(!gets(&large, 25) && !gets(&small, 10));
    busy_shrinks(&room, busy, 45);
    // 70 are held, and room for one of them is free below what is kept.
    assert!(room.books().under_way[&small.id].wants.is_none(), "the small one is served");
    drop((large, small));
}

/// The body has arrived and takes that many bytes.
fn busy_shrinks(room: &Arc<Room>, mut share: Share, bytes: u64) {
    let before = room.held();
    share.arrive(bytes);
    assert!(room.held() <= before);
    // It is still being read for the rest of the test.
    std::mem::forget(share);
}

#[tokio::test]
async fn a_wait_that_times_out_fails_and_ends() {
    let room = Room::new(100, 20, LONG);
    let (mut read, waits) = (room.share(), room.share());
    assert!(gets(&read, 80) && gets(&read, 20));
    read.arrive(100);
    assert_eq!(waits.grow(1, Instant::now() + SHORT).await, Err(NoRoom::InVain));
    drop(waits);
    assert_eq!(room.books().n_waiting, 0);
    drop(read);
    assert_eq!(room.held(), 0);
}

#[tokio::test]
async fn after_a_while_the_body_that_costs_most_is_ended_and_only_that() {
    let room = Room::new(100, 20, SHORT);
    let [hog, other, waits] = [50, 25, 5].map(|bytes| {
        let share = room.share();
        assert!(gets(&share, bytes));
        share
    });
    assert!(gets(&other, 20), "is let into what is kept: 100 are held");
    let ended = async {
        hog.ended().await;
        drop(hog);
    };
    let (granted, ()) = tokio::join!(waits.grow(5, later()), ended);
    assert_eq!(granted, Ok(()));
    let is_ended = |share: &Share| room.books().under_way[&share.id].is_ended;
    assert!(!is_ended(&other) && !is_ended(&waits));
    assert_eq!(room.held(), 45 + 10);
}

#[tokio::test]
async fn the_cost_is_bytes_times_seconds() {
    let room = Room::new(1_000, 10, SHORT);
    let (old, young) = (room.share(), room.share());
    assert!(gets(&old, 10));
    let mut books = room.books();
    let now = Instant::now();
    let entry = books.under_way.get_mut(&old.id).unwrap();
    entry.counted_at = now.checked_sub(Duration::from_mins(1)).unwrap();
    drop(books);
    assert!(gets(&young, 500));
    let mut books = room.books();
    room.end_dearest(&mut books);
    assert!(books.under_way[&old.id].is_ended, "600 byte seconds, against next to none");
    room.end_dearest(&mut books);
    assert!(!books.under_way[&young.id].is_ended, "one at a time");
}

/// All bodies come to an end in any order, within the bound.
#[tokio::test]
async fn bodies_that_grow_together_all_come_to_their_end() {
    for seed in 0..20_u64 {
        let room = Room::new(1_000, 300, LONG);
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..100_u64 {
            let room = Arc::clone(&room);
            tasks.spawn(async move {
                let mut share = room.share();
                let size = (n * 7919 + seed * 104_729) % 290 + 10;
                for _ in 0..10 {
                    share.grow(size / 10, later()).await.unwrap();
                    assert!(room.held() <= 1_000);
                    tokio::task::yield_now().await;
                }
                share.arrive(size / 2);
                tokio::task::yield_now().await;
            });
        }
        let all = async { while tasks.join_next().await.transpose().unwrap().is_some() {} };
        assert!(tokio::time::timeout(Duration::from_mins(1), all).await.is_ok(), "seed {seed} is stuck");
        let books = room.books();
        assert_eq!((books.held, books.n_waiting, books.under_way.len(), books.favoured), (0, 0, 0, None));
    }
}
