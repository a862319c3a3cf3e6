//! How many probes each source gets in an epoch when its forecast is a rate, not a list of instants.
//!
//! Of k probes that cut the epoch's expected changes L into equal parts, each finds something new with the chance
//! f(L/k); f(x) = 1 − (1 + x/a)^−a is the chance of any change where x are expected, over all rates that the evidence
//! a leaves possible (1 − e^−x for a rate that is known). The first probe also finds what the source has done since
//! it was last seen, if more changes p are expected of that time than of the epoch. Times the weight W:
//!
//! ```text
//! gain(k) = W · (f(max(p, L)) − f(L) + k·f(L/k))
//! ```
//!
//! k·f(L/k) is concave in k, because f is concave and f(0) = 0, so the next probe never brings more than the one
//! before: giving each probe to the source that gains most by it is the best sharing there is, also with a limit on the probes
//! of each host. Says nothing about when to probe within the epoch.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What one source may gain by probes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeDemand {
    /// W: what a change of it is worth; 0 or more.
    pub weight: f64,
    /// p: changes expected since it was last seen.
    pub pending: f64,
    /// L: changes expected in the epoch.
    pub expected: f64,
    /// a: changes' worth of evidence for both; above 0.
    pub evidence: f64,
    /// What a probe costs; above 0.
    pub cost: f64,
    /// Probes that it gets before gains are compared.
    pub least: u32,
    /// The most probes it may have.
    pub most: u32,
    /// Which of the limits for groups it counts against.
    pub group: u32,
}

impl ProbeDemand {
    /// The chance of any change where so many are expected.
    pub fn chance(&self, changes: f64) -> f64 {
        -(-self.evidence * (changes / self.evidence).ln_1p()).exp_m1()
    }

    /// What so many probes find, by weight.
    pub fn gain(&self, probes: u32) -> f64 {
        if probes == 0 {
            return 0.0;
        }
        let waiting = self.chance(self.pending.max(self.expected)) - self.chance(self.expected);
        let count = f64::from(probes);
        self.weight * (waiting + count * self.chance(self.expected / count))
    }

    /// What one probe more than so many finds, per unit of cost.
    pub fn next_gain(&self, probes: u32) -> f64 {
        (self.gain(probes.saturating_add(1)) - self.gain(probes)).max(0.0) / self.cost
    }

    /// How many probes gain at least so much each, per unit of cost.
    pub fn worth_at(&self, price: f64) -> u32 {
        let is_worth = |probes: u32| {
            let gain = self.next_gain(probes);
            gain > 0.0 && gain >= price
        };
        let (mut low, mut high) = (0, self.most);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_worth(middle) { low = middle + 1 } else { high = middle }
        }
        low.max(self.least.min(self.most))
    }
}

/// Probes being shared out, step by step.
#[derive(Debug, Clone)]
pub struct Sharing {
    demands: Vec<ProbeDemand>,
    shares: Vec<u32>,
    /// Which source would gain how much by the next probe; of equals, the lower position is greater.
    heap: BinaryHeap<(OrderedGain, Reverse<usize>)>,
    left: f64,
    /// What is left for each group; groups beyond have no limit.
    groups: Vec<f64>,
    price: f64,
}

impl Sharing {
    /// Shares probes that cost `budget` in all, and in each group at most what `groups` has for it.
    pub const fn new(budget: f64, groups: Vec<f64>) -> Self {
        Self {
            demands: Vec::new(),
            shares: Vec::new(),
            heap: BinaryHeap::new(),
            left: budget,
            groups,
            price: 0.0,
        }
    }

    /// One more to share among. Its least is taken at once, so all come before [`go_on`](Self::go_on).
    pub fn add(&mut self, demand: ProbeDemand) {
        let position = self.demands.len();
        let least = demand.least.min(demand.most);
        let share = (0..least).take_while(|_| self.pay(&demand)).count() as u32;
        self.demands.push(demand);
        self.shares.push(share);
        self.heap.extend(self.entry(position));
    }

    fn entry(&self, position: usize) -> Option<(OrderedGain, Reverse<usize>)> {
        let (demand, share) = (&self.demands[position], self.shares[position]);
        let gain = demand.next_gain(share);
        (share < demand.most && gain > 0.0).then_some((OrderedGain(gain), Reverse(position)))
    }

    fn is_affordable(&self, demand: &ProbeDemand) -> bool {
        self.left + 1e-9 >= demand.cost
    }

    /// Takes the cost of a probe, if that is left for all and for the group.
    fn pay(&mut self, demand: &ProbeDemand) -> bool {
        let is_affordable = self.is_affordable(demand);
        let of_group = self.groups.get_mut(demand.group as usize);
        if !is_affordable || of_group.as_ref().is_some_and(|left| **left + 1e-9 < demand.cost) {
            return false;
        }
        self.left -= demand.cost;
        of_group.into_iter().for_each(|left| *left -= demand.cost);
        true
    }

    /// Gives out at most so many probes more. `Some` with what is left of `steps` once all is shared.
    pub fn go_on(&mut self, steps: usize) -> Option<usize> {
        for step in 0..steps {
            let Some((OrderedGain(gain), Reverse(position))) = self.heap.pop() else {
                return Some(steps - step);
            };
            let demand = self.demands[position];
            if !self.is_affordable(&demand) {
                self.price = self.price.max(gain);
                continue;
            }
            if !self.pay(&demand) {
                continue;
            }
            self.shares[position] += 1;
            self.heap.extend(self.entry(position));
        }
        self.heap.is_empty().then_some(0)
    }

    /// What is shared among.
    pub fn demands(&self) -> &[ProbeDemand] {
        &self.demands
    }

    /// The probes of each source so far, in the order of the demands.
    pub fn shares(&self) -> &[u32] {
        &self.shares
    }

    /// What the best probe that was too much for the budget would have gained, per unit of cost; 0 if none was.
    pub const fn price(&self) -> f64 {
        self.price
    }
}

/// A finite number with the order of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedGain(f64);

impl Eq for OrderedGain {}

impl Ord for OrderedGain {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for OrderedGain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
