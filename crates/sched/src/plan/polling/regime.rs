//! Whether a source has changed its habits, and planning from what is still true.
//!
//! The test: the period is cut into at most 24 bins, and the updates in each bin before and after a moment are
//! taken as two Poisson counts over as many periods each. The likelihood ratio of "each has a rate of its own"
//! against "both have the same" is, times two, distributed as χ² with one degree of freedom per bin. Bins with fewer
//! than five updates are thrown together. Real sources come in bursts, so the statistic is divided by the
//! variance of the number of updates per period over its mean, where that is above 1. Moments 1, 2, 4, … periods
//! before the end are tried, up to half of the history; the one with the clearest verdict is taken.

use std::num::NonZeroU32;

use super::{History, Objective, PollingPlan, exact, phase};
use crate::plan::Error;

const MOST_BINS: u32 = 24;

/// Fewer updates than this in a bin tell nothing.
const LEAST_UPDATES: f64 = 5.0;

/// Fewer periods than this before the moment tell nothing either.
const LEAST_PERIODS: i64 = 4;

/// The normal quantile that the statistic must exceed: 1 in 4,000 for each moment tried.
const QUANTILE: f64 = 3.5;

/// A change of habits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Break {
    /// The slot from which on the source behaves differently, give or take.
    pub since: i64,
    /// How unlike before and after are.
    pub statistic: f64,
    /// What it had to exceed.
    pub threshold: f64,
}

/// The clearest break in a history of periods of `slots` slots, if there is one.
pub fn find_break(history: &History, slots: u32) -> Option<Break> {
    let (slots, span) = (slots.max(1), history.span());
    let length = i64::from(slots);
    let periods = (span.end - span.start) / length;
    let dispersion = dispersion(history, slots);
    let moments = std::iter::successors(Some(1i64), |recent| Some(recent * 2));
    let moments = moments.take_while(|&recent| recent <= periods / 2 && periods - recent >= LEAST_PERIODS);
    let clearness = |found: &Break| found.statistic / found.threshold;
    moments
        .filter_map(|recent| contradiction(history, slots, span.end - recent * length, dispersion))
        .filter(|found| found.statistic > found.threshold)
        .max_by(|a, b| clearness(a).total_cmp(&clearness(b)))
}

/// The exact plan from what still holds: the part since the clearest break, or everything when there is none;
/// and of that, what is `half_life` slots old counts half.
pub fn replan(
    history: &History,
    slots: u32,
    polls: u32,
    objective: Objective,
    half_life: NonZeroU32,
) -> Result<(PollingPlan, Option<Break>), Error> {
    let found = find_break(history, slots);
    let since = found.map_or(history.span().start, |found| found.since);
    let current = history.part(since..history.span().end).decayed(half_life);
    Ok((exact(&current, slots, polls, objective)?, found))
}

/// How much the parts before and after `moment` contradict each other.
fn contradiction(history: &History, slots: u32, moment: i64, dispersion: f64) -> Option<Break> {
    let span = history.span();
    let bins = slots.min(MOST_BINS) as usize;
    let mut counts = vec![[0.0; 2]; bins];
    for &slot in history.slots() {
        let bin = phase(slot, slots) as usize * bins / slots as usize;
        counts[bin][usize::from(slot >= moment)] += 1.0;
    }
    let mut rest = [0.0; 2];
    counts.retain(|&[before, after]| {
        let tells = before + after >= LEAST_UPDATES;
        if !tells {
            rest = [rest[0] + before, rest[1] + after];
        }
        tells
    });
    if rest[0] + rest[1] >= LEAST_UPDATES {
        counts.push(rest);
    }
    if counts.is_empty() {
        return None;
    }
    let share = (moment - span.start) as f64 / (span.end - span.start) as f64;
    let surprise =
        |count: f64, expected: f64| if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    let of_bin = |&[before, after]: &[f64; 2]| {
        let all = before + after;
        2.0 * (surprise(before, all * share) + surprise(after, all * (1.0 - share)))
    };
    let statistic = counts.iter().map(of_bin).sum::<f64>() / dispersion;
    Some(Break { since: moment, statistic, threshold: chi_square_quantile(counts.len() as f64) })
}

/// Wilson and Hilferty's approximation.
fn chi_square_quantile(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + QUANTILE * spread.sqrt()).powi(3)
}

/// Variance over mean of the number of updates per period, at least 1.
fn dispersion(history: &History, slots: u32) -> f64 {
    let (slots, span) = (i64::from(slots), history.span());
    let periods = ((span.end - span.start) / slots).max(1) as f64;
    let period = |slot: &i64| (slot - span.start) / slots;
    let counts = history.slots().chunk_by(|a, b| period(a) == period(b)).map(|own| own.len() as f64);
    let (sum, squares) = counts.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    let mean = sum / periods;
    if mean == 0.0 { 1.0 } else { ((squares / periods - mean * mean) / mean).max(1.0) }
}
