//! WIC by evaluating every source in every chronon. Shares the arithmetic of values with the fast policy
//! (that arithmetic is checked against the definition elsewhere) and none of its bookkeeping.

use dunlin_core::{Allowance, Chronon, Costs, Observation, Outcome, SourceIdx};

use crate::policy::{Arrival, Policy};
use crate::value::scaled::Scaled;
use crate::value::{Growth, PendingUtility, ValueModel};

/// WIC without heaps.
#[derive(Debug, Clone)]
pub struct PlainWic {
    sources: Vec<(ValueModel, PendingUtility)>,
    costs: Costs,
}

impl PlainWic {
    /// WIC over sources with a model each, and costs.
    pub fn new(models: &[ValueModel], costs: &Costs) -> Self {
        let per_cost = |(source, model): (SourceIdx, &ValueModel)| {
            (ValueModel { weight: model.weight / costs.of(source), ..*model }, PendingUtility::EMPTY)
        };
        let sources = (0..).map(SourceIdx).zip(models).map(per_cost).collect();
        Self { sources, costs: costs.clone() }
    }
}

impl Policy for PlainWic {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        if let Arrival::Change { source, probability } = arrival {
            let (model, pending_utility) = &mut self.sources[source.index()];
            pending_utility.expect(model, now, probability);
        }
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        // Values of one decay factor are ordered by what they were worth at chronon 0, those of different
        // factors by what they are worth now; taking the best again and again needs no common order.
        let mut candidates: Vec<(Scaled, f64, SourceIdx)> = Vec::new();
        for (source, (model, pending_utility)) in (0..).map(SourceIdx).zip(&self.sources) {
            let ratio = model.urgency.common_ratio().unwrap_or(1.0);
            if pending_utility.value(model, now) > 0.0 {
                candidates.push((pending_utility.key(model, now, &mut Growth::new(ratio)), ratio, source));
            }
        }
        loop {
            let better = |a: &(Scaled, f64, SourceIdx), b: &(Scaled, f64, SourceIdx)| {
                let worth = |c: &(Scaled, f64, SourceIdx)| {
                    if a.1 == b.1 { c.0 } else { c.0.times(Scaled::new(c.1).power(now.get())) }
                };
                worth(a) > worth(b) || (worth(a) == worth(b) && a.2 < b.2)
            };
            let fitting = (0..candidates.len()).filter(|&i| allowance.fits(self.costs.of(candidates[i].2)));
            let best = fitting.reduce(|a, b| if better(&candidates[b], &candidates[a]) { b } else { a });
            let Some(best) = best else { break };
            let (_, _, source) = candidates.swap_remove(best);
            allowance.spend(self.costs.of(source));
            chosen.push(source);
        }
    }

    fn observe(&mut self, observation: Observation) {
        if observation.outcome == Outcome::Read {
            self.sources[observation.source.index()].1 = PendingUtility::EMPTY;
        }
    }
}
