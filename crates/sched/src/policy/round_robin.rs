//! Round-robin: every source in turn, whatever is known of it. The baseline: what most monitors do.

use dunlin_core::{Allowance, Chronon, Costs, Observation, SourceIdx};

use super::{Arrival, Policy};

/// Probes the sources in order of index, over and over.
#[derive(Debug, Clone)]
pub struct RoundRobin {
    n_sources: u32,
    next: u32,
    costs: Costs,
}

impl RoundRobin {
    /// Round-robin over the sources 0 to `n_sources`.
    pub const fn new(n_sources: u32, costs: Costs) -> Self {
        Self { n_sources, next: 0, costs }
    }
}

impl Policy for RoundRobin {
    fn arrive(&mut self, _now: Chronon, _arrival: Arrival<'_>) {}

    fn choose(&mut self, _now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        // A source that does not fit loses its turn; otherwise one that never fits would block the rest.
        for _ in 0..self.n_sources {
            if !allowance.fits(self.costs.least()) {
                break;
            }
            let source = SourceIdx(self.next);
            self.next = (self.next + 1) % self.n_sources;
            if allowance.spend(self.costs.of(source)) {
                chosen.push(source);
            }
        }
    }

    fn observe(&mut self, _observation: Observation) {}
}
