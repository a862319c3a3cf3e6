//! Positive numbers with an exponent that cannot run out. Keys are divided by ρ^now so that they never
//! have to be touched while their source is silent; after a day of seconds that divisor is far outside
//! the range of `f64`. Not a general number type: only what keys need.

use std::cmp::Ordering;

/// mantissa · 2^exponent with the mantissa in [1, 2); zero has the least exponent of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scaled {
    exponent: i64,
    mantissa: f64,
}

const MANTISSA_BITS: u32 = 52;
const BIAS: i64 = 1023;

impl Scaled {
    pub(crate) const ZERO: Self = Self { exponent: i64::MIN, mantissa: 0.0 };
    pub(crate) const ONE: Self = Self { exponent: 0, mantissa: 1.0 };

    /// The same number; anything not positive counts as zero.
    pub(crate) fn new(value: f64) -> Self {
        if value.is_nan() || value <= 0.0 {
            return Self::ZERO;
        }
        if value < f64::MIN_POSITIVE {
            let Self { exponent, mantissa } = Self::new(value * power_of_two(64));
            return Self { exponent: exponent - 64, mantissa };
        }
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA_BITS).cast_signed() - BIAS;
        let fraction = bits & ((1 << MANTISSA_BITS) - 1);
        Self { exponent, mantissa: f64::from_bits(fraction | (BIAS.cast_unsigned() << MANTISSA_BITS)) }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    pub(crate) fn times(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        // The product of two mantissas lies in [1, 4).
        let product = self.mantissa * other.mantissa;
        let carry = product >= 2.0;
        Self {
            exponent: self.exponent.saturating_add(other.exponent) + i64::from(carry),
            mantissa: if carry { product * 0.5 } else { product },
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let (large, small) = if self < other { (other, self) } else { (self, other) };
        if small.is_zero() {
            return large;
        }
        let shift = large.exponent - small.exponent;
        if shift > i64::from(MANTISSA_BITS) + 1 {
            return large;
        }
        let Self { exponent, mantissa } = Self::new(large.mantissa + small.mantissa * power_of_two(-shift));
        Self { exponent: exponent + large.exponent, mantissa }
    }

    /// `self^exponent` by squaring.
    pub(crate) fn power(self, mut exponent: u32) -> Self {
        let (mut base, mut product) = (self, Self::ONE);
        while exponent > 0 {
            if exponent & 1 == 1 {
                product = product.times(base);
            }
            base = base.times(base);
            exponent >>= 1;
        }
        product
    }
}

/// 2^n for |n| ≤ 1022.
fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n + BIAS).cast_unsigned() << MANTISSA_BITS)
}

impl Eq for Scaled {}

impl Ord for Scaled {
    fn cmp(&self, other: &Self) -> Ordering {
        // Mantissas are never negative, so their bits sort like their values.
        (self.exponent, self.mantissa.to_bits()).cmp(&(other.exponent, other.mantissa.to_bits()))
    }
}

impl PartialOrd for Scaled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(number: Scaled) -> f64 {
        number.mantissa * 2f64.powf(number.exponent as f64)
    }

    #[test]
    fn powers_outlast_the_range_of_floats() {
        let tiny = Scaled::new(0.5).power(1_000_000);
        let huge = Scaled::new(2.0).power(1_000_000);
        assert!(tiny < Scaled::new(f64::from_bits(1)) && huge > Scaled::new(f64::MAX));
        assert_eq!(tiny.times(huge), Scaled::ONE);
        assert_eq!(Scaled::new(-1.0), Scaled::ZERO);
        assert_eq!(back(Scaled::new(f64::from_bits(3))), f64::from_bits(3));
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_floats(a in 1e-200..1e100f64, b in 1e-200..1e100f64) {
            prop_assert_eq!(Scaled::new(a).cmp(&Scaled::new(b)), a.total_cmp(&b));
            prop_assert_eq!(Scaled::new(a).plus(Scaled::new(b)), Scaled::new(a + b));
            prop_assert!((back(Scaled::new(a).times(Scaled::new(b))) / (a * b) - 1.0).abs() < 1e-12);
        }
    }
}
