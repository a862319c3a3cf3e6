//! Sources that change periodically: every so many seconds, more or less exactly.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::{Span, check_number, span};
use crate::Error;
use crate::files::TraceFile;

/// One period for all sources, a phase for each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic {
    /// Sources and seconds.
    pub span: Span,
    /// Seconds from one update to the next, at least 1.
    pub period_seconds: u32,
    /// The standard deviation of an update around its appointed second; at most a period. It does not add up.
    pub jitter_seconds: f64,
}

impl Periodic {
    /// The trace for `seed`.
    pub fn generate(&self, seed: u64) -> Result<TraceFile, Error> {
        let period = f64::from(self.period_seconds);
        check_number("period", period, 1.0, f64::from(u32::MAX))?;
        check_number("jitter", self.jitter_seconds, 0.0, period)?;
        let n_periods = self.span.seconds / self.period_seconds;
        self.span.fill(seed, f64::from(n_periods), |rng| {
            let phase = f64::from(rng.random_range(0..self.period_seconds));
            (0..=n_periods)
                .map(|number| {
                    let late: f64 = StandardNormal.sample(rng);
                    let appointed = period.mul_add(f64::from(number), phase);
                    span::second(late.mul_add(self.jitter_seconds, appointed))
                })
                .collect()
        })
    }
}
