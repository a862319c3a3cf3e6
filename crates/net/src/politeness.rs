//! When a host may be asked again. A pure state machine: time comes in as an argument, nothing is fetched here,
//! and what it knows can be stored and restored.
//!
//! Three things hold a request back: the gap and the number of requests at one time, for every host alike or longer
//! where the site asks for it; a `Retry-After`; and a back-off after failures, doubling until it is forgiven
//! after a quiet time.
//!
//! Invariants: between the moment a `NotBefore` is answered and the time it names, no request to that place is
//! let go; and no more requests are under way than the rules allow, as long as each `Go` is told to `started`.

mod backoff;
mod outcome;
mod place;
mod scope;

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use dunlin_core::Time;

pub use outcome::Outcome;
pub use place::PlaceState;
use scope::Number;
pub use scope::{PlacedUrl, Scope};

/// How polite to be. The defaults suit a stranger's site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The pause between two requests, counted from the beginning or end of the last one, whichever is later; so a
    /// slow server gets more rest, and one request at a time never reaches it sooner than this after another.
    pub gap: Duration,
    /// The most requests under way at one time.
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
    /// As many requests are under way as may be. The time is only when to look again.
    Busy,
    /// The server said when to come back.
    RetryAfter,
    /// The server asked for less, or failed, without saying for how long.
    Backoff,
    /// Our own machine or network failed.
    OurTrouble,
}

impl Reason {
    /// Whether something went wrong, or the server asked to wait; else it is only that others were asked a moment ago.
    pub const fn is_of_a_failure(self) -> bool {
        !matches!(self, Self::Gap | Self::Busy)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gap => "the last request was too recent",
            Self::Busy => "other requests are under way",
            Self::RetryAfter => "the server asked to wait",
            Self::Backoff => "the last requests failed",
            Self::OurTrouble => "this machine's network failed",
        })
    }
}

/// The memory of all places that were asked.
#[derive(Debug, Clone)]
pub struct Politeness {
    rules: Rules,
    seed: u64,
    places: HashMap<Number, Place>,
    /// When this run began, if there was one before that may have asked any place up to then.
    resumed: Option<Time>,
}

/// A place and what is known of it.
#[derive(Debug, Clone)]
struct Place {
    name: String,
    state: PlaceState,
}

impl Politeness {
    /// Knows of no place yet. The seed decides the jitter of back-offs, so that many watchers that were refused
    /// together do not come back together.
    pub fn new(rules: Rules, seed: u64) -> Self {
        Self { rules, seed, places: HashMap::new(), resumed: None }
    }

    /// Whether `url` may be fetched at `now`.
    ///
    /// A clock that was set back is noticed here: a wait begins anew from `now` rather than lasting until the
    /// old time comes round again.
    pub fn may_fetch(&mut self, url: &PlacedUrl, now: Time) -> MayFetch {
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
            let Some(place) = self.known(scope, url) else { continue };
            place.notice_clock(now);
            if scope == rules.scope {
                if let Some(free) = place.free_at(rules.gap) {
                    hold(free, Reason::Gap);
                }
                if place.in_flight >= rules.concurrent.max(1) {
                    hold(now.plus(rules.gap.max(Duration::from_secs(1))), Reason::Busy);
                }
            }
            if let Some((until, reason)) = place.blocked() {
                hold(until, reason);
            }
        }
        latest.map_or(MayFetch::Go, |(until, reason)| MayFetch::NotBefore(until, reason))
    }

    /// What keeps everything at the place of `url` from being fetched at `now`, whatever holds back `url` itself.
    /// Requests under way do not count.
    pub fn place_hold(&mut self, url: &PlacedUrl, now: Time) -> Option<(Time, Reason)> {
        let rules = self.rules;
        let resumed = self.free_after_resuming(now).filter(|until| *until > now);
        let mut latest = resumed.map(|until| (until, Reason::Gap));
        for scope in [rules.scope, rules.limit_scope] {
            let Some(place) = self.known(scope, url) else { continue };
            place.notice_clock(now);
            let gap =
                place.free_at(rules.gap).filter(|_| scope == rules.scope).map(|free| (free, Reason::Gap));
            let holds = gap.into_iter().chain(place.blocked()).filter(|(until, _)| *until > now);
            latest = latest.into_iter().chain(holds).max_by_key(|(until, _)| *until);
        }
        latest
    }

    /// When the gap after whatever an earlier run last asked is over everywhere.
    fn free_after_resuming(&mut self, now: Time) -> Option<Time> {
        self.resumed = self.resumed.map(|resumed| resumed.min(now));
        self.resumed.map(|resumed| resumed.plus(self.rules.gap))
    }

    /// A request for `url` begins. It counts as under way until [`Politeness::finished`], which has to be called
    /// for it whatever happens.
    pub fn started(&mut self, url: &PlacedUrl, now: Time) {
        let place = self.place(self.rules.scope, url);
        place.in_flight = place.in_flight.saturating_add(1);
        place.use_at(now);
    }

    /// A request for `url` ended, with this outcome.
    pub fn finished(&mut self, url: &PlacedUrl, outcome: Outcome, now: Time) {
        let place = self.place(self.rules.scope, url);
        place.in_flight = place.in_flight.saturating_sub(1);
        place.use_at(now);
        match outcome {
            Outcome::Fine => {
                // The page is back. Its host's limits are forgiven by quiet only, or a host that answers every
                // second request would never be left alone.
                if let Some(place) = self.known(Scope::Url, url) {
                    place.forgive(now);
                }
            }
            Outcome::Limited { retry_after } => {
                let wish = retry_after.map(|after| after.not_before(now).since(now));
                self.fail(self.rules.limit_scope, url, wish, now);
            }
            Outcome::Unreachable => self.fail(self.rules.scope, url, None, now),
            Outcome::Broken => self.fail(Scope::Url, url, None, now),
            Outcome::OurTrouble => {
                let rules = self.rules;
                self.place(rules.scope, url).suffer_our_trouble(&rules, now);
            }
            Outcome::Abandoned => {}
        }
    }

    fn fail(&mut self, scope: Scope, url: &PlacedUrl, wish: Option<Duration>, now: Time) {
        let rules = self.rules;
        let seed = backoff::seed_of(self.seed, &scope.key(url.url()));
        self.place(scope, url).fail(&rules, wish, seed, now);
    }

    /// Keeps requests to the place of `url` at least `gap` apart, as its robots.txt or its owner asks; `None`
    /// goes back to the rules. A gap shorter than the rules' has no effect.
    pub fn set_gap(&mut self, url: &PlacedUrl, gap: Option<Duration>) {
        let scope = self.rules.scope;
        if gap.is_some() || self.known(scope, url).is_some() {
            let longest = self.rules.longest_wait;
            let place = self.place(scope, url);
            place.own_gap = gap.map(|gap| gap.min(longest));
            place.is_worth_storing |= gap.is_some();
        }
    }

    /// What is to be stored of what concerns `url`, by name of place: all but when a place was last asked, which the
    /// next run need not know if it calls [`Politeness::resume`].
    pub fn to_store<'a>(&'a self, url: &'a PlacedUrl) -> impl Iterator<Item = (&'a str, &'a PlaceState)> {
        self.concerning(url).filter(|(_, place)| place.is_worth_storing)
    }

    /// What is known that concerns `url`, by name of place.
    pub fn concerning<'a>(&'a self, url: &'a PlacedUrl) -> impl Iterator<Item = (&'a str, &'a PlaceState)> {
        let known = self.scopes().filter_map(|scope| self.places.get(&url.number(scope)));
        known.map(|place| (place.name.as_str(), &place.state))
    }

    /// Everything that is known, by name of place, in order of the names.
    pub fn places(&self) -> impl Iterator<Item = (&str, &PlaceState)> {
        let mut places: Vec<&Place> = self.places.values().collect();
        places.sort_unstable_by_key(|place| &place.name);
        places.into_iter().map(|place| (place.name.as_str(), &place.state))
    }

    /// Takes in what was stored by an earlier run. No request of that run is under way any more.
    pub fn restore(&mut self, stored: impl IntoIterator<Item = (String, PlaceState)>) {
        self.places.extend(stored.into_iter().map(|(name, mut state)| {
            state.is_worth_storing = true;
            (Number::of(&name), Place { name, state })
        }));
    }

    /// Begins after another run, which may have asked any place up to now: every place gets its gap first. So the gap
    /// outlasts a restart though the time of each request is not stored, even of those that were under way. To be
    /// called after [`Politeness::restore`], for the places that have asked for a gap of their own.
    pub fn resume(&mut self, now: Time) {
        self.resumed = Some(now);
        let with_own_gap = self.places.values_mut().filter(|place| place.state.own_gap.is_some());
        with_own_gap.for_each(|place| place.state.use_at(now));
    }

    /// Drops every place that would not hold anything back any more, and says which.
    pub fn forget(&mut self, now: Time) -> Vec<String> {
        let rules = self.rules;
        let idle = self.places.extract_if(|_, place| place.state.is_forgettable(&rules, now));
        let mut names: Vec<String> = idle.map(|(_, place)| place.name).collect();
        names.sort_unstable();
        names
    }

    fn place(&mut self, scope: Scope, url: &PlacedUrl) -> &mut PlaceState {
        let new = || Place { name: scope.key(url.url()), state: PlaceState::default() };
        &mut self.places.entry(url.number(scope)).or_insert_with(new).state
    }

    fn known(&mut self, scope: Scope, url: &PlacedUrl) -> Option<&mut PlaceState> {
        self.places.get_mut(&url.number(scope)).map(|place| &mut place.state)
    }

    /// Of the places whose failures hold a URL back, each once; the one that gaps are counted over comes first.
    fn scopes(&self) -> impl Iterator<Item = Scope> + use<> {
        let scopes = [self.rules.scope, self.rules.limit_scope, Scope::Url];
        (0..scopes.len()).filter(move |n| !scopes[..*n].contains(&scopes[*n])).map(move |n| scopes[n])
    }
}
