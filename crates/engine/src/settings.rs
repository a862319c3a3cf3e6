//! What an engine is made from. Every field has a default that suits one machine and strangers' sites.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_extract::Limits;
use dunlin_net::politeness::Rules;
use dunlin_sched::model::Prior;
use dunlin_sched::scheduler::{Pace, Strategy};
use dunlin_store::Retention;

/// All settings of an engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The step of time in which decisions are made.
    pub chronon: Duration,
    /// Probes over all sources. A budget set later through the engine is stored, and goes before this one.
    pub budget: Pace,
    /// Probes of one host, besides the budget for all.
    pub host_budget: Option<Pace>,
    /// How polite to be to hosts.
    pub politeness: Rules,
    /// How to fetch: user agent, limits on time and size, and the guard that says where to.
    pub network: dunlin_net::Settings,
    /// Whether to ask for robots.txt.
    pub robots: RobotsRule,
    /// The most fetches at one time. Further probes of a chronon's budget wait in a queue, so that any budget can
    /// be spent; at most [`Settings::MAX_QUEUED`] times as many.
    pub in_flight: u32,
    /// About the most bytes for the cache of sources between two probes; what does not fit is read from the store for every
    /// probe. As long as half of it is enough, nothing is dropped. A source takes about 150 bytes, more with long
    /// validators or much flicker.
    pub recall_bytes: usize,
    /// What a probe is worth.
    pub strategy: Strategy,
    /// Decides the jitter of back-offs.
    pub seed: u64,
    /// What is assumed about a source before anything is known.
    pub prior: Prior,
    /// Never probe again sooner than this, for sources without a setting of their own.
    pub shortest_gap: Duration,
    /// Probe at least this often, for sources without a setting of their own; also the longest pause after a refusal.
    pub longest_gap: Duration,
    /// The most sources that are there for queries only.
    pub most_query_sources: usize,
    /// How much of a hostile page is read.
    pub extraction: Limits,
    /// How long the reading of one probe's content may take. A reading that takes longer is abandoned, and the source refused.
    pub reading_time: Duration,
    /// What may be removed from the store, and when.
    pub keep: Keep,
    /// How long stopping waits for active probes.
    pub stop_within: Duration,
    /// How long no decision may be made, or one write may take, before that is reported as a standstill.
    pub patience: Duration,
}

impl Settings {
    /// Threads for readings that take long or were abandoned, besides one for each processor. When abandoned ones have all of
    /// them, no reading begins until one ends.
    pub const SPARE_READERS: usize = 16;

    /// How many probes may wait, in the queue or for the writer, for each one that fetches. Bounds memory.
    pub const MAX_QUEUED: u32 = 31;

    /// The most active probes, from decision to commit, with this budget.
    #[expect(clippy::cast_sign_loss, reason = "what is below nothing becomes nothing, as it should")]
    pub fn max_active(&self, budget: Pace) -> u32 {
        let at_one_time = self.in_flight.max(1);
        let begun = (budget.per_second * self.chronon.as_secs_f64()).ceil() as u32;
        at_one_time.saturating_add(begun.min(at_one_time.saturating_mul(Self::MAX_QUEUED)))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            chronon: Duration::from_secs(1),
            budget: Pace { per_second: 1.0 },
            host_budget: None,
            politeness: Rules::default(),
            network: dunlin_net::Settings::default(),
            robots: RobotsRule::Obey { product: "dunlin".to_owned() },
            in_flight: 64,
            recall_bytes: 128 << 20,
            strategy: Strategy::Learned,
            seed: 0,
            prior: Prior::default(),
            shortest_gap: Duration::from_mins(1),
            longest_gap: Duration::from_hours(24),
            most_query_sources: 100_000,
            extraction: Limits::default(),
            reading_time: Duration::from_secs(10),
            keep: Keep::default(),
            stop_within: Duration::from_secs(20),
            patience: Duration::from_secs(30),
        }
    }
}

/// Whether robots.txt is respected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsRule {
    /// robots.txt is fetched and followed.
    Obey {
        /// The name that its rules are looked up for, without a version.
        product: String,
    },
    /// robots.txt is not fetched. For your own sites.
    Ignore,
}

/// How long data stays in the store; `None` is for ever. Newest versions and present items stay always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// So many versions of each source.
    pub n_versions: Option<u32>,
    /// Versions.
    pub versions: Option<Duration>,
    /// Changes.
    pub changes: Option<Duration>,
    /// What came of probes.
    pub observations: Option<Duration>,
    /// The decision journal.
    pub decisions: Option<Duration>,
    /// Items that have left their source; one that comes back later is new.
    pub items: Option<Duration>,
}

impl Default for Keep {
    fn default() -> Self {
        let days = |n: u64| Some(Duration::from_hours(24 * n));
        Self {
            n_versions: None,
            versions: None,
            changes: None,
            observations: days(90),
            decisions: days(7),
            items: days(90),
        }
    }
}

impl Keep {
    /// What may go at `now`.
    pub fn at(self, now: Time) -> Retention {
        let before = |age: Option<Duration>| {
            age.map(|age| {
                let micros = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
                Time::from_micros(now.micros().saturating_sub(micros))
            })
        };
        Retention {
            keep_versions: self.n_versions,
            versions_before: before(self.versions),
            changes_before: before(self.changes),
            observations_before: before(self.observations),
            decisions_before: before(self.decisions),
            items_before: before(self.items),
        }
    }
}
