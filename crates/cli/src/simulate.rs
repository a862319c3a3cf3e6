//! `dunlin simulate`: policies on needs ([`intervals`]), on queries ([`queries`]), on a trace (here), or on made-up workloads.

mod intervals;
mod mixed;
mod queries;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use dunlin_core::{Costs, Schedule};
use dunlin_lab::files::{ProbabilitiesFile, save_schedule};
use dunlin_lab::knowledge::{ChangeProbabilities, Noise};
use dunlin_lab::learned::{Learning, Reveal, learned};
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::model::Parts;
use dunlin_sched::policy::Preemption;
use serde::Serialize;

use crate::args::{BudgetArgs, Policies, TraceArgs, policies};
use crate::failure::Failure;
use crate::inputs::{self, Trace};
use crate::output::{TraceReport, print_json, print_table, progress};
use crate::workload::SimulateWorkload;
use intervals::SimulateIntervals;
use mixed::SimulateMixed;
use queries::SimulateQueries;

#[derive(Debug, Subcommand)]
pub(crate) enum Simulate {
    /// Run policies on needs that span sources (execution intervals)
    Intervals(SimulateIntervals),
    /// Run policies on the real updates of a trace
    Trace(SimulateTrace),
    /// Run the service's scheduler on a trace and needs under one budget, against fixed splits of it
    Mixed(SimulateMixed),
    /// Run policies on queries over the sources of a trace
    Queries(SimulateQueries),
    /// Compare policies on a made-up workload, over several seeds
    Workload(SimulateWorkload),
}

impl Simulate {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Intervals(command) => command.run(),
            Self::Trace(command) => command.run(),
            Self::Mixed(command) => command.run(),
            Self::Queries(command) => command.run(),
            Self::Workload(command) => command.run(),
        }
    }
}

/// Arguments of both kinds of simulation.
#[derive(Debug, Args)]
struct Common {
    #[command(flatten)]
    budget: BudgetArgs,
    /// Needs that have been begun come first (s-edf, mrsf, m-edf)
    #[arg(long)]
    non_preemptive: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Write what was probed: chronon,resource; - is standard output
    #[arg(long, value_name = "FILE")]
    schedule_out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Common {
    /// Refuses outputs that contradict each other.
    fn check_outputs(&self, n_runs: usize) -> Result<(), Failure> {
        if n_runs > 1 && self.schedule_out.is_some() {
            return Err(Failure::input("--schedule-out writes one schedule (name one --policy)"));
        }
        if self.json && self.schedule_out.as_ref().is_some_and(|path| path.as_os_str() == "-") {
            return Err(Failure::input(
                "--json and --schedule-out - both want standard output (name a file)",
            ));
        }
        Ok(())
    }

    fn choice(&self, name: PolicyName) -> PolicyChoice {
        let preemption = if self.non_preemptive { Preemption::NonPreemptive } else { Preemption::Preemptive };
        PolicyChoice { name, preemption }
    }

    /// A set-up whose policy is still to be filled in.
    fn setup(&self, costs: &Costs, names: &[String], chronons: u32) -> Result<Setup, Failure> {
        let budget =
            inputs::budget(self.budget.budget.as_ref(), self.budget.budget_file.as_deref(), chronons)?
                .ok_or_else(|| Failure::input("no budget (expected --budget C or --budget-file FILE)"))?;
        inputs::warn_if_never_affordable(costs, names, &budget, chronons);
        let policy = self.choice(PolicyName::RoundRobin);
        Ok(Setup { policy, budget, costs: costs.clone(), chronons, seed: self.seed })
    }

    /// Runs one simulation after the other under a progress bar.
    fn each<Name: Copy, Report>(
        &self,
        schedulers: &[Name],
        chronons: u32,
        names: &[String],
        mut simulate: impl FnMut(Name, &mut dyn FnMut()) -> Result<(Report, Schedule), Failure>,
    ) -> Result<Vec<Report>, Failure> {
        let bar = progress(u64::from(chronons) * schedulers.len() as u64, "simulating");
        let mut reports = Vec::new();
        for &scheduler in schedulers {
            let (report, schedule) = simulate(scheduler, &mut || bar.inc(1))?;
            if let Some(path) = &self.schedule_out {
                save_schedule(&schedule, names, path)?;
            }
            reports.push(report);
        }
        bar.finish_and_clear();
        Ok(reports)
    }

    /// Shows the reports; the table gives way when the schedule goes to standard output.
    fn show<Report: Serialize>(
        &self,
        reports: &[Report],
        header: &[&str],
        row: impl Fn(&Report) -> Vec<String>,
    ) -> Result<(), Failure> {
        match reports {
            [report] if self.json => print_json(report),
            runs if self.json => print_json(&Runs { runs }),
            _ if self.schedule_out.as_ref().is_some_and(|path| path.as_os_str() == "-") => Ok(()),
            several => print_table(header, several.iter().map(row).collect()),
        }
    }
}

#[derive(Debug, Serialize)]
struct Runs<'a, Report> {
    runs: &'a [Report],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Knowledge {
    /// Every change is known for certain when it happens
    Exact,
    /// The truth with false positives, false negatives and spread
    Noisy,
    /// Probabilities from a file
    File,
    /// Only what its own probes reveal, from nothing: the service's scheduler (live, wic, cam, round-robin)
    Learned,
}

/// Which rhythms a learning policy learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rhythms {
    None,
    Week,
    Hour,
    Both,
}

/// What runs under the name of a policy that learns.
const fn ran_as(name: PolicyName) -> &'static str {
    match name {
        PolicyName::Cam => "the service's scheduler, strategy cam",
        PolicyName::RoundRobin => "the service's scheduler, strategy round-robin",
        _ => "the service's scheduler, strategy learned",
    }
}

#[derive(Debug, Args)]
pub(crate) struct SimulateTrace {
    #[command(flatten)]
    input: TraceArgs,
    /// One policy, several separated by commas, or `all`
    #[arg(long, value_name = "P", value_parser = policies)]
    policy: Policies,
    /// What the policy knows of the changes [default: exact; learned for live, which has no other]
    #[arg(long, value_enum)]
    knowledge: Option<Knowledge>,
    /// Share of changes missed and replaced by spurious ones (with --knowledge noisy) [default: 0.1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    fpn: Option<f64>,
    /// Standard deviation, in chronons, over which changes are spread (with --knowledge noisy) [default: 2]
    #[arg(long, value_name = "Y", allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Change probabilities: source,chronon,probability (with --knowledge file)
    #[arg(long, value_name = "FILE", required_if_eq("knowledge", "file"))]
    probabilities: Option<PathBuf>,
    /// Share of the epoch that is not scored (with --knowledge learned) [default: 0.25]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    warm_up: Option<f64>,
    /// What a probe shows besides that there were changes: changes (nothing more), last (when the last was) or
    /// timestamps (when each of the last 20 was, as in a feed) (with --knowledge learned) [default: changes]
    #[arg(long, value_name = "WHAT")]
    reveal: Option<Reveal>,
    /// Rhythms that are learned, to see what each is worth (with --knowledge learned) [default: both]
    #[arg(long, value_enum)]
    rhythms: Option<Rhythms>,
    #[command(flatten)]
    common: Common,
}

impl SimulateTrace {
    /// Whether a policy can do with what it is to know.
    fn suits(&self, name: PolicyName) -> bool {
        match self.knows() {
            Knowledge::Learned => name.learns(),
            _ if name.only_learns() => false,
            Knowledge::Exact => true,
            Knowledge::Noisy | Knowledge::File => !name.wants_needs(),
        }
    }

    fn knows(&self) -> Knowledge {
        let only_learns = |names: &[PolicyName]| names.iter().all(|name| name.only_learns());
        let default = match &self.policy {
            Policies::These(names) if only_learns(names) => Knowledge::Learned,
            _ => Knowledge::Exact,
        };
        self.knowledge.unwrap_or(default)
    }

    fn run(&self) -> Result<(), Failure> {
        let names = match &self.policy {
            Policies::All => {
                let mut names: Vec<_> =
                    PolicyName::ALL.into_iter().filter(|&name| self.suits(name)).collect();
                if self.knows() == Knowledge::Learned {
                    // There, it is `live` under another name.
                    names.retain(|name| *name != PolicyName::Wic);
                }
                names
            }
            Policies::These(names) => names.clone(),
        };
        self.common.check_outputs(names.len())?;
        if let Some(name) = names.iter().find(|&&name| !self.suits(name)) {
            return Err(Failure::input(match self.knows() {
                Knowledge::Learned => format!(
                    "{name} does not learn from its own probes (try --policy live, cam or round-robin)"
                ),
                _ if name.only_learns() => {
                    format!("{name} knows only what its own probes reveal (try --knowledge learned)")
                }
                _ => format!(
                    "{name} schedules certain needs, not probabilities (try --knowledge exact, or --policy wic)"
                ),
            }));
        }
        self.check_flags()?;
        let mut trace = Trace::read(&self.input)?;
        if self.knows() == Knowledge::Learned {
            return self.run_learned(&names, &trace);
        }
        let knowledge = self.knowledge(&mut trace)?;
        let (changes, sources) = (trace.changes(), &trace.file.sources);
        let costs = trace.costs(self.input.costs.as_deref())?;
        let mut setup = self.common.setup(&costs, sources, trace.epoch.chronons)?;
        let reports = self.common.each(&names, trace.epoch.chronons, sources, |name, tick| {
            setup.policy = self.common.choice(name);
            let run = simulate::trace(&changes, &knowledge, trace.model, &setup, |_| tick())?;
            Ok((TraceReport::new(&setup.policy.into(), run.score, Some(run.seconds)), run.schedule))
        })?;
        self.common.show(&reports, &TraceReport::HEADER, TraceReport::row)
    }

    fn run_learned(&self, names: &[PolicyName], trace: &Trace) -> Result<(), Failure> {
        let sources = &trace.file.sources;
        let learning = Learning {
            warm_up: self.warm_up.unwrap_or(0.25),
            reveal: self.reveal.unwrap_or(Reveal::Changes),
            parts: match self.rhythms.unwrap_or(Rhythms::Both) {
                Rhythms::None => Parts::Rate,
                Rhythms::Week => Parts::Week,
                Rhythms::Hour => Parts::Hour,
                Rhythms::Both => Parts::All,
            },
        };
        let costs = trace.costs(self.input.costs.as_deref())?;
        let mut setup = self.common.setup(&costs, sources, trace.epoch.chronons)?;
        let reports = self.common.each(names, trace.epoch.chronons, sources, |name, tick| {
            setup.policy = self.common.choice(name);
            let run = learned(&trace.file, trace.epoch, trace.model, &setup, learning, |_| tick())?;
            let mut report = TraceReport::new(&setup.policy.into(), run.score, Some(run.seconds));
            report.ran = Some(ran_as(name));
            Ok((report, run.schedule))
        })?;
        self.common.show(&reports, &TraceReport::HEADER, TraceReport::row)?;
        if !self.common.json {
            for name in names.iter().filter(|name| !name.only_learns()) {
                crate::note(&format!("{name} ran as {}", ran_as(*name)));
            }
        }
        Ok(())
    }

    /// Refuses flags that would be ignored.
    fn check_flags(&self) -> Result<(), Failure> {
        let knowledge = self.knows();
        if knowledge != Knowledge::Noisy && (self.fpn.is_some() || self.sigma.is_some()) {
            return Err(Failure::input("--fpn and --sigma distort the truth (add --knowledge noisy)"));
        }
        if knowledge != Knowledge::File && self.probabilities.is_some() {
            return Err(Failure::input("--probabilities is what the policy knows (add --knowledge file)"));
        }
        let learns = self.warm_up.is_some() || self.reveal.is_some() || self.rhythms.is_some();
        if knowledge != Knowledge::Learned && learns {
            return Err(Failure::input(
                "--warm-up, --reveal and --rhythms are for a policy that learns (add --knowledge learned)",
            ));
        }
        let paths = [Some(&self.input.span.trace), self.input.costs.as_ref(), self.probabilities.as_ref()];
        inputs::check_standard_input(paths.into_iter().chain([self.common.budget.budget_file.as_ref()]))
    }

    /// What the policy knows. A file may bring sources that the trace does not have.
    fn knowledge(&self, trace: &mut Trace) -> Result<ChangeProbabilities, Failure> {
        match (self.knows(), &self.probabilities) {
            (Knowledge::Noisy, _) => {
                let noise = Noise { fpn: self.fpn.unwrap_or(0.1), sigma: self.sigma.unwrap_or(2.0) };
                Ok(ChangeProbabilities::noisy(&trace.changes(), noise, self.common.seed)?)
            }
            (Knowledge::File, Some(path)) => {
                let file = ProbabilitiesFile::open(path, trace.epoch.chronons)?;
                inputs::warn(&file.warnings);
                let (joined, probabilities) = file.join(std::mem::take(&mut trace.file));
                trace.file = joined;
                Ok(probabilities)
            }
            _ => Ok(ChangeProbabilities::exact(&trace.changes())),
        }
    }
}
