//! Urgency at an age that is not a whole number of chronons, and its integral where there is a formula. At whole
//! ages it is [`Urgency::at`], except that what ends after `w` whole chronons ends at the age of w+1 here.

use crate::value::{Life, Urgency};

/// What something of this age, in chronons, is worth.
pub(super) fn urgency(urgency: Urgency, age: f64) -> f64 {
    match urgency {
        Urgency::Uniform => 1.0,
        Urgency::Exponential(0.0) | Urgency::Chordal(0) => f64::from(u8::from(age < 1.0)),
        Urgency::Exponential(ratio) => ratio.powf(age),
        Urgency::Sliding(w) => f64::from(u8::from(age < f64::from(w) + 1.0)),
        Urgency::Polynomial(a) => (age + 1.0).powf(-a),
        Urgency::PolyExponential { degree, ratio } => few_ticks(age, degree, ratio),
        Urgency::Chordal(w) => (1.0 - age / f64::from(w)).max(0.0),
    }
}

/// ∫ of [`urgency`] from 0 to `age`, for those that need nothing but a formula.
pub(super) fn of_urgency(urgency: Urgency, age: f64) -> f64 {
    match urgency {
        Urgency::Chordal(0) => age.min(1.0),
        Urgency::Chordal(w) => {
            let age = age.min(f64::from(w));
            age - age * age / (2.0 * f64::from(w))
        }
        Urgency::Polynomial(a) => {
            let log = age.ln_1p();
            let exponent = 1.0 - a;
            if (exponent * log).abs() < 1e-9 { log } else { (exponent * log).exp_m1() / exponent }
        }
        _ => age,
    }
}

/// The chance that something is still there after `changes` more changes were to be expected.
pub(super) fn life(life: Life, changes: f64) -> f64 {
    match life {
        Life::Append | Life::Window(_) => 1.0,
        Life::Overwrite => (-changes).exp(),
        Life::Changes(z) => fewer_than(z, changes),
    }
}

/// The chance that a Poisson number of this mean is below `z`.
fn fewer_than(z: u32, mean: f64) -> f64 {
    // Nine standard deviations off, the answer is known.
    let (middle, far) = (f64::from(z), 9.0 * (f64::from(z) + 1.0).sqrt() + 9.0);
    if mean < middle - far {
        return 1.0;
    }
    if mean > middle + far {
        return 0.0;
    }
    // From the likeliest term downwards, so that nothing is lost below the smallest float.
    let mut log_term = -mean;
    let mut sum = log_term.exp();
    let log_mean = mean.max(f64::MIN_POSITIVE).ln();
    for k in 1..z {
        log_term += log_mean - f64::from(k).ln();
        sum += log_term.exp();
    }
    sum.min(1.0)
}

/// [`Urgency::PolyExponential`] between whole ages: the binomial coefficients of a real number.
fn few_ticks(age: f64, degree: u32, ratio: f64) -> f64 {
    if age <= f64::from(degree) {
        return 1.0;
    }
    if ratio == 0.0 {
        return 0.0;
    }
    let odds = (1.0 - ratio) / ratio;
    let mut term = ratio.powf(age);
    let mut sum = term;
    for q in 0..degree {
        term *= odds * (age - f64::from(q)) / f64::from(q + 1);
        sum += term;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 9] = [
        "uniform",
        "exp:0",
        "exp:0.5",
        "sliding:3",
        "poly:1",
        "poly:1.5",
        "polyexp:2:0.8",
        "chordal:7",
        "chordal:0",
    ];

    #[test]
    fn at_whole_ages_it_is_the_urgency_of_whole_ages() {
        for text in ALL {
            let given: Urgency = text.parse().unwrap();
            for age in 0..30 {
                let (whole, real) = (given.at(age), urgency(given, f64::from(age)));
                assert!((whole - real).abs() < 1e-12, "{text} at {age}: {whole} and {real}");
            }
        }
    }

    #[test]
    fn the_formulas_are_the_integrals() {
        for text in ["poly:1", "poly:0", "poly:1.5", "chordal:7", "chordal:0"] {
            let given: Urgency = text.parse().unwrap();
            let mut sum = 0.0;
            for step in 0..100_000 {
                sum += urgency(given, (f64::from(step) + 0.5) * 1e-4) * 1e-4;
            }
            let formula = of_urgency(given, 10.0);
            assert!((sum - formula).abs() < 1e-4, "{text}: {sum} and {formula}");
        }
    }

    #[test]
    fn few_later_changes() {
        assert!((fewer_than(1, 0.7) - (-0.7f64).exp()).abs() < 1e-15);
        // e^-2 · (1 + 2 + 2).
        assert!((fewer_than(3, 2.0) - 5.0 * (-2.0f64).exp()).abs() < 1e-15);
        assert!((fewer_than(1000, 1000.0) - 0.5).abs() < 0.02);
        assert_eq!([fewer_than(1000, 0.0), fewer_than(4, 1e9)], [1.0, 0.0]);
    }
}
