//! The memory that all bodies of a client share, in bytes: received data, its decompressed content, and content that a
//! reader still holds. Knows nothing about HTTP.
//!
//! A body requests memory as it grows ([`MemoryReservation::grow`]) and waits where there is none, the one that holds least first, so
//! that small pages pass large ones. Two rules prevent a deadlock between bodies that hold memory and need more:
//!
//! - A part of the memory, enough for one body of any size, is kept for one body at a time: of those that wait, the one
//!   that holds most. It can always finish, and release all of it.
//! - When a body has waited for a while (`patience`), the arriving body that has cost the most memory over time (bytes times
//!   seconds) is ended with an error. So servers that drip many bodies cannot keep the memory; each wait ends at most one.
//!
//! Invariant: never more than `limit` is held in all reservations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Why a body gets no more memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoMemory {
    /// It is larger than the limit.
    TooLarge,
    /// None became free in time.
    TimedOut,
}

/// The memory.
#[derive(Debug)]
pub(super) struct BodyMemory {
    limit: u64,
    /// The reserved part, which only one body at a time may use.
    reserved: u64,
    /// How long a body waits before another one is ended.
    patience: Duration,
    reservations: Mutex<Reservations>,
}

#[derive(Debug, Default)]
struct Reservations {
    held: u64,
    next_id: u64,
    /// Reservations of bodies that are arriving; those of bodies that have arrived count in `held` only.
    active: BTreeMap<u64, ReservationState>,
    n_waiting: usize,
    /// Which body may use the reserved part.
    favoured: Option<u64>,
    /// When a body was last ended.
    ended_at: Option<Instant>,
}

#[derive(Debug)]
struct ReservationState {
    held: u64,
    /// How much more it waits for.
    requested: Option<u64>,
    is_ended: bool,
    /// Bytes times seconds up to `counted_at`.
    cost: f64,
    counted_at: Instant,
    granted: Arc<Notify>,
    ended: Arc<Notify>,
}

impl ReservationState {
    fn cost_at(&self, now: Instant) -> f64 {
        self.cost + self.held as f64 * now.duration_since(self.counted_at).as_secs_f64()
    }

    fn hold(&mut self, held: u64, now: Instant) {
        (self.cost, self.counted_at, self.held) = (self.cost_at(now), now, held);
    }
}

impl BodyMemory {
    /// Memory for `limit` bytes, when no single body needs more than `largest`.
    pub(super) fn new(limit: u64, largest: u64, patience: Duration) -> Arc<Self> {
        Arc::new(Self { limit, reserved: largest.min(limit / 2), patience, reservations: Mutex::default() })
    }

    /// A reservation of nothing yet.
    pub(super) fn reserve(self: &Arc<Self>) -> MemoryReservation {
        let (granted, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let mut reservations = self.reservations();
        let id = reservations.next_id;
        reservations.next_id += 1;
        let entry = ReservationState {
            held: 0,
            requested: None,
            is_ended: false,
            cost: 0.0,
            counted_at: Instant::now(),
            granted: Arc::clone(&granted),
            ended: Arc::clone(&ended),
        };
        reservations.active.insert(id, entry);
        drop(reservations);
        MemoryReservation { memory: Arc::clone(self), id, granted, ended, arrived: None }
    }

    /// How many bytes there are in all.
    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    /// How many bytes are held.
    pub(super) fn held(&self) -> u64 {
        self.reservations().held
    }

    fn reservations(&self) -> MutexGuard<'_, Reservations> {
        // Nothing that is done under the lock panics half-way.
        self.reservations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants free memory to the bodies that wait.
    fn grant_waiting(&self, reservations: &mut Reservations) {
        let now = Instant::now();
        while reservations.n_waiting > 0 {
            let waiting = reservations
                .active
                .iter()
                .filter_map(|(id, entry)| Some((entry.held, *id, entry.requested?)));
            let Some((held, id, requested)) = waiting.clone().min() else { return };
            if reservations.held + requested + self.reserved <= self.limit {
                reservations.grant(id, held + requested, now);
                continue;
            }
            let most = waiting.max_by_key(|&(held, id, _)| (held, std::cmp::Reverse(id)));
            let favoured = *reservations.favoured.get_or_insert(most.map_or(id, |(_, id, _)| id));
            let needed =
                reservations.active.get(&favoured).and_then(|entry| Some((entry.held, entry.requested?)));
            match needed {
                Some((held, requested)) if reservations.held + requested <= self.limit => {
                    reservations.grant(favoured, held + requested, now);
                }
                _ => return,
            }
        }
    }

    /// Ends the arriving body that has cost most, unless one was ended a moment ago.
    fn end_most_expensive(&self, reservations: &mut Reservations) {
        let now = Instant::now();
        if reservations.ended_at.is_some_and(|at| now.duration_since(at) < self.patience) {
            return;
        }
        let running = reservations.active.values_mut().filter(|entry| !entry.is_ended && entry.held > 0);
        let Some(most_expensive) = running.max_by(|a, b| a.cost_at(now).total_cmp(&b.cost_at(now))) else {
            return;
        };
        most_expensive.is_ended = true;
        most_expensive.ended.notify_one();
        reservations.ended_at = Some(now);
    }
}

impl Reservations {
    fn grant(&mut self, id: u64, held: u64, now: Instant) {
        let Some(entry) = self.active.get_mut(&id) else { return };
        self.held += held - entry.held;
        entry.hold(held, now);
        if entry.requested.take().is_some() {
            self.n_waiting -= 1;
            entry.granted.notify_one();
        }
    }

    /// Removes an active reservation, and returns what it held.
    fn remove(&mut self, id: u64) -> Option<u64> {
        let entry = self.active.remove(&id)?;
        self.n_waiting -= usize::from(entry.requested.is_some());
        self.favoured.take_if(|favoured| *favoured == id);
        Some(entry.held)
    }
}

/// What one body holds. Dropping it releases all of it.
#[derive(Debug)]
pub(super) struct MemoryReservation {
    memory: Arc<BodyMemory>,
    id: u64,
    granted: Arc<Notify>,
    ended: Arc<Notify>,
    /// What it holds until it is dropped, once the body has arrived.
    arrived: Option<u64>,
}

impl MemoryReservation {
    /// Takes memory for `bytes` more, waiting for it until `deadline` if necessary. Only [`MemoryReservation::ended`]
    /// reports that it was ended.
    pub(super) async fn grow(&self, bytes: u64, deadline: Instant) -> Result<(), NoMemory> {
        if self.ask(bytes)? {
            return Ok(());
        }
        loop {
            let patience = (Instant::now() + self.memory.patience).min(deadline);
            let is_late = timeout_at(patience, self.granted.notified()).await.is_err();
            let mut reservations = self.memory.reservations();
            if reservations.active.get(&self.id).is_none_or(|entry| entry.requested.is_none()) {
                return Ok(());
            }
            if is_late && Instant::now() >= deadline {
                return Err(NoMemory::TimedOut);
            }
            if is_late {
                self.memory.end_most_expensive(&mut reservations);
            }
        }
    }

    /// Whether the memory is free at once; if not, the reservation waits for it from now on.
    fn ask(&self, bytes: u64) -> Result<bool, NoMemory> {
        let BodyMemory { limit, reserved, .. } = *self.memory;
        let mut reservations = self.memory.reservations();
        let (all_held, n_waiting) = (reservations.held, reservations.n_waiting);
        let Some(entry) = reservations.active.get_mut(&self.id) else { return Ok(true) };
        let held = entry.held + bytes;
        if held > limit {
            return Err(NoMemory::TooLarge);
        }
        if n_waiting == 0 && all_held + bytes + reserved <= limit {
            reservations.grant(self.id, held, Instant::now());
            return Ok(true);
        }
        entry.requested = Some(bytes);
        reservations.n_waiting += 1;
        self.memory.grant_waiting(&mut reservations);
        Ok(reservations.active.get(&self.id).is_some_and(|entry| entry.requested.is_none()))
    }

    /// Waits until this body is ended, which usually never happens.
    pub(super) async fn ended(&self) {
        while self.memory.reservations().active.get(&self.id).is_some_and(|entry| !entry.is_ended) {
            self.ended.notified().await;
        }
    }

    /// The body has arrived: it holds `bytes` from now on, which is no more than before, and is not ended any more.
    pub(super) fn arrive(&mut self, bytes: u64) {
        let mut reservations = self.memory.reservations();
        let Some(held) = reservations.remove(self.id) else { return };
        let arrived = bytes.min(held);
        reservations.held -= held - arrived;
        self.arrived = Some(arrived);
        self.memory.grant_waiting(&mut reservations);
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        let mut reservations = self.memory.reservations();
        let held = reservations.remove(self.id).or(self.arrived);
        reservations.held -= held.unwrap_or(0);
        self.memory.grant_waiting(&mut reservations);
    }
}

#[cfg(test)]
mod tests;
