//! Who has a connection: how many in all and from one address, and which one has to go when another wants its place.
//! Knows addresses and whether a request is under way, nothing else.
//!
//! Invariant: no more connections are open than there are places, and one on which a request is under way is never asked
//! to leave.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Connections in all.
    pub(super) in_all: usize,
    /// Of one address, so that others find room.
    pub(super) of_one: usize,
    /// Besides those in all, for what is answered without a token.
    pub(super) reserve: usize,
}

/// What a connection has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum ConnectionState {
    /// Nothing was asked yet.
    Silent = 0,
    /// The last request has been answered.
    Idle = 1,
    /// A request is under way.
    Busy = 2,
}

/// What may be asked on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    General,
    /// All places are taken: only what needs no token.
    Reserve,
}

/// An IPv4 address, or the network that one IPv6 customer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin(IpAddr);

impl Origin {
    fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// All connections, in the order in which they came.
#[derive(Debug)]
pub(super) struct Places {
    room: Room,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    places: BTreeMap<u64, Arc<Place>>,
}

#[derive(Debug)]
struct Place {
    origin: Origin,
    kind: Kind,
    standing: AtomicU8,
    leave: Notify,
}

impl Places {
    pub(super) fn new(room: Room) -> Arc<Self> {
        Arc::new(Self { room, taken: Mutex::default() })
    }

    /// A place for a connection from this address. When there is none, the one that has been silent or idle longest
    /// leaves; when all are busy, there is the reserve; `None` when that is busy too.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let origin = Origin::of(address);
        let mut taken = self.taken();
        let kind = if taken.make_room(self.room.of_one, |place| place.is_general() && place.origin == origin)
            && taken.make_room(self.room.in_all, Place::is_general)
        {
            Kind::General
        } else if taken.make_room(self.room.reserve, |place| !place.is_general()) {
            Kind::Reserve
        } else {
            return None;
        };
        let id = taken.next;
        taken.next += 1;
        let standing = AtomicU8::new(ConnectionState::Silent as u8);
        let place = Arc::new(Place { origin, kind, standing, leave: Notify::new() });
        taken.places.insert(id, Arc::clone(&place));
        Some(Seat { places: Arc::clone(self), id, place })
    }

    /// Asks so many that wait for a request to leave, when the system has no room for more.
    pub(super) fn thin_out(&self, n: usize) {
        let mut taken = self.taken();
        for _ in 0..n {
            taken.dismiss(|_| true);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.taken().places.len()
    }

    /// A panic while the lock is held leaves a map as it was, so poison means nothing here.
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Whether there are now fewer than `limit` of those that `counts`.
    fn make_room(&mut self, limit: usize, counts: impl Fn(&Place) -> bool + Copy) -> bool {
        let n_there = self.places.values().filter(|place| counts(place)).count();
        n_there < limit || (limit > 0 && self.dismiss(counts))
    }

    /// Asks the oldest that has asked nothing to leave, or else the oldest that waits for its next request. Its place is
    /// free at once: it does nothing more than close.
    fn dismiss(&mut self, counts: impl Fn(&Place) -> bool + Copy) -> bool {
        let leaving = [ConnectionState::Silent, ConnectionState::Idle].into_iter().find_map(|standing| {
            let mut fitting = self.places.iter().filter(|(_, place)| counts(place));
            fitting.find(|(_, place)| place.is(standing)).map(|(id, _)| *id)
        });
        let Some(place) = leaving.and_then(|id| self.places.remove(&id)) else { return false };
        place.leave.notify_one();
        true
    }
}

impl Place {
    fn is_general(&self) -> bool {
        self.kind == Kind::General
    }

    fn is(&self, standing: ConnectionState) -> bool {
        self.standing.load(Ordering::Relaxed) == standing as u8
    }

    fn set(&self, standing: ConnectionState) {
        self.standing.store(standing as u8, Ordering::Relaxed);
    }
}

/// The place of one connection, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    places: Arc<Places>,
    id: u64,
    place: Arc<Place>,
}

impl Seat {
    pub(super) fn kind(&self) -> Kind {
        self.place.kind
    }

    /// Marks that a request is under way until the mark is dropped.
    pub(super) fn begin(&self) -> UnderWay {
        self.place.set(ConnectionState::Busy);
        UnderWay(Arc::clone(&self.place))
    }

    pub(super) fn is_silent(&self) -> bool {
        self.place.is(ConnectionState::Silent)
    }

    /// Waits until another connection needs the place.
    pub(super) async fn asked_to_leave(&self) {
        self.place.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.places.taken().places.remove(&self.id);
    }
}

/// A request is under way on a connection.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Place>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.set(ConnectionState::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { in_all: 4, of_one: 3, reserve: 1 };

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn take(places: &Arc<Places>, from: &str) -> Seat {
        places.take(address(from)).unwrap()
    }

    fn has_to_leave(seat: &Seat) -> bool {
        !seat.places.taken().places.contains_key(&seat.id)
    }

    #[test]
    fn one_address_leaves_room_for_others_and_makes_room_among_its_own() {
        let places = Places::new(ROOM);
        let mine: Vec<Seat> = (0..3).map(|_| take(&places, "10.0.0.1")).collect();
        let other = take(&places, "10.0.0.2");
        let fourth = take(&places, "10.0.0.1");
        assert_eq!(fourth.kind(), Kind::General);
        assert!(has_to_leave(&mine[0]) && !has_to_leave(&mine[1]) && !has_to_leave(&other));
        // All places are taken now; the oldest of all that is silent goes.
        let third = take(&places, "10.0.0.3");
        assert!(has_to_leave(&mine[1]) && !has_to_leave(&other));
        assert_eq!((third.kind(), places.len()), (Kind::General, 4));
    }

    #[test]
    fn the_silent_go_before_the_idle_and_the_busy_stay() {
        let places = Places::new(ROOM);
        let (busy, idle, silent) =
            (take(&places, "10.0.0.1"), take(&places, "10.0.0.1"), take(&places, "10.0.0.1"));
        let request = busy.begin();
        drop(idle.begin());
        assert!(silent.is_silent() && !idle.is_silent() && !busy.is_silent());
        let next = take(&places, "10.0.0.1");
        assert!(has_to_leave(&silent) && !has_to_leave(&idle) && !has_to_leave(&busy));
        let (_second, _third) = (next.begin(), idle.begin());
        let reserved = take(&places, "10.0.0.1");
        assert_eq!(reserved.kind(), Kind::Reserve, "all of this address are busy");
        assert_eq!(take(&places, "10.0.0.2").kind(), Kind::General, "another address has room");
        let _reserved_request = reserved.begin();
        assert!(places.take(address("10.0.0.1")).is_none());
        drop(request);
        assert_eq!(take(&places, "10.0.0.1").kind(), Kind::General, "an idle one has gone");
        assert!(has_to_leave(&busy));
    }

    #[test]
    fn places_come_back_and_can_be_thinned_out() {
        let places = Places::new(ROOM);
        let seats: Vec<Seat> = (0..3).map(|_| take(&places, "10.0.0.1")).collect();
        let _request = seats[1].begin();
        places.thin_out(1);
        assert!(has_to_leave(&seats[0]) && !has_to_leave(&seats[2]));
        places.thin_out(5);
        assert_eq!(places.len(), 1, "the busy one stays");
        drop(seats);
        assert_eq!(places.len(), 0);
    }

    #[test]
    fn a_customer_of_ipv6_is_one_address() {
        let of = |text: &str| Origin::of(address(text));
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:2:ffff::4"));
        assert_ne!(of("2001:db8:1:2::3"), of("2001:db8:1:3::3"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
