//! Expected utility evaluated straight from its definition. Slow on purpose: it is what the incremental
//! [`Holding`](super::Holding) is checked against, and nothing else uses it.

use super::{Life, ValueModel};

/// g(p, j) for one source: the utility expected from a probe at `now` after a last probe at `last`
/// (0: never). `probability[k − 1]` is the chance of a change at chronon k.
pub fn expected_utility(model: &ValueModel, probability: &[f64], last: u32, now: u32) -> f64 {
    let term = |k: u32| {
        let later = &probability[k as usize..now as usize];
        let alive = match model.life {
            Life::Append => 1.0,
            Life::Window(w) => f64::from(u8::from(now - k <= w)),
            Life::Changes(z) => fewer_than(z as usize, later),
            Life::Overwrite => later.iter().map(|p| 1.0 - p).product(),
        };
        model.urgency.at(now - k) * probability[k as usize - 1] * alive
    };
    model.weight * (last + 1..=now).map(term).sum::<f64>()
}

/// Chance of fewer than `z` changes when each happens independently.
fn fewer_than(z: usize, probabilities: &[f64]) -> f64 {
    let mut exactly = vec![0.0; z];
    exactly[0] = 1.0;
    for p in probabilities {
        for q in (1..z).rev() {
            exactly[q] = (1.0 - p) * exactly[q] + p * exactly[q - 1];
        }
        exactly[0] *= 1.0 - p;
    }
    exactly.iter().sum()
}
