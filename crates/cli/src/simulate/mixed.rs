//! `dunlin simulate mixed`: the service's scheduler on a trace and on needs under one budget, against every fixed split of that
//! budget between the two.

use std::path::PathBuf;

use clap::Args;
use dunlin_lab::files::{Epoch, IntervalsFile};
use dunlin_lab::learned::{Learning, Reveal};
use dunlin_lab::mixed::{Gain, Mix, Mixed};
use dunlin_sched::model::Parts;
use serde::Serialize;

use crate::args::{BudgetArgs, MOST_CHRONONS, TraceArgs};
use crate::failure::Failure;
use crate::inputs::{self, Trace};
use crate::output::{print_json, print_table, progress};

/// One run of the scheduler, and splits by tenths.
const RUNS: u64 = 12;

#[derive(Debug, Args)]
pub(crate) struct SimulateMixed {
    #[command(flatten)]
    input: TraceArgs,
    /// Execution intervals: profile,cei,resource,start,finish[,weight,need]; - is standard input
    #[arg(long, value_name = "FILE")]
    intervals: PathBuf,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Share of the epoch in which changes are not scored
    #[arg(long, value_name = "X", allow_negative_numbers = true, default_value_t = 0.25)]
    warm_up: f64,
    /// What a probe shows besides that there were changes: changes (nothing more), last or timestamps
    #[arg(long, value_name = "WHAT", default_value = "changes")]
    reveal: Reveal,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl SimulateMixed {
    pub(super) fn run(&self) -> Result<(), Failure> {
        if self.input.costs.is_some() {
            return Err(Failure::input("--costs: every probe costs the same here (leave it out)"));
        }
        let paths = [Some(&self.input.span.trace), Some(&self.intervals), self.budget.budget_file.as_ref()];
        inputs::check_standard_input(paths.into_iter())?;
        let trace = Trace::read(&self.input)?;
        let needs = IntervalsFile::open(&self.intervals, self.input.span.chronons.unwrap_or(MOST_CHRONONS))?;
        inputs::warn(&needs.warnings);
        // Unless it is given, the epoch ends when both have.
        let last_start = needs.workload.ceis().flat_map(|cei| cei.intervals).map(|it| it.start().get()).max();
        let chronons = self.input.span.chronons.unwrap_or(trace.epoch.chronons.max(last_start.unwrap_or(0)));
        let epoch = Epoch { chronons, ..trace.epoch };
        let budget =
            inputs::budget(self.budget.budget.as_ref(), self.budget.budget_file.as_deref(), chronons)?
                .ok_or_else(|| Failure::input("no budget (expected --budget C or --budget-file FILE)"))?;
        if !(0.0..1.0).contains(&self.warm_up) {
            return Err(Failure::input("--warm-up: expected a share from 0 to below 1"));
        }
        let learning = Learning { warm_up: self.warm_up, reveal: self.reveal, parts: Parts::All };
        let bar = progress(RUNS, "simulating");
        let mix = Mix::new(trace.file, &needs)?;
        let mixed = mix.compare(epoch, trace.model, &budget, learning, || bar.inc(1))?;
        bar.finish_and_clear();
        self.show(&mixed)
    }

    fn show(&self, mixed: &Mixed) -> Result<(), Failure> {
        let best = mixed.best_split();
        if self.json {
            let split = |&(share, gain): &(f64, Gain)| Split { share, gain: gain.total() };
            return print_json(&Report {
                live: GainReport::from(mixed.live),
                splits: mixed.splits.iter().map(split).collect(),
                best_split: best.as_ref().map(split),
            });
        }
        let row = |name: String, gain: &Gain| {
            let figure = |figure: f64| format!("{figure:.1}");
            vec![name, figure(gain.total()), figure(gain.changes), figure(gain.ceis), gain.probes.to_string()]
        };
        let mut rows = vec![row("one scheduler".to_owned(), &mixed.live)];
        for (share, gain) in &mixed.splits {
            let mark = if best.is_some_and(|(best, _)| best == *share) { ", the best" } else { "" };
            rows.push(row(format!("{:.0} % for needs{mark}", 100.0 * share), gain));
        }
        print_table(&["budget", "gain", "of changes", "of CEIs", "probes"], rows)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    live: GainReport,
    splits: Vec<Split>,
    best_split: Option<Split>,
}

#[derive(Debug, Serialize)]
struct Split {
    share: f64,
    gain: f64,
}

#[derive(Debug, Serialize)]
struct GainReport {
    gain: f64,
    changes_gain: f64,
    ceis_gain: f64,
    probes: usize,
}

impl From<Gain> for GainReport {
    fn from(gain: Gain) -> Self {
        Self { gain: gain.total(), changes_gain: gain.changes, ceis_gain: gain.ceis, probes: gain.probes }
    }
}
