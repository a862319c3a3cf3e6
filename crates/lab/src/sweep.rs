//! Every policy on the same synthetic input, over many seeds, in parallel.

use dunlin_core::{Budget, Costs};
use dunlin_sched::policy::Preemption;
use rayon::prelude::*;

use crate::Error;
use crate::generate::{AuctionWatch, PoissonUpdates};
use crate::policies::{PolicyChoice, PolicyName};
use crate::simulate::{self, Setup};

/// A sweep over seeds of the auction-watching workload.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The profiles.
    pub profiles: AuctionWatch,
    /// The sources they watch.
    pub updates: PoissonUpdates,
    /// What may be spent.
    pub budget: Budget,
    /// The seeds; one workload each.
    pub seeds: Vec<u64>,
    /// The policies to compare.
    pub policies: Vec<PolicyChoice>,
}

/// How one policy did over all seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Which policy.
    pub policy: PolicyChoice,
    /// Gained completeness: mean over seeds, and its standard deviation.
    pub completeness: Spread,
    /// CEIs captured, per seed on average.
    pub captured: f64,
    /// CEIs there were, per seed on average.
    pub ceis: f64,
    /// Probes made, per seed on average.
    pub probes: f64,
}

/// A mean and the standard deviation around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for a single value.
    pub deviation: f64,
}

impl Spread {
    /// Mean and deviation of `values`.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, deviation: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
    }
}

/// Every policy for needs, in both variants where it has two.
pub fn every_policy() -> Vec<PolicyChoice> {
    let variants = |name: PolicyName| {
        let all = [Preemption::Preemptive, Preemption::NonPreemptive];
        let n_variants = if name.has_variants() { 2 } else { 1 };
        all.into_iter().take(n_variants).map(move |preemption| PolicyChoice { name, preemption })
    };
    PolicyName::ALL.into_iter().filter(|name| !name.wants_changes()).flat_map(variants).collect()
}

impl Sweep {
    /// Number of simulations this will run.
    pub fn n_runs(&self) -> usize {
        self.seeds.len() * self.policies.len()
    }

    /// Runs everything; `on_run` is called after each simulation, from any thread. The result does not
    /// depend on the number of threads.
    pub fn run(&self, on_run: impl Fn() + Sync) -> Result<Vec<Summary>, Error> {
        let per_seed: Vec<Vec<Sample>> =
            self.seeds.par_iter().map(|&seed| self.run_seed(seed, &on_run)).collect::<Result<_, _>>()?;
        let summary = |(i, &policy): (usize, &PolicyChoice)| {
            let samples: Vec<_> = per_seed.iter().map(|samples| &samples[i]).collect();
            let mean = |value: fn(&Sample) -> f64| {
                samples.iter().map(|sample| value(sample)).sum::<f64>() / samples.len() as f64
            };
            let completeness: Vec<_> = samples.iter().map(|sample| sample.completeness).collect();
            Summary {
                policy,
                completeness: Spread::of(&completeness),
                captured: mean(|sample| sample.captured),
                ceis: mean(|sample| sample.ceis),
                probes: mean(|sample| sample.probes),
            }
        };
        Ok(self.policies.iter().enumerate().map(summary).collect())
    }

    fn run_seed(&self, seed: u64, on_run: &(impl Fn() + Sync)) -> Result<Vec<Sample>, Error> {
        let changes = self.updates.generate(seed)?;
        let file = self.profiles.generate(&changes, &self.updates.names(), seed)?;
        let sample = |&policy: &PolicyChoice| {
            let setup = Setup {
                policy,
                budget: self.budget.clone(),
                costs: Costs::uniform(),
                chronons: self.updates.chronons,
                seed,
            };
            let run = simulate::intervals(&file.workload, file.resources.len(), &setup, |_| ())?;
            on_run();
            Ok(Sample {
                completeness: run.score.gained_completeness,
                captured: run.score.captured as f64,
                ceis: run.score.ceis as f64,
                probes: run.score.probes as f64,
            })
        };
        self.policies.par_iter().map(sample).collect()
    }
}

struct Sample {
    completeness: f64,
    captured: f64,
    ceis: f64,
    probes: f64,
}
