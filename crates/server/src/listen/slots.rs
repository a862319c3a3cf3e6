//! The slots of connections: how many in all and per address, and which connection has to go when another needs its slot.
//! Knows addresses and whether a request is in progress, nothing else.
//!
//! Invariant: no more connections are open than there are slots, and one with a request in progress is never dismissed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionLimits {
    /// Connections in all.
    pub(super) in_all: usize,
    /// From one address, so that others find room.
    pub(super) of_one: usize,
    /// Besides those in all, for what is answered without a token.
    pub(super) reserve: usize,
}

/// What a connection has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum ConnectionState {
    /// No request yet.
    Silent = 0,
    /// The last request has been answered.
    Idle = 1,
    /// A request is in progress.
    Busy = 2,
}

/// Which requests a connection may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    General,
    /// All slots are taken: only what needs no token.
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
pub(super) struct Slots {
    limits: ConnectionLimits,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    next: u64,
    slots: BTreeMap<u64, Arc<Slot>>,
}

#[derive(Debug)]
struct Slot {
    origin: Origin,
    kind: Kind,
    state: AtomicU8,
    leave: Notify,
}

impl Slots {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, connections: Mutex::default() })
    }

    /// A slot for a connection from this address. When there is none, the connection that has been silent or idle longest is
    /// dismissed; when all are busy, there is the reserve; `None` when that is busy too.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<SlotGuard> {
        let origin = Origin::of(address);
        let mut connections = self.connections();
        let kind = if connections
            .make_room(self.limits.of_one, |slot| slot.is_general() && slot.origin == origin)
            && connections.make_room(self.limits.in_all, Slot::is_general)
        {
            Kind::General
        } else if connections.make_room(self.limits.reserve, |slot| !slot.is_general()) {
            Kind::Reserve
        } else {
            return None;
        };
        let id = connections.next;
        connections.next += 1;
        let state = AtomicU8::new(ConnectionState::Silent as u8);
        let slot = Arc::new(Slot { origin, kind, state, leave: Notify::new() });
        connections.slots.insert(id, Arc::clone(&slot));
        Some(SlotGuard { slots: Arc::clone(self), id, slot })
    }

    /// Dismisses `n` connections that wait for a request, when the system has no room for more.
    pub(super) fn thin_out(&self, n: usize) {
        let mut connections = self.connections();
        for _ in 0..n {
            connections.dismiss(|_| true);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.connections().slots.len()
    }

    /// A panic while the lock is held leaves a map as it was, so poison means nothing here.
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    /// Whether there are now fewer than `limit` of those that `counts`.
    fn make_room(&mut self, limit: usize, counts: impl Fn(&Slot) -> bool + Copy) -> bool {
        let n_there = self.slots.values().filter(|slot| counts(slot)).count();
        n_there < limit || (limit > 0 && self.dismiss(counts))
    }

    /// Dismisses the oldest connection without a request, or else the oldest that waits for its next one. Its slot is free at
    /// once: it only closes.
    fn dismiss(&mut self, counts: impl Fn(&Slot) -> bool + Copy) -> bool {
        let leaving = [ConnectionState::Silent, ConnectionState::Idle].into_iter().find_map(|state| {
            let mut fitting = self.slots.iter().filter(|(_, slot)| counts(slot));
            fitting.find(|(_, slot)| slot.is(state)).map(|(id, _)| *id)
        });
        let Some(slot) = leaving.and_then(|id| self.slots.remove(&id)) else { return false };
        slot.leave.notify_one();
        true
    }
}

impl Slot {
    fn is_general(&self) -> bool {
        self.kind == Kind::General
    }

    fn is(&self, state: ConnectionState) -> bool {
        self.state.load(Ordering::Relaxed) == state as u8
    }

    fn set(&self, state: ConnectionState) {
        self.state.store(state as u8, Ordering::Relaxed);
    }
}

/// The slot of one connection, released when it is dropped.
#[derive(Debug)]
pub(super) struct SlotGuard {
    slots: Arc<Slots>,
    id: u64,
    slot: Arc<Slot>,
}

impl SlotGuard {
    pub(super) fn kind(&self) -> Kind {
        self.slot.kind
    }

    /// Marks the connection as busy until the guard is dropped.
    pub(super) fn begin(&self) -> BusyGuard {
        self.slot.set(ConnectionState::Busy);
        BusyGuard(Arc::clone(&self.slot))
    }

    pub(super) fn is_silent(&self) -> bool {
        self.slot.is(ConnectionState::Silent)
    }

    /// Waits until another connection needs the slot.
    pub(super) async fn dismissed(&self) {
        self.slot.leave.notified().await;
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        self.slots.connections().slots.remove(&self.id);
    }
}

/// A request is in progress on a connection.
#[derive(Debug)]
pub(super) struct BusyGuard(Arc<Slot>);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.set(ConnectionState::Idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: ConnectionLimits = ConnectionLimits { in_all: 4, of_one: 3, reserve: 1 };

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn take(slots: &Arc<Slots>, from: &str) -> SlotGuard {
        slots.take(address(from)).unwrap()
    }

    fn has_to_leave(guard: &SlotGuard) -> bool {
        !guard.slots.connections().slots.contains_key(&guard.id)
    }

    #[test]
    fn one_address_leaves_room_for_others_and_makes_room_among_its_own() {
        let slots = Slots::new(ROOM);
        let mine: Vec<SlotGuard> = (0..3).map(|_| take(&slots, "10.0.0.1")).collect();
        let other = take(&slots, "10.0.0.2");
        let fourth = take(&slots, "10.0.0.1");
        assert_eq!(fourth.kind(), Kind::General);
        assert!(has_to_leave(&mine[0]) && !has_to_leave(&mine[1]) && !has_to_leave(&other));
        // All slots are taken now; the oldest silent one goes.
        let third = take(&slots, "10.0.0.3");
        assert!(has_to_leave(&mine[1]) && !has_to_leave(&other));
        assert_eq!((third.kind(), slots.len()), (Kind::General, 4));
    }

    #[test]
    fn the_silent_go_before_the_idle_and_the_busy_stay() {
        let slots = Slots::new(ROOM);
        let (busy, idle, silent) =
            (take(&slots, "10.0.0.1"), take(&slots, "10.0.0.1"), take(&slots, "10.0.0.1"));
        let request = busy.begin();
        drop(idle.begin());
        assert!(silent.is_silent() && !idle.is_silent() && !busy.is_silent());
        let next = take(&slots, "10.0.0.1");
        assert!(has_to_leave(&silent) && !has_to_leave(&idle) && !has_to_leave(&busy));
        let (_second, _third) = (next.begin(), idle.begin());
        let reserved = take(&slots, "10.0.0.1");
        assert_eq!(reserved.kind(), Kind::Reserve, "all of this address are busy");
        assert_eq!(take(&slots, "10.0.0.2").kind(), Kind::General, "another address has room");
        let _reserved_request = reserved.begin();
        assert!(slots.take(address("10.0.0.1")).is_none());
        drop(request);
        assert_eq!(take(&slots, "10.0.0.1").kind(), Kind::General, "an idle one has gone");
        assert!(has_to_leave(&busy));
    }

    #[test]
    fn slots_are_released_and_can_be_thinned_out() {
        let slots = Slots::new(ROOM);
        let seats: Vec<SlotGuard> = (0..3).map(|_| take(&slots, "10.0.0.1")).collect();
        let _request = seats[1].begin();
        slots.thin_out(1);
        assert!(has_to_leave(&seats[0]) && !has_to_leave(&seats[2]));
        slots.thin_out(5);
        assert_eq!(slots.len(), 1, "the busy one stays");
        drop(seats);
        assert_eq!(slots.len(), 0);
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
