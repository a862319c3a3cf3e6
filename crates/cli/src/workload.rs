//! `dunlin simulate workload`: every policy on a made-up workload, over several seeds, in one table.

use clap::{Args, Subcommand};
use dunlin_core::Budget;
use dunlin_lab::policies::PolicyChoice;
use dunlin_lab::sweep::{Summary, Sweep, every_policy};
use serde::Serialize;

use crate::args::{Policies, policies};
use crate::failure::Failure;
use crate::generate::{AuctionWatchArgs, UpdatesArgs};
use crate::guarantee::GuaranteeArgs;
use crate::headline::HeadlineArgs;
use crate::output::{print_json, print_table, print_title, progress};

#[derive(Debug, Args)]
pub(crate) struct SimulateWorkload {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Needs of auction watchers: profiles that want the j-th update of each of a few sources together
    #[command(name = "auctionwatch")]
    AuctionWatch(SweepArgs),
    /// Pages whose changes are expected at known instants: how much changed information a few probes return
    Cam(HeadlineArgs),
    /// Instances small enough to search: how much of the best expected utility WIC reaches, beside its guarantee
    Guarantee(GuaranteeArgs),
}

#[derive(Debug, Args)]
struct SweepArgs {
    #[command(flatten)]
    profiles: AuctionWatchArgs,
    #[command(flatten)]
    updates: UpdatesArgs,
    /// Probes per chronon; may be fractional
    #[arg(long, value_name = "C", default_value_t = 1.0, allow_negative_numbers = true)]
    budget: f64,
    /// Number of workloads, made from the seeds 0, 1, 2, …
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// One policy, several separated by commas, or `all`
    #[arg(long, value_name = "P", default_value = "all", value_parser = policies)]
    policies: Policies,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl SimulateWorkload {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match &self.what {
            What::AuctionWatch(args) => args.run(),
            What::Cam(args) => args.run(),
            What::Guarantee(args) => args.run(),
        }
    }
}

impl SweepArgs {
    fn run(&self) -> Result<(), Failure> {
        let chosen = |choice: &PolicyChoice| match &self.policies {
            Policies::All => true,
            Policies::These(names) => names.contains(&choice.name),
        };
        let budget = Budget::constant(self.budget);
        let sweep = Sweep {
            profiles: self.profiles.profiles(),
            updates: self.updates.updates(),
            budget: budget.map_err(|error| Failure::input(format!("--budget: {error}")))?,
            seeds: (0..u64::from(self.seeds)).collect(),
            policies: every_policy().into_iter().filter(chosen).collect(),
        };
        let bar = progress(sweep.n_runs() as u64, "simulating");
        let summaries = sweep.run(|| bar.inc(1))?;
        bar.finish_and_clear();
        if self.json {
            let runs = summaries.iter().map(Row::new).collect();
            return print_json(&Report { seeds: self.seeds, runs });
        }
        let updates = &sweep.updates;
        print_title(&format!(
            "auctionwatch: {} profiles over {} sources, {} chronons, budget {}, mean of {} seeds",
            sweep.profiles.profiles, updates.sources, updates.chronons, self.budget, self.seeds
        ))?;
        let header = ["policy", "captured", "of CEIs", "completeness", "± sd", "probes"];
        print_table(&header, summaries.iter().map(row).collect())
    }
}

fn row(summary: &Summary) -> Vec<String> {
    vec![
        summary.policy.to_string(),
        format!("{:.1}", summary.captured),
        format!("{:.1}", summary.ceis),
        format!("{:.4}", summary.completeness.mean),
        format!("{:.4}", summary.completeness.deviation),
        format!("{:.0}", summary.probes),
    ]
}

#[derive(Debug, Serialize)]
struct Report {
    seeds: u32,
    runs: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    policy: String,
    preemptive: bool,
    gained_completeness: f64,
    deviation: f64,
    captured: f64,
    ceis: f64,
    probes: f64,
}

impl Row {
    fn new(summary: &Summary) -> Self {
        Self {
            policy: summary.policy.name.to_string(),
            preemptive: summary.policy.preemption == dunlin_sched::policy::Preemption::Preemptive,
            gained_completeness: summary.completeness.mean,
            deviation: summary.completeness.deviation,
            captured: summary.captured,
            ceis: summary.ceis,
            probes: summary.probes,
        }
    }
}
