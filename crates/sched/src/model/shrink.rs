//! From counts by bin to factors of mean 1, moved towards what is already believed as far as chance could explain the
//! difference. Pure arithmetic on tables; knows nothing of weeks and hours.
//!
//! Invariant: factors are finite and above 0, and flat counts give flat factors.

/// The prior of how much bins differ, before counts say more.
#[derive(Debug, Clone, Copy)]
pub(super) struct VariancePrior {
    /// Variance of the true factors, relative to what is believed of each.
    pub(super) variance: f64,
    /// How much that assumption counts: a sum of squared expected counts.
    pub(super) weight: f64,
}

/// No hour and no minute is given up: a factor is at least this, before the mean is set to 1.
const LEAST_FACTOR: f64 = 0.01;
/// And at most this: counts where nothing could be expected, as only a damaged store has them, must not run out of range.
const MOST_FACTOR: f64 = 1e6;

/// Below this variance the bins count as equal.
const LEAST_VARIANCE: f64 = 1e-4;

/// Refines factors by counts. `expected` has, for each bin, the count that a flat rhythm would give; `kernel` sums
/// neighbours (around the circle) before they are compared, with weights that add up to 1 and the middle in the middle.
/// `noise` is the variance of a count by its mean: 1 for counts of events, less when each was spread over many bins.
///
/// Each true factor is thought to be drawn from a Gamma distribution around the factor believed so far; how widely
/// those scatter is estimated from the counts themselves, by moments, and the result is the mean of what is possible.
pub(super) fn refine<const BINS: usize>(
    factors: &mut [f64; BINS],
    counts: &[f64; BINS],
    expected: &[f64; BINS],
    kernel: &[f64],
    noise: f64,
    prior: VariancePrior,
) {
    let believed: [f64; BINS] = std::array::from_fn(|bin| expected[bin] * factors[bin]);
    // A smoothed count varies less than a count does; seen as so many bins put together, it varies as it should.
    let together = 1.0 / (noise * kernel.iter().map(|weight| weight * weight).sum::<f64>());
    let smooth = |table: &[f64; BINS], bin: usize| -> f64 {
        let first = bin + BINS - kernel.len() / 2;
        let sum: f64 = kernel.iter().enumerate().map(|(i, weight)| weight * table[(first + i) % BINS]).sum();
        sum * together
    };
    let pairs: [(f64, f64); BINS] = std::array::from_fn(|bin| (smooth(counts, bin), smooth(&believed, bin)));
    let surplus: f64 = pairs.iter().map(|(count, mean)| (count - mean).powi(2) - mean).sum();
    let squares: f64 = pairs.iter().map(|(_, mean)| mean * mean).sum();
    let variance = prior.variance.mul_add(prior.weight, surplus) / (squares + prior.weight);
    if variance < LEAST_VARIANCE {
        return;
    }
    let pseudo = 1.0 / variance;
    for (factor, (count, mean)) in factors.iter_mut().zip(pairs) {
        // `max` also replaces what is not a number.
        let refined = (*factor * (count + pseudo) / (mean + pseudo)).max(LEAST_FACTOR);
        *factor = refined.min(MOST_FACTOR);
    }
}

/// Scales factors so that counts and expectations agree in total.
pub(super) fn balance<const BINS: usize>(factors: &mut [f64; BINS], weights: &[f64; BINS]) {
    let total: f64 = weights.iter().sum();
    let weighed: f64 = factors.iter().zip(weights).map(|(factor, weight)| factor * weight).sum();
    if weighed > 0.0 && total > 0.0 {
        for factor in factors {
            *factor *= total / weighed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUMBLE: VariancePrior = VariancePrior { variance: 0.3, weight: 4.0 };

    fn refined(counts: [f64; 24]) -> [f64; 24] {
        let expected = [counts.iter().sum::<f64>() / 24.0; 24];
        let mut factors = [1.0; 24];
        refine(&mut factors, &counts, &expected, &[1.0], 1.0, HUMBLE);
        factors
    }

    #[test]
    fn equal_counts_say_that_bins_are_alike() {
        assert!(refined([50.0; 24]).iter().all(|&factor| factor == 1.0));
        assert!(refined([0.0; 24]).iter().all(|&factor| factor == 1.0));
    }

    #[test]
    fn a_few_changes_all_at_one_hour_say_more_than_as_many_all_over_the_day() {
        let (mut punctual, mut scattered) = ([0.0; 24], [0.0; 24]);
        punctual[9] = 5.0;
        [1, 6, 9, 15, 22].into_iter().for_each(|hour| scattered[hour] = 1.0);
        assert!(refined(punctual)[9] > 8.0);
        assert!(refined(scattered)[9] < 1.3);
    }

    #[test]
    fn counts_where_nothing_was_expected_leave_factors_finite() {
        let (mut counts, mut expected) = ([0.0; 24], [0.0; 24]);
        (counts[3], expected[4]) = (3.6e12, 3.6e12);
        let mut factors = [1.0; 24];
        for _ in 0..3 {
            refine(&mut factors, &counts, &expected, &[1.0], 1.0, HUMBLE);
            balance(&mut factors, &expected);
            assert!(factors.iter().all(|factor| factor.is_finite() && *factor > 0.0), "{factors:?}");
        }
    }

    #[test]
    fn smoothing_lets_neighbours_take_part() {
        let mut counts = [0.0; 24];
        counts[0] = 8.0;
        let mut factors = [1.0; 24];
        refine(&mut factors, &counts, &[1.0 / 3.0; 24], &[0.25, 0.5, 0.25], 1.0, HUMBLE);
        assert!(factors[23] > 2.0 * factors[12] && factors[0] > factors[23], "{factors:?}");
    }
}
