//! `dunlin simulate workload cam`: how much of the changed information a few well-placed probes return.

use clap::Args;
use dunlin_lab::cam::{Headline, Returned};
use dunlin_lab::generate::Tracked;
use serde::Serialize;

use crate::args::chronons;
use crate::failure::Failure;
use crate::output::{print_json, print_table, print_title};

#[derive(Debug, Args)]
pub(crate) struct HeadlineArgs {
    /// Number of pages
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    sources: u32,
    /// Instants per page at which something may change
    #[arg(long, value_name = "P", default_value_t = 20)]
    instants: u32,
    /// Length of the epoch
    #[arg(long, value_name = "K", default_value = "1000", value_parser = chronons)]
    chronons: u32,
    /// How much pages differ in weight: that of rank i weighs 1/i^X
    #[arg(long, value_name = "X", default_value_t = 1.5, allow_negative_numbers = true)]
    weight_skew: f64,
    /// How unevenly things change: a page's instant of rank i brings a change with probability 1/i^X, times how
    /// lively the page is, a number from 0 to 1 to the same power
    #[arg(long, value_name = "X", default_value_t = 1.5, allow_negative_numbers = true)]
    change_skew: f64,
    /// Probes, as a share of all instants
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, allow_negative_numbers = true)]
    probes: f64,
    /// How many probes fit into a chronon
    #[arg(long, value_name = "C", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    per_chronon: u32,
    /// Number of epochs, made from the seeds 0, 1, 2, …
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl HeadlineArgs {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let experiment = Headline {
            pages: Tracked {
                sources: self.sources,
                instants: self.instants,
                chronons: self.chronons,
                weight_skew: self.weight_skew,
                change_skew: self.change_skew,
            },
            share: self.probes,
            room: self.per_chronon,
            seeds: (0..u64::from(self.seeds)).collect(),
        };
        let returned = experiment.run()?;
        if self.json {
            return print_json(&Report { seeds: self.seeds, runs: returned.iter().map(Row::new).collect() });
        }
        print_title(&format!(
            "{} pages, probes for {} % of their {} instants each, {} chronons, weight skew {}, change skew {}, mean of {} seeds",
            self.sources,
            self.probes * 100.0,
            self.instants,
            self.chronons,
            self.weight_skew,
            self.change_skew,
            self.seeds
        ))?;
        let header = ["allocation", "weight returned", "± sd", "changes returned", "probes"];
        print_table(&header, returned.iter().map(row).collect())
    }
}

fn row(returned: &Returned) -> Vec<String> {
    vec![
        returned.name.to_owned(),
        format!("{:.4}", returned.weight.mean),
        format!("{:.4}", returned.weight.deviation),
        format!("{:.4}", returned.changes.mean),
        format!("{:.0}", returned.probes),
    ]
}

#[derive(Debug, Serialize)]
struct Report {
    seeds: u32,
    runs: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    allocation: &'static str,
    weight_returned: f64,
    deviation: f64,
    changes_returned: f64,
    probes: f64,
}

impl Row {
    fn new(returned: &Returned) -> Self {
        Self {
            allocation: returned.name,
            weight_returned: returned.weight.mean,
            deviation: returned.weight.deviation,
            changes_returned: returned.changes.mean,
            probes: returned.probes,
        }
    }
}
