//! Whether a source changes in bursts: whether one change makes another likely, and long silence makes one unlikely. As for a
//! wildfire report, an auction, or a page on which two people disagree. Not how often on average, and nothing
//! about hours and minutes: time comes in already weighed by the rhythm.
//!
//! Two ways of changing in bursts, mild and strong, assume that gaps between changes follow a Weibull distribution. With x
//! the time since the last change, x^k is then a time in which changes come at a constant rate, so that all that is known
//! of rates holds there. How far each is believed is judged by how well it predicted what probes have shown, against the
//! plain rate (k = 1).
//!
//! Invariant: numbers are finite, ages at least 0, odds within [`MOST_ODDS`].

use super::Prior;
use super::rate::{Gamma, Rate};

/// A way in which gaps may be distributed.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// The exponent k, below 1.
    exponent: f64,
    /// Γ(1 + 1/k), the mean gap where x^k has the rate 1.
    mean: f64,
}

pub(super) const N_SHAPES: usize = 2;

const SHAPES: [Shape; N_SHAPES] =
    [Shape { exponent: 0.4, mean: 3.323_350_970 }, Shape { exponent: 0.7, mean: 1.265_823_506 }];

/// The prior share of each shape; the rest is that of the plain rate.
const PRIOR_SHARE: f64 = 0.04;
/// No single probe counts for more than this, in logarithms: none of the assumptions is quite true.
const MAX_GAIN: f64 = 3.0;
/// The largest odds, in logarithms, so that a source can change its behaviour.
pub(super) const MOST_ODDS: f64 = 8.0;
/// What is left of the weight of one probe after the next.
const KEPT: f64 = 0.99;
/// A shape with a smaller share than this is ignored.
const NEGLIGIBLE: f64 = 1e-3;
/// Changes nearer to each other than this many seconds are not distinguished.
const LEAST_AGE: f64 = 1e-6;

/// What the probes say if one shape is true.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct ShapeFit {
    /// Of changes in x^k.
    pub(super) rate: Rate,
    /// Weighed seconds from the last change to the last probe.
    pub(super) age: f64,
    /// How much better than the plain rate it predicted what was seen, in logarithms.
    pub(super) odds: f64,
}

/// What is known of the gaps of one source.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Bursts {
    pub(super) fits: [ShapeFit; N_SHAPES],
}

/// What a probe has shown, in weighed seconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum GapEvidence<'d> {
    /// No change for so long.
    Silence(f64),
    /// At least one in so long.
    Any(f64),
    /// Changes after gaps of these lengths, one after the other, and then silence.
    Dated { gaps: &'d [f64], silence: f64, before_first: BeforeFirst },
}

/// What is known of the time before the first change that is dated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BeforeFirst {
    /// Nothing happened.
    Silence,
    /// Others may have been lost.
    Unknown,
}

/// The present belief if one shape is true.
#[derive(Debug, Clone, Copy)]
struct Belief {
    shape: Shape,
    gamma: Gamma,
    age: f64,
}

impl Bursts {
    /// Takes in a probe. `plain` is the rate before it, and `strength` how much that counts as the prior of each shape.
    pub(super) fn observe(&mut self, plain: Gamma, strength: f64, evidence: GapEvidence<'_>) {
        let plain_likelihood = log_likelihood_by_rate(plain, evidence);
        for (shape, fits) in SHAPES.into_iter().zip(&mut self.fits) {
            let prior = shape.prior(plain, strength);
            let before = Belief { shape, gamma: fits.rate.with(prior), age: fits.age };
            let mut belief = before;
            let gained = belief.log_likelihood(evidence);
            if let GapEvidence::Any(exposure) = evidence {
                fits.rate.count_any(prior, before.stretch(exposure));
            } else {
                let [from, to] = [before.gamma, belief.gamma];
                fits.rate.count(to.shape - from.shape, to.seconds - from.seconds);
            }
            fits.age = belief.age;
            let gained = (gained - plain_likelihood).clamp(-MAX_GAIN, MAX_GAIN);
            fits.odds = fits.odds.mul_add(KEPT, gained).clamp(-MOST_ODDS, MOST_ODDS);
        }
    }

    /// Time passes, and what was seen counts for less.
    pub(super) fn fade(&mut self, seconds: f64) {
        self.fits.iter_mut().for_each(|fits| fits.rate.fade(seconds));
    }

    /// The chance of silence for so long after the last probe.
    pub(crate) fn silence(&self, plain: Gamma, strength: f64, exposure: f64) -> f64 {
        let shares = self.fits.map(|fits| PRIOR_SHARE * fits.odds.exp());
        let plain_share = 1.0 - PRIOR_SHARE * N_SHAPES as f64;
        let whole = plain_share + shares.iter().sum::<f64>();
        let mut sum = plain_share * plain.silence(exposure);
        for ((shape, fits), share) in SHAPES.into_iter().zip(&self.fits).zip(shares) {
            if share > NEGLIGIBLE * whole {
                let gamma = fits.rate.with(shape.prior(plain, strength));
                sum += share * Belief { shape, gamma, age: fits.age }.silence(exposure);
            } else {
                sum += share * plain.silence(exposure);
            }
        }
        (sum / whole).clamp(0.0, 1.0)
    }
}

impl Shape {
    /// As many changes as at the plain rate.
    fn prior(self, plain: Gamma, strength: f64) -> Prior {
        let rate = (plain.mean() * self.mean).powf(self.exponent);
        Prior { rate: rate.max(f64::MIN_POSITIVE), strength }
    }
}

impl Belief {
    /// Learns from a probe, and returns how likely its evidence was, in logarithms.
    fn log_likelihood(&mut self, evidence: GapEvidence<'_>) -> f64 {
        match evidence {
            GapEvidence::Silence(exposure) => self.silent(exposure),
            GapEvidence::Any(exposure) => {
                let chance = 1.0 - self.silence(exposure);
                self.age = self.likely_age(exposure);
                ln(chance)
            }
            GapEvidence::Dated { gaps, silence, before_first } => {
                let mut sum = 0.0;
                for (number, &gap) in gaps.iter().enumerate() {
                    let is_first = number == 0 && before_first == BeforeFirst::Unknown;
                    sum += if is_first { self.changed_within(gap) } else { self.changed_after(gap) };
                }
                sum + self.silent(silence)
            }
        }
    }

    /// So much more of the time that counts.
    fn stretch(&self, exposure: f64) -> f64 {
        let k = self.shape.exponent;
        ((self.age + exposure).powf(k) - self.age.powf(k)).max(0.0)
    }

    fn silence(&self, exposure: f64) -> f64 {
        self.gamma.silence(self.stretch(exposure))
    }

    fn mean_gap(&self) -> f64 {
        self.shape.mean * self.gamma.mean().powf(-1.0 / self.shape.exponent)
    }

    /// How likely the next change is at the end of so much time, per second.
    fn density(&self, gap: f64) -> f64 {
        let k = self.shape.exponent;
        let hazard = self.gamma.shape / (self.gamma.seconds + self.stretch(gap));
        k * (self.age + gap).max(LEAST_AGE).powf(k - 1.0) * hazard * self.silence(gap)
    }

    fn silent(&mut self, exposure: f64) -> f64 {
        let chance = self.silence(exposure);
        self.gamma.seconds += self.stretch(exposure);
        self.age += exposure;
        ln(chance)
    }

    /// The next change came after so much time.
    fn changed_after(&mut self, gap: f64) -> f64 {
        let density = self.density(gap);
        self.gamma.shape += 1.0;
        self.gamma.seconds += self.stretch(gap);
        self.age = 0.0;
        ln(density)
    }

    /// There was a change after so much time, and others may have come before it: if so, it fell at any age, and its
    /// density goes with the k-th root of the rate.
    fn changed_within(&mut self, stretch: f64) -> f64 {
        let first = self.density(stretch);
        let later = (1.0 - self.silence(stretch)) / self.mean_gap();
        let share = if first + later > 0.0 { first / (first + later) } else { 0.0 };
        self.gamma.shape += share + (1.0 - share) / self.shape.exponent;
        self.gamma.seconds += share * self.stretch(stretch);
        self.age = 0.0;
        ln(first + later)
    }

    /// How long ago the last change was if there was at least one: halfway from the expected first one, since
    /// others follow.
    fn likely_age(&self, exposure: f64) -> f64 {
        let k = self.shape.exponent;
        let rate = self.gamma.mean();
        let silence = (-rate * self.stretch(exposure)).exp();
        let middle = (self.age.powf(k) - f64::midpoint(1.0, silence).ln() / rate).powf(1.0 / k);
        (self.age + exposure - middle).clamp(0.0, exposure) / 2.0
    }
}

/// How likely the evidence of a probe was if changes come at the plain rate, in logarithms.
fn log_likelihood_by_rate(mut plain: Gamma, evidence: GapEvidence<'_>) -> f64 {
    match evidence {
        GapEvidence::Silence(exposure) => ln(plain.silence(exposure)),
        GapEvidence::Any(exposure) => ln(1.0 - plain.silence(exposure)),
        GapEvidence::Dated { gaps, silence, before_first } => {
            let mut sum = 0.0;
            for (number, &gap) in gaps.iter().enumerate() {
                if number > 0 || before_first == BeforeFirst::Silence {
                    sum += ln(plain.silence(gap));
                    plain.seconds += gap;
                }
                sum += ln(plain.mean());
                plain.shape += 1.0;
            }
            sum + ln(plain.silence(silence))
        }
    }
}

fn ln(chance: f64) -> f64 {
    chance.max(f64::MIN_POSITIVE).ln()
}
