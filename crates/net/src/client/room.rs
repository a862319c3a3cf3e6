//! The memory that all bodies of a client share, in bytes: received data, its decompressed content, and content that a
//! reader still holds. Knows nothing about HTTP.
//!
//! A body asks for room as it grows ([`Share::grow`]) and waits where there is none, the one that holds least first, so
//! that small pages pass large ones. Two rules prevent a deadlock between bodies that hold room and want more:
//!
//! - A part of the room, enough for one body of any size, is kept for one body at a time: of those that wait, the one
//!   that holds most. It can always finish, and release all of it.
//! - When a body has waited for a while (`patience`), the arriving body that has cost the most room over time (bytes times
//!   seconds) is ended with an error. So servers that drip many bodies cannot keep the room; each wait ends at most one.
//!
//! Invariant: never more than `limit` is held in all shares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Why a body gets no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// It is larger than all the room there is.
    TooLarge,
    /// None became free in time.
    InVain,
}

/// The room.
#[derive(Debug)]
pub(super) struct Room {
    limit: u64,
    /// The reserved part, which only one body at a time may use.
    kept: u64,
    /// How long a body waits before another one is ended.
    patience: Duration,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    held: u64,
    next_id: u64,
    /// Shares of bodies under way; those of bodies that have arrived count in `held` only.
    under_way: BTreeMap<u64, Entry>,
    n_waiting: usize,
    /// Which body may use the reserved part.
    favoured: Option<u64>,
    /// When a body was last ended.
    ended_at: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    held: u64,
    /// How much more it waits for.
    wants: Option<u64>,
    is_ended: bool,
    /// Bytes times seconds up to `counted_at`.
    cost: f64,
    counted_at: Instant,
    granted: Arc<Notify>,
    ended: Arc<Notify>,
}

impl Entry {
    fn cost_at(&self, now: Instant) -> f64 {
        self.cost + self.held as f64 * now.duration_since(self.counted_at).as_secs_f64()
    }

    fn hold(&mut self, held: u64, now: Instant) {
        (self.cost, self.counted_at, self.held) = (self.cost_at(now), now, held);
    }
}

impl Room {
    /// Room for `limit` bytes, when no single body needs more than `largest`.
    pub(super) fn new(limit: u64, largest: u64, patience: Duration) -> Arc<Self> {
        Arc::new(Self { limit, kept: largest.min(limit / 2), patience, books: Mutex::default() })
    }

    /// A share of nothing yet.
    pub(super) fn share(self: &Arc<Self>) -> Share {
        let (granted, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let mut books = self.books();
        let id = books.next_id;
        books.next_id += 1;
        let entry = Entry {
            held: 0,
            wants: None,
            is_ended: false,
            cost: 0.0,
            counted_at: Instant::now(),
            granted: Arc::clone(&granted),
            ended: Arc::clone(&ended),
        };
        books.under_way.insert(id, entry);
        drop(books);
        Share { room: Arc::clone(self), id, granted, ended, arrived: None }
    }

    /// How many bytes there are in all.
    pub(super) const fn limit(&self) -> u64 {
        self.limit
    }

    /// How many bytes are held.
    pub(super) fn held(&self) -> u64 {
        self.books().held
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Nothing that is done under the lock panics half-way.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out free room to the bodies that wait.
    fn hand_out(&self, books: &mut Books) {
        let now = Instant::now();
        while books.n_waiting > 0 {
            let waiting =
                books.under_way.iter().filter_map(|(id, entry)| Some((entry.held, *id, entry.wants?)));
            let Some((held, id, wants)) = waiting.clone().min() else { return };
            if books.held + wants + self.kept <= self.limit {
                books.grant(id, held + wants, now);
                continue;
            }
            let most = waiting.max_by_key(|&(held, id, _)| (held, std::cmp::Reverse(id)));
            let favoured = *books.favoured.get_or_insert(most.map_or(id, |(_, id, _)| id));
            let wanted = books.under_way.get(&favoured).and_then(|entry| Some((entry.held, entry.wants?)));
            match wanted {
                Some((held, wants)) if books.held + wants <= self.limit => {
                    books.grant(favoured, held + wants, now);
                }
                _ => return,
            }
        }
    }

    /// Ends the body under way that has cost most, unless one was ended a moment ago.
    fn end_dearest(&self, books: &mut Books) {
        let now = Instant::now();
        if books.ended_at.is_some_and(|at| now.duration_since(at) < self.patience) {
            return;
        }
        let running = books.under_way.values_mut().filter(|entry| !entry.is_ended && entry.held > 0);
        let Some(dearest) = running.max_by(|a, b| a.cost_at(now).total_cmp(&b.cost_at(now))) else { return };
        dearest.is_ended = true;
        dearest.ended.notify_one();
        books.ended_at = Some(now);
    }
}

impl Books {
    fn grant(&mut self, id: u64, held: u64, now: Instant) {
        let Some(entry) = self.under_way.get_mut(&id) else { return };
        self.held += held - entry.held;
        entry.hold(held, now);
        if entry.wants.take().is_some() {
            self.n_waiting -= 1;
            entry.granted.notify_one();
        }
    }

    /// Takes a share out of those under way, and says what it held.
    fn remove(&mut self, id: u64) -> Option<u64> {
        let entry = self.under_way.remove(&id)?;
        self.n_waiting -= usize::from(entry.wants.is_some());
        self.favoured.take_if(|favoured| *favoured == id);
        Some(entry.held)
    }
}

/// What one body holds. Dropping it gives all of it back.
#[derive(Debug)]
pub(super) struct Share {
    room: Arc<Room>,
    id: u64,
    granted: Arc<Notify>,
    ended: Arc<Notify>,
    /// What it holds until it is dropped, once the body has arrived.
    arrived: Option<u64>,
}

impl Share {
    /// Takes room for `bytes` more, waiting for it until `deadline` if necessary. Only [`Share::ended`]
    /// reports that it was ended.
    pub(super) async fn grow(&self, bytes: u64, deadline: Instant) -> Result<(), NoRoom> {
        if self.ask(bytes)? {
            return Ok(());
        }
        loop {
            let patience = (Instant::now() + self.room.patience).min(deadline);
            let is_late = timeout_at(patience, self.granted.notified()).await.is_err();
            let mut books = self.room.books();
            if books.under_way.get(&self.id).is_none_or(|entry| entry.wants.is_none()) {
                return Ok(());
            }
            if is_late && Instant::now() >= deadline {
                return Err(NoRoom::InVain);
            }
            if is_late {
                self.room.end_dearest(&mut books);
            }
        }
    }

    /// Whether the room is free at once; if not, the share waits for it from now on.
    fn ask(&self, bytes: u64) -> Result<bool, NoRoom> {
        let Room { limit, kept, .. } = *self.room;
        let mut books = self.room.books();
        let (all_held, n_waiting) = (books.held, books.n_waiting);
        let Some(entry) = books.under_way.get_mut(&self.id) else { return Ok(true) };
        let held = entry.held + bytes;
        if held > limit {
            return Err(NoRoom::TooLarge);
        }
        if n_waiting == 0 && all_held + bytes + kept <= limit {
            books.grant(self.id, held, Instant::now());
            return Ok(true);
        }
        entry.wants = Some(bytes);
        books.n_waiting += 1;
        self.room.hand_out(&mut books);
        Ok(books.under_way.get(&self.id).is_some_and(|entry| entry.wants.is_none()))
    }

    /// Waits until this body is ended, which usually never happens.
    pub(super) async fn ended(&self) {
        while self.room.books().under_way.get(&self.id).is_some_and(|entry| !entry.is_ended) {
            self.ended.notified().await;
        }
    }

    /// The body has arrived: it holds `bytes` from now on, which is no more than before, and is not ended any more.
    pub(super) fn arrive(&mut self, bytes: u64) {
        let mut books = self.room.books();
        let Some(held) = books.remove(self.id) else { return };
        let arrived = bytes.min(held);
        books.held -= held - arrived;
        self.arrived = Some(arrived);
        self.room.hand_out(&mut books);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut books = self.room.books();
        let held = books.remove(self.id).or(self.arrived);
        books.held -= held.unwrap_or(0);
        self.room.hand_out(&mut books);
    }
}

#[cfg(test)]
mod tests;
