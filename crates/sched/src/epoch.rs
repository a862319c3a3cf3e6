//! One epoch, chronon by chronon: announce what becomes known, let the policy choose, report the outcomes.
//! The loop that every simulation runs, with probes that always succeed. It does not score anything.

use dunlin_core::{Budget, Chronon, Observation, Outcome, Schedule, Workload};

use crate::policy::{Arrival, Policy};

/// Drives `policy` through chronons 1 to `chronons`. `announce` tells it what becomes known in each.
pub fn run<P: Policy + ?Sized>(
    policy: &mut P,
    chronons: u32,
    budget: &Budget,
    mut announce: impl FnMut(Chronon, &mut P),
) -> Schedule {
    let mut schedule = Schedule::new();
    let mut meter = budget.meter();
    let mut chosen = Vec::new();
    for now in Chronon::first(chronons) {
        announce(now, policy);
        let mut allowance = meter.open(now);
        policy.choose(now, &mut allowance, &mut chosen);
        meter.close(now, &allowance);
        for &source in &chosen {
            policy.observe(Observation { source, at: now, outcome: Outcome::Read });
        }
        schedule.extend(now, &chosen);
        chosen.clear();
    }
    schedule
}

/// Drives `policy` through a workload whose CEIs become known when their first interval starts.
/// `on_chronon` is called as each chronon begins.
pub fn run_workload<P: Policy + ?Sized>(
    policy: &mut P,
    workload: &Workload,
    chronons: u32,
    budget: &Budget,
    mut on_chronon: impl FnMut(Chronon),
) -> Schedule {
    let releases = workload.by_release();
    let mut releases = releases.as_slice();
    run(policy, chronons, budget, |now, policy| {
        on_chronon(now);
        while let Some((&(_, idx), rest)) = releases.split_first().filter(|((release, _), _)| *release <= now)
        {
            policy.arrive(now, Arrival::Cei(workload.cei(idx)));
            releases = rest;
        }
    })
}
