//! When a source will change: a rate curve from now on, and how sure it is. Not what a probe is worth: see
//! [`crate::value`].
//!
//! The curve is the rate, whose uncertainty is a Gamma distribution, times the factors of the week and the hour, which
//! are taken as they are. Every question is answered in a bounded number of steps, however long the time asked about.
//!
//! Invariants: a rate is finite and above 0; a chance lies between 0 and 1; none is ever NaN.

mod curve;
mod quantile;

pub use curve::Point;

use std::ops::Range;
use std::time::Duration;

use dunlin_core::Time;

use crate::model::calendar::{WeekTime, later};
use crate::model::rate::Gamma;
use crate::model::{Model, Prior};
use quantile::gamma_quantile;

/// How far ahead a chance is searched for: by then it is reached, or never.
const MOST_CHANGES: f64 = 1e9;
/// And how exactly.
const NEARLY_FOUND: f64 = 1e-4;

/// A stretch of time in which the forecast rate stays the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Changes per second, on average over what is not known; above 0.
    pub rate: f64,
    /// Up to here; later than the instant asked for.
    pub until: Time,
}

/// What a model says about the time to come.
#[derive(Debug, Clone, Copy)]
pub struct Forecast<'m> {
    model: &'m Model,
    prior: Prior,
}

impl Model {
    /// The forecast of the source.
    pub const fn forecast(&self) -> Forecast<'_> {
        Forecast { model: self, prior: self.prior() }
    }

    /// The same, with the prior that other sources suggest.
    pub fn forecast_among(&self, prior: Prior) -> Forecast<'_> {
        Forecast { model: self, prior: prior.sane() }
    }
}

impl Forecast<'_> {
    fn gamma(&self) -> Gamma {
        self.model.gamma_with(self.prior)
    }

    /// The rate at an instant, and until when it stays the same.
    pub fn segment(&self, at: Time) -> Segment {
        let mean = self.mean_rate();
        match self.model.rhythm() {
            None => Segment { rate: mean, until: at.plus(Duration::from_hours(24)) },
            Some(rhythm) => {
                let piece = rhythm.piece(WeekTime::of(at));
                Segment { rate: mean * piece.factor, until: later(at, piece.lasts) }
            }
        }
    }

    /// Changes per second, averaged over whole weeks.
    pub fn mean_rate(&self) -> f64 {
        self.gamma().mean()
    }

    /// How many changes are expected from one instant to another.
    pub fn expected(&self, from: Time, to: Time) -> f64 {
        self.mean_rate() * self.model.exposure(from, to)
    }

    /// The first instant by which so many changes are expected since another one; the last instant there is when
    /// that takes longer than can be said.
    pub fn reaches(&self, from: Time, changes: f64) -> Time {
        let exposure = changes.max(0.0) / self.mean_rate();
        match self.model.rhythm() {
            None => later(from, (exposure * 1e6).ceil() as i64),
            Some(rhythm) => later(from, rhythm.time_for(WeekTime::of(from), exposure)),
        }
    }

    /// The chance of at least one change from one instant to another, over all rates that may be true.
    pub fn probability(&self, from: Time, to: Time) -> f64 {
        // With a Gamma-distributed rate, silence has the chance (1 + exposure / seconds)^−shape.
        let gamma = self.gamma();
        let exposure = self.model.exposure(from, to);
        -(-gamma.shape * (exposure / gamma.seconds).ln_1p()).exp_m1()
    }

    /// The chance of at least one change between two instants, the first of which is the last probe: bursts, and that
    /// they have ended, are taken into account.
    pub fn chance_since(&self, last_probe: Time, now: Time) -> f64 {
        1.0 - self.silence(self.model.exposure(last_probe, now))
    }

    /// How many changes are expected on average, bursts or not, by the time at which the chance of any since the last
    /// probe has grown to this.
    pub fn changes_for(&self, chance: f64) -> f64 {
        let gamma = self.gamma();
        if self.model.bursts().is_none() {
            return gamma.shape * (-(-chance).ln_1p() / gamma.shape).exp_m1();
        }
        let is_reached = |changes: f64| 1.0 - self.silence(changes / gamma.mean()) >= chance;
        let (mut low, mut high) = (0.0, 1.0);
        while high < MOST_CHANGES && !is_reached(high) {
            (low, high) = (high, high * 2.0);
        }
        while high - low > NEARLY_FOUND * high {
            let middle = f64::midpoint(low, high);
            if is_reached(middle) { high = middle } else { low = middle }
        }
        high
    }

    fn silence(&self, exposure: f64) -> f64 {
        let gamma = self.gamma();
        match self.model.bursts() {
            None => gamma.silence(exposure),
            Some(bursts) => bursts.silence(gamma, self.prior.strength, exposure),
        }
    }

    /// Between which bounds the expected number of changes lies with the chance `level`, half of the rest on either
    /// side. Divided by the seconds, the bounds of the rate.
    pub fn interval(&self, from: Time, to: Time, level: f64) -> Range<f64> {
        let gamma = self.gamma();
        let per_unit = self.model.exposure(from, to) / gamma.seconds;
        let rest = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
        let bound = |chance: f64| gamma_quantile(gamma.shape, chance) * per_unit;
        bound(rest)..bound(1.0 - rest)
    }

    /// How many changes' worth of evidence there is: the shape of the Gamma distribution of the rate, whose
    /// relative standard deviation is one over the root of it.
    pub fn evidence(&self) -> f64 {
        self.gamma().shape
    }

    /// By how much the rate may well be larger than its mean: at least 1, and near 1 for what is well known. A probe
    /// is worth that much more for what it teaches.
    pub fn hope(&self) -> f64 {
        1.0 + 1.0 / self.evidence().sqrt()
    }
}
