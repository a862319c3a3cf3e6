//! What a probe of each source costs, in units of the budget.

use crate::{Error, SourceIdx};

/// Probe costs; 1 for every source by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// Costs of the sources named so far; those beyond the end cost 1.
    by_source: Vec<f64>,
    least: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self::uniform()
    }
}

impl Costs {
    /// Every probe costs 1.
    pub const fn uniform() -> Self {
        Self { by_source: Vec::new(), least: 1.0 }
    }

    /// Costs by source index; sources beyond the list cost 1.
    pub fn per_source(by_source: Vec<f64>) -> Result<Self, Error> {
        if let Some(&bad) = by_source.iter().find(|cost| !cost.is_finite() || **cost <= 0.0) {
            return Err(Error::BadCost(bad));
        }
        let least = by_source.iter().copied().reduce(f64::min).unwrap_or(1.0);
        Ok(Self { by_source, least })
    }

    /// Another cost for one source. An invalid one counts as 1.
    pub fn set(&mut self, source: SourceIdx, cost: f64) {
        let cost = if cost.is_finite() && cost > 0.0 { cost } else { 1.0 };
        if self.by_source.len() <= source.index() {
            self.by_source.resize(source.index() + 1, 1.0);
        }
        self.by_source[source.index()] = cost;
        self.least = self.least.min(cost);
    }

    /// Cost of one probe of `source`.
    pub fn of(&self, source: SourceIdx) -> f64 {
        self.by_source.get(source.index()).copied().unwrap_or(1.0)
    }

    /// No probe of a source listed is cheaper than this.
    pub const fn least(&self) -> f64 {
        self.least
    }

    /// Whether every probe costs 1.
    pub fn is_uniform(&self) -> bool {
        self.by_source.iter().all(|&cost| cost == 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_costs_something() {
        for bad in [0.0, -0.0, -1.0, f64::INFINITY] {
            assert_eq!(Costs::per_source(vec![1.0, bad]), Err(Error::BadCost(bad)));
        }
        assert_eq!(Costs::per_source(vec![0.5]).unwrap().of(SourceIdx(0)), 0.5);
    }

    #[test]
    fn the_least_cost_is_known_however_costs_came_to_be() {
        assert_eq!(Costs::uniform().least(), 1.0);
        assert_eq!(Costs::per_source(vec![3.0, 0.5, 2.0]).unwrap().least(), 0.5);
        let mut costs = Costs::uniform();
        costs.set(SourceIdx(2), 0.25);
        costs.set(SourceIdx(0), 3.0);
        assert_eq!([0, 1, 2, 3].map(|source| costs.of(SourceIdx(source))), [3.0, 1.0, 0.25, 1.0]);
        assert_eq!(costs.least(), 0.25);
    }
}
