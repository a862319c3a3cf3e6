//! `dunlin simulate intervals`: policies and planners on needs, also on those that queries come to. What a planner may do that a
//! policy cannot is decided in the lab; here it is only named, given its time, and shown beside the others.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;
use dunlin_core::{Costs, Schedule, Workload};
use dunlin_lab::files::IntervalsFile;
use dunlin_lab::planners::{PlannerName, SchedulerName, ScoredPlan};
use dunlin_lab::policies::PolicyName;
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::plan::intervals::Instance;
use serde::Serialize;

use super::Common;
use crate::args::{IntervalsArgs, Schedulers, duration, schedulers};
use crate::failure::Failure;
use crate::inputs::{self, Intervals};
use crate::output::IntervalsReport;

#[derive(Debug, Args)]
pub(crate) struct SimulateIntervals {
    #[command(flatten)]
    input: IntervalsArgs,
    #[command(flatten)]
    runs: NeedsRuns,
    #[command(flatten)]
    common: Common,
}

impl SimulateIntervals {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let schedulers = self.runs.schedulers()?;
        self.common.check_outputs(schedulers.len())?;
        let paths = [Some(&self.input.intervals), self.input.costs.as_ref()];
        inputs::check_standard_input(paths.into_iter().chain([self.common.budget.budget_file.as_ref()]))?;
        let Intervals { file, costs, chronons } = Intervals::read(&self.input)?;
        let reports =
            self.runs.each(&schedulers, &self.common, (&file, &costs, chronons), |report, _| report)?;
        self.common.show_needs(&reports, |report| report)
    }
}

/// What runs on needs.
#[derive(Debug, Args)]
pub(super) struct NeedsRuns {
    /// One policy or planner, several separated by commas, or `all` policies
    #[arg(long, value_name = "P", value_parser = schedulers)]
    policy: Schedulers,
    /// The longest that a planner (offline, exact) may take
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    time_limit: NonZeroU32,
}

impl NeedsRuns {
    /// The policies and planners meant; one that has no use for needs is refused.
    pub(super) fn schedulers(&self) -> Result<Vec<SchedulerName>, Failure> {
        let schedulers: Vec<SchedulerName> = match &self.policy {
            Schedulers::AllPolicies => {
                let policies = PolicyName::ALL.into_iter().filter(|name| !name.wants_changes());
                policies.map(SchedulerName::Policy).collect()
            }
            Schedulers::These(schedulers) => schedulers.clone(),
        };
        let wants_changes =
            |scheduler: &_| matches!(scheduler, SchedulerName::Policy(name) if name.wants_changes());
        if let Some(SchedulerName::Policy(name)) =
            schedulers.iter().find(|&scheduler| wants_changes(scheduler))
        {
            return Err(Failure::input(format!(
                "{name} plans for expected changes, not needs (try simulate trace, or --policy marginal)"
            )));
        }
        Ok(schedulers)
    }

    /// Runs each on needs, with costs, in an epoch of so many chronons. `report` makes of its figures and its schedule what is
    /// to be kept.
    pub(super) fn each<Report>(
        &self,
        schedulers: &[SchedulerName],
        common: &Common,
        (file, costs, chronons): (&IntervalsFile, &Costs, u32),
        report: impl Fn(IntervalsReport, &Schedule) -> Report,
    ) -> Result<Vec<Report>, Failure> {
        let mut setup = common.setup(costs, &file.resources, chronons)?;
        common.each(schedulers, chronons, &file.resources, |scheduler, tick| {
            let (figures, schedule) = match scheduler {
                SchedulerName::Policy(name) => {
                    setup.policy = common.choice(name);
                    let run = simulate::intervals(&file.workload, file.resources.len(), &setup, |_| tick())?;
                    let label = setup.policy.into();
                    (IntervalsReport::new(&label, &run.score, Some(run.seconds)), run.schedule)
                }
                SchedulerName::Planner(name) => self.plan(name, &file.workload, &setup)?,
            };
            Ok((report(figures, &schedule), schedule))
        })
    }

    fn plan(
        &self,
        name: PlannerName,
        workload: &Workload,
        setup: &Setup,
    ) -> Result<(IntervalsReport, Schedule), Failure> {
        let Setup { budget, costs, chronons, seed, .. } = setup;
        let instance = Instance { workload, chronons: *chronons, budget, costs };
        let limit = Duration::from_secs(u64::from(self.time_limit.get()));
        let ScoredPlan { run, guarantee } = name.plan(instance, *seed, limit)?;
        if name == PlannerName::Exact && guarantee.is_some_and(|it| !it.is_proven) {
            let unproven = "the schedule is the best found, not proven to be the best there is (try a longer --time-limit)";
            inputs::warn(&[unproven.to_owned()]);
        }
        let mut report = IntervalsReport::new(&name.into(), &run.score, Some(run.seconds));
        report.guarantee = guarantee.map(Into::into);
        Ok((report, run.schedule))
    }
}

impl Common {
    /// Shows reports on needs, in which `figures` are those of the run; with bounds where there are any.
    pub(super) fn show_needs<Report: Serialize>(
        &self,
        reports: &[Report],
        figures: impl Fn(&Report) -> &IntervalsReport,
    ) -> Result<(), Failure> {
        if reports.iter().any(|report| figures(report).guarantee.is_some()) {
            return self.show(reports, &IntervalsReport::HEADER_WITH_BOUND, |report| {
                figures(report).row_with_bound()
            });
        }
        self.show(reports, &IntervalsReport::HEADER, |report| figures(report).row())
    }
}
