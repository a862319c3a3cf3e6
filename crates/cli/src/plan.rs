//! `dunlin plan`: when to probe, decided beforehand from what happened in the past.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use dunlin_lab::files::TraceFile;
use dunlin_lab::polling::{Breaks, Cut, Memory, PollingMethod, PollingRun, Sources};
use dunlin_sched::plan::polling::Objective;
use serde::Serialize;

use crate::args::duration;
use crate::failure::Failure;
use crate::inputs;
use crate::output::{print_json, print_table, progress};

#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// At which slots of a recurring period to poll sources whose updates overwrite each other
    Polling(PlanPolling),
}

impl Plan {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let Self::Polling(command) = self;
        command.run()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodArg {
    /// The best plan there is on the updates learnt from
    Exact,
    /// Near the best, in time linear in the slots
    Modelled,
    /// Polls at equal distances
    Uniform,
}

impl From<MethodArg> for PollingMethod {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Exact => Self::Exact,
            MethodArg::Modelled => Self::Modelled,
            MethodArg::Uniform => Self::Uniform,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ObjectiveArg {
    /// Fewest updates missed
    Recall,
    /// Smallest mean time since the first update not yet seen
    Age,
    /// Longest time with a current copy
    Freshness,
}

impl From<ObjectiveArg> for Objective {
    fn from(objective: ObjectiveArg) -> Self {
        match objective {
            ObjectiveArg::Recall => Self::Recall,
            ObjectiveArg::Age => Self::Age,
            ObjectiveArg::Freshness => Self::Freshness,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanPolling {
    /// Real updates: source,time in seconds; - is standard input
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,
    /// Plan for this source alone [default: all sources share the polls]
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// The period that the plan repeats in, for instance 1h or 1d
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    period: NonZeroU32,
    /// Length of the slots a period is cut into, for instance 1m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    slot: NonZeroU32,
    /// At most this many polls per period; several numbers separated by commas are compared
    #[arg(long, value_name = "N", required = true, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    polls: Vec<u32>,
    /// How to plan; several methods separated by commas are compared
    #[arg(long, value_enum, required = true, value_delimiter = ',')]
    method: Vec<MethodArg>,
    /// What the exact plan should be good at
    #[arg(long, value_enum, default_value_t = ObjectiveArg::Recall)]
    objective: ObjectiveArg,
    /// Learn from the updates before this second of the trace, measure on those after it
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    train_until: Option<i64>,
    /// Learn only from the last part of that, for instance 30d
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    last: Option<NonZeroU32>,
    /// Let what is so old count half, for instance 7d
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    half_life: Option<NonZeroU32>,
    /// Learn only from what came since a source changed its habits, if it did
    #[arg(long)]
    since_break: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl PlanPolling {
    fn run(&self) -> Result<(), Failure> {
        let is_recall = self.objective == ObjectiveArg::Recall;
        if !is_recall && !self.method.contains(&MethodArg::Exact) {
            return Err(Failure::input("--objective is for the exact plan (try --method exact)"));
        }
        let trace = TraceFile::open(&self.trace)?;
        inputs::warn(&trace.warnings);
        let cut = Cut { period: self.period, slot: self.slot, train_until: self.train_until };
        let mut sources = Sources::new(&trace, self.source.as_deref(), cut)?;
        let breaks = if self.since_break { Breaks::Heeded } else { Breaks::Ignored };
        let n_broken = sources.remember(Memory { last: self.last, half_life: self.half_life, breaks });
        if self.since_break {
            let n_sources = sources.names.len();
            crate::note(&format!(
                "note: {n_broken} of {n_sources} sources changed their habits in what is learnt from"
            ));
        }
        let bar = progress((self.polls.len() * self.method.len()) as u64, "planning");
        let mut reports = Vec::new();
        for &polls in &self.polls {
            for &method in &self.method {
                let run = sources.plan(method.into(), polls, self.objective.into())?;
                reports.push(Report::new(polls, method, &sources.names, &run));
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        match reports.as_slice() {
            [report] if self.json => print_json(report),
            runs if self.json => print_json(&Runs { runs }),
            several => print_table(&Report::HEADER, several.iter().map(Report::row).collect()),
        }
    }
}

#[derive(Debug, Serialize)]
struct Runs<'a> {
    runs: &'a [Report],
}

/// The slots in which to poll, counted from 0.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Slots {
    OfOne(Vec<u32>),
    OfEach(BTreeMap<String, Vec<u32>>),
}

/// The figures of a plan, under the names that other programs rely on. Times are in slots.
#[derive(Debug, Serialize)]
struct Report {
    method: &'static str,
    polls: u32,
    slots: Slots,
    missed: usize,
    updates: usize,
    recall: f64,
    freshness: f64,
    mean_age: f64,
    seconds: f64,
}

impl Report {
    fn new(polls: u32, method: MethodArg, names: &[String], run: &PollingRun) -> Self {
        let slots = match run.plans.as_slice() {
            [only] => Slots::OfOne(only.polls().to_vec()),
            each => {
                let each = each.iter().map(|plan| plan.polls().to_vec());
                Slots::OfEach(names.iter().cloned().zip(each).collect())
            }
        };
        Self {
            method: match method {
                MethodArg::Exact => "exact",
                MethodArg::Modelled => "modelled",
                MethodArg::Uniform => "uniform",
            },
            polls,
            slots,
            missed: run.score.missed,
            updates: run.score.updates,
            recall: run.score.recall,
            freshness: run.score.freshness,
            mean_age: run.score.mean_age,
            seconds: run.seconds,
        }
    }

    const HEADER: [&'static str; 9] =
        ["method", "polls", "slots", "missed", "of updates", "recall", "freshness", "mean age", "seconds"];

    fn row(&self) -> Vec<String> {
        /// More slots than this would break the table.
        const SHOWN: usize = 8;
        let slots = match &self.slots {
            Slots::OfOne(slots) if slots.len() <= SHOWN => {
                let slots: Vec<_> = slots.iter().map(ToString::to_string).collect();
                slots.join(" ")
            }
            Slots::OfOne(slots) => format!("{} of them", slots.len()),
            Slots::OfEach(each) => {
                let polled = each.values().filter(|slots| !slots.is_empty()).count();
                format!("{polled} of {} sources", each.len())
            }
        };
        vec![
            self.method.to_owned(),
            self.polls.to_string(),
            slots,
            self.missed.to_string(),
            self.updates.to_string(),
            format!("{:.4}", self.recall),
            format!("{:.4}", self.freshness),
            format!("{:.2}", self.mean_age),
            format!("{:.3}", self.seconds),
        ]
    }
}
