//! Sources whose updates come in bursts: long quiet, then one that brings others soon after it.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::{Rate, Span, check_number, span};
use crate::Error;
use crate::files::TraceFile;

/// Bursts that start at random; each update of a burst is the last with the same probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bursty {
    /// Sources and seconds.
    pub span: Span,
    /// How often bursts start when it is quiet.
    pub bursts: Rate,
    /// Mean number of updates in a burst, 1 to 10,000; the number is geometric.
    pub mean_length: f64,
    /// Mean seconds between updates of a burst, above 0; the gaps are exponential.
    pub gap_seconds: f64,
}

impl Bursty {
    /// The trace for `seed`.
    pub fn generate(&self, seed: u64) -> Result<TraceFile, Error> {
        self.bursts.check()?;
        check_number("mean burst length", self.mean_length, 1.0, 10_000.0)?;
        check_number("gap within bursts", self.gap_seconds, 1e-3, 1e9)?;
        let end = f64::from(self.span.seconds);
        let expected = self.bursts.expected(self.span.seconds) * self.mean_length;
        self.span.fill(seed, expected, |rng| {
            let quiet_seconds = 1.0 / self.bursts.draw(rng);
            let mut moments = Vec::new();
            let mut now = 0.0;
            let mut in_burst = false;
            loop {
                let mean_gap = if in_burst { self.gap_seconds } else { quiet_seconds };
                let gap: f64 = Exp1.sample(rng);
                now += gap * mean_gap;
                if now >= end {
                    return moments;
                }
                moments.push(span::second(now));
                in_burst = rng.random::<f64>() >= 1.0 / self.mean_length;
            }
        })
    }
}
