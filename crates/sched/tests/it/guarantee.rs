//! WIC's guarantee: at least half of the best expected utility that any schedule can reach, and all of it
//! when only immediate capture counts.

use dunlin_core::{Budget, Costs, Schedule, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::plan::{self, best_utility};
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Life, Urgency, ValueModel, expected_utility};
use proptest::prelude::*;

use crate::instances::{model, probability};

/// The best expected utility over all schedules, by the planner that is exact on small instances.
fn optimum(models: &[ValueModel], pi: &[Vec<f64>], per_chronon: u32) -> f64 {
    best_utility(models, pi, per_chronon as usize).unwrap().0
}

/// The same by trying every schedule there is.
fn by_trying_all(models: &[ValueModel], pi: &[Vec<f64>], last: &mut [u32], now: u32, most: usize) -> f64 {
    if now as usize > pi[0].len() {
        return 0.0;
    }
    let mut best = 0.0f64;
    for set in (0u32..1 << models.len()).filter(|set| set.count_ones() as usize <= most) {
        let probed: Vec<_> = (0..models.len()).filter(|&i| set & (1 << i) != 0).collect();
        let gain: f64 = probed.iter().map(|&i| expected_utility(&models[i], &pi[i], last[i], now)).sum();
        let before: Vec<_> = probed.iter().map(|&i| std::mem::replace(&mut last[i], now)).collect();
        best = best.max(gain + by_trying_all(models, pi, last, now + 1, most));
        probed.iter().zip(before).for_each(|(&i, at)| last[i] = at);
    }
    best
}

/// The expected utility of what WIC does.
fn wic(models: &[ValueModel], pi: &[Vec<f64>], per_chronon: u32) -> f64 {
    let mut policy = Wic::new(models, &Costs::uniform());
    let budget = Budget::constant(f64::from(per_chronon)).unwrap();
    let schedule = epoch::run(&mut policy, pi[0].len() as u32, &budget, |now, policy| {
        for (source, own) in (0..).map(SourceIdx).zip(pi) {
            let probability = own[now.index()];
            if probability > 0.0 {
                policy.arrive(now, Arrival::Change { source, probability });
            }
        }
    });
    utility(models, pi, &schedule)
}

fn utility(models: &[ValueModel], pi: &[Vec<f64>], schedule: &Schedule) -> f64 {
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
    instance_of(4, 8)
}

fn instance_of(
    sources: usize,
    chronons: usize,
) -> impl Strategy<Value = (Vec<ValueModel>, Vec<Vec<f64>>, u32)> {
    (1..=sources, 1..=chronons, 1..=2u32).prop_flat_map(|(n_sources, chronons, per_chronon)| {
        let pi = prop_oneof![1 => Just(0.0), 2 => probability()];
        (
            prop::collection::vec(model(), n_sources),
            prop::collection::vec(prop::collection::vec(pi, chronons), n_sources),
            Just(per_chronon),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_optimum_is_that_of_an_exhaustive_search((models, pi, per_chronon) in instance_of(3, 5)) {
        let (best, schedule) = best_utility(&models, &pi, per_chronon as usize).unwrap();
        let all = by_trying_all(&models, &pi, &mut vec![0; models.len()], 1, per_chronon as usize);
        prop_assert!((best - all).abs() < 1e-9, "{best}, and {all} is possible");
        prop_assert!((utility(&models, &pi, &schedule) - best).abs() < 1e-9);
    }

    #[test]
    fn at_least_half_of_the_optimum((models, pi, per_chronon) in instance()) {
        let best = optimum(&models, &pi, per_chronon);
        let reached = wic(&models, &pi, per_chronon);
        prop_assert!(reached <= best + 1e-9, "{reached} beats the optimum {best}");
        prop_assert!(2.0 * reached >= best - 1e-9, "{reached} of {best}");
    }

    #[test]
    fn all_of_it_when_only_immediate_capture_counts((mut models, pi, per_chronon) in instance()) {
        models.iter_mut().for_each(|model| model.urgency = Urgency::Sliding(0));
        let best = optimum(&models, &pi, per_chronon);
        prop_assert!((wic(&models, &pi, per_chronon) - best).abs() < 1e-9);
    }
}

#[test]
fn an_instance_that_would_never_end_is_refused() {
    let models = vec![ValueModel::new(Life::Append, Urgency::Uniform); 30];
    let refused = best_utility(&models, &vec![vec![0.5; 100]; 30], 1);
    assert!(matches!(refused, Err(plan::Error::TooLarge { .. })), "{refused:?}");
}
