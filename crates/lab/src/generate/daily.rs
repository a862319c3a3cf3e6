//! Sources with a daily rhythm: busy at one time of day, quiet twelve hours later, different at weekends.

use std::f64::consts::TAU;

use rand::RngExt;

use super::{Rate, SECONDS_PER_DAY, Span, check_number, span};
use crate::Error;
use crate::files::TraceFile;

/// Poisson processes whose rate follows a sine over the day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Daily {
    /// Sources and seconds. Second 0 is midnight before a Monday.
    pub span: Span,
    /// How often they change on a weekday.
    pub rate: Rate,
    /// The hour of the day at which the rate is highest, 0 to 24.
    pub peak_hour: f64,
    /// How far the rate rises above its mean at the peak and falls below it twelve hours later, as a share of
    /// the mean: 0 (not at all) to 1 (to nothing).
    pub amplitude: f64,
    /// What the rate is multiplied by on Saturdays and Sundays, 0 to 10.
    pub weekend_factor: f64,
}

impl Daily {
    /// The trace for `seed`.
    pub fn generate(&self, seed: u64) -> Result<TraceFile, Error> {
        self.rate.check()?;
        check_number("peak hour", self.peak_hour, 0.0, 24.0)?;
        check_number("amplitude", self.amplitude, 0.0, 1.0)?;
        check_number("weekend factor", self.weekend_factor, 0.0, 10.0)?;
        let busiest = (1.0 + self.amplitude) * self.weekend_factor.max(1.0);
        let end = f64::from(self.span.seconds);
        // Checked at the busiest, because that many have to be drawn to be thinned out.
        self.span.fill(seed, busiest * self.rate.expected(self.span.seconds), |rng| {
            let rate = busiest * self.rate.draw(rng);
            let candidates: Vec<_> = span::arrivals(rate, end, rng).collect();
            let kept = candidates.into_iter().filter(|&moment| {
                let share = self.intensity(moment) / busiest;
                rng.random::<f64>() < share
            });
            kept.map(span::second).collect()
        })
    }

    /// The rate at a moment, relative to the mean of a weekday.
    fn intensity(&self, moment: f64) -> f64 {
        let day = (moment / SECONDS_PER_DAY).floor();
        let hour = (moment / SECONDS_PER_DAY - day) * 24.0;
        let weekend = if day % 7.0 >= 5.0 { self.weekend_factor } else { 1.0 };
        let by_hour = (TAU * (hour - self.peak_hour) / 24.0).cos().mul_add(self.amplitude, 1.0);
        by_hour * weekend
    }
}
