//! Incremental values against the definition, for every life and urgency.

use dunlin_sched::value::{Life, PendingUtility, Urgency, ValueModel, expected_utility};
use proptest::prelude::*;

use crate::instances::{chronon, model, probability};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_holding_is_worth_what_the_definition_says(
        model in model(),
        silent in prop::collection::vec(prop::option::weighted(0.4, probability()), 1..40),
        last in 0..10u32,
    ) {
        let probabilities: Vec<f64> = silent.iter().map(|p| p.unwrap_or(0.0)).collect();
        let mut pending_utility = PendingUtility::EMPTY;
        for (now, &probability) in (1..).zip(&probabilities) {
            if probability > 0.0 && now > last {
                pending_utility.expect(&model, chronon(now), probability);
            }
            let expected = expected_utility(&model, &probabilities, last.min(now), now);
            let value = pending_utility.value(&model, chronon(now));
            prop_assert!((value - expected).abs() < 1e-9, "{value} for {expected} at {now}");
        }
    }
}

#[test]
fn a_change_window_with_constant_probability_follows_the_papers_formula() {
    // life(k, j) = Σ_{q<Z} C(j−k, q)·π^q·(1−π)^(j−k−q)
    let (p, z, now) = (0.3f64, 3, 12u32);
    let choose = |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let life = |age: u32| -> f64 {
        let exactly = |q: u32| choose(age, q) * p.powf(f64::from(q)) * (1.0 - p).powf(f64::from(age - q));
        (0..z.min(age + 1)).map(exactly).sum()
    };
    let by_formula: f64 = (1..=now).map(|k| p * life(now - k)).sum();
    let model = ValueModel::new(Life::Changes(z), Urgency::Uniform);
    let direct = expected_utility(&model, &vec![p; now as usize], 0, now);
    assert!((direct - by_formula).abs() < 1e-12);
}

#[test]
fn overwrite_is_a_change_window_of_one() {
    let probabilities = [0.5, 0.0, 1.0, 0.2, 0.9, 0.1];
    for urgency in [Urgency::Uniform, Urgency::Exponential(0.7), Urgency::Sliding(2)] {
        let overwrite = ValueModel::new(Life::Overwrite, urgency);
        let window = ValueModel::new(Life::Changes(1), urgency);
        for now in 1..=6 {
            let of = |model| expected_utility(model, &probabilities, 0, now);
            assert_eq!(of(&overwrite), of(&window));
        }
    }
}
