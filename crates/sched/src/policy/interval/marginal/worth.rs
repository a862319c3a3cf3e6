//! What things are worth: the cost of an interval, its bid, and the value of a job.

use dunlin_core::SourceIdx;

use super::super::cei_ledger::NONE;
use super::backlog::Backlog;
use super::ordered_f64::ROUNDING;
use super::slots::Slots;
use super::{Planner, SideWorth};

/// At most this many intervals of a source are considered when one of them is valued, and jobs of more keep
/// a running sum. Only a bound on the work.
pub(super) const MAX_CONSIDERED: usize = 64;

/// CEIs with more intervals than this have the costs of all of them taken once and not once per bid.
const LARGE: usize = 16;

impl<S: Slots, L: Backlog> Planner<S, L> {
    /// The worth of one unit of budget: to other intervals, or to others that share the budget.
    pub(super) fn price(&self) -> f64 {
        self.price.get().max(self.floor)
    }

    /// What a probe of `source` is worth to others.
    pub(super) fn side_worth(&self, source: SourceIdx) -> SideWorth {
        self.side_worth.get(source.index()).copied().unwrap_or_default()
    }

    /// How many intervals share the probe of `ei`: those of its job, or the open ones on its source that
    /// overlap it.
    pub(super) fn sharers(&self, ei: u32) -> f64 {
        let own = &self.ledger.eis[ei as usize];
        if own.job != NONE {
            return self.timetable.jobs.get(own.job).eis.len() as f64;
        }
        let from = own.start.max(self.now);
        let overlaps = |&other: &u32| {
            let other = &self.ledger.eis[other as usize];
            other.start <= own.finish && other.finish >= from
        };
        self.ledger.open_on(own.source).take(MAX_CONSIDERED).filter(overlaps).count().max(1) as f64
    }

    /// Its share of the price of a probe. Left out of a full stretch, it would have to pay for the least
    /// valuable job there; and where no chronon can ever pay for its probe, no price is enough.
    fn cost(&self, ei: u32) -> f64 {
        let own = &self.ledger.eis[ei as usize];
        if self.ledger.is_probing(ei) {
            return 0.0;
        }
        let mut price = self.price();
        let probe = self.costs.of(own.source);
        let (from, end) = (own.start.max(self.now), self.timetable.budget.end());
        if own.job == NONE && from <= end {
            let mut least = f64::INFINITY;
            for at in from..=own.finish.min(end) {
                let (summary, capacity) = (self.timetable.summary(at), self.timetable.budget.capacity(at));
                if summary.used + probe <= capacity + ROUNDING {
                    least = 0.0;
                    break;
                }
                if probe <= capacity + ROUNDING {
                    least = least.min(summary.least.0);
                }
            }
            price = price.max(least);
        }
        (price * probe - self.side_worth(own.source).worth).max(0.0) / self.sharers(ei)
    }

    /// What capturing `ei` for nothing would add: the weight of its CEI less the costs of the cheapest others
    /// it needs, compared with the same without `ei`.
    pub(super) fn bid(&self, ei: u32) -> f64 {
        let cei = self.ledger.eis[ei as usize].cei;
        let (left, weight) =
            (self.ledger.ceis[cei as usize].left as usize, self.ledger.ceis[cei as usize].weight);
        let is_possible = |other: u32| self.ledger.is_open(other) || self.ledger.is_probing(other);
        let others = self.ledger.members(cei).filter(|&other| other != ei && is_possible(other));
        if self.ledger.count_possible(cei) == left {
            return (weight - others.map(|other| self.cost(other)).sum::<f64>()).max(0.0);
        }
        let mut costs: Vec<f64> = others.map(|other| self.cost(other)).collect();
        costs.sort_unstable_by(f64::total_cmp);
        difference(weight, left, &costs)
    }

    /// The bids of all open intervals of a CEI, whose costs are taken once.
    fn bids(&self, cei: u32) -> Vec<(u32, f64)> {
        let (left, weight) =
            (self.ledger.ceis[cei as usize].left as usize, self.ledger.ceis[cei as usize].weight);
        let mut by_cost: Vec<(f64, u32)> = self
            .ledger
            .members(cei)
            .filter(|&ei| self.ledger.is_open(ei) || self.ledger.is_probing(ei))
            .map(|ei| (self.cost(ei), ei))
            .collect();
        by_cost.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Without one of the cheapest, the next one takes its place among them.
        let sum_of = |n: usize| by_cost.iter().take(n).map(|entry| entry.0).sum::<f64>();
        let (before, cheapest, further) = (sum_of(left.saturating_sub(1)), sum_of(left), sum_of(left + 1));
        let bid = |(rank, &(cost, ei)): (usize, &(f64, u32))| {
            let with = if rank < left { cheapest - cost } else { before };
            let without = if rank <= left { further - cost } else { cheapest };
            let without = if by_cost.len() > left { without } else { f64::INFINITY };
            (ei, (gain(weight, with) - gain(weight, without)).max(0.0))
        };
        by_cost.iter().enumerate().map(bid).collect()
    }

    pub(super) fn set_value(&mut self, job: u32, value: f64) {
        self.timetable.jobs.get_mut(job).value = value;
        if value <= ROUNDING {
            self.doubtful.push(job);
        }
        self.timetable.slots.revalued(&self.timetable.jobs, job);
    }

    /// Something about `ei` changed what the other intervals of its CEI are worth: brings their bids up to
    /// date.
    pub(super) fn refresh_others(&mut self, ei: u32) {
        let cei = self.ledger.eis[ei as usize].cei;
        let members = self.ledger.members(cei);
        if members.len() > LARGE {
            for (other, bid) in self.bids(cei) {
                self.set_bid_of_other(ei, other, bid);
            }
            return;
        }
        for other in members {
            if other != ei && self.ledger.eis[other as usize].job != NONE {
                let bid = self.bid(other);
                self.set_bid_of_other(ei, other, bid);
            }
        }
    }

    fn set_bid_of_other(&mut self, ei: u32, other: u32, bid: f64) {
        let record = &mut self.ledger.eis[other as usize];
        let (job, old, new) = (record.job, record.bid, bid as f32);
        if other != ei && job != NONE && new != old {
            record.bid = new;
            let value = self.timetable.jobs.get(job).value + f64::from(new - old);
            self.set_value(job, value);
        }
    }

    /// The value of a job as it is now: the price and the sharers drift.
    pub(super) fn revalue(&mut self, job: u32) -> f64 {
        let n_eis = self.timetable.jobs.get(job).eis.len();
        if n_eis <= MAX_CONSIDERED {
            let mut value = 0.0;
            for position in 0..n_eis {
                let ei = self.timetable.jobs.get(job).eis[position];
                let bid = self.bid(ei) as f32;
                self.ledger.eis[ei as usize].bid = bid;
                value += f64::from(bid);
            }
            if value != self.timetable.jobs.get(job).value {
                self.set_value(job, value);
            }
        }
        self.timetable.jobs.get(job).value
    }
}

/// What a CEI is worth that has `left` intervals to go and gets one of them for nothing, less what it is
/// worth without that one. `costs` are those of the others, in order.
fn difference(weight: f64, left: usize, costs: &[f64]) -> f64 {
    if costs.len() + 1 < left {
        return 0.0;
    }
    let with = weight - costs[..left - 1].iter().sum::<f64>();
    let without = if costs.len() >= left { with - costs[left - 1] } else { 0.0 };
    with.max(0.0) - without.max(0.0)
}

fn gain(weight: f64, cost: f64) -> f64 {
    if cost < weight { weight - cost } else { 0.0 }
}
