//! A forecast in steps, to be drawn or listed.

use std::ops::Range;

use dunlin_core::Time;

use super::Forecast;

/// One step of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// From when to when.
    pub time: Range<Time>,
    /// Changes per second, on average over the step.
    pub rate: f64,
    /// Bounds between which that rate lies with a chance of four in five.
    pub bounds: Range<f64>,
    /// The chance of at least one change in the step.
    pub probability: f64,
}

/// The most steps a curve has: more than any screen shows.
const MOST_STEPS: u32 = 10_000;

/// The chance that the true rate lies within the bounds.
const LEVEL: f64 = 0.8;

impl Forecast<'_> {
    /// The forecast from one instant to another, in equal steps: as many as asked for, but at most ten thousand, none
    /// shorter than a second, and none at all when the end is not later.
    pub fn curve(&self, from: Time, to: Time, steps: u32) -> Vec<Point> {
        let micros = i128::from(to.micros()) - i128::from(from.micros());
        let steps = i128::from(steps.min(MOST_STEPS)).min(micros / 1_000_000);
        let edge = |step: i128| {
            let micros = i128::from(from.micros()) + micros * step / steps;
            Time::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
        };
        // The bounds are the same multiples of the rate at all times: only the mean rate is uncertain.
        let unit = self.interval(from, to, LEVEL);
        let expected = self.expected(from, to);
        (0..steps.max(0))
            .map(|step| {
                let time = edge(step)..edge(step + 1);
                let seconds = time.end.since(time.start).as_secs_f64();
                let rate = self.expected(time.start, time.end) / seconds;
                let bounds = rate * (unit.start / expected)..rate * (unit.end / expected);
                let probability = self.probability(time.start, time.end);
                Point { time, rate, bounds, probability }
            })
            .collect()
    }
}
