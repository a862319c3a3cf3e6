//! What a schedule captured of the real changes, how late, and how current the copies were in between.

use std::collections::BTreeMap;

use dunlin_core::{Changes, Chronon, Schedule, SourceIdx};

use super::share;
use crate::value::{Life, ValueModel};

/// What a schedule made of a trace. Times are in chronons.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceScore {
    /// Sources, silent ones included.
    pub sources: usize,
    /// True changes.
    pub changes: usize,
    /// Changes still visible at the first probe after them.
    pub captured: usize,
    /// captured / changes.
    pub completeness: f64,
    /// Changes captured in the chronon in which they happened, as a share of all changes.
    pub zero_delay: f64,
    /// Σ weight·urgency(delay) over the captured, by the number of changes.
    pub utility: f64,
    /// Mean delay of the captured; nothing when there are none.
    pub mean_delay: Option<f64>,
    /// The delay that 95 % of the captured do not exceed.
    pub p95_delay: Option<u32>,
    /// How many were captured with each delay that occurred.
    pub delay_histogram: BTreeMap<u32, usize>,
    /// Share of changes that would be captured if each overwrote the one before.
    pub change_recall: f64,
    /// Share of time, over all sources, during which the copy was current. Copies are current at the start.
    pub freshness: f64,
    /// Mean time since the first change not yet seen, 0 while current.
    pub mean_age: f64,
    /// Probes made.
    pub probes: usize,
}

#[derive(Default)]
struct Tally {
    captured: usize,
    recalled: usize,
    utility: f64,
    delays: BTreeMap<u32, usize>,
    stale: u64,
    age: f64,
}

/// Scores a schedule on the true changes, valuing source i by `model(i)`.
pub fn score_trace(
    changes: &Changes,
    schedule: &Schedule,
    model: impl Fn(SourceIdx) -> ValueModel,
) -> TraceScore {
    let probes = schedule.by_source(changes.n_sources());
    let mut tally = Tally::default();
    for (source, own) in changes.by_source() {
        let probes = &probes[source.index()];
        tally.add_captures(own, probes, &model(source));
        tally.add_staleness(own, probes, changes.chronons());
    }
    let n_changes = changes.len() as f64;
    let time = changes.n_sources() as f64 * f64::from(changes.chronons());
    let total_delay: f64 = tally.delays.iter().map(|(&delay, &n)| f64::from(delay) * n as f64).sum();
    TraceScore {
        sources: changes.n_sources(),
        changes: changes.len(),
        captured: tally.captured,
        completeness: share(tally.captured as f64, n_changes),
        zero_delay: share(tally.delays.get(&0).copied().unwrap_or(0) as f64, n_changes),
        utility: share(tally.utility, n_changes),
        mean_delay: (tally.captured > 0).then(|| total_delay / tally.captured as f64),
        p95_delay: quantile(&tally.delays, tally.captured, 0.95),
        delay_histogram: tally.delays,
        change_recall: share(tally.recalled as f64, n_changes),
        freshness: 1.0 - if time == 0.0 { 0.0 } else { tally.stale as f64 / time },
        mean_age: if time == 0.0 { 0.0 } else { tally.age / time },
        probes: schedule.probes().len(),
    }
}

impl Tally {
    fn add_captures(&mut self, changes: &[Chronon], probes: &[Chronon], model: &ValueModel) {
        for (i, &change) in changes.iter().enumerate() {
            let Some(&probe) = probes.get(probes.partition_point(|&at| at < change)) else { break };
            let delay = probe.since(change);
            let later = changes[i + 1..].partition_point(|&at| at <= probe);
            self.recalled += usize::from(Life::Overwrite.is_visible(delay, later));
            if model.life.is_visible(delay, later) {
                self.captured += 1;
                self.utility += model.weight * model.urgency.at(delay);
                *self.delays.entry(delay).or_default() += 1;
            }
        }
    }

    /// A copy is stale from the first change after a probe until the next probe, or until the end.
    fn add_staleness(&mut self, changes: &[Chronon], probes: &[Chronon], chronons: u32) {
        let mut rest = changes;
        while let Some(&first) = rest.first() {
            let probe = probes.get(probes.partition_point(|&at| at < first));
            let until = probe.map_or(u64::from(chronons) + 1, |at| u64::from(at.get()));
            let stale = until - u64::from(first.get());
            self.stale += stale;
            self.age += stale as f64 * (stale as f64 - 1.0) / 2.0;
            let seen = rest.partition_point(|&at| u64::from(at.get()) <= until);
            rest = &rest[seen.max(1)..];
        }
    }
}

/// The smallest delay that at least `share` of the captured do not exceed.
fn quantile(delays: &BTreeMap<u32, usize>, captured: usize, share: f64) -> Option<u32> {
    let enough = (captured as f64 * share).ceil();
    let mut seen = 0;
    delays.iter().find_map(|(&delay, &n)| {
        seen += n;
        (seen as f64 >= enough).then_some(delay)
    })
}
