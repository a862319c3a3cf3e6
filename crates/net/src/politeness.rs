//! When a host may receive the next request. A pure state machine: time comes in as an argument, nothing is fetched here,
//! and what it knows can be stored and restored.
//!
//! Three things hold a request back: the gap and the number of requests at one time, for every host alike or longer
//! where the site asks for it; a `Retry-After`; and a back-off after failures, doubling until it is forgiven
//! after a quiet time.
//!
//! Invariants: after a `NotBefore`, no request to that scope is allowed before the time it names; and no more requests
//! are in flight than the rules allow, as long as the caller reports each `Go` to `started`.

mod backoff;
mod outcome;
mod scope;
mod scope_state;

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use dunlin_core::{Backoff, Time};

pub use outcome::Outcome;
use scope::ScopeKey;
pub use scope::{Scope, ScopedUrl};
pub use scope_state::ScopeState;

/// How polite to be. The defaults suit a stranger's site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The pause between two requests, counted from the beginning or end of the last one, whichever is later; so a
    /// slow server gets more rest, and one request at a time never reaches it sooner than this after another.
    pub gap: Duration,
    /// The most requests in flight at one time.
    pub concurrent: u32,
    /// What the gap and the number of requests are counted over.
    pub scope: Scope,
    /// What a 429, a 503 or a `Retry-After` holds back.
    pub limit_scope: Scope,
    /// The first pause after a failure; each further failure doubles it.
    pub first_backoff: Duration,
    /// The longest pause after failures.
    pub longest_backoff: Duration,
    /// The longest pause that a server can ask for.
    pub longest_wait: Duration,
    /// How long after the end of a pause nothing may fail for the failures before to be forgotten.
    pub forgive_after: Duration,
}

impl Rules {
    /// How long to wait after failures.
    pub const fn backoff(&self) -> Backoff {
        Backoff { first: self.first_backoff, longest: self.longest_backoff }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            gap: Duration::from_secs(2),
            concurrent: 1,
            scope: Scope::Host,
            limit_scope: Scope::Host,
            first_backoff: Duration::from_secs(30),
            longest_backoff: Duration::from_hours(6),
            longest_wait: Duration::from_hours(24),
            forgive_after: Duration::from_mins(30),
        }
    }
}

/// Whether a URL may be fetched now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayFetch {
    /// Now.
    Go,
    /// Not before this time; then ask again, since something else may have come up.
    NotBefore(Time, Reason),
}

/// What holds a request back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The last request is too recent.
    Gap,
    /// The maximum number of requests is in flight. The time only says when to check again.
    Busy,
    /// The server named a time to come back.
    RetryAfter,
    /// The server asked for less, or failed, without saying for how long.
    Backoff,
    /// Our own machine or network failed.
    LocalFailure,
}

impl Reason {
    /// Whether something failed or the server asked to wait; otherwise it is only the normal gap or concurrency limit.
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Gap | Self::Busy)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gap => "the last request was too recent",
            Self::Busy => "other requests are in flight",
            Self::RetryAfter => "the server asked to wait",
            Self::Backoff => "the last requests failed",
            Self::LocalFailure => "this machine's network failed",
        })
    }
}

/// The memory of all scopes that received requests.
#[derive(Debug, Clone)]
pub struct Politeness {
    rules: Rules,
    seed: u64,
    entries: HashMap<ScopeKey, Entry>,
    /// When this run began, if an earlier run may have sent requests up to then.
    resumed: Option<Time>,
}

/// A scope and what is known about it.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    state: ScopeState,
}

impl Politeness {
    /// Knows no scope yet. The seed decides the jitter of back-offs, so that many watchers that were refused
    /// together do not come back together.
    pub fn new(rules: Rules, seed: u64) -> Self {
        Self { rules, seed, entries: HashMap::new(), resumed: None }
    }

    /// Whether `url` may be fetched at `now`.
    ///
    /// A clock that was set back is noticed here: a wait restarts at `now` instead of lasting until the
    /// old time comes round again.
    pub fn may_fetch(&mut self, url: &ScopedUrl, now: Time) -> MayFetch {
        let rules = self.rules;
        let mut latest: Option<(Time, Reason)> = None;
        let mut hold = |until: Time, reason| {
            if until > now && latest.is_none_or(|(time, _)| until > time) {
                latest = Some((until, reason));
            }
        };
        if let Some(free) = self.free_after_resuming(now) {
            hold(free, Reason::Gap);
        }
        for scope in self.scopes() {
            let Some(state) = self.known_state(scope, url) else { continue };
            state.notice_clock(now);
            if scope == rules.scope {
                if let Some(free) = state.free_at(rules.gap) {
                    hold(free, Reason::Gap);
                }
                if state.in_flight >= rules.concurrent.max(1) {
                    hold(now.plus(rules.gap.max(Duration::from_secs(1))), Reason::Busy);
                }
            }
            if let Some((until, reason)) = state.blocked() {
                hold(until, reason);
            }
        }
        latest.map_or(MayFetch::Go, |(until, reason)| MayFetch::NotBefore(until, reason))
    }

    /// What holds back every request in the scope of `url` at `now`, not counting what holds back `url` alone.
    /// Requests in flight do not count.
    pub fn scope_hold(&mut self, url: &ScopedUrl, now: Time) -> Option<(Time, Reason)> {
        let rules = self.rules;
        let resumed = self.free_after_resuming(now).filter(|until| *until > now);
        let mut latest = resumed.map(|until| (until, Reason::Gap));
        for scope in [rules.scope, rules.limit_scope] {
            let Some(state) = self.known_state(scope, url) else { continue };
            state.notice_clock(now);
            let gap =
                state.free_at(rules.gap).filter(|_| scope == rules.scope).map(|free| (free, Reason::Gap));
            let holds = gap.into_iter().chain(state.blocked()).filter(|(until, _)| *until > now);
            latest = latest.into_iter().chain(holds).max_by_key(|(until, _)| *until);
        }
        latest
    }

    /// When the gap after the last request of an earlier run is over for every scope.
    fn free_after_resuming(&mut self, now: Time) -> Option<Time> {
        self.resumed = self.resumed.map(|resumed| resumed.min(now));
        self.resumed.map(|resumed| resumed.plus(self.rules.gap))
    }

    /// A request for `url` begins. It counts as in flight until [`Politeness::finished`], which has to be called
    /// in every case.
    pub fn started(&mut self, url: &ScopedUrl, now: Time) {
        let state = self.state(self.rules.scope, url);
        state.in_flight = state.in_flight.saturating_add(1);
        state.use_at(now);
    }

    /// A request for `url` ended, with this outcome.
    pub fn finished(&mut self, url: &ScopedUrl, outcome: Outcome, now: Time) {
        let state = self.state(self.rules.scope, url);
        state.in_flight = state.in_flight.saturating_sub(1);
        state.use_at(now);
        match outcome {
            Outcome::Fine => {
                // The page is back. Its host's limits are forgiven by quiet only, or a host that answers every
                // second request would never be left alone.
                if let Some(state) = self.known_state(Scope::Url, url) {
                    state.forgive(now);
                }
            }
            Outcome::Limited { retry_after } => {
                let wish = retry_after.map(|after| after.not_before(now).since(now));
                self.fail(self.rules.limit_scope, url, wish, now);
            }
            Outcome::Unreachable => self.fail(self.rules.scope, url, None, now),
            Outcome::Broken => self.fail(Scope::Url, url, None, now),
            Outcome::LocalFailure => {
                let rules = self.rules;
                self.state(rules.scope, url).fail_locally(&rules, now);
            }
            Outcome::Abandoned => {}
        }
    }

    fn fail(&mut self, scope: Scope, url: &ScopedUrl, wish: Option<Duration>, now: Time) {
        let rules = self.rules;
        let seed = backoff::seed_of(self.seed, &scope.key(url.url()));
        self.state(scope, url).fail(&rules, wish, seed, now);
    }

    /// Keeps requests in the scope of `url` at least `gap` apart, as its robots.txt or its owner asks; `None`
    /// goes back to the rules. A gap shorter than the rules' has no effect.
    pub fn set_gap(&mut self, url: &ScopedUrl, gap: Option<Duration>) {
        let scope = self.rules.scope;
        if gap.is_some() || self.known_state(scope, url).is_some() {
            let longest = self.rules.longest_wait;
            let state = self.state(scope, url);
            state.own_gap = gap.map(|gap| gap.min(longest));
            state.is_worth_storing |= gap.is_some();
        }
    }

    /// The states to store for the scopes of `url`, by name. The time of the last request alone is not worth storing: the
    /// next run does not need it if it calls [`Politeness::resume`].
    pub fn to_store<'a>(&'a self, url: &'a ScopedUrl) -> impl Iterator<Item = (&'a str, &'a ScopeState)> {
        self.concerning(url).filter(|(_, state)| state.is_worth_storing)
    }

    /// The states of the scopes of `url`, by name.
    pub fn concerning<'a>(&'a self, url: &'a ScopedUrl) -> impl Iterator<Item = (&'a str, &'a ScopeState)> {
        let known = self.scopes().filter_map(|scope| self.entries.get(&url.scope_key(scope)));
        known.map(|entry| (entry.name.as_str(), &entry.state))
    }

    /// All states, sorted by name of their scope.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &ScopeState)> {
        let mut entries: Vec<&Entry> = self.entries.values().collect();
        entries.sort_unstable_by_key(|entry| &entry.name);
        entries.into_iter().map(|entry| (entry.name.as_str(), &entry.state))
    }

    /// Restores what an earlier run stored. No request of that run is in flight any more.
    pub fn restore(&mut self, stored: impl IntoIterator<Item = (String, ScopeState)>) {
        self.entries.extend(stored.into_iter().map(|(name, mut state)| {
            state.is_worth_storing = true;
            (ScopeKey::of(&name), Entry { name, state })
        }));
    }

    /// Begins after an earlier run, which may have sent requests up to now: every scope waits for its gap first. So the
    /// gap survives a restart although the time of each request is not stored. Call it after [`Politeness::restore`],
    /// so that scopes with a gap of their own are known.
    pub fn resume(&mut self, now: Time) {
        self.resumed = Some(now);
        let with_own_gap = self.entries.values_mut().filter(|entry| entry.state.own_gap.is_some());
        with_own_gap.for_each(|entry| entry.state.use_at(now));
    }

    /// Drops every scope that no longer holds anything back, and returns their names.
    pub fn forget(&mut self, now: Time) -> Vec<String> {
        let rules = self.rules;
        let idle = self.entries.extract_if(|_, entry| entry.state.is_forgettable(&rules, now));
        let mut names: Vec<String> = idle.map(|(_, entry)| entry.name).collect();
        names.sort_unstable();
        names
    }

    fn state(&mut self, scope: Scope, url: &ScopedUrl) -> &mut ScopeState {
        let new = || Entry { name: scope.key(url.url()), state: ScopeState::default() };
        &mut self.entries.entry(url.scope_key(scope)).or_insert_with(new).state
    }

    fn known_state(&mut self, scope: Scope, url: &ScopedUrl) -> Option<&mut ScopeState> {
        self.entries.get_mut(&url.scope_key(scope)).map(|entry| &mut entry.state)
    }

    /// The scopes whose failures hold a URL back, each once; the scope of the gap comes first.
    fn scopes(&self) -> impl Iterator<Item = Scope> + use<> {
        let scopes = [self.rules.scope, self.rules.limit_scope, Scope::Url];
        (0..scopes.len()).filter(move |n| !scopes[..*n].contains(&scopes[*n])).map(move |n| scopes[n])
    }
}
