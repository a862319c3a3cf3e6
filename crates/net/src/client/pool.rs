//! Connections kept for the next request to the same host, within bounds. Opens none itself.
//!
//! A kept connection leads to an address that the guard passed when it was opened; using it again asks no name
//! server, so it cannot be redirected to another address.
//!
//! Invariant: never more idle connections than the settings allow, and none older than the idle time for much
//! longer than that.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::time::Instant;

use super::connection::Connection;
use super::settings::PoolSize;
use crate::guard::Target;

/// The connections that wait for work.
#[derive(Debug)]
pub(super) struct Pool {
    size: PoolSize,
    idle: Mutex<IdleConnections>,
}

#[derive(Debug, Default)]
struct IdleConnections {
    kept: BTreeMap<Target, Vec<IdleConnection>>,
    is_swept: bool,
}

#[derive(Debug)]
struct IdleConnection {
    connection: Connection,
    since: Instant,
}

impl Pool {
    pub(super) fn new(size: PoolSize) -> Arc<Self> {
        Arc::new(Self { size, idle: Mutex::default() })
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        // A panic elsewhere leaves at worst one connection too few.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection to `target` that looks usable: the youngest, which is the least likely to have been closed.
    pub(super) fn take(&self, target: &Target) -> Option<Connection> {
        let mut idle = self.idle();
        let kept = idle.kept.get_mut(target)?;
        while let Some(mut found) = kept.pop() {
            if found.connection.is_closed() || found.since.elapsed() >= self.size.idle_time {
                continue;
            }
            if let Some(shared) = found.connection.share() {
                found.since = Instant::now();
                kept.push(found);
                return Some(shared);
            }
            return Some(found.connection);
        }
        idle.kept.remove(target);
        None
    }

    /// Keeps `connection` for later, at the cost of the oldest one where there are too many.
    pub(super) fn put(self: &Arc<Self>, target: &Target, connection: Connection) {
        if connection.is_closed() || self.size.idle == 0 || self.size.idle_per_host == 0 {
            return;
        }
        let mut idle = self.idle();
        let kept = idle.kept.entry(target.clone()).or_default();
        // Handles of one HTTP/2 connection are alike, and one such connection is enough for a host.
        if connection.share().is_some() {
            kept.retain(|kept| kept.connection.share().is_none());
        }
        kept.push(IdleConnection { connection, since: Instant::now() });
        if kept.len() > self.size.idle_per_host {
            kept.remove(0);
        }
        while idle.len() > self.size.idle {
            idle.drop_oldest();
        }
        if !idle.is_swept {
            idle.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self), self.size));
        }
    }

    /// Drops every connection to `target`; for when one of them misbehaved in a way the others may share.
    pub(super) fn forget(&self, target: &Target) {
        self.idle().kept.remove(target);
    }

    /// How many connections wait.
    pub(super) fn len(&self) -> usize {
        self.idle().len()
    }
}

impl IdleConnections {
    fn len(&self) -> usize {
        self.kept.values().map(Vec::len).sum()
    }

    fn drop_oldest(&mut self) {
        let oldest = self.kept.iter().filter_map(|(target, kept)| Some((kept.first()?.since, target))).min();
        let Some(target) = oldest.map(|(_, target)| target.clone()) else { return };
        if let Some(kept) = self.kept.get_mut(&target) {
            kept.remove(0);
            if kept.is_empty() {
                self.kept.remove(&target);
            }
        }
    }
}

/// Closes what has waited too long; ends with the pool, or when there is nothing left to close.
async fn sweep(pool: Weak<Pool>, size: PoolSize) {
    loop {
        tokio::time::sleep(size.idle_time).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = pool.idle();
        for kept in idle.kept.values_mut() {
            kept.retain(|kept| !kept.connection.is_closed() && kept.since.elapsed() < size.idle_time);
        }
        idle.kept.retain(|_, kept| !kept.is_empty());
        if idle.kept.is_empty() {
            idle.is_swept = false;
            return;
        }
    }
}
