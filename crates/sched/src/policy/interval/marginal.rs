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
mod books;
mod calendar;
mod coverage;
mod driven;
mod events;
mod jobs;
mod learn;
mod number;
mod run;
mod run_order;
mod slots;
mod spares;
mod supply;
#[cfg(test)]
mod tests;
mod timetable;
mod worth;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dunlin_core::{Allowance, Budget, Cei, Chronon, Costs, Observation, Outcome, SourceIdx};

use super::super::{Arrival, Policy};
use books::Books;
use learn::{Company, Price, Risk};
use number::ROUNDING;
use timetable::Timetable;

pub(crate) use books::Reference;
pub(crate) use jobs::Jobs;
pub(crate) use run::Pick;
pub(crate) use slots::{HeapSlots, Slots, Summary};
pub(crate) use spares::{Spare, Spares};

/// The marginal policy.
#[derive(Debug, Clone)]
pub struct Marginal(Planner<HeapSlots, BinaryHeap<Spare>>);

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

/// The policy over stores of its own choice, of which there is a fast and a plain one.
#[derive(Debug, Clone)]
pub(crate) struct Planner<S, L> {
    now: u32,
    costs: Costs,
    has_uniform_costs: bool,
    /// No chronon can spend more; a probe that costs more is not to be had.
    most_at_once: f64,
    books: Books,
    timetable: Timetable<S>,
    price: Price,
    company: Company,
    risk: Risk,
    /// Intervals that have begun and are left out of the plan.
    spares: L,
    most_spares: usize,
    /// Jobs that may have become worthless.
    doubtful: Vec<u32>,
    /// Intervals that end with the present chronon.
    ending: Vec<Reference>,
    /// Sources chosen in the present chronon, until what came of it has been settled.
    chosen: Vec<SourceIdx>,
    is_settled: bool,
    /// What was learned in the present chronon about waiting: the risk of it, and whether that was learned yet.
    risk_of_waiting: f64,
    has_learned: bool,
    /// What a unit of budget is worth to others who share it.
    floor: f64,
    /// What a probe of each source is worth to others, by source.
    side_worth: Vec<SideWorth>,
    /// What became of needs, until it is asked for.
    settled: Vec<Settled>,
    /// The first weight above 0, in which all are measured. A billionth of it counts as nothing.
    unit: Option<f64>,
}

/// Fewer left-over spares than this are not worth clearing out.
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
pub(crate) enum Settled {
    /// One of its intervals is captured: that in this position.
    Interval { cei: u64, line: u32 },
    /// As many as it needs are captured.
    Captured { cei: u64 },
    /// It can no longer be captured.
    Lost { cei: u64 },
}

impl<S: Slots, L: Spares> Planner<S, L> {
    pub(crate) fn new(budget: &Budget, costs: Costs) -> Self {
        Self {
            now: 0,
            has_uniform_costs: costs.is_uniform(),
            most_at_once: budget.most_in_one_chronon(u32::MAX).max(1.0),
            costs,
            books: Books::default(),
            timetable: Timetable::new(budget),
            price: Price::default(),
            company: Company::default(),
            risk: Risk::default(),
            spares: L::default(),
            most_spares: FEW,
            doubtful: Vec::new(),
            ending: Vec::new(),
            chosen: Vec::new(),
            is_settled: true,
            risk_of_waiting: 0.0,
            has_learned: false,
            floor: 0.0,
            side_worth: Vec::new(),
            settled: Vec::new(),
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
        self.books.admit(now, id, cei, weight)
    }

    /// Plans the CEIs whose situation changed, then as many of the best spares as there are probes.
    fn plan(&mut self, n_probes: f64) {
        let agenda = self.books.take_agenda();
        for &cei in &agenda {
            if self.books.ceis[cei as usize].release == self.now {
                self.books.ceis[cei as usize].outlay = self.outlay(cei);
            }
        }
        for cei in agenda {
            self.books.unqueue(cei);
            for ei in self.books.members(cei) {
                if self.books.is_left_out(ei) {
                    self.consider(ei);
                }
            }
            self.tidy();
        }
        let mut again = Vec::new();
        while (again.len() as f64) < n_probes {
            let Some((_, Reverse(reference))) = self.spares.pop() else { break };
            if self.books.is_still_left_out(reference) {
                again.push(reference.record);
            }
        }
        for ei in again {
            if self.books.is_left_out(ei) {
                self.consider(ei);
            }
        }
        self.tidy();
        if self.spares.len() > self.most_spares {
            let books = &self.books;
            self.spares.retain(|&(_, Reverse(reference))| books.is_still_left_out(reference));
            self.most_spares = 2 * self.spares.len() + FEW;
        }
    }

    /// What the cheapest probes for a new CEI cost, counting shared ones in part.
    fn outlay(&self, cei: u32) -> f32 {
        let left = self.books.ceis[cei as usize].left as usize;
        let part = |ei: u32| self.costs.of(self.books.eis[ei as usize].source) / self.sharers(ei);
        let open = self.books.members(cei).filter(|&ei| self.books.is_open(ei));
        let mut parts: Vec<f64> = open.map(part).collect();
        if parts.len() > left {
            parts.sort_unstable_by(f64::total_cmp);
        }
        parts.iter().take(left).sum::<f64>() as f32
    }
}

impl<S: Slots, L: Spares> Policy for Planner<S, L> {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        let Arrival::Cei(cei) = arrival else { return };
        self.settle();
        self.admit(now.get().max(self.now.saturating_add(1)), 0, &cei);
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.settle();
        self.settled.clear();
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
