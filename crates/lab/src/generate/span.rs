//! How many sources a synthetic trace has and how long it lasts, and the loop that makes them all.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};
use rayon::prelude::*;

use super::{check_count, check_events, check_number};
use crate::Error;
use crate::files::{TraceFile, numbered};
use crate::stream::{Purpose, stream};

/// The extent of a synthetic trace, which starts at second 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Number of sources, 1 to 10 million; they are called `s0001`, `s0002`, …
    pub sources: u32,
    /// Its length in seconds; every update lies before its end.
    pub seconds: u32,
}

impl Span {
    /// A trace in which every source's updates are what `one_source` draws, put in order.
    pub(super) fn fill(
        self,
        seed: u64,
        expected_per_source: f64,
        one_source: impl Fn(&mut ChaCha8Rng) -> Vec<i64> + Sync,
    ) -> Result<TraceFile, Error> {
        check_count("sources", self.sources)?;
        check_number("seconds", f64::from(self.seconds), 1.0, f64::from(u32::MAX))?;
        check_events(expected_per_source * f64::from(self.sources))?;
        let end = i64::from(self.seconds);
        let times = (0..self.sources).into_par_iter().map(|source| {
            let mut own = one_source(&mut stream(seed, Purpose::Updates, source));
            own.retain(|time| (0..end).contains(time));
            own.sort_unstable();
            own.dedup();
            own
        });
        Ok(TraceFile {
            times: times.collect(),
            sources: numbered("s", self.sources as usize),
            warnings: Vec::new(),
        })
    }
}

/// The points of a Poisson process of `rate` between 0 and `end`.
pub(super) fn arrivals(rate: f64, end: f64, rng: &mut ChaCha8Rng) -> impl Iterator<Item = f64> {
    let mut now = 0.0;
    std::iter::from_fn(move || {
        let gap: f64 = Exp1.sample(rng);
        now += gap / rate;
        (now < end).then_some(now)
    })
}

/// The whole second a moment falls into.
#[expect(clippy::cast_possible_truncation, reason = "a trace lasts at most 2^32 seconds")]
pub(super) fn second(moment: f64) -> i64 {
    moment.floor() as i64
}
