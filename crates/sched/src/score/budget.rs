//! Whether a schedule keeps to its budget.

use dunlin_core::{Budget, Chronon, Costs, Probe, Schedule};

/// The first probe that the budget did not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("budget broken at chronon {}: a probe costing {cost} with {left} left", .probe.chronon)]
pub struct Overspent {
    /// The probe.
    pub probe: Probe,
    /// What it costs.
    pub cost: f64,
    /// What was left when it was made.
    pub left: f64,
}

/// Replays a schedule against the meter that policies are held to, over chronons 1 to `chronons`.
pub fn check_budget(
    schedule: &Schedule,
    budget: &Budget,
    costs: &Costs,
    chronons: u32,
) -> Result<(), Overspent> {
    let mut meter = budget.meter();
    let mut probes = schedule.probes();
    for now in Chronon::first(chronons) {
        let mut allowance = meter.open(now);
        while let Some((probe, rest)) = probes.split_first().filter(|(probe, _)| probe.chronon == now) {
            let cost = costs.of(probe.source);
            if !allowance.spend(cost) {
                return Err(Overspent { probe: *probe, cost, left: allowance.left() });
            }
            probes = rest;
        }
        meter.close(now, &allowance);
    }
    match probes.first() {
        None => Ok(()),
        Some(probe) => Err(Overspent { probe: *probe, cost: costs.of(probe.source), left: 0.0 }),
    }
}
