//! S-EDF, MRSF and M-EDF by valuing and sorting every candidate in every chronon.

use dunlin_core::{Allowance, Cei, Chronon, Costs, ExecutionInterval, Observation, Outcome, SourceIdx};

use crate::policy::{Arrival, Order, Policy, Preemption};

/// One of the papers' policies, without heaps.
#[derive(Debug, Clone)]
pub struct PlainRanked {
    order: Order,
    preemption: Preemption,
    costs: Costs,
    ceis: Vec<CeiProgress>,
    /// Sources read in the chronon before, whose intervals are captured when the next one begins.
    read: Vec<Option<Chronon>>,
}

/// A CEI that is neither captured nor lost.
#[derive(Debug, Clone)]
struct CeiProgress {
    idx: u32,
    need: u32,
    captured: u32,
    rank: u32,
    /// Its intervals by line; a captured one is `None`.
    intervals: Vec<Option<ExecutionInterval>>,
}

impl CeiProgress {
    fn value(&self, order: Order, own: &ExecutionInterval, now: Chronon) -> u64 {
        let left = |interval: &ExecutionInterval| u64::from(interval.finish().since(now)) + 1;
        match order {
            Order::SEdf => left(own),
            Order::Mrsf => u64::from(self.rank - self.captured),
            Order::MEdf => {
                let remaining = self.intervals.iter().flatten().filter(|interval| interval.finish() >= now);
                remaining
                    .map(
                        |interval| {
                            if interval.start() <= now { left(interval) } else { u64::from(interval.width()) }
                        },
                    )
                    .sum()
            }
        }
    }

    fn can_be_captured(&self, now: Chronon) -> bool {
        let left = self.intervals.iter().flatten().filter(|interval| interval.finish() >= now).count();
        self.captured < self.need && self.captured as usize + left >= self.need as usize
    }
}

impl PlainRanked {
    /// Single-interval earliest deadline first.
    pub const fn s_edf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::SEdf, preemption, costs)
    }

    /// Minimal residual stub first.
    pub const fn mrsf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::Mrsf, preemption, costs)
    }

    /// Multi-interval earliest deadline first.
    pub const fn m_edf(preemption: Preemption, costs: Costs) -> Self {
        Self::new(Order::MEdf, preemption, costs)
    }

    const fn new(order: Order, preemption: Preemption, costs: Costs) -> Self {
        Self { order, preemption, costs, ceis: Vec::new(), read: Vec::new() }
    }

    /// Captures what the last probes saw and drops what is captured or lost.
    fn settle(&mut self, now: Chronon) {
        let read = &self.read;
        for cei in &mut self.ceis {
            for slot in &mut cei.intervals {
                let seen = slot.is_some_and(|interval| {
                    read.get(interval.source().index())
                        .copied()
                        .flatten()
                        .is_some_and(|at| interval.covers(at))
                });
                if seen {
                    *slot = None;
                    cei.captured += 1;
                }
            }
        }
        self.ceis.retain(|cei| cei.can_be_captured(now));
        self.read.clear();
    }
}

impl Policy for PlainRanked {
    fn arrive(&mut self, _now: Chronon, arrival: Arrival<'_>) {
        if let Arrival::Cei(Cei { idx, intervals, need, profile_rank, .. }) = arrival {
            let intervals = intervals.iter().copied().map(Some).collect();
            self.ceis.push(CeiProgress { idx: idx.0, need, captured: 0, rank: profile_rank, intervals });
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        self.settle(now);
        let mut candidates = Vec::new();
        for cei in &self.ceis {
            let last = self.preemption == Preemption::NonPreemptive && cei.captured == 0;
            for (line, interval) in (0u32..).zip(&cei.intervals) {
                if let Some(interval) = interval.filter(|interval| interval.covers(now)) {
                    let value = cei.value(self.order, &interval, now);
                    candidates.push((last, value, interval.finish(), cei.idx, line, interval.source()));
                }
            }
        }
        candidates.sort_unstable();
        let most = candidates.iter().map(|candidate| candidate.5.index() + 1).max().unwrap_or(0);
        let mut is_chosen = vec![false; most];
        for (.., source) in candidates {
            if !allowance.fits(self.costs.least()) {
                break;
            }
            if !is_chosen[source.index()] && allowance.spend(self.costs.of(source)) {
                is_chosen[source.index()] = true;
                chosen.push(source);
            }
        }
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            let source = observation.source.index();
            if self.read.len() <= source {
                self.read.resize(source + 1, None);
            }
            self.read[source] = Some(observation.at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 4: a CEI of four intervals, none captured. The first is open with 5 chronons left, the others
    /// are to come and 6, 4 and 7 chronons wide.
    #[test]
    fn figure_4_values_one_cei_three_ways() {
        let at = |number| Chronon::new(number).unwrap();
        let interval =
            |source, start, finish| ExecutionInterval::new(SourceIdx(source), at(start), at(finish)).ok();
        let intervals =
            vec![interval(0, 8, 14), interval(1, 16, 21), interval(2, 20, 23), interval(3, 30, 36)];
        let cei = CeiProgress { idx: 0, need: 4, captured: 0, rank: 4, intervals };
        let first = cei.intervals[0].unwrap();
        let value = |order| cei.value(order, &first, at(10));
        assert_eq!([value(Order::SEdf), value(Order::Mrsf), value(Order::MEdf)], [5, 4, 22]);
    }
}
