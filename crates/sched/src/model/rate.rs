//! How often a source changes on average: a Gamma distribution of its rate. Knows nothing of when in the week or hour;
//! exposure comes in already weighed by the rhythm.
//!
//! Invariant: what was learned is finite and at least 0, and the prior is never forgotten, so the rate is always
//! above 0 and its uncertainty finite.

use super::Prior;

/// After this long a probe counts half, so that a source may change its ways.
pub(crate) const HALF_LIFE_SECONDS: f64 = 8.0 * 604_800.0;

/// No source is known better than this many changes would tell: what changes often changes its ways sooner, too.
const MOST_EVIDENCE: f64 = 40.0;

/// What probes have shown, on top of the prior: a Gamma distribution whose shape is what is left of the prior's strength
/// and `changes`, and whose rate parameter is what is left of the prior's seconds and `seconds`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Rate {
    pub(crate) changes: f64,
    pub(crate) seconds: f64,
}

/// A Gamma distribution of a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gamma {
    /// Its shape: changes' worth of evidence.
    pub(crate) shape: f64,
    /// Its rate parameter: seconds of evidence.
    pub(crate) seconds: f64,
}

impl Gamma {
    pub(crate) fn mean(self) -> f64 {
        self.shape / self.seconds
    }

    /// The chance that nothing changes in a stretch of this exposure.
    pub(crate) fn silence(self, exposure: f64) -> f64 {
        (-self.shape * (exposure / self.seconds).ln_1p()).exp()
    }

    /// How many changes to expect of a stretch of this exposure in which there was at least one.
    pub(crate) fn expected_if_any(self, exposure: f64) -> f64 {
        let chance = 1.0 - self.silence(exposure);
        if chance > 0.0 { (self.mean() * exposure / chance).max(1.0) } else { 1.0 }
    }

    /// The Gamma distribution with the mean and the variance that this one has once it is known that there was at
    /// least one change in a stretch of this exposure. Counting one change would be too few, and more so the longer
    /// the stretch; the exact posterior is a difference of two Gammas, and its moments are closed forms.
    fn given_any(self, exposure: f64) -> Self {
        let Self { shape, seconds } = self;
        // With q = seconds / (seconds + exposure), the k-th moment is the prior's times (1 − q^(shape+k)) / (1 − q^shape).
        let log = (exposure / seconds).ln_1p();
        let without = |k: f64| (-(shape + k) * log).exp_m1();
        let (first, second) = (without(1.0) / without(0.0), without(2.0) / without(0.0));
        let relative_variance = (shape + 1.0) / shape * second / (first * first) - 1.0;
        let known = 1.0 / relative_variance;
        if !(known.is_finite() && first.is_finite()) {
            // The stretch is so short, or the variance so small, that only the change itself counts.
            return Self { shape: shape + 1.0, seconds: seconds + exposure };
        }
        let known = known.clamp(shape, shape + 1.0);
        Self { shape: known, seconds: (known / (self.mean() * first)).clamp(seconds, seconds + exposure) }
    }
}

impl Rate {
    /// The distribution of the rate. The prior gives way to what was seen: as evidence of the probes is limited, it
    /// would otherwise hold its share for ever, however wrong it is.
    pub(crate) fn with(self, prior: Prior) -> Gamma {
        let strength = prior.strength / (1.0 + self.changes / prior.strength.max(1.0));
        Gamma { shape: strength + self.changes, seconds: strength / prior.rate + self.seconds }
    }

    /// Time passes, and what was seen counts for less.
    pub(crate) fn fade(&mut self, seconds: f64) {
        let kept = kept_after(seconds);
        self.changes *= kept;
        self.seconds *= kept;
    }

    /// So many changes, all of them, in a stretch of this exposure.
    pub(crate) fn count(&mut self, changes: f64, exposure: f64) {
        self.changes += changes;
        self.seconds += exposure;
        if self.changes > MOST_EVIDENCE {
            self.seconds *= MOST_EVIDENCE / self.changes;
            self.changes = MOST_EVIDENCE;
        }
    }

    /// At least one change in a stretch of this exposure.
    pub(crate) fn count_any(&mut self, prior: Prior, exposure: f64) {
        let before = self.with(prior);
        let after = before.given_any(exposure);
        self.count(after.shape - before.shape, after.seconds - before.seconds);
    }
}

/// What share of a probe counts after so many seconds.
pub(crate) fn kept_after(seconds: f64) -> f64 {
    (-seconds / HALF_LIFE_SECONDS).exp2()
}

/// A stretch of time that ends now, with the share of each second that counts.
pub(crate) fn faded(seconds: f64) -> f64 {
    let kept_by_second = std::f64::consts::LN_2 / HALF_LIFE_SECONDS;
    -(-seconds * kept_by_second).exp_m1() / kept_by_second
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The closed form against the integral of the exact posterior.
        #[test]
        fn a_change_in_a_stretch_has_the_posterior_moments(
            shape in 0.2..60.0f64, relative in -3.0..3.0f64,
        ) {
            let (seconds, exposure) = (1.0, 10f64.powf(relative));
            let after = Gamma { shape, seconds }.given_any(exposure);
            // ∫ r^(shape−1+k) e^(−r) (1 − e^(−r·exposure)) dr, substituting r = e^u.
            let moment = |k: f64| -> f64 {
                (-12_000..6_000).map(|i| {
                    let u = f64::from(i) * 0.002;
                    let r = u.exp();
                    ((shape + k) * u - r).exp() * -(-r * exposure).exp_m1()
                }).sum()
            };
            let (all, first, second) = (moment(0.0), moment(1.0), moment(2.0));
            let (mean, square) = (first / all, second / all);
            prop_assert!((after.mean() / mean - 1.0).abs() < 1e-3, "{after:?} {mean}");
            let variance = after.shape / after.seconds.powi(2);
            prop_assert!((variance / (square - mean * mean) - 1.0).abs() < 0.02, "{after:?} {variance}");
        }

        #[test]
        fn nothing_leaves_the_sane_range(
            rate_log in -9.0..1.0f64, gaps in prop::collection::vec((-6.0..9.0f64, any::<bool>()), 1..80),
        ) {
            let prior = Prior { rate: 10f64.powf(rate_log), strength: 0.5 };
            let mut rate = Rate::default();
            for (gap, changed) in gaps {
                let gap = 10f64.powf(gap);
                rate.fade(gap);
                if changed { rate.count_any(prior, gap) } else { rate.count(0.0, gap) }
                let now = rate.with(prior);
                prop_assert!(rate.changes >= 0.0 && rate.seconds >= 0.0 && rate.seconds.is_finite());
                prop_assert!(now.mean() > 0.0 && now.mean().is_finite());
                prop_assert!(now.expected_if_any(gap) >= 1.0 && now.expected_if_any(gap).is_finite());
            }
        }
    }
}
