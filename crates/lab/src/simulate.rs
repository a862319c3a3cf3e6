//! One policy on one workload or trace, scored by the one evaluator. Reads and prints nothing.

use std::time::Instant;

use dunlin_core::{Budget, Changes, Chronon, Costs, ExecutionInterval, Need, Schedule, Workload};
use dunlin_sched::epoch;
use dunlin_sched::policy::{Arrival, Policy};
use dunlin_sched::score::{IntervalScore, TraceScore, score_intervals, score_trace};
use dunlin_sched::value::{Life, ValueModel};

use crate::Error;
use crate::knowledge::ChangeProbabilities;
use crate::policies::PolicyChoice;

/// What every simulation needs to know besides its input.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Which policy.
    pub policy: PolicyChoice,
    /// What it may spend.
    pub budget: Budget,
    /// What a probe costs.
    pub costs: Costs,
    /// Length of the epoch.
    pub chronons: u32,
    /// For policies that draw.
    pub seed: u64,
}

/// A finished simulation.
#[derive(Debug, Clone)]
pub struct Run<Score> {
    /// What was probed when.
    pub schedule: Schedule,
    /// What it was worth.
    pub score: Score,
    /// How long the policy took, without reading and scoring.
    pub seconds: f64,
}

/// Runs a policy on needs. `on_chronon` is called as each chronon begins, for progress bars.
pub fn intervals(
    workload: &Workload,
    n_sources: usize,
    setup: &Setup,
    on_chronon: impl FnMut(Chronon),
) -> Result<Run<IntervalScore>, Error> {
    let n_sources = n_sources.max(workload.n_sources());
    let mut policy = setup.policy.for_needs(n_sources, &setup.budget, &setup.costs, setup.seed)?;
    let (schedule, seconds) = run_needs(&mut *policy, workload, setup, on_chronon);
    Ok(Run { score: score_intervals(workload, &schedule), schedule, seconds })
}

/// Runs a policy on changes that it knows only through `knowledge`; policies that want
/// needs get every change as certain, so `knowledge` should be exact for them.
pub fn trace(
    changes: &Changes,
    knowledge: &ChangeProbabilities,
    model: ValueModel,
    setup: &Setup,
    mut on_chronon: impl FnMut(Chronon),
) -> Result<Run<TraceScore>, Error> {
    let begin = Instant::now();
    let mut policy = setup.policy.for_changes(model, changes.n_sources(), setup, knowledge)?;
    let (schedule, seconds) = if setup.policy.name.wants_needs() {
        run_needs(&mut *policy, &needs(changes, model), setup, on_chronon)
    } else {
        let schedule = epoch::run(&mut *policy, setup.chronons, &setup.budget, |now, policy| {
            on_chronon(now);
            for &(source, probability) in knowledge.at(now) {
                policy.arrive(now, Arrival::Change { source, probability });
            }
        });
        (schedule, begin.elapsed().as_secs_f64())
    };
    Ok(Run { score: score_trace(changes, &schedule, |_| model), schedule, seconds })
}

fn run_needs(
    policy: &mut dyn Policy,
    workload: &Workload,
    setup: &Setup,
    on_chronon: impl FnMut(Chronon),
) -> (Schedule, f64) {
    let begin = Instant::now();
    let schedule = epoch::run_workload(policy, workload, setup.chronons, &setup.budget, on_chronon);
    (schedule, begin.elapsed().as_secs_f64())
}

/// Every change as a need of its own: worth getting as long as it is visible and not worthless.
fn needs(changes: &Changes, model: ValueModel) -> Workload {
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for (source, own) in changes.by_source() {
        for (i, &change) in own.iter().enumerate() {
            let interval =
                ExecutionInterval::new(source, change, until(&model, change, &own[i + 1..], changes))
                    .and_then(|interval| workload.push(profile, &[interval], Need::All, model.weight));
            debug_assert!(interval.is_ok(), "a change ends after it begins");
        }
    }
    workload
}

/// The last chronon at which a change is still there and worth something.
fn until(model: &ValueModel, change: Chronon, later: &[Chronon], changes: &Changes) -> Chronon {
    let end = Chronon::new(changes.chronons()).unwrap_or(Chronon::FIRST);
    let removed = |nth: usize| later.get(nth).map_or(end, |&at| change.plus(at.since(change) - 1));
    let visible = match model.life {
        Life::Append | Life::Window(_) => end,
        Life::Changes(z) => removed(z as usize - 1),
        Life::Overwrite => removed(0),
    };
    let worth = model.horizon().map_or(end, |horizon| change.plus(horizon - 1));
    visible.min(worth).min(end)
}
