//! CAM in the lab: plans for a simulated epoch, and the experiment that shows what allocation is worth. What is
//! planned, and how, is decided by the scheduling library.

use std::collections::BTreeMap;

use dunlin_core::{Budget, Chronon, Meter, Probe, Schedule, SourceIdx};
use dunlin_sched::plan::cam::{
    self, Allocation, Expected, UpdateForecast, allocate, assign, assign_greedily,
};
use dunlin_sched::score::score_trace;
use dunlin_sched::value::{Life, Urgency, ValueModel};
use rayon::prelude::*;

use crate::Error;
use crate::generate::Tracked;
use crate::knowledge::ChangeProbabilities;
use crate::sweep::Spread;

/// CAM plans one epoch after the other; a day of minutes each.
pub const EPOCH: u32 = 1_440;

/// The probes that CAM plans for `chronons` chronons of which `knowledge` is known, one epoch after the other.
/// Source i weighs `weights[i]`; probes are taken to cost 1.
pub fn plan(
    knowledge: &ChangeProbabilities,
    weights: &[f64],
    budget: &Budget,
    chronons: u32,
) -> Result<Schedule, Error> {
    let mut meter = budget.meter();
    let mut probes: Vec<Probe> = Vec::new();
    let mut entries = knowledge.iter().peekable();
    for begin in (0..chronons).step_by(EPOCH as usize) {
        let length = EPOCH.min(chronons - begin);
        let within = (begin + 1..=begin + length).filter_map(Chronon::new);
        let room: Vec<u32> = within.map(|now| spend_all(&mut meter, now, weights.len())).collect();
        let mut expected: BTreeMap<SourceIdx, Vec<Expected>> = BTreeMap::new();
        while let Some((at, source, probability)) = entries.next_if(|(at, ..)| at.get() <= begin + length) {
            if let Some(at) = Chronon::new(at.get() - begin) {
                expected.entry(source).or_default().push(Expected { at, probability });
            }
        }
        // Most sources are silent in most epochs: only the others are numbered.
        let active: Vec<SourceIdx> = expected.keys().copied().collect();
        let weight = |source: SourceIdx| weights.get(source.index()).copied().unwrap_or(0.0);
        let sources = expected.into_iter().map(|(source, own)| (weight(source), own)).collect();
        let forecast = UpdateForecast::new(length, sources)?;
        let planned = cam::plan(&forecast, forecast.n_instants(), &room);
        probes.extend(
            planned.probes().iter().map(|probe| Probe {
                chronon: probe.chronon.plus(begin),
                source: active[probe.source.index()],
            }),
        );
    }
    Ok(Schedule::from_probes(probes))
}

/// How many probes fit into a chronon when all before did, up to one of each source. One that has spent less
/// may spend as much.
fn spend_all(meter: &mut Meter<'_>, now: Chronon, n_sources: usize) -> u32 {
    let mut allowance = meter.open(now);
    let mut spent = 0u32;
    while (spent as usize) < n_sources && allowance.spend(1.0) {
        spent += 1;
    }
    meter.close(now, &allowance);
    spent
}

/// The papers' headline: with probes for a small share of the instants at which something may change, how much of
/// the weighted changed information is returned.
#[derive(Debug, Clone)]
pub struct Headline {
    /// What is watched.
    pub pages: Tracked,
    /// Probes, as a share of the instants.
    pub share: f64,
    /// How many probes fit into a chronon.
    pub room: u32,
    /// The seeds; one epoch each.
    pub seeds: Vec<u64>,
}

/// How one way to spend the probes did over all seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// Which way.
    pub name: &'static str,
    /// Weight of the changes returned as a share of the weight of all: mean over seeds, and its standard deviation.
    pub weight: Spread,
    /// The same without weights.
    pub changes: Spread,
    /// Probes made, per seed on average.
    pub probes: f64,
}

type Times = fn(&[cam::Task], &[u32]) -> Vec<Option<Chronon>>;

/// The ways that are compared: how probes are allocated, and how they are given times.
const WAYS: [(&str, Allocation, Times); 4] = [
    ("uniform", Allocation::Uniform, assign),
    ("proportional", Allocation::Proportional, assign),
    ("cam, greedy times", Allocation::Optimal, assign_greedily),
    ("cam", Allocation::Optimal, assign),
];

impl Headline {
    /// Runs every way on every seed. The result does not depend on the number of threads.
    pub fn run(&self) -> Result<Vec<Returned>, Error> {
        if !(0.0..=1.0).contains(&self.share) {
            return Err(Error::parameter("share of instants probed", &self.share, "a number from 0 to 1"));
        }
        let samples: Vec<Vec<[f64; 3]>> =
            self.seeds.par_iter().map(|&seed| self.run_seed(seed)).collect::<Result<_, _>>()?;
        let of_way = |(i, &(name, ..)): (usize, &(&'static str, Allocation, Times))| {
            let figures = |figure: usize| samples.iter().map(|ways| ways[i][figure]).collect::<Vec<_>>();
            Returned {
                name,
                weight: Spread::of(&figures(0)),
                changes: Spread::of(&figures(1)),
                probes: Spread::of(&figures(2)).mean,
            }
        };
        Ok(WAYS.iter().enumerate().map(of_way).collect())
    }

    /// Share of weight, share of changes and probes, for each way.
    fn run_seed(&self, seed: u64) -> Result<Vec<[f64; 3]>, Error> {
        let (forecast, changes) = self.pages.generate(seed)?;
        let wanted = self.share * forecast.n_instants() as f64;
        #[expect(clippy::cast_sign_loss, reason = "a share from 0 to 1 of a count")]
        let probes = wanted.round() as usize;
        let room = vec![self.room; forecast.chronons() as usize];
        let weights: Vec<f64> = forecast.by_source().map(|(_, weight, _)| weight).collect();
        let total: f64 =
            changes.by_source().map(|(source, own)| weights[source.index()] * own.len() as f64).sum();
        let of_way = |&(_, allocation, times): &(&str, Allocation, Times)| {
            let tasks = allocate(&forecast, probes, allocation);
            let schedule = cam::schedule(&tasks, &times(&tasks, &room));
            let model = |source: SourceIdx| ValueModel {
                life: Life::Overwrite,
                urgency: Urgency::Uniform,
                weight: weights[source.index()],
            };
            let score = score_trace(&changes, &schedule, model);
            let weight = if total > 0.0 { score.utility * score.changes as f64 / total } else { 1.0 };
            [weight, score.completeness, score.probes as f64]
        };
        Ok(WAYS.iter().map(of_way).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunlin_core::Costs;
    use dunlin_sched::score::check_budget;

    #[test]
    fn plans_keep_to_fractional_budgets_over_several_epochs() {
        let every_third = (1..=2 * EPOCH + 100).step_by(3).filter_map(Chronon::new);
        let entries = every_third.map(|at| (at, SourceIdx(at.get() % 5), 0.5)).collect();
        let knowledge = ChangeProbabilities::from_entries(entries);
        let budget = Budget::constant(0.25).unwrap();
        let chronons = 2 * EPOCH + 100;
        let planned = plan(&knowledge, &[1.0; 5], &budget, chronons).unwrap();
        check_budget(&planned, &budget, &Costs::uniform(), chronons).unwrap();
        assert_eq!(planned.probes().len(), 745, "every probe there is finds something to do");
    }
}
