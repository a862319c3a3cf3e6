//! WIC for complex needs by counting every source's visible updates in every chronon.

use std::collections::BTreeMap;

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use crate::policy::{Arrival, Policy};

/// WIC over updates, without heaps.
#[derive(Debug, Clone)]
pub struct PlainUpdateWic {
    costs: Costs,
    /// The last chronon at which each update can be seen.
    until: BTreeMap<(SourceIdx, Chronon), Chronon>,
}

impl PlainUpdateWic {
    /// WIC with these costs.
    pub const fn new(costs: Costs) -> Self {
        Self { costs, until: BTreeMap::new() }
    }
}

impl Policy for PlainUpdateWic {
    fn arrive(&mut self, _now: Chronon, arrival: Arrival<'_>) {
        if let Arrival::Cei(cei) = arrival {
            for interval in cei.intervals {
                let until =
                    self.until.entry((interval.source(), interval.start())).or_insert(interval.finish());
                *until = (*until).max(interval.finish());
            }
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        let mut visible: BTreeMap<SourceIdx, f64> = BTreeMap::new();
        for (&(source, start), &until) in &self.until {
            if start <= now && now <= until {
                *visible.entry(source).or_default() += 1.0;
            }
        }
        let per_cost = |(source, count): (SourceIdx, f64)| (count / self.costs.of(source), source);
        let mut ranked: Vec<_> = visible.into_iter().map(per_cost).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, source) in ranked {
            if allowance.spend(self.costs.of(source)) {
                chosen.push(source);
            }
        }
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.until.retain(|&(source, start), _| source != observation.source || start > observation.at);
        }
    }
}
