//! `dunlin score`: the one evaluator on a schedule from a file.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dunlin_core::{Budget, Costs, Schedule};
use dunlin_lab::files::{Excerpt, ProbabilitiesFile, ScheduleFile};
use dunlin_sched::score::{Overspent, check_budget, score_intervals, score_trace};

use crate::args::{IntervalsArgs, OptionalBudgetArgs, TraceArgs};
use crate::failure::Failure;
use crate::inputs::{self, Intervals, Trace};
use crate::output::{IntervalsReport, Label, TraceReport, print_json, print_table};

#[derive(Debug, Subcommand)]
pub(crate) enum Score {
    /// Score a schedule on needs that span sources (execution intervals)
    Intervals(ScoreIntervals),
    /// Score a schedule on the real updates of a trace
    Trace(ScoreTrace),
}

impl Score {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Intervals(command) => command.run(),
            Self::Trace(command) => command.run(),
        }
    }
}

#[derive(Debug, Args)]
struct Common {
    /// What was probed: chronon,resource; - is standard input
    #[arg(long, value_name = "FILE")]
    schedule: PathBuf,
    #[command(flatten)]
    budget: OptionalBudgetArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Common {
    fn paths(&self) -> [Option<&PathBuf>; 2] {
        [Some(&self.schedule), self.budget.budget_file.as_ref()]
    }

    fn budget(&self, chronons: u32) -> Result<Option<Budget>, Failure> {
        inputs::budget(self.budget.budget.as_ref(), self.budget.budget_file.as_deref(), chronons)
    }

    fn schedule(&self, names: &[String], chronons: u32) -> Result<Schedule, Failure> {
        let ScheduleFile { schedule, warnings } = ScheduleFile::open(&self.schedule, names, chronons)?;
        inputs::warn(&warnings);
        Ok(schedule)
    }
}

/// Whether the schedule keeps to the budget, if one was given.
fn verdict(
    schedule: &Schedule,
    names: &[String],
    budget: Option<&Budget>,
    costs: &Costs,
    chronons: u32,
    path: &Path,
) -> (Option<bool>, Result<(), Failure>) {
    let checked = budget.map_or(Ok(()), |budget| check_budget(schedule, budget, costs, chronons));
    let within = budget.map(|_| checked.is_ok());
    let answer = checked.map_err(|Overspent { probe, cost, left }| {
        let (name, at) = (Excerpt::from(names[probe.source.index()].as_str()), probe.chronon);
        let path = path.display();
        Failure::No(format!(
            "{path}: budget broken at chronon {at}: a probe of {name} costs {cost}, {left} is left"
        ))
    });
    (within, answer)
}

#[derive(Debug, Args)]
pub(crate) struct ScoreIntervals {
    #[command(flatten)]
    input: IntervalsArgs,
    #[command(flatten)]
    common: Common,
}

impl ScoreIntervals {
    fn run(&self) -> Result<(), Failure> {
        let paths = [Some(&self.input.intervals), self.input.costs.as_ref()];
        inputs::check_standard_input(paths.into_iter().chain(self.common.paths()))?;
        let Intervals { file, costs, chronons } = Intervals::read(&self.input)?;
        let budget = self.common.budget(chronons)?;
        let schedule = self.common.schedule(&file.resources, chronons)?;
        let mut report =
            IntervalsReport::new(&Label::file(), &score_intervals(&file.workload, &schedule), None);
        let (within, answer) =
            verdict(&schedule, &file.resources, budget.as_ref(), &costs, chronons, &self.common.schedule);
        report.within_budget = within;
        if self.common.json {
            print_json(&report)?;
        } else {
            print_table(&IntervalsReport::HEADER, vec![report.row()])?;
        }
        answer
    }
}

#[derive(Debug, Args)]
pub(crate) struct ScoreTrace {
    #[command(flatten)]
    input: TraceArgs,
    /// What the policy knew, when it knew sources that the trace does not have
    #[arg(long, value_name = "FILE")]
    probabilities: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

impl ScoreTrace {
    fn run(&self) -> Result<(), Failure> {
        let paths = [Some(&self.input.span.trace), self.input.costs.as_ref(), self.probabilities.as_ref()];
        inputs::check_standard_input(paths.into_iter().chain(self.common.paths()))?;
        let mut trace = Trace::read(&self.input)?;
        if let Some(path) = &self.probabilities {
            let file = ProbabilitiesFile::open(path, trace.epoch.chronons)?;
            trace.file = trace.file.with_sources(&file.sources);
        }
        let (chronons, names) = (trace.epoch.chronons, &trace.file.sources);
        let budget = self.common.budget(chronons)?;
        let costs = trace.costs(self.input.costs.as_deref())?;
        let schedule = self.common.schedule(names, chronons)?;
        let score = score_trace(&trace.changes(), &schedule, |_| trace.model);
        let mut report = TraceReport::new(&Label::file(), score, None);
        let (within, answer) =
            verdict(&schedule, names, budget.as_ref(), &costs, chronons, &self.common.schedule);
        report.within_budget = within;
        if self.common.json {
            print_json(&report)?;
        } else {
            print_table(&TraceReport::HEADER, vec![report.row()])?;
        }
        answer
    }
}
