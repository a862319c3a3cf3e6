//! How good the schedules are: policies, planners and bounds on whole workloads, in one table.
//!
//! `cargo bench -p dunlin-lab --features highs --bench optimum [-- NAME…] [--seconds N]`. Reads the workloads of the
//! reference data in the folder that `DUNLIN_REFERENCE` names, and makes its own without. Without the feature, the
//! optimum is shown only where the plan of `offline` meets its bound.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark reports, and may panic")]

use std::path::Path;
use std::time::Duration;

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::files::IntervalsFile;
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_lab::optimum::bounds;
use dunlin_lab::planners::PlannerName;
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::plan::intervals::Instance;
use dunlin_sched::policy::Preemption;

const FAMILIES: [&str; 8] = ["base", "budget2", "unit", "overwrite", "popular", "crowded", "rank5", "wide"];

const CHRONONS: u32 = 1000;

/// Where chance begins for `offline`: the least and the most of these are shown.
const SEEDS: [u64; 3] = [0, 1, 2];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let seconds =
        args.iter().position(|arg| arg == "--seconds").map_or(300, |at| args[at + 1].parse().unwrap());
    let names: Vec<&String> = args.iter().take_while(|arg| *arg != "--seconds").collect();
    println!("| instance | CEIs | marginal | local-ratio | offline | optimum | LP bound | single-EI bound |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for family in FAMILIES {
        for seed in 0..3 {
            let name = format!("{family}-{seed}");
            if names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())) {
                report(&name, family, seed, Duration::from_secs(seconds));
            }
        }
    }
}

fn report(name: &str, family: &str, seed: u64, limit: Duration) {
    let Some(workload) = workload(name, family, seed) else { return };
    let budget = Budget::constant(if family == "budget2" { 2.0 } else { 1.0 }).unwrap();
    let costs = Costs::uniform();
    let instance = Instance { workload: &workload, chronons: CHRONONS, budget: &budget, costs: &costs };
    let policy = PolicyChoice { name: PolicyName::Marginal, preemption: Preemption::Preemptive };
    let setup = Setup { policy, budget: budget.clone(), costs: costs.clone(), chronons: CHRONONS, seed: 0 };
    let marginal = simulate::intervals(&workload, 0, &setup, |_| ()).unwrap().score.captured;
    let plan = |planner: PlannerName, seed| planner.plan(instance, seed, limit);
    let local_ratio = plan(PlannerName::LocalRatio, 0).unwrap().run.score.captured;
    let offline = SEEDS.map(|seed| plan(PlannerName::Offline, seed).unwrap().run.score.captured);
    let (least, most) = (offline.iter().min().unwrap(), offline.iter().max().unwrap());
    let offline = if least == most { least.to_string() } else { format!("{least}–{most}") };
    // Without a solver there may be no answer.
    let optimum = match plan(PlannerName::Exact, 0) {
        Ok(exact) if exact.guarantee.is_some_and(|guarantee| guarantee.is_proven) => {
            format!("**{}**", exact.run.score.captured)
        }
        Ok(exact) => format!("{}–{}", exact.run.score.captured, exact.guarantee.unwrap().bound),
        Err(_) => "-".to_owned(),
    };
    let (ceis, bounds) = (workload.n_ceis(), bounds(instance, limit).unwrap());
    println!(
        "| {name} | {ceis} | {marginal} | {local_ratio} | {offline} | {optimum} | {:.2} | {:.1} |",
        bounds.lp, bounds.single_ei
    );
}

/// The workload of the reference data in the folder that `DUNLIN_REFERENCE` names, nothing where that has none; without
/// such a folder, one like it.
fn workload(name: &str, family: &str, seed: u64) -> Option<Workload> {
    if let Some(folder) = std::env::var_os("DUNLIN_REFERENCE") {
        let path = Path::new(&folder).join("fixtures/cei").join(format!("{name}.csv.gz"));
        return path.exists().then(|| IntervalsFile::open(&path, CHRONONS).unwrap().workload);
    }
    let mut profiles = AuctionWatch::default();
    match family {
        "unit" => (profiles.length, profiles.exact_rank) = (IntervalLength::Window(0), true),
        "overwrite" => profiles.length = IntervalLength::Overwrite,
        "popular" => profiles.alpha = 1.37,
        "crowded" => profiles.profiles = 500,
        "rank5" => profiles.rank = 5,
        "wide" => profiles.length = IntervalLength::Window(20),
        _ => (),
    }
    let updates = PoissonUpdates::default();
    Some(profiles.generate(&updates.generate(seed).unwrap(), &updates.names(), seed).unwrap().workload)
}
