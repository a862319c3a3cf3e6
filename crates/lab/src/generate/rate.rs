//! How often a synthetic source changes, and how much sources differ in it.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{SECONDS_PER_DAY, check_number};
use crate::Error;

/// Updates per day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The mean over all sources, above 0 and at most one per second.
    pub per_day: f64,
    /// How much sources differ: the standard deviation of the logarithm of a source's rate, 0 to 3. At 0 all
    /// are alike; at 1 one in six has under a quarter of the mean and one in twenty over three times as much.
    pub spread: f64,
}

impl Rate {
    /// The same rate for every source.
    pub const fn of(per_day: f64) -> Self {
        Self { per_day, spread: 0.0 }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        if !(self.per_day > 0.0 && self.per_day <= SECONDS_PER_DAY) {
            let expected = format!("a number above 0, at most {SECONDS_PER_DAY}");
            return Err(Error::parameter("updates per day", &self.per_day, expected));
        }
        check_number("spread", self.spread, 0.0, 3.0)
    }

    /// Expected updates of a source in `seconds`.
    pub(super) fn expected(self, seconds: u32) -> f64 {
        self.per_day / SECONDS_PER_DAY * f64::from(seconds)
    }

    /// One source's rate per second.
    pub(super) fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(rng);
        // The second term keeps the mean of the log-normal at 1.
        let factor = self.spread.mul_add(normal, -0.5 * self.spread.powi(2)).exp();
        (self.per_day / SECONDS_PER_DAY * factor).min(1.0)
    }
}
