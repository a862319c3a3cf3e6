//! Captured needs: `marginal` against the papers' policies, on the reference workloads and on fresh ones.

use std::time::Duration;

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::files::IntervalsFile;
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_lab::optimum::bounds;
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::plan::intervals::Instance;
use dunlin_sched::policy::Preemption;
use rayon::prelude::*;
use serde_json::Value;

const CHRONONS: u32 = 1000;
const LIMIT: Duration = Duration::from_mins(10);

fn captured(workload: &Workload, per_chronon: f64, policy: PolicyChoice) -> usize {
    let budget = Budget::constant(per_chronon).unwrap();
    let setup = Setup { policy, budget, costs: Costs::uniform(), chronons: CHRONONS, seed: 0 };
    simulate::intervals(workload, 0, &setup, |_| ()).unwrap().score.captured
}

/// What the best of the papers' six policies captures.
fn best_of_papers(workload: &Workload, per_chronon: f64) -> usize {
    let papers = [PolicyName::SEdf, PolicyName::Mrsf, PolicyName::MEdf].into_iter().flat_map(|name| {
        [Preemption::Preemptive, Preemption::NonPreemptive]
            .map(|preemption| PolicyChoice { name, preemption })
    });
    papers.map(|policy| captured(workload, per_chronon, policy)).max().unwrap()
}

const MARGINAL: PolicyChoice =
    PolicyChoice { name: PolicyName::Marginal, preemption: Preemption::Preemptive };
const LIVE: PolicyChoice = PolicyChoice { name: PolicyName::Live, preemption: Preemption::Preemptive };

/// Every reference workload. The simple score is part of the reference results.
pub(crate) fn print_reference() {
    let results = std::fs::read_to_string(crate::reference("fixtures/cei/reference.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    println!("| instance | CEIs | papers' best | simple score | marginal | LP bound | share |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for family in ["base", "budget2", "unit", "overwrite", "popular", "crowded", "rank5", "wide"] {
        for name in (0..3).map(|seed| format!("{family}-{seed}")) {
            let Some(row) = results.get(&name) else { continue };
            let path = crate::reference(&format!("fixtures/cei/{name}.csv.gz"));
            let workload = IntervalsFile::open(&path, CHRONONS).unwrap().workload;
            let per_chronon = row["budget"].as_f64().unwrap();
            let (budget, costs) = (Budget::constant(per_chronon).unwrap(), Costs::uniform());
            let instance =
                Instance { workload: &workload, chronons: CHRONONS, budget: &budget, costs: &costs };
            let bound = bounds(instance, LIMIT).unwrap().lp;
            let best = best_of_papers(&workload, per_chronon);
            let marginal = captured(&workload, per_chronon, MARGINAL);
            let (ceis, share) = (workload.n_ceis(), 100.0 * marginal as f64 / bound);
            let sketch = &row["marginal sketch"];
            println!("| {name} | {ceis} | {best} | {sketch} | **{marginal}** | {bound:.1} | {share:.1} % |");
        }
    }
}

/// Seeds that nothing was chosen on.
const FRESH: std::ops::Range<u64> = 1_000..1_030;

/// `marginal` and the live scheduler relative to the best of the papers' policies, by family. Only those that are named, if any.
pub(crate) fn print_fresh(only: &[&str]) {
    let base = AuctionWatch::default();
    let window = |steps| AuctionWatch { length: IntervalLength::Window(steps), ..base };
    let overwrite = AuctionWatch { length: IntervalLength::Overwrite, ..base };
    let popular = AuctionWatch { alpha: 1.37, ..base };
    let families = [
        ("base", base, 1.0),
        ("base, fraction", base, 0.4),
        ("budget2", base, 2.0),
        ("unit", AuctionWatch { exact_rank: true, ..window(0) }, 1.0),
        ("unit, fraction", AuctionWatch { exact_rank: true, ..window(0) }, 0.3),
        ("narrow", window(2), 1.0),
        ("narrow, fraction", window(2), 0.7),
        ("narrow, budget2", window(2), 2.0),
        ("overwrite", overwrite, 1.0),
        ("overwrite, budget2", overwrite, 2.0),
        ("overwrite, fraction", overwrite, 0.6),
        ("popular", popular, 1.0),
        ("popular, fraction", popular, 0.3),
        ("crowded", AuctionWatch { profiles: 500, ..base }, 1.0),
        ("rank5", AuctionWatch { rank: 5, ..base }, 1.0),
        ("wide", window(20), 1.0),
        ("wide, fraction", window(20), 1.5),
    ];
    println!("| family | budget | `marginal` | behind | by at most | `live` | behind | by at most |");
    println!("|---|--:|---|--:|--:|---|--:|--:|");
    for (name, profiles, per_chronon) in families {
        if !only.is_empty() && !only.iter().any(|only| name.starts_with(only)) {
            continue;
        }
        let of_seed = |seed: u64| {
            let updates = PoissonUpdates::default();
            let changes = updates.generate(seed).unwrap();
            let workload = profiles.generate(&changes, &updates.names(), seed).unwrap().workload;
            let own = [MARGINAL, LIVE].map(|policy| captured(&workload, per_chronon, policy));
            (best_of_papers(&workload, per_chronon), own)
        };
        let results: Vec<(usize, [usize; 2])> = FRESH.into_par_iter().map(of_seed).collect();
        let [marginal, live] = [0, 1].map(|which| {
            let shares: Vec<f64> =
                results.iter().map(|(best, own)| own[which] as f64 / *best as f64).collect();
            let behind: Vec<usize> = results
                .iter()
                .filter_map(|(best, own)| best.checked_sub(own[which]))
                .filter(|by| *by > 0)
                .collect();
            let most = behind.iter().max().map_or_else(|| "-".to_owned(), ToString::to_string);
            format!("{} | {} of {} | {most}", crate::with_range(&shares), behind.len(), results.len())
        });
        println!("| {name} | {per_chronon} | {marginal} | {live} |");
    }
}
