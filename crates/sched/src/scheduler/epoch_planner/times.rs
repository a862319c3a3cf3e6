//! When the probes of a plan are made: what each resource may gain, where in the epoch its probes belong, and the exact
//! assignment where they collide. Does not decide how many probes a resource gets, or whether one is made.

use std::collections::BTreeMap;
use std::ops::Range;

use dunlin_core::{Chronon, ResourceIdx, SourceIdx, Time};

use super::{Draft, EpochPlanner};
use crate::plan::cam::{ProbeDemand, Task, assign_within, instants};
use crate::scheduler::Scheduler;
use crate::scheduler::demand::{ChangeDemand, Valuation};
use crate::scheduler::resource::Resource;

/// Steps that the exact assignment may take: some tens of milliseconds, once per epoch. That is enough for a probe every
/// two seconds where a resource is probed every few minutes; not where all may be probed at any time of the epoch.
const MOST_STEPS: u64 = 4_000_000;
/// The exact assignment knows at most so many different times: five seconds each in an hour.
const MOST_SLOTS: u32 = 720;

/// What becomes of probes that would be made at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collisions {
    /// Some will be moved, or wait: each may be wanted when that is best for it.
    Resolved,
    /// There are too many for that: those that have waited do not all come at once.
    Avoided,
}

impl EpochPlanner {
    fn slots(&self) -> u32 {
        let chronons = self.epoch.as_micros() / self.chronon.as_micros().max(1);
        u32::try_from(chronons).unwrap_or(u32::MAX).clamp(1, MOST_SLOTS)
    }
}

impl Scheduler {
    /// The times of all probes by the exact assignment, by the resource's position; `None` if that takes too long.
    pub(super) fn assigned(
        &self,
        epoch_planner: &EpochPlanner,
        draft: &Draft,
    ) -> Option<BTreeMap<u32, Vec<Time>>> {
        let n_probes: u64 = draft.sharing.shares().iter().map(|&share| u64::from(share)).sum();
        if n_probes > MOST_STEPS / 16 {
            return None;
        }
        let n_slots = epoch_planner.slots();
        let slot = epoch_planner.epoch / n_slots;
        let slot_of = |at: Time| {
            let nth = at.since(draft.span.start).as_micros() / slot.as_micros().max(1);
            u32::try_from(nth).unwrap_or(u32::MAX).min(n_slots - 1)
        };
        let chronon = |slot: u32| Chronon::new(slot + 1).unwrap_or(Chronon::FIRST);
        let (mut tasks, mut cost) = (Vec::new(), 0.0);
        let shares = draft.sharing.demands().iter().zip(draft.sharing.shares());
        for (position, (demand, &share)) in (0..).zip(shares).filter(|(_, (_, share))| **share > 0) {
            let index = draft.resources[position as usize];
            let Some(resource) = self.resources.get(index.0) else { continue };
            let (valuation, span) = (&self.valuation, &draft.span);
            let ideal = resource.instants(valuation, span, demand, share, index, Collisions::Resolved);
            let ideal: Vec<u32> = ideal.into_iter().map(slot_of).collect();
            let worth = demand.weight * demand.chance(demand.expected / f64::from(share));
            for (nth, &own) in ideal.iter().enumerate() {
                let last = ideal.get(nth + 1).map_or(n_slots - 1, |next| next.saturating_sub(1)).max(own);
                tasks.push(Task {
                    source: SourceIdx(position),
                    ideal: chronon(own),
                    last: chronon(last),
                    worth,
                });
                cost += demand.cost;
            }
        }
        let per_cost = tasks.len() as f64 / f64::max(cost, f64::MIN_POSITIVE);
        let per_slot = self.bucket.per_second() * slot.as_secs_f64() * per_cost;
        let times = assign_within(&tasks, &rooms(per_slot, n_slots), MOST_STEPS)?;
        let mut by_position: BTreeMap<u32, Vec<Time>> = BTreeMap::new();
        for (task, time) in tasks.iter().zip(times) {
            if let Some(time) = time {
                by_position
                    .entry(task.source.0)
                    .or_default()
                    .push(draft.span.start.plus(slot * (time.get() - 1)));
            }
        }
        Some(by_position)
    }
}

impl Resource {
    /// What it may gain by probes in an epoch; `None` if it has never been seen or cannot be probed in it.
    pub(super) fn demand(
        &self,
        valuation: &Valuation,
        span: &Range<Time>,
        epoch_planner: &EpochPlanner,
    ) -> Option<ProbeDemand> {
        let of = |demand: &ChangeDemand| {
            let last = demand.last_probe?;
            if demand.not_before.is_some_and(|at| at >= span.end) {
                return None;
            }
            let forecast = demand.forecast(valuation);
            let rests = epoch_planner.epoch.as_micros().checked_div(demand.shortest_gap.get().as_micros());
            let most = rests
                .map_or(u32::MAX, |rests| u32::try_from(rests).unwrap_or(u32::MAX))
                .clamp(1, epoch_planner.slots());
            Some(ProbeDemand {
                weight: demand.value.weight.max(0.0),
                pending: forecast.expected(last, span.start),
                expected: forecast.expected(span.start, span.end),
                evidence: forecast.evidence().max(1e-6),
                cost: self.cost(),
                least: u32::from(self.overdue_at().is_some_and(|at| at < span.end)),
                most,
                group: self.host.0,
            })
        };
        self.demands.iter().filter_map(of).reduce(together)
    }

    /// The demand whose changes decide when in an epoch it is probed: the one with the most of them, by weight.
    fn leading(&self, valuation: &Valuation, span: &Range<Time>) -> &ChangeDemand {
        if self.demands.is_one() {
            return self.demands.first();
        }
        let gain = |demand: &ChangeDemand| {
            demand.value.weight * demand.forecast(valuation).expected(span.start, span.end)
        };
        let most = self.demands.iter().max_by(|one, other| gain(one).total_cmp(&gain(other)));
        most.unwrap_or(self.demands.first())
    }

    pub(super) fn instants(
        &self,
        valuation: &Valuation,
        span: &Range<Time>,
        demand: &ProbeDemand,
        share: u32,
        index: ResourceIdx,
        collisions: Collisions,
    ) -> Vec<Time> {
        // Neighbours are far apart, and so are any few in a row.
        let phase = (f64::from(index.0) * 0.618_033_988_749_895).fract();
        let forecast = self.leading(valuation, span).forecast(valuation);
        // It may have been probed since its demand was weighed.
        let waited = self.last_probe().map_or(demand.pending, |last| forecast.expected(last, span.start));
        let pending = match collisions {
            Collisions::Resolved => waited,
            Collisions::Avoided => waited.min(demand.expected / f64::from(share.max(1)) * (1.0 - phase)),
        };
        let mut times = instants(&forecast, span, &ProbeDemand { pending, ..*demand }, share, phase);
        if let (Some(first), Some(overdue_at)) = (times.first_mut(), self.overdue_at()) {
            *first = (*first).min(overdue_at.max(span.start));
        }
        times
    }
}

/// What one probe gains for both: the weights add up, and changes count by weight.
fn together(one: ProbeDemand, other: ProbeDemand) -> ProbeDemand {
    let weight = one.weight + other.weight;
    let mean = |a: f64, b: f64| if weight > 0.0 { (one.weight * a + other.weight * b) / weight } else { a };
    ProbeDemand {
        weight,
        pending: mean(one.pending, other.pending),
        expected: mean(one.expected, other.expected),
        evidence: one.evidence.min(other.evidence),
        most: one.most.max(other.most),
        ..one
    }
}

/// How many probes fit into each slot, where so many do on average.
fn rooms(per_slot: f64, n_slots: u32) -> Vec<u32> {
    let by = |slot: u32| (f64::from(slot) * per_slot + 1e-9).floor();
    #[expect(clippy::cast_sign_loss, reason = "sums of a positive number rise")]
    (0..n_slots).map(|slot| (by(slot + 1) - by(slot)).min(1e9) as u32).collect()
}
