//! What is known about one scope: a host, a domain or a URL. Arithmetic on times only; [`super::scope`] decides which
//! scope a URL belongs to.

use std::time::Duration;

use dunlin_core::Time;

use super::backoff;
use super::{Reason, Rules};

/// A time that is stored as microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(from = "i64", into = "i64")]
struct Stamp(Time);

impl From<i64> for Stamp {
    fn from(micros: i64) -> Self {
        Self(Time::from_micros(micros))
    }
}

impl From<Stamp> for i64 {
    fn from(stamp: Stamp) -> Self {
        stamp.0.micros()
    }
}

/// No request from one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Block {
    since: Stamp,
    until: Stamp,
    reason: Reason,
}

/// The memory of one scope. Store it as it is; requests in flight are left out, since they end with the process.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ScopeState {
    #[serde(skip)]
    pub(super) in_flight: u32,
    /// Whether it holds, or held, more than the time of the last request; a restart must not lose or revive that.
    #[serde(skip)]
    pub(super) is_worth_storing: bool,
    last_used: Option<Stamp>,
    pub(super) own_gap: Option<Duration>,
    n_failures: u32,
    block: Option<Block>,
}

impl ScopeState {
    pub(super) fn use_at(&mut self, now: Time) {
        self.last_used = Some(Stamp(now));
    }

    /// When the gap after the last request ends.
    pub(super) fn free_at(&self, gap: Duration) -> Option<Time> {
        let gap = self.own_gap.map_or(gap, |own| own.max(gap));
        self.last_used.map(|last| last.0.plus(gap))
    }

    /// Until when no request is allowed, and why.
    pub(super) fn blocked(&self) -> Option<(Time, Reason)> {
        self.block.map(|block| (block.until.0, block.reason))
    }

    /// Forgets failures, unless a pause is still running.
    pub(super) fn forgive(&mut self, now: Time) {
        if self.block.is_none_or(|block| block.until.0 <= now) {
            self.n_failures = 0;
            self.block = None;
        }
    }

    /// Corrects times that lie in the future after the clock was set back.
    pub(super) fn notice_clock(&mut self, now: Time) {
        if let Some(last) = &mut self.last_used {
            last.0 = last.0.min(now);
        }
        if let Some(block) = &mut self.block
            && block.since.0 > now
        {
            block.until.0 = now.plus(block.until.0.since(block.since.0));
            block.since.0 = now;
        }
    }

    /// Records a failure, with the wait that the server asked for, if any.
    pub(super) fn fail(&mut self, rules: &Rules, wish: Option<Duration>, seed: u64, now: Time) {
        self.notice_clock(now);
        let is_blocked = self.block.is_some_and(|block| now < block.until.0);
        self.forgive_after_quiet(rules, now);
        // A request that was in flight when the pause began belongs to the same failure.
        if !is_blocked || self.n_failures == 0 {
            self.n_failures = self.n_failures.saturating_add(1);
        }
        let (pause, reason) = if let Some(wish) = wish {
            // "Come back at once" after a refusal would be a hot loop.
            let shortest = rules.first_backoff.min(rules.longest_wait);
            (wish.clamp(shortest, rules.longest_wait), Reason::RetryAfter)
        } else {
            (backoff::pause(rules.backoff(), self.n_failures, seed), Reason::Backoff)
        };
        self.rest(pause, reason, now);
    }

    /// Records a failure of our own: always the first pause of a back-off, however often it happens.
    pub(super) fn fail_locally(&mut self, rules: &Rules, now: Time) {
        self.notice_clock(now);
        // The pause delays the quiet time, so old failures have to be forgiven first.
        self.forgive_after_quiet(rules, now);
        self.rest(rules.first_backoff, Reason::LocalFailure, now);
    }

    /// Blocks requests for `pause`, unless a longer block is already set.
    fn rest(&mut self, pause: Duration, reason: Reason, now: Time) {
        self.is_worth_storing = true;
        let until = Stamp(now.plus(pause));
        if self.block.is_none_or(|block| block.until < until) {
            self.block = Some(Block { since: Stamp(now), until, reason });
        }
    }

    fn forgive_after_quiet(&mut self, rules: &Rules, now: Time) {
        if self.is_forgiven(rules, now) {
            self.n_failures = 0;
        }
    }

    fn is_forgiven(&self, rules: &Rules, now: Time) -> bool {
        self.block.is_none_or(|block| now >= block.until.0.plus(rules.forgive_after))
    }

    /// Whether forgetting this state would change no decision.
    pub(super) fn is_forgettable(&self, rules: &Rules, now: Time) -> bool {
        self.in_flight == 0
            && self.own_gap.is_none()
            && self.is_forgiven(rules, now)
            && self.free_at(rules.gap).is_none_or(|free| free <= now)
    }
}
