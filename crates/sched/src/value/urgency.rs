//! Urgency: what a captured change is worth by its delay. 1 at delay 0, never increasing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::ParseError;

/// The value of a change captured late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Urgency {
    /// Delay does not matter.
    Uniform,
    /// ρ^t, with 0^0 = 1.
    Exponential(f64),
    /// 1 up to this delay, then 0.
    Sliding(u32),
    /// 1/(t+1)^a.
    Polynomial(f64),
    /// A polynomial of degree K times ρ^t: the chance that fewer than K+1 of t chronons "tick" when each
    /// ticks with probability 1−ρ. Degree 0 is `Exponential`; each degree adds a flatter beginning.
    PolyExponential {
        /// Degree of the polynomial.
        degree: u32,
        /// The ρ of its exponential tail.
        ratio: f64,
    },
    /// Falls in a straight line to zero at this delay.
    Chordal(u32),
}

impl Urgency {
    /// What a change is worth when it is captured `delay` chronons after it happened.
    pub fn at(self, delay: u32) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Exponential(ratio) => power(ratio, delay),
            Self::Sliding(w) => f64::from(u8::from(delay <= w)),
            Self::Polynomial(a) => (f64::from(delay) + 1.0).powf(-a),
            Self::PolyExponential { degree, ratio } => few_ticks(delay, degree, ratio),
            Self::Chordal(0) => f64::from(u8::from(delay == 0)),
            Self::Chordal(w) => (1.0 - f64::from(delay) / f64::from(w)).max(0.0),
        }
    }

    /// The ρ by which the value of everything captured later shrinks per chronon, where that is all that
    /// happens. The others have no such factor, and ρ = 0 leaves nothing to shrink.
    pub(crate) fn common_ratio(self) -> Option<f64> {
        match self {
            Self::Uniform => Some(1.0),
            Self::Exponential(ratio) if ratio > 0.0 => Some(ratio),
            _ => None,
        }
    }

    pub(crate) fn horizon(self) -> Option<u32> {
        match self {
            Self::Exponential(0.0) => Some(1),
            Self::Sliding(w) => Some(w.saturating_add(1)),
            Self::Chordal(w) => Some(w.max(1)),
            _ => None,
        }
    }
}

/// `base^exponent` by squaring: the same bits on every machine, which `powi` does not promise.
pub(crate) fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

/// Chance of at most `most` ticks in `trials` chronons, each ticking with probability 1 − `ratio`.
fn few_ticks(trials: u32, most: u32, ratio: f64) -> f64 {
    if trials <= most {
        return 1.0;
    }
    if ratio == 0.0 {
        return 0.0;
    }
    // Terms C(t,q)·(1−ρ)^q·ρ^(t−q) from q = 0 up, each from the one before.
    let odds = (1.0 - ratio) / ratio;
    let mut term = power(ratio, trials);
    let mut sum = term;
    for q in 0..most {
        term *= odds * f64::from(trials - q) / f64::from(q + 1);
        sum += term;
    }
    sum.min(1.0)
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Exponential(ratio) => write!(f, "exp:{ratio}"),
            Self::Sliding(w) => write!(f, "sliding:{w}"),
            Self::Polynomial(a) => write!(f, "poly:{a}"),
            Self::PolyExponential { degree, ratio } => write!(f, "polyexp:{degree}:{ratio}"),
            Self::Chordal(w) => write!(f, "chordal:{w}"),
        }
    }
}

impl FromStr for Urgency {
    type Err = ParseError;

    fn from_str(given: &str) -> Result<Self, ParseError> {
        let wrong = |problem| ParseError::Parameter { what: "urgency", given: given.to_owned(), problem };
        let ratio = |text: &str| {
            let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
            ratio.ok_or_else(|| wrong("expected a decay factor from 0 to 1"))
        };
        let window =
            |text: &str| text.parse().map_err(|_| wrong("expected a whole number of chronons, 0 or more"));
        match given.split_once(':') {
            None if given == "uniform" => Ok(Self::Uniform),
            Some(("exp", r)) => ratio(r).map(Self::Exponential),
            Some(("sliding", w)) => window(w).map(Self::Sliding),
            Some(("chordal", w)) => window(w).map(Self::Chordal),
            Some(("poly", a)) => match a.parse() {
                Ok(a) if (0.0..=1_000.0).contains(&a) => Ok(Self::Polynomial(a)),
                _ => Err(wrong("expected an exponent from 0 to 1000")),
            },
            Some(("polyexp", parameters)) => {
                let Some((degree, r)) = parameters.split_once(':') else {
                    return Err(wrong("expected polyexp:DEGREE:RATIO, for instance polyexp:2:0.9"));
                };
                let Ok(degree @ 0..=100) = degree.parse() else {
                    return Err(wrong("expected a whole degree from 0 to 100"));
                };
                Ok(Self::PolyExponential { degree, ratio: ratio(r)? })
            }
            _ => Err(ParseError::Unknown {
                what: "urgency",
                given: given.to_owned(),
                expected: "uniform, exp:R, sliding:W, poly:A, polyexp:K:R or chordal:W",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [&str; 9] = [
        "uniform",
        "exp:0",
        "exp:0.5",
        "exp:1",
        "sliding:3",
        "poly:1.5",
        "polyexp:2:0.8",
        "chordal:7",
        "chordal:0",
    ];

    #[test]
    fn every_urgency_begins_at_one_and_never_rises() {
        for text in ALL {
            let urgency: Urgency = text.parse().unwrap();
            assert_eq!(urgency.to_string(), text);
            assert_eq!(urgency.at(0), 1.0, "{text}");
            for delay in 0..60 {
                assert!(urgency.at(delay + 1) <= urgency.at(delay), "{text} rises after {delay}");
            }
            if let Some(horizon) = urgency.horizon() {
                assert_eq!(urgency.at(horizon), 0.0, "{text} is worth something at its horizon");
                assert!(urgency.at(horizon - 1) > 0.0, "{text} is worth nothing before its horizon");
            }
        }
    }

    #[test]
    fn known_values() {
        let at = |text: &str, delay| text.parse::<Urgency>().unwrap().at(delay);
        assert_eq!(at("exp:0.5", 3), 0.125);
        assert_eq!([at("sliding:2", 2), at("sliding:2", 3)], [1.0, 0.0]);
        assert_eq!(at("poly:1", 4), 0.2);
        assert_eq!([at("chordal:4", 1), at("chordal:4", 4)], [0.75, 0.0]);
        // At most one tick in three: 0.5^3 + 3·0.5^3.
        assert!((at("polyexp:1:0.5", 3) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn nonsense_names_what_was_expected() {
        let refused = |text: &str| text.parse::<Urgency>().unwrap_err().to_string();
        assert_eq!(refused("exp:1.5"), "urgency `exp:1.5`: expected a decay factor from 0 to 1");
        assert_eq!(refused("exp:NaN"), "urgency `exp:NaN`: expected a decay factor from 0 to 1");
        assert!(refused("sliding:-1").contains("whole number of chronons"));
        assert!(refused("soon").starts_with("unknown urgency `soon` (expected uniform, exp:R"));
    }

    proptest! {
        #[test]
        fn degree_zero_is_exponential(ratio in 0.0..=1.0f64, delay in 0..200u32) {
            let flat = Urgency::PolyExponential { degree: 0, ratio };
            prop_assert!((flat.at(delay) - Urgency::Exponential(ratio).at(delay)).abs() < 1e-12);
        }
    }
}
