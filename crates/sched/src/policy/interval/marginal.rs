//! The marginal policy for complex needs: a rolling, priced plan.
//!
//! The papers' policies rank intervals and take the best. This one keeps a plan of the coming chronons and
//! asks of everything what it adds to it. The parts:
//!
//! - A *job* is one intended probe of a source. It covers one or more open intervals there, may run in any
//!   chronon that all of them have in common, and has its place in one such chronon. The places of a
//!   chronon cost no more than it has to spend.
//! - The *price* is the learned worth of one unit of budget. It rises while needs that were worth it are
//!   lost and falls while probes idle.
//! - The *cost* of an interval is its share of what its probe costs at that price; those that use the same
//!   probe share it.
//! - The *bid* of an interval is what its capture would add: the weight of its CEI less the costs of the
//!   cheapest other intervals that the CEI still needs. So it grows as the CEI nears completion, and it is
//!   nothing when the rest is not worth its cost.
//! - The *value* of a job is the sum of the bids of what it covers.
//!
//! A newcomer joins a job if it can. Otherwise a new job enters the plan if its value exceeds its price and
//! there is a place for it: a free one, one that can be made free by shifting other jobs inside their
//! windows, or that of a less valuable job. Each chronon runs those jobs whose postponement would lose most,
//! which need not be the ones planned for it; the others move on. Probes that the plan has no use for go to
//! intervals that were left out.
//!
//! Work per chronon is in proportion to the jobs that wait, and to arrivals, captures and budget times the
//! length of windows and the square of the number of intervals of a CEI. Memory follows the live CEIs.

mod admission;
mod backlog;
mod coverage;
mod driven;
mod events;
mod jobs;
mod learn;
mod ordered_f64;
mod planned_budget;
mod run;
mod run_order;
mod runnable;
mod slots;
#[cfg(test)]
mod tests;
mod timetable;
mod worth;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dunlin_core::{Allowance, Budget, Cei, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::super::{Arrival, Policy};
use super::cei_ledger::CeiLedger;
use learn::{BudgetPrice, JoinStatistics, Risk};
use ordered_f64::ROUNDING;
use timetable::Timetable;

pub(crate) use super::cei_ledger::Reference;
pub(crate) use backlog::{Backlog, BacklogEntry};
pub(crate) use jobs::Jobs;
pub(crate) use ordered_f64::OrderedF64;
pub(crate) use run::Pick;
pub(crate) use slots::{HeapSlots, SlotSummary, Slots};

/// The marginal policy.
#[derive(Debug, Clone)]
pub struct Marginal(Planner<HeapSlots, BinaryHeap<BacklogEntry>>);

impl Marginal {
    /// A policy that plans with this budget and these costs.
    pub fn new(budget: &Budget, costs: Costs) -> Self {
        Self(Planner::new(budget, costs))
    }
}

impl Policy for Marginal {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        self.0.arrive(now, arrival);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.0.choose(now, allowance, chosen);
    }

    fn observe(&mut self, observation: Observation) {
        self.0.observe(observation);
    }
}

/// The policy, generic over its stores: there is a fast and a plain version of each.
#[derive(Debug, Clone)]
pub(crate) struct Planner<S, L> {
    now: u32,
    costs: Costs,
    has_uniform_costs: bool,
    /// No chronon can spend more; a probe that costs more is not to be had.
    most_at_once: f64,
    ledger: CeiLedger,
    timetable: Timetable<S>,
    price: BudgetPrice,
    joins: JoinStatistics,
    risk: Risk,
    /// Intervals that have begun and are left out of the plan.
    backlog: L,
    max_backlog: usize,
    /// How many runnable jobs are compared in a chronon, apart from those for each probe.
    most_candidates: usize,
    /// Jobs that may have become worthless.
    doubtful: Vec<u32>,
    /// Intervals that end with the present chronon.
    ending: Vec<Reference>,
    /// Sources chosen in the present chronon, until their outcomes have been processed.
    chosen: Vec<SourceIdx>,
    is_settled: bool,
    /// What was learned in the present chronon about waiting: the risk of it, and whether that was learned yet.
    risk_of_waiting: f64,
    has_learned: bool,
    /// What a unit of budget is worth to others that share it.
    floor: f64,
    /// What a probe of each source is worth to others, by source.
    side_worth: Vec<SideWorth>,
    /// What became of needs, until it is asked for.
    events: Vec<PlannerEvent>,
    /// The first weight above 0, in which all are measured. A billionth of it counts as nothing.
    unit: Option<f64>,
}

/// Fewer backlog entries than this are not worth clearing out.
const FEW: usize = 1_024;

/// Heavier needs than this, in units of the first one's weight, would only overflow sums.
const HEAVIEST: f64 = 1e30;

/// What a probe of a source is worth besides the intervals that it captures.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SideWorth {
    pub(crate) worth: f64,
    /// How much of it a chronon of waiting loses.
    pub(crate) loss: f64,
}

/// What became of a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlannerEvent {
    /// One of its intervals is captured: that in this position.
    Interval { cei: u64, line: u32 },
    /// As many as it needs are captured.
    Captured { cei: u64 },
    /// It can no longer be captured.
    Lost { cei: u64 },
}

impl<S: Slots, L: Backlog> Planner<S, L> {
    pub(crate) fn new(budget: &Budget, costs: Costs) -> Self {
        Self {
            now: 0,
            has_uniform_costs: costs.is_uniform(),
            most_at_once: budget.most_in_one_chronon(u32::MAX).max(1.0),
            costs,
            ledger: CeiLedger::default(),
            timetable: Timetable::new(budget),
            price: BudgetPrice::default(),
            joins: JoinStatistics::default(),
            risk: Risk::default(),
            backlog: L::default(),
            max_backlog: FEW,
            most_candidates: run::MOST_CANDIDATES,
            doubtful: Vec::new(),
            ending: Vec::new(),
            chosen: Vec::new(),
            is_settled: true,
            risk_of_waiting: 0.0,
            has_learned: false,
            floor: 0.0,
            side_worth: Vec::new(),
            events: Vec::new(),
            unit: None,
        }
    }

    /// Takes in a need, to be planned at `now`; its record, unless too much of it is over already.
    pub(crate) fn admit(&mut self, now: u32, id: u64, cei: &Cei<'_>) -> Option<u32> {
        if self.unit.is_none() && cei.weight > 0.0 {
            self.unit = Some(cei.weight);
        }
        let weight = self.unit.map_or(0.0, |unit| (cei.weight / unit).min(HEAVIEST));
        self.price.note_need(weight, cei.need);
        let record = self.ledger.admit(now, id, cei, weight, (0..).zip(cei.intervals.iter().copied()))?;
        self.ledger.enqueue(record);
        Some(record)
    }

    /// Plans the CEIs whose situation changed, then as many of the best of the backlog as there are probes.
    fn plan(&mut self, n_probes: f64) {
        let unplanned = self.ledger.take_unplanned();
        for &cei in &unplanned {
            if self.ledger.ceis[cei as usize].release == self.now {
                self.ledger.ceis[cei as usize].outlay = self.outlay(cei);
            }
        }
        for cei in unplanned {
            self.ledger.mark_planned(cei);
            for ei in self.ledger.members(cei) {
                if self.ledger.is_left_out(ei) {
                    self.consider(ei);
                }
            }
            self.tidy();
        }
        let mut again = Vec::new();
        while (again.len() as f64) < n_probes {
            let Some((_, Reverse(reference))) = self.backlog.pop() else { break };
            if self.ledger.is_still_left_out(reference) {
                again.push(reference.record);
            }
        }
        for ei in again {
            if self.ledger.is_left_out(ei) {
                self.consider(ei);
            }
        }
        self.tidy();
        if self.backlog.len() > self.max_backlog {
            let ledger = &self.ledger;
            self.backlog.retain(|&(_, Reverse(reference))| ledger.is_still_left_out(reference));
            self.max_backlog = 2 * self.backlog.len() + FEW;
        }
    }

    /// What the cheapest probes for a new CEI cost, counting shared ones in part.
    fn outlay(&self, cei: u32) -> f32 {
        let left = self.ledger.ceis[cei as usize].left as usize;
        let part = |ei: u32| self.costs.of(self.ledger.eis[ei as usize].source) / self.sharers(ei);
        let open = self.ledger.members(cei).filter(|&ei| self.ledger.is_open(ei));
        let mut parts: Vec<f64> = open.map(part).collect();
        if parts.len() > left {
            parts.sort_unstable_by(f64::total_cmp);
        }
        parts.iter().take(left).sum::<f64>() as f32
    }
}

impl<S: Slots, L: Backlog> Policy for Planner<S, L> {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        let Arrival::Cei(cei) = arrival else { return };
        self.settle();
        self.admit(now.get().max(self.now.saturating_add(1)), 0, &cei);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.settle();
        self.events.clear();
        self.begin(now.get());
        self.plan((allowance.left() + ROUNDING).floor());
        self.run(allowance, chosen);
        self.is_settled = false;
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.capture(observation.source);
        }
    }
}
