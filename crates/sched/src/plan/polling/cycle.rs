//! The best closed round of k stops on a circle, for losses that satisfy the quadrangle inequality.
//!
//! Take two rounds as sequences without end that move on by the whole circle every k stops. Stop by stop, the smaller
//! of the two form a round, and so do the larger; by the inequality, applied to every edge, those two together lose no
//! more than the first two. All that makes the search fast follows from it:
//!
//! 1. In a layer, the best predecessor moves forward with the stop, so a layer of w stops takes O(w·log w) by
//!    halving.
//! 2. Through the same start, the i-th stop of a best round of k + 1 lies between stops i − 1 and i of the best
//!    round of k. So one more stop costs O(m·log m), whatever k.
//! 3. Between two starts, the best rounds lie between theirs: starts are halved, too.
//! 4. Let x be a best round through some stop x₀. Then some best round z of all interleaves it: xᵢ ≤ zᵢ ≤ xᵢ₊₁. For take any
//!    best round of all and number it so that z₋₁ < x₀ ≤ z₀. The smaller of x and z runs through x₀, so it loses no
//!    less than x, so the larger loses no more than z: take that one for z. Then compare z with x moved on by one stop:
//!    now the larger runs through x₀, and the smaller is the z we want. So only starts in the shortest arc of x have to
//!    be tried, at most m/k + 1, and every other stop has an arc to itself: O(m·log m·log(m/k)) for all of it.
//!
//! Positions count on round the circle: q + m is q, one round later.

use super::Losses;

/// A closed round.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    loss: f64,
    /// Ascending; the last lies less than a full circle after the first.
    polls: Vec<usize>,
}

impl Round {
    pub(crate) const fn loss(&self) -> f64 {
        self.loss
    }

    pub(crate) fn polls(&self) -> &[usize] {
        &self.polls
    }
}

/// The first and last position that a stop may take.
type Bounds = (usize, usize);

/// A circle of positions and what it costs to skip from one to another.
pub(crate) struct Cycle<'a> {
    losses: &'a Losses,
}

impl<'a> Cycle<'a> {
    pub(crate) const fn new(losses: &'a Losses) -> Self {
        Self { losses }
    }

    /// The best round of `polls` stops, or of all positions if they are fewer; nothing without stops.
    pub(crate) fn best(&self, polls: u32) -> Option<Round> {
        let k = (polls as usize).min(self.losses.len());
        let through_first = self.rounds_through_first().nth(k.checked_sub(1)?)?;
        Some(self.best_near(&through_first))
    }

    /// The best rounds of 1, 2, … stops, as many as there are positions.
    pub(crate) fn best_of_each_size(&self) -> impl Iterator<Item = Round> {
        self.rounds_through_first().map(|round| self.best_near(&round))
    }

    /// The best rounds of 1, 2, … stops among those that stop at position 0.
    fn rounds_through_first(&self) -> impl Iterator<Item = Round> {
        let m = self.losses.len();
        let first = (m > 0).then(|| Round { loss: self.losses.between(0, m), polls: vec![0] });
        std::iter::successors(first, move |round| {
            let k = round.polls.len();
            if k == m {
                return None;
            }
            let stop = |i: usize| round.polls.get(i).copied().unwrap_or(m);
            Some(self.through(0, k + 1, |i| (stop(i - 1), stop(i))))
        })
    }

    /// The best round of all with as many stops as `round`, which is a best one through one of its stops.
    fn best_near(&self, round: &Round) -> Round {
        let (m, k) = (self.losses.len(), round.polls.len());
        let stop = |i: usize| round.polls[i % k] + m * (i / k);
        let Some(arc) = (0..k).min_by_key(|&i| stop(i + 1) - stop(i)) else { return round.clone() };
        let near = |i: usize| stop(arc + i);
        let left = self.through(near(0), k, |i| (near(i), near(i + 1)));
        let right = self.through(near(1), k, |i| (near(i).max(left.polls[i]), near(i + 1)));
        let mut best = if right.loss < left.loss { right.clone() } else { left.clone() };
        self.halve(&left, &right, &mut best);
        best
    }

    /// Searches for a better round that starts between those of `left` and `right`.
    fn halve(&self, left: &Round, right: &Round, best: &mut Round) {
        let start = left.polls[0].midpoint(right.polls[0]);
        if start == left.polls[0] {
            return;
        }
        let middle = self.through(start, left.polls.len(), |i| (left.polls[i], right.polls[i]));
        if middle.loss < best.loss {
            best.clone_from(&middle);
        }
        self.halve(left, &middle, best);
        self.halve(&middle, right, best);
    }

    /// The best round of `k` stops from `start`, the others within their bounds; the first of equals.
    fn through(&self, start: usize, k: usize, bounds: impl Fn(usize) -> Bounds) -> Round {
        let m = self.losses.len();
        let mut layers = vec![Layer { first: start, stops: vec![Stop { loss: 0.0, from: start }] }];
        for i in 1..k {
            let (first, last) = bounds(i);
            // Stops differ, and leave room for those that follow.
            let (first, last) = (first.max(start + i), last.min(start + m - (k - i)));
            let mut layer =
                Layer { first, stops: vec![Stop { loss: f64::INFINITY, from: 0 }; last + 1 - first] };
            let before = &layers[i - 1];
            self.fill(before, &mut layer, (first, last), (before.first, before.last()));
            layers.push(layer);
        }
        let end = self.best_stop(&layers[k - 1], start + m, (layers[k - 1].first, layers[k - 1].last()));
        let mut polls = vec![end.from];
        for layer in layers[1..].iter().rev() {
            let stop = polls[polls.len() - 1];
            polls.push(layer.stops[stop - layer.first].from);
        }
        polls.reverse();
        Round { loss: end.loss, polls }
    }

    /// Computes the stops of `layer` within `to`, whose predecessors lie within `from`.
    fn fill(&self, before: &Layer, layer: &mut Layer, to: Bounds, from: Bounds) {
        let middle = to.0.midpoint(to.1);
        let stop = self.best_stop(before, middle, from);
        layer.stops[middle - layer.first] = stop;
        if to.0 < middle {
            self.fill(before, layer, (to.0, middle - 1), (from.0, stop.from));
        }
        if middle < to.1 {
            self.fill(before, layer, (middle + 1, to.1), (stop.from, from.1));
        }
    }

    /// How `position` is best reached.
    fn best_stop(&self, before: &Layer, position: usize, from: Bounds) -> Stop {
        let mut best = Stop { loss: f64::INFINITY, from: from.0 };
        for from in from.0..=from.1.min(position - 1) {
            let loss = before.stops[from - before.first].loss + self.losses.between(from, position);
            if loss < best.loss {
                best = Stop { loss, from };
            }
        }
        best
    }
}

/// The positions that the i-th stop may take.
struct Layer {
    first: usize,
    stops: Vec<Stop>,
}

impl Layer {
    const fn last(&self) -> usize {
        self.first + self.stops.len() - 1
    }
}

/// A position as the end of a path from the start.
#[derive(Clone, Copy)]
struct Stop {
    loss: f64,
    from: usize,
}
