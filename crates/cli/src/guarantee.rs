//! `dunlin simulate workload guarantee`: how much of the best expected utility WIC reaches, beside what it promises.

use clap::Args;
use dunlin_lab::guarantee::{GuaranteeCheck, GuaranteeResult};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{print_json, print_table, print_title, progress};

#[derive(Debug, Args)]
pub(crate) struct GuaranteeArgs {
    /// Sources of each instance
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=20))]
    sources: u32,
    /// Chronons of each instance
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    chronons: u32,
    /// Probes per chronon
    #[arg(long, value_name = "C", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=20))]
    budget: u32,
    /// Number of instances, made from the seeds 0, 1, 2, …
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl GuaranteeArgs {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let instances = GuaranteeCheck {
            sources: self.sources,
            chronons: self.chronons,
            per_chronon: self.budget,
            seeds: (0..u64::from(self.seeds)).collect(),
        };
        let bar = progress(instances.n_runs() as u64, "searching");
        let result = instances.run(|| bar.inc(1))?;
        bar.finish_and_clear();
        if self.json {
            return print_json(&Report { seeds: self.seeds, runs: result.iter().map(Row::new).collect() });
        }
        print_title(&format!(
            "WIC as a share of the best expected utility: {} instances of {} sources, {} chronons, budget {}",
            self.seeds, self.sources, self.chronons, self.budget
        ))?;
        let header = ["life", "urgency", "promised", "least", "mean", "optimal"];
        print_table(&header, result.iter().map(row).collect())
    }
}

fn row(result: &GuaranteeResult) -> Vec<String> {
    vec![
        result.life.to_string(),
        result.urgency.to_string(),
        format!("{:.4}", result.promised),
        format!("{:.4}", result.least),
        format!("{:.4}", result.mean),
        result.optimal.to_string(),
    ]
}

#[derive(Debug, Serialize)]
struct Report {
    seeds: u32,
    runs: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    life: String,
    urgency: String,
    promised: f64,
    least: f64,
    mean: f64,
    optimal: usize,
}

impl Row {
    fn new(result: &GuaranteeResult) -> Self {
        Self {
            life: result.life.to_string(),
            urgency: result.urgency.to_string(),
            promised: result.promised,
            least: result.least,
            mean: result.mean,
            optimal: result.optimal,
        }
    }
}
