//! The scheduler of the service on needs of fresh seeds: nearly what `marginal` captures, whatever the budget looks like.

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::policy::Preemption;

const CHRONONS: u32 = 500;

fn captured(workload: &Workload, budget: &Budget, name: PolicyName) -> usize {
    let policy = PolicyChoice { name, preemption: Preemption::Preemptive };
    let setup =
        Setup { policy, budget: budget.clone(), costs: Costs::uniform(), chronons: CHRONONS, seed: 0 };
    simulate::intervals(workload, 0, &setup, |_| ()).unwrap().score.captured
}

/// What `live` captures of these profiles, as a share of what `marginal` does.
fn share(profiles: AuctionWatch, seed: u64, budget: &Budget) -> f64 {
    let updates = PoissonUpdates { sources: 500, chronons: CHRONONS, lambda: 20.0 };
    let changes = updates.generate(seed).unwrap();
    let workload = profiles.generate(&changes, &updates.names(), seed).unwrap().workload;
    let [live, marginal] =
        [PolicyName::Live, PolicyName::Marginal].map(|name| captured(&workload, budget, name));
    live as f64 / marginal as f64
}

const BASE: AuctionWatch = AuctionWatch {
    profiles: 50,
    rank: 3,
    exact_rank: false,
    alpha: 0.0,
    beta: 0.0,
    length: IntervalLength::Window(10),
};

const POPULAR: AuctionWatch = AuctionWatch { alpha: 1.37, ..BASE };
const OVERWRITE: AuctionWatch = AuctionWatch { length: IntervalLength::Overwrite, ..BASE };

#[test]
fn budgets_of_whole_probes_and_of_fractions() {
    for (family, profiles) in [("base", BASE), ("popular", POPULAR), ("overwrite", OVERWRITE)] {
        for per_chronon in [0.3, 0.5, 0.7, 1.0, 1.5, 2.0] {
            let budget = Budget::constant(per_chronon).unwrap();
            for seed in 500..504 {
                let share = share(profiles, seed, &budget);
                assert!(share >= 0.97, "{family}-{seed} at {per_chronon}: {share}");
            }
        }
    }
}

/// Chronon by chronon another grant, which `marginal` knows beforehand and the scheduler does not. What a chronon grants can be
/// spent in it, and plans are made with what it brings on average.
#[test]
fn budgets_that_alternate() {
    let mut shares = Vec::new();
    for grants in [[0.0, 0.0, 1.0, 3.0], [2.0, 0.0, 2.0, 0.0], [0.5, 0.0, 2.5, 1.0]] {
        let budget = Budget::per_chronon(grants.repeat(CHRONONS as usize / 4)).unwrap();
        for (family, profiles) in [("base", BASE), ("popular", POPULAR), ("overwrite", OVERWRITE)] {
            for seed in 500..503 {
                let share = share(profiles, seed, &budget);
                assert!(share >= 0.91, "{family}-{seed} with {grants:?}: {share}");
                shares.push(share);
            }
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!(mean >= 0.96, "{mean}: {shares:?}");
}
