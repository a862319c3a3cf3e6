//! What queries add to the weights of sources, and which sources are probed more densely for a while because nobody knows yet how they
//! change. The scheduler is told one sum for each source, in the way in which it is told of an edit.
//!
//! A source for whose changes a query waits (ON CHANGE) counts with the weight of that query. So far for those that name their
//! sources; as for words:
//!
//! A source that is relevant counts with its relevance. Any other counts with what its next change may be expected to make of
//! it: the chance that a change makes a source relevant, learned from those seen, times the relevance that relevant ones have. So
//! the index is refreshed by a demand like others, which is large while little is known and many sources turn out to be relevant.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::scheduler::SourceTerms;
use dunlin_store::SourceId;

use super::{Running, WatchKey, Watches};
use crate::control::Control;
use crate::control::sources::Audience;

/// A weight is told anew when it differs from what was told by more than this share: each time makes an entry of the journal.
const TELL_AGAIN: f64 = 0.1;
/// The most sources that are weighed in a tick.
const MOST_WEIGHED: usize = 256;
/// How often it is estimated what sources may become.
const ESTIMATE_EVERY: Duration = Duration::from_mins(10);
/// How relevant a source is thought to become while none is.
const TYPICAL_RELEVANCE: f64 = 0.5;

/// A source is tracked for so many gaps, each so long unless the budget demands longer ones.
const TRACKED_GAPS: u32 = 12;
const TRACKED_GAP: Duration = Duration::from_mins(5);
/// All that are tracked take at most this share of the budget.
const TRACKED_SHARE: f64 = 0.1;
/// With so many changes' worth of evidence, its forecast knows enough of a source.
const KNOWN_ENOUGH: f64 = 4.0;

/// What is demanded of a source because of queries.
#[derive(Debug, Default)]
pub(super) struct Demanded {
    /// How relevant it is to what.
    pub(super) relevance: BTreeMap<WatchKey, f64>,
    /// What the scheduler was told.
    told: Option<ToldTerms>,
}

/// The terms that the scheduler was told, and those that the source has by itself.
#[derive(Debug, Clone, Copy)]
struct ToldTerms {
    own: SourceTerms,
    added: Added,
}

/// What queries add to the terms of a source.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Added {
    weight: f64,
    longest_gap: Option<Duration>,
    /// Of one that is watched for its changes because of queries only.
    shortest_gap: Option<Duration>,
}

impl Added {
    const NOTHING: Self = Self { weight: 0.0, longest_gap: None, shortest_gap: None };

    fn to(self, own: SourceTerms) -> SourceTerms {
        let mut terms = own;
        terms.value.weight += self.weight;
        terms.wants_changes |= self.weight > 0.0;
        terms.shortest_gap = self.shortest_gap.map_or(own.shortest_gap, |gap| gap.max(own.shortest_gap));
        let longest = self.longest_gap.map_or(own.longest_gap, |gap| gap.min(own.longest_gap));
        terms.longest_gap = longest.max(terms.shortest_gap);
        terms
    }

    /// Whether the scheduler has to be told, of a source with this weight of its own.
    fn differs(self, told: Self, own: f64) -> bool {
        let enough = TELL_AGAIN * (own + told.weight);
        self.longest_gap != told.longest_gap
            || (self.weight == 0.0) != (told.weight == 0.0)
            || (self.weight - told.weight).abs() > enough
    }
}

/// A source that is tracked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracked {
    /// Until then.
    pub(super) until: Time,
    /// It is probed at least this often.
    gap: Duration,
}

impl Running {
    /// What a change may be expected to make of a source that is not relevant.
    fn gain(&self, n_changes: u64, n_sources: usize, relevance: f64) -> f64 {
        let n_others = (n_changes - self.since).saturating_sub(self.n_of_relevant) as f64;
        let share = (self.relevant.len() as f64 + 1.0) / (n_sources as f64 + 2.0);
        // The share of sources that are relevant counts as one observation.
        let chance = (self.n_joined as f64 + share) / (n_others + 1.0);
        self.weight * chance.min(1.0) * relevance
    }
}

impl Watches {
    /// What words add to the weight of a source.
    pub(super) fn weight_of(&self, source: SourceId) -> f64 {
        if self.running.is_empty() {
            return 0.0;
        }
        let demanded = self.demanded.get(&source);
        let each = demanded.into_iter().flat_map(|demanded| &demanded.relevance);
        let more = each.filter_map(|(key, relevance)| {
            self.running.get(key).map(|running| running.weight * relevance - running.expected)
        });
        (self.expected + more.sum::<f64>()).max(0.0)
    }

    fn mean_relevance(&self, key: WatchKey, running: &Running) -> f64 {
        let of = |source: &SourceId| self.demanded.get(source)?.relevance.get(&key).copied();
        let n_relevant = running.relevant.len() as f64;
        if n_relevant == 0.0 {
            return TYPICAL_RELEVANCE;
        }
        running.relevant.iter().filter_map(of).sum::<f64>() / n_relevant
    }
}

impl Control {
    /// Estimates what any source may become, now and then.
    pub(super) fn estimate(&mut self, now: Time) {
        let is_recent = self.watches.estimated.is_some_and(|at| now.since(at) < ESTIMATE_EVERY);
        if is_recent || (self.watches.running.is_empty() && self.watches.expected == 0.0) {
            return;
        }
        let watches = &mut self.watches;
        watches.estimated = Some(now);
        let n_sources = self.sources.len();
        let gain = |(key, running): (&WatchKey, &Running)| {
            let relevance = watches.mean_relevance(*key, running);
            (*key, if running.is_found { running.gain(watches.n_changes, n_sources, relevance) } else { 0.0 })
        };
        let gains: Vec<(WatchKey, f64)> = watches.running.iter().map(gain).collect();
        watches.expected = gains.iter().map(|(_, gain)| gain).sum();
        for (key, gain) in gains {
            watches.running.get_mut(&key).into_iter().for_each(|running| running.expected = gain);
        }
        watches.to_weigh.extend(self.sources.ids());
    }

    /// Begins and ends the tracking of sources that are newly relevant.
    pub(super) fn track(&mut self, now: Time) {
        let over: Vec<SourceId> =
            self.watches.tracked.iter().filter(|(_, own)| own.until <= now).map(|(id, _)| *id).collect();
        for source in over {
            self.watches.tracked.remove(&source);
            self.watches.to_weigh.insert(source);
        }
        let rate = TRACKED_SHARE * self.budget.per_second;
        if rate <= 0.0 || self.watches.to_track.is_empty() {
            return;
        }
        let for_one = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX);
        let gap = TRACKED_GAP.max(for_one);
        let most = (rate * gap.as_secs_f64()).round().max(1.0);
        while (self.watches.tracked.len() as f64) < most {
            let best = self.watches.to_track.iter().map(|source| (self.watches.weight_of(*source), *source));
            let Some((_, source)) = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
                break;
            };
            self.watches.to_track.remove(&source);
            if self.is_hardly_known(source) {
                let until = now.plus(gap.saturating_mul(TRACKED_GAPS));
                self.watches.tracked.insert(source, Tracked { until, gap });
                self.watches.to_weigh.insert(source);
            }
        }
    }

    /// Whether a source is watched, and too little is known of how it changes.
    fn is_hardly_known(&self, source: SourceId) -> bool {
        let place = self.sources.find(source).and_then(|index| Some((self.sources.resource(index)?, index)));
        let forecast =
            place.and_then(|(resource, index)| self.scheduler.scheduler().forecast(resource, index));
        forecast.is_some_and(|forecast| forecast.evidence() < KNOWN_ENOUGH)
    }

    /// Tells the scheduler of weights that are others now. A source that is being probed has to wait for the end of its probe.
    pub(super) fn weigh(&mut self, now: Time) {
        let mut waiting = Vec::new();
        for _ in 0..MOST_WEIGHED {
            let Some(source) = self.watches.to_weigh.pop_first() else { break };
            let index = self.sources.find(source);
            let Some(index) = index.filter(|index| self.sources.resource(*index).is_some()) else { continue };
            if self.sources.get(index).is_some_and(|known| known.is_being_probed) {
                waiting.push(source);
            } else {
                self.weigh_source(now, source, index);
            }
        }
        self.watches.to_weigh.extend(waiting);
    }

    fn weigh_source(&mut self, now: Time, id: SourceId, index: SourceIdx) {
        let told = self.watches.demanded.get(&id).and_then(|demanded| demanded.told);
        let scheduled = || {
            let resource = self.sources.resource(index)?;
            self.scheduler.scheduler().terms(resource, index)
        };
        let Some(own) = told.map(|told| told.own).or_else(scheduled) else { return };
        let is_for_queries =
            self.sources.get(index).is_some_and(|source| source.audience == Audience::Queries);
        // Words are found on what users watch: nothing is told of a source that is there for other queries.
        let by_words = if is_for_queries { 0.0 } else { self.watches.weight_of(id) };
        let weight = by_words + self.queries.weight_of(id, now);
        let added = Added {
            weight,
            longest_gap: self.watches.tracked.get(&id).map(|tracked| tracked.gap),
            shortest_gap: (is_for_queries && weight > 0.0).then_some(self.settings.shortest_gap),
        };
        let before = told.map_or(Added::NOTHING, |told| told.added);
        if !added.differs(before, own.value.weight) {
            return;
        }
        let demanded = self.watches.demanded.entry(id).or_default();
        demanded.told = (added != Added::NOTHING).then_some(ToldTerms { own, added });
        if demanded.told.is_none() && demanded.relevance.is_empty() {
            self.watches.demanded.remove(&id);
        }
        self.tell_terms(now, index, added.to(own));
    }

    /// The terms on which a source joins, with what queries have added to it.
    pub(in crate::control) fn with_queries(&mut self, id: SourceId, own: SourceTerms) -> SourceTerms {
        let told = self.watches.demanded.get_mut(&id).and_then(|demanded| demanded.told.as_mut());
        told.map_or(own, |told| {
            told.own = own;
            told.added.to(own)
        })
    }
}
