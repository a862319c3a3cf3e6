//! The integral of a curve point by point, for lives and urgencies without a formula. Exact enough for a schedule
//! (a few parts in a thousand at the sharpest bends), and bounded: at most eight points in each of a few dozen
//! panels per stretch.

use super::{Stretch, antiderivative};
use crate::value::ValueModel;

/// Points and weights of the Gauss–Legendre rule of order eight on [−1, 1]; each stands for both signs.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_47),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// ∫ urgency·λ·life over the stretches, which come oldest first.
pub(super) fn integral(value: &ValueModel, stretches: &[Stretch], chronon: f64) -> f64 {
    let (mut sum, mut later) = (0.0, 0.0);
    for stretch in stretches.iter().rev() {
        if stretch.rate > 0.0 {
            let term = |age: f64| {
                let changes = later + stretch.rate * (age - stretch.newest);
                let alive = antiderivative::life(value.life, changes);
                if alive == 0.0 { 0.0 } else { alive * antiderivative::urgency(value.urgency, age / chronon) }
            };
            sum += stretch.rate * over_panels(stretch.newest, stretch.oldest, stretch.rate, chronon, term);
        }
        later += stretch.rate * (stretch.oldest - stretch.newest);
    }
    sum
}

/// What decays does so in proportion to its age, or to the changes that come after it, so panels may grow with both.
fn over_panels(newest: f64, oldest: f64, rate: f64, chronon: f64, term: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut from) = (0.0, newest);
    while from < oldest {
        let in_changes = (0.5 / rate).max((from - newest) * 0.25);
        let to = (from + f64::max(from * 0.5, chronon).min(in_changes)).min(oldest);
        let (middle, half) = (f64::midpoint(from, to), (to - from) / 2.0);
        let mut panel = 0.0;
        for (point, weight) in RULE {
            panel += weight * (term(middle + half * point) + term(middle - half * point));
        }
        sum += half * panel;
        // Nothing older can be worth more; a float that cannot grow any further ends it too.
        if to <= from || half * panel * (oldest - to) <= 1e-12 * sum * (to - from) {
            break;
        }
        from = to;
    }
    sum
}
