//! WIC against the best schedule there is, on instances small enough to search: how far it stays above its guarantee. Not a
//! comparison of policies.

use dunlin_core::{Budget, Costs, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::plan::best_utility;
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Life, Urgency, ValueModel, expected_utility};
use rand::RngExt;
use rayon::prelude::*;

use crate::Error;
use crate::stream::{Purpose, stream};

/// Small synthetic instances.
#[derive(Debug, Clone, PartialEq)]
pub struct GuaranteeCheck {
    /// Sources of each.
    pub sources: u32,
    /// Chronons of each.
    pub chronons: u32,
    /// Probes per chronon.
    pub per_chronon: u32,
    /// The seeds; one instance each.
    pub seeds: Vec<u64>,
}

/// How WIC did under one way to value changes.
#[derive(Debug, Clone, PartialEq)]
pub struct GuaranteeResult {
    /// How long changes stay.
    pub life: Life,
    /// What they are worth late.
    pub urgency: Urgency,
    /// The share of the optimum that WIC is sure to reach.
    pub promised: f64,
    /// The least share it reached.
    pub least: f64,
    /// The share it reached on average.
    pub mean: f64,
    /// Instances on which it reached all of it.
    pub optimal: usize,
}

/// Every kind of life with every kind of urgency that behaves differently.
const VALUES: [(Life, Urgency); 9] = [
    (Life::Append, Urgency::Uniform),
    (Life::Append, Urgency::Exponential(0.9)),
    (Life::Append, Urgency::Exponential(0.5)),
    (Life::Append, Urgency::Sliding(0)),
    (Life::Window(3), Urgency::Uniform),
    (Life::Changes(2), Urgency::Uniform),
    (Life::Overwrite, Urgency::Uniform),
    (Life::Overwrite, Urgency::Exponential(0.9)),
    (Life::Overwrite, Urgency::Sliding(0)),
];

impl GuaranteeCheck {
    /// Runs every instance under every value; the result does not depend on the number of threads.
    pub fn run(&self, on_instance: impl Fn() + Sync) -> Result<Vec<GuaranteeResult>, Error> {
        for (what, count) in
            [("sources", self.sources), ("chronons", self.chronons), ("probes per chronon", self.per_chronon)]
        {
            if count == 0 {
                return Err(Error::parameter(what, &count, "at least 1"));
            }
        }
        let of_value = |&(life, urgency): &(Life, Urgency)| {
            let share = |&seed: &u64| {
                let share = self.share(life, urgency, seed);
                on_instance();
                share
            };
            let shares: Vec<f64> = self.seeds.par_iter().map(share).collect::<Result<_, _>>()?;
            Ok(GuaranteeResult {
                life,
                urgency,
                promised: self.promised(urgency),
                least: shares.iter().copied().fold(1.0, f64::min),
                mean: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
                optimal: shares.iter().filter(|&&share| share > 1.0 - 1e-9).count(),
            })
        };
        VALUES.iter().map(of_value).collect()
    }

    /// Number of instances times values.
    pub fn n_runs(&self) -> usize {
        self.seeds.len() * VALUES.len()
    }

    /// 1/(1+a), where a is the most that a change keeps of its worth from one chronon to the next.
    fn promised(&self, urgency: Urgency) -> f64 {
        let kept = |delay: u32| {
            let (now, next) = (urgency.at(delay), urgency.at(delay + 1));
            if now > 0.0 { next / now } else { 0.0 }
        };
        1.0 / (1.0 + (0..self.chronons).map(kept).fold(0.0, f64::max))
    }

    /// The share of the optimum that WIC reaches on one instance: weights of up to 1, and in two chronons of three a
    /// chance of a change.
    fn share(&self, life: Life, urgency: Urgency, seed: u64) -> Result<f64, Error> {
        let (mut models, mut chances) = (Vec::new(), Vec::new());
        for source in 0..self.sources {
            let mut rng = stream(seed, Purpose::Updates, source);
            models.push(ValueModel { life, urgency, weight: 1.0 - rng.random::<f64>() });
            let chance = |_| if rng.random_range(0..3) == 0 { 0.0 } else { rng.random::<f64>() };
            chances.push((0..self.chronons).map(chance).collect::<Vec<f64>>());
        }
        let (best, _) = best_utility(&models, &chances, self.per_chronon as usize)?;
        let mut policy = Wic::new(&models, &Costs::uniform());
        let budget = Budget::constant(f64::from(self.per_chronon))?;
        let schedule = epoch::run(&mut policy, self.chronons, &budget, |now, policy| {
            for (source, own) in (0..).map(SourceIdx).zip(&chances) {
                let probability = own[now.index()];
                if probability > 0.0 {
                    policy.arrive(now, Arrival::Change { source, probability });
                }
            }
        });
        let mut result = 0.0;
        for (source, probes) in schedule.by_source(models.len()).iter().enumerate() {
            let mut last = 0;
            for probe in probes {
                result += expected_utility(&models[source], &chances[source], last, probe.get());
                last = probe.get();
            }
        }
        Ok(if best > 0.0 { result / best } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_is_kept() {
        let instances = GuaranteeCheck { sources: 3, chronons: 6, per_chronon: 1, seeds: (0..40).collect() };
        let result = instances.run(|| ()).unwrap();
        for row in &result {
            let rising = [row.promised, row.least, row.mean, 1.0];
            assert!(rising.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9), "{row:?}");
            // Where only immediate capture counts, WIC is optimal.
            let is_immediate = row.urgency == Urgency::Sliding(0);
            assert_eq!(row.promised > 0.99, is_immediate, "{row:?}");
            assert!(!is_immediate || row.optimal == 40, "{row:?}");
        }
        assert!(result.iter().any(|row| row.optimal < 40), "it is no optimum in general");
        let too_large = GuaranteeCheck { sources: 30, ..instances };
        assert!(too_large.run(|| ()).unwrap_err().to_string().contains("try fewer sources"));
    }
}
