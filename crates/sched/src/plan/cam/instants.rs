//! When in an epoch a source's probes are best made, from its rate curve. Says nothing about other sources.
//!
//! Equal shares of the expected changes lie between the probes, which finds the most of them. From epoch to epoch the
//! beat is kept: the first probe comes when the share since the last probe is full. What a busy stretch of time brings
//! is fetched when the stretch is over, unless another probe is due within it.

use std::ops::Range;
use std::time::Duration;

use dunlin_core::Time;

use super::sharing::ProbeDemand;
use crate::forecast::Forecast;

/// Stretches of one rate that are searched for the end of a busy time.
const MOST_STRETCHES: usize = 64;

/// The instants of `probes` probes within `epoch`, in order. The first comes after at most `phase` (0 to 1) of a
/// share: if everyone began with a whole share, all whose share is the epoch would meet at its end.
pub fn instants(
    forecast: &Forecast<'_>,
    epoch: &Range<Time>,
    demand: &ProbeDemand,
    probes: u32,
    phase: f64,
) -> Vec<Time> {
    let share = demand.expected / f64::from(probes.max(1));
    let first = (share - demand.pending).min(share * phase.clamp(0.0, 1.0)).max(0.0);
    let cut = |nth: u32| forecast.reaches(epoch.start, first + f64::from(nth) * share);
    let last = Time::from_micros(epoch.end.micros().saturating_sub(1)).max(epoch.start);
    let mean = demand.expected / epoch.end.since(epoch.start).as_secs_f64();
    let settled = |nth: u32| {
        let (at, next) = (cut(nth), if nth + 1 < probes { cut(nth + 1) } else { last });
        calm_after(forecast, at, next, mean).unwrap_or(at).clamp(epoch.start, last)
    };
    (0..probes).map(settled).collect()
}

/// The end of the busy stretch that `at` falls into, if that comes before `next`.
fn calm_after(forecast: &Forecast<'_>, at: Time, next: Time, mean: f64) -> Option<Time> {
    let mut end = at;
    for _ in 0..MOST_STRETCHES {
        let segment = forecast.segment(end);
        if segment.rate <= mean * (1.0 + 1e-9) {
            return (end > at).then_some(end);
        }
        end = segment.until.max(end.plus(Duration::from_micros(1)));
        if end >= next {
            return None;
        }
    }
    None
}
