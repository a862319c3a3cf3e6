//! How often the sources of a scheduler change on average, and how similar they are: the prior for those of which little is
//! known. Without it, a source that showed nothing at its first probe would be judged by a guess for the whole web, and
//! would starve beside others that are known to change a thousand times as often; and where all are similar, one that
//! happened to change would be considered busier than the rest. Knows nothing of single sources.

use std::time::Duration;

use crate::forecast::Forecast;
use crate::model::{Completeness, Evidence, Model, Prior, ProbeEvidence};

/// A probe counts half after about so many others, because averages change.
const REMEMBERED: f64 = 8_192.0;
/// How many changes it takes until the population counts as much as the guess.
const FEW: f64 = 5.0;
/// Nothing that is seen was less likely than this.
const LEAST_CHANCE: f64 = 1e-9;

/// How similar sources may be: the average counts for so many changes of a source's own.
const STRENGTHS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// What is assumed before probes say more.
const SUPPOSED_STRENGTH: f64 = 2.0;
/// How well a strength predicted counts half after about so many probes.
const JUDGED: f64 = 2_048.0;

/// Changes seen and time observed, over all sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PopulationPrior {
    changes: f64,
    seconds: f64,
    /// How well each of [`STRENGTHS`] predicted the evidence of probes, in logarithms; the best has 0.
    log_likelihoods: [f64; STRENGTHS.len()],
    /// The average that follows from them.
    strength: f64,
}

impl Default for PopulationPrior {
    fn default() -> Self {
        let log_likelihoods = STRENGTHS.map(|strength| -0.5 * (strength / SUPPOSED_STRENGTH).ln().powi(2));
        Self { changes: 0.0, seconds: 0.0, log_likelihoods, strength: average(&log_likelihoods) }
    }
}

/// The geometric mean of the strengths, each weighted by how well it predicted.
fn average(log_likelihoods: &[f64; STRENGTHS.len()]) -> f64 {
    let weights = log_likelihoods.map(f64::exp);
    let sum: f64 = weights.iter().zip(STRENGTHS).map(|(weight, strength)| weight * strength.ln()).sum();
    (sum / weights.iter().sum::<f64>()).exp()
}

impl PopulationPrior {
    /// Learns from a probe of a source that had this model before.
    pub(crate) fn observe(&mut self, model: &Model, probe: &ProbeEvidence) {
        if let Some(since) = probe.since {
            self.judge(model, model.exposure(since, probe.at), &probe.evidence);
            self.count(probe.at.since(since), &probe.evidence);
        }
    }

    /// The prior of a source of which nothing is known, given a guess.
    pub(crate) fn prior(&self, guessed: Prior) -> Prior {
        Prior { rate: self.rate(guessed), strength: self.strength }
    }

    /// The forecast of a source with this prior.
    pub(crate) fn forecast<'m>(&self, model: &'m Model) -> Forecast<'m> {
        model.forecast_among(self.prior(model.prior()))
    }

    /// Scores the strengths by how well they predicted this.
    fn judge(&mut self, model: &Model, exposure: f64, evidence: &Evidence) {
        let rate = self.rate(model.prior());
        let silences = STRENGTHS.map(|strength| model.gamma_with(Prior { rate, strength }).silence(exposure));
        for (score, silence) in self.log_likelihoods.iter_mut().zip(silences) {
            let chance = if *evidence == Evidence::Unchanged { silence } else { 1.0 - silence };
            *score = *score * (1.0 - 1.0 / JUDGED) + chance.max(LEAST_CHANCE).ln();
        }
        let best = self.log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.log_likelihoods.iter_mut().for_each(|score| *score -= best);
        self.strength = average(&self.log_likelihoods);
    }

    fn count(&mut self, gap: Duration, evidence: &Evidence) {
        let changes = match evidence {
            Evidence::Unchanged => 0.0,
            Evidence::Changed { times, completeness: Completeness::All } => times.len().max(1) as f64,
            Evidence::Changed { completeness: Completeness::Latest, .. } => 1.0,
        };
        let kept = 1.0 - 1.0 / REMEMBERED;
        self.changes = self.changes * kept + changes;
        self.seconds = self.seconds * kept + gap.as_secs_f64();
    }

    /// Changes per second of a source of which nothing is known, where a guess says `guessed`. In between, the mean
    /// of the logarithms: a guess may be wrong by orders of magnitude, and must not take days of evidence to outweigh.
    fn rate(&self, guessed: Prior) -> f64 {
        if self.changes <= 0.0 || self.seconds <= 0.0 {
            return guessed.rate;
        }
        let observed = (self.changes / self.seconds).ln();
        ((FEW * guessed.rate.ln() + self.changes * observed) / (FEW + self.changes)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_others_do_outweighs_the_guess_after_a_few_changes() {
        let guessed = Prior { rate: 1e-4, strength: 0.5 };
        let mut population = PopulationPrior::default();
        assert_eq!(population.rate(guessed), 1e-4);
        for probe in 0..40 {
            let evidence = if probe % 2 == 0 {
                Evidence::Unchanged
            } else {
                Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }
            };
            population.count(Duration::from_secs(1), &evidence);
        }
        // One change in two seconds, by twenty changes against five.
        let rate = population.rate(guessed);
        assert!((0.05..0.5).contains(&rate), "{rate}");
    }

    /// The strength after a hundred sources were probed ten times each, every second, where every `lively`-th changes
    /// at every second probe and the others at every tenth.
    fn strength_if(lively: u32) -> f64 {
        let mut population = PopulationPrior::default();
        let mut models = vec![Model::new(Prior::default()); 100];
        for probe in 0..10 {
            for (number, model) in (0u32..).zip(&mut models) {
                let every = if number % lively == 0 { 2 } else { 10 };
                // Not all at the same probe.
                let has_changed = (probe + number * 7 / 3) % every == 0;
                let evidence = if has_changed {
                    Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }
                } else {
                    Evidence::Unchanged
                };
                let at = |second| dunlin_core::Time::from_seconds(i64::from(second));
                let probe = ProbeEvidence { since: Some(at(probe)), at: at(probe + 1), evidence };
                population.observe(model, &probe);
                model.observe_among(&probe, population.prior(model.prior()));
            }
        }
        population.strength
    }

    #[test]
    fn the_more_alike_sources_are_the_more_is_supposed_of_each() {
        let (all_alike, unlike) = (strength_if(1_000), strength_if(3));
        assert!(all_alike > 6.0 && unlike < 2.0, "{all_alike} {unlike}");
    }
}
