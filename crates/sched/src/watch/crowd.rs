//! What the sources of a watch do on average, as the supposition about those of which little is known. Without it, a
//! source that showed nothing at its first look would be judged by a guess made for all the web, and starve beside
//! others that are known to change a thousand times as often. Knows no source by itself.

use std::time::Duration;

use crate::model::{Known, Prior, Seen};

/// A look counts half after so many others, about: what is average changes.
const REMEMBERED: f64 = 8_192.0;
/// How many changes it takes until the crowd counts as much as the guess.
const FEW: f64 = 5.0;

/// Changes seen and time watched, over all sources.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Crowd {
    changes: f64,
    seconds: f64,
}

impl Crowd {
    /// Takes in a look at a source that was last seen so long ago.
    pub(crate) fn looked(&mut self, gap: Duration, seen: &Seen) {
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
    pub(crate) fn rate(&self, guessed: Prior) -> f64 {
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
            crowd.looked(Duration::from_secs(1), &seen);
        }
        // One change in two seconds, by twenty changes against five.
        let rate = crowd.rate(guessed);
        assert!((0.05..0.5).contains(&rate), "{rate}");
    }
}
