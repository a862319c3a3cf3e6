//! `dunlin simulate queries`: policies and planners on a file of queries over the sources of a trace. What the queries come to is
//! decided in the lab; here they are read, run, and counted by query.

use std::path::{Path, PathBuf};

use clap::Args;
use dunlin_core::Costs;
use dunlin_lab::queries::{CompiledQueries, CompiledQuery, Whens, compile, parse_over};
use serde::Serialize;

use super::Common;
use super::intervals::NeedsRuns;
use crate::args::TraceSpanArgs;
use crate::failure::Failure;
use crate::inputs;
use crate::output::{IntervalsReport, print_line, print_table};
use crate::query;

#[derive(Debug, Args)]
pub(crate) struct SimulateQueries {
    /// Queries over sources of the trace, which go by their ids there: source 'ID', or a URL that is the id or whose path
    /// ends in it; - is standard input
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    #[command(flatten)]
    span: TraceSpanArgs,
    #[command(flatten)]
    runs: NeedsRuns,
    /// Share of instances for which a WHEN holds, drawn by --seed: a trace has times, and no texts to ask about
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_negative_numbers = true)]
    when: f64,
    /// Write what the queries come to, for `simulate intervals`: profile,cei,resource,start,finish; - is standard output
    #[arg(long, value_name = "FILE")]
    intervals_out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// The figures of a run, and what each query got of it.
#[derive(Debug, Serialize)]
struct QueriesReport {
    #[serde(flatten)]
    figures: IntervalsReport,
    queries: Vec<QueryReport>,
}

#[derive(Debug, Serialize)]
struct QueryReport {
    name: String,
    instances: usize,
    captured: usize,
    /// Instances that nobody could meet, which are no needs.
    left_out: usize,
}

impl QueryReport {
    fn new(query: &CompiledQuery, captured: usize) -> Self {
        let CompiledQuery { name, instances, left_out } = query;
        Self { name: name.clone(), instances: *instances, captured, left_out: *left_out }
    }
}

impl SimulateQueries {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let schedulers = self.runs.schedulers()?;
        self.check_outputs(schedulers.len())?;
        let (file, epoch) = inputs::trace_span(&self.span)?;
        let queries = query::read(&self.queries, |text| parse_over(text, &file))?;
        let whens = Whens { share: self.when, seed: self.common.seed };
        let compiled = compile(&queries, &file, epoch, whens)?;
        if compiled.needs.workload.n_ceis() == 0 {
            return Err(Failure::input(format!(
                "{}: no instance that could be captured begins within {} chronons from second {} (try another --start or \
                 --chronons)",
                self.queries.display(),
                epoch.chronons,
                epoch.start
            )));
        }
        inputs::warn(&compiled.needs.warnings);
        if let Some(path) = &self.intervals_out {
            compiled.needs.save(path)?;
        }
        let input = (&compiled.needs, &Costs::uniform(), epoch.chronons);
        let reports = self.runs.each(&schedulers, &self.common, input, |figures, schedule| {
            let counted = compiled.queries.iter().zip(compiled.captured(schedule));
            let queries = counted.map(|(query, captured)| QueryReport::new(query, captured)).collect();
            QueriesReport { figures, queries }
        })?;
        if !self.intervals_out.as_deref().is_some_and(is_standard_output) {
            self.common.show_needs(&reports, |report| &report.figures)?;
            self.show_queries(&reports)?;
        }
        self.say_what_is_assumed(&compiled);
        Ok(())
    }

    fn check_outputs(&self, n_runs: usize) -> Result<(), Failure> {
        self.common.check_outputs(n_runs)?;
        let paths = [Some(&self.queries), Some(&self.span.trace), self.common.budget.budget_file.as_ref()];
        inputs::check_standard_input(paths.into_iter())?;
        let is_taken =
            self.common.json || self.common.schedule_out.as_deref().is_some_and(is_standard_output);
        if is_taken && self.intervals_out.as_deref().is_some_and(is_standard_output) {
            return Err(Failure::input(
                "--intervals-out - and --json or --schedule-out - both want standard output (name a file)",
            ));
        }
        Ok(())
    }

    /// One line for each query, with a column for each run.
    fn show_queries(&self, reports: &[QueriesReport]) -> Result<(), Failure> {
        let is_shown =
            !self.common.json && !self.common.schedule_out.as_deref().is_some_and(is_standard_output);
        let (Some(first), true) = (reports.first(), is_shown) else { return Ok(()) };
        print_line("")?;
        let mut header = vec!["query", "instances"];
        match reports {
            [_] => header.push("captured"),
            several => header.extend(several.iter().map(|report| report.figures.title.as_str())),
        }
        let row = |(number, query): (usize, &QueryReport)| {
            let captured = reports.iter().map(|report| report.queries[number].captured.to_string());
            [query.name.clone(), query.instances.to_string()].into_iter().chain(captured).collect()
        };
        print_table(&header, first.queries.iter().enumerate().map(row).collect())
    }

    /// What the figures take for granted, because a trace does not say it.
    fn say_what_is_assumed(&self, compiled: &CompiledQueries) {
        for query in compiled.queries.iter().filter(|query| query.left_out > 0) {
            crate::note(&format!(
                "{}: instances left out, as nobody could capture them: {} (a change that they want comes too late, or an \
                 interval begins after the last chronon)",
                query.name, query.left_out
            ));
        }
        if compiled.has_whens {
            crate::note(&format!(
                "a trace has times and no texts: each WHEN holds with probability {}, drawn by --seed {}; its intervals are \
                 known from the beginning of the instance, and begin with the interval that it asks about",
                self.when, self.common.seed
            ));
        }
    }
}

fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}
