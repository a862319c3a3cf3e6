//! Following a plan made beforehand. It learns nothing and repeats nothing: what did not fit or failed is not
//! tried again.

use dunlin_core::{Allowance, Chronon, Costs, Observation, Probe, Schedule, SourceIdx};

use super::{Arrival, Policy};

/// Probes what a schedule says, as far as the allowance goes.
#[derive(Debug, Clone)]
pub struct PlanFollower {
    probes: Vec<Probe>,
    next: usize,
    costs: Costs,
}

impl PlanFollower {
    /// A policy that follows `plan`.
    pub fn new(plan: &Schedule, costs: Costs) -> Self {
        Self { probes: plan.probes().to_vec(), next: 0, costs }
    }
}

impl Policy for PlanFollower {
    fn arrive(&mut self, _now: Chronon, _arrival: Arrival<'_>) {}

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        while let Some(probe) = self.probes.get(self.next).filter(|probe| probe.chronon <= now) {
            if probe.chronon == now && allowance.spend(self.costs.of(probe.source)) {
                chosen.push(probe.source);
            }
            self.next += 1;
        }
    }

    fn observe(&mut self, _observation: Observation) {}
}
