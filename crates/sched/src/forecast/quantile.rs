//! Quantiles of the Gamma distribution. Nothing about sources.

/// The value that a Gamma-distributed number of this shape (and scale 1) does not exceed with this chance. Good to
/// about nine digits; 0 and infinity at chances of 0 and 1.
pub(super) fn gamma_quantile(shape: f64, chance: f64) -> f64 {
    if chance <= 0.0 {
        return 0.0;
    }
    if chance >= 1.0 {
        return f64::INFINITY;
    }
    // Halve the logarithm's range: the distribution function is smooth and rising, so sixty halvings are exact, and
    // small shapes put quantiles at any power of ten.
    let (mut low, mut high) = (-700.0f64, (shape + 40.0 + 20.0 * shape.sqrt()).ln());
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if share_below(shape, middle.exp()) < chance { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// The share of a Gamma distribution of scale 1 that lies below `x`: the regularised incomplete gamma function.
fn share_below(shape: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = (shape * x.ln() - x - ln_gamma(shape)).exp();
    if x < shape + 1.0 { front * series(shape, x) } else { 1.0 - front * fraction(shape, x) }
}

/// Σ xⁿ / (shape (shape+1) … (shape+n)).
fn series(shape: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / shape, 1.0 / shape);
    for n in 1..2_000 {
        term *= x / (shape + f64::from(n));
        sum += term;
        if term < sum * 1e-16 {
            break;
        }
    }
    sum
}

/// The continued fraction for the share above, evaluated from its front by Lentz's method.
fn fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut partial = x + 1.0 - shape;
    let (mut above, mut below) = (1.0 / TINY, 1.0 / partial);
    let mut product = below;
    for n in (1..2_000).map(f64::from) {
        let numerator = -n * (n - shape);
        partial += 2.0;
        below = 1.0 / away_from_zero(numerator.mul_add(below, partial));
        above = away_from_zero(partial + numerator / above);
        product *= above * below;
        if (above * below - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// The logarithm of the gamma function for positive numbers, by Stirling's series after a few steps up.
fn ln_gamma(x: f64) -> f64 {
    let mut product = 1.0;
    let mut z = x;
    while z < 12.0 {
        product *= z;
        z += 1.0;
    }
    let inverse = 1.0 / (z * z);
    let tail = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1_260.0 - inverse / 1_680.0))) / z;
    (z - 0.5) * z.ln() - z + 0.5 * std::f64::consts::TAU.ln() + tail - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_quantiles() {
        // Shape 1 is the exponential distribution.
        for chance in [1e-6, 0.1, 0.5, 0.9, 0.999] {
            let expected = -f64::ln_1p(-chance);
            assert!((gamma_quantile(1.0, chance) / expected - 1.0).abs() < 1e-9, "{chance}");
        }
        // Twice a Gamma of shape k/2 is chi-squared with k degrees of freedom, whose tables are old.
        for (freedom, chance, expected) in [
            (1.0, 0.95, 3.841_458_8),
            (10.0, 0.95, 18.307_038),
            (10.0, 0.05, 3.940_299_1),
            (100.0, 0.5, 99.334_129),
        ] {
            let found: f64 = 2.0 * gamma_quantile(freedom / 2.0, chance);
            assert!((found / expected - 1.0).abs() < 1e-7, "{freedom} {chance}: {found}");
        }
    }

    #[test]
    fn extremes_stay_finite_and_in_order() {
        for shape in [1e-3, 0.5, 30.0, 1e4] {
            let quantiles = [1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9].map(|chance| gamma_quantile(shape, chance));
            assert!(
                quantiles.is_sorted() && quantiles.iter().all(|q| q.is_finite()),
                "{shape}: {quantiles:?}"
            );
        }
        assert_eq!((gamma_quantile(2.0, 0.0), gamma_quantile(2.0, 1.0)), (0.0, f64::INFINITY));
    }
}
