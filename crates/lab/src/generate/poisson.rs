//! Sources that change at any moment as likely as at any other.

use super::{Rate, Span, span};
use crate::Error;
use crate::files::TraceFile;

/// Independent Poisson processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    /// Sources and seconds.
    pub span: Span,
    /// How often they change.
    pub rate: Rate,
}

impl Poisson {
    /// The trace for `seed`.
    pub fn generate(&self, seed: u64) -> Result<TraceFile, Error> {
        self.rate.check()?;
        let end = f64::from(self.span.seconds);
        self.span.fill(seed, self.rate.expected(self.span.seconds), |rng| {
            let rate = self.rate.draw(rng);
            span::arrivals(rate, end, rng).map(span::second).collect()
        })
    }
}
