//! `dunlin bound`: what no schedule can exceed.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use dunlin_lab::optimum::{Bounds, bounds};
use dunlin_sched::plan::intervals::Instance;
use serde::Serialize;

use crate::args::{BudgetArgs, IntervalsArgs, duration};
use crate::failure::Failure;
use crate::inputs::{self, Intervals};
use crate::output::{print_json, print_table};

#[derive(Debug, Subcommand)]
pub(crate) enum Bound {
    /// Bound the weight of the needs (execution intervals) that can be captured
    Intervals(BoundIntervals),
}

impl Bound {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Self::Intervals(command) = self;
        command.run()
    }
}

#[derive(Debug, Args)]
pub(crate) struct BoundIntervals {
    #[command(flatten)]
    input: IntervalsArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    /// The longest that it may take; a bound that is cut short is valid, and less tight
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    time_limit: NonZeroU32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The bounds, under the names that other programs rely on.
#[derive(Debug, Serialize)]
struct Report {
    ceis: usize,
    lp_bound: f64,
    lp_at_least: f64,
    method: &'static str,
    single_ei_bound: f64,
    single_eis: f64,
    seconds: f64,
}

impl BoundIntervals {
    fn run(&self) -> Result<(), Failure> {
        let paths =
            [Some(&self.input.intervals), self.input.costs.as_ref(), self.budget.budget_file.as_ref()];
        inputs::check_standard_input(paths.into_iter())?;
        let Intervals { file, costs, chronons } = Intervals::read(&self.input)?;
        let budget =
            inputs::budget(self.budget.budget.as_ref(), self.budget.budget_file.as_deref(), chronons)?
                .ok_or_else(|| Failure::input("no budget (expected --budget C or --budget-file FILE)"))?;
        let begin = Instant::now();
        let instance = Instance { workload: &file.workload, chronons, budget: &budget, costs: &costs };
        let limit = Duration::from_secs(u64::from(self.time_limit.get()));
        let Bounds { lp, lp_at_least, method, single_ei, single_eis } = bounds(instance, limit)?;
        let report = Report {
            ceis: file.workload.n_ceis(),
            lp_bound: lp,
            lp_at_least,
            method: method.as_str(),
            single_ei_bound: single_ei,
            single_eis,
            seconds: begin.elapsed().as_secs_f64(),
        };
        if self.json {
            return print_json(&report);
        }
        let row = |what: &str, value: f64| vec![what.to_owned(), format!("{value:.2}")];
        print_table(
            &["no schedule captures more than", "weight"],
            vec![
                row("linear relaxation", report.lp_bound),
                row("single intervals", report.single_ei_bound),
                row("everything", file.workload.ceis().map(|cei| cei.weight).sum()),
            ],
        )
    }
}
