//! The planners a user can name: they know every need of the epoch beforehand, which no policy does. To add
//! one, add it here.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use dunlin_core::Schedule;
use dunlin_sched::plan::intervals::{Effort, Instance, local_ratio, offline};
use dunlin_sched::score::{IntervalScore, score_intervals};

use crate::Error;
use crate::optimum::{self, SolutionMethod};
use crate::policies::PolicyName;
use crate::simulate::Run;

/// A planner by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlannerName {
    /// The papers' approximation with a guarantee.
    LocalRatio,
    /// Prices, a first plan, and repeated reconstruction.
    Offline,
    /// The optimum, or the best that was found in time.
    Exact,
}

impl PlannerName {
    /// Every planner, in the order in which tables show them.
    pub const ALL: [Self; 3] = [Self::LocalRatio, Self::Offline, Self::Exact];

    const fn as_str(self) -> &'static str {
        match self {
            Self::LocalRatio => "local-ratio",
            Self::Offline => "offline",
            Self::Exact => "exact",
        }
    }

    /// Plans an instance within a time limit.
    pub fn plan(self, instance: Instance<'_>, seed: u64, limit: Duration) -> Result<ScoredPlan, Error> {
        let begin = Instant::now();
        let (schedule, guarantee) = match self {
            Self::LocalRatio => (local_ratio(instance)?, None),
            Self::Offline => {
                let effort = Effort { seed, ..Effort::default() };
                let plan = offline(instance, effort, || begin.elapsed() < limit)?;
                let (bound, is_proven) = (plan.bound, plan.is_proven);
                (
                    plan.schedule,
                    Some(OptimalityBound { bound, is_proven, method: SolutionMethod::FirstOrder }),
                )
            }
            Self::Exact => {
                let optimum = optimum::exact(instance, seed, limit)?;
                let (bound, is_proven, method) = (optimum.bound, optimum.is_proven, optimum.method);
                (optimum.schedule, Some(OptimalityBound { bound, is_proven, method }))
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        Ok(ScoredPlan { run: scored(instance, schedule, seconds), guarantee })
    }
}

fn scored(instance: Instance<'_>, schedule: Schedule, seconds: f64) -> Run<IntervalScore> {
    Run { score: score_intervals(instance.workload, &schedule), schedule, seconds }
}

/// A plan, scored.
#[derive(Debug, Clone)]
pub struct ScoredPlan {
    /// The schedule and what it is worth.
    pub run: Run<IntervalScore>,
    /// How good that is, where the planner can tell.
    pub guarantee: Option<OptimalityBound>,
}

/// What no schedule exceeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimalityBound {
    /// No schedule captures more weight.
    pub bound: f64,
    /// Whether the plan captures as much as any can.
    pub is_proven: bool,
    /// What found the final result.
    pub method: SolutionMethod,
}

/// A policy or a planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchedulerName {
    /// Decides chronon by chronon.
    Policy(PolicyName),
    /// Knows everything beforehand.
    Planner(PlannerName),
}

impl fmt::Display for PlannerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SchedulerName {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        let planner = PlannerName::ALL.into_iter().find(|name| name.as_str() == given);
        let policy = || given.parse().ok().map(Self::Policy);
        planner.map(Self::Planner).or_else(policy).ok_or_else(|| {
            let policies = PolicyName::ALL.iter().map(ToString::to_string);
            let names: Vec<_> = policies.chain(PlannerName::ALL.iter().map(ToString::to_string)).collect();
            Error::parameter("policy", &given, format!("one of {}", names.join(", ")))
        })
    }
}
