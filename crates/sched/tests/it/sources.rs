//! Synthetic sources and the probes of them: Poisson processes whose rate may follow the clock, seen at irregular times.

use dunlin_core::Time;
use dunlin_sched::model::{Completeness, Evidence, Model, Parts, Prior, ProbeEvidence};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) const HOUR: f64 = 3_600.0;
pub(crate) const DAY: f64 = 24.0 * HOUR;
pub(crate) const WEEK: f64 = 7.0 * DAY;

/// Monday, 2024-01-01, 0:00 UTC.
const BEGIN: f64 = 1_704_067_200.0;

/// Seconds since the first Monday, as an instant.
pub(crate) fn time(seconds: f64) -> Time {
    Time::from_micros(((BEGIN + seconds) * 1e6) as i64)
}

/// What a probe tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reported {
    Nothing,
    Last,
    All,
}

pub(crate) fn changed(times: Vec<Time>, completeness: Completeness) -> Evidence {
    Evidence::Changed { times, completeness }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// An exponentially distributed time with this mean.
pub(crate) fn exponential(mean: f64, rng: &mut ChaCha8Rng) -> f64 {
    -mean * (1.0 - rng.random::<f64>()).ln()
}

/// Change times up to `end`, in seconds since the first Monday; `rate` is per second, at most `most`.
pub(crate) fn changes(most: f64, rate: impl Fn(f64) -> f64, end: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let (mut at, mut times) = (0.0, Vec::new());
    loop {
        at += exponential(1.0 / most, rng);
        if at >= end {
            return times;
        }
        if rng.random::<f64>() * most < rate(at) {
            times.push(at);
        }
    }
}

/// Probes of a source at irregular times: a quarter to several times the mean gap apart.
pub(crate) struct ProbeSeries<'a> {
    pub(crate) changes: &'a [f64],
    pub(crate) mean_gap: f64,
    pub(crate) end: f64,
    pub(crate) reported: Reported,
}

impl ProbeSeries<'_> {
    /// Shows a model every probe. `judge` is told what the model says before it: the model, when the gap began and
    /// ended, in seconds, and whether there was a change in it.
    pub(crate) fn show(
        &self,
        model: &mut Model,
        rng: &mut ChaCha8Rng,
        mut judge: impl FnMut(&Model, f64, f64, bool),
    ) {
        let mut since = 0.0;
        model.observe(&ProbeEvidence {
            since: None,
            at: time(since),
            evidence: changed(Vec::new(), Completeness::Latest),
        });
        loop {
            let at = since
                + self.mean_gap * (0.25 + 0.5 * rng.random::<f64>())
                + exponential(self.mean_gap / 2.0, rng);
            if at > self.end {
                return;
            }
            let from = self.changes.partition_point(|&change| change <= since);
            let to = self.changes.partition_point(|&change| change <= at);
            let fresh: Vec<Time> = self.changes[from..to].iter().map(|&change| time(change)).collect();
            judge(model, since, at, !fresh.is_empty());
            let evidence = match (fresh.last(), self.reported) {
                (None, _) => Evidence::Unchanged,
                (_, Reported::Nothing) => changed(Vec::new(), Completeness::Latest),
                (Some(&last), Reported::Last) => changed(vec![last], Completeness::Latest),
                (_, Reported::All) => changed(fresh, Completeness::All),
            };
            model.observe(&ProbeEvidence { since: Some(time(since)), at: time(at), evidence });
            since = at;
        }
    }
}

/// The mean logarithm of the chance that a model gave to what then happened, after the first third.
pub(crate) fn log_likelihood(series: &ProbeSeries<'_>, parts: Parts, seed: u64) -> f64 {
    let (mut sum, mut n_looks) = (0.0, 0.0);
    let mut model = Model::of_parts(Prior::default(), parts);
    series.show(&mut model, &mut rng(seed), |model, since, at, has_changed| {
        if at > series.end / 3.0 {
            let chance = model.forecast().probability(time(since), time(at));
            sum += if has_changed { chance.ln() } else { (1.0 - chance).ln() };
            n_looks += 1.0;
        }
    });
    sum / n_looks
}
