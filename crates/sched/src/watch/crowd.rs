//! What the sources of a watch do on average, and how much alike they are, as the supposition about those of which little
//! is known. Without it, a source that showed nothing at its first look would be judged by a guess made for all the web,
//! and starve beside others that are known to change a thousand times as often; and where all are alike, one that has
//! happened to change would be taken for livelier than the rest. Knows no source by itself.

use std::time::Duration;

use crate::forecast::Forecast;
use crate::model::{Known, Look, Model, Prior, Seen};

/// A look counts half after so many others, about: what is average changes.
const REMEMBERED: f64 = 8_192.0;
/// How many changes it takes until the crowd counts as much as the guess.
const FEW: f64 = 5.0;
/// Nothing that is seen was less likely than this.
const LEAST_CHANCE: f64 = 1e-9;

/// How much alike sources may be: what the others do counts for so many changes of a source's own.
const STRENGTHS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// What is supposed before looks have told.
const SUPPOSED_STRENGTH: f64 = 2.0;
/// How well a strength foretold counts half after about so many looks.
const JUDGED: f64 = 2_048.0;

/// Changes seen and time watched, over all sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowd {
    changes: f64,
    seconds: f64,
    /// How well each of [`STRENGTHS`] foretold what looks have shown, in logarithms; the best has 0.
    foretold: [f64; STRENGTHS.len()],
    /// What follows from that.
    strength: f64,
}

impl Default for Crowd {
    fn default() -> Self {
        let foretold = STRENGTHS.map(|strength| -0.5 * (strength / SUPPOSED_STRENGTH).ln().powi(2));
        Self { changes: 0.0, seconds: 0.0, foretold, strength: average(&foretold) }
    }
}

/// The strengths' mean, each by how well it foretold; of their logarithms.
fn average(foretold: &[f64; STRENGTHS.len()]) -> f64 {
    let weights = foretold.map(f64::exp);
    let sum: f64 = weights.iter().zip(STRENGTHS).map(|(weight, strength)| weight * strength.ln()).sum();
    (sum / weights.iter().sum::<f64>()).exp()
}

impl Crowd {
    /// Takes in a look at a source of which this much was known before.
    pub(crate) fn looked(&mut self, model: &Model, look: &Look) {
        if let Some(since) = look.since {
            self.judge(model, model.exposure(since, look.at), &look.seen);
            self.count(look.at.since(since), &look.seen);
        }
    }

    /// What is to be supposed of a source of which nothing is known, where a guess says that.
    pub(crate) fn prior(&self, guessed: Prior) -> Prior {
        Prior { rate: self.rate(guessed), strength: self.strength }
    }

    /// What is to be expected of a source beside the others.
    pub(crate) fn forecast<'m>(&self, model: &'m Model) -> Forecast<'m> {
        model.forecast_among(self.prior(model.prior()))
    }

    /// Which strength would have foretold this best?
    fn judge(&mut self, model: &Model, exposure: f64, seen: &Seen) {
        let rate = self.rate(model.prior());
        let silences = STRENGTHS.map(|strength| model.gamma_with(Prior { rate, strength }).silence(exposure));
        for (said, silence) in self.foretold.iter_mut().zip(silences) {
            let chance = if *seen == Seen::Unchanged { silence } else { 1.0 - silence };
            *said = *said * (1.0 - 1.0 / JUDGED) + chance.max(LEAST_CHANCE).ln();
        }
        let best = self.foretold.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.foretold.iter_mut().for_each(|said| *said -= best);
        self.strength = average(&self.foretold);
    }

    fn count(&mut self, gap: Duration, seen: &Seen) {
        let changes = match seen {
            Seen::Unchanged => 0.0,
            Seen::Changed { times, known: Known::All } => times.len().max(1) as f64,
            Seen::Changed { known: Known::Latest, .. } => 1.0,
        };
        let kept = 1.0 - 1.0 / REMEMBERED;
        self.changes = self.changes * kept + changes;
        self.seconds = self.seconds * kept + gap.as_secs_f64();
    }

    /// Changes per second of a source of which nothing is known, where a guess says `guessed`. In between, the mean
    /// of the logarithms: a guess may be wrong by orders of magnitude, and must not take days of watching to outweigh.
    fn rate(&self, guessed: Prior) -> f64 {
        if self.changes <= 0.0 || self.seconds <= 0.0 {
            return guessed.rate;
        }
        let seen = (self.changes / self.seconds).ln();
        ((FEW * guessed.rate.ln() + self.changes * seen) / (FEW + self.changes)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_others_do_outweighs_the_guess_after_a_few_changes() {
        let guessed = Prior { rate: 1e-4, strength: 0.5 };
        let mut crowd = Crowd::default();
        assert_eq!(crowd.rate(guessed), 1e-4);
        for look in 0..40 {
            let seen = if look % 2 == 0 {
                Seen::Unchanged
            } else {
                Seen::Changed { times: Vec::new(), known: Known::Latest }
            };
            crowd.count(Duration::from_secs(1), &seen);
        }
        // One change in two seconds, by twenty changes against five.
        let rate = crowd.rate(guessed);
        assert!((0.05..0.5).contains(&rate), "{rate}");
    }

    /// The strength after a hundred sources were looked at ten times each, every second, where every `lively`-th changes
    /// at every second look and the others at every tenth.
    fn strength_if(lively: u32) -> f64 {
        let mut crowd = Crowd::default();
        let mut models = vec![Model::new(Prior::default()); 100];
        for look in 0..10 {
            for (number, model) in (0u32..).zip(&mut models) {
                let every = if number % lively == 0 { 2 } else { 10 };
                // Not all at the same look.
                let has_changed = (look + number * 7 / 3) % every == 0;
                let seen = if has_changed {
                    Seen::Changed { times: Vec::new(), known: Known::Latest }
                } else {
                    Seen::Unchanged
                };
                let at = |second| dunlin_core::Time::from_seconds(i64::from(second));
                let look = Look { since: Some(at(look)), at: at(look + 1), seen };
                crowd.looked(model, &look);
                model.observe_among(&look, crowd.prior(model.prior()));
            }
        }
        crowd.strength
    }

    #[test]
    fn the_more_alike_sources_are_the_more_is_supposed_of_each() {
        let (all_alike, unlike) = (strength_if(1_000), strength_if(3));
        assert!(all_alike > 6.0 && unlike < 2.0, "{all_alike} {unlike}");
    }
}
