//! Random: sources drawn without looking. Shows what a policy's knowledge is worth.

use dunlin_core::{Allowance, Chronon, Costs, Observation, SourceIdx};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arrival, Policy};

/// Probes distinct sources drawn uniformly in every chronon.
#[derive(Debug, Clone)]
pub struct Random {
    /// A permutation of all sources; each chronon draws from its front.
    sources: Vec<SourceIdx>,
    costs: Costs,
    rng: ChaCha8Rng,
}

impl Random {
    /// Random draws over the sources 0 to `n_sources`, reproducible by seed.
    pub fn new(n_sources: u32, costs: Costs, seed: u64) -> Self {
        Self { sources: (0..n_sources).map(SourceIdx).collect(), costs, rng: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Policy for Random {
    fn arrive(&mut self, _now: Chronon, _arrival: Arrival<'_>) {}

    fn choose(&mut self, _now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        // A partial Fisher–Yates shuffle: as many draws as there are probes, and none twice.
        for drawn in 0..self.sources.len() {
            if !allowance.fits(self.costs.least()) {
                break;
            }
            let other = self.rng.random_range(drawn..self.sources.len());
            self.sources.swap(drawn, other);
            let source = self.sources[drawn];
            if allowance.spend(self.costs.of(source)) {
                chosen.push(source);
            }
        }
    }

    fn observe(&mut self, _observation: Observation) {}
}
