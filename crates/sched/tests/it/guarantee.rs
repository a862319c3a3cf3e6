//! WIC's guarantee: at least half of the best expected utility that any schedule can reach, and all of it
//! when only immediate capture counts.

use dunlin_core::{Budget, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Urgency, ValueModel, expected_utility};
use proptest::prelude::*;

use crate::instances::{model, probability};

/// The best expected utility over all schedules with `per_chronon` probes, by trying everything.
fn optimum(models: &[ValueModel], pi: &[Vec<f64>], last: &mut [u32], now: u32, per_chronon: usize) -> f64 {
    if now as usize > pi[0].len() {
        return 0.0;
    }
    let n_sources = models.len();
    let mut best = 0.0f64;
    for set in 0u32..1 << n_sources {
        if set.count_ones() as usize > per_chronon {
            continue;
        }
        let probed: Vec<_> = (0..n_sources).filter(|&i| set & (1 << i) != 0).collect();
        let gain: f64 = probed.iter().map(|&i| expected_utility(&models[i], &pi[i], last[i], now)).sum();
        let before: Vec<_> = probed.iter().map(|&i| std::mem::replace(&mut last[i], now)).collect();
        best = best.max(gain + optimum(models, pi, last, now + 1, per_chronon));
        probed.iter().zip(before).for_each(|(&i, at)| last[i] = at);
    }
    best
}

/// The expected utility of what WIC does.
fn wic(models: &[ValueModel], pi: &[Vec<f64>], per_chronon: u32) -> f64 {
    let mut policy = Wic::new(models, &dunlin_core::Costs::uniform());
    let budget = Budget::constant(f64::from(per_chronon)).unwrap();
    let schedule = epoch::run(&mut policy, pi[0].len() as u32, &budget, |now, policy| {
        for (source, own) in (0..).map(SourceIdx).zip(pi) {
            let probability = own[now.index()];
            if probability > 0.0 {
                policy.arrive(now, Arrival::Change { source, probability });
            }
        }
    });
    let mut utility = 0.0;
    for (i, probes) in schedule.by_source(models.len()).iter().enumerate() {
        let mut last = 0;
        for probe in probes {
            utility += expected_utility(&models[i], &pi[i], last, probe.get());
            last = probe.get();
        }
    }
    utility
}

fn instance() -> impl Strategy<Value = (Vec<ValueModel>, Vec<Vec<f64>>, u32)> {
    (1..=3usize, 1..=6usize, 1..=2u32).prop_flat_map(|(n_sources, chronons, per_chronon)| {
        let pi = prop_oneof![1 => Just(0.0), 2 => probability()];
        (
            prop::collection::vec(model(), n_sources),
            prop::collection::vec(prop::collection::vec(pi, chronons), n_sources),
            Just(per_chronon),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn at_least_half_of_the_optimum((models, pi, per_chronon) in instance()) {
        let best = optimum(&models, &pi, &mut vec![0; models.len()], 1, per_chronon as usize);
        let reached = wic(&models, &pi, per_chronon);
        prop_assert!(reached <= best + 1e-9, "{reached} beats the optimum {best}");
        prop_assert!(2.0 * reached >= best - 1e-9, "{reached} of {best}");
    }

    #[test]
    fn all_of_it_when_only_immediate_capture_counts((mut models, pi, per_chronon) in instance()) {
        models.iter_mut().for_each(|model| model.urgency = Urgency::Sliding(0));
        let best = optimum(&models, &pi, &mut vec![0; models.len()], 1, per_chronon as usize);
        prop_assert!((wic(&models, &pi, per_chronon) - best).abs() < 1e-9);
    }
}
