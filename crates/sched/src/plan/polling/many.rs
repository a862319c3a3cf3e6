//! Sharing a number of polls among many sources, so that all together lose least.
//!
//! Each source's curve, how much it gains by 1, 2, … polls, is computed once. Where curves bend downwards, the
//! next poll goes to the source that gains most by it, and that is the optimum. Where one does not (two polls may be
//! worth more than twice one), its concave envelope is followed: the source gets all polls of such a stretch or
//! none, in the order of the mean gain per poll. Polls that are too few for the next stretch go, one choice at a time,
//! to the source that gains most per poll with what is left. So the result is the optimum but for the gain of at most one
//! stretch, and exactly it when all curves are concave.

use super::cycle::Cycle;
use super::{History, Losses, Objective, PollingPlan, exact, never};
use crate::plan::Error;

/// One plan per history, at most `total` polls per period together.
pub fn plan_many(
    histories: &[History],
    slots: u32,
    total: u32,
    objective: Objective,
) -> Result<Vec<PollingPlan>, Error> {
    let slots = slots.max(1);
    let curve = |history| gains(history, slots, total as usize, objective);
    let curves: Vec<Vec<f64>> = histories.iter().map(curve).collect::<Result<_, _>>()?;
    let shares = share(&curves, total as usize);
    let plan = |(history, polls)| exact(history, slots, polls, objective);
    histories.iter().zip(shares.iter().map(|&polls| polls as u32)).map(plan).collect()
}

/// What 0, 1, … polls gain over none.
fn gains(history: &History, slots: u32, most: usize, objective: Objective) -> Result<Vec<f64>, Error> {
    let losses = Losses::new(history, slots, objective)?;
    let unpolled = never(history, objective);
    let cycle = Cycle::new(&losses);
    let polled = cycle.best_of_each_size().take(most).map(|round| unpolled - round.loss());
    Ok(std::iter::once(0.0).chain(polled).collect())
}

/// A stretch of a concave envelope.
struct Stretch {
    source: usize,
    polls: usize,
    /// Gain per poll.
    slope: f64,
}

/// How many polls each curve gets.
fn share(curves: &[Vec<f64>], total: usize) -> Vec<usize> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (source, gains) in curves.iter().enumerate() {
        let corners = envelope(gains);
        stretches.extend(corners.windows(2).map(|pair| Stretch {
            source,
            polls: pair[1] - pair[0],
            slope: (gains[pair[1]] - gains[pair[0]]) / (pair[1] - pair[0]) as f64,
        }));
    }
    // A stable sort: equal slopes in the order of sources, those of one source in their own order.
    stretches.sort_by(|a, b| b.slope.total_cmp(&a.slope));
    let (mut shares, mut left) = (vec![0; curves.len()], total);
    for stretch in stretches {
        if stretch.polls > left || stretch.slope <= 0.0 {
            break;
        }
        shares[stretch.source] += stretch.polls;
        left -= stretch.polls;
    }
    while let Some((source, polls)) = best_step(curves, &shares, left) {
        shares[source] += polls;
        left -= polls;
    }
    shares
}

/// Where the upper concave envelope of a curve has its corners, ends included.
fn envelope(gains: &[f64]) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for next in 0..gains.len() {
        while let [.., before, last] = corners[..] {
            let rise = |from: usize, to: usize| (gains[to] - gains[from]) / (to - from) as f64;
            if rise(before, last) > rise(last, next) {
                break;
            }
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

/// The source, and the number of polls up to `left`, that gain most per poll.
fn best_step(curves: &[Vec<f64>], shares: &[usize], left: usize) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (source, (gains, &share)) in curves.iter().zip(shares).enumerate() {
        for polls in 1..=left.min(gains.len() - 1 - share) {
            let slope = (gains[share + polls] - gains[share]) / polls as f64;
            if slope > best.map_or(0.0, |(slope, ..)| slope) {
                best = Some((slope, source, polls));
            }
        }
    }
    best.map(|(_, source, polls)| (source, polls))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total_gain(curves: &[Vec<f64>], shares: &[usize]) -> f64 {
        curves.iter().zip(shares).map(|(gains, &share)| gains[share]).sum()
    }

    #[test]
    fn concave_curves_are_shared_poll_by_poll() {
        let curves = [vec![0.0, 5.0, 8.0, 9.0], vec![0.0, 4.0, 4.5], vec![0.0, 0.0, 0.0]];
        assert_eq!(share(&curves, 1), [1, 0, 0]);
        assert_eq!(share(&curves, 2), [1, 1, 0]);
        assert_eq!(share(&curves, 3), [2, 1, 0]);
        assert_eq!(share(&curves, 99), [3, 2, 0], "a poll that gains nothing is not made");
    }

    /// Two polls of the first are worth 10, one alone 1.
    #[test]
    fn a_stretch_that_is_not_concave_is_taken_whole_or_left() {
        let curves = [vec![0.0, 1.0, 10.0], vec![0.0, 4.0, 7.0]];
        assert_eq!(share(&curves, 2), [2, 0]);
        assert_eq!(share(&curves, 3), [2, 1]);
        assert_eq!(share(&curves, 1), [0, 1], "one poll is too few for the stretch");
        assert_eq!(total_gain(&curves, &share(&curves, 3)), 14.0);
    }

    #[test]
    fn the_envelope_leaves_out_what_lies_below() {
        assert_eq!(envelope(&[0.0, 1.0, 10.0, 12.0, 12.0]), [0, 2, 3, 4]);
        assert_eq!(envelope(&[0.0]), [0]);
    }
}
